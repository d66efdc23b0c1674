"""Sweeps: a whole query set measured while alpha, tau, fusion and k move, and tau calibrated."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from core import strict
from core.access import ALREADY_CHECKED, Actor, reading_as, use_case
from core.errors import BadInput
from core.evaluation.measures.by_name import EVERY
from core.evaluation.querysets import anchoring
from core.evaluation.querysets.queryset import NOT_NAMED, QuerySet, Question, by_question, choosing, known_unit, settled
from core.evaluation.runs.run import Answered, Run, label
from core.evaluation.statistics import Interval, PairedComparison, bootstrap, compare
from core.evaluation.tuning import calibration, sweep
from core.evaluation.tuning.calibration import Calibration, Observed, TauRule
from core.evaluation.tuning.passage_table import PassageTable
from core.evaluation.tuning.sweep import AlphaCurve
from core.ports import Index, Progress, no_progress
from core.retrieval import config as configs
from core.retrieval import listing, near_copies
from core.retrieval.confidence import chances
from core.retrieval.fusions import FUSIONS
from core.retrieval.methods import ScaledLegs
from core.retrieval.rerankers.rerank import BLEND, BY_TAU
from core.services.evaluation.cached_candidates import CandidateCache, generation_key
from core.services.evaluation.runs import RunPlan, Runs, gold
from core.types import SearchConfig

if TYPE_CHECKING:
    import numpy as np

MEASURE = "nDCG@10"
THIN = 200  # judged questions below this: the evidence is thin
SLIDER_STEPS = 20  # of tau
GATHERED = ("fields", "documents", "synonyms", "collapse")  # what sliders leave as a configuration has it
LOADED = 4  # query sets kept in memory as arrays
EXACT, RELEVANT = "T5EM", "Recall@5"  # above 0, a question that is not reranked counts as answered


@dataclass(frozen=True, slots=True)
class SweepData:
    """A query set over one generation as arrays, so that moving a slider needs no search."""

    queryset: str
    digest: str
    profile: str
    unit: str
    questions: tuple[Question, ...]
    table: sweep.SweepTable
    unmapped: int
    searched: SearchConfig  # what of a configuration it was gathered with
    halved: bool = False  # whether these are the half that settings are chosen on, so that there is another one

    @property
    def quoted(self) -> bool:
        """Whether any question quotes its answer, so that passages can be measured."""
        return bool(self.table.passages and self.table.passages.quoted)


@dataclass(frozen=True, slots=True)
class AlphaCurves:
    """A measure over alpha, overall and by category, and the best alphas of each question."""

    overall: AlphaCurve
    by_category: Mapping[str, AlphaCurve]
    per_question: Mapping[str, tuple[float, float]]
    note: str
    paired: tuple[Interval, ...] = ()  # the difference from production at each alpha


@dataclass(frozen=True, slots=True)
class SweepResult:
    """A measure of a query set at one position of the sliders."""

    config: SearchConfig
    measure: str
    overall: Interval
    by_category: Mapping[str, float]
    answered: int  # questions with a relevant document first
    questions: int
    reranked: float = 0.0  # the share of questions below tau


@dataclass(frozen=True, slots=True)
class SweepScope:
    """What of a query set is swept, and in which profile."""

    profile: str = ""  # that of production if not set
    unit: str = "document"
    whole: bool = False  # else the half that things are chosen on
    legs: tuple[str, ...] = ("bm25", "dense")
    depth: int = 0  # that of production if not set


class Sweeps:
    """Alpha curves, slider positions and calibrations."""

    def __init__(self, runs: Runs) -> None:
        self.runs = runs
        self._loaded: dict[tuple[Hashable, ...], SweepData] = {}
        self._last: tuple[sweep.SweepTable | None, tuple[Hashable, ...], ScaledLegs | None] = (None, (), None)

    @use_case("run an evaluation", whole=True)
    def load(
        self,
        actor: Actor,
        queryset: str,
        scope: SweepScope = SweepScope(),
        config: SearchConfig | None = None,
        progress: Progress = no_progress,
    ) -> SweepData:
        """The half of a query set that things are chosen on, or the whole of it, as arrays; cached until the set or
        the index changes. Fields and documents count as in the configuration, by default that of production."""
        plan = self.runs.plan(scope.profile)
        judged_set = self.runs.querysets.get(queryset)
        known_unit(scope.unit)
        index = self.runs.searcher.generations.open(plan.profile)
        searched = _gathered_as(config or plan.config, scope.legs, scope.depth or plan.config.depth)
        key = (judged_set.digest, generation_key(self.runs.searcher, index), searched, scope.unit, scope.whole)
        if key not in self._loaded:
            data = self._load(judged_set, index, searched, scope.unit, progress, scope.whole)
            self._loaded = dict([*self._loaded.items(), (key, data)][-LOADED:])
            self.runs.audit.note(actor, "sweep", queryset, detail=f"{', '.join(scope.legs)} on {plan.profile.name}")
        return self._for(actor, judged_set, self._loaded[key])

    def _for(self, actor: Actor, queryset: QuerySet, data: SweepData) -> SweepData:
        """Arrays of every question, without the words of those about documents that somebody may not read."""
        if self.runs.querysets.documents.readership.of(actor) is None:
            return data
        with reading_as(actor):
            known = {question.id for question in self.runs.querysets.shown(queryset).questions}
        shown = (one if one.id in known else _nameless(one) for one in data.questions)
        return replace(data, questions=tuple(shown))

    def _load(
        self,
        queryset: QuerySet,
        index: Index,
        config: SearchConfig,
        unit: str,
        progress: Progress,
        whole: bool,
    ) -> SweepData:
        gains = anchoring.gains(queryset.judgments, index, unit)
        every = [question for question in queryset.questions if any(gains.gains.get(question.id, {}).values())]
        used = {question.id for question in every} if whole else choosing(every)
        judged = [question for question in every if question.id in used]
        if not judged:
            raise BadInput(f"No question of {queryset.name!r} has a judgment that this index knows.")
        cache = CandidateCache(self.runs.searcher, self.runs.database, index, config)
        gathered = []
        for n, question in enumerate(judged, 1):
            gathered.append(cache.of(" ".join(question.text.split())).candidates)
            progress(n, len(judged), "Searching every question")
        cache.save()
        units = [
            {
                chunk: index.document_of(chunk) if unit == "document" else chunk
                for leg in candidates.retrieved.values()
                for chunk in leg
            }
            for candidates in gathered
        ]
        judgments = by_question(settled(queryset.judgments))
        golds = [gold(judgments[question.id], gains.gains[question.id], index) for question in judged]
        graded = [gains.gains[question.id] for question in judged]
        chance = partial(chances, config=config, index=index)
        passages = PassageTable(sweep.retrieved_chunks(gathered), golds, index.excerpt) if golds else None
        table = sweep.matrix(gathered, units, graded, config.depth, passages, chance)
        rows = dict(enumerate(sweep.retrieved_chunks(gathered))) if config.collapse else {}
        copied = {q: row for q, row in rows.items() if _holds_copies(row, index, config)}
        table = replace(table, copied=copied, grouped=partial(_grouped, index))
        facts = (queryset.name, queryset.digest, index.profile.name, unit)
        return SweepData(*facts, tuple(judged), table, len(gains.unmapped), config, len(judged) < len(every))

    # ------------------------------------------------------------ alpha

    @use_case("run an evaluation", whole=True)
    def alpha_curves(
        self,
        actor: Actor,
        queryset: str,
        config: SearchConfig,
        scope: SweepScope = SweepScope(),
        measure: str = MEASURE,
        progress: Progress = no_progress,
    ) -> AlphaCurves:
        """Load a query set as the configuration searches it, and compute its curve."""
        data = self.load(actor, queryset, replace(scope, legs=config.legs, depth=config.depth), config, progress)
        return self.curves_of(data, config, measure)

    @use_case(ALREADY_CHECKED)
    def curves_of(
        self, data: SweepData, config: SearchConfig, measure: str = MEASURE, production: SearchConfig | None = None
    ) -> AlphaCurves:
        """The curve of a measure over 101 alphas with intervals, by category, and the optimum of each question."""
        every = sweep.table(data.table, config, measure)
        has = _having(every[:, 0])
        scores, ids = every[has], [data.questions[n].id for n in has]
        paired = production is not None and sweepable(data, production)
        before = self.scores(data, production, measure)[has] if production and paired else None
        return AlphaCurves(
            sweep.alpha_curve(scores, measure),
            sweep.by_category(scores, rows_by_category(data, has), measure),
            dict(zip(ids, sweep.per_question(scores), strict=True)),
            thin(len(ids)),
            () if before is None else tuple(bootstrap(scores - before[:, None])),
        )

    @use_case(ALREADY_CHECKED)
    def scores(self, data: SweepData, config: SearchConfig, measure: str = MEASURE) -> np.ndarray:
        """The measure of every question, as a run of this configuration measures it; NaN where one has none."""
        fused = sweep.fuse(self._scaled(data, config), config)
        return sweep.measured(*sweep.listed(data.table, fused, config), measure)

    @use_case(ALREADY_CHECKED)
    def measure_at(self, data: SweepData, config: SearchConfig, measure: str = MEASURE) -> SweepResult:
        """The measure of the whole query set at one position of the sliders."""
        every, fused = self.scores(data, config, measure), sweep.fuse(self._scaled(data, config), config)
        has = _having(every)
        scores, first = every[has], self.scores(data, config, "P@1")[has]
        by_category = {name: float(scores[rows].mean()) for name, rows in rows_by_category(data, has).items()}
        return SweepResult(
            config,
            measure,
            bootstrap(scores[:, None])[0],
            by_category,
            int(first.sum()),
            len(scores),
            float((sweep.sureness(data.table, fused, config) < config.tau).mean()) if config.rerank in BY_TAU else 0.0,
        )

    @use_case(ALREADY_CHECKED)
    def shares(self, data: SweepData, config: SearchConfig, tau: float) -> dict[float, float]:
        """Taus in steps of equally many questions, each with the share that it reranks; the given one is among them."""
        import numpy as np

        sure = sweep.sureness(data.table, sweep.fuse(self._scaled(data, config), config), config)
        steps = np.round(np.quantile(sure, np.arange(SLIDER_STEPS + 1) / SLIDER_STEPS) + 0.005, 2).tolist()
        return {
            step: float((sure < step).mean())
            for step in sorted({0.0, *(min(1.0, step) for step in steps[1:]), tau, 1.0})
        }

    @use_case(ALREADY_CHECKED)
    def compare_at(
        self, data: SweepData, before: SearchConfig, after: SearchConfig, measure: str = MEASURE
    ) -> PairedComparison:
        """Two positions of the sliders, compared question by question."""
        first, second = (self.scores(data, config, measure) for config in (before, after))
        has = _having(first)
        return compare(first[has].tolist(), second[has].tolist())

    def _scaled(self, data: SweepData, config: SearchConfig) -> ScaledLegs:
        """Normalised scores; the last ones are cached, since most moves change only what comes after."""
        key = (tuple(sorted(config.legs)), config.depth, config.normalisation, config.missing)
        table, known, scaled = self._last
        if table is not data.table or known != key or scaled is None:
            scaled = sweep.normalise(data.table, config)
            self._last = (data.table, key, scaled)
        return scaled

    # ------------------------------------------------------------ tau

    @use_case("run an evaluation", whole=True)
    def tau(
        self,
        actor: Actor,
        queryset: str,
        rule: TauRule = TauRule(),
        profile: str = "",
        config: SearchConfig | None = None,
        progress: Progress = no_progress,
    ) -> Calibration:
        """Calibrate tau: the smallest that keeps most of what reranking gains, or that skips only what is answered
        well enough without it. A configuration that reranks as `conditional` gets the thesis's tau, on its best
        score."""
        if rule.measure not in EVERY:
            raise BadInput(f"A run has no measure {rule.measure!r}. It has: {', '.join(EVERY)}.")
        if not 0 < rule.beta < 1 or rule.least < 1:
            raise BadInput("beta must lie between 0 and 1, and at least one skipped question is needed.")
        if rule.by not in calibration.RULES or not 0 < rule.keep <= 1:
            raise BadInput(f"A tau is chosen by {' or '.join(calibration.RULES)}, keeping a share above 0 and up to 1.")
        plan = self.runs.plan(profile)
        config = below_tau(config or plan.config)
        scale = calibration.SCORE if config.rerank == "conditional" else calibration.CHANCE
        base = replace(config, rerank="off")
        unread = replace(base, rerank_blend=configs.DEFAULT.rerank_blend)  # what reads nothing blends nothing
        plans = [RunPlan(plan.profile, unread), RunPlan(plan.profile, replace(base, rerank="always"))]
        fused, reranked = self.runs.evaluate(queryset, plans, progress=progress)
        calibrated = calibration.calibrate(observed(fused, reranked, rule.measure, scale=scale), rule)
        calibrated = replace(calibrated, **_price(fused, reranked), event=event(fused), scale=scale)
        self.runs.audit.note(actor, "calibrate tau", queryset, detail=f"{label(base)} on {plan.profile.name}")
        return calibrated


def _nameless(question: Question) -> Question:
    """A question that counts, and whose words somebody may not read."""
    return replace(question, id=strict.digest(question.id), text=NOT_NAMED, category="")


def observed(
    fused: Run, reranked: Run, measure: str = MEASURE, whole: bool = False, scale: str = calibration.CHANCE
) -> list[Observed]:
    """The questions that both runs measured and that things are chosen on, or all of them, as calibration takes them.

    A question is answered when one of the first five passages holds the quoted answer (thesis, 30); where none is
    quoted, when one of the first five documents is relevant.
    """
    both = [
        question
        for question, answer in fused.results.items()
        if question in reranked.results
        and measure in answer.values
        and measure in reranked.results[question].values
        and (scale == calibration.SCORE or answer.chance is not None)
    ]
    used = set(both) if whole else choosing([fused.results[question].question for question in both])
    return [
        _observed(question, fused.results[question], reranked.results[question], measure, scale)
        for question in both
        if question in used
    ]


def _observed(question: str, before: Answered, after: Answered, measure: str, scale: str) -> Observed:
    return Observed(
        question,
        before.confidence if scale == calibration.SCORE else float(before.chance or 0.0),
        before.values.get(EXACT, before.values[RELEVANT]) > 0,
        before.values[measure],
        after.values[measure],
        after.ms.get("rerank", 0.0) / 1000.0,
        max(0.0, after.cost - before.cost),
    )


def event(run: Run) -> str:
    """What counts as answered without reranking, in words."""
    quoted, every = sum(EXACT in answer.values for answer in run.results.values()), len(run.results)
    exact, relevant = (
        f"{EXACT}: the answer stands in one of the first five passages",
        f"{RELEVANT}: a relevant document is among the first five",
    )
    if quoted in (0, every):
        return exact if quoted else f"{relevant}, since no question quotes its answer"
    return f"{exact}, for the {quoted} of {every} questions that quote it; {relevant}, for the others"


def _price(fused: Run, reranked: Run) -> dict[str, Any]:
    """What reranking one question takes on this machine: seconds and dollars."""
    return {
        "seconds": reranked.times.get("rerank", {}).get("p50", 0.0) / 1000.0,
        "dollars": max(0.0, reranked.cost - fused.cost),
    }


def sweepable(data: SweepData, config: SearchConfig) -> bool:
    """Whether a configuration can be computed from the arrays: no reranking, no alpha per question, not deeper, and
    gathered in the same way."""
    plain = config.rerank == "off" and config.alpha_from == "fixed" and not config.hyde and not config.parents
    alike = all(getattr(config, name) == getattr(data.searched, name) for name in GATHERED)
    reached = config.depth == data.table.depth if config.documents else config.depth <= data.table.depth
    return plain and alike and reached and set(config.legs) <= set(data.table.legs)


def _gathered_as(config: SearchConfig, legs: tuple[str, ...], depth: int) -> SearchConfig:
    """How legs are asked for a sweep: to a depth, and otherwise as by a configuration."""
    return replace(configs.DEFAULT, legs=legs, depth=depth, **{name: getattr(config, name) for name in GATHERED})


def below_tau(config: SearchConfig) -> SearchConfig:
    """A configuration as it reranks below tau, whatever tau is: as it says where it does, else as the presets do.

    >>> below_tau(configs.parse("documents-0.9")).rerank_blend, below_tau(configs.parse("bm25+rerank")).rerank
    (0.7, 'unsure')
    """
    config = replace(config, tau=configs.DEFAULT.tau)
    if config.rerank in BY_TAU:
        return config
    return replace(config, rerank="unsure", rerank_blend=config.rerank_blend or BLEND)


def with_fusion(base: SearchConfig, fusion: str, normalisation: str = "", **knobs: Any) -> SearchConfig:
    """A configuration with another fusion; a fusion that fixes its own normalisation keeps it.

    >>> with_fusion(SearchConfig(depth=30), "convex", "tm2c2", alpha=0.3).alpha
    0.3
    >>> with_fusion(SearchConfig(depth=30), "rrf", "minmax", rrf_k=20).normalisation
    'none'
    """
    plain = FUSIONS[fusion].spellings[0].config
    free = plain.normalisation if FUSIONS[fusion].normalisation or not normalisation else normalisation
    own = {name: knobs[name] for name in FUSIONS[fusion].knobs if name in knobs}
    kept = {name: getattr(base, name) for name in ("depth", "k", "pins", *GATHERED)}
    return configs.check(replace(plain, normalisation=free, **kept, **own))


def _holds_copies(row: Sequence[int], index: Index, config: SearchConfig) -> bool:
    """Whether some of these chunks are copies of others, whichever of them ranks higher."""
    every = replace(config, k=len(row))
    groups = [_grouped(index, order, every, lambda chunk: 0.0) for order in (row, row[::-1])]
    return any(len(group) > 1 for listed in groups for group in listed)


def _grouped(
    index: Index, order: Sequence[int], config: SearchConfig, score: Callable[[int], float]
) -> list[list[int]]:
    maybe = index.possible_copies(order[: near_copies.LOOK * config.k])
    return listing.grouped(order, index, config, score, maybe) if maybe is None or maybe else []


def rows_by_category(data: SweepData, has: Sequence[int]) -> dict[str, list[int]]:
    """The places of the questions of each category among those that have a measure."""
    rows: dict[str, list[int]] = {}
    for place, n in enumerate(has):
        rows.setdefault(data.questions[n].category or "uncategorised", []).append(place)
    return rows


def _having(scores: np.ndarray) -> list[int]:
    """The questions that have a measure: those over passages need a quoted answer."""
    import numpy as np

    return [int(n) for n in np.flatnonzero(~np.isnan(scores))]


def thin(questions: int) -> str:
    """A warning where there are few judged questions.

    >>> thin(50)
    'Only 50 judged questions: the evidence is thin. Use the fixed optimum, and judge at least 200 before learning
    alpha.'
    """
    if questions >= THIN:
        return ""
    return (
        f"Only {questions} judged questions: the evidence is thin. "
        f"Use the fixed optimum, and judge at least {THIN} before learning alpha."
    )
