"""The database behind a URL: durable commits, one writer at a time, and every repository over it.

SQLite runs with a write-ahead log and full sync: what was committed survives a kill and a power cut.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, create_engine, event

from core.access import plain_address
from core.adapters.state import migrations
from core.adapters.state.evaluation import QuerySetRows, RankingRows, RunRows
from core.adapters.state.knowledge import DraftRows, GapRows
from core.adapters.state.people import AccountRows, AuditRows, SessionRows
from core.adapters.state.platform import CallRows, JobRows
from core.adapters.state.playground import GradeRows, NotebookRows
from core.adapters.state.reviews import ChangeRows, CommentRows, VerdictRows
from core.adapters.state.statements import Statements
from core.adapters.system.files import flock
from core.errors import storing

T = TypeVar("T")
_PATIENCE = 60  # seconds that SQLite waits for a lock of another program, a backup for example


class State:
    """Every repository, over statements that run alone or inside one transaction."""

    def __init__(self, statements: Statements) -> None:
        self.accounts, self.audit = AccountRows(statements), AuditRows(statements)
        self.sessions = SessionRows(statements)
        self.drafts, self.gaps = DraftRows(statements), GapRows(statements)
        self.changes = ChangeRows(statements)
        self.verdicts, self.comments = VerdictRows(statements), CommentRows(statements)
        self.grades, self.notebook = GradeRows(statements), NotebookRows(statements)
        self.querysets, self.runs = QuerySetRows(statements), RunRows(statements)
        self.rankings = RankingRows(statements)
        self.jobs, self.calls = JobRows(statements), CallRows(statements)


class Database(State):
    """The repositories of a workspace. Each call is a transaction of its own; `transaction()` joins several."""

    def __init__(self, url: str | URL) -> None:
        self.engine = create_engine(url, creator=self._connect, max_overflow=-1)
        event.listen(self.engine, "connect", _prepare)
        event.listen(self.engine, "begin", _begin)
        event.listen(self.engine, "checkin", _forget_frozen)
        self._writer = self.engine.execution_options(writing=True)
        self.path = Path(str(self.engine.url.database))
        super().__init__(Statements(self._reading, self._writing))

    def _connect(self) -> sqlite3.Connection:
        """A connection; on a read-only disk SQLite cannot make its log, and must be told that nobody writes."""
        frozen = self.path.exists() and not self.path.with_name(f"{self.path.name}-wal").exists()
        if frozen and not os.access(self.path.parent, os.W_OK):
            return sqlite3.connect(
                f"{self.path.absolute().as_uri()}?immutable=1", uri=True, factory=ImmutableFile, check_same_thread=False
            )
        return sqlite3.connect(self.path, timeout=_PATIENCE, check_same_thread=False)

    @classmethod
    def file(cls, path: Path) -> Database:
        """SQLite in one file; a URL object, because a path may hold signs that mean something in a URL."""
        return cls(URL.create("sqlite", database=str(path)))

    def create(self) -> None:
        """Bring the file to the newest form; each migration is applied once, all of them or none."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._reading() as connection:
            connection.exec_driver_sql("PRAGMA journal_mode = WAL")
            current = migrations.version(connection) >= len(migrations.MIGRATIONS)
        if not current:
            with self._writing() as connection:
                migrations.upgrade(connection)

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        """Writers queue at a lock: SQLite alone lets whoever asks at the right moment go first, and some wait for ever."""
        with storing(self.path), flock(self.path.with_suffix(".lock")), self._writer.begin() as connection:
            yield connection

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with storing(self.path), self.engine.connect() as connection:
            yield connection

    @contextmanager
    def transaction(self) -> Iterator[State]:
        """Several calls that happen together or not at all: those of the repositories that the block gets."""
        with self._writing() as connection:
            joined = lambda: nullcontext(connection)
            yield State(Statements(joined, joined))

    @contextmanager
    def frozen(self, look: Callable[[], T]) -> Iterator[tuple[T, Callable[[Path], None]]]:
        """What `look` sees while nobody writes, and a function that copies the database as it was at that moment.

        Writers wait for `look` alone: the copy reads from a transaction that began then, and others go on.
        """
        with self._reading() as connection:
            with flock(self.path.with_suffix(".lock")):
                connection.exec_driver_sql("BEGIN")
                connection.exec_driver_sql("SELECT count(*) FROM sqlite_master")  # a transaction begins when it reads
                seen = look()
            yield seen, partial(copy_sqlite, connection.connection.driver_connection)

    def check(self) -> tuple[str, ...]:
        """What SQLite finds wrong with its file; nothing when all is well."""
        with self._reading() as connection:
            lines = connection.exec_driver_sql("PRAGMA integrity_check").scalars().all()
        return tuple(str(line) for line in lines if line != "ok")


class ImmutableFile(sqlite3.Connection):
    """A connection to a file that nobody can write."""


def _forget_frozen(connection: Any, record: Any) -> None:
    """The disk may be writable when it is used the next time."""
    if isinstance(connection, ImmutableFile):
        record.invalidate()


def copy_sqlite(source: Any, target: Path) -> None:
    """A database file as one connection sees it, complete without a log beside it."""
    with closing(sqlite3.connect(target, isolation_level=None)) as copy:
        source.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")


def _prepare(connection: Any, _: object) -> None:
    connection.isolation_level = None  # transactions begin where `_begin` says so, not where the driver guesses
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.create_function("plain_address", 1, plain_address, deterministic=True)  # for a migration


def _begin(connection: Connection) -> None:
    """A writer takes its lock at once: one that reads first and then writes could be refused in the middle."""
    if connection.get_execution_options().get("writing"):
        connection.exec_driver_sql("BEGIN IMMEDIATE")
