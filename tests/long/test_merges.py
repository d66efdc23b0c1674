"""Merges under load and under fire: nothing acknowledged is lost, nothing half-done is visible, no repair by hand."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from core.bootstrap import App
from tests.conftest import ROOT, NoProcesses, put, rounds, small_app, until


def started(home: Path, name: str, threads: int, rounds: int) -> tuple[subprocess.Popen[bytes], Path]:
    """A crew of people in a process of their own, and the file with what they say."""
    said = home.with_name(f"{name}.log")
    command = [sys.executable, "-m", "tests.programs.merge_worker", str(home), name, str(threads), str(rounds)]
    with said.open("wb") as log:
        return subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log), said


def merged_ids(app: App) -> Counter[int]:
    """Which change each commit of the main line says it merged."""
    found: Counter[int] = Counter()
    for step, _ in app.knowledge.repository.log(app.knowledge.repository.head()):
        for line in step.message.splitlines():
            if line.startswith("Change: "):
                found[int(line.removeprefix("Change: "))] += 1
    return found


def assert_agreement(app: App) -> None:
    """Repository, database, audit and index say the same."""
    history = merged_ids(app)
    assert set(history.values()) <= {1}, "a change was merged twice"
    assert set(history) == {change.id for change in app.reviews.changes.all(state="merged")}
    assert app.knowledge.repository.damaged() == []
    assert not [path for path in app.knowledge.repository.path.rglob("*.lock") if path.name != "concord.lock"]
    app.index.builder.build(app.platform.settings.profile())
    assert app.index.verifier.problems() == ()


@pytest.mark.sqlite
@pytest.mark.parametrize(
    ("processes", "threads", "rounds"), [(2, 2, 1), pytest.param(4, 12, 3, marks=pytest.mark.slow)]
)
def test_many_people_merge_at_once_and_each_merge_is_there_once(
    tmp_path: Path, processes: int, threads: int, rounds: int
) -> None:
    home = tmp_path / "home"
    put(small_app(home, NoProcesses()), {"a.md": "# A\n"})
    crews = [started(home, f"crew{n}", threads, rounds) for n in range(processes)]
    assert [crew.wait(600) for crew, _ in crews] == [0] * processes
    said = [line.split() for _, log in crews for line in log.read_text().splitlines()]
    assert [line for line in said if line[0] == "refused"] == []
    acknowledged = {int(line[1]) for line in said if line[0] == "merged"}
    assert len(acknowledged) == processes * threads * rounds
    app = small_app(home, NoProcesses())
    assert set(merged_ids(app)) == acknowledged
    assert_agreement(app)


@pytest.mark.sqlite
@pytest.mark.parametrize("kills", [2, pytest.param(rounds(60), marks=pytest.mark.slow, id="many")])
def test_killed_in_the_middle_of_merges_nothing_acknowledged_is_lost(tmp_path: Path, kills: int) -> None:
    home, dice = tmp_path / "home", random.Random(kills)
    put(small_app(home, NoProcesses()), {"a.md": "# A\n"})
    acknowledged: set[int] = set()
    for n in range(1, kills + 1):
        crew, log = started(home, f"kill{n}", 2, 1000)
        lines = 1 + 2 * (n % 4)  # a few merges, and a part of the next
        until(lambda log=log, lines=lines: log.exists() and log.read_text().count("\n") >= lines)  # type: ignore[misc]
        assert log.read_text().startswith("ready\n")
        time.sleep(dice.uniform(0.0, 0.5))
        crew.kill()
        crew.wait()
        said = [line.split() for line in log.read_text().splitlines()]
        acknowledged |= {int(line[1]) for line in said if line[0] == "merged" and len(line) == 3 and len(line[2]) == 40}
        app = small_app(home, NoProcesses())  # the next start repairs by itself
        assert acknowledged <= set(merged_ids(app))
        assert tuple(app.people.audit.problems()) == ()
    assert acknowledged
    assert_agreement(app)
    print(f"{kills} kills: {len(acknowledged)} acknowledged merges, none lost")
