"""Where a run of the tests spends its seconds: CPU (own and children's) and wall, by file, by fixture and in all.

The sum stands at the end of every run; `make test DURATIONS=1` prints the tables, `DURATIONS=slowest` twenty tests. A child's seconds count where it is
waited for, so a server's belong to the fixture that ends it. A test's row holds what its fixtures cost it, without those
that serve a whole session: a browser has a row of its own among the files.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import pytest

from tests import forks

SLOWEST = {"tests": 20}  # tables, and how many rows of each
EVERYTHING = {"tests": 100, "files": None, "fixtures": None}
ASKED = {"": {}, "slowest": SLOWEST}  # by DURATIONS


class Spent(NamedTuple):
    """Seconds."""

    cpu: float
    wall: float

    def since(self, earlier: Spent) -> Spent:
        return Spent(self.cpu - earlier.cpu, self.wall - earlier.wall)


Ledger = dict[str, list[float]]  # by name: CPU seconds, wall seconds, times


def now() -> Spent:
    user, system, children_user, children_system, wall = os.times()
    return Spent(user + system + children_user + children_system + forks.Spent.seconds, wall)


class Durations:
    """The books of this process, and of its forks."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.ledgers: dict[str, dict[str, list[float]]] = {
            kind: defaultdict(lambda: [0.0, 0.0, 0]) for kind in ("files", "fixtures", "tests")
        }
        self.began, self.shared = time.monotonic(), Spent(0.0, 0.0)

    def add(self, kind: str, name: str, spent: Spent, times: int = 1) -> None:
        row = self.ledgers[kind][name]
        row[0], row[1], row[2] = row[0] + spent.cpu, row[1] + spent.wall, row[2] + times

    def add_fixture(self, name: str, scope: str, spent: Spent, times: int) -> None:
        self.add("fixtures", name, spent, times)
        if scope == "session":
            self.add("files", name, spent, times)
            self.shared = Spent(self.shared.cpu + spent.cpu, self.shared.wall + spent.wall)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        began, shared = now(), self.shared
        result = yield
        spent = now().since(began).since(self.shared.since(shared))
        self.add("files", item.nodeid.partition("::")[0], spent)
        self.add("tests", item.nodeid, spent)
        return result

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_fixture_setup(self, fixturedef: Any, request: Any) -> Iterator[None]:
        name = f"{fixturedef.argname} ({fixturedef.func.__module__.rpartition('.')[2]})"
        book = partial(self.add_fixture, name, fixturedef.scope)
        marks: list[Spent] = []
        fixturedef.addfinalizer(lambda: marks and book(now().since(marks.pop()), 0))
        began = now()
        result = yield
        book(now().since(began), 1)
        fixturedef.addfinalizer(lambda: marks.append(now()))
        return result

    def kept(self) -> dict[str, Ledger]:
        return {kind: dict(rows) for kind, rows in self.ledgers.items()}

    def include(self, ledgers: dict[str, Ledger]) -> None:
        """What a fork kept."""
        for kind, rows in ledgers.items():
            for name, (cpu, wall, times) in rows.items():
                self.add(kind, name, Spent(cpu, wall), times)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        for kind, most in ASKED.get(os.environ.get("DURATIONS", ""), EVERYTHING).items():
            rows = sorted(self.ledgers[kind].items(), key=lambda pair: (-pair[1][0], pair[0]))
            terminalreporter.section(f"slowest {most} {kind}" if most else f"seconds by {kind[:-1]}")
            terminalreporter.line(f"{'CPU s':>8} {'wall s':>8} {'times':>6}")
            for name, (cpu, wall, times) in rows[:most]:
                terminalreporter.line(f"{cpu:8.2f} {wall:8.2f} {times:6} {name}")
        booked = sum(row[0] for row in self.ledgers["files"].values())
        terminalreporter.line(
            f"{now().cpu:.0f} CPU seconds in {time.monotonic() - self.began:.0f} s;"
            f" {now().cpu - booked:.0f} of them outside of tests (imports, collecting){self.order()}"
        )

    def order(self) -> str:
        """How to have the same order again."""
        seed = self.config.getoption("randomly_seed", None)
        return f"; this order again: --randomly-seed={seed}" if isinstance(seed, int) else ""
