"""BM25 word by word: how often a passage holds each word of the query, how rare it is, and what it gives to the
score.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import log

from core.analysis import analyser
from core.chunking import with_context
from core.ports import Index


@dataclass(frozen=True, slots=True)
class TermScore:
    """A word of the query in a passage: its frequency there, its rarity (idf), and its points, which sum up to BM25."""

    word: str
    tf: int
    idf: float
    gives: float


def _idf(term: str, index: Index) -> float:
    """The rarity of a term; one that no passage holds is the rarest."""
    return index.rarity(term) or log(2 * index.size + 2)


def term_scores(index: Index, query: str, chunk: int) -> tuple[int, tuple[TermScore, ...]]:
    """The length of a passage in terms, and what each word of a query gives it."""
    analyse = analyser(index.profile.lexical)
    held = Counter(analyse(with_context(index.context(chunk), index.excerpt(chunk))))
    words: dict[tuple[str, ...], str] = {}
    for start, end, terms in analyse.words(query):
        if terms:
            words.setdefault(terms, query[start:end])
    scored = tuple(
        TermScore(word, max(held[term] for term in terms), _idf(terms[0], index), index.bm25(word).score([chunk])[0])
        for terms, word in words.items()
    )
    return held.total(), scored
