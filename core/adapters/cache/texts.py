"""Texts by key, in one SQLite file that several processes share: what a model wrote is not asked for twice."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from core.adapters.system.files import cache_file
from core.errors import StorageFailed, storing

_SCHEMA = "texts (key TEXT PRIMARY KEY, text TEXT)"
_ANSWERS = """
    INSERT OR IGNORE INTO texts SELECT key, json_object(
        'text', text, 'model', model, 'input_tokens', input, 'output_tokens', output) FROM answers
"""


class TextCache:
    """The `Texts` port: contexts that a model wrote for chunks, and whole answers as JSON."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._current = False

    def _connect(self) -> sqlite3.Connection:
        connection = cache_file(self.path, _SCHEMA)
        if not self._current:
            _adopt_answers(connection)
            self._current = True
        return connection

    def get(self, key: str) -> str | None:
        """The text that was kept, if any."""
        with suppress(StorageFailed), storing(self.path), closing(self._connect()) as connection:
            row = connection.execute("SELECT text FROM texts WHERE key = ?", (key,)).fetchone()
            return str(row[0]) if row else None
        return None

    def put(self, key: str, text: str) -> None:
        """Keep a text."""
        with storing(self.path), closing(self._connect()) as connection:
            connection.execute("INSERT OR REPLACE INTO texts VALUES (?, ?)", (key, text))


def _adopt_answers(connection: sqlite3.Connection) -> None:
    """Answers once had a table of their own; they were paid for, so they move."""
    connection.execute("BEGIN IMMEDIATE")
    if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'answers'").fetchone():
        connection.execute(_ANSWERS)
        connection.execute("DROP TABLE answers")
    connection.execute("COMMIT")
