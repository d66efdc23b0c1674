"""Every measure of one question, from what was found and what was judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.evaluation.measures.registry import MEASURES, ranking_measure

RANKED = ("nDCG@10", "Recall@5", "Recall@10", "Recall@100", "MRR@10", "MAP@10", "P@1", "P@5", "Judged@10")
SPANS = tuple(name for name, measure in MEASURES.items() if measure.kind == "span")
OVERLAPS = tuple(name for name, measure in MEASURES.items() if measure.kind == "overlap")
EVERY = (*RANKED, "AT1S", *SPANS, *OVERLAPS)
READ = 5  # passages that an agent would read: span and overlap measures look at these


@dataclass(frozen=True, slots=True)
class Gold:
    """What should be found: gains by unit, and where words were quoted, those words and the sections around them."""

    gains: Mapping[int, float]
    answer: str = ""
    segments: tuple[str, ...] = ()


def score(ranking: Sequence[int], passages: Sequence[str], top: float, gold: Gold) -> dict[str, float]:
    """The measures that the judgments of a question allow.

    >>> score([7, 3], ["in 30 days"], 0.9, Gold({3: 1.0}, "30 days"))["MRR@10"]
    0.5
    """
    units = [str(unit) for unit in ranking]
    gains = {str(unit): gain for unit, gain in gold.gains.items()}
    values = {name: ranking_measure(name)(units, gains) for name in RANKED}
    values["AT1S"] = top
    texts = passages[:READ]
    if gold.answer:
        values |= {name: MEASURES[name].of(texts, gold.answer) for name in SPANS}
    if gold.segments:
        values |= {name: MEASURES[name].of(texts, gold.segments) for name in OVERLAPS}
    return values
