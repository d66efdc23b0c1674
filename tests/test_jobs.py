"""Long work in processes of its own: progress, cancel, resume after a kill."""

from __future__ import annotations

import os
import signal
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from core.access import Actor
from core.bootstrap import App, build
from core.errors import BadInput, NotFound
from core.services.people.accounts import local_admin
from core.services.platform.jobs import MAX_ATTEMPTS, Job
from core.settings import load
from tests.conftest import ROOT, NoProcesses, demo, put, small_app
from tests.evaluated import evaluated


@pytest.fixture
def real_app(tmp_path: Path) -> App:
    """A real workspace with the real default model: workers are separate processes and load it themselves."""
    app = build(load({}, home=tmp_path / "home", cache=ROOT / ".cache" / "tests"))
    app.platform.workspace.create()
    put(app, {"a.md": "# Alpha\n\nSome words to find.\n"})
    return app


def command(process: Path) -> bytes:
    """What a process was started with; nothing once it is gone, which may happen at any time."""
    try:
        return (process / "cmdline").read_bytes()
    except OSError:
        return b""


def kill_worker(home: Path) -> None:
    """kill -9 to the process that works in this workspace."""
    for process in Path("/proc").glob("[0-9]*"):
        if str(home).encode() in command(process) and b"work" in command(process):
            os.kill(int(process.name), signal.SIGKILL)
            while b"core" in command(process):
                time.sleep(0.02)


def wait(app: App, job: int, seconds: float = 300.0) -> Job:
    end = time.monotonic() + seconds
    while app.platform.jobs.get(job).open and time.monotonic() < end:
        time.sleep(0.05)
    return app.platform.jobs.get(job)


@pytest.mark.sqlite
def test_a_job_runs_in_its_own_process_and_the_result_is_searchable(real_app: App) -> None:
    job = real_app.platform.workspace.catch_up()
    assert job is not None
    assert real_app.platform.jobs.start("reindex", job.arguments).id == job.id, "the same work is not queued twice"
    done = wait(real_app, job.id)
    assert (done.state, done.error) == ("done", "")
    assert done.result["documents"] == 1
    assert real_app.search.searcher.search("words to find").hits
    assert real_app.platform.workspace.catch_up() is None


def test_progress_is_kept_and_cancelling_stops_the_work(app: App) -> None:
    number = app.platform.jobs.rows.add(kind="count", arguments="{}", state="queued", created="")
    seen: list[int] = []

    def count(arguments: object, progress: object) -> None:
        for n in range(1000):
            seen.append(n)
            if n == 5:
                app.platform.jobs.cancel(demo("admin"), number)
            time.sleep(0.06)
            progress(n, 1000, "Counting")  # type: ignore[operator]

    job = app.platform.jobs.run(number, {"count": count})
    assert (job.state, job.message, job.total) == ("cancelled", "Counting", 1000)
    assert len(seen) < 20


def test_a_refusal_is_the_job_s_error(app: App) -> None:
    number = app.platform.jobs.rows.add(kind="no", arguments="{}", state="queued", created="")

    def refuse(arguments: object, progress: object) -> None:
        raise BadInput("It cannot be done, because.")

    assert app.platform.jobs.run(number, {"no": refuse}).error == "It cannot be done, because."


def test_an_unexpected_error_fails_the_job_and_is_not_hidden(app: App) -> None:
    number = app.platform.jobs.rows.add(kind="bug", arguments="{}", state="queued", created="")

    def bug(arguments: object, progress: object) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        app.platform.jobs.run(number, {"bug": bug})
    assert app.platform.jobs.get(number).state == "failed"


@pytest.mark.sqlite
def test_a_killed_worker_is_replaced_and_the_work_is_finished(real_app: App) -> None:
    new = uuid.uuid4().hex  # no vector of an earlier run helps, so there is work to be killed in
    put(real_app, {f"{n}.md": f"# Document {n}\n\n" + f"Sentence {n} of {new} with words. " * 90 for n in range(16)})
    job = real_app.platform.jobs.start("reindex", {"profile": "local", "full": False})
    until(lambda: real_app.platform.jobs.get(job.id).state == "running")
    kill_worker(real_app.settings.home)
    until(lambda: not real_app.platform.jobs.processes.alive(job.id))
    assert real_app.platform.jobs.get(job.id).state == "running"
    assert real_app.platform.jobs.sweep() == (job.id,)
    done = wait(real_app, job.id)
    assert done.state == "done"
    assert done.attempts == 2
    assert real_app.search.searcher.search("Sentence 7 with words").hits


def until(true: Callable[[], bool], seconds: float = 120.0) -> None:
    """Wait for something that must happen."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_work_that_keeps_dying_is_given_up_with_a_sentence(app: App) -> None:
    number = app.platform.jobs.rows.add(
        kind="reindex", arguments="{}", state="running", created="", attempts=MAX_ATTEMPTS
    )
    assert app.platform.jobs.sweep() == ()
    assert app.platform.jobs.get(number).state == "failed"
    assert "without finishing" in app.platform.jobs.get(number).error


def test_an_unknown_job_is_named(app: App) -> None:
    with pytest.raises(NotFound, match="no job 7"):
        app.platform.jobs.get(7)


# ---------------------------------------------------------------- rights of now

AUTHOR, ADMIN = demo("author"), demo("admin")
QUEUE: dict[str, Callable[[App, Actor], Job]] = {
    "generate": lambda app, actor: app.evaluation.jobs.generate(actor, "known-items", "later", 7, 3),
    "calibrate": lambda app, actor: app.evaluation.jobs.calibrate(actor, "small", "bm25", "nDCG@10", 1.0, 1),
    "learn": lambda app, actor: app.evaluation.jobs.learn(actor, "small", "linear", "convex-0.5", "nDCG@10", "best"),
    "experiment": lambda app, actor: app.evaluation.experiments.start(actor, "cascade", "small", 3),
    "evaluate": lambda app, actor: app.evaluation.runs.start(actor, "small", [("", "bm25")]),
}


@pytest.fixture(scope="module")
def judged_app(tmp_path_factory: pytest.TempPathFactory) -> App:
    """A workspace with a query set, in which nothing runs by itself."""
    return evaluated(small_app(tmp_path_factory.mktemp("office"), NoProcesses()))


def newcomer(app: App, role: str) -> Actor:
    """Somebody nobody knows yet."""
    name = f"new-{uuid.uuid4().hex[:8]}"
    app.people.accounts.add(ADMIN, name, name, f"{name}@example.org", role)
    return app.people.accounts.actor(name)


@pytest.mark.parametrize("kind", QUEUE)
def test_a_job_of_an_account_that_was_switched_off_is_refused(judged_app: App, kind: str) -> None:
    actor = newcomer(judged_app, "admin")
    job = QUEUE[kind](judged_app, actor)
    assert (job.arguments["who"], job.arguments["door"]) == (actor.id, "app"), "no role is kept"
    judged_app.people.accounts.set_active(ADMIN, actor.id, False)
    ended = judged_app.platform.jobs.run(job.id, judged_app.platform.workspace.works)
    assert (ended.state, ended.error) == ("failed", f"The account {actor.id!r} is switched off. Ask an admin.")


@pytest.mark.parametrize("kind", QUEUE)
def test_a_job_of_an_account_that_lost_its_role_is_refused(judged_app: App, kind: str) -> None:
    actor = newcomer(judged_app, "admin")
    job = QUEUE[kind](judged_app, actor)
    judged_app.people.accounts.set_role(ADMIN, actor.id, "reader")
    ended = judged_app.platform.jobs.run(job.id, judged_app.platform.workspace.works)
    assert ended.state == "failed"
    assert ended.error.startswith("Only ")
    assert ended.error.endswith("is a reader.")


def test_people_at_the_terminal_need_no_account_for_their_jobs(judged_app: App) -> None:
    robin = local_admin("robin")
    job = QUEUE["generate"](judged_app, robin)
    assert judged_app.platform.jobs.run(job.id, judged_app.platform.workspace.works).state == "done"
    assert judged_app.platform.jobs.actor(job.arguments, "manage accounts") == robin, "the door goes with the job"
    with pytest.raises(NotFound, match="no account 'robin@localhost'"):
        judged_app.platform.jobs.actor({"who": "robin@localhost", "door": "app"}, "search")


def test_the_same_job_asked_for_by_many_at_once_is_queued_once(tmp_path: Path) -> None:
    apps = [small_app(tmp_path / "home", NoProcesses()) for _ in range(4)]
    with ThreadPoolExecutor(8) as pool:
        started = list(pool.map(lambda n: apps[n % 4].platform.jobs.start("verify", {}).id, range(16)))
    assert set(started) == {1}
    assert sum(len(app.platform.jobs.processes.spawned) for app in apps) == 1
