"""The thesis, replayed: chunking, then the graph, then an alpha per question, then reranking below a calibrated tau."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from bench.papers import chunking, own_runs, thesis_report
from bench.papers.chunking import Trial
from bench.papers.context import PaperContext
from bench.papers.crossfit import crossfit
from bench.papers.learners import LEARNERS, NETWORKS, network
from bench.papers.thesis_report import TAU, Replay
from core.errors import BadInput, ConcordError
from core.evaluation.reports.report import Report
from core.evaluation.runs.run import Run, means, times_of
from core.evaluation.tuning import calibration
from core.evaluation.tuning.calibration import TauRule
from core.ports import Progress
from core.retrieval import config as configs
from core.services.evaluation.runs import RunPlan
from core.services.tuning.alpha import AlphaExamples
from core.services.tuning.sweeps import event, observed
from core.types import Frozen, Profile, SearchConfig

TITLE = "The thesis, replayed"
ABOUT = (
    "Chunkers searched by meaning, then the graph, then BM25 and vectors with an alpha per question, then reranking"
    " where the best fused score is below tau: the stages and measures of the thesis on this knowledge base."
)
MEASURE = "T1EM"
DENSE, GRAPH, FUSED = "dense", "graph", "tm2c2-0.5"  # ten candidates per leg, as in the thesis
ALPHAS = (0.0, 0.3, 0.5, 0.7, 1.0)
TAUS = (*(tau / 100 for tau in range(50, 101, 5)), 2.0)  # of table 5, then whatever the score
RERANKED = 20  # candidates that a model reads: all that two legs give
KINDS = (LEARNERS["ridge"], LEARNERS["xgboost"])
GRID = NETWORKS[::36]  # of the network, whose vectors take long to learn from
CHUNKERS = {
    "fixed-700-20": ("fixed", Frozen({"max_tokens": 700, "overlap": 140})),
    "semantic-80-1-800": ("semantic", Frozen({"percentile": 80, "buffer": 1, "max_tokens": 800})),
    "hierarchical-2000-500-100": ("hierarchical", chunking.FAMILY),
}  # the best setting of each (thesis, table 1)
HIERARCHICAL, AGENTIC = "hierarchical-2000-500-100", "agentic-1"


def run(context: PaperContext, progress: Progress) -> Report:
    """Every stage on the winner of the stage before it, as the thesis does."""
    if not any(judgment.quote and judgment.grade > 0 for judgment in context.queryset.judgments):
        raise BadInput(
            f"No question of {context.queryset.name!r} quotes its answer, and the thesis measures whether passages hold"
            " it. Make such questions with: python -m core eval generate --kind qa"
        )
    replay = Replay()
    _chunk(context, replay, progress)
    _graph(context, replay, progress)
    foundation = next(trial for trial in reversed(replay.trials) if trial.name in (AGENTIC, HIERARCHICAL))
    _fuse(context, replay, foundation, progress)
    return thesis_report.of(context, replay, TITLE, ABOUT)


# ---------------------------------------------------------------- chunking and graph


def trials(base: Profile) -> Iterator[Trial]:
    """The chunkers of the thesis's first table, without a graph."""
    bare = replace(chunking.plain(base), graph="none")
    for name, (chunker, params) in CHUNKERS.items():
        yield chunking.cut(bare, name, chunker, params)
    yield from (replace(trial, profile=replace(trial.profile, graph="none")) for trial in chunking.agentic(base))


def graph_trials(base: Profile, graph: str) -> Iterator[Trial]:
    """Hierarchical chunks with a graph, without and with contexts by a model."""
    bare = replace(chunking.plain(base), graph=graph)
    yield chunking.cut(bare, "graph + hierarchical", "hierarchical", chunking.FAMILY)
    yield chunking.cut(replace(bare, context="contextual"), "graph + agentic", "hierarchical", chunking.FAMILY)


def written_profiles(base: Profile) -> Iterator[Profile]:
    """The profiles that a language model helps to build; texts that two of them share are written once."""
    yield from (trial.profile for trial in chunking.agentic(base))
    yield next(graph_trials(base, "llm")).profile


def _chunk(context: PaperContext, replay: Replay, progress: Progress) -> None:
    base = context.runs.team_settings.production().profile
    replay.trials = chunking.build(context, trials(base), replay.skipped, progress)
    replay.chunkers = _measured(context, replay.trials, configs.parse(DENSE), progress)
    first = AGENTIC if AGENTIC in replay.chunkers else HIERARCHICAL
    replay.stages[f"{first}, by meaning"] = replay.chunkers[first]


def _graph(context: PaperContext, replay: Replay, progress: Progress) -> None:
    base = context.runs.team_settings.production().profile
    by = "llm" if context.llm() is not None else "rules"
    if by == "rules":
        replay.says.append("The graph's entities were found by rules: no language model is configured.")
    built = chunking.build(context, graph_trials(base, by), replay.skipped, progress)
    replay.says += chunking.remarks([*replay.trials, *built])
    if AGENTIC in replay.chunkers:
        replay.graphs["agentic, no graph"] = replay.chunkers[AGENTIC]
    replay.graphs |= _measured(context, built, configs.parse(GRAPH), progress)
    if built:
        replay.stages[built[-1].name] = replay.graphs[built[-1].name]


def _measured(
    context: PaperContext, built: Sequence[Trial], config: SearchConfig, progress: Progress
) -> dict[str, Run]:
    runs = context.evaluate([RunPlan(trial.profile, trial.search(config)) for trial in built], progress)
    return {trial.name: run for trial, run in zip(built, runs, strict=True)}


# ---------------------------------------------------------------- alpha


def _fuse(context: PaperContext, replay: Replay, foundation: Trial, progress: Progress) -> None:
    config = foundation.search(configs.parse(FUSED))
    fixed = [replace(config, alpha=alpha) for alpha in ALPHAS]
    runs = context.evaluate([RunPlan(foundation.profile, each) for each in fixed], progress)
    replay.alphas = {f"alpha {each.alpha:g}": run for each, run in zip(fixed, runs, strict=True)}
    _learn(context, replay, foundation, config, progress)
    for kind, fit in replay.fits.items():
        chosen = _own(context, config, {row.query: row.predicted for row in fit.predictions})
        replay.alphas[f"learned, {kind}"] = own_runs.each(
            context.runs, context.queryset, foundation.profile, chosen, progress
        )
    if replay.fits:
        rows = next(iter(replay.fits.values())).predictions
        best = _own(context, config, {row.query: row.optimal for row in rows})
        replay.alphas["oracle"] = own_runs.each(context.runs, context.queryset, foundation.profile, best, progress)
    learned = replay.fits.get("xgboost")
    name = "fusion, alpha by xgboost" if learned else "fusion, alpha 0.5"
    alphas = {row.query: row.predicted for row in learned.predictions} if learned else {}
    replay.stages[name] = replay.alphas["learned, xgboost" if learned else "alpha 0.5"]
    _rerank(context, replay, foundation, _own(context, config, alphas), progress)


def _own(context: PaperContext, config: SearchConfig, alphas: Mapping[str, float]) -> dict[str, SearchConfig]:
    """A configuration for each question; where the legs agree, any alpha does."""
    questions = context.queryset.questions
    return {question.id: replace(config, alpha=alphas.get(question.id, config.alpha)) for question in questions}


def _learn(context: PaperContext, replay: Replay, foundation: Trial, config: SearchConfig, progress: Progress) -> None:
    index = context.runs.searcher.generations.open(foundation.profile)
    searched = replace(config, parents=False)
    examples = AlphaExamples(context.runs, index, searched, context.queryset, whole=True).all("lss", progress)
    for learner in (*KINDS, network(context.runs.searcher.weighers(index).embed, GRID)):
        try:
            replay.fits[learner.kind] = crossfit(learner, examples, progress=progress)
        except ConcordError as error:
            replay.skipped.append(f"Alpha by {learner.kind} was left out: {error}")


# ---------------------------------------------------------------- reranking


def reranking() -> SearchConfig:
    """How a language model reranks: all candidates in one list."""
    return replace(configs.parse(FUSED), rerank="always", reranker="listwise", rerank_depth=RERANKED)


def _rerank(
    context: PaperContext,
    replay: Replay,
    foundation: Trial,
    chosen: Mapping[str, SearchConfig],
    progress: Progress,
) -> None:
    by = "listwise" if context.llm() is not None else "cross-encoder"
    if by == "cross-encoder":
        replay.skipped.append(
            "Reranking by a language model was left out: No language model is configured. The cross-encoder reranks."
        )
    always = {
        question: replace(config, rerank="always", reranker=by, rerank_depth=RERANKED)
        for question, config in chosen.items()
    }
    fused = list(replay.stages.values())[-1]
    reranked = own_runs.each(context.runs, context.queryset, foundation.profile, always, progress)
    seen = observed(fused, reranked, MEASURE, whole=True, scale=calibration.SCORE)
    replay.calibrated = replace(
        calibration.calibrate(seen, TauRule(calibration.PRECISION)),
        event=event(fused),
        curve=calibration.tau_curve(seen),
    )
    replay.taus = calibration.points_at(seen, TAUS)
    replay.tau = TAU if replay.calibrated.tau is None else replay.calibrated.tau
    replay.says += list(reranked.warnings[:3])
    replay.stages[f"conditional rerank, {by}, tau {replay.tau:.2f}"] = below(fused, reranked, replay.tau)
    replay.alphas["always reranked"] = reranked


def below(fused: Run, reranked: Run, tau: float) -> Run:
    """The run that reranks where the best fused score is below tau (thesis, equations 28 and 29)."""
    results = {
        question: reranked.results[question] if answer.confidence < tau and question in reranked.results else answer
        for question, answer in fused.results.items()
    }
    return replace(
        reranked,
        id=f"{reranked.id[:8]}-{round(100 * tau):03}",
        config=replace(reranked.config, rerank="conditional", tau=tau),
        figures=means(results.values()),
        times=times_of([answer.ms for answer in results.values()]),
        cost=sum(answer.cost for answer in results.values()) / max(1, len(results)),
        results=results,
    )
