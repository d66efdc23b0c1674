"""The longest common subsequence of words, and what share of an answer a passage holds.

Bit-parallel (Hyyrö 2004, as in rapidfuzz): one machine word carries 64 cells of a row of the table, so a text of
250 words costs microseconds. `bench/lcs.py` measures it beside the plain dynamic programme.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from core.analysis import fold

_WORD = re.compile(r"[^\W_]+")


@lru_cache(maxsize=20_000)
def words(text: str) -> tuple[str, ...]:
    """The words of a text in lower case, without punctuation; cached, since every run reads the same passages.

    >>> words("File Form-112, please.")
    ('file', 'form', '112', 'please')
    """
    return tuple(_WORD.findall(fold(text)))


def length(first: Sequence[str], second: Sequence[str]) -> int:
    """How many words the longest common subsequence has.

    >>> length("the cat sat on the mat".split(), "the mat on a cat sat".split())
    3
    """
    from rapidfuzz.distance import LCSseq

    return int(LCSseq.similarity(first, second))


def coverage(text: str, answer: str) -> float:
    """LSS: the share of the answer's words found in the text in the answer's order (thesis, equation 17).

    >>> coverage("Keep the report, then file it for five years.", "Keep it five years")
    1.0
    >>> coverage("five years", "Keep it five years")
    0.5
    """
    needed = words(answer)
    return length(words(text), needed) / len(needed) if needed else 0.0


def overlap(text: str, segment: str) -> float:
    """Twice the common words over all words of both: 1 when the two say the same.

    >>> overlap("a b c d", "b c")
    0.6666666666666666
    """
    ours, theirs = words(text), words(segment)
    return 2 * length(ours, theirs) / (len(ours) + len(theirs)) if ours or theirs else 0.0
