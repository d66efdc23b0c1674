"""Long work in processes of its own: progress, cancel, resume after a kill."""

from __future__ import annotations

import os
import signal
import time
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from core.bootstrap import App, build
from core.errors import BadInput, NotFound
from core.services.platform.jobs import MAX_ATTEMPTS, Job
from core.settings import load
from tests.conftest import ROOT, put


@pytest.fixture
def quick(tmp_path: Path) -> App:
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


def test_a_job_runs_in_its_own_process_and_the_result_is_searchable(quick: App) -> None:
    job = quick.platform.workspace.catch_up()
    assert job is not None
    assert quick.platform.jobs.start("reindex", job.arguments).id == job.id, "the same work is not queued twice"
    done = wait(quick, job.id)
    assert (done.state, done.error) == ("done", "")
    assert done.result["documents"] == 1
    assert quick.search.searcher.search("words to find").hits
    assert quick.platform.workspace.catch_up() is None


def test_progress_is_kept_and_cancelling_stops_the_work(app: App) -> None:
    number = app.platform.jobs.rows.add(kind="count", arguments="{}", state="queued", created="")
    seen: list[int] = []

    def count(arguments: object, progress: object) -> None:
        for n in range(1000):
            seen.append(n)
            if n == 5:
                app.platform.jobs.cancel(number)
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


def test_a_killed_worker_is_replaced_and_the_work_is_finished(quick: App) -> None:
    new = uuid.uuid4().hex  # no vector of an earlier run helps, so there is work to be killed in
    put(quick, {f"{n}.md": f"# Document {n}\n\n" + f"Sentence {n} of {new} with words. " * 90 for n in range(16)})
    job = quick.platform.jobs.start("reindex", {"profile": "local", "full": False})
    until(lambda: quick.platform.jobs.get(job.id).state == "running")
    kill_worker(quick.settings.home)
    until(lambda: not quick.platform.jobs.processes.alive(job.id))
    assert quick.platform.jobs.get(job.id).state == "running"
    assert quick.platform.jobs.sweep() == (job.id,)
    done = wait(quick, job.id)
    assert done.state == "done"
    assert done.attempts == 2
    assert quick.search.searcher.search("Sentence 7 with words").hits


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
