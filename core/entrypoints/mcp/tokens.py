"""Tokens of a text, and the most of something that a budget of them holds."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from math import ceil
from typing import TYPE_CHECKING

from core.errors import ConcordError

if TYPE_CHECKING:
    from core.ports import Models
    from core.types import Profile

LEAST, MOST, USUAL = 500, 50_000, 3_000  # tokens that a caller may ask for
_PIECES = re.compile(r'[^"\n]*["\n]?')  # tokens do not reach over a line or a quotation mark
BYTES = 4  # of a token, where words are longer: names, numbers and other scripts cost more than a word

Tokenise = Callable[[str], Sequence[object]]


class TokenCount:
    """Counts with the tokenizer of the index, and never less than a token for four bytes.

    Language models cut words in their own ways; the larger of the two counts is near or above theirs.
    """

    def __init__(self, models: Models, profile: Profile) -> None:
        try:
            self._tokens: Tokenise | None = models.of(profile).tokens
        except ConcordError:  # reading goes on without models
            self._tokens = None

    def __call__(self, text: str) -> int:
        size = len(text.encode("utf-8", "replace"))
        if self._tokens is None:
            return ceil(size / (BYTES - 1))
        pieces = sum(_piece_tokens(self._tokens, piece) for piece in _PIECES.findall(text))
        return max(pieces, ceil(size / BYTES))


@lru_cache(maxsize=5_000)
def _piece_tokens(tokens: Tokenise, piece: str) -> int:
    """Cached: a reply is counted again for each passage that is tried, and most of it is the same."""
    return len(tokens(piece))


def longest(most: int, fits: Callable[[int], bool]) -> int:
    """The largest number up to `most` that fits, where every smaller one fits too; 0 if none does.

    >>> longest(100, lambda n: n * n < 50), longest(3, lambda n: True), longest(9, lambda n: False)
    (7, 3, 0)
    """
    low = 0
    while low < most:
        middle = (low + most + 1) // 2
        low, most = (middle, most) if fits(middle) else (low, middle - 1)
    return low
