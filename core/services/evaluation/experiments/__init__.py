"""Built-in experiments: each is one command and ends in a self-contained HTML report."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from core.access import READS, Actor, use_case
from core.errors import NotFound
from core.evaluation.reports import report
from core.evaluation.reports.report import Report
from core.evaluation.runs.comparisons import MEASURE
from core.evaluation.runs.run import Run
from core.ports import Progress, no_progress
from core.services.evaluation.experiments import cascade_study, chunking, compliance, support, thesis
from core.services.evaluation.experiments.context import (
    KNOWN,
    QA,
    ExperimentContext,
    ExperimentOptions,
    figures,
    leaderboard_parts,
)
from core.services.evaluation.experiments.material import prepared
from core.services.jobs.jobs import Job, Jobs
from core.services.models.call_estimates import CallEstimate
from core.types import Profile, SearchConfig


@dataclass(frozen=True, slots=True)
class Experiment:
    """A named study, and the function that runs it."""

    title: str
    about: str
    run: Callable[[ExperimentContext, Progress], Report]
    configs: Callable[[ExperimentOptions], Iterable[SearchConfig]] = lambda options: ()  # that ask a language model
    profiles: Callable[[Profile], Iterable[Profile]] = lambda base: ()  # that are built with one
    questions: str = KNOWN  # the query set it runs on unless another is named


EXPERIMENTS: Mapping[str, Experiment] = {
    "compliance": Experiment(compliance.TITLE, compliance.ABOUT, compliance.run),
    "chunking": Experiment(chunking.TITLE, chunking.ABOUT, chunking.run, profiles=chunking.agentic_profiles),
    "cascade": Experiment(
        cascade_study.TITLE, cascade_study.ABOUT, cascade_study.run, lambda options: cascade_study.stages().values()
    ),
    "support": Experiment(support.TITLE, support.ABOUT, support.run, support.asking),
    "thesis": Experiment(
        thesis.TITLE, thesis.ABOUT, thesis.run, lambda options: (thesis.reranking(),), thesis.written_profiles, QA
    ),
}


@dataclass(frozen=True, slots=True)
class WrittenReport:
    """A report and its file."""

    report: Report
    path: Path


class Experiments:
    """Runs experiments and writes their reports to `reports/` of the workspace."""

    def __init__(
        self, context: ExperimentContext, folder: Path, jobs: Jobs, written: Callable[[], object] = lambda: None
    ) -> None:
        """`written` is called after a report was written: other machines want it too."""
        self.context, self.folder, self.jobs, self._written = context, folder, jobs, written

    @use_case("run an evaluation", whole=True)
    def run(
        self,
        actor: Actor,
        name: str,
        queryset: str = "",
        limit: int = 0,
        progress: Progress = no_progress,
        options: ExperimentOptions = ExperimentOptions(),
    ) -> WrittenReport:
        """Run an experiment and write its report, over all documents or a few; each has a query set of its own by default."""
        experiment, chosen = _experiment(name), replace(self.context, options=options)
        result = experiment.run(prepared(chosen, actor, queryset, limit, experiment.questions, progress), progress)
        path = (
            options.out or self.folder / f"{name}-{result.facts['commit'][:12]}-{result.facts['query set digest']}.html"
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(report.html(result), encoding="utf-8")
        if options.out is None:
            path.with_suffix(".json").write_text(json.dumps({"title": result.title, **result.values}), encoding="utf-8")
            self._written()
        self.context.runs.audit.note(actor, "run an experiment", name, detail=path.name)
        return WrittenReport(result, path)

    @use_case("run an evaluation", READS)
    def estimate(
        self,
        actor: Actor,
        name: str,
        queryset: str = "",
        limit: int = 0,
        options: ExperimentOptions = ExperimentOptions(),
    ) -> tuple[CallEstimate, ...]:
        """What language models would be asked by an experiment; nothing is asked for it."""
        experiment = _experiment(name)
        chosen = replace(self.context, options=options)
        default = chosen.known if experiment.questions == KNOWN else experiment.questions
        return chosen.calls_of(
            experiment.configs(options), experiment.profiles, queryset, limit, default, options.documents
        )

    @use_case("run an evaluation")
    def start(self, actor: Actor, name: str, queryset: str = "", limit: int = 0, documents: int = 0) -> Job:
        arguments = {"name": name, "queryset": queryset, "limit": limit, "documents": documents}
        return self.jobs.start("experiment", arguments, actor)

    def work(self, arguments: Mapping[str, Any], progress: Progress) -> Any:
        """The job `experiment`."""
        actor = self.jobs.actor(arguments, "run an evaluation")
        written = self.run(
            actor,
            arguments["name"],
            arguments["queryset"],
            arguments["limit"],
            progress=progress,
            options=ExperimentOptions(documents=arguments.get("documents", 0)),
        )
        return {"report": str(written.path.name), "values": written.report.values}

    @use_case("run an evaluation", READS)
    def summary(self, actor: Actor, runs: Sequence[Run], measure: str = MEASURE) -> Report:
        """Runs of one query set as a report: leaderboard, intervals, categories."""
        if not runs:
            raise NotFound("There is no run to report on. Start one on the Evaluation page.")
        context = replace(self.context, queryset=self.context.runs.querysets.get(runs[0].queryset))
        title = f"Evaluation on {runs[0].queryset}"
        about = f"{len(runs)} configurations by {measure}, every difference paired by question."
        columns = ("nDCG@10", "Recall@5", "Recall@10", "MRR@10", "P@5")
        return context.report(
            "evaluation", title, about, runs, leaderboard_parts(runs, columns, measure), figures(runs)
        )

    @use_case("run an evaluation", READS)
    def values(self, actor: Actor, path: Path) -> Mapping[str, Any]:
        """The values of a report; empty when it has no JSON file."""
        file = path.with_suffix(".json")
        return dict(json.loads(file.read_text(encoding="utf-8"))) if file.is_file() else {}

    @use_case("run an evaluation", READS)
    def reports(self, actor: Actor) -> tuple[Path, ...]:
        """Report files, newest first."""
        return tuple(sorted(self.folder.glob("*.html"), key=lambda path: path.stat().st_mtime, reverse=True))


def _experiment(name: str) -> Experiment:
    if name not in EXPERIMENTS:
        raise NotFound(f"There is no experiment {name!r}. Experiments: {', '.join(EXPERIMENTS)}.")
    return EXPERIMENTS[name]
