"""A query's best score on the calibration curve, and the alphas that trained models predict for it.

The curve comes from runs that exist; nothing is searched or reranked for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import floor

from core.access import Actor
from core.errors import ConcordError
from core.evaluation.runs.run import Run
from core.evaluation.tuning import calibration
from core.evaluation.tuning.calibration import Point
from core.retrieval import pipeline
from core.retrieval.trace import Trace
from core.services.evaluation.runs import Runs
from core.services.playground.compare import CachedSearch, Column
from core.services.tuning.sweeps import observed
from core.types import SearchConfig

_NEWEST = 200  # runs that are looked at


@dataclass(frozen=True, slots=True)
class BestScore:
    """How sure a query is of its first hit beside tau, and how precise such questions are on a query set."""

    score: float
    tau: float
    queryset: str = ""
    questions: int = 0
    curve: tuple[Point, ...] = ()
    scale: str = calibration.CHANCE

    @property
    def at(self) -> Point | None:
        """The point of the curve at this query's score: the judged questions that score at least as high."""
        return self.curve[floor(max(0.0, min(1.0, self.score)) * (len(self.curve) - 1))] if self.curve else None

    @property
    def sentence(self) -> str:
        """The score in words.

        >>> BestScore(0.71, 0.95).sentence
        'The first hit answers with a chance of 0.71, below tau 0.95: reranked.'
        """
        sure = self.score >= self.tau
        figure = "The best score is" if self.scale == calibration.SCORE else "The first hit answers with a chance of"
        text = f"{figure} {self.score:.2g}, {'not ' if sure else ''}below tau {self.tau:g}: "
        text += "not reranked." if sure else "reranked."
        if self.at is None:
            return text
        if not self.at.skipped:
            return f"{text} None of the {self.questions} judged questions of {self.queryset} scores as high."
        return (
            f"{text} Of {self.questions} judged questions of {self.queryset}, {self.at.skipped} score at least as "
            "high; "
            f"{self.at.precision:.0%} of them are answered without reranking ({self.at.lower:.0%} to "
            f"{self.at.upper:.0%})."
        )


def place_on_curve(runs: Runs, actor: Actor, column: Column, score: float) -> BestScore:
    """A score on the curve of the newest two runs of the column's configuration, with and without reranking."""
    scale = _scale(column.config)
    unknown, pair = BestScore(score, column.config.tau, scale=scale), _pair(runs.listed(actor, limit=_NEWEST), column)
    if pair is None:
        return unknown
    fused, reranked = (runs.show(actor, run.id) for run in pair)
    questions = observed(fused, reranked, scale=scale)
    return replace(unknown, queryset=fused.queryset, questions=len(questions), curve=calibration.tau_curve(questions))


def _pair(runs: Iterable[Run], column: Column) -> tuple[Run, Run] | None:
    known: dict[tuple[str, str], Run] = {}
    for run in runs:
        if run.profile == column.profile and _bare(run.config) == _bare(column.config):
            known.setdefault((run.queryset_digest, run.config.rerank), run)
            both = [known.get((run.queryset_digest, rerank)) for rerank in ("off", "always")]
            if both[0] and both[1]:
                return both[0], both[1]
    return None


def best_score(query: str, column: Column, search: CachedSearch) -> float:
    """How sure a query is of its first hit, on the scale of tau."""
    config = replace(column.config, rerank="off")
    ranked = pipeline.rank(search.candidates(query, config), config, search.index, search.ask(config), Trace())
    if _scale(column.config) == calibration.SCORE:
        return ranked.fused.confidence
    return pipeline.first_chance(ranked, config, search.index)


def _scale(config: SearchConfig) -> str:
    return calibration.SCORE if config.rerank == "conditional" else calibration.CHANCE


def learned_alphas(query: str, column: Column, search: CachedSearch, names: Iterable[str]) -> dict[str, float]:
    """What each model trained for this configuration predicts for the query."""
    seen = pipeline.seen(search.candidates(query, column.config))
    alphas = {}
    for name in names:
        config = replace(column.config, alpha_from="learned", alpha_model=name)
        try:
            alphas[name] = search.searcher.weigh(search.index, seen, config).weights["dense"]
        except ConcordError:
            continue  # trained for another configuration
    return alphas


def _bare(config: SearchConfig) -> SearchConfig:
    """A configuration without what a calibration varies or ignores."""
    return replace(config, rerank="off", tau=SearchConfig().tau, k=SearchConfig().k)
