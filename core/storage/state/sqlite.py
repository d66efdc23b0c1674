"""SQLite in one file of the workspace: durable commits, one writer at a time, a digest per table.

It runs with a write-ahead log and full sync: what was committed survives a kill and a power cut.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, ExceptionContext, create_engine, event

from core.adapters.system.files import PATIENCE, flock, scratch_folder, sweep, try_flock, write_ahead
from core.cures import RESTORE, run
from core.errors import Corrupt, Refused, Unavailable, storing
from core.storage.state import migrations, table_sums
from core.storage.state.database import Database, DatabaseFacts, Rehearsal, belong, patience
from core.storage.state.tables import METADATA, revision
from core.types import Damage

T = TypeVar("T")
_PATIENCE = 60  # seconds that SQLite waits for a lock of another program, a backup for example
_REHEARSAL = ".concord-upgrade-"
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)  # the last: a table or column is gone


class SqliteDatabase(Database):
    """The database in a file. A URL object holds its path, because that may hold signs that mean something in a URL."""

    name = "app.db"

    def __init__(self, path: Path) -> None:
        self.path, self.place = path, str(path)
        url = URL.create("sqlite", database=str(path))
        engine = create_engine(url, creator=self._connect, max_overflow=-1, pool_use_lifo=True)
        event.listen(engine, "connect", partial(_prepare, path))
        event.listen(engine, "checkin", _forget_frozen)
        event.listen(engine, "handle_error", _explain)
        self._writer = engine.execution_options()  # with listeners of its own, which reading need not pass
        event.listen(self._writer, "begin", _begin)
        event.listen(self._writer, "before_cursor_execute", _watch)
        super().__init__(engine)

    def _connect(self) -> sqlite3.Connection:
        """A connection; on a read-only disk SQLite cannot make its log, and must be told that nobody writes."""
        frozen = self.path.exists() and not self.path.with_name(f"{self.path.name}-wal").exists()
        if frozen and not os.access(self.path.parent, os.W_OK):
            return sqlite3.connect(
                f"{self.path.absolute().as_uri()}?immutable=1", uri=True, factory=ImmutableFile, check_same_thread=False
            )
        return sqlite3.connect(self.path, timeout=_PATIENCE, check_same_thread=False)

    def create(self, workspace: str = "", *, migrate: bool = False) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._reading() as connection:
            if not migrate:
                self.refuse_earlier(self._revision(connection))
            with _readable(self.path):
                write_ahead(_raw(connection))
            lacks = self._lacks(connection)
        if lacks:
            with self._writing() as connection:
                self._upgrade(connection, workspace)

    def _upgrade(self, connection: Connection, workspace: str) -> None:
        raw = _raw(connection)
        changed = tuple(table_sums.differences(raw)) if migrations.version(connection) else ()
        if changed:
            raise self._changed(changed).refusal()
        migrations.upgrade(connection)
        belong(connection, workspace)
        table_sums.seal(raw)

    @contextmanager
    def _writing(self, *locks: str) -> Iterator[Connection]:
        """Writers queue at a lock: SQLite alone is not fair, and some writers would wait for ever."""
        turn = flock(self.path.with_suffix(".lock"), patience=patience(PATIENCE))
        with storing(self.path), turn, self._writer.begin() as connection:
            yield connection

    @contextmanager
    def _spare(self) -> Iterator[Connection | None]:
        lock = try_flock(self.path.with_suffix(".lock"))
        if lock is None:
            yield None
            return
        try:
            with storing(self.path), self._writer.begin() as connection:
                yield connection
        finally:
            os.close(lock)

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with storing(self.path), self.engine.connect() as connection:
            yield connection

    def version(self) -> object:
        """A connection knows whether others committed, and counts what it changed itself."""
        with self._reading() as connection:
            itself, raw = connection.info.setdefault("itself", object()), _raw(connection)
            return itself, raw.execute("PRAGMA data_version").fetchone(), raw.total_changes

    @contextmanager
    def frozen(self, look: Callable[[], T]) -> Iterator[tuple[T, Callable[[Path], None]]]:
        with self._reading() as connection:
            with flock(self.path.with_suffix(".lock"), patience=PATIENCE):
                connection.exec_driver_sql("BEGIN")
                connection.exec_driver_sql("SELECT count(*) FROM sqlite_master")  # a transaction begins when it reads
                seen = look()
            yield seen, partial(copy_sqlite, connection.connection.driver_connection)

    def rehearse(self) -> Rehearsal:
        with self._reading() as connection:
            needed, have = self._lacks(connection), self._revision(connection)
        if not needed:
            return Rehearsal(have, have)
        sweep(self.path.parent, _REHEARSAL)
        with storing(self.path), scratch_folder(self.path.parent, _REHEARSAL, 0o700) as folder:
            with self.frozen(lambda: None) as (_, copy_database):
                copy_database(folder / "app.db")
            return _rehearsed(SqliteDatabase(folder / "app.db"), have)

    def counts(self) -> dict[str, int]:
        """How many rows each table has that people fill."""
        with self._reading() as connection:
            ours = sorted(({*METADATA.tables} - {table_sums.TABLE, revision.name}) & migrations.names(connection))
            return {name: int(connection.exec_driver_sql(f"SELECT count(*) FROM {name}").scalar_one()) for name in ours}

    def load(self, file: Path) -> None:
        if file == self.path:
            return  # it lies where it belongs
        self.refuse_taken()
        with closing(sqlite3.connect(file)) as source:
            copy_sqlite(source, self.path)
        file.unlink()

    def refuse_taken(self) -> None:
        if self.facts().version:
            raise Refused(f"There is a database in {self.place} already. Move it away first.")

    def retire(self) -> None:
        self.close()
        self.path.rename(
            self.path.with_name(f"{self.path.name}.moved")
        )  # whoever opens the workspace without the URL is told

    def close(self) -> None:
        """One file that is complete without a log beside it."""
        self.engine.dispose()
        with closing(sqlite3.connect(self.path, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode = DELETE")
        self.path.with_suffix(".lock").unlink(missing_ok=True)

    def facts(self) -> DatabaseFacts:
        if not self.path.exists() or not self.path.stat().st_size:
            return DatabaseFacts()
        return super().facts()

    # ------------------------------------------------------------ damage

    def damaged(self) -> list[Damage]:
        try:
            with self._reading() as connection:
                connection.exec_driver_sql("BEGIN")  # rows and digests of one moment, whoever writes meanwhile
                return list(self._damage(connection))
        except Corrupt as error:
            return [Damage("app.db", f"cannot be read ({error})", RESTORE)]

    def _damage(self, connection: Connection) -> Iterator[Damage]:
        lines = connection.exec_driver_sql("PRAGMA integrity_check").scalars().all()
        if lines != ["ok"]:
            yield Damage("app.db", f"is damaged: {'; '.join(map(str, lines[:3]))}", RESTORE)
            return
        if changed := tuple(table_sums.differences(_raw(connection))):
            yield self._changed(changed)

    def _changed(self, names: Sequence[str]) -> Damage:
        accept = run("If you changed it by hand, accept it as it is", "init --accept-database")
        what = f"holds other rows than were written, in {', '.join(names)}"
        what = "has another form than was written" if table_sums.FORM in names else what
        return Damage("app.db", what, RESTORE.or_else(accept))

    def accept(self) -> None:
        with self._writing() as connection:
            table_sums.seal(_raw(connection))

    def erase(self) -> None:
        workspace = self.facts().workspace
        with storing(self.path), flock(self.path.with_suffix(".lock"), patience=PATIENCE):
            self.engine.dispose()
            for end in ("", "-wal", "-shm"):
                self.path.with_name(f"{self.path.name}{end}").unlink(missing_ok=True)
        self.create(workspace)

    def start_changes_after(self, number: int) -> None:
        with self._writing() as connection:
            connection.exec_driver_sql("INSERT INTO sqlite_sequence (name, seq) VALUES ('changes', ?)", (number,))


def _rehearsed(copy: SqliteDatabase, have: int) -> Rehearsal:
    size, before, started = copy.path.stat().st_size, copy.counts(), time.process_time()
    copy.create(migrate=True)
    seconds, after = time.process_time() - started, copy.counts()
    faults = [*map(str, copy.damaged()), *(f"{name} lost rows" for name, rows in before.items() if after[name] < rows)]
    copy.close()
    if faults:
        raise Corrupt(f"A copy of the database does not survive the upgrade: {'; '.join(faults)}. Nothing was changed.")
    return Rehearsal(have, migrations.newest(), sum(before.values()), size, round(seconds, 3))


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
    with storing(target), closing(sqlite3.connect(target, isolation_level=None)) as copy:
        source.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")


def _prepare(path: Path, connection: Any, _: object) -> None:
    connection.isolation_level = None  # transactions begin where `_begin` says so, not where the driver guesses
    table_sums.register(connection)
    with _readable(path):
        connection.execute("PRAGMA temp_store = MEMORY")  # for the triggers that keep the digests
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")


@contextmanager
def _readable(path: object) -> Iterator[None]:
    """A damaged file as a sentence instead of SQLite's own error."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGED:
            raise Corrupt(f"The database {path} is damaged ({error}).", RESTORE) from error
        raise


def _begin(connection: Connection) -> None:
    """A writer takes its lock at once: one that reads first and then writes could be refused in the middle.

    One whose code is older than the file is refused: it would keep digests of columns that it does not know.
    """
    connection.exec_driver_sql("BEGIN IMMEDIATE")
    if connection.info.get("seen") != (seen := migrations.version(connection)):
        if seen > (newest := migrations.newest()):
            raise Unavailable(
                "The workspace was upgraded to a newer version of Concord. Start the server again with that version."
            )
        connection.info.update(seen=seen, watched={} if seen == newest else None)


def _watch(connection: Connection, _cursor: object, statement: str, *_: object) -> None:
    """Every write of a complete database keeps the digest of its table."""
    if (known := connection.info.get("watched")) is not None:
        table_sums.watch(_raw(connection), statement, known)


def _explain(context: ExceptionContext) -> None:
    """The same for a statement of SQLAlchemy's."""
    if isinstance(error := context.original_exception, sqlite3.DatabaseError):
        with suppress(sqlite3.DatabaseError), _readable(context.engine.url.database if context.engine else "app.db"):
            raise error
