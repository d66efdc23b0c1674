"""Rows of cells as a Markdown table, and the word for what is too large to read."""

from __future__ import annotations

import re
from collections.abc import Sequence


class TooLarge(Exception):
    """A file is whole, and more than is read; the text says what, as the end of a sentence about the file."""


def table(rows: Sequence[Sequence[str]]) -> str:
    """The first row becomes the header.

    >>> print(table([("Code", "Use"), ("A|B", "one\\ntwo")]))
    | Code | Use |
    | --- | --- |
    | A\\|B | one<br>two |
    """
    head, *rest = (f"| {' | '.join(map(in_cell, row))} |" for row in rows)
    return "\n".join((head, "|" + " --- |" * len(rows[0]), *rest))


def in_cell(text: str) -> str:
    """A text that stays in its cell: line ends become breaks, a pipe is a letter."""
    lines = (" ".join(line.split()) for line in re.split(r"[\n\v]", text))
    return "<br>".join(escaped(line) for line in lines if line).replace("|", r"\|")


def escaped(text: str) -> str:
    """A text in which nothing is taken for markup.

    >>> escaped("5 * 6 <b> snake_case **x**")
    '5 * 6 \\\\<b> snake_case \\\\*\\\\*x\\\\*\\\\*'
    """
    text = re.sub(r"\\(?=[!-/:-@\[-`{-~])|`", r"\\\g<0>", text)
    text = re.sub(r"(?<!\s)\*|\*(?!\s)", r"\\*", text)
    text = re.sub(r"(?<!\w)_(?=\S)|(?<=\S)_(?!\w)", r"\\_", text)
    return re.sub(r"\[(?=[^\]\n]*\][\[(:])|<(?=[A-Za-z/!?])|&(?=#?\w+;)|~(?=~)", r"\\\g<0>", text)


def line(text: str) -> str:
    """A text as one line that begins nothing else than a paragraph.

    >>> line("2. of 3"), line("# 4")
    ('2\\\\. of 3', '\\\\# 4')
    """
    whole = escaped(" ".join(text.split()))
    whole = re.sub(r"^(#{1,6}|[>+=-]+)(?=\s|$)", r"\\\1", whole)
    return re.sub(r"^(\d{1,9})([.)])(?=\s|$)", r"\1\\\2", whole)
