"""The database behind a URL: durable commits, one writer at a time, and every repository over it.

SQLite runs with a write-ahead log and full sync: what was committed survives a kill and a power cut.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, ExceptionContext, create_engine, event, insert, select

from core.adapters.state import migrations, tables
from core.adapters.state.evaluation import GradeRows, NotebookRows, PoolRows, QuerySetRows, RankingRows, RunRows
from core.adapters.state.knowledge import (
    DraftRows,
    FeedbackRows,
    GapRows,
    MessageRows,
    ReminderRows,
    SettlementRows,
    WatchRows,
)
from core.adapters.state.people import AccountRows, AuditRows, SessionRows, TokenRows
from core.adapters.state.platform import (
    CallRows,
    DeliveryRows,
    JobRows,
    MailChoiceRows,
    ModelCheckRows,
    RemoteRows,
    WebhookRows,
)
from core.adapters.state.questions import AnswerRows, QueryRows
from core.adapters.state.reviews import ChangeRows, CommentRows, ImpactRows, LookRows, RequestRows, VerdictRows
from core.adapters.state.statements import Statements
from core.adapters.system import digests
from core.adapters.system.files import flock
from core.errors import Corrupt, Unavailable, storing
from core.types import RESTORE, Damage

T = TypeVar("T")
_PATIENCE = 60  # seconds that SQLite waits for a lock of another program, a backup for example


_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)  # the last: a table or column is gone


@dataclass(frozen=True, slots=True)
class DatabaseFacts:
    """What a database says about itself before it is opened for work."""

    version: int = 0  # 0: there is none
    workspace: str = ""
    commit: str = ""  # named last in the audit


class State:
    """Every repository, over statements that run alone or inside one transaction."""

    def __init__(self, statements: Statements) -> None:
        self.accounts, self.audit = AccountRows(statements), AuditRows(statements)
        self.sessions, self.tokens = SessionRows(statements), TokenRows(statements)
        self.drafts, self.gaps = DraftRows(statements), GapRows(statements)
        self.changes, self.requests = ChangeRows(statements), RequestRows(statements)
        self.looks, self.impacts = LookRows(statements), ImpactRows(statements)
        self.verdicts, self.comments = VerdictRows(statements), CommentRows(statements)
        self.messages, self.feedback = MessageRows(statements), FeedbackRows(statements)
        self.watches, self.reminders = WatchRows(statements), ReminderRows(statements)
        self.settlements = SettlementRows(statements)
        self.grades, self.notebook = GradeRows(statements), NotebookRows(statements)
        self.querysets, self.runs = QuerySetRows(statements), RunRows(statements)
        self.pools = PoolRows(statements)
        self.rankings = RankingRows(statements)
        self.queries, self.answers = QueryRows(statements), AnswerRows(statements)
        self.jobs, self.calls = JobRows(statements), CallRows(statements)
        self.model_checks, self.remotes = ModelCheckRows(statements), RemoteRows(statements)
        self.deliveries, self.webhooks = DeliveryRows(statements), WebhookRows(statements)
        self.mail_choices = MailChoiceRows(statements)


class Database(State):
    """The repositories of a workspace. Each call is a transaction of its own; `transaction()` joins several."""

    def __init__(self, url: str | URL) -> None:
        self.engine = create_engine(url, creator=self._connect, max_overflow=-1)
        self.path = Path(str(self.engine.url.database))
        event.listen(self.engine, "connect", partial(_prepare, self.path))
        event.listen(self.engine, "begin", _begin)
        event.listen(self.engine, "checkin", _forget_frozen)
        event.listen(self.engine, "handle_error", _explain)
        self._writer = self.engine.execution_options(writing=True)
        self.statements = Statements(self._reading, self._writing)
        super().__init__(self.statements)

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

    def create(self, workspace: str = "") -> None:
        """Bring the file to the newest form; each migration is applied once, all of them or none.

        A file that belongs to no workspace yet gets the given one.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._reading() as connection:
            connection.exec_driver_sql("PRAGMA journal_mode = WAL")
            have = migrations.version(connection)
        if have > len(migrations.MIGRATIONS):
            raise Unavailable(f"{self.path} was written by a newer version of Concord. Update the code to open it.")
        if have < len(migrations.MIGRATIONS):
            with self._writing() as connection:
                self._upgrade(connection, workspace)

    def _upgrade(self, connection: Connection, workspace: str) -> None:
        raw = _raw(connection)
        changed = tuple(digests.differences(raw)) if digests.TABLE in digests.names(raw) else ()
        if changed:
            raise Corrupt(str(self._changed(changed)))
        migrations.upgrade(connection)
        if workspace and not connection.execute(select(tables.workspace)).first():
            connection.execute(insert(tables.workspace), {"id": workspace})
        digests.seal(raw)

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

    # ------------------------------------------------------------ damage

    def facts(self) -> DatabaseFacts:
        """What the file says about itself, in whichever form it is; nothing is written."""
        if not self.path.exists() or not self.path.stat().st_size:
            return DatabaseFacts()
        with self._reading() as connection:
            version, names = migrations.version(connection), digests.names(_raw(connection))
        numbers = (
            self.statements.pairs(select(tables.workspace.c.id, tables.workspace.c.id)) if "workspace" in names else {}
        )
        commit = self.audit.last_commit() if "audit" in names else ""
        return DatabaseFacts(version, next(iter(numbers), ""), commit)

    def damaged(self) -> list[Damage]:
        """What is wrong with the file, as far as it can be known; nothing is written."""
        try:
            with self._reading() as connection:
                return list(self._damage(connection))
        except Corrupt as error:
            return [Damage("app.db", f"cannot be read ({error})", RESTORE)]

    def _damage(self, connection: Connection) -> Iterator[Damage]:
        lines = connection.exec_driver_sql("PRAGMA integrity_check").scalars().all()
        if lines != ["ok"]:
            yield Damage("app.db", f"is damaged: {'; '.join(map(str, lines[:3]))}", RESTORE)
            return
        if migrations.version(connection) < len(migrations.MIGRATIONS):
            return  # an earlier version wrote it, without digests
        raw = _raw(connection)
        have, wanted = migrations.form(raw), migrations.newest_form()
        wrong = sorted(name for name in {*have, *wanted} if have.get(name) != wanted.get(name))
        if wrong:
            yield Damage("app.db", f"has another form than this version writes ({', '.join(wrong)})", RESTORE)
        elif changed := tuple(digests.differences(raw)):
            yield self._changed(changed)

    def _changed(self, names: Sequence[str]) -> Damage:
        accept = "If somebody changed it by hand, take it as it is with: python -m core init --accept-database"
        what = f"holds other rows than were written, in {', '.join(names)}"
        return Damage("app.db", what, f"{RESTORE}. {accept}")

    def accept(self) -> None:
        """Take every row as it is now."""
        with self._writing() as connection:
            digests.seal(_raw(connection))

    def start_changes_after(self, number: int) -> None:
        """Give changes no number that a branch or a commit has already."""
        with self._writing() as connection:
            connection.exec_driver_sql("INSERT INTO sqlite_sequence (name, seq) VALUES ('changes', ?)", (number,))


def _raw(connection: Connection) -> Any:
    return connection.connection.driver_connection


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


def _prepare(path: Path, connection: Any, _: object) -> None:
    connection.isolation_level = None  # transactions begin where `_begin` says so, not where the driver guesses
    digests.register(connection)
    migrations.register(connection)
    try:
        connection.execute("PRAGMA temp_store = MEMORY")  # for the triggers that keep the digests
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode & 0xFF in _DAMAGED:
            raise Corrupt(f"The database {path} is damaged ({error}). {RESTORE}") from None
        raise


def _begin(connection: Connection) -> None:
    """A writer takes its lock at once: one that reads first and then writes could be refused in the middle."""
    if connection.get_execution_options().get("writing"):
        if "watched" not in connection.info and migrations.version(connection) == len(migrations.MIGRATIONS):
            digests.watch(_raw(connection))
            connection.info["watched"] = True
        connection.exec_driver_sql("BEGIN IMMEDIATE")


def _explain(context: ExceptionContext) -> None:
    """A damaged file as a sentence instead of SQLite's own error."""
    code = getattr(context.original_exception, "sqlite_errorcode", None)
    if code is not None and code & 0xFF in _DAMAGED:
        path = context.engine.url.database if context.engine else "app.db"
        raise Corrupt(
            f"The database {path} is damaged ({context.original_exception}). {RESTORE}"
        ) from context.original_exception
