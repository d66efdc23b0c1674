"""Texts that models wrote, by what they were asked, in one SQLite file that several processes share."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from core.adapters.system.files import cache_file

_SCHEMA = "texts (key TEXT PRIMARY KEY, text TEXT)"


class TextCache:
    """The `Texts` port."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def _connect(self) -> sqlite3.Connection:
        return cache_file(self.path, _SCHEMA)

    def get(self, key: str) -> str | None:
        """The text that was kept, if any."""
        with closing(self._connect()) as connection:
            row = connection.execute("SELECT text FROM texts WHERE key = ?", (key,)).fetchone()
        return str(row[0]) if row else None

    def put(self, key: str, text: str) -> None:
        """Keep a text."""
        with closing(self._connect()) as connection:
            connection.execute("INSERT OR REPLACE INTO texts VALUES (?, ?)", (key, text))
