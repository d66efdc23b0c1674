"""Vectors by model and content, in one SQLite file that several processes share: nothing is embedded twice.

Every entry carries a checksum. One that does not fit is not given back, so it is computed and kept anew.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from core.adapters.system.files import cache_file, damaged_cache
from core.errors import StorageFailed, storing
from core.storage.cache.shipped import KEY, ShippedVectors
from core.types import Damage

if TYPE_CHECKING:
    import numpy as np

_SLICE = 500

_SCHEMA = "vectors (model TEXT, text BLOB, vector BLOB, sum BLOB, PRIMARY KEY (model, text))"


class EmbeddingCache:
    """Keeps vectors, and gives back the ones it knows, and those that came along with the starter knowledge base."""

    def __init__(self, path: Path, shipped: ShippedVectors | None = None) -> None:
        self.path, self.shipped = path, shipped

    def _connect(self) -> sqlite3.Connection:
        return cache_file(self.path, _SCHEMA)

    def get(self, model: str, texts: Sequence[str]) -> Mapping[str, np.ndarray]:
        """The vectors that are known, by text."""
        import numpy as np

        by_key = {text_key(text): text for text in texts}
        keys, found = list(by_key), {}
        with suppress(StorageFailed), storing(self.path), closing(self._connect()) as connection:
            for n in range(0, len(keys), _SLICE):
                some = keys[n : n + _SLICE]
                marks = ",".join("?" * len(some))
                for key, blob, kept in connection.execute(
                    f"SELECT text, vector, sum FROM vectors WHERE model = ? AND text IN ({marks})", (model, *some)
                ):
                    if kept == _sum(model, key, blob):
                        found[by_key[key]] = np.frombuffer(blob, dtype=np.float32)
        return found if len(found) == len(keys) or not self.shipped else found | self._shipped(model, by_key, found)

    def _shipped(
        self, model: str, by_key: Mapping[bytes, str], found: Mapping[str, np.ndarray]
    ) -> dict[str, np.ndarray]:
        missing = [key for key, text in by_key.items() if text not in found]
        rows = self.shipped.get(model, missing) if self.shipped else {}
        return {by_key[key]: row for key, row in rows.items()}

    def put(self, model: str, vectors: Mapping[str, np.ndarray]) -> None:
        import numpy as np

        blobs = [(text_key(text), np.asarray(vector, dtype=np.float32).tobytes()) for text, vector in vectors.items()]
        rows = [(model, key, blob, _sum(model, key, blob)) for key, blob in blobs]
        with storing(self.path), closing(self._connect()) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)", rows)
            connection.execute("COMMIT")

    def damaged(self) -> list[Damage]:
        """Whether the file or entries of it are damaged."""
        return damaged_cache(self.path, "vectors", self._wrong)

    def _wrong(self, connection: sqlite3.Connection) -> int:
        rows = connection.execute("SELECT model, text, vector, sum FROM vectors")
        return sum(kept != _sum(model, key, blob) for model, key, blob, kept in rows)


def _sum(model: str, key: bytes, blob: bytes) -> bytes:
    return hashlib.blake2b(b"%s\0%s%s" % (model.encode(), key, blob), digest_size=8).digest()


def text_key(text: str) -> bytes:
    """What names a text: the same for the same content."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:KEY]
