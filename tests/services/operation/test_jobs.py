"""Long work in processes of its own: never more than the limit, progress, cancel, resume after a kill."""

from __future__ import annotations

import os
import signal
import subprocess
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.access import Actor
from core.adapters.system.processes import SystemProcesses
from core.bootstrap import App, build
from core.errors import BadInput, NotFound
from core.evaluation.tuning.calibration import TauRule
from core.services.jobs import crew
from core.services.jobs.jobs import MAX_ATTEMPTS, Job, next_in_line
from core.services.jobs.workers import Worker
from core.services.people.accounts import NewAccount, local_admin
from core.settings import load
from tests.conftest import ROOT, NoProcesses, demo, put, small_app, sql, until
from tests.support.evaluated import evaluated
from tests.support.remotes import bare, git


@pytest.fixture
def real_app(tmp_path: Path) -> App:
    """A real workspace with the real default model: workers are separate processes and load it themselves."""
    app = build(load({}, home=tmp_path / "home", cache=ROOT / ".cache" / "tests"))
    app.platform.workspace.create()
    put(app, {"a.md": "# Alpha\n\nSome words to find.\n"})
    return app


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
    put(real_app, {f"{n}.md": f"# Document {n}\n\n" + f"Sentence {n} of {new} with words. " * 90 for n in range(8)})
    jobs = real_app.platform.jobs
    job = jobs.start("reindex", {"profile": "local", "full": False})
    until(lambda: jobs.get(job.id).state == "running")
    (first,) = real_app.settings.home.glob("jobs/worker-*.lock")
    os.kill(int(first.read_text().split()[1]), signal.SIGKILL)
    until(lambda: not jobs.crew.processes.alive())
    assert jobs.get(job.id).state == "running", "nobody knows yet"
    until(lambda: (jobs.tend(), not jobs.get(job.id).open)[1])
    done = jobs.get(job.id)
    assert (done.state, done.attempts) == ("done", 2)
    assert real_app.search.searcher.search("Sentence 7 with words").hits


def test_work_that_keeps_dying_is_given_up_with_a_sentence(app: App) -> None:
    number = app.platform.jobs.rows.add(
        kind="reindex", arguments="{}", state="running", created="", attempts=MAX_ATTEMPTS
    )
    app.platform.jobs.tend()
    assert app.platform.jobs.get(number).state == "failed"
    assert "without finishing" in app.platform.jobs.get(number).error


def test_an_unknown_job_is_named(app: App) -> None:
    with pytest.raises(NotFound, match="no job 7"):
        app.platform.jobs.get(7)


@pytest.mark.slow
def test_a_push_is_done_by_a_worker(tmp_path: Path) -> None:
    shared = bare(tmp_path / "shared.git")
    app = small_app(tmp_path / "home", SystemProcesses(tmp_path / "home", limit=1))
    put(app, {"a.md": "# A\n\nOne.\n"})
    app.remote.remotes.add(ADMIN, str(shared))
    job = next(job for job in app.platform.jobs.recent() if job.kind == "remote")
    until(lambda: not app.platform.jobs.get(job.id).open)
    assert app.platform.jobs.get(job.id).result["state"] == "up to date"
    assert git(shared, "rev-parse", "main") == app.knowledge.repository.head()


# ---------------------------------------------------------------- rights of now

AUTHOR, ADMIN = demo("author"), demo("admin")
QUEUE: dict[str, Callable[[App, Actor], Job]] = {
    "generate": lambda app, actor: app.evaluation.jobs.generate(actor, "known-items", "later", 7, 3),
    "calibrate": lambda app, actor: app.evaluation.jobs.calibrate(
        actor, "small", "bm25", TauRule(beta=1.0, least=1, measure="nDCG@10")
    ),
    "learn-all": lambda app, actor: app.evaluation.jobs.learn(actor, ["small"]),
    "evaluate": lambda app, actor: app.evaluation.runs.start(actor, "small", [("", "bm25")]),
}


@pytest.fixture(scope="module")
def judged_app(tmp_path_factory: pytest.TempPathFactory) -> App:
    """A workspace with a query set, in which nothing runs by itself."""
    return evaluated(small_app(tmp_path_factory.mktemp("office"), NoProcesses()))


def newcomer(app: App, role: str) -> Actor:
    """Somebody nobody knows yet."""
    name = f"new-{uuid.uuid4().hex[:8]}"
    app.people.accounts.add(ADMIN, NewAccount(name, name, f"{name}@example.org", role))
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
    apps = [small_app(tmp_path / "home", NoProcesses(limit=2)) for _ in range(4)]
    with ThreadPoolExecutor(8) as pool:
        started = list(pool.map(lambda n: apps[n % 4].platform.jobs.start("verify", {}).id, range(16)))
    assert set(started) == {1}
    assert sum(len(app.platform.jobs.crew.processes.ages) for app in apps) == 1


# ---------------------------------------------------------------- never more than the limit


@pytest.fixture
def crowded(tmp_path: Path) -> App:
    """A workspace that starts at most two workers, on paper."""
    return small_app(tmp_path / "home", NoProcesses(limit=2))


def workers_of(app: App) -> list[str]:
    return sorted(app.platform.jobs.crew.processes.alive())


def join(app: App, name: str, silent: float = 0.0) -> None:
    """A worker gave its first sign of life, and perhaps none since."""
    workers = app.platform.backups.database.workers
    workers.join(name, "")
    if silent:
        sql(app, f"UPDATE workers SET seen = seen - {silent} WHERE name = '{name}'")


def test_fifty_jobs_start_two_workers_however_often_somebody_looks(crowded: App) -> None:
    numbers = [crowded.platform.jobs.start("count", {"n": n}).id for n in range(50)]
    for _ in range(100):
        crowded.platform.jobs.tend()
    assert workers_of(crowded) == ["worker-1", "worker-2"], "also while they are still starting"
    done: list[int] = []
    works = {"count": lambda arguments, progress: done.append(arguments["n"])}
    crowded.platform.workers.run(ADMIN, Worker("worker-1"), works, lambda: None, once=True)
    assert done == list(range(50))
    assert {crowded.platform.jobs.get(number).attempts for number in numbers} == {1}


def test_a_free_worker_gets_the_job_and_no_other_one_is_started(crowded: App) -> None:
    crowded.platform.jobs.start("count", {"n": 1})
    join(crowded, "worker-1")
    crowded.platform.jobs.claim("worker-1")
    crowded.platform.jobs.start("count", {"n": 2})
    assert workers_of(crowded) == ["worker-1", "worker-2"], "the first is busy"
    crowded.platform.jobs.tend()
    assert len(workers_of(crowded)) == 2


def test_the_job_of_a_dead_worker_waits_for_another_one_at_once(crowded: App) -> None:
    jobs, processes = crowded.platform.jobs, crowded.platform.jobs.crew.processes
    job = jobs.start("count", {"n": 1})
    join(crowded, "worker-1")
    assert jobs.claim("worker-1") == job.id
    assert jobs.claim("worker-2") is None, "it has its lease"
    processes.die("worker-1")
    jobs.tend()
    assert workers_of(crowded) == ["worker-1"], "a new one, though the lease would last two minutes"
    assert jobs.claim("worker-2") == job.id
    assert jobs.get(job.id).attempts == 2
    jobs.tend()
    assert jobs.claim("worker-3") is None, "it resumes once"


def test_a_worker_that_hangs_is_ended_and_another_one_goes_on(crowded: App) -> None:
    jobs, processes = crowded.platform.jobs, crowded.platform.jobs.crew.processes
    job = jobs.start("count", {"n": 1})
    join(crowded, "worker-1")
    jobs.claim("worker-1")
    sql(crowded, "UPDATE jobs SET leased = 1")
    join(crowded, "worker-1", silent=crew.LEASE + 1)
    jobs.tend()
    assert workers_of(crowded) == ["worker-1", "worker-2"], "the silent one does not count as free"
    assert jobs.claim("worker-2") == job.id
    join(crowded, "worker-1", silent=crew.HUNG + 1)
    jobs.tend()
    assert processes.killed == ["worker-1"]


def test_workers_that_die_as_they_start_are_started_less_and_less_often(
    crowded: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr(crew.time, "monotonic", lambda: now[0])
    jobs, processes = crowded.platform.jobs, crowded.platform.jobs.crew.processes
    jobs.start("count", {"n": 1})
    starts = []
    for _ in range(400):
        if processes.ages:
            starts.append(now[0])
            processes.die(next(iter(processes.ages)))
        now[0] += crew.PAUSE
        jobs.tend()
    gaps = [after - before for before, after in pairwise(starts)]
    assert gaps[:4] == [15.0, 25.0, 45.0, 85.0]
    assert max(gaps) <= crew.LONGEST + crew.PAUSE
    assert len(starts) < 15, "in more than half an hour"


@pytest.mark.sqlite
def test_a_real_worker_has_its_place_before_it_has_started_and_gives_it_back(tmp_path: Path) -> None:
    processes = SystemProcesses(tmp_path, limit=2)
    processes._start = lambda name, place: quiet(place)  # a process that says nothing about itself
    names = [processes.spawn() for _ in range(4)]
    assert names[2:] == [None, None]
    assert sorted(processes.alive()) == sorted(filter(None, names))
    assert processes.gone() == ()
    assert SystemProcesses(tmp_path, limit=2).spawn() is None, "whoever asks"
    processes.kill(names[0])
    until(lambda: len(processes.alive()) == 1)
    assert processes.spawn() is None, "its job is not given back yet"
    assert processes.gone() == (names[0],)
    assert processes.spawn()
    for name in processes.alive():
        processes.kill(name)


def quiet(place: int) -> int:
    return subprocess.Popen(["sleep", "60"], pass_fds=(place,)).pid


def test_one_caller_in_five_seconds_looks_after_the_workers(tmp_path: Path) -> None:
    processes = [SystemProcesses(tmp_path, limit=2) for _ in range(3)]
    assert [one.turn(60.0) for one in processes * 5].count(True) == 1
    assert processes[2].turn(0.0)


@given(st.lists(st.tuples(st.sampled_from(["reindex", "impact", "evaluate"]), st.sampled_from("abc")), min_size=1))
def test_builds_go_first_then_the_one_who_waits_longest_with_short_work_before_long(
    queue: list[tuple[str, str]],
) -> None:
    waiting = [(number, kind, person) for number, (kind, person) in enumerate(queue)]
    _, kind, person = waiting[next_in_line(waiting)]
    if any(row[1] == "reindex" for row in waiting):
        assert kind == "reindex"
    else:
        assert person == waiting[0][2]
        assert kind == "impact" or all(row[1] == "evaluate" for row in waiting if row[2] == person)


def test_work_that_needs_too_much_memory_says_so(app: App) -> None:
    number = app.platform.jobs.start("large", {}).id

    def large(arguments: object, progress: object) -> None:
        raise MemoryError

    assert app.platform.jobs.run(number, {"large": large}).error.endswith("An admin can raise CONCORD_WORKER_MEMORY.")
