"""Measures over the texts of retrieved passages, best first (thesis, 4.3).

Gold span: how much of the answer does a passage hold? Chunk overlap: how much does a passage share with the segments
that the question was made from?
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


def holds(text: str, answer: str) -> bool:
    """Whether a text contains the answer word for word; line breaks and runs of spaces count as one space.

    >>> holds("within\\n30  days", "30 days")
    True
    """
    return " ".join(answer.split()) in " ".join(text.split()) if answer.strip() else False


def exact(texts: Sequence[str], answer: str, k: int) -> float:
    """T1EM and T5EM: 1 when one of the first k passages contains the answer.

    >>> exact(["no", "in 30 days"], "30 days", 1), exact(["no", "in 30 days"], "30 days", 5)
    (0.0, 1.0)
    """
    return float(any(holds(text, answer) for text in texts[:k]))


def top_coverage(texts: Sequence[str], answer: str) -> float:
    """T1C: how much of the answer the first passage covers.

    >>> top_coverage(["within thirty days", "30 days"], "30 days")
    0.5
    """
    return coverage(texts[0], answer) if texts else 0.0


def best_coverage(texts: Sequence[str], answer: str) -> float:
    """BC: how much of the answer the best passage covers.

    >>> best_coverage(["within thirty days", "30 days"], "30 days")
    1.0
    """
    return max((coverage(text, answer) for text in texts), default=0.0)


def average_coverage(texts: Sequence[str], answer: str) -> float:
    """AC: how much of the answer a passage covers on average.

    >>> average_coverage(["within thirty days", "30 days"], "30 days")
    0.75
    """
    return sum(coverage(text, answer) for text in texts) / len(texts) if texts else 0.0


def joint_coverage(texts: Sequence[str], answer: str) -> float:
    """MC: how much of the answer all passages cover together, read one after the other.

    >>> joint_coverage(["File Form 112", "within 15 days"], "Form 112 within 15 days")
    1.0
    """
    return coverage("\n".join(texts), answer)


def reciprocal_place(texts: Sequence[str], answer: str) -> float:
    """MRR of a gold span: one over the place of the first passage that contains the answer.

    >>> reciprocal_place(["no", "in 30 days"], "30 days")
    0.5
    """
    return next((1.0 / place for place, text in enumerate(texts, 1) if holds(text, answer)), 0.0)


def top_overlap(texts: Sequence[str], segments: Sequence[str]) -> float:
    """T1O: what the first passage shares with the segment nearest to it.

    >>> top_overlap(["a b c d", "b c"], ["b c"])
    0.6666666666666666
    """
    return best_overlap(texts[:1], segments)


def best_overlap(texts: Sequence[str], segments: Sequence[str]) -> float:
    """BO: the most that any passage shares with any segment.

    >>> best_overlap(["a b c d", "b c"], ["b c", "x"])
    1.0
    """
    return max((overlap(text, segment) for text in texts for segment in segments), default=0.0)


def average_overlap(texts: Sequence[str], segments: Sequence[str]) -> float:
    """AO: what a passage shares with a segment, averaged over all pairs.

    >>> average_overlap(["b c"], ["b c", "x"])
    0.5
    """
    pairs = [overlap(text, segment) for text in texts for segment in segments]
    return sum(pairs) / len(pairs) if pairs else 0.0
