"""A part that hangs instead of dying: those who do not need it go on, and those who do are told."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import make_url

from core.access import Actor
from core.adapters.system.files import flock, try_flock
from core.bootstrap import App
from core.errors import Unavailable
from core.services.people.sessions import GRACE
from core.services.reviews.facts import MAIN_LOCK, lock_of
from core.services.reviews.merge import Merger
from core.storage.state import notices
from core.storage.state import postgres as postgres_state
from core.storage.state.postgres import PostgresDatabase
from core.storage.state.transactions import ConnectionLost
from core.types import JOB_WAITS, REPOSITORY_MOVED
from pages.ui.server import listening
from pages.ui.server.security import Guard
from tests.conftest import NoProcesses, demo, put, small_app, sql, until
from tests.support.nodes import node, proposed
from tests.support.postgres import Server
from tests.support.remotes import bare

ADMIN, AUTHOR, REVIEWER = demo("admin"), demo("author"), demo("reviewer")


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> App:
    made = small_app(tmp_path_factory.mktemp("hangs") / "home", NoProcesses())
    put(made, {"a.md": "# Note\n\nFirst line.\n"})
    return made


@pytest.fixture
def silent() -> Iterator[tuple[int, list[socket.socket]]]:
    """A port that takes every connection and never answers, with the connections that it took."""
    taken: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept() -> None:
            try:
                while True:
                    taken.append(server.accept()[0])
            except OSError:
                pass

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield server.getsockname()[1], taken
        server.shutdown(socket.SHUT_RDWR)
    thread.join(60)
    for connection in taken:
        connection.close()


def test_a_database_that_takes_connections_and_never_answers_is_given_up_and_then_left_alone(
    silent: tuple[int, list[socket.socket]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_state, "_AGAIN", 3600.0)  # until somebody looks whether it answers again
    port, taken = silent
    database = PostgresDatabase(make_url(f"postgresql://x@127.0.0.1:{port}/x"))
    with database.within(0.1), pytest.raises(Unavailable, match="cannot be reached"):
        database.audit.last_commit()
    before = len(taken)
    assert before > 0
    with database.within(0.1), pytest.raises(Unavailable, match="cannot be reached"):
        database.audit.last_commit()
    assert len(taken) == before, "nobody knocks again who can do without"


def test_whoever_waits_for_a_lock_is_told_after_a_while_and_those_who_come_later_get_it(tmp_path: Path) -> None:
    lock, held = tmp_path / "lock", try_flock(tmp_path / "lock")
    assert held is not None
    with pytest.raises(Unavailable, match="Another process has held"), flock(lock, patience=0.01):
        pass
    os.close(held)
    with flock(lock, patience=60):
        assert try_flock(lock) is None
    with flock(lock, patience=60):  # whoever gave up left the queue for good
        pass


def token_of(app: App, name: str) -> str:
    return app.people.tokens.make(AUTHOR, name, "read")[0]


def test_a_token_is_taken_while_a_writer_hangs(app: App) -> None:
    text = token_of(app, "reads")
    with app.reviews.changes.database.transaction():  # it never ends, as long as this asks
        thread = threading.Thread(target=lambda: got.append(app.people.tokens.holder(text, "api")), daemon=True)
        got: list[Actor] = []
        thread.start()
        thread.join(60)
        assert [actor.id for actor in got] == ["author"]
    assert sql(app, "SELECT used FROM tokens WHERE name = 'reads'")[-1] == ("",), "its use was not written down"
    app.people.tokens.holder(text, "api")
    assert sql(app, "SELECT used FROM tokens WHERE name = 'reads'")[-1] != ("",), "the next one is"


def test_who_came_lately_reads_on_while_the_database_is_silent(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    text, tokens = token_of(app, "known"), app.people.tokens
    tokens.holder(text, "api")
    new = token_of(app, "new")
    token_of(app, "revoked")

    def silence(*_: object) -> Any:
        raise Unavailable("The database cannot be reached.")

    with monkeypatch.context() as patch:
        patch.setattr(type(tokens.database.tokens), "by_prefix", silence)
        assert tokens.holder(text, "api").id == "author"
        tokens.revoke(AUTHOR, next(row.id for row in tokens.listed(AUTHOR, "author") if row.name == "revoked"))
        with pytest.raises(Unavailable):
            tokens.holder(text, "api")  # something was revoked here, so nobody is believed
    tokens.holder(text, "api")
    monkeypatch.setattr(type(tokens.database.tokens), "by_prefix", silence)
    assert tokens.holder(text, "api").id == "author"
    with pytest.raises(Unavailable):
        tokens.holder(new, "api")
    now = tokens._known.now() + GRACE + 1
    monkeypatch.setattr(tokens._known, "now", lambda: now)
    with pytest.raises(Unavailable):
        tokens.holder(text, "api")


def test_a_question_is_not_kept_where_the_database_is_silent_and_the_search_does_not_fail(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    def silence(*_: object) -> Any:
        raise Unavailable("The database cannot be reached.")

    monkeypatch.setattr(type(app.search.queries.database.queries), "opted_out", silence)
    assert app.search.queries.keep(AUTHOR, "how long are records kept") is False


@pytest.mark.parametrize("when", ["while it is recorded", "after it is recorded"])
def test_a_merge_that_reached_main_is_never_called_undone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    app = small_app(tmp_path / "home", NoProcesses())
    put(app, {"a.md": "# Note\n\nFirst line.\n"})
    number = proposed(app, "b.md", "# B\n\nText.\n")
    failed: list[str] = []

    def once(real: Any) -> Any:
        def call(*arguments: Any) -> Any:
            if not failed:
                failed.append(when)
                raise ConnectionLost("The connection was lost. What was not finished was undone: try again.")
            return real(*arguments)

        return call

    if when == "while it is recorded":
        monkeypatch.setattr(Merger, "_record", once(Merger._record))
    else:
        app.reviews.merger.events.moved.then(once(lambda actor: None))
    merged = app.reviews.merger.merge(REVIEWER, number)
    assert (merged.state, failed) == ("merged", [when])
    assert merged.merged == app.knowledge.repository.head() == app.reviews.changes.get(number).merged


def test_the_shared_repository_is_looked_at_before_a_lock_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = node(tmp_path, "one", bare(tmp_path / "kb.git"))
    put(app, {"a.md": "# Note\n\nFirst line.\n"})
    number, clone, free = proposed(app, "b.md", "# B\n\nText.\n"), app.knowledge.repository.clone, list[bool]()
    assert clone
    follow = clone.follow

    def looked() -> bool:
        lock = try_flock(tmp_path / "app.lock")
        free.append(lock is not None)
        if lock is not None:
            os.close(lock)
        return follow()

    monkeypatch.setattr(clone, "follow", looked)
    app.reviews.discussion.comment(AUTHOR, number, "Well.")
    assert free
    assert all(free), "a repository that hangs holds up nobody who asks nothing of it"


def test_writers_of_different_changes_do_not_wait_for_each_other(postgres: Server) -> None:
    one, other = PostgresDatabase(make_url(postgres.url())), PostgresDatabase(make_url(postgres.url()))
    with one.transaction(MAIN_LOCK, lock_of(1)) as state:
        with other.transaction(lock_of(2)) as beside:
            beside.hold(lock_of(3))
        with other.within(300), other.transaction():
            pass
        state.hold(lock_of(4))
        with other._unlocked() as connection:
            connection.exec_driver_sql("SET LOCAL lock_timeout = '10ms'")
            with pytest.raises(Unavailable, match="The database has been busy"):
                other._hold(connection, lock_of(4))
    for database in (one, other):
        database.engine.dispose()


def waiting(database: PostgresDatabase) -> threading.Thread:
    """Somebody who would wait for an hour for a job, were nobody to tell."""
    thread = threading.Thread(target=database.wait, args=(JOB_WAITS, threading.Event(), 3600.0), daemon=True)
    thread.start()
    return thread


def test_whoever_waits_is_told_at_once_and_looks_by_itself_where_the_connection_is_lost(
    postgres: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notices, "AGAIN", 0.01)
    one, other = PostgresDatabase(make_url(postgres.url())), PostgresDatabase(make_url(postgres.url()))
    until(lambda: one.wait(JOB_WAITS, threading.Event(), 0.01) or one.notices.listening)
    one.wait(JOB_WAITS, threading.Event(), 0.0)  # the look that everybody takes once there is somebody who tells
    thread = waiting(one)
    other.notify(REPOSITORY_MOVED)
    assert one.notices.told[REPOSITORY_MOVED].wait(60)
    assert thread.is_alive(), "each waits for its own topic"
    other.notify(JOB_WAITS)
    thread.join(60)
    assert not thread.is_alive()
    thread = waiting(one)
    with other._reading() as connection:
        connection.exec_driver_sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'concord notices'"
        )
    thread.join(60)
    assert not thread.is_alive(), "what was told meanwhile is unknown"
    until(lambda: one.wait(JOB_WAITS, threading.Event(), 0.01) or one.notices.listening)
    for database in (one, other):
        database.notices.close()
        database.engine.dispose()


class Pooler:
    """A connection through a pooler, which takes LISTEN and passes no notices."""

    def execute(self, *_: object) -> Pooler:
        return self

    def fetchone(self) -> tuple[str]:
        return ("public",)

    def notifies(self, timeout: float) -> Iterator[Any]:
        return iter(())


def test_a_pooler_that_passes_no_notices_is_not_relied_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notices, "AGAIN", 0.0)
    tries: list[int] = []

    def connect() -> Any:
        tries.append(1)
        return nullcontext(Pooler())

    told, never = notices.Notices(connect), threading.Event()
    while len(tries) < 3:
        assert told.wait(JOB_WAITS, never, 0.001) is False
    told.close()
    assert not told.listening, "whoever waits looks as often as without it"


def test_a_node_says_that_it_leaves_before_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "LEAVING", threading.Event())
    ended: list[tuple[int, bool]] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: ended.append((number, listening.LEAVING.is_set())))
    asked = {"type": "http", "path": "/_stcore/health", "method": "GET", "query_string": b"", "server": ("x", 80)}

    async def leaving() -> object:
        listening.leave_slowly(0.0)
        assert Guard(None).refusal(asked, [(b"host", "x")]) is None
        with listening.under_way():
            os.kill(os.getpid(), signal.SIGTERM)
            while not listening.LEAVING.is_set():
                await asyncio.sleep(0.001)
            for _ in range(3):
                await asyncio.sleep(0.001)
            assert not ended, "whoever waits for an answer gets it"
        while not ended:
            await asyncio.sleep(0.001)
        return Guard(None).refusal(asked, [(b"host", "x")])

    assert listening.farewell() == ()
    try:
        assert asyncio.run(asyncio.wait_for(leaving(), 300)) == (404, "This node is leaving.")
        assert dict(listening.farewell())[b"set-cookie"].startswith(b"concord_node=;"), "its people go to another node"
        assert ended == [(signal.SIGTERM, True)]
    finally:
        signal.signal(signal.SIGTERM, before)
