"""How sure a search may be: that the question is answered here (`confidence`), and that its first hit answers it
(`chances`, the scale of tau). Numbers from 0 to 1 that mean the same for every way of searching.

Logistic models over a few signs of a match. They do not depend on the embedder's own scale: nearness is counted in
deviations of the cosine between passages that have nothing to do with each other. The coefficients come from
`python -m bench confidence`; docs/research/confidence.md has what they are worth and where they fail.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import exp, log, sqrt
from typing import NamedTuple

from core.analysis import analyser
from core.ports import Index, Ranking
from core.retrieval.candidates import Candidates
from core.types import LexicalOptions, SearchConfig

THRESHOLD = 0.25  # below it a search says that nothing fits well, until a team chooses another one
LOOKED_AT = 5  # passages
LATER = 10  # the document that the nearest one is compared with
# Doubt about a first hit; docs/research/confidence.md has what it is worth.
WORDS_ASKED = 3  # at least
LITTLE, MORE = 0.35, 0.18  # of the question: what the first hit has at most, and what a later one has beyond it
_MOST = 8.0  # deviations; beyond that a copy of the question was found


class Signs(NamedTuple):
    """What tells a question that is answered from one that is not."""

    covered: float  # the largest share of the question's words, by rarity, in one of the first passages
    unknown: float  # the share that no document uses
    title: float  # how well the best title among them fits
    near: float  # how far the nearest passage stands out from unrelated ones, in deviations
    margin: float  # by how much it is nearer than the tenth document, in deviations
    agreed: float  # how early both legs have the first passage: 1 where both have it first


class LogisticModel(NamedTuple):
    """An intercept and one coefficient for each sign that counts."""

    intercept: float
    coefficients: Mapping[str, float]

    def __call__(self, signs: NamedTuple) -> float:
        """A chance between 0 and 1."""
        total = self.intercept + sum(weight * getattr(signs, name) for name, weight in self.coefficients.items())
        return 1.0 / (1.0 + exp(-total))


BOTH = LogisticModel(
    -2.62, {"covered": 1.0, "unknown": -2.58, "title": 1.09, "near": 0.08, "margin": 0.67, "agreed": 1.69}
)
WORDS = LogisticModel(-0.94, {"covered": 1.57, "unknown": -3.48, "title": 2.45})  # without cosines


class FirstSigns(NamedTuple):
    """What tells a first hit that answers from one that does not: first of the whole list, then of the hit."""

    near: float
    margin: float
    gap: float  # between the first two documents of the dense leg, in deviations
    words_gap: float  # between those of the other leg, as a share of its best score
    dense_place: float  # one over the place of the hit's document in the dense leg; 0 beyond the tenth
    words_place: float
    covered: float  # the share of the question's words, by rarity, that the hit holds


FIRST_BOTH = LogisticModel(
    -2.01, {"near": 0.17, "margin": 0.12, "gap": 1.01, "words_gap": 2.42, "dense_place": 1.15, "words_place": 0.72}
)
FIRST_DENSE = LogisticModel(-2.52, {"near": 0.13, "margin": 0.34, "gap": 2.21, "covered": 2.18})
FIRST_WORDS = LogisticModel(-1.63, {"words_gap": 7.37, "covered": 1.13})  # without cosines


def chances(candidates: Candidates, chunks: Sequence[int], config: SearchConfig, index: Index) -> list[float]:
    """For each of some candidates: how likely it is that it answers the question if it stands first. A question that
    has an answer here is taken for granted; `confidence` asks whether it has."""
    if not chunks:
        return []
    model = _first_model(candidates, config, index)
    return [model(each) for each in first_signs(candidates, chunks, index)]


def _first_model(candidates: Candidates, config: SearchConfig, index: Index) -> LogisticModel:
    if not has_cosines(candidates, config, index):
        return FIRST_WORDS
    return FIRST_BOTH if len(candidates.retrieved) > 1 else FIRST_DENSE


def first_signs(candidates: Candidates, chunks: Sequence[int], index: Index) -> list[FirstSigns]:
    """The signs of candidates, each as if it stood first."""
    dense = _documents(candidates.retrieved.get("dense", {}), index)
    words = _documents(next((found for leg, found in candidates.retrieved.items() if leg != "dense"), {}), index)
    near, margin = _nearness(dense, index)
    gap = (dense[0][1] - dense[1][1]) / index.spread[1] if len(dense) > 1 else 0.0
    best = words[0][1] if words else 0.0
    words_gap = (best - words[1][1]) / best if len(words) > 1 and best > 0 else 0.0
    places = [{document: 1.0 / place for place, (document, _) in enumerate(leg, 1)} for leg in (dense, words)]
    worths = word_worths(candidates.query, index)
    whole = sum(worths.values())
    return [
        FirstSigns(
            near,
            margin,
            min(_MOST, gap),
            words_gap,
            places[0].get(document, 0.0),
            places[1].get(document, 0.0),
            held / whole if whole else 0.5,
        )
        for document, held in zip(index.documents_of(chunks), _held(worths, chunks, index), strict=True)
    ]


def confidence(candidates: Candidates, ranking: Ranking, config: SearchConfig, index: Index) -> float:
    """How likely it is that the question is answered by what was found; 0 where nothing was."""
    if not ranking:
        return 0.0
    model = BOTH if has_cosines(candidates, config, index) else WORDS
    return model(signs(candidates, ranking, index))


def lacking(query: str, chunks: Sequence[int], index: Index) -> tuple[str, ...]:
    """The question's words that the first of some passages lacks, where it holds little of the question and a passage
    of another document far more."""
    worths, first = word_worths(query, index), list(chunks)[:LOOKED_AT]
    if len(worths) < WORDS_ASKED or len(first) < 2:
        return ()
    documents, held, whole = index.documents_of(first), _held(worths, first, index), sum(worths.values())
    others = [n for n in range(1, len(first)) if documents[n] != documents[0]]
    best = max(others, key=held.__getitem__, default=0)
    if held[0] > LITTLE * whole or held[best] - held[0] < MORE * whole:
        return ()
    absent = {
        term for term in worths if index.holding(term, [first[best]])[0] and not index.holding(term, first[:1])[0]
    }
    words = analyser(index.profile.lexical).words(query)
    return tuple(dict.fromkeys(query[a:b] for a, b, terms in words if absent.intersection(terms)))


def has_cosines(candidates: Candidates, config: SearchConfig, index: Index) -> bool:
    """Whether the dense leg says how near a passage is to the question itself."""
    fused = index.profile.combine == "rrf" and bool(index.profile.embedders)
    return "dense" in candidates.retrieved and not fused and not config.hyde


def signs(candidates: Candidates, ranking: Ranking, index: Index) -> Signs:
    """The signs of one query, from the fused order: a reranker changes nothing about them."""
    first = list(ranking)[:LOOKED_AT]
    worths = word_worths(candidates.query, index)
    dense = candidates.retrieved.get("dense", {})
    near, margin = _nearness(_documents(dense, index), index)
    whole = sum(worths.values())
    return Signs(
        max(_held(worths, first, index)) / whole if whole else 0.5,
        sum(worth for term, worth in worths.items() if not index.rarity(term)) / whole if whole else 0.0,
        max(_title(worths, chunk, index) for chunk in first) if whole else 0.0,
        near,
        margin,
        _agreed(candidates.retrieved, first[0]),
    )


def word_worths(query: str, index: Index) -> dict[str, float]:
    """The words of a query with their rarity; an unknown one is the rarest. Numbers count only where there is nothing
    else: an amount is rarely written as asked."""
    terms = set(analyser(index.profile.lexical)(query))
    words = {term for term in terms if not term.isdigit()} or terms
    return {term: _worth(term, index) for term in sorted(words)}


def _worth(term: str, index: Index) -> float:
    return index.rarity(term) or log(1 + index.size)


def _held(worths: Mapping[str, float], chunks: Sequence[int], index: Index) -> list[float]:
    """What the words that each passage holds are worth."""
    held = [0.0] * len(chunks)
    for term, worth in worths.items():
        for n, holds in enumerate(index.holding(term, chunks)):
            held[n] += worth * holds
    return held


def _title(worths: Mapping[str, float], chunk: int, index: Index) -> float:
    """How much of a title is asked, times the root of how much of the question that is."""
    title = _terms(index.documents[index.document_of(chunk)].title, index.profile.lexical)
    said = sum(worth for term, worth in worths.items() if term in title)
    return said / sum(_worth(term, index) for term in title) * sqrt(said / sum(worths.values())) if said else 0.0


@lru_cache(maxsize=20_000)
def _terms(text: str, options: LexicalOptions) -> tuple[str, ...]:
    """The distinct terms of a text in order: sums over them have the same bits in every process."""
    return tuple(sorted(set(analyser(options)(text))))


def _documents(ranking: Ranking, index: Index) -> list[tuple[int, float]]:
    """The first ten documents of a leg, each with the score of its best passage."""
    documents: dict[int, float] = {}
    for chunk, score in ranking.items():
        documents.setdefault(index.document_of(chunk), score)
        if len(documents) == LATER:
            break
    return list(documents.items())


def _nearness(dense: Sequence[tuple[int, float]], index: Index) -> tuple[float, float]:
    """How near the nearest document is, and by how much nearer than the tenth; where fewer were found, less."""
    if not dense:
        return 0.0, 0.0
    usual, deviation = index.spread
    best, later = dense[0][1], dense[-1][1]
    margin = (best - later) / deviation * len(dense) / LATER
    return max(-_MOST, min(_MOST, (best - usual) / deviation)), min(_MOST, margin)


def _agreed(retrieved: Mapping[str, Ranking], chunk: int) -> float:
    """The mean of one over the rank of a passage in the dense and in the other leg; a leg without it counts as 0.

    >>> _agreed({"dense": {7: 0.9, 4: 0.1}, "bm25": {4: 3.0, 7: 2.0}}, 7)
    0.75
    """
    other = next((leg for leg in retrieved if leg != "dense"), "")
    return sum(_reciprocal(retrieved.get(leg, {}), chunk) for leg in ("dense", other)) / 2


def _reciprocal(ranking: Ranking, chunk: int) -> float:
    return 1.0 / (list(ranking).index(chunk) + 1) if chunk in ranking else 0.0
