"""Chunking: the six settings of each deterministic chunker, and the agentic ones where a language model is configured."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from core.chunking import CHUNKERS
from core.errors import ConcordError
from core.evaluation.reports import charts
from core.evaluation.reports.report import Chart, Report, ReportTable, Text
from core.evaluation.runs.run import Run
from core.ports import Progress
from core.profiles import check
from core.services.evaluation.experiments.context import DEPTH, ExperimentContext, figures, leaderboard_parts
from core.services.evaluation.runs import RunPlan
from core.services.index.builder import Built
from core.types import ChunkerSpec, Frozen, Profile

TITLE = "Chunking"
ABOUT = (
    "The same questions on the same documents, cut in different ways and searched with the production configuration."
)
COLUMNS = ("nDCG@10", "T1EM", "T5EM", "T1C", "BC", "T1O")
AGENTIC = {"agentic-1": "structural", "agentic-2": "contextual"}  # segments by a model, then also contexts by it
SIX = 6


def profiles_of(base: Profile) -> Iterator[Profile]:
    """The production profile, then it with each setting of each deterministic chunker."""
    yield base
    for chunker in CHUNKERS.values():
        for params in chunker.settings[-SIX:]:
            yield _with(base, chunker.name, Frozen(params))


def _with(base: Profile, chunker: str, params: Frozen) -> Profile:
    label = "-".join([chunker, *(str(value) for value in params.values())])
    return check(replace(base, name=f"try-{label}"[:40], chunker=ChunkerSpec(chunker, params)))


def agentic_profiles(base: Profile) -> Iterator[Profile]:
    """The production profile with segments by a model, without and with contexts by it."""
    for name, chunk_context in AGENTIC.items():
        yield replace(_with(base, "agentic", Frozen()), name=f"try-{name}", context=chunk_context)


def run(context: ExperimentContext, progress: Progress) -> Report:
    """Build every profile, search with the production configuration, and plot quality against time."""
    production = context.runs.team_settings.production()
    to_build, skipped = list(profiles_of(production.profile)), []
    if context.llm() is None:
        skipped += [f"{name} was left out: No language model is configured." for name in AGENTIC]
    else:
        to_build += agentic_profiles(production.profile)
    built: list[tuple[Profile, Built]] = []
    for profile in to_build:
        try:
            built.append((profile, context.build(profile, progress)))
        except ConcordError as error:
            skipped.append(f"{profile.name} was left out: {error}")
    config = replace(production.config, depth=max(DEPTH, production.config.depth), rerank="off")
    runs = context.evaluate([RunPlan(profile, config) for profile, _ in built], progress)
    ingestion = [_ingestion_ms(context, profile) for profile, _ in built]
    names = [profile.name.removeprefix("try-") for profile, _ in built]
    parts = [
        Text("What it says", (_best(runs), *skipped)),
        *leaderboard_parts(runs, COLUMNS),
        ReportTable(
            "What it takes",
            ("Profile", "chunks", "ingestion ms per document", "dollars per document", "p50 ms per query", "p95"),
            tuple(_cost_row(context, *row) for row in zip(built, runs, ingestion, strict=True)),
            "Ingestion is reading, cutting and writing as measured when the index was built; vectors that were known "
            "cost nothing. Local models cost no money.",
        ),
        Chart(
            "Quality against ingestion time",
            charts.dots(
                names, ingestion, [run.figures["nDCG@10"] for run in runs], "ingestion, ms per document", "nDCG@10"
            ),
        ),
    ]
    return context.report("chunking", TITLE, ABOUT, runs, parts, {**figures(runs), "skipped": skipped})


def _ingestion_ms(context: ExperimentContext, profile: Profile) -> float:
    """Milliseconds per document of the build that made the serving generation."""
    generation = context.runs.searcher.generations.open(profile).generation
    return 1000.0 * generation.seconds / max(1, generation.documents)


def _cost_row(context: ExperimentContext, built: tuple[Profile, Built], run: Run, ms: float) -> tuple[str, ...]:
    times = run.times["total"]
    return (
        built[0].name,
        str(built[1].generation.chunks),
        f"{ms:.1f}",
        f"{built[1].cost / max(1, built[1].generation.documents):.4f}",
        f"{times['p50']:.2f}",
        f"{times['p95']:.2f}",
    )


def _best(runs: tuple[Run, ...]) -> str:
    best = max(runs, key=lambda run: run.figures.get("nDCG@10", 0.0))
    return f"Best by nDCG@10: {best.profile} with {best.figures['nDCG@10']:.3f}; production ({runs[0].profile}): {runs[0].figures['nDCG@10']:.3f}."
