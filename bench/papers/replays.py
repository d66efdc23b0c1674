"""The replays by name: each runs on a query set and ends in a report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from bench.papers import cascade, chunking, compliance, support, thesis
from bench.papers.context import KNOWN, QA, PaperContext, PaperOptions
from bench.papers.material import prepared
from core.access import SYSTEM, Actor, reading_as
from core.bootstrap import App
from core.errors import NotFound
from core.evaluation.reports.report import Report
from core.ports import Progress, no_progress
from core.services.models.call_estimates import CallEstimate
from core.types import Profile, SearchConfig


@dataclass(frozen=True, slots=True)
class Replay:
    """A study, and the function that runs it."""

    title: str
    about: str
    run: Callable[[PaperContext, Progress], Report]
    configs: Callable[[PaperOptions], Iterable[SearchConfig]] = lambda options: ()  # that ask a language model
    profiles: Callable[[Profile], Iterable[Profile]] = lambda base: ()  # that are built with one
    questions: str = KNOWN  # the query set it runs on unless another is named


REPLAYS: Mapping[str, Replay] = {
    "compliance": Replay(compliance.TITLE, compliance.ABOUT, compliance.run),
    "chunking": Replay(chunking.TITLE, chunking.ABOUT, chunking.run, profiles=chunking.agentic_profiles),
    "cascade": Replay(cascade.TITLE, cascade.ABOUT, cascade.run, lambda options: cascade.stages().values()),
    "support": Replay(support.TITLE, support.ABOUT, support.run, support.asking),
    "thesis": Replay(
        thesis.TITLE, thesis.ABOUT, thesis.run, lambda options: (thesis.reranking(),), thesis.written_profiles, QA
    ),
}


@reading_as(SYSTEM)
def replay(
    app: App,
    actor: Actor,
    name: str,
    queryset: str = "",
    limit: int = 0,
    progress: Progress = no_progress,
    options: PaperOptions = PaperOptions(),
) -> Report:
    """A study on a query set, over all documents or a few; each has a query set of its own by default."""
    study, context = _named(name), PaperContext(app, app.evaluation.runs, options=options)
    return study.run(prepared(context, actor, queryset, limit, study.questions, progress), progress)


@reading_as(SYSTEM)
def estimate(
    app: App, name: str, queryset: str = "", limit: int = 0, options: PaperOptions = PaperOptions()
) -> tuple[CallEstimate, ...]:
    """What language models would be asked by a replay; nothing is asked for it."""
    study, context = _named(name), PaperContext(app, app.evaluation.runs, options=options)
    default = context.known if study.questions == KNOWN else study.questions
    return context.calls_of(study.configs(options), study.profiles, queryset, limit, default, options.documents)


def _named(name: str) -> Replay:
    if name not in REPLAYS:
        raise NotFound(f"There is no replay {name!r}. Replays: {', '.join(REPLAYS)}.")
    return REPLAYS[name]
