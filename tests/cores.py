"""Tests on several cores: the process that collected them forks, and each fork takes the next file that is left.

What a file makes for its tests is made once, because its tests stay together. Importing and collecting take 18 CPU seconds,
so they are done once too; and one fork more than cores costs next to nothing and works while others wait for a browser.
"""

from __future__ import annotations

import atexit
import gc
import os
import signal
import tempfile
import threading
import time
import traceback
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib import import_module
from itertools import chain, groupby, pairwise
from multiprocessing.connection import Connection, Pipe, wait
from typing import Any
from warnings import WarningMessage

import pytest
from _pytest.capture import FDCapture
from hypothesis.internal import charmap

from core.storage.index.arrays import kernels
from tests.durations import Durations
from tests.forks import Zygote

NUMBER = 4  # bytes of a file's number
PATIENCE = {"quick": 900, "slow": 3600}  # seconds for one test, on the slowest machine; whatever takes longer hangs


def processes(asked: str) -> int:
    """As many as asked for; `auto` is one more than this process has cores, and four at most."""
    return int(asked) if asked.isdigit() else min(4, len(os.sched_getaffinity(0)) + 1)


def units(items: list[pytest.Item]) -> list[list[pytest.Item]]:
    """What one process takes at a time: a file, or a test of ten minutes and more. The files with a browser come first, as one: a browser
    and its first page cost five CPU seconds, and while it is waited for others work. Those with a PostgreSQL server, three seconds,
    are one. Where some tests are slow, a browser in each process costs little, and what takes longest begins first."""
    pieces = [list(each) for _, each in groupby(items, lambda item: (item.path, minutes(item) >= 10 and item.nodeid))]
    browsers = not any(map(minutes, items))
    drawn = [each for each in pieces if browsers and any(item.get_closest_marker("browser") for item in each)]
    stored = [each for each in pieces if each not in drawn and any("postgres" in asked(item) for item in each)]
    joined = [list(chain.from_iterable(some)) for some in (drawn, stored)]
    others = [each for each in pieces if each not in (*drawn, *stored)]
    return [*filter(None, joined), *sorted(others, key=lambda each: -sum(map(minutes, each)))]


def minutes(item: pytest.Item) -> float:
    """About what a slow test takes, as its mark says or else a few seconds; none if it is quick."""
    mark = item.get_closest_marker("slow")
    return mark.kwargs.get("minutes", 0.2) if mark else 0


def asked(item: pytest.Item) -> list[str]:
    """The fixtures of a test, those of its fixtures among them."""
    return getattr(item, "fixturenames", [])


def warm() -> None:
    """What each process would load for itself, ten CPU seconds: for its first search, training, network (which itself
    starts a thread) and law about texts."""
    gc.disable()
    from core.evaluation.tuning import ranking_loops

    for name in ("xgboost", "numba", "torch._dynamo"):
        with suppress(ImportError):
            import_module(name)
    kernels.warm()
    ranking_loops.warm()
    charmap.intervals_from_codec("utf-8")
    gc.freeze()
    gc.enable()


class Fork:
    """One process that takes tests, seen from the one that collected them."""

    def __init__(self, pid: int, line: Connection) -> None:
        self.pid, self.line, self.running, self.why = pid, line, "", ""
        self.taken: dict[str, pytest.Item] = {}  # and not finished
        self.heard = time.monotonic()

    def hangs(self) -> bool:
        silent = time.monotonic() - self.heard
        if silent < PATIENCE["quick"]:
            return False
        item = self.taken.get(self.running)
        return silent > PATIENCE["slow" if item and minutes(item) else "quick"]


class Cores:
    """Runs the tests in so many forks of this process; their reports come back here."""

    def __init__(self, config: pytest.Config, count: int) -> None:
        self.config, self.count, self.durations = config, count, config.pluginmanager.getplugin("durations")

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        """What forks servers imports all of the product, on another core, while this process collects."""
        self.zygote = Zygote()

    def pytest_sessionfinish(self) -> None:
        self.zygote.end()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        if session.testsfailed or self.config.option.collectonly or len(session.items) < 2:
            return None
        threads = threading.active_count()  # OpenBLAS has one of its own, and ends it before a fork
        assert threads == 1, f"A process with {threads} threads cannot be forked safely."
        files = units(session.items)
        warm()
        forks = self.start(session, files)
        try:
            self.hear(session, files, forks)
        except BaseException:
            for fork in forks:
                fork.line.close()  # nobody hears what it would say while it ends
                os.kill(fork.pid, signal.SIGINT)
            raise
        finally:
            for fork in forks:
                os.waitpid(fork.pid, 0)
        return True

    def start(self, session: pytest.Session, files: list[list[pytest.Item]]) -> list[Fork]:
        queue, filled = os.pipe()  # who reads a number from it has the file
        os.write(filled, b"".join(number.to_bytes(NUMBER, "big") for number in range(len(files))))
        os.close(filled)
        factory = self.config._tmp_path_factory  # type: ignore[attr-defined]
        factory.getbasetemp()  # made before the forks, for all
        forks = list[Fork]()
        for number in range(min(self.count, len(files))):
            ours, theirs = Pipe(duplex=False)
            if pid := os.fork():
                theirs.close()
                forks.append(Fork(pid, ours))
                continue
            for line in (ours, *(fork.line for fork in forks)):
                line.close()  # a fork whose leader is gone must see it, and end
            factory._basetemp = factory.mktemp(f"core{number}", numbered=False)
            Inside(session, theirs, self.durations).work(queue, files)
        os.close(queue)
        return forks

    def hear(self, session: pytest.Session, files: list[list[pytest.Item]], forks: list[Fork]) -> None:
        """What the forks say, until all have ended."""
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl+C, or servers of the forks go on for good
        lines = {fork.line: fork for fork in forks}
        while lines:
            for line in wait(list(lines), timeout=10):
                lines[line].heard = time.monotonic()
                try:
                    kind, said = lines[line].line.recv()
                except EOFError:
                    self.lost(lines.pop(line))
                    continue
                self.note(kind, said, lines[line], files)
            self.end_hanging(lines.values())
            if session.shouldfail or session.shouldstop:
                raise (
                    session.Failed(session.shouldfail)
                    if session.shouldfail
                    else session.Interrupted(session.shouldstop)
                )

    def end_hanging(self, forks: Iterable[Fork]) -> None:
        """A test that hangs fails and says where, instead of holding up the rest for good: faulthandler prints every thread."""
        for fork in filter(Fork.hangs, forks):
            os.kill(fork.pid, signal.SIGABRT)
            fork.heard = time.monotonic()

    def note(self, kind: str, said: Any, fork: Fork, files: list[list[pytest.Item]]) -> None:
        hook = self.config.hook
        if kind == "took":
            fork.taken.update((item.nodeid, item) for item in files[said])
        elif kind == "start":
            fork.running = said
            hook.pytest_runtest_logstart(nodeid=said, location=fork.taken[said].location)
        elif kind == "report":
            hook.pytest_runtest_logreport(report=hook.pytest_report_from_serializable(config=self.config, data=said))
        elif kind == "finish":
            hook.pytest_runtest_logfinish(nodeid=said, location=fork.taken.pop(said).location)
        elif kind == "broken":
            fork.why = said
        elif kind == "warning":
            hook.pytest_warning_recorded.call_historic(kwargs=said)
        elif kind == "durations":
            self.durations.include(said)

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A failure is named at once: its story comes with the others at the end, which may be long."""
        if report.failed and (terminal := self.config.pluginmanager.getplugin("terminalreporter")):
            terminal.write(f" {report.nodeid}\n", red=True)

    def lost(self, fork: Fork) -> None:
        """A fork that ended with tests in hand has failed them."""
        for item in fork.taken.values():
            why = f"The process that had taken this test ended in {fork.running}.\n{fork.why}"
            self.config.hook.pytest_runtest_logreport(
                report=pytest.TestReport(item.nodeid, item.location, {}, "failed", why, "call")
            )


class Inside:
    """A fork: takes files, does their tests and says what came of them."""

    def __init__(self, session: pytest.Session, line: Connection, durations: Durations) -> None:
        self.session, self.config, self.line, self.durations = session, session.config, line, durations

    def work(self, queue: int, files: list[list[pytest.Item]]) -> None:
        """Until no file is left; then this process ends."""
        atexit._clear()
        signal.signal(signal.SIGINT, signal.default_int_handler)  # it is ignored in the background of a shell
        try:
            plugins = self.config.pluginmanager
            self.capture_alone(plugins.getplugin("capturemanager"))
            plugins.unregister(name="terminalreporter")
            plugins.register(self, "inside")
            for item, following in pairwise(chain(self.items(queue, files), [None])):
                assert item
                self.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        except BaseException:
            with suppress(OSError):  # nobody may hear any more
                self.line.send(("broken", traceback.format_exc()))
        finally:
            self.end()

    def capture_alone(self, manager: Any) -> None:
        """A file of its own behind what is captured. The streams stay: some packages took them when they were imported."""
        manager.suspend_global_capture()
        for stream in (manager._global_capturing.out, manager._global_capturing.err):
            if isinstance(stream, FDCapture):
                with tempfile.TemporaryFile() as own:
                    os.dup2(own.fileno(), stream.tmpfile.fileno())

    def end(self) -> None:
        """End servers and browsers, also after an interrupt. What was not done, the other side sees."""
        try:
            self.session._setupstate.teardown_exact(None)
            atexit._run_exitfuncs()
            self.line.send(("durations", self.durations.kept()))
        finally:
            os._exit(0)

    def items(self, queue: int, files: list[list[pytest.Item]]) -> Iterator[pytest.Item]:
        while number := os.read(queue, NUMBER):
            taken = int.from_bytes(number, "big")
            self.line.send(("took", taken))
            yield from files[taken]

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.line.send(("start", nodeid))

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.line.send(("finish", nodeid))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """What is shown of a test that passed is its call; that it was set up and torn down well is not."""
        if report.passed and report.when != "call":
            return
        said = self.config.hook.pytest_report_to_serializable(config=self.config, report=report)
        self.line.send(("report", said))

    def pytest_warning_recorded(self, warning_message: Any, when: str, nodeid: str, location: Any) -> None:
        text = f"{warning_message.category.__name__}: {warning_message.message}"  # some hold what cannot be sent
        told = WarningMessage(UserWarning(text), UserWarning, warning_message.filename, warning_message.lineno)
        self.line.send(("warning", {"warning_message": told, "when": when, "nodeid": nodeid, "location": location}))
