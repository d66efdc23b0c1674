"""Many runs of one query set: the newest of each setup, one setup over commits, and names that tell runs apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from core.evaluation.runs.run import Run

RunSetup = tuple[str, str, str]


def setup_of(run: Run) -> RunSetup:
    """Profile, configuration and unit: what two runs share that differ in their commit only."""
    return run.profile_digest, run.config_digest, run.unit


def latest(runs: Sequence[Run], unit: str = "document") -> tuple[Run, ...]:
    """The newest run of every setup; `runs` come newest first."""
    newest: dict[RunSetup, Run] = {}
    for run in runs:
        if run.unit == unit:
            newest.setdefault(setup_of(run), run)
    return tuple(newest.values())


def over_commits(runs: Sequence[Run], like: Run) -> tuple[Run, ...]:
    """The newest run of one setup at every commit, oldest commit first; `runs` come newest first."""
    by_commit: dict[str, Run] = {}
    for run in runs:
        if setup_of(run) == setup_of(like):
            by_commit.setdefault(run.commit, run)
    return tuple(by_commit.values())[::-1]


def distinct(runs: Sequence[Run], names: Mapping[str, str]) -> dict[str, str]:
    """A unique name for every run: with its depth where names collide, with its id where they still do."""
    counts = Counter(names[run.id] for run in runs)
    deep = {
        run.id: f"{names[run.id]}, depth {run.config.depth}" if counts[names[run.id]] > 1 else names[run.id]
        for run in runs
    }
    repeated = Counter(deep.values())
    return {run.id: f"{deep[run.id]} ({run.id[:6]})" if repeated[deep[run.id]] > 1 else deep[run.id] for run in runs}
