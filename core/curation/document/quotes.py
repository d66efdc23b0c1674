"""Find a quoted passage in a text that may have changed."""

from __future__ import annotations

import re


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
