"""Ranking measures. `gains` are graded judgments by document; `ranking` is a list of documents, best first.

Conventions are those of trec_eval: linear gains, a judgment above 0 is relevant, what nobody judged is not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log2

from core.errors import BadInput
from core.evaluation import spans


def ndcg(ranking: Sequence[str], gains: Mapping[str, float], k: int) -> float:
    """Discounted gain of the first k over that of the best possible order, with linear gains as in trec_eval.

    >>> round(ndcg(["a", "b", "c"], {"a": 1, "c": 1}, 10), 4)
    0.9197
    """
    ideal = _dcg(sorted(gains.values(), reverse=True)[:k])
    return _dcg([gains.get(doc, 0.0) for doc in ranking[:k]]) / ideal if ideal else 0.0


def _dcg(gains: Sequence[float]) -> float:
    return sum(gain / log2(place + 1) for place, gain in enumerate(gains, 1))


def recall(ranking: Sequence[str], gains: Mapping[str, float], k: int) -> float:
    """Share of the relevant documents among the first k.

    >>> recall(["a", "b"], {"a": 1, "c": 1}, 10)
    0.5
    """
    relevant = {doc for doc, gain in gains.items() if gain > 0}
    return len(relevant.intersection(ranking[:k])) / len(relevant) if relevant else 0.0


def reciprocal_rank(ranking: Sequence[str], gains: Mapping[str, float], k: int) -> float:
    """One over the place of the first relevant document, 0 beyond k.

    >>> reciprocal_rank(["b", "a"], {"a": 1}, 10)
    0.5
    """
    return next((1.0 / place for place, doc in enumerate(ranking[:k], 1) if gains.get(doc, 0) > 0), 0.0)


def average_precision(ranking: Sequence[str], gains: Mapping[str, float], k: int) -> float:
    """The precision at each relevant document among the first k, summed, over the number of relevant documents.

    >>> round(average_precision(["a", "b", "c"], {"a": 1, "c": 1}, 10), 4)
    0.8333
    """
    relevant = sum(gain > 0 for gain in gains.values())
    found, total = 0, 0.0
    for place, doc in enumerate(ranking[:k], 1):
        if gains.get(doc, 0) > 0:
            found += 1
            total += found / place
    return total / relevant if relevant else 0.0


def precision(ranking: Sequence[str], gains: Mapping[str, float], k: int) -> float:
    """Share of the first k places that hold a relevant document; places left empty hold none.

    >>> precision(["a", "b", "c"], {"a": 1, "c": 1}, 5)
    0.4
    """
    return sum(gains.get(doc, 0) > 0 for doc in ranking[:k]) / k


def judged(ranking: Sequence[str], gains: Mapping[str, float], k: int) -> float:
    """Coverage of judgments: share of the first k documents that somebody judged, relevant or not.

    >>> judged(["a", "b", "c", "d"], {"a": 1, "c": 0}, 4)
    0.5
    """
    return sum(doc in gains for doc in ranking[:k]) / len(ranking[:k]) if ranking else 0.0


def mean(values: Sequence[float]) -> float:
    """The average; 0 of nothing."""
    return sum(values) / len(values) if values else 0.0


# ---------------------------------------------------------------- one table of all measures


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure by name. `kind` says what it compares: a ranking of documents with judgments (called with ranking,
    gains and k), passages with an answer (texts, answer), passages with segments (texts, segments), or a top score
    with nothing."""

    name: str
    kind: str
    about: str
    of: Callable[..., float]


MEASURES: Mapping[str, Measure] = {
    measure.name: measure
    for measure in (
        Measure("nDCG", "ranking", "gain of the first k over that of the best order", ndcg),
        Measure("Recall", "ranking", "share of the relevant documents among the first k", recall),
        Measure("MRR", "ranking", "one over the place of the first relevant document", reciprocal_rank),
        Measure("MAP", "ranking", "average precision within the first k", average_precision),
        Measure("P", "ranking", "share of relevant documents among the first k", precision),
        Measure("Judged", "ranking", "share of judged documents among the first k", judged),
        Measure("T1EM", "span", "the first passage contains the answer", lambda texts, a: spans.exact(texts, a, 1)),
        Measure("T5EM", "span", "one of the first five contains the answer", lambda texts, a: spans.exact(texts, a, 5)),
        Measure("T1C", "span", "how much of the answer the first passage covers", spans.top_coverage),
        Measure("BC", "span", "how much of the answer the best passage covers", spans.best_coverage),
        Measure("AC", "span", "how much of the answer a passage covers on average", spans.average_coverage),
        Measure("MC", "span", "how much of the answer all passages cover together", spans.joint_coverage),
        Measure("SpanMRR", "span", "one over the place of the first passage with the answer", spans.reciprocal_place),
        Measure("AT1S", "score", "the score of the first passage", lambda scores: scores[0] if scores else 0.0),
        Measure("T1O", "overlap", "what the first passage shares with a source segment", spans.top_overlap),
        Measure("BO", "overlap", "the most that a passage shares with a source segment", spans.best_overlap),
        Measure("AO", "overlap", "what a passage shares with a source segment on average", spans.average_overlap),
    )
}


def ranked(name: str) -> Callable[[Sequence[str], Mapping[str, float]], float]:
    """A ranking measure by its full name.

    >>> ranked("P@5")(["a", "b"], {"a": 1})
    0.2
    """
    bare, _, depth = name.partition("@")
    found = MEASURES.get(bare)
    if found is None or found.kind != "ranking" or not depth.isdigit() or not int(depth):
        known = ", ".join(f"{one.name}@k" for one in MEASURES.values() if one.kind == "ranking")
        raise BadInput(f"There is no ranking measure {name!r}. Measures: {known}, with a whole number for k.")
    return lambda ranking, gains: found.of(ranking, gains, int(depth))
