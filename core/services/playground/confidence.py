"""Where one query stands: its best score on the calibration curve, and the alphas that trained models give it.

The curve comes from runs that were made anyway; nothing is searched or reranked for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import floor

from core.errors import ConcordError
from core.evaluation import calibration
from core.evaluation.calibration import Point
from core.evaluation.runs import Run
from core.retrieval import pipeline
from core.retrieval.trace import Trace
from core.services.evaluation.runs import Runs
from core.services.playground.compare import Column, Held
from core.services.tuning.sweeps import observed
from core.types import SearchConfig

_NEWEST = 200  # runs that are looked at


@dataclass(frozen=True, slots=True)
class Confidence:
    """A query's best fused score beside tau, and the curve of the query set that says what such scores are worth."""

    score: float
    tau: float
    queryset: str = ""
    questions: int = 0
    curve: tuple[Point, ...] = ()

    @property
    def at(self) -> Point | None:
        """The point of the curve that this query stands on: judged questions with at least its score."""
        return self.curve[floor(max(0.0, min(1.0, self.score)) * (len(self.curve) - 1))] if self.curve else None

    @property
    def sentence(self) -> str:
        """What it means.

        >>> Confidence(0.71, 0.95).sentence
        'The best score is 0.71, below tau 0.95: reranked.'
        """
        sure = self.score >= self.tau
        said = f"The best score is {self.score:.2g}, {'not ' if sure else ''}below tau {self.tau:g}: "
        said += "not reranked." if sure else "reranked."
        if self.at is None:
            return said
        if not self.at.skipped:
            return f"{said} None of the {self.questions} judged questions of {self.queryset} scores as high."
        return (
            f"{said} Of {self.questions} judged questions of {self.queryset}, {self.at.skipped} score at least as high; "
            f"{self.at.precision:.0%} of them are answered without reranking ({self.at.lower:.0%} to {self.at.upper:.0%})."
        )


def stand(runs: Runs, column: Column, score: float) -> Confidence:
    """Where a score stands, by the newest two runs that show the column's configuration with and without reranking."""
    standing, found = Confidence(score, column.config.tau), _pair(runs.all(limit=_NEWEST), column)
    if found is None:
        return standing
    fused, reranked = (runs.get(one.id) for one in found)
    seen = observed(fused, reranked)
    return replace(standing, queryset=fused.queryset, questions=len(seen), curve=calibration.curve(seen))


def _pair(runs: Iterable[Run], column: Column) -> tuple[Run, Run] | None:
    known: dict[tuple[str, str], Run] = {}
    for run in runs:
        if run.profile == column.profile and _bare(run.config) == _bare(column.config):
            known.setdefault((run.queryset_digest, run.config.rerank), run)
            both = [known.get((run.queryset_digest, rerank)) for rerank in ("off", "always")]
            if both[0] and both[1]:
                return both[0], both[1]
    return None


def confidence(query: str, column: Column, held: Held) -> float:
    """The best fused score of a query, on the scale that tau is on."""
    config = replace(column.config, rerank="off")
    return pipeline.rank(held.candidates(query, config), config, held.index, held.ask(config), Trace()).fused.confidence


def learned_alphas(query: str, column: Column, held: Held, names: Iterable[str]) -> dict[str, float]:
    """What each trained model that fits this way of searching predicts for the query."""
    seen = pipeline.seen(held.candidates(query, column.config))
    alphas = {}
    for name in names:
        wanted = replace(column.config, alpha_from="learned", alpha_model=name)
        try:
            alphas[name] = held.searcher.weigh(held.index, seen, wanted).weights["dense"]
        except ConcordError:
            continue  # trained for another way of searching
    return alphas


def _bare(config: SearchConfig) -> SearchConfig:
    """A configuration without what a calibration varies or ignores."""
    return replace(config, rerank="off", tau=SearchConfig().tau, k=SearchConfig().k)
