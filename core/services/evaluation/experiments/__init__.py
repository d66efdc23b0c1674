"""Built-in experiments: each one command, each ending in a report that opens anywhere."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from core.access import Actor, require
from core.errors import NotFound
from core.evaluation import report
from core.evaluation.comparisons import MEASURE
from core.evaluation.report import Report
from core.evaluation.runs import Run
from core.ports import Progress, no_progress
from core.services.evaluation.experiments import cascade, chunking, compliance, pairs
from core.services.evaluation.experiments.workbench import Workbench, figures, standings
from core.services.platform.jobs import Job, Jobs


@dataclass(frozen=True, slots=True)
class Experiment:
    """A question about retrieval that somebody asked before, and how to answer it here."""

    title: str
    about: str
    run: Callable[[Workbench, Progress], Report]


EXPERIMENTS: Mapping[str, Experiment] = {
    "compliance": Experiment(compliance.TITLE, compliance.ABOUT, compliance.run),
    "chunking": Experiment(chunking.TITLE, chunking.ABOUT, chunking.run),
    "cascade": Experiment(cascade.TITLE, cascade.ABOUT, cascade.run),
    "pairs": Experiment(pairs.TITLE, pairs.ABOUT, pairs.run),
}


@dataclass(frozen=True, slots=True)
class Written:
    """A report, and where it lies."""

    report: Report
    path: Path


class Experiments:
    """Runs experiments and keeps their reports under `reports/` of the workspace."""

    def __init__(self, workbench: Workbench, folder: Path, jobs: Jobs) -> None:
        self.workbench, self.folder, self.jobs = workbench, folder, jobs

    def run(
        self,
        actor: Actor,
        name: str,
        queryset: str = "",
        limit: int = 0,
        out: Path | None = None,
        progress: Progress = no_progress,
    ) -> Written:
        """Do an experiment and write its report; without a query set, on known items of the knowledge base."""
        require(actor, "run an evaluation")
        if name not in EXPERIMENTS:
            raise NotFound(f"There is no experiment {name!r}. Experiments: {', '.join(EXPERIMENTS)}.")
        made = EXPERIMENTS[name].run(self.workbench.prepared(actor, queryset, limit, progress), progress)
        path = out or self.folder / f"{name}-{made.facts['commit'][:12]}-{made.facts['query set digest']}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(report.html(made), encoding="utf-8")
        if out is None:
            path.with_suffix(".json").write_text(json.dumps({"title": made.title, **made.values}), encoding="utf-8")
        return Written(made, path)

    def start(self, actor: Actor, name: str, queryset: str = "", limit: int = 0) -> Job:
        """Do an experiment in the background."""
        require(actor, "run an evaluation")
        return self.jobs.start("experiment", {"name": name, "queryset": queryset, "limit": limit}, actor)

    def work(self, arguments: Mapping[str, Any], progress: Progress) -> Any:
        """The job `experiment`."""
        actor = self.jobs.actor(arguments, "run an evaluation")
        made = self.run(actor, arguments["name"], arguments["queryset"], arguments["limit"], progress=progress)
        return {"report": str(made.path.name), "values": made.report.values}

    def summary(self, runs: Sequence[Run], measure: str = MEASURE) -> Report:
        """Runs of one query set as a report: leaderboard, intervals, categories."""
        if not runs:
            raise NotFound("There is no run to report on. Start one on the Evaluation page.")
        bench = replace(self.workbench, queryset=self.workbench.runs.querysets.get(runs[0].queryset))
        title = f"Evaluation on {runs[0].queryset}"
        about = f"{len(runs)} configurations by {measure}, every difference paired by question."
        columns = ("nDCG@10", "Recall@5", "Recall@10", "MRR@10", "P@5")
        return bench.report("evaluation", title, about, runs, standings(runs, columns, measure), figures(runs))

    def values(self, path: Path) -> Mapping[str, Any]:
        """What a report says, for programs and pages; empty for a report that came without."""
        kept = path.with_suffix(".json")
        return dict(json.loads(kept.read_text(encoding="utf-8"))) if kept.is_file() else {}

    def reports(self) -> tuple[Path, ...]:
        """Reports that were written here, newest first."""
        return tuple(sorted(self.folder.glob("*.html"), key=lambda path: path.stat().st_mtime, reverse=True))
