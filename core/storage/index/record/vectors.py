"""The vectors of a segment: once on the disk, as LanceDB writes them, and mapped where they stand.

LanceDB lays the vectors of one batch side by side in its data file, as an array would be. The writer looks where, and
writes that beside the table, so that readers map these bytes and need not load LanceDB, which takes two seconds.
"""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from core import strict
from core.adapters.system.files import read_json, write_atomic
from core.storage.index.record import lance

FOLDER = "vec"
PLACE = "PLACE.json"  # in which file of the table the vectors stand, from which byte on, and how many there are


def write(folder: Path, ids: Sequence[str], vectors: np.ndarray) -> None:
    """Write the vectors of a segment into its folder: one per chunk, in the order of ids."""
    order = np.argsort(np.array(ids, dtype="U16"), kind="stable")
    rows = np.ascontiguousarray(vectors[order], dtype=np.float32)
    target = folder / FOLDER
    target.mkdir()
    lance.write(target, [ids[n] for n in order.tolist()], rows)
    if (place := _place_of(target, rows)) is not None:
        write_atomic(target / PLACE, strict.canonical(place))


def _place_of(folder: Path, rows: np.ndarray) -> dict[str, object] | None:
    """Where the bytes of an array stand in a table; None where they do not stand side by side."""
    shape = {"rows": len(rows), "width": rows.shape[1]}
    if not len(rows):
        return {"file": "", "offset": 0, **shape}
    for path in (path for path in sorted(folder.rglob("*.lance")) if path.is_file()):
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            offset = data.find(rows[0].tobytes())
        if 0 <= offset <= path.stat().st_size - rows.nbytes:
            stored = np.memmap(path, np.float32, "r", offset=offset, shape=rows.shape)
            if np.array_equal(stored.view(np.uint32), rows.view(np.uint32)):
                return {"file": str(path.relative_to(folder)), "offset": offset, **shape}
    return None


def present(folder: Path) -> bool:
    """Whether a segment was written with vectors, or got them later."""
    return (folder / FOLDER).is_dir()


def data_file(folder: Path) -> Path:
    """The file of a segment's table that holds the vectors, whose name was given once; the folder where there are
    none.
    """
    return min((path for path in (folder / FOLDER).rglob("*.lance") if path.is_file()), default=folder / FOLDER)


def mapped(folder: Path) -> np.ndarray | None:
    """The vectors of a segment in the order of ids, mapped from LanceDB's file; None where they do not stand there
    so.
    """
    place = read_json(folder / FOLDER / PLACE)
    if not isinstance(place, dict):
        return None
    shape = place["rows"], place["width"]
    if not place["rows"]:
        return np.empty(shape, np.float32)
    file = folder / FOLDER / place["file"]
    return np.asarray(np.memmap(file, np.float32, "r", offset=place["offset"], shape=shape))


def read(folder: Path) -> np.ndarray:
    """The same, read by LanceDB."""
    return lance.read(folder / FOLDER)[1]
