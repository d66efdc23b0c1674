"""Markdown markup: the inline parser, plain headings and their anchors."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import cache

from markdown_it import MarkdownIt

from core.errors import BadInput

MOST = {"[": 10_000, "*": 50_000, "_": 50_000, "~": 50_000, "]": 100_000, "\\": 100_000}
"""Marks that a parser tries to pair with each other: twice as many take four times as long (a million `[`, minutes)."""


def check_marks(text: str) -> None:
    """Refuse a text with so many marks that parsing it would take minutes.

    >>> check_marks("[" * 20_000)
    Traceback (most recent call last):
        ...
    core.errors.BadInput: The text has 20,000 times the mark [; a document has at most 10,000. Split it, or ...
    """
    for mark, most in MOST.items():
        if (count := text.count(mark)) > most:
            raise BadInput(
                f"The text has {count:,} times the mark {mark}; a document has at most {most:,}. Split it, or take them out."
            )


@cache
def parser() -> MarkdownIt:
    """CommonMark with tables; raw HTML stays text."""
    return MarkdownIt("commonmark", {"html": False, "maxNesting": 60}).enable(["table", "strikethrough"])


def plain_heading(raw: str) -> str:
    """A heading without markup.

    >>> plain_heading("**Steps** for [CTR](ctr.md) `v2` {#steps}")
    'Steps for CTR v2'
    """
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", raw)
    text = re.sub(r"\s*\{#[^}]*\}\s*$", "", text)
    text = re.sub(r"(?<![\w*])(\*{1,3}|_{1,3})(?=\S)(.+?)(?<=\S)\1(?![\w*])", r"\2", text)
    return " ".join(text.replace("`", "").split())


def slugify(title: str) -> str:
    """The anchor of a heading, as most Markdown tools build it.

    >>> slugify("Step 1: Refer on form BSA-5")
    'step-1-refer-on-form-bsa-5'
    """
    text = unicodedata.normalize("NFC", title).lower()
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", text)).strip("-") or "section"


def unique_slug(title: str, seen: Counter[str]) -> str:
    """The anchor of a heading after the ones already `seen`; a repeated one gets a number.

    >>> seen: Counter[str] = Counter()
    >>> [unique_slug(title, seen) for title in ("Steps", "Roles", "Steps")]
    ['steps', 'roles', 'steps-1']
    """
    slug = slugify(title)
    seen[slug] += 1
    return slug if seen[slug] == 1 else f"{slug}-{seen[slug] - 1}"
