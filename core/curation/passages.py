"""Quoted words in a text, wherever they stand by now."""

from __future__ import annotations

import re


def places(text: str, quote: str, first: int = 0) -> list[tuple[int, int]]:
    """Every place of a quote from a character on, whatever the white space between its words.

    >>> places("Keep it\\n  five years.", "it five")
    [(5, 14)]
    """
    words = quote.split()
    if not words:
        return []
    pattern = re.compile(r"\s+".join(map(re.escape, words)))
    return [match.span() for match in pattern.finditer(text, first)]


def nearest(found: list[tuple[int, int]], near: int) -> tuple[int, int] | None:
    """The place that lies closest to where the words once stood.

    >>> nearest([(2, 5), (40, 43)], 30), nearest([], 30)
    ((40, 43), None)
    """
    return min(found, key=lambda span: (abs(span[0] - near), span), default=None)
