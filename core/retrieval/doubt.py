"""Whether what was found is likely to answer at all: a rule of thumb, so that a page can say so first.

Chosen on the authors' questions of the starter knowledge base and on questions about things it does not speak of;
docs/search.md has the error rates.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import log

from core.analysis import analyser
from core.ports import Index
from core.types import Hit, LexicalOptions

FIT = {"bge-small-en-v1.5-int8": 0.75}  # per embedder: below this the best passages are far from the question
BM25 = 0.015  # what a point of BM25 adds to the cosine
FEW, COVERED = 3, 0.6  # of so few words, this share of their rarity must stand in one passage
LOOKED_AT = 5  # passages


def is_doubtful(query: str, hits: Sequence[Hit], index: Index) -> bool:
    """Whether no passage found is near the question or holds its words."""
    if not hits:
        return False
    if not _best(hits, "bm25") and any("bm25" in hit.legs for hit in hits):
        return True  # no document uses these words
    covered, words = _coverage(query, hits[:LOOKED_AT], index)
    if covered == 1.0:
        return False
    return (1 < words <= FEW and covered < COVERED) or _far(hits, index.profile.embedder)


def _far(hits: Sequence[Hit], embedder: str) -> bool:
    """Whether the best scores of both legs together are low; unknown for other models and legs."""
    known = embedder in FIT and all(leg in hits[0].legs for leg in ("bm25", "dense"))
    return known and _best(hits, "dense") + BM25 * _best(hits, "bm25") < FIT[embedder]


def _best(hits: Sequence[Hit], leg: str) -> float:
    return max((hit.legs[leg].score for hit in hits if leg in hit.legs), default=0.0)


def _coverage(query: str, hits: Sequence[Hit], index: Index) -> tuple[float, int]:
    """The largest share of the query's words, by rarity, in one passage and its headings; and how many words. Numbers are left out: an amount is rarely written as asked."""
    words = {term for term in analyser(index.profile.lexical)(query) if not term.isdigit()}
    worth = {term: index.rarity(term) or log(1 + index.size) for term in words}
    whole = sum(worth.values())
    if not whole:
        return 1.0, 0
    texts = (f"{hit.title} {' '.join(hit.heading)} {hit.text}" for hit in hits)
    shares = [sum(worth[term] for term in words & _terms(text, index.profile.lexical)) / whole for text in texts]
    return (1.0 if max(shares) > 0.999 else max(shares)), len(words) if " " in query.strip() else 1


@lru_cache(maxsize=5_000)
def _terms(text: str, options: LexicalOptions) -> frozenset[str]:
    return frozenset(analyser(options)(text))
