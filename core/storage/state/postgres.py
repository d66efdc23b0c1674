"""PostgreSQL: the same tables for several nodes, one writer at a time by an advisory lock; the server may restart."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import psycopg
from psycopg.adapt import Loader
from sqlalchemy import URL, Connection, Engine, ExceptionContext, create_engine, event, inspect
from sqlalchemy.exc import TimeoutError as PoolTimeout

from core.cures import RESTORE, run
from core.errors import BadInput, Refused, Unavailable, storing
from core.storage.state import migrations, row_copy, tables
from core.storage.state.database import Database, belong, impatient, patience
from core.storage.state.notices import BEAT, NOTIFY, Notices
from core.storage.state.sqlite import SqliteDatabase
from core.storage.state.transactions import ConnectionLost
from core.types import Damage

LOG = logging.getLogger("concord.database")
T = TypeVar("T")
_PATIENCE = 10  # seconds in which a server that restarts comes back
_SILENCE = 40  # seconds without an answer to one statement; one that waits for a lock is told sooner
_TURN = 30  # seconds that a writer waits for others
_AGAIN = 0.5  # seconds between two looks whether a server that fell silent answers
_FORGOTTEN = 60.0  # seconds after which nobody looks who was not asked
_BUSY = f"The database has been busy for {_TURN} seconds. Nothing was changed. Try again in a moment."
_FINAL = (
    "authentication failed",
    "no password supplied",
    "does not exist",
    "no pg_hba.conf entry",
    "certificate verify failed",
)
_EVERYBODY = "SELECT pg_advisory_xact_lock(hashtext('concord ' || current_schema()))"
_ONE = "SELECT pg_advisory_xact_lock(hashtext('concord ' || current_schema() || ' ' || %s))"
_NO_BACKUP = "SELECT pg_advisory_xact_lock_shared(hashtext('concord backup ' || current_schema()))"
_BACKUP = "SELECT pg_advisory_xact_lock(hashtext('concord backup ' || current_schema()))"
_SLOWLY = "SET LOCAL idle_in_transaction_session_timeout = '10min'"  # a copy of every row takes its time
_SESSION = (
    f"SET lock_timeout = '{_TURN}s'; SET idle_in_transaction_session_timeout = '20s'; "
    "SET client_min_messages = 'warning'; "
    "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3"
)  # whoever vanished or hangs gives up the lock

for _index in (index for table in tables.METADATA.tables.values() for index in table.indexes):
    _index.dialect_options["postgresql"]["where"] = _index.dialect_options["sqlite"]["where"]  # said in tables.py once


class PatientConnection(psycopg.Connection[Any]):
    """A connection that gives up on a server which takes what it is sent and never answers."""

    def wait(self, gen: Any, interval: float = 0.1, timeout: float | None = None) -> Any:
        try:
            return super().wait(gen, interval, patience(_SILENCE) if timeout is None else timeout)
        except psycopg.errors._WaitTimeout:
            if timeout is not None:
                raise
            self.pgconn.finish()
            raise psycopg.OperationalError("the server does not answer") from None


class PostgresDatabase(Database):
    """The database on a server. Another schema than `public` is named in the URL: ?options=-csearch_path%3Dname."""

    name = "database"
    on_server = True
    upgrade = run("Stop every node, save the database with pg_dump, and upgrade it", "upgrade --dumped")

    def __init__(self, url: URL) -> None:
        self.place = url.set(drivername="postgresql").render_as_string(hide_password=True)
        engine = create_engine(
            url.set(drivername="postgresql+psycopg"),
            pool_pre_ping=True,
            pool_size=5,
            max_overflow=15,
            connect_args={"connect_timeout": 5, "keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3},
        )
        event.listen(engine, "do_connect", self._connect)
        event.listen(engine, "connect", _prepare)
        event.listen(engine, "handle_error", self._explain)
        self._reader = engine.execution_options(isolation_level="AUTOCOMMIT")
        self._turn = threading.Lock()  # threads of a process wait here, without a connection each
        self._answered = False  # ever
        self._silent = threading.Event()  # as long as it is set, nobody asks who can do without
        self._refused = 0.0  # when somebody last did without
        self.notices = Notices(self._beside)
        super().__init__(engine)

    def _connect(self, dialect: Any, record: Any, positional: Any, named: Any) -> Any:
        """A connection; a server that is just restarting is waited for, but not by those who can do without."""
        self._do_without()
        end = time.monotonic() + patience(_PATIENCE)
        while True:
            try:
                connection = _dialled(patience(named["connect_timeout"]), *positional, **named)
            except psycopg.OperationalError as error:
                why = " ".join(str(error).split())
                if any(sign in why for sign in _FINAL) or time.monotonic() > end:
                    self._fall_silent()
                    raise self._unreachable(why) from None
                time.sleep(0.2)
            else:
                self._answered = True
                return connection

    def _do_without(self) -> None:
        """Refuse whoever can do without a server that is silent: one wait of all of them is enough."""
        if impatient() and self._silent.is_set():
            self._refused = time.monotonic()
            raise self._unreachable("it was silent a moment ago")

    def _fall_silent(self) -> None:
        if not self._silent.is_set():
            self._refused = time.monotonic()
            self._silent.set()
            threading.Thread(target=self._look, daemon=True).start()

    def _look(self) -> None:
        """Try until the server answers, beside those who do without it."""
        while time.monotonic() - self._refused < _FORGOTTEN:
            time.sleep(_AGAIN)
            with suppress(psycopg.Error, Unavailable), self._beside():
                break
        self._silent.clear()

    def _unreachable(self, why: str) -> Unavailable:
        """Whoever starts Concord reads the address; whoever uses it later has no business with that."""
        after = "nothing is lost, and what waits goes on once it answers."
        if not self._answered:
            return Unavailable(
                f"The database {self.place} cannot be reached ({why}). Start it, or correct CONCORD_DATABASE; {after}"
            )
        LOG.error("The database %s cannot be reached: %s", self.place, why)
        return Unavailable(f"The database cannot be reached. Try again in a moment; {after}")

    def notify(self, topic: str) -> None:
        with suppress(Unavailable), self.within(1.0), self._reading() as connection:
            connection.exec_driver_sql(NOTIFY, (topic,))

    def wait(self, topic: str, ending: threading.Event, pause: float) -> bool:
        return self.notices.wait(topic, ending, pause)

    @contextmanager
    def _beside(self) -> Iterator[PatientConnection]:
        """A connection beside the pool, whose statements are answered soon or never."""
        named = self.engine.dialect.create_connect_args(self.engine.url)[1]
        limits = {"connect_timeout": 2, "keepalives_idle": 10, "application_name": "concord notices"}
        with self.within(BEAT), PatientConnection.connect(**{**named, **limits}, autocommit=True) as connection:
            yield connection

    def create(self, workspace: str = "", *, migrate: bool = False) -> None:
        with self._reading() as connection:
            if not migrate:
                self.refuse_earlier(self._revision(connection))
            done = not self._lacks(connection)
        if done and self.facts().workspace:
            return
        with self._writing() as connection:  # nodes that start at once wait for the first
            if self._lacks(connection):
                migrations.upgrade(connection)
            belong(connection, workspace)

    @contextmanager
    def _connected(self, engine: Engine) -> Iterator[Connection]:
        self._do_without()
        with storing(self.place):
            try:
                connection = engine.connect()
            except PoolTimeout:
                raise Unavailable("Every connection to the database is in use. Try again in a moment.") from None
            with connection:
                yield connection

    @contextmanager
    def _writing(self, *locks: str) -> Iterator[Connection]:
        if not self._turn.acquire(timeout=patience(_TURN)):
            raise Unavailable(_BUSY)
        try:
            with self._unlocked() as connection:
                connection.exec_driver_sql(_NO_BACKUP if locks else _EVERYBODY)
                for lock in locks:
                    self._hold(connection, lock)
                yield connection
        finally:
            self._turn.release()

    def _hold(self, connection: Connection, lock: str) -> None:
        connection.exec_driver_sql(_ONE, (lock,))

    def _single(self) -> AbstractContextManager[Connection]:
        return self._unlocked()

    @contextmanager
    def _spare(self) -> Iterator[Connection | None]:
        with self.within(1.0), self._unlocked() as connection:
            connection.exec_driver_sql("SET LOCAL lock_timeout = '500ms'")
            yield connection

    @contextmanager
    def _unlocked(self) -> Iterator[Connection]:
        with self._connected(self.engine) as connection, connection.begin():
            yield connection

    def _reading(self) -> AbstractContextManager[Connection]:
        return self._connected(self._reader)

    @contextmanager
    def frozen(self, look: Callable[[], T]) -> Iterator[tuple[T, Callable[[Path], None]]]:
        with self._connected(self.engine.execution_options(isolation_level="REPEATABLE READ")) as snapshot:
            with self._writing() as connection:
                connection.exec_driver_sql(_BACKUP)
                snapshot.exec_driver_sql(_SLOWLY)
                snapshot.exec_driver_sql("SELECT 1")  # its snapshot is that of its first statement
                seen = look()
            yield seen, lambda target: self._copy(snapshot, target)

    def _copy(self, snapshot: Connection, target: Path) -> None:
        copy = SqliteDatabase(target)
        copy.create()
        with copy._writing() as connection:
            row_copy.copy_rows(snapshot, connection)
        copy.close()

    def refuse_taken(self) -> None:
        if self.facts().workspace:
            raise Refused(
                f"The database {self.place} holds a workspace already. Name an empty one, or drop its tables."
            )

    def load(self, file: Path) -> None:
        source = SqliteDatabase(file)
        source.create(migrate=True)  # an earlier version may have written it
        mine, given = self.facts(), source.facts()
        if (mine.workspace, mine.commit) != (given.workspace, given.commit):
            self.refuse_taken()
            with source._reading() as rows, self._writing() as connection:
                connection.exec_driver_sql(_SLOWLY)
                if self._lacks(connection):
                    migrations.upgrade(connection)
                row_copy.copy_rows(rows, connection)
        source.close()
        file.unlink()

    def damaged(self) -> list[Damage]:
        with self._reading() as connection:
            if self._lacks(connection):
                return []  # an earlier version made it
            look, names = inspect(connection), migrations.names(connection)
            lost = sorted(table.name for table in row_copy.TABLES if table.name not in names)
            for table in (table for table in row_copy.TABLES if table.name in names):
                there = {column["name"] for column in look.get_columns(table.name)}
                lost += [f"{table.name}.{name}" for name in sorted({*table.c.keys()} - there)]
        return [Damage(self.name, f"lacks {', '.join(lost)}", RESTORE)] if lost else []

    def accept(self) -> None:
        raise Refused("PostgreSQL checks its own pages and keeps no digests here, so there is nothing to accept.")

    def start_changes_after(self, number: int) -> None:
        with self._writing() as connection:
            row_copy.start_after(connection, tables.changes, number)

    def _explain(self, context: ExceptionContext) -> None:
        """What the server says, as a sentence."""
        error = context.original_exception
        if context.is_disconnect:
            self._fall_silent()
        if context.is_disconnect and not context.is_pre_ping:
            raise ConnectionLost(
                "The connection to the database was lost. What was not finished was undone: try again."
            ) from error
        if isinstance(error, psycopg.errors.LockNotAvailable):
            raise Unavailable(_BUSY) from error
        if isinstance(error, psycopg.DataError) and "NUL" in str(error):
            raise BadInput("A text holds a NUL character, which the database cannot keep. Remove it.") from error


def _dialled(seconds: float, *positional: Any, **named: Any) -> PatientConnection:
    """A connection within so many seconds; psycopg itself waits for two at least."""
    if seconds >= 2:
        return PatientConnection.connect(*positional, **{**named, "connect_timeout": round(seconds)})
    made: Future[PatientConnection] = Future()

    def dial() -> None:
        try:
            connection = PatientConnection.connect(*positional, **{**named, "connect_timeout": 2})
        except psycopg.Error as error:
            if made.set_running_or_notify_cancel():
                made.set_exception(error)
        else:
            if made.set_running_or_notify_cancel():
                made.set_result(connection)
            else:
                connection.close()  # nobody waits any more

    threading.Thread(target=dial, daemon=True).start()
    try:
        return made.result(seconds)
    except TimeoutError:
        if made.cancel():
            raise psycopg.OperationalError("the server does not answer") from None
        return made.result()


class _NumberLoader(Loader):
    """Sums and means as plain numbers; no column is a NUMERIC."""

    def load(self, data: Any) -> int | float:
        text = bytes(data)
        return float(text) if b"." in text or b"N" in text or b"I" in text else int(text)


def _prepare(connection: Any, _: object) -> None:
    connection.adapters.register_loader("numeric", _NumberLoader)
    connection.execute(_SESSION)
    connection.commit()
