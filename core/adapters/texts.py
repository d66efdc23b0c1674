"""Texts that models wrote, by what they were asked, in one SQLite file that several processes share."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path


class TextCache:
    """The `Texts` port."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def _connect(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(self.path, timeout=60, isolation_level=None)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("CREATE TABLE IF NOT EXISTS texts (key TEXT PRIMARY KEY, text TEXT) WITHOUT ROWID")
        return connection

    def get(self, key: str) -> str | None:
        """The text that was kept, if any."""
        with closing(self._connect()) as connection:
            row = connection.execute("SELECT text FROM texts WHERE key = ?", (key,)).fetchone()
        return str(row[0]) if row else None

    def put(self, key: str, text: str) -> None:
        """Keep a text."""
        with closing(self._connect()) as connection:
            connection.execute("INSERT OR REPLACE INTO texts VALUES (?, ?)", (key, text))
