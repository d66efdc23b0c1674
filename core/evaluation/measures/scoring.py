"""Every measure of one question, from what was found and what was judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from core.evaluation.measures.by_name import MEASURES, ranking_measure

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

    >>> value("T1EM", [7], ["in 30 days"], Gold({7: 1.0}, "30 days")), value("T1EM", [7], ["in 30 days"], Gold({7: 1.0}))
    (1.0, None)
    """
    measure = MEASURES.get(name)
    if measure is None:
        return ranking_measure(name)([str(unit) for unit in ranking], {str(unit): g for unit, g in gold.gains.items()})
    against = gold.answer if measure.kind == "span" else gold.segments
    return measure.of(passages[:READ], against) if against else None
