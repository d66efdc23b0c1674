"""One digest per table of a SQLite file, kept up to date by every write: rows that changed by themselves show.

A digest is the XOR of the hashes of all rows, so it follows from a write alone, and no order or row number matters.
Temporary triggers keep it, inside the transaction that writes; a program that writes past Concord does not have them.
"""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Iterator

TABLE = "digests"
FORM = "sqlite_master"
_WRITES = re.compile(
    r'\s*(?:INSERT(?: OR \w+)? INTO|REPLACE INTO|UPDATE(?: OR \w+)?|DELETE FROM)\s+"?(?P<table>\w+)', re.I
)


def register(connection: sqlite3.Connection) -> None:
    """Teach a connection to hash a row."""
    connection.create_function("digest", -1, digest, deterministic=True)


def digest(total: int, *values: object) -> int:
    """`total` with a row added, or taken away again.

    >>> once = digest(0, "ann", 1, 2.5, None, b"x")
    >>> digest(once, "ann", 1.0, 2.5, None, b"x"), digest(0, "a", "b") == digest(0, "ab", "")
    (0, False)
    """
    row = hashlib.blake2b(digest_size=8)
    for value in values:
        kind, data = _packed(value)
        row.update(b"%s%d:" % (kind, len(data)))
        row.update(data)
    return total ^ int.from_bytes(row.digest(), "big", signed=True)


def _packed(value: object) -> tuple[bytes, bytes]:
    """SQLite may keep a whole number in a column of reals, so both are packed alike."""
    if isinstance(value, bytes):
        return b"b", value
    if isinstance(value, (int, float)):
        return b"n", (repr(float(value)) if abs(value) < 2**53 else str(value)).encode()
    return b"t", str(value).encode("utf-8", "surrogatepass")


def names(connection: sqlite3.Connection) -> set[str]:
    return {row[0] for row in connection.execute("SELECT name FROM main.sqlite_master WHERE type = 'table'")}


def _columns(connection: sqlite3.Connection, name: str) -> list[str]:
    return [column[1] for column in connection.execute(f'PRAGMA main.table_info("{name}")')]


def tables(connection: sqlite3.Connection) -> dict[str, list[str]]:
    """Every table that has a digest, with its columns; the form of the file is one of them."""
    kept = {
        name: _columns(connection, name)
        for name in sorted(names(connection))
        if name != TABLE and not name.startswith("sqlite_")
    }
    return {**kept, FORM: ["type", "name", "tbl_name", "sql"]}


def watch(connection: sqlite3.Connection, statement: str, known: dict[str, tuple[str, ...]]) -> None:
    """Keep the digest of the table that a statement writes up to date; `known` remembers what that takes.

    Triggers for all tables would cost every new connection 17 ms. A rollback drops the triggers of its transaction, so
    they are created again each time.
    """
    if not (written := _WRITES.match(statement)):
        return
    name = written["table"]
    if name not in known:
        columns = [] if name == TABLE or name.startswith("sqlite_") else _columns(connection, name)
        known[name] = tuple(_triggers(name, columns)) if columns else ()
    for trigger in known[name]:
        connection.execute(trigger)


def _triggers(name: str, columns: list[str]) -> Iterator[str]:
    new, old = (", ".join(f'{row}."{column}"' for column in columns) for row in ("NEW", "OLD"))
    for event, change, total in (
        ("INSERT", "+ 1", f"digest(total, {new})"),
        ("UPDATE", "+ 0", f"digest(digest(total, {old}), {new})"),
        ("DELETE", "- 1", f"digest(total, {old})"),
    ):
        yield (
            f'CREATE TEMP TRIGGER IF NOT EXISTS "{name} {event}" AFTER {event} ON main."{name}" BEGIN '
            f"UPDATE {TABLE} SET rows = rows {change}, total = {total} WHERE name = '{name}'; END"
        )


def seal(connection: sqlite3.Connection) -> None:
    """Take every table as it is."""
    connection.execute(f"DELETE FROM {TABLE}")
    connection.executemany(
        f"INSERT INTO {TABLE} VALUES (?, ?, ?)",
        [(name, *now(connection, name, c)) for name, c in tables(connection).items()],
    )


def now(connection: sqlite3.Connection, name: str, columns: list[str]) -> tuple[int, int]:
    """How many rows a table has, and their digest."""
    count = total = 0
    for row in connection.execute(f'SELECT {", ".join(f"{chr(34)}{c}{chr(34)}" for c in columns)} FROM main."{name}"'):
        count, total = count + 1, digest(total, *row)
    return count, total


def differences(connection: sqlite3.Connection) -> Iterator[str]:
    """The tables that do not hold what was written."""
    kept = {name: (rows, total) for name, rows, total in connection.execute(f"SELECT name, rows, total FROM {TABLE}")}
    for name, columns in tables(connection).items():
        if kept.pop(name, None) != now(connection, name, columns):
            yield name
    yield from kept
