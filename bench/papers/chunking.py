"""Chunking: the six settings of each deterministic chunker, and both agentic ones where a language model is
configured.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from bench.papers import plots
from bench.papers.context import DEPTH, PaperContext, figures
from core.chunking import CHUNKERS, presets
from core.errors import ConcordError
from core.evaluation.reports.report import Chart, Report, ReportTable, Text
from core.evaluation.reports.run_report import leaderboard_parts
from core.evaluation.runs.run import Run
from core.llm.asking import dollars_of
from core.ports import Progress
from core.profiles import check, model_uses
from core.services.evaluation.runs import RunPlan
from core.types import ChunkerSpec, Frozen, Generation, Profile, SearchConfig

TITLE = "Chunking"
ABOUT = (
    "The same questions on the same documents, cut in different ways and searched with the production configuration."
)
COLUMNS = ("nDCG@10", "T1EM", "T5EM", "T1C", "SpanMRR", "T1O", "BC")
FAMILY = Frozen({"parent": 2000, "child": 500, "overlap": 100})  # the thesis's best, and what agentic-1 stands on
AGENTIC = {"agentic-1": ("hierarchical", FAMILY), "agentic-2": ("agentic", Frozen())}  # both with contexts by a model
SIX = 6


@dataclass(frozen=True, slots=True)
class Trial:
    """A way to cut documents under a name, with its index once it is built."""

    name: str
    profile: Profile
    generation: Generation | None = None

    def search(self, config: SearchConfig) -> SearchConfig:
        """The configuration for this way: children are searched and their parents returned (thesis, 3.1.3)."""
        return replace(config, parents=True) if "parent" in self.profile.chunker.params else config


def plain(base: Profile) -> Profile:
    """The profile without a language model."""
    context = "structural" if base.context == "contextual" else base.context
    return replace(base, context=context, graph="rules" if base.graph == "llm" else base.graph)


def cut(base: Profile, name: str, chunker: str, params: Frozen) -> Trial:
    """A trial: the profile with another chunker."""
    safe = "-".join(name.replace("+", " ").split())
    return Trial(name, check(replace(base, name=f"try-{safe}"[:40], chunker=ChunkerSpec(chunker, params))))


def deterministic(base: Profile) -> Iterator[Trial]:
    """The production profile, then each setting of each deterministic chunker."""
    yield Trial(base.name, base)
    for chunker in CHUNKERS:
        for name, spec in [each for each in presets().items() if each[1].name == chunker][-SIX:]:
            yield cut(plain(base), name, chunker, Frozen(spec.params))


def agentic(base: Profile) -> Iterator[Trial]:
    """Contexts by a model over hierarchical chunks; segments and contexts by a model (thesis, 3.1.4)."""
    for name, (chunker, params) in AGENTIC.items():
        yield cut(replace(plain(base), context="contextual"), name, chunker, params)


def agentic_profiles(base: Profile) -> Iterator[Profile]:
    """The profiles that a language model helps to build."""
    return (trial.profile for trial in agentic(base))


def build(context: PaperContext, trials: Iterable[Trial], skipped: list[str], progress: Progress) -> list[Trial]:
    """The trials that can be built here; `skipped` gets the others with the reason."""
    built = []
    for trial in trials:
        if trial.profile.name.startswith("try-") and model_uses(trial.profile) and context.llm() is None:
            skipped.append(f"{trial.name} was left out: No language model is configured.")
            continue
        try:
            context.build(trial.profile, progress)
            generation = context.runs.searcher.generations.open(trial.profile).generation
            built.append(replace(trial, generation=generation))
        except ConcordError as error:
            skipped.append(f"{trial.name} was left out: {error}")
    return built


def run(context: PaperContext, progress: Progress) -> Report:
    """Build every profile, search with the production configuration, and plot quality against time."""
    production = context.runs.team_settings.production()
    skipped: list[str] = []
    trials = build(context, (*deterministic(production.profile), *agentic(production.profile)), skipped, progress)
    config = replace(production.config, depth=max(DEPTH, production.config.depth), rerank="off")
    runs = context.evaluate([RunPlan(trial.profile, trial.search(config)) for trial in trials], progress)
    names = [trial.name for trial in trials]
    seconds = [ingestion(trial) for trial in trials]
    gained = [run.figures["nDCG@10"] for run in runs]
    parts = [
        Text("What it says", (_best(names, runs), *remarks(trials), *skipped)),
        *leaderboard_parts(runs, COLUMNS, names={run.id: name for name, run in zip(names, runs, strict=True)}),
        cost_table(trials, runs),
        Chart(
            "Quality against ingestion time", plots.dots(names, seconds, gained, "ingestion, s per document", "nDCG@10")
        ),
    ]
    values = {**figures(runs), "chunkers": costs(trials, runs), "skipped": skipped}
    return context.report("chunking", TITLE, ABOUT, runs, parts, values)


def _best(names: Sequence[str], runs: Sequence[Run]) -> str:
    name, best = max(zip(names, runs, strict=True), key=lambda pair: pair[1].figures.get("nDCG@10", 0.0))
    return (
        f"Best by nDCG@10: {name} with {best.figures['nDCG@10']:.3f}; production ({names[0]}):"
        f" {runs[0].figures['nDCG@10']:.3f}."
    )


# ---------------------------------------------------------------- what it takes


def ingestion(trial: Trial) -> float:
    """Seconds per document of the build that made the serving generation."""
    return trial.generation.seconds / max(1, trial.generation.documents) if trial.generation else 0.0


def costs(trials: Sequence[Trial], runs: Sequence[Run]) -> list[dict[str, str | float]]:
    """What every way of cutting takes, from the bills of its builds and the times of its run."""
    return [
        {
            "name": trial.name,
            "chunks": trial.generation.chunks,
            "calls": trial.generation.calls,
            "seconds_per_document": ingestion(trial),
            "dollars_per_document": trial.generation.worth / max(1, trial.generation.documents),
            "p50": run.times["total"]["p50"] / 1000.0,
            "p95": run.times["total"]["p95"] / 1000.0,
        }
        for trial, run in zip(trials, runs, strict=True)
        if trial.generation
    ]


def cost_table(trials: Sequence[Trial], runs: Sequence[Run]) -> ReportTable:
    """Cost and time of every way of cutting (thesis, table 2)."""
    rows = tuple(
        (
            str(row["name"]),
            f"{row['chunks']:,}",
            f"{row['calls']:,}",
            f"{row['seconds_per_document']:.3f}",
            dollars_of(float(row["dollars_per_document"])),
            f"{row['p50']:.4f}",
            f"{row['p95']:.4f}",
        )
        for row in costs(trials, runs)
    )
    heads = (
        "Profile",
        "chunks",
        "model calls",
        "ingestion s per document",
        "dollars per document",
        "query s, p50",
        "p95",
    )
    note = (
        "Dollars are those of the bills of the builds, at the prices of then; what a cache gave counts at what it cost."
        " Ingestion is as measured when the index was built; vectors and texts that were known took no time then."
    )
    return ReportTable("What it takes", heads, rows, note)


def remarks(trials: Sequence[Trial]) -> list[str]:
    """What builds say about themselves, such as documents that were cut in another way."""
    return [f"{trial.name}: {note}" for trial in trials if trial.generation for note in trial.generation.notes]
