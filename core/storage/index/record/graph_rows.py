"""What the chunks of a segment say, one row per fact with the id of its chunk.

    graph/mentions.arrow, aliases.arrow, relations.arrow

Every segment has the rows of its own chunks, so one edited document costs one document's work.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from core.types import Extract

TABLES = {
    "mentions": pa.schema(
        [(name, pa.string()) for name in ("chunk", "key", "text", "kind")] + [("sentence", pa.int32())]
    ),
    "aliases": pa.schema([(name, pa.string()) for name in ("chunk", "short", "long")]),
    "relations": pa.schema([(name, pa.string()) for name in ("chunk", "first", "name", "second")]),
}


def write(folder: Path, tables: Mapping[str, pa.Table]) -> None:
    """Write what the chunks of a segment say."""
    (folder / "graph").mkdir()
    for name, table in tables.items():
        path, ordered = str(folder / "graph" / f"{name}.arrow"), in_order(name, table)
        options = pa.ipc.IpcWriteOptions(compression="zstd")
        with pa.OSFile(path, "wb") as sink, pa.ipc.new_file(sink, ordered.schema, options=options) as writer:
            writer.write_table(ordered)


def present(folder: Path) -> bool:
    """Whether a segment says what its chunks say."""
    return (folder / "graph" / "mentions.arrow").exists()


def tables(folder: Path, gone: Sequence[str] = ()) -> dict[str, pa.Table]:
    """What the chunks of a segment say, without those that are gone."""
    import pyarrow.compute as pc

    found = {name: _read(folder / "graph" / f"{name}.arrow").cast(schema) for name, schema in TABLES.items()}
    if not gone:
        return found
    out = pa.array(gone, pa.string())
    return {name: table.filter(pc.invert(pc.is_in(table["chunk"], value_set=out))) for name, table in found.items()}


def _read(path: Path) -> pa.Table:
    with pa.memory_map(str(path)) as source:
        return pa.ipc.open_file(source).read_all()


def rows(ids: Sequence[str], extracts: Sequence[Extract]) -> dict[str, pa.Table]:
    """What chunks say, as tables."""
    return {name: _rows(name, ids, extracts) for name in TABLES}


def _rows(name: str, ids: Sequence[str], extracts: Sequence[Extract]) -> pa.Table:
    rows: list[tuple[Any, ...]] = []
    for chunk, extract in zip(ids, extracts, strict=True):
        if name == "mentions":
            rows += [(chunk, m.key, m.text, m.kind, m.sentence) for m in extract.mentions]
        else:
            rows += [(chunk, *row) for row in getattr(extract, name)]
    schema = TABLES[name]
    columns: list[Iterable[Any]] = list(zip(*rows, strict=True)) or [()] * len(schema)
    return pa.table([pa.array(_clean(c), f.type) for c, f in zip(columns, schema, strict=True)], schema=schema)


def _clean(column: Iterable[Any]) -> list[Any]:
    """Half of a surrogate pair cannot be written as UTF-8."""
    return [v.encode("utf-8", "replace").decode() if isinstance(v, str) else v for v in column]


def in_order(name: str, table: pa.Table) -> pa.Table:
    return table.cast(TABLES[name]).sort_by([(column, "ascending") for column in TABLES[name].names])
