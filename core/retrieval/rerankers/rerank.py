"""When to rerank, and how much of the fused score stays in the final order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import fsum

from core.retrieval.methods import UNCHANGED, Outcome, Task, attempt
from core.retrieval.normalisations.ranges import minmax
from core.retrieval.ordering import rank
from core.retrieval.rerankers import RERANKERS
from core.retrieval.trace import Trace
from core.types import SearchConfig, Stage

RERANK = {
    "off": "Never rerank.",
    "always": "Rerank every query.",
    "unsure": "Rerank a query when the chance that its first hit answers is below tau.",
    "conditional": "Rerank a query when its best fused score is below tau (thesis): each fusion has a scale of its "
    "own.",
}
BY_TAU = ("unsure", "conditional")
BLEND = 0.7  # of the fused score: what reranking needs to gain anywhere (docs/research/benchmarks.md)


def rerank(task: Task, sureness: float, trace: Trace) -> Outcome:
    """Rerank always, never, or below tau: the chance that the first hit answers, or as in the thesis (section 3.4.2)
    the best fused score."""
    if task.config.rerank == "off" or not task.ranking:
        return UNCHANGED
    sure = task.config.rerank in BY_TAU and sureness >= task.config.tau
    with trace.stage("rerank") as stage:
        outcome = UNCHANGED if sure else blended(attempt(RERANKERS[task.config.reranker].run, task), task)
        stage.hits, stage.cost = len(outcome.scores), outcome.cost
        stage.note = "; ".join(filter(None, (_why(task.config, sureness), outcome.note)))
    trace.stages[-1:] = (*outcome.earlier, _without(trace.stages[-1], outcome.earlier))
    trace.warnings += outcome.warnings
    return outcome


def _without(stage: Stage, earlier: Sequence[Stage]) -> Stage:
    """The last stage of a method, without the time of those before it."""
    return replace(stage, ms=max(0.0, stage.ms - fsum(part.ms for part in earlier)))


def _why(config: SearchConfig, sureness: float) -> str:
    """The decision with its numbers.

    >>> _why(SearchConfig(rerank="conditional", tau=0.95), 0.71)
    'reranked because best score 0.71 < tau 0.95'
    >>> _why(SearchConfig(rerank="unsure", tau=0.7), 0.71)
    'not reranked because the first hit answers with a chance of 0.71 >= tau 0.7'
    """
    if config.rerank == "always":
        return "reranked always"
    figure = "best score" if config.rerank == "conditional" else "the first hit answers with a chance of"
    if sureness < config.tau:
        return f"reranked because {figure} {sureness:.4g} < tau {config.tau:g}"
    return f"not reranked because {figure} {sureness:.4g} >= tau {config.tau:g}"


def blended(outcome: Outcome, task: Task) -> Outcome:
    """The outcome ordered by (1 - blend) x its own score + blend x the fused one, both min-max over what it read."""
    share = task.config.rerank_blend
    if not share or not outcome.scores:
        return outcome
    own = _scaled(outcome.scores)
    fused = _scaled({chunk: task.ranking[chunk] for chunk in outcome.scores if chunk in task.ranking})
    mixed = {chunk: (1.0 - share) * own[chunk] + share * fused.get(chunk, 0.0) for chunk in own}
    return replace(outcome, scores=rank(mixed), note=f"{outcome.note}; fused score blended in at {share:g}")


def _scaled(scores: Mapping[int, float]) -> dict[int, float]:
    import numpy as np

    return dict(zip(scores, minmax(np.array(list(scores.values()))).tolist(), strict=True))
