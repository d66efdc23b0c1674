"""A whole query set as arrays, so that one slider move reranks all of it.

One row per question, one column per candidate, in the order of chunk numbers, so that ties go to the lower number
as in a search. Searching fills the arrays once per profile and depth; every fusion afterwards is the arithmetic of
`core.retrieval.scaling`, the same that `search` uses, over all questions at once. What comes of it is a
measure as a function of alpha, with intervals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from core.errors import BadInput
from core.evaluation.statistics import Interval, bootstrap
from core.evaluation.tuning import passage_table
from core.evaluation.tuning.passage_table import PassageTable
from core.retrieval import scaling
from core.retrieval.candidates import Candidates
from core.retrieval.fusions import FUSIONS
from core.retrieval.methods import ScaledLegs
from core.retrieval.scaling import leg_weights
from core.types import NOTHING, SearchConfig

if TYPE_CHECKING:
    import numpy as np


Grouped = Callable[[Sequence[int], SearchConfig, Callable[[int], float]], "list[list[int]]"]
"""Chunks in their order with their copies, as `listing.grouped` gives them."""


@dataclass(frozen=True, slots=True, eq=False)
class SweepTable:
    """Candidates of every question. Arrays are legs x questions x candidates, or questions x candidates."""

    legs: tuple[str, ...]
    depth: int
    scores: np.ndarray  # what each leg gave, exact also where it did not retrieve
    places: np.ndarray  # the place in each leg's own ranking, 0 where it did not retrieve
    floors: np.ndarray  # legs: the lowest score a leg could give
    units: np.ndarray  # documents or passages, numbered per question; -1 beyond the last candidate
    starts: np.ndarray  # where each question's judged units begin in `judged` and `gains`
    judged: np.ndarray  # unit of each judgment; -2 when no leg found it
    gains: np.ndarray
    passages: PassageTable | None = None  # for measures over passages
    chances: np.ndarray | None = None  # that a candidate answers if it stands first
    copied: Mapping[int, Sequence[int]] = field(default_factory=dict)  # chunks of the questions that hold copies
    grouped: Grouped | None = None

    @property
    def questions(self) -> int:
        return int(self.units.shape[0])


def retrieved_chunks(gathered: Sequence[Candidates]) -> list[list[int]]:
    """What any leg retrieved for each question, by number: the columns of its row."""
    return [
        sorted({chunk for ranking in candidates.retrieved.values() for chunk in ranking}) for candidates in gathered
    ]


def matrix(
    gathered: Sequence[Candidates],
    units: Sequence[Mapping[int, int]],
    gains: Sequence[Mapping[int, float]],
    depth: int,
    passages: PassageTable | None = None,
    chances: Callable[[Candidates, Sequence[int]], Sequence[float]] | None = None,
) -> SweepTable:
    """Arrays from the candidates of `pipeline.gather`: one entry per question in each sequence.

    `units` maps a chunk to the document it counts for (or to itself); `gains` holds the grade of judged units.
    """
    import numpy as np

    legs = tuple(sorted({leg for candidates in gathered for leg in candidates.retrieved}))
    rows = retrieved_chunks(gathered)
    width = max((len(row) for row in rows), default=0)
    shape = (len(legs), len(rows), width)
    scores, places = np.zeros(shape), np.zeros(shape, np.int32)
    local, first = np.full(shape[1:], -1, np.int32), np.zeros(shape[1:])
    starts, judged, graded = [0], [], []
    for q, (candidates, row) in enumerate(zip(gathered, rows, strict=True)):
        numbers: dict[int, int] = {}
        first[q, : len(row)] = chances(candidates, row) if chances else 0.0
        local[q, : len(row)] = [numbers.setdefault(units[q][chunk], len(numbers)) for chunk in row]
        for n, leg in enumerate(legs):
            if leg in candidates.retrieved:
                exact = candidates.completed
                scores[n, q, : len(row)] = exact.scores[sorted(candidates.retrieved).index(leg)]
                order = {chunk: place for place, chunk in enumerate(candidates.retrieved[leg], 1)}
                places[n, q, : len(row)] = [order.get(chunk, 0) for chunk in row]
        judged += [numbers.get(unit, -2) for unit in gains[q]]
        graded += list(gains[q].values())
        starts.append(len(judged))
    floors = np.array(
        [next(candidates.floors[leg] for candidates in gathered if leg in candidates.floors) for leg in legs]
    )
    return SweepTable(
        legs,
        depth,
        scores,
        places,
        floors,
        local,
        np.array(starts),
        np.array(judged, np.int32),
        np.array(graded, float),
        passages,
        first if chances else None,
    )


# ---------------------------------------------------------------- fusion as arithmetic


def normalise(table: SweepTable, config: SearchConfig) -> ScaledLegs:
    """What fusion starts from; it changes with legs, depth, normalisation and missing, not with alpha."""
    import numpy as np

    unknown = [leg for leg in config.legs if leg not in table.legs]
    if unknown or config.depth > table.depth:
        raise BadInput(f"The sweep was gathered with {', '.join(table.legs)} to depth {table.depth}; gather again.")
    legs = sorted(config.legs)
    at = [table.legs.index(leg) for leg in legs]
    places = np.where(table.places[at] <= config.depth, table.places[at], 0)
    return scaling.scale(legs, table.scores[at], places, table.floors[at], config)


def fuse(legs: ScaledLegs, config: SearchConfig) -> np.ndarray:
    """The fused score of every candidate of every question; -inf where there is none."""
    import numpy as np

    weights = leg_weights(config)
    fused = scaling.added(FUSIONS[config.fusion].parts(legs, [weights[leg] for leg in legs.names], config))
    return np.where((legs.places > 0).any(axis=0), fused, -np.inf)


def listed(table: SweepTable, fused: np.ndarray, config: SearchConfig) -> tuple[SweepTable, np.ndarray]:
    """What a search lists, as runs measure it: near-copies with the best of them, whose place counts for the best
    judged one.
    """
    import numpy as np

    if not config.collapse or not table.copied or table.grouped is None:
        return table, fused
    fused, judged, gains = fused.copy(), table.judged.copy(), table.gains.copy()
    for q, chunks in table.copied.items():
        order = [column for column in np.argsort(-fused[q], kind="stable").tolist() if np.isfinite(fused[q, column])]
        score = dict(zip(chunks, fused[q].tolist(), strict=False)).__getitem__
        columns = {chunk: column for column, chunk in enumerate(chunks)}
        groups = table.grouped([chunks[column] for column in order], config, score)
        copies = [[columns[chunk] for chunk in group] for group in groups if len(group) > 1]
        for first, *others in copies:
            fused[q, first] = fused[q, [first, *others]].max()
            fused[q, others] = -np.inf
        shown = set(table.units[q][np.isfinite(fused[q])].tolist())
        span = slice(table.starts[q], table.starts[q + 1])
        for first, *others in copies:
            _name(judged[span], gains[span], table.units[q, first], set(table.units[q, others].tolist()) - shown)
    return replace(table, judged=judged, gains=gains), fused


def _name(judged: np.ndarray, gains: np.ndarray, first: int, others: set[int]) -> None:
    """Let the place of a unit count for the best judged one of those that are named there; the rest is found with
    it.
    """
    import numpy as np

    named = np.flatnonzero(np.isin(judged, [first, *others]))
    if others and len(named):
        best = max(named, key=lambda at: (gains[at], judged[at] == first))
        gains[named[named != best]] = 0.0
        judged[best] = first


def sureness(table: SweepTable, fused: np.ndarray, config: SearchConfig) -> np.ndarray:
    """How sure every question is on the scale that its tau is on: the chance that its first hit answers, or as in the
    thesis the best score, as `candidates.fuse` gives it."""
    import numpy as np

    if config.rerank != "conditional":
        if table.chances is None or set(config.legs) != set(table.legs):
            raise BadInput(f"The sweep knows the chance of a first hit for {', '.join(table.legs)}; gather again.")
        best = fused.argmax(axis=1)
        found = np.isfinite(np.take_along_axis(fused, best[:, None], axis=1)[:, 0])
        return np.where(found, np.take_along_axis(table.chances, best[:, None], axis=1)[:, 0], 0.0)
    weights = list(leg_weights(config).values())
    best = np.nan_to_num(fused.max(axis=1), neginf=0.0).tolist()  # nothing retrieved: no confidence
    return np.array([scaling.confidence(score, weights, config) for score in best])


# ---------------------------------------------------------------- ranks and measures


def ranks(table: SweepTable, fused: np.ndarray) -> np.ndarray:
    """The rank of every judged unit, 0 where it was not retrieved; a document takes the rank of its best chunk."""
    from core.evaluation.tuning.ranking_loops import rank_judged

    return rank_judged(fused, table.units, table.starts, table.judged)


def measured(table: SweepTable, fused: np.ndarray, measure: str) -> np.ndarray:
    """A measure for every question: of the ranking of what was judged, or of the first passages.

    NaN where a question quotes no answer that passages could hold.
    """
    import numpy as np

    if measure not in passage_table.MEASURES:
        return values(table, ranks(table, fused), measure)
    found = passage_table.values(table.passages, fused, measure) if table.passages else np.array([np.nan])
    if np.isnan(found).all():
        raise BadInput(
            f"No question quotes its answer, so there is no {measure}. Choose nDCG@10 or another of a ranking."
        )
    return found


def values(table: SweepTable, places: np.ndarray, measure: str) -> np.ndarray:
    """A ranking measure for every question, from the ranks of what was judged."""
    import numpy as np

    name, k = _split(measure)
    owner = np.repeat(np.arange(table.questions), np.diff(table.starts))

    def per_question(amounts: np.ndarray) -> np.ndarray:
        return np.bincount(owner, weights=amounts, minlength=table.questions)

    seen = (places > 0) & (places <= k)
    relevant = table.gains > 0
    if name == "nDCG":
        discounted = np.where(seen, table.gains / np.log2(np.maximum(places, 1) + 1.0), 0.0)
        return _share(per_question(discounted), _ideal(table, owner, k))
    hit = seen & relevant
    if name == "MRR":
        best = np.zeros(table.questions)
        np.maximum.at(best, owner[hit], 1.0 / places[hit])
        return best
    if name == "MAP":
        return _share(per_question(_precisions(owner, places, hit)), per_question(relevant))
    total = per_question(hit)
    return _share(total, per_question(relevant)) if name == "Recall" else total / k


def _split(measure: str) -> tuple[str, int]:
    name, _, depth = measure.partition("@")
    if name not in SWEPT or not depth.isdigit() or not int(depth):
        raise BadInput(
            f"There is no measure {measure!r} for a sweep. Measures: {', '.join(f'{name}@k' for name in SWEPT)}, "
            f"{', '.join(passage_table.MEASURES)}."
        )
    return name, int(depth)


SWEPT = ("nDCG", "Recall", "MRR", "MAP", "P")


def _ideal(table: SweepTable, owner: np.ndarray, k: int) -> np.ndarray:
    """The gain of the best possible order."""
    import numpy as np

    order = np.lexsort((-table.gains, owner))
    place = np.arange(len(owner)) - table.starts[:-1][owner[order]] + 1
    worth = np.where(place <= k, table.gains[order] / np.log2(place + 1.0), 0.0)
    return np.bincount(owner[order], weights=worth, minlength=table.questions)


def _precisions(owner: np.ndarray, places: np.ndarray, hit: np.ndarray) -> np.ndarray:
    """The precision at each relevant unit that was retrieved."""
    import numpy as np

    order = np.lexsort((np.where(hit, places, 2**30), owner))
    first = np.searchsorted(owner[order], owner[order], side="left")
    before = np.empty(len(owner), np.int64)
    before[order] = np.arange(len(owner)) - first + 1
    return np.where(hit, before / np.maximum(places, 1), 0.0)


def _share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    import numpy as np

    return np.where(whole > 0, part / np.where(whole > 0, whole, 1.0), 0.0)


STEPS = 101


@dataclass(frozen=True, slots=True)
class AlphaCurve:
    """A measure over alpha. `best` is the alpha of the highest mean, the smallest of equals."""

    measure: str
    alphas: tuple[float, ...]
    points: tuple[Interval, ...]
    best: float
    questions: int


def table(rows: SweepTable, config: SearchConfig, measure: str, steps: int = STEPS) -> np.ndarray:
    """The measure of every question (rows) at every alpha (columns)."""
    import numpy as np

    if config.fusion != "convex" or set(config.legs) != {"bm25", "dense"}:
        raise BadInput("An alpha sweep needs convex fusion of bm25 and dense, for example --config convex-0.5.")
    scaled = normalise(rows, config)
    moved = [replace(config, alpha=alpha, weights=NOTHING) for alpha in alphas(steps)]
    return np.stack([measured(*listed(rows, fuse(scaled, each), each), measure) for each in moved], axis=1)


def alphas(steps: int = STEPS) -> tuple[float, ...]:
    """Evenly from 0 to 1.

    >>> alphas(5)
    (0.0, 0.25, 0.5, 0.75, 1.0)
    """
    return tuple(round(step / (steps - 1), 12) for step in range(steps))


def alpha_curve(scores: np.ndarray, measure: str) -> AlphaCurve:
    """The mean at every alpha with its 95 % interval."""
    points = bootstrap(scores)
    best = max(range(len(points)), key=lambda n: (points[n].mean, -n))
    every = alphas(scores.shape[1])
    return AlphaCurve(measure, every, tuple(points), every[best], len(scores))


def by_category(scores: np.ndarray, categories: Mapping[str, Sequence[int]], measure: str) -> dict[str, AlphaCurve]:
    """One curve per category; `categories` holds the rows of each."""
    return {name: alpha_curve(scores[list(rows)], measure) for name, rows in categories.items() if rows}


def per_question(scores: np.ndarray) -> list[tuple[float, float]]:
    """The alphas between which each question does best; the whole range where alpha does not matter."""
    import numpy as np

    every = alphas(scores.shape[1])
    top = scores >= scores.max(axis=1, keepdims=True) - 1e-12
    first, last = np.argmax(top, axis=1), scores.shape[1] - 1 - np.argmax(top[:, ::-1], axis=1)
    return [(every[a], every[b]) for a, b in zip(first.tolist(), last.tolist(), strict=True)]
