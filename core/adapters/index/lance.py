"""Vectors of one generation in a LanceDB table: the durable store, and the ANN path beyond memory.

A later build starts from the parent's files: data files are hard-linked (Lance only ever adds files), small
bookkeeping files are copied, then changed rows are deleted and new ones added. LanceDB is imported here only,
and only by builds, by searches beyond the exact limit and where somebody chooses it as the engine: the import alone
takes two seconds.
"""

from __future__ import annotations

import os
import re
import shutil
import warnings
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from core.errors import BadInput

TABLE = "vec"
_MAX_FRAGMENTS = 24
_HEX = re.compile(r"[0-9a-f]{16}")


def _connect(folder: Path) -> Any:
    import lancedb

    return lancedb.connect(str(folder))


def write(folder: Path, parent: Path | None, gone: Sequence[str], ids: Sequence[str], vectors: np.ndarray) -> None:
    """Write a generation's vectors: the parent's without `gone`, plus one vector per id."""
    rows = _rows(ids, vectors)
    if parent is None:
        _connect(folder).create_table(TABLE, rows)
        return
    _inherit(parent / f"{TABLE}.lance", folder / f"{TABLE}.lance")
    inherited = table(folder)
    for n in range(0, len(gone), 500):
        inherited.delete(f"id IN ({', '.join(_quoted(gone[n : n + 500]))})")
    if ids:
        inherited.add(rows)
    if len(list((folder / f"{TABLE}.lance" / "data").iterdir())) > _MAX_FRAGMENTS:
        _compact(inherited)


def _compact(table: Any) -> None:
    """One file again, and none of the old ones: what a parent shares is linked there, so it loses nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that others might read this table: nobody knows it yet
        table.optimize(cleanup_older_than=timedelta(0), delete_unverified=True)


def _rows(ids: Sequence[str], vectors: np.ndarray) -> pa.Table:
    width = vectors.shape[1]
    schema = pa.schema(
        [pa.field("id", pa.string(), nullable=False), pa.field("vector", pa.list_(pa.float32(), width), nullable=False)]
    )
    flat = pa.array(np.ascontiguousarray(vectors, dtype=np.float32).ravel())
    return pa.table([pa.array(ids, pa.string()), pa.FixedSizeListArray.from_arrays(flat, width)], schema=schema)


def _inherit(source: Path, target: Path) -> None:
    for root, _, files in os.walk(source):
        here = target / Path(root).relative_to(source)
        here.mkdir(parents=True, exist_ok=True)
        immutable = Path(root).name in ("data", "_deletions") or "_indices" in Path(root).parts
        for name in files:
            (os.link if immutable else shutil.copyfile)(Path(root) / name, here / name)


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
    """A generation's table; threads may share it."""
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
