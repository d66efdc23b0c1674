"""Near-duplicates by shingles: five words in a row, hashed (Broder 1997, On the resemblance and containment of
documents).
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.types import Document

WIDTH = 5  # words of a shingle
ALIKE = 0.35  # share of the shorter text's shingles that both have; less is common phrasing
COMMON = 20  # passages that hold a shingle; of one in more, only these are compared
SAMPLE = 4  # one hash of so many is kept for finding candidates
FEWEST = 8  # shingles below which a text is too short to compare
CLOSE = "close passage"  # it speaks of the same thing, perhaps in another way: good to know, nothing to decide
KINDS = ("same path", "same content", "same id", "near copy", "same meaning", CLOSE)
CHOICES = {"replace": "Replace it as a new version", "keep": "Keep both", "drop": "Drop this one"}
_WORD = re.compile(r"\w+")
_PARAGRAPH = re.compile(r"\S[^\n]*(?:\n[^\n]*\S[^\n]*)*")


@dataclass(frozen=True, slots=True)
class PassagePair:
    """Two similar passages and the lines on which they start."""

    mine: str
    theirs: str
    my_line: int = 0
    their_line: int = 0
    score: float = 1.0


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A document that is there already. `score` is the share of the text they have in common, 0 to 1."""

    kind: str
    path: str
    doc: str
    title: str
    score: float = 1.0
    pairs: tuple[PassagePair, ...] = ()
    batch: bool = False  # it is in the same upload, not in the knowledge base


def replaceable(duplicates: Iterable[Duplicate]) -> list[str]:
    """The paths of the documents that an upload may become a new version of."""
    return [duplicate.path for duplicate in duplicates if not duplicate.batch and duplicate.kind != CLOSE]


@dataclass(frozen=True, slots=True)
class MeaningMatches:
    """What is like a text by meaning, and how many of its passages were compared."""

    duplicates: tuple[Duplicate, ...] = ()
    probed: int = 0
    passages: int = 0


def shingles(text: str) -> frozenset[int]:
    """Hashes of every five words in a row.

    >>> len(shingles("one two three four five six")), len(shingles("too short"))
    (2, 0)
    """
    words = [zlib.crc32(word.encode("utf-8", "surrogatepass")) for word in _WORD.findall(text.casefold())]
    return frozenset(map(hash, zip(*(words[n:] for n in range(WIDTH)), strict=False)))


def containment(a: frozenset[int], b: frozenset[int]) -> float:
    """The share of the smaller set that is in the other.

    >>> containment(frozenset({1, 2}), frozenset({2, 3, 4}))
    0.5
    """
    smaller = min(len(a), len(b))
    return len(a & b) / smaller if smaller else 0.0


class ShingleIndex:
    """Sampled shingles to documents; only documents that share some are compared in full."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self.documents = tuple(documents)
        self.holders: dict[int, list[int]] = {}
        for n, document in enumerate(self.documents):
            for mark in sampled(shingles(body(document))):
                self.holders.setdefault(mark, []).append(n)

    def near(self, text: str, without: frozenset[str] = frozenset()) -> tuple[tuple[Document, float], ...]:
        """Documents that share much of their wording with a text, most similar first."""
        mine = shingles(text)
        if len(mine) < FEWEST:
            return ()
        shared = Counter(n for mark in sampled(mine) for n in self.holders.get(mark, ()))
        near = []
        for n, _ in shared.most_common(8):
            document = self.documents[n]
            theirs = shingles(body(document))
            score = containment(mine, theirs) if len(theirs) >= FEWEST else 0.0
            if score >= ALIKE and document.path not in without:
                near.append((document, round(score, 3)))
        return tuple(sorted(near, key=lambda match: (-match[1], match[0].path)))


def sampled(marks: frozenset[int]) -> Iterator[int]:
    """The same quarter of all hashes in every text."""
    return (mark for mark in marks if mark % SAMPLE == 0)


def body(document: Document) -> str:
    return document.text[document.body :]


def pairs(mine: Document, theirs: Document, most: int = 3) -> tuple[PassagePair, ...]:
    """The most similar passages of two documents, in the order of the first.

    >>> a = Document("a", "a.md", "A", "# A\\n\\nWear a vest in the yard at all times.\\n")
    >>> b = Document("b", "b.md", "B", "# B\\n\\nNew.\\n\\nWear a vest in the yard at all hours.\\n")
    >>> [(pair.my_line, pair.their_line, pair.score) for pair in pairs(a, b)]
    [(3, 5, 0.8)]
    """
    left, right = _paragraphs(mine), _paragraphs(theirs)
    holders: dict[int, list[int]] = {}
    for n, (_, _, marks) in enumerate(right):
        for mark in marks:
            if len(holding := holders.setdefault(mark, [])) < COMMON:
                holding.append(n)
    matches = [pair for paragraph in left if (pair := _best(paragraph, right, holders))]
    longest = sorted(matches, key=lambda pair: (-pair.score * min(len(pair.mine), len(pair.theirs)), pair.my_line))
    return tuple(sorted(longest[:most], key=lambda pair: pair.my_line))


_Paragraph = tuple[int, str, frozenset[int]]


def _best(paragraph: _Paragraph, right: Sequence[_Paragraph], holders: Mapping[int, list[int]]) -> PassagePair | None:
    line, text, marks = paragraph
    shared = Counter(n for mark in marks for n in holders.get(mark, ()))
    if not shared:
        return None
    n = min(shared, key=lambda n: (-containment(marks, right[n][2]), n))
    score = round(containment(marks, right[n][2]), 3)
    return PassagePair(text, right[n][1], line, right[n][0], score) if score >= ALIKE else None


def _paragraphs(document: Document) -> list[_Paragraph]:
    paragraphs, line, at = [], 1, 0
    for match in _PARAGRAPH.finditer(document.text, document.body):
        line, at = line + document.text.count("\n", at, match.start()), match.start()
        if marks := shingles(match[0]):
            paragraphs.append((line, match[0], marks))
    return paragraphs
