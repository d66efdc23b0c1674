"""Vectors by model and content, in one SQLite file that several processes share: nothing is embedded twice."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path

import numpy as np

from core.adapters.system.files import cache_file
from core.errors import StorageFailed, storing

_SLICE = 500

_SCHEMA = "vectors (model TEXT, text BLOB, vector BLOB, PRIMARY KEY (model, text))"


class EmbeddingCache:
    """Keeps vectors, and gives back the ones it knows."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def _connect(self) -> sqlite3.Connection:
        return cache_file(self.path, _SCHEMA)

    def get(self, model: str, texts: Sequence[str]) -> Mapping[str, np.ndarray]:
        """The vectors that are known, by text."""
        by_key = {_key(text): text for text in texts}
        keys, found = list(by_key), {}
        with suppress(StorageFailed), storing(self.path), closing(self._connect()) as connection:
            for n in range(0, len(keys), _SLICE):
                some = keys[n : n + _SLICE]
                marks = ",".join("?" * len(some))
                for key, blob in connection.execute(
                    f"SELECT text, vector FROM vectors WHERE model = ? AND text IN ({marks})", (model, *some)
                ):
                    found[by_key[key]] = np.frombuffer(blob, dtype=np.float32)
        return found

    def put(self, model: str, vectors: Mapping[str, np.ndarray]) -> None:
        """Keep vectors."""
        rows = [(model, _key(text), np.asarray(vector, dtype=np.float32).tobytes()) for text, vector in vectors.items()]
        with storing(self.path), closing(self._connect()) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)
            connection.execute("COMMIT")


def _key(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:20]
