"""Many runs of one query set: the newest of each configuration, one configuration over time, names that differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from core.evaluation.runs.run import Run

Way = tuple[str, str, str]


def way(run: Run) -> Way:
    """What makes two runs the same way of searching, at whatever commit."""
    return run.profile_digest, run.config_digest, run.unit


def latest(runs: Sequence[Run], unit: str = "document") -> tuple[Run, ...]:
    """The newest run of every way; `runs` come newest first."""
    found: dict[Way, Run] = {}
    for run in runs:
        if run.unit == unit:
            found.setdefault(way(run), run)
    return tuple(found.values())


def over_commits(runs: Sequence[Run], like: Run) -> tuple[Run, ...]:
    """One way of searching from commit to commit, the oldest first; `runs` come newest first."""
    found: dict[str, Run] = {}
    for run in runs:
        if way(run) == way(like):
            found.setdefault(run.commit, run)
    return tuple(found.values())[::-1]


def distinct(runs: Sequence[Run], names: Mapping[str, str]) -> dict[str, str]:
    """A name of its own for every run: how deep it looks where that tells them apart, else its id."""
    deep = {run.id: f"{names[run.id]}, depth {run.config.depth}" for run in runs}
    plain = Counter(names[run.id] for run in runs)
    told = {run.id: deep[run.id] if plain[names[run.id]] > 1 else names[run.id] for run in runs}
    again = Counter(told.values())
    return {run.id: f"{told[run.id]} ({run.id[:6]})" if again[told[run.id]] > 1 else told[run.id] for run in runs}
