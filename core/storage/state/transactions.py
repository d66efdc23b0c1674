"""How statements run: each in a transaction of its own, or all of them inside one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from importlib import import_module
from typing import Any, ClassVar, Generic, TypeVar

from sqlalchemy import Connection, Executable, Float, Insert, Table, bindparam, insert, select, update
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from core.errors import Unavailable

Value = TypeVar("Value")
Kind = TypeVar("Kind")
Connect = Callable[[], AbstractContextManager[Connection]]
Spare = Callable[[], AbstractContextManager[Connection | None]]


class seconds_now(FunctionElement[float]):  # noqa: N801  named like the other functions of SQL
    """The clock of the database, so that nodes with other clocks agree on what has run out."""

    type = Float()
    inherit_cache = True


@compiles(seconds_now, "sqlite")
def _sqlite_now(*_: Any, **__: Any) -> str:
    return "((julianday('now') - 2440587.5) * 86400.0)"


@compiles(seconds_now, "postgresql")
def _postgres_now(*_: Any, **__: Any) -> str:
    return "CAST(EXTRACT(EPOCH FROM clock_timestamp()) AS DOUBLE PRECISION)"


class ConnectionLost(Unavailable):
    """The server ended a connection in the middle; what was under way was undone."""


class Statements:
    """Runs what the repositories ask. A select reads; everything else waits for its turn to write."""

    def __init__(
        self,
        reading: Connect,
        writing: Connect,
        beside: Connect | None = None,
        spare: Spare | None = None,
        *,
        alone: bool = True,
    ) -> None:
        """`alone` says that each statement has a connection of its own; inside a transaction they share one."""
        self._reading, self._writing, self._unlocked = reading, writing, beside or writing
        self._spare: Spare = spare or writing
        self._alone = alone

    def rows(self, kind: type[Kind], statement: Executable, **values: Any) -> list[Kind]:
        """All rows, as objects of a class of `records.py` that has the columns of the statement."""

        def read(connection: Connection) -> list[Kind]:
            result = connection.execute(statement, values)
            return list(_objects(kind, tuple(result.keys()), result))

        return self._ask(read)

    def first(self, kind: type[Kind], statement: Executable, **values: Any) -> Kind | None:
        """The first row, if there is one."""
        rows = self.rows(kind, statement, **values)
        return rows[0] if rows else None

    def column(self, statement: Executable, **values: Any) -> list[Any]:
        """The first column of every row."""
        return self._ask(lambda connection: list(connection.execute(statement, values).scalars()))

    def pairs(self, statement: Executable, **values: Any) -> dict[Any, Any]:
        """The first column to the second."""

        def read(connection: Connection) -> dict[Any, Any]:
            rows = connection.execute(statement, values)
            return {key: value for key, value in rows}  # noqa: C416  dict() takes 2,000 rows apart in 10 ms, this in 8

        return self._ask(read)

    def value(self, statement: Executable, **values: Any) -> Any:
        """The first column of the first row; None where there is no row."""
        return self._ask(lambda connection: connection.execute(statement, values).scalar())

    def _ask(self, read: Callable[[Connection], Value]) -> Value:
        """Read, and once more if the server restarted; a transaction ends with its connection."""
        try:
            with self._reading() as connection:
                return read(connection)
        except ConnectionLost:
            if not self._alone:
                raise
            with self._reading() as connection:
                return read(connection)

    def change(self, statement: Executable, **values: Any) -> int:
        """Run an update or a delete; the number of rows that it changed."""
        with self._writing() as connection:
            return int(connection.execute(statement, values).rowcount)

    def note(self, statement: Executable, **values: Any) -> None:
        """Run an update that may be left out: where somebody else writes just now, or the database is silent, it is."""
        with suppress(Unavailable), self._spare() as connection:
            if connection is not None:
                connection.execute(statement, values)

    def take(self, statement: Executable, **values: Any) -> list[Any]:
        """Run an update that returns a column of the rows it changed, without waiting for unrelated writers."""
        with self._unlocked() as connection:
            return list(connection.execute(statement, values).scalars())

    def insert(self, table: Table, **values: Any) -> None:
        """Insert one row that has its own key."""
        with self._writing() as connection:
            connection.execute(insert(table), values)

    def add(self, table: Table, **values: Any) -> int:
        """Insert one row; the id that the database gave it."""
        with self._writing() as connection:
            (number,) = connection.execute(insert(table), values).inserted_primary_key or (0,)
            return int(number)

    def upsert(
        self,
        table: Table,
        rows: Sequence[Mapping[str, Any]],
        key: Sequence[str] = (),
        new: Sequence[str] | None = None,
    ) -> None:
        """Insert rows; if the key exists, replace its columns `new`: all that are given, or none for ()."""
        if rows:
            key = key or [column.name for column in table.primary_key]
            new = [name for name in rows[0] if name not in key] if new is None else new
            with self._writing() as connection:
                connection.execute(_upsert(connection.dialect.name, table, key, new), [dict(row) for row in rows])


def _upsert(dialect: str, table: Table, key: Sequence[str], new: Sequence[str]) -> Insert:
    """SQLite and PostgreSQL spell `ON CONFLICT` alike, but SQLAlchemy gives each a construct of its own."""
    statement = import_module(f"sqlalchemy.dialects.{dialect}").insert(table)
    if not new:
        return statement.on_conflict_do_nothing(index_elements=key)  # type: ignore[no-any-return]
    replaced = {name: statement.excluded[name] for name in new}
    return statement.on_conflict_do_update(index_elements=key, set_=replaced)  # type: ignore[no-any-return]


def _objects(kind: type[Kind], names: tuple[str, ...], rows: Iterable[Sequence[Any]]) -> Iterator[Kind]:
    """A row as an object, at the price of a dict: the constructor of a frozen class takes five times as long."""
    fields: dict[str, Any] = kind.__dataclass_fields__  # type: ignore[attr-defined]
    flags = tuple(name for name in names if fields[name].type == "bool")
    for row in rows:
        made = object.__new__(kind)
        values = made.__dict__
        values.update(zip(names, row, strict=True))
        for name in flags:
            values[name] = bool(values[name])
        yield made


class StoredRows:
    """What can be asked of a table, or of some that belong together."""

    def __init__(self, statements: Statements) -> None:
        self._run = statements


class NumberedRows(StoredRows, Generic[Kind]):
    """The same where the database numbers the rows."""

    kind: type[Kind]
    table: ClassVar[Table]
    _by_id: ClassVar[Executable]

    def __init_subclass__(cls) -> None:
        cls._by_id = select(cls.table).where(cls.table.c.id == bindparam("number"))

    def get(self, number: int) -> Kind | None:
        return self._run.first(self.kind, self._by_id, number=number)

    def add(self, **values: Any) -> int:
        """A new one; its number."""
        return self._run.add(self.table, **values)

    def set(self, number: int, **values: Any) -> None:
        self._run.change(update(self.table).where(self.table.c.id == number).values(**values))
