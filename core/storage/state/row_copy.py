"""Every row of one database in another, of whichever kind: backups, restores and moves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, Table, func, insert, select, text

from core.storage.state.tables import METADATA, digests, revision

TABLES = tuple(table for table in METADATA.sorted_tables if table not in (digests, revision))
_BATCH = 500  # rows


def copy_rows(source: Connection, target: Connection) -> None:
    """All rows, and the last number that was given in each table, so that none is given twice."""
    for table in TABLES:
        for rows in _batches(source, table):
            target.execute(insert(table), rows)
        if _counts(table):
            start_after(target, table, _last(source, table))


def _batches(source: Connection, table: Table) -> Iterator[list[dict[str, Any]]]:
    result = source.execution_options(yield_per=_BATCH).execute(select(table))
    for rows in result.mappings().partitions(_BATCH):
        yield [{name: _storable(value) for name, value in row.items()} for row in rows]


def _storable(value: Any) -> Any:
    """PostgreSQL keeps no NUL in a text."""
    return value.replace("\0", "\ufffd") if isinstance(value, str) else value


def _counts(table: Table) -> bool:
    """Whether the database gives its rows their numbers."""
    return table.autoincrement_column is not None


def _last(connection: Connection, table: Table) -> int:
    """The last number that was given."""
    highest = int(connection.execute(select(func.max(table.c.id))).scalar() or 0)
    if connection.dialect.name == "postgresql":
        given = connection.execute(
            text("SELECT pg_sequence_last_value(CAST(pg_get_serial_sequence(:name, 'id') AS regclass))"),
            {"name": table.name},
        )
    else:
        given = connection.execute(text("SELECT seq FROM sqlite_sequence WHERE name = :name"), {"name": table.name})
    return max(highest, int(given.scalar() or 0))


def start_after(connection: Connection, table: Table, number: int) -> None:
    """Give rows of a table no number up to this one."""
    values = {"name": table.name, "number": number}
    if connection.dialect.name == "postgresql":
        if number:
            connection.execute(text("SELECT setval(pg_get_serial_sequence(:name, 'id'), :number)"), values)
    elif table.dialect_options["sqlite"]["autoincrement"]:
        connection.execute(text("DELETE FROM sqlite_sequence WHERE name = :name"), values)
        connection.execute(text("INSERT INTO sqlite_sequence (name, seq) VALUES (:name, :number)"), values)
