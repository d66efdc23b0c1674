"""Vectors of one generation in a LanceDB table: the durable store, and the ANN path beyond memory.

A later build starts from the parent's files: data files are hard-linked (Lance only ever adds files), small
bookkeeping files are copied, then changed rows are deleted and new ones added. LanceDB is imported here only,
and only by builds and by searches beyond the exact limit: the import alone takes two seconds.
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
    table = _connect(folder).open_table(TABLE)
    for n in range(0, len(gone), 500):
        table.delete(f"id IN ({', '.join(_quoted(gone[n : n + 500]))})")
    if ids:
        table.add(rows)
    if len(list((folder / f"{TABLE}.lance" / "data").iterdir())) > _MAX_FRAGMENTS:
        _compact(table)


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
    table = _connect(folder).open_table(TABLE).to_arrow().sort_by("id")
    width = table.schema.field("vector").type.list_size
    flat = table["vector"].combine_chunks().flatten().to_numpy(zero_copy_only=False)
    return table["id"].to_pylist(), flat.reshape(-1, width)


def build_ann(folder: Path, rows: int) -> None:
    """An IVF index with unquantised vectors: the best recall for its build time."""
    from lancedb.index import IvfFlat

    kind = IvfFlat(distance_type="cosine", num_partitions=max(16, int(rows**0.5) // 2))
    _connect(folder).open_table(TABLE).create_index("vector", config=kind)


def search_ann(folder: Path, query: np.ndarray, depth: int, probes: int = 40) -> tuple[list[str], list[float]]:
    """Ids and cosines of the nearest vectors by the ANN index."""
    table = _connect(folder).open_table(TABLE)
    found = (
        table.search(query, vector_column_name="vector")
        .distance_type("cosine")
        .nprobes(probes)
        .limit(depth)
        .select(["id", "_distance"])
        .to_list()
    )
    return [row["id"] for row in found], [1.0 - row["_distance"] for row in found]
