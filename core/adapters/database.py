"""Relational state in SQLite: numbered migrations, write-ahead log, full sync. One connection per use."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

MIGRATIONS: tuple[str, ...] = (
    """
    CREATE TABLE jobs (
        id INTEGER PRIMARY KEY, kind TEXT NOT NULL, arguments TEXT NOT NULL, state TEXT NOT NULL, done INTEGER NOT NULL DEFAULT 0,
        total INTEGER NOT NULL DEFAULT 0, message TEXT NOT NULL DEFAULT '', error TEXT NOT NULL DEFAULT '', result TEXT NOT NULL DEFAULT '',
        attempts INTEGER NOT NULL DEFAULT 0, cancel INTEGER NOT NULL DEFAULT 0, created TEXT NOT NULL, started TEXT NOT NULL DEFAULT '', ended TEXT NOT NULL DEFAULT ''
    );
    CREATE INDEX jobs_state ON jobs (state);
    """,
    """
    CREATE TABLE gaps (
        id INTEGER PRIMARY KEY, query TEXT NOT NULL, note TEXT NOT NULL DEFAULT '', who TEXT NOT NULL, hits INTEGER NOT NULL,
        commit_id TEXT NOT NULL DEFAULT '', created TEXT NOT NULL, closed TEXT NOT NULL DEFAULT ''
    );
    """,
    """
    CREATE TABLE querysets (
        id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, about TEXT NOT NULL DEFAULT '', guidelines TEXT NOT NULL DEFAULT '',
        who TEXT NOT NULL DEFAULT '', created TEXT NOT NULL
    );
    CREATE TABLE queryset_questions (
        queryset INTEGER NOT NULL REFERENCES querysets (id), id TEXT NOT NULL, place INTEGER NOT NULL, text TEXT NOT NULL,
        category TEXT NOT NULL DEFAULT '', PRIMARY KEY (queryset, id)
    );
    CREATE TABLE queryset_judgments (
        id INTEGER PRIMARY KEY, queryset INTEGER NOT NULL REFERENCES querysets (id), question TEXT NOT NULL, path TEXT NOT NULL,
        heading TEXT NOT NULL DEFAULT '[]', quote TEXT NOT NULL DEFAULT '', grade REAL NOT NULL, source TEXT NOT NULL,
        judge TEXT NOT NULL DEFAULT '', created TEXT NOT NULL, UNIQUE (queryset, question, path, heading, quote, source, judge)
    );
    CREATE TABLE runs (
        id TEXT PRIMARY KEY, queryset TEXT NOT NULL, queryset_digest TEXT NOT NULL, unit TEXT NOT NULL, search TEXT NOT NULL,
        profile TEXT NOT NULL, config TEXT NOT NULL, generation INTEGER NOT NULL, commit_id TEXT NOT NULL, facts TEXT NOT NULL,
        results BLOB NOT NULL, created TEXT NOT NULL
    );
    CREATE INDEX runs_queryset ON runs (queryset, created);
    CREATE TABLE rankings (search TEXT NOT NULL, query TEXT NOT NULL, result BLOB NOT NULL, PRIMARY KEY (search, query));
    """,
)


class Database:
    """The `Database` port."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def create(self) -> None:
        """Bring the file to the newest form; each migration is applied once, in a transaction."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._connection() as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("BEGIN IMMEDIATE")
            done = connection.execute("PRAGMA user_version").fetchone()[0]
            for number, script in enumerate(MIGRATIONS[done:], done + 1):
                for statement in filter(str.strip, script.split(";")):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {number}")
            connection.execute("COMMIT")

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        connection = sqlite3.connect(self.path, timeout=60, isolation_level=None)
        try:
            connection.row_factory = sqlite3.Row
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            yield connection
        finally:
            connection.close()

    def query(self, sql: str, values: Sequence[Any] = ()) -> list[dict[str, Any]]:
        """Rows as plain dicts."""
        with self._connection() as connection:
            return [dict(row) for row in connection.execute(sql, values)]

    def execute(self, sql: str, values: Sequence[Any] = ()) -> int:
        """One statement in its own transaction; the number of rows it changed."""
        with self._connection() as connection:
            return connection.execute(sql, values).rowcount

    def insert(self, sql: str, values: Sequence[Any] = ()) -> int:
        """One insert; the id of the new row."""
        with self._connection() as connection:
            return int(connection.execute(sql, values).lastrowid or 0)

    @contextmanager
    def transaction(self) -> Iterator[Callable[..., list[dict[str, Any]]]]:
        """Several statements that happen together or not at all; the block gets `run(sql, values) -> rows`."""
        with self._connection() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield lambda sql, values=(): [dict(row) for row in connection.execute(sql, values)]
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    def check(self) -> tuple[str, ...]:
        """What SQLite finds wrong with its file; nothing when all is well."""
        rows = self.query("PRAGMA integrity_check")
        return tuple(str(row["integrity_check"]) for row in rows if row["integrity_check"] != "ok")
