"""Vectors of one segment in a LanceDB table: the durable store, and the ANN path beyond memory.

The table is written once and never changed. LanceDB is imported here only, and only by builds, by searches beyond the
exact limit and where somebody chooses it as the engine: the import alone takes two seconds.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from core.errors import BadInput

TABLE = "vec"
_HEX = re.compile(r"[0-9a-f]{16}")


def _connect(folder: Path) -> Any:
    import lancedb

    return lancedb.connect(str(folder))


def write(folder: Path, ids: Sequence[str], vectors: np.ndarray) -> None:
    """Write a segment's vectors: one per id."""
    _connect(folder).create_table(TABLE, _rows(ids, vectors))


def _rows(ids: Sequence[str], vectors: np.ndarray) -> pa.Table:
    width = vectors.shape[1]
    schema = pa.schema(
        [pa.field("id", pa.string(), nullable=False), pa.field("vector", pa.list_(pa.float32(), width), nullable=False)]
    )
    flat = pa.array(np.ascontiguousarray(vectors, dtype=np.float32).ravel())
    return pa.table([pa.array(ids, pa.string()), pa.FixedSizeListArray.from_arrays(flat, width)], schema=schema)


def _quoted(ids: Sequence[str]) -> list[str]:
    """Only hex ids reach a `where` clause."""
    for value in ids:
        if not _HEX.fullmatch(value):
            raise BadInput(f"{value!r} is not a chunk id.")
    return [f"'{value}'" for value in ids]


def read(folder: Path) -> tuple[list[str], np.ndarray]:
    """Every id with its vector, in the order of ids."""
    rows = table(folder).to_arrow().sort_by("id")
    width = rows.schema.field("vector").type.list_size
    flat = rows["vector"].combine_chunks().flatten().to_numpy(zero_copy_only=False)
    return rows["id"].to_pylist(), flat.reshape(-1, width)


def build_ann(folder: Path, rows: int) -> None:
    """An IVF index with unquantised vectors: the best recall for its build time."""
    from lancedb.index import IvfFlat

    kind = IvfFlat(distance_type="cosine", num_partitions=max(16, int(rows**0.5) // 2))
    table(folder).create_index("vector", config=kind)


def search_ann(folder: Path, query: np.ndarray, depth: int, probes: int = 40) -> tuple[list[str], list[float]]:
    """Ids and cosines of the nearest vectors by the ANN index."""
    pairs = _distances(_cosine(table(folder), query).nprobes(probes).limit(depth))
    return [chunk for chunk, _ in pairs], [1.0 - distance for _, distance in pairs]


def table(folder: Path) -> Any:
    """A segment's table; threads may share it."""
    return _connect(folder).open_table(TABLE)


def nearest(table: Any, query: np.ndarray, depth: int) -> list[tuple[str, float]]:
    """Ids of the nearest vectors with their cosine distance, by exact search."""
    return _distances(_cosine(table, query).bypass_vector_index().limit(depth))


def distances(table: Any, query: np.ndarray, ids: Sequence[str]) -> list[tuple[str, float]]:
    """The cosine distance of some vectors, nearest first."""
    chosen = f"id IN ({', '.join(_quoted(ids))})"
    return _distances(_cosine(table, query).bypass_vector_index().where(chosen, prefilter=True).limit(len(ids)))


def _cosine(table: Any, query: np.ndarray) -> Any:
    return table.search(query, vector_column_name="vector").distance_type("cosine").select(["id", "_distance"])


def _distances(search: Any) -> list[tuple[str, float]]:
    rows = search.to_arrow()
    return list(zip(rows["id"].to_pylist(), rows["_distance"].to_pylist(), strict=True))
