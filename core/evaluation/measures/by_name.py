"""Every measure by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from core.errors import BadInput
from core.evaluation.measures import passages, ranking


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
        Measure("nDCG", "ranking", "gain of the first k over that of the best order", ranking.ndcg),
        Measure("Recall", "ranking", "share of the relevant documents among the first k", ranking.recall),
        Measure("MRR", "ranking", "one over the place of the first relevant document", ranking.reciprocal_rank),
        Measure("MAP", "ranking", "average precision within the first k", ranking.average_precision),
        Measure("P", "ranking", "share of relevant documents among the first k", ranking.precision),
        Measure("Judged", "ranking", "share of judged documents among the first k", ranking.judged),
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
