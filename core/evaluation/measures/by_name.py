"""Every measure of a ranking by name, and all of them for one question.

`gains` are graded judgments by document; `ranking` is a list of documents, best first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log2

from core.errors import BadInput
from core.evaluation.measures import passages


def ndcg(ranking: Sequence[str], gains: Mapping[str, float], k: int) -> float:
    """Discounted gain of the first k over that of the best possible order, with linear gains as in trec_eval.

    >>> round(ndcg(["a", "b", "c"], {"a": 1, "c": 1}, 10), 4)
    0.9197
    """
    ideal = _dcg(sorted(gains.values(), reverse=True)[:k])
    return _dcg([gains.get(doc, 0.0) for doc in ranking[:k]]) / ideal if ideal else 0.0


def _dcg(gains: Sequence[float]) -> float:
    return sum(gain / log2(place + 1) for place, gain in enumerate(gains, 1) if gain)


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
    hits, total = 0, 0.0
    for place, doc in enumerate(ranking[:k], 1):
        if gains.get(doc, 0) > 0:
            hits += 1
            total += hits / place
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
    """The mean; 0 of an empty list."""
    return sum(values) / len(values) if values else 0.0


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
        Measure("T1EM", "span", "the first passage contains the answer", lambda texts, a: passages.exact(texts, a, 1)),
        Measure(
            "T5EM", "span", "one of the first five contains the answer", lambda texts, a: passages.exact(texts, a, 5)
        ),
        Measure("T1C", "span", "how much of the answer the first passage covers", passages.top_coverage),
        Measure("BC", "span", "how much of the answer the best passage covers", passages.best_coverage),
        Measure("AC", "span", "how much of the answer a passage covers on average", passages.average_coverage),
        Measure("MC", "span", "how much of the answer all passages cover together", passages.joint_coverage),
        Measure(
            "SpanMRR", "span", "one over the place of the first passage with the answer", passages.reciprocal_place
        ),
        Measure("AT1S", "score", "the score of the first passage", lambda scores: scores[0] if scores else 0.0),
        Measure("T1O", "overlap", "what the first passage shares with a source segment", passages.top_overlap),
        Measure("BO", "overlap", "the most that a passage shares with a source segment", passages.best_overlap),
        Measure("AO", "overlap", "what a passage shares with a source segment on average", passages.average_overlap),
    )
}


PASSAGES = tuple(name for name, measure in MEASURES.items() if measure.kind in ("span", "overlap"))
KEY = ("T1EM", "T1C", "T1O", "SpanMRR")  # the four that the thesis decides by


def known(name: str) -> str:
    """The name, if it is one of a ranking measure or of one over passages.

    >>> known("T1EM"), known("nDCG@10")
    ('T1EM', 'nDCG@10')
    """
    if name not in PASSAGES:
        ranking_measure(name)
    return name


def ranking_measure(name: str) -> Callable[[Sequence[str], Mapping[str, float]], float]:
    """A ranking measure by its full name.

    >>> ranking_measure("P@5")(["a", "b"], {"a": 1})
    0.2
    """
    bare, _, depth = name.partition("@")
    measure = MEASURES.get(bare)
    if measure is None or measure.kind != "ranking" or not depth.isdigit() or not int(depth):
        ranked = ", ".join(f"{measure.name}@k" for measure in MEASURES.values() if measure.kind == "ranking")
        raise BadInput(
            f"There is no measure {name!r}. Measures: {ranked}, with a whole number for k, and {', '.join(PASSAGES)}."
        )
    return lambda documents, gains: measure.of(documents, gains, int(depth))


STANDARD = ("nDCG", "Recall", "MRR", "MAP", "P")
DEPTHS = (1, 5, 10, 50, 100)
RANKED = tuple(dict.fromkeys(("nDCG@10", *(f"{name}@{k}" for name in STANDARD for k in DEPTHS), "Judged@10")))
SPANS = tuple(name for name, measure in MEASURES.items() if measure.kind == "span")
OVERLAPS = tuple(name for name, measure in MEASURES.items() if measure.kind == "overlap")
EVERY = (*RANKED, "AT1S", *SPANS, *OVERLAPS)
READ = 5  # passages that an agent would read: span and overlap measures look at these
_RANKED = {name: ranking_measure(name) for name in RANKED}


@dataclass(frozen=True, slots=True)
class Gold:
    """What should be found: gains by unit, and where words were quoted, those words and their source segments."""

    gains: Mapping[int, float]
    answer: str = ""
    segments: tuple[str, ...] = ()


def named(ranking: Sequence[int], copies: Sequence[Sequence[int]], gold: Gold) -> tuple[list[int], Gold]:
    """The ranking and what should be found, where copies are named with the unit that is listed.

    A place counts for the best judged unit that is named there. Its other copies are found with it, and are not looked
    for elsewhere, unless they are listed by themselves.

    >>> named([7, 3], [(7, 5, 6)], Gold({5: 2.0, 6: 1.0, 3: 1.0}))
    ([5, 3], Gold(gains={5: 2.0, 3: 1.0}, answer='', segments=()))
    """
    gains, places = dict(gold.gains), list(ranking)
    for first, *others in copies:
        group = [first, *(other for other in others if other not in places and gains.get(other))]
        best = max(group, key=lambda unit: gains.get(unit, 0.0))
        if first in places:
            places[places.index(first)] = best
            gains = {unit: gain for unit, gain in gains.items() if unit == best or unit not in group}
    return places, replace(gold, gains=gains)


def score(ranking: Sequence[int], passages: Sequence[str], top: float, gold: Gold) -> dict[str, float]:
    """The measures that the judgments of a question allow.

    >>> score([7, 3], ["in 30 days"], 0.9, Gold({3: 1.0}, "30 days"))["MRR@10"]
    0.5
    """
    units = [str(unit) for unit in ranking]
    gains = {str(unit): gain for unit, gain in gold.gains.items()}
    values = {name: measure(units, gains) for name, measure in _RANKED.items()}
    values["AT1S"] = top
    texts = passages[:READ]
    if gold.answer:
        values |= {name: MEASURES[name].of(texts, gold.answer) for name in SPANS}
    if gold.segments:
        values |= {name: MEASURES[name].of(texts, gold.segments) for name in OVERLAPS}
    return values


def value(name: str, ranking: Sequence[int], passages: Sequence[str], gold: Gold) -> float | None:
    """One measure of a question; None where its judgments do not allow it.

    >>> (
    ...     value("T1EM", [7], ["in 30 days"], Gold({7: 1.0}, "30 days")),
    ...     value("T1EM", [7], ["in 30 days"], Gold({7: 1.0})),
    ... )
    (1.0, None)
    """
    measure = MEASURES.get(name)
    if measure is None:
        return ranking_measure(name)([str(unit) for unit in ranking], {str(unit): g for unit, g in gold.gains.items()})
    against = gold.answer if measure.kind == "span" else gold.segments
    return measure.of(passages[:READ], against) if against else None
