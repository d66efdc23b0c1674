"""A passage as text for a card: list items keep their numbers, tabs separate the cells of a table row, inner headings
are lines of their own; and a quoted passage found in a text that may have changed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

from markdown_it.token import Token

from core.curation.text.markup import blanked, parser, plain_heading
from core.curation.text.render import words

_RULE = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-*:?[ \t]*)*")
EMPTY = "\u00a0"  # a cell without words: so that only the row that heads a table ends with a tab
HEADS = "\u2063"  # ends the line of a heading: an invisible character
_PIPE = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The lines of a passage, and where in the passage the section of each heading line begins."""

    text: str
    sections: tuple[int, ...] = ()


def excerpt_text(markdown: str, context: str = "") -> str:
    """The text of `excerpt`."""
    return excerpt(markdown, context).text


@lru_cache(maxsize=20_000)
def excerpt(markdown: str, context: str = "") -> Excerpt:
    """A passage without its markup; cached, since the same passages are shown often.

    Headings are lines where there are several sections; one that heads all of it is in the breadcrumb already. The row
    that heads a table ends with a tab. A passage that begins inside a table takes its head from the context.

    >>> excerpt_text("## Steps\\n\\n3. Close the **valve**\\n   - slowly\\n\\n|Form|Days|\\n|-|-|\\n|FN-22||\\n")
    '3. Close the valve\\n  • slowly\\nForm\\tDays\\t\\nFN-22\\t\\xa0'
    >>> excerpt_text("|FN-22|5|", "Forms\\n|Form|Days|\\n|-|-|")
    'Form\\tDays\\t\\nFN-22\\t5'
    >>> excerpt("## Day\\n\\nAt 6.\\n\\n## Night\\n\\nAt 22.\\n")
    Excerpt(text='Day\\u2063\\nAt 6.\\nNight\\u2063\\nAt 22.', sections=(0, 15))
    """
    whole = _with_head(blanked(markdown).replace(HEADS, " "), context)
    tokens = parser().parse(whole)
    lines = [line.rstrip(" \n") for line in _lines(tokens) if line.strip()]
    lines = lines or [words(token) for token in tokens if token.type == "inline" and token.content]
    places = [at - len(whole) + len(markdown) for at in _sections(tokens, whole)]
    while len(lines) > 1 and lines[0].endswith(HEADS) and (lines[1].endswith(HEADS) or len(places) == 1):
        lines, places = lines[1:], places[1:]
    return Excerpt("\n".join(lines), tuple(places))


def _sections(tokens: Sequence[Token], text: str) -> list[int]:
    """Where each heading line of `_lines` begins."""
    starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
    return [
        starts[(token.map or [0])[0]] for n, token in enumerate(tokens) if _heads(tokens, n) and tokens[n + 1].content
    ]


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
    in_head = False
    for n, token in enumerate(tokens):
        if token.type in ("thead_open", "thead_close"):
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
        elif token.type == "inline" and n and _heads(tokens, n - 1):
            yield plain_heading(token.content) + HEADS * bool(token.content)
        elif token.type == "inline":
            yield "  " * (len(marks) - 1) + (marks[-1] if marks else "") + words(token).replace("\t", " ")
            if marks:
                marks[-1] = "  "


def _heads(tokens: Sequence[Token], n: int) -> bool:
    """Whether a section begins here; headings inside quotes and lists begin none."""
    return tokens[n].type == "heading_open" and not tokens[n].level


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
