"""Sentence boundaries by rules that know abbreviations, decimals and section numbers."""

from __future__ import annotations

import itertools
import re

_END = re.compile(
    r"""[.!?…]["'”’)\]*_]*(?=\s+(?:["'“‘(\[*_`]*[A-Z0-9À-Þ]))|\n(?=\s*(?:[-*+]|\d{1,3}[.)]|\#{1,6}|>|\|)\s?)|\n\s*\n""",
    re.VERBOSE,
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|No|Nos|Dr|Mr|Mrs|Ms|St|Inc|Ltd|Co|Corp|Fig|Sec|Art|approx|ext|al|[A-Z])"
    r"|[A-Z]\.[A-Z]|^\s*\d{1,3})\.$",
    re.MULTILINE,
)


def sentences(text: str, start: int = 0, end: int | None = None) -> list[tuple[int, int]]:
    """The spans of the sentences, without the white space around them.

    >>> text = "See 31 CFR 1020.320(d). Keep it, e.g. five years. Done?"
    >>> [text[a:b] for a, b in sentences(text)]
    ['See 31 CFR 1020.320(d).', 'Keep it, e.g. five years.', 'Done?']
    """
    end = len(text) if end is None else end
    cuts = [
        match.end()
        for match in _END.finditer(text, start, end)
        if not _ABBREVIATION.search(text, max(start, match.start() - 12), match.end())
    ]
    edges = [start, *cuts, end]
    return [span for a, b in itertools.pairwise(edges) if (span := trim(text, a, b))[0] < span[1]]


def trim(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without white space at its ends.

    >>> trim("  ab ", 0, 5)
    (2, 4)
    """
    inside = text[start:end]
    left = len(inside) - len(inside.lstrip())
    return start + left, max(start + left, start + len(inside.rstrip()))
