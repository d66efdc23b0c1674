"""Tuning: a whole query set answers while alpha, tau, fusion and k move; what wins is weighed against production."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from core.access import Actor, require
from core.errors import BadInput
from core.evaluation import anchoring, calibration, curves, sweep
from core.evaluation.calibration import Calibration, Observed
from core.evaluation.curves import Curve
from core.evaluation.querysets import QuerySet, Question, known_unit
from core.evaluation.runs import Run
from core.evaluation.scoring import EVERY
from core.evaluation.statistics import Interval, PairedComparison, bootstrap, compare
from core.ports import Index, Progress, no_progress
from core.retrieval import config as configs
from core.retrieval.fusions import FUSIONS
from core.retrieval.methods import ScaledLegs
from core.services.evaluation.candidates import CandidateCache, generation_key
from core.services.evaluation.runs import RunPlan, Runs
from core.types import SearchConfig

if TYPE_CHECKING:
    import numpy as np

MEASURE = "nDCG@10"
THIN = 200  # judged questions below this: the evidence is thin
RESAMPLES = 400  # of one move of a slider: enough for a bar, quick enough for a hand
REMEMBERED = 4  # query sets that are held as arrays
TOP = 5  # a skipped question counts as answered when a relevant document stands this high


@dataclass(frozen=True, slots=True)
class Laid:
    """A query set over one generation, as arrays: what a slider moves."""

    queryset: str
    digest: str
    profile: str
    unit: str
    questions: tuple[Question, ...]
    table: sweep.SweepTable
    unmapped: int


@dataclass(frozen=True, slots=True)
class AlphaCurve:
    """How a measure answers to alpha, overall and by category, and the best alphas of each question."""

    overall: Curve
    by_category: Mapping[str, Curve]
    per_question: Mapping[str, tuple[float, float]]
    note: str


@dataclass(frozen=True, slots=True)
class Moved:
    """What a query set says to one position of the sliders."""

    config: SearchConfig
    measure: str
    overall: Interval
    by_category: Mapping[str, float]
    answered: int  # questions with a relevant document first
    questions: int
    reranked: float = 0.0  # the share of questions whose best score is below tau


class Sweeps:
    """Curves and calibrations."""

    def __init__(self, runs: Runs) -> None:
        self.runs = runs
        self._laid: dict[tuple[Hashable, ...], Laid] = {}
        self._last: tuple[sweep.SweepTable | None, tuple[Hashable, ...], ScaledLegs | None] = (None, (), None)

    def lay(
        self,
        queryset: str,
        profile: str = "",
        legs: tuple[str, ...] = ("bm25", "dense"),
        depth: int = 0,
        unit: str = "document",
        progress: Progress = no_progress,
    ) -> Laid:
        """A query set as arrays, ready to be swept; remembered until the set or the index changes."""
        plan = self.runs.plan(profile)
        found = self.runs.querysets.get(queryset)
        known_unit(unit)
        index = self.runs.searcher.generations.open(plan.profile)
        depth = depth or plan.config.depth
        key = (found.digest, generation_key(self.runs.searcher, index), legs, depth, unit)
        if key not in self._laid:
            made = self._lay(found, index, legs, depth, unit, progress)
            self._laid = dict([*self._laid.items(), (key, made)][-REMEMBERED:])
        return self._laid[key]

    def _lay(
        self, queryset: QuerySet, index: Index, legs: tuple[str, ...], depth: int, unit: str, progress: Progress
    ) -> Laid:
        gains = anchoring.gains(queryset.judgments, index, unit)
        judged = [one for one in queryset.questions if any(gains.gains.get(one.id, {}).values())]
        if not judged:
            raise BadInput(f"No question of {queryset.name!r} has a judgment that this index knows.")
        config = replace(configs.DEFAULT, legs=legs, depth=depth)
        found = CandidateCache(self.runs.searcher, self.runs.database, index, config)
        gathered = []
        for n, question in enumerate(judged, 1):
            gathered.append(found.of(" ".join(question.text.split())).candidates)
            progress(n, len(judged), "Searching every question")
        found.kept.save()
        units = [
            {
                chunk: index.document_of(chunk) if unit == "document" else chunk
                for leg in one.retrieved.values()
                for chunk in leg
            }
            for one in gathered
        ]
        table = sweep.matrix(gathered, units, [gains.gains[one.id] for one in judged], depth)
        return Laid(queryset.name, queryset.digest, index.profile.name, unit, tuple(judged), table, len(gains.unmapped))

    # ------------------------------------------------------------ alpha

    def curve(
        self,
        actor: Actor,
        queryset: str,
        config: SearchConfig,
        profile: str = "",
        measure: str = MEASURE,
        unit: str = "document",
        progress: Progress = no_progress,
    ) -> AlphaCurve:
        """Lay a query set out and draw its curve, for somebody who waits."""
        require(actor, "run an evaluation")
        return self.alpha(self.lay(queryset, profile, config.legs, config.depth, unit, progress), config, measure)

    def alpha(self, laid: Laid, config: SearchConfig, measure: str = MEASURE) -> AlphaCurve:
        """The curve of a measure over 101 alphas with intervals, by category, and the optimum of each question."""
        scores = curves.table(laid.table, config, measure)
        ids = [one.id for one in laid.questions]
        return AlphaCurve(
            curves.curve(scores, measure),
            curves.by_category(scores, rows_by_category(laid), measure),
            dict(zip(ids, curves.per_question(scores), strict=True)),
            thin(len(ids)),
        )

    def move(self, laid: Laid, config: SearchConfig, measure: str = MEASURE) -> Moved:
        """What the whole query set says to one position of the sliders."""
        fused = sweep.fuse(self._scaled(laid, config), config)
        places = sweep.ranks(laid.table, fused)
        scores = sweep.values(laid.table, places, measure)
        first = sweep.values(laid.table, places, "P@1")
        by_category = {name: float(scores[rows].mean()) for name, rows in rows_by_category(laid).items()}
        return Moved(
            config,
            measure,
            bootstrap(scores[:, None], RESAMPLES)[0],
            by_category,
            int(first.sum()),
            len(scores),
            float((sweep.confidence(fused, config) < config.tau).mean()),
        )

    def weigh(self, laid: Laid, before: SearchConfig, after: SearchConfig, measure: str = MEASURE) -> PairedComparison:
        """One position of the sliders against another, question by question."""
        one, other = (sweep.values(laid.table, self._places(laid, config), measure) for config in (before, after))
        return compare(one.tolist(), other.tolist(), resamples=RESAMPLES)

    def _places(self, laid: Laid, config: SearchConfig) -> np.ndarray:
        return sweep.ranks(laid.table, sweep.fuse(self._scaled(laid, config), config))

    def _scaled(self, laid: Laid, config: SearchConfig) -> ScaledLegs:
        """Scores on one scale; the last ones are remembered, since most moves change only what comes after."""
        key = (tuple(sorted(config.legs)), config.depth, config.normalisation, config.missing)
        table, known, scaled = self._last
        if table is not laid.table or known != key or scaled is None:
            scaled = sweep.normalise(laid.table, config)
            self._last = (laid.table, key, scaled)
        return scaled

    # ------------------------------------------------------------ tau

    def tau(
        self,
        actor: Actor,
        queryset: str,
        profile: str = "",
        config: SearchConfig | None = None,
        measure: str = MEASURE,
        beta: float = calibration.BETA,
        least: int = calibration.LEAST,
        progress: Progress = no_progress,
    ) -> Calibration:
        """Calibrate tau: the smallest that skips only questions which are answered well enough without reranking."""
        require(actor, "run an evaluation")
        if measure not in EVERY:
            raise BadInput(f"A run has no measure {measure!r}. It has: {', '.join(EVERY)}.")
        if not 0 < beta < 1 or least < 1:
            raise BadInput("beta must lie between 0 and 1, and at least one skipped question is needed.")
        plan = self.runs.plan(profile)
        base = replace(config or plan.config, rerank="off")
        plans = [RunPlan(plan.profile, base), RunPlan(plan.profile, replace(base, rerank="always"))]
        fused, reranked = self.runs.evaluate(queryset, plans, progress=progress)
        return calibration.calibrate(observed(fused, reranked, measure), beta=beta, least=least)


def observed(fused: Run, reranked: Run, measure: str = MEASURE) -> list[Observed]:
    """The questions that two runs have the measure of, as a calibration sees them."""
    return [
        Observed(
            question,
            one.confidence,
            one.values[f"Recall@{TOP}"] > 0,
            one.values[measure],
            reranked.results[question].values[measure],
        )
        for question, one in fused.results.items()
        if question in reranked.results and measure in one.values and measure in reranked.results[question].values
    ]


def sweepable(laid: Laid, config: SearchConfig) -> bool:
    """Whether a configuration is arithmetic on what was laid: no reranking, no alpha per question, no deeper look."""
    plain = config.rerank == "off" and config.alpha_from == "fixed" and not config.hyde and not config.parents
    return plain and set(config.legs) <= set(laid.table.legs) and config.depth <= laid.table.depth


def position(base: SearchConfig, fusion: str, normalisation: str = "", **knobs: Any) -> SearchConfig:
    """Where the sliders stand, as a configuration; a fusion that fixes its own normalisation keeps it.

    >>> position(SearchConfig(depth=30), "convex", "tm2c2", alpha=0.3).alpha
    0.3
    >>> position(SearchConfig(depth=30), "rrf", "minmax", rrf_k=20).normalisation
    'none'
    """
    plain = FUSIONS[fusion].spellings[0].config
    free = plain.normalisation if FUSIONS[fusion].normalisation or not normalisation else normalisation
    own = {name: knobs[name] for name in FUSIONS[fusion].parameters if name in knobs}
    return configs.check(replace(plain, normalisation=free, depth=base.depth, k=base.k, **own))


def rows_by_category(laid: Laid) -> dict[str, list[int]]:
    """The rows of each category."""
    rows: dict[str, list[int]] = {}
    for n, question in enumerate(laid.questions):
        rows.setdefault(question.category or "uncategorised", []).append(n)
    return rows


def thin(questions: int) -> str:
    """A warning where there are few judged questions.

    >>> thin(50)
    'Only 50 judged questions: the evidence is thin. Use the fixed optimum, and judge at least 200 before learning alpha.'
    """
    if questions >= THIN:
        return ""
    return (
        f"Only {questions} judged questions: the evidence is thin. "
        f"Use the fixed optimum, and judge at least {THIN} before learning alpha."
    )
