"""Texts by key, in one SQLite file that several processes share: what a model wrote is not asked for twice."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path

from core.adapters.system.files import cache_file, damaged_cache
from core.errors import StorageFailed, storing
from core.types import Damage

_SLICE = 500
_SCHEMA = "texts (key TEXT PRIMARY KEY, text TEXT, sum BLOB)"
_ANSWERS = """
    INSERT OR IGNORE INTO texts (key, text) SELECT key, json_object(
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
            _adopt(connection)
            self._current = True
        return connection

    def get(self, key: str) -> str | None:
        """The text that was kept, if any."""
        return self.some([key]).get(key)

    def some(self, keys: Sequence[str]) -> dict[str, str]:
        """Those that were kept, by key."""
        found: dict[str, str] = {}
        with suppress(StorageFailed), storing(self.path), closing(self._connect()) as connection:
            for n in range(0, len(keys), _SLICE):
                some = keys[n : n + _SLICE]
                asked = f"SELECT key, text, sum FROM texts WHERE key IN ({','.join('?' * len(some))})"
                rows = connection.execute(asked, some).fetchall()
                found |= {key: str(text) for key, text, kept in rows if kept == _sum(key, text)}
        return found

    def put(self, key: str, text: str) -> None:
        self.keep({key: text})

    def keep(self, texts: Mapping[str, str]) -> None:
        """Keep texts, all or none of them."""
        rows = [(key, text, _sum(key, text)) for key, text in texts.items()]
        with storing(self.path), closing(self._connect()) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany("INSERT OR REPLACE INTO texts VALUES (?, ?, ?)", rows)
            connection.execute("COMMIT")

    def damaged(self) -> list[Damage]:
        """Whether the file or entries of it are damaged."""
        return damaged_cache(self.path, "texts", self._wrong)

    def _wrong(self, connection: sqlite3.Connection) -> int:
        return sum(
            kept != _sum(key, text) for key, text, kept in connection.execute("SELECT key, text, sum FROM texts")
        )


def _adopt(connection: sqlite3.Connection) -> None:
    """Answers once had a table of their own, and texts no checksum; they were paid for, so they move."""
    connection.execute("BEGIN IMMEDIATE")
    connection.create_function("entry_sum", 2, _sum, deterministic=True)
    old = "sum" not in [row[1] for row in connection.execute("PRAGMA table_info(texts)")]
    if old:
        connection.execute("ALTER TABLE texts ADD COLUMN sum BLOB")
    answers = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'answers'").fetchone()
    if answers:
        connection.execute(_ANSWERS)
        connection.execute("DROP TABLE answers")
    if old or answers:
        connection.execute("UPDATE texts SET sum = entry_sum(key, text) WHERE sum IS NULL")
    connection.execute("COMMIT")


def _sum(key: str, text: str) -> bytes:
    packed = f"{key}\0{text}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(packed, digest_size=8).digest()
