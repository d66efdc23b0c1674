"""A passage as text for a card: list items keep their numbers, and tabs stand between the cells of a table row;
and a quoted passage found in a text that may have changed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from markdown_it.token import Token

from core.curation.text.markup import parser
from core.curation.text.render import words

_RULE = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-*:?[ \t]*)*")
EMPTY = "\u00a0"  # a cell without words: so that only the row that heads a table ends with a tab
_PIPE = re.compile(r"(?<!\\)\|")


def excerpt_text(markdown: str, context: str = "") -> str:
    """The lines of a passage without its headings: the breadcrumb shows them. The row that heads a table ends with a tab.

    A passage that begins inside a table takes its head from the context.

    >>> excerpt_text("## Steps\\n\\n3. Close the **valve**\\n   - slowly\\n\\n|Form|Days|\\n|-|-|\\n|FN-22||\\n")
    '3. Close the valve\\n  • slowly\\nForm\\tDays\\t\\nFN-22\\t\\xa0'
    >>> excerpt_text("|FN-22|5|", "Forms\\n|Form|Days|\\n|-|-|")
    'Form\\tDays\\t\\nFN-22\\t5'
    """
    tokens = parser().parse(_with_head(markdown, context))
    lines = [line.rstrip(" \n") for line in _lines(tokens) if line.strip()]
    return "\n".join(lines or [words(token) for token in tokens if token.type == "inline" and token.content])


def _with_head(markdown: str, context: str) -> str:
    """Rows that lost the head of their table are no table to a parser: give them theirs, else an empty one."""
    first, _, rest = markdown.partition("\n")
    if not first.startswith("|") or _RULE.fullmatch(rest.partition("\n")[0].strip()):
        return markdown
    head = context.splitlines()[-2:]
    if len(head) == 2 and "|" in head[0] and _RULE.fullmatch(head[1].strip()):
        return "\n".join((*head, markdown))
    columns = max(1, len(_PIPE.findall(first.strip())) - 1)
    return f"{'|' * (columns + 1)}\n{'|-' * columns}|\n{markdown}"


def _lines(tokens: Sequence[Token]) -> Iterator[str]:
    marks: list[str] = []  # of the list items that are open; a used one becomes empty
    row: list[str] | None = None
    in_head = in_heading = False
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            in_heading = token.nesting > 0
        elif token.type in ("thead_open", "thead_close"):
            in_head = token.nesting > 0
        elif token.type == "list_item_open":
            marks.append(f"{token.info}{token.markup} " if token.info else "• ")
        elif token.type == "list_item_close":
            marks.pop()
        elif token.type == "tr_open":
            row = []
        elif token.type == "tr_close":
            yield "\t".join(row or []) + ("\t" if in_head else "")
            row = None
        elif token.type in ("fence", "code_block"):
            yield token.content.rstrip().expandtabs(4)
        elif token.type == "inline" and row is not None:
            row.append(" ".join(words(token).split()) or EMPTY)
        elif token.type == "inline" and not in_heading:
            yield "  " * (len(marks) - 1) + (marks[-1] if marks else "") + words(token).replace("\t", " ")
            if marks:
                marks[-1] = "  "


def places(text: str, quote: str, first: int = 0) -> list[tuple[int, int]]:
    """Every occurrence of a quote from an offset on, whatever the white space between its words.

    >>> places("Keep it\\n  five years.", "it five")
    [(5, 14)]
    """
    words = quote.split()
    if not words:
        return []
    pattern = re.compile(r"\s+".join(map(re.escape, words)))
    return [match.span() for match in pattern.finditer(text, first)]


def nearest(places: list[tuple[int, int]], near: int) -> tuple[int, int] | None:
    """The span closest to where the quote used to be.

    >>> nearest([(2, 5), (40, 43)], 30), nearest([], 30)
    ((40, 43), None)
    """
    return min(places, key=lambda span: (abs(span[0] - near), span), default=None)
