"""Workers: jobs are claimed under leases, handed on when a worker dies or stops, and end once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from core.bootstrap import App, build
from core.ports import Progress
from core.services.jobs import workers
from core.services.jobs.jobs import MAX_ATTEMPTS
from core.services.jobs.workers import Waiting, Worker
from core.services.platform.workspace import Daily
from core.settings import load
from tests.conftest import ROOT, FixedClock, NoProcesses, SmallModels, demo, put, small_app, until
from tests.support.postgres import Server

ADMIN = demo("admin")
DATABASES = ("sqlite", "postgresql")


@pytest.fixture
def urls(tmp_path: Path, postgres: Server) -> Callable[[str], str]:
    made: dict[str, str] = {}

    def url(kind: str) -> str:
        if kind not in made:
            name = f"workers{time.monotonic_ns()}"
            made[kind] = postgres.database(name) if kind == "postgresql" else f"sqlite:///{tmp_path / 'shared.db'}"
        return made[kind]

    return url


def node(home: Path, url: str) -> App:
    """A node whose jobs wait for workers."""
    app = build(load({}, home=home, database=url), clock=FixedClock(), models=SmallModels())
    app.platform.workspace.create()
    return app


def nothing() -> None:
    """No catching up."""


def drained(app: App, name: str, works: Mapping[str, Any]) -> int:
    return app.platform.workers.run(ADMIN, Worker(name), works, nothing, once=True)


def lose(app: App, number: int) -> None:
    """The worker of a job was not heard of in time."""
    sql_of(app, f"UPDATE jobs SET leased = 1 WHERE id = {number}")


def sql_of(app: App, statement: str) -> None:
    with app.platform.backups.database._writing() as connection:
        connection.exec_driver_sql(statement)


@pytest.mark.parametrize("kind", DATABASES)
def test_several_workers_do_each_job_once(tmp_path: Path, urls: Callable[[str], str], kind: str) -> None:
    nodes = [node(tmp_path / "home", urls(kind)) for _ in range(3)]
    numbers = [nodes[0].platform.jobs.start("count", {"n": n}).id for n in range(12)]
    done: list[tuple[str, int]] = []

    def work(n: int) -> int:
        def counted(arguments, progress):
            return done.append((f"w{n}", arguments["n"]))

        return drained(nodes[n], f"w{n}", {"count": counted})

    with ThreadPoolExecutor(3) as pool:
        assert sum(pool.map(work, range(3))) == 12
    assert sorted(n for _, n in done) == list(range(12))
    jobs = [nodes[0].platform.jobs.get(number) for number in numbers]
    assert {(job.state, job.attempts) for job in jobs} == {("done", 1)}
    assert {job.worker for job in jobs} <= {"w0", "w1", "w2"}
    ends = [line for line in nodes[0].platform.backups.database.audit.newest(100) if line.action == "job done"]
    assert len(ends) == 12


@pytest.mark.parametrize("kind", DATABASES)
def test_the_job_of_a_lost_worker_is_claimed_again_and_ends_once(
    tmp_path: Path, urls: Callable[[str], str], kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    app = node(tmp_path / "home", urls(kind))
    job = app.platform.jobs.start("slow", {})

    def slow(arguments: object, progress: Progress) -> str:
        lose(app, job.id)  # the machine slept; meanwhile another worker does it
        assert drained(app, "second", {"slow": lambda *_: "by the second"}) == 1
        progress(1, 1, "Going on")
        return "by the first"

    assert drained(app, "first", {"slow": slow}) == 1
    ended = app.platform.jobs.get(job.id)
    assert (ended.state, ended.result, ended.worker, ended.attempts) == ("done", "by the second", "second", 2)
    lines = app.platform.backups.database.audit.newest(100)
    assert [line.action for line in lines].count("job done") == 1
    said = [line for line in caplog.messages if line.startswith(f"Job {job.id}: ")]
    assert said == [f"Job {job.id}: done ", f"Job {job.id}: worker second has taken it over."]


@pytest.mark.parametrize("kind", DATABASES)
def test_a_lease_is_renewed_while_the_work_goes_on(
    tmp_path: Path, urls: Callable[[str], str], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "BEAT", 0.1)
    app = node(tmp_path / "home", urls(kind))
    job = app.platform.jobs.start("slow", {})
    begun, seen = threading.Event(), threading.Event()

    def slow(arguments: object, progress: Progress) -> str:
        begun.set()
        seen.wait(300)
        progress(1, 1, "Done")
        return "whole"

    thread = threading.Thread(target=drained, args=(app, "first", {"slow": slow}))
    thread.start()
    assert begun.wait(300)
    lose(app, job.id)
    until(lambda: app.platform.jobs.rows.get(job.id).leased > 1)
    assert drained(app, "second", {"slow": slow}) == 0
    assert [row.name for row in app.platform.backups.database.workers.alive(60)] == ["first"]
    assert "begins in worker first" in app.platform.jobs.log(ADMIN, job.id), "what it says is there while it runs"
    seen.set()
    thread.join()
    ended = app.platform.jobs.get(job.id)
    assert (ended.state, ended.result, ended.attempts) == ("done", "whole", 1)


def test_work_that_keeps_losing_its_worker_is_given_up(tmp_path: Path, urls: Callable[[str], str]) -> None:
    app = node(tmp_path / "home", urls("sqlite"))
    job = app.platform.jobs.start("slow", {})
    for _ in range(MAX_ATTEMPTS):
        assert app.platform.jobs.claim("gone") == job.id
        lose(app, job.id)
    assert drained(app, "next", {"slow": lambda *_: None}) == 0
    app.platform.jobs.tend()
    ended = app.platform.jobs.get(job.id)
    assert (ended.state, ended.error) == ("failed", "The process ended 5 times without finishing. See its log.")


def test_a_worker_that_stops_hands_its_job_back(tmp_path: Path, urls: Callable[[str], str]) -> None:
    app, worker = node(tmp_path / "home", urls("sqlite")), Worker("first")
    job = app.platform.jobs.start("slow", {})

    def stopped(arguments: object, progress: Progress) -> None:
        worker.stopping.set()
        progress(1, 2, "Half")

    app.platform.workers.run(ADMIN, worker, {"slow": stopped}, nothing)
    back = app.platform.jobs.get(job.id)
    assert (back.state, back.worker, back.attempts) == ("queued", "", 0)
    assert app.platform.workers.waiting(ADMIN).stuck
    assert drained(app, "second", {"slow": lambda *_: "whole"}) == 1
    assert app.platform.jobs.get(job.id).result == "whole"


def test_cancelling_ends_a_job_that_waits_and_one_that_runs(tmp_path: Path, urls: Callable[[str], str]) -> None:
    app = node(tmp_path / "home", urls("sqlite"))
    waiting, running = (app.platform.jobs.start("slow", {"n": n}).id for n in range(2))
    assert app.platform.jobs.cancel(ADMIN, waiting).state == "cancelled"

    def slow(arguments: object, progress: Progress) -> None:
        app.platform.jobs.cancel(ADMIN, running)
        progress(1, 2, "Half")

    assert drained(app, "first", {"slow": slow}) == 1
    assert app.platform.jobs.get(running).state == "cancelled"


def test_a_job_that_is_asked_for_again_runs_again(tmp_path: Path, urls: Callable[[str], str]) -> None:
    app, runs = node(tmp_path / "home", urls("sqlite")), []

    def twice(arguments: object, progress: Progress) -> None:
        runs.append(1)
        if len(runs) == 1:
            app.platform.jobs.start("twice", {}, again=True)

    app.platform.jobs.start("twice", {})
    assert drained(app, "first", {"twice": twice}) == 1
    assert len(runs) == 2


def test_what_went_wrong_is_in_the_log_that_every_node_reads(tmp_path: Path, urls: Callable[[str], str]) -> None:
    app = node(tmp_path / "home", urls("sqlite"))
    job = app.platform.jobs.start("bug", {})

    def bug(arguments: object, progress: Progress) -> None:
        raise ZeroDivisionError

    assert drained(app, "first", {"bug": bug}) == 1
    assert app.platform.jobs.get(job.id).state == "failed"
    assert "ZeroDivisionError" in node(tmp_path / "other", urls("sqlite")).platform.jobs.log(ADMIN, job.id)


def test_the_last_free_worker_of_several_is_kept_for_builds(app: App) -> None:
    jobs, workers = app.platform.jobs, app.platform.workers.database.workers
    for name in ("one", "two", "three"):
        workers.join(name, "now")
    long = [jobs.start("impact", {"change": n}).id for n in range(3)]
    assert [jobs.claim(name) for name in ("one", "two", "three")] == [*long[:2], None]
    build = jobs.start("reindex", {}).id
    assert jobs.claim("three") == build
    workers.leave("one")
    workers.leave("two")
    assert jobs.claim("three") == long[2], "a worker that is alone does everything"


def test_a_build_that_nobody_asked_for_is_found_by_comparing(tmp_path: Path, urls: Callable[[str], str]) -> None:
    """The node that merged died before it could queue anything."""
    app = node(tmp_path / "home", urls("sqlite"))
    put(app, {"a.md": "# Alpha\n\nSome words to find.\n"})
    assert app.platform.jobs.recent() == ()
    workspace = app.platform.workspace
    done = app.platform.workers.run(ADMIN, Worker("first"), workspace.works, workspace.catch_up, once=True)
    assert done >= 1
    assert app.search.searcher.search("words to find").hits[0].path == "a.md"


def test_a_workspace_that_starts_its_own_workers_is_never_stuck(tmp_path: Path) -> None:
    app = small_app(tmp_path / "home", NoProcesses(limit=1))
    app.platform.jobs.start("count", {})
    assert app.platform.workers.waiting(ADMIN) == Waiting(1, (), stuck=False)
    assert drained(app, "by hand", {"count": lambda *_: None}) == 1


def test_a_worker_that_concord_started_ends_when_there_is_nothing_to_do(app: App) -> None:
    app.platform.jobs.start("count", {})
    worker = Worker("first", idle=0.0)
    assert app.platform.workers.run(ADMIN, worker, {"count": lambda *_: None}, nothing) == 1


def test_a_worker_that_kept_much_memory_leaves_the_next_job_to_a_fresh_one(app: App) -> None:
    for n in range(3):
        app.platform.jobs.start("count", {"n": n})
    app.platform.jobs.crew.processes.large = lambda: True
    assert app.platform.workers.run(ADMIN, Worker("first"), {"count": lambda *_: None}, nothing) == 1


@pytest.mark.slow
def test_a_killed_worker_process_is_replaced(tmp_path: Path, urls: Callable[[str], str]) -> None:
    """The command itself: kill -9 while it holds a job, then another one does it."""
    app = node(tmp_path / "home", urls("postgresql"))
    put(app, {f"{n}.md": f"# Document {n}\n\nWords of number {n}.\n" for n in range(3)})
    job = app.platform.jobs.start("reindex", {"profile": "local", "full": False})
    first = worker_process(app, "first")
    until(lambda: app.platform.jobs.get(job.id).worker == "first")
    first.kill()
    first.wait()
    if app.platform.jobs.get(job.id).open:
        lose(app, job.id)
    second = worker_process(app, "second")
    until(lambda: not app.platform.jobs.get(job.id).open)
    second.send_signal(signal.SIGTERM)
    assert second.wait(600) == 0
    assert app.platform.jobs.get(job.id).state == "done"
    seen = [row.name for row in app.platform.backups.database.workers.alive(3600)]
    assert seen == ["first"], "it did not say good-bye"


def worker_process(app: App, name: str) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "CONCORD_DATABASE": app.settings.database, "CONCORD_HOME": str(app.settings.home)}
    environment["CONCORD_CACHE"] = str(ROOT / ".cache" / "tests")
    return subprocess.Popen([sys.executable, "-m", "core", "worker", "--name", name], cwd=ROOT, env=environment)


@pytest.mark.parametrize("kind", DATABASES)
def test_the_work_of_a_day_is_done_once_by_all_nodes(tmp_path: Path, urls: Callable[[str], str], kind: str) -> None:
    nodes, clock, done = [node(tmp_path / "home", urls(kind)) for _ in range(3)], FixedClock("2027-01-05"), []

    def daily(n: int) -> Daily:
        claim = nodes[n].platform.backups.database.workers.claim
        return Daily(clock, [lambda: done.append(n)], lambda name, seconds: claim(name, f"node{n}", seconds))

    made = [daily(n) for n in range(3)]
    assert [one.run() for one in made] == [True, False, False]
    clock.day = "2027-01-06"
    monday = [daily(n) for n in range(3)]
    sql_of(nodes[0], "UPDATE claims SET until = 1 WHERE name = 'day 2027-01-05'")
    assert [one.run() for one in reversed(monday)] == [True, False, False]
    assert done == [0, 2]


def test_a_day_whose_node_died_is_taken_over(tmp_path: Path, urls: Callable[[str], str]) -> None:
    app, done = node(tmp_path / "home", urls("sqlite")), []
    claim = app.platform.backups.database.workers.claim
    assert claim("day 2027-01-05", "gone", 3600.0)
    assert not claim("day 2027-01-05", "next", 3600.0)
    sql_of(app, "UPDATE claims SET until = 1e9")
    next_node = Daily(FixedClock("2027-01-05"), [lambda: done.append(1)], lambda name, s: claim(name, "next", s))
    assert next_node.run()
    assert done == [1]
