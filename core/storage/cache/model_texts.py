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


class TextCache:
    """The `Texts` port: contexts that a model wrote for chunks, and whole answers as JSON."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def _connect(self) -> sqlite3.Connection:
        return cache_file(self.path, _SCHEMA)

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


def _sum(key: str, text: str) -> bytes:
    packed = f"{key}\0{text}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(packed, digest_size=8).digest()
