"""The graph of a generation on disk: what each chunk says, and the graph that follows from it.

    gen-N/graph/mentions.arrow, aliases.arrow, relations.arrow   one row per fact, with the id of its chunk
    assembled/gen-N/                                             the graph of it, mapped when a search asks for it

A build copies the rows of unchanged chunks from its parent and adds those of new chunks, so one edited document
costs one document's work. The graph follows from the rows alone; it is assembled once, when it is first asked for
or right after publishing, beside the generation, which never changes.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from core.adapters.serving import image
from core.adapters.system import sums
from core.adapters.system.files import flock, fsync_folder, fsync_tree
from core.errors import Corrupt
from core.graph.assembly import ExtractColumns, Named, assemble
from core.types import Extract, Graph

_TABLES = {
    "mentions": pa.schema(
        [(name, pa.string()) for name in ("chunk", "key", "text", "kind")] + [("sentence", pa.int32())]
    ),
    "aliases": pa.schema([(name, pa.string()) for name in ("chunk", "short", "long")]),
    "relations": pa.schema([(name, pa.string()) for name in ("chunk", "first", "name", "second")]),
}
_LISTS = ("keys", "labels", "kinds", "relation_names")
_ARRAYS = tuple(f.name for f in fields(Graph) if f.name not in (*_LISTS, "names", "document_of"))


def write(
    build: Path, parent: Path | None, dropped: Sequence[str], ids: Sequence[str], extracts: Sequence[Extract]
) -> None:
    """Write what the chunks say."""
    (build / "graph").mkdir()
    for name in _TABLES:
        table = _merged(name, parent, dropped, _rows(name, ids, extracts))
        image.write_table(build / "graph" / f"{name}.arrow", table)


def served(folder: Path) -> Path:
    """Where the graph of a generation lies, assembled now if nobody did it before. Graphs of past generations go."""
    generations = folder.parent / "assembled"
    place = generations / folder.name
    if not place.is_dir():
        generations.mkdir(exist_ok=True)
        with flock(folder.parent / "GRAPH.LOCK"):
            if not place.is_dir():
                _sweep(generations)
                save(generations / "new", assembled(folder / "served", _tables(folder)))
                fsync_tree(generations / "new")
                sums.write(generations / "new")
                (generations / "new").rename(place)
                fsync_folder(generations)
    return place


def _sweep(generations: Path) -> None:
    for old in generations.iterdir():
        if not (generations.parent / old.name).is_dir():
            shutil.rmtree(old, ignore_errors=True)


def _tables(folder: Path) -> dict[str, pa.Table]:
    return {name: image.read_table(folder / "graph" / f"{name}.arrow").cast(_TABLES[name]) for name in _TABLES}


def _rows(name: str, ids: Sequence[str], extracts: Sequence[Extract]) -> pa.Table:
    rows: list[tuple[Any, ...]] = []
    for chunk, extract in zip(ids, extracts, strict=True):
        if name == "mentions":
            rows += [(chunk, m.key, m.text, m.kind, m.sentence) for m in extract.mentions]
        else:
            rows += [(chunk, *row) for row in getattr(extract, name)]
    schema = _TABLES[name]
    columns: list[Iterable[Any]] = list(zip(*rows, strict=True)) or [()] * len(schema)
    return pa.table([pa.array(_clean(c), f.type) for c, f in zip(columns, schema, strict=True)], schema=schema)


def _clean(column: Iterable[Any]) -> list[Any]:
    """Half of a surrogate pair cannot be written as UTF-8."""
    return [v.encode("utf-8", "replace").decode() if isinstance(v, str) else v for v in column]


def _merged(name: str, parent: Path | None, dropped: Sequence[str], fresh: pa.Table) -> pa.Table:
    """The parent's rows without the chunks that are gone, and the new rows, by chunk."""
    import pyarrow.compute as pc

    kept = [fresh]
    if parent:
        before = image.read_table(parent / "graph" / f"{name}.arrow").cast(_TABLES[name])
        gone = pc.is_in(before["chunk"], value_set=pa.array(dropped, pa.string()))
        kept.append(before.filter(pc.invert(gone)))
    order = [(column, "ascending") for column in _TABLES[name].names]
    return pa.concat_tables(kept).sort_by(order)


def assembled(image_folder: Path, tables: dict[str, pa.Table]) -> Graph:
    """The graph that follows from the tables and from the documents of an image."""
    import pyarrow.compute as pc

    chunks = image.read_table(image_folder / "chunks.arrow")
    documents = image.read_table(image_folder / "documents.arrow")
    mentions = tables["mentions"]
    places = pc.index_in(mentions["chunk"], value_set=chunks["id"].cast(pa.string()).combine_chunks())
    if places.null_count:
        raise Corrupt(
            "The graph names chunks that the index does not hold. Rebuild with: python -m core reindex --full"
        )
    keys, labels, kinds = (_codes(mentions[name]) for name in ("key", "text", "kind"))
    rows = [tables[name].drop(["chunk"]).to_pydict().values() for name in ("aliases", "relations")]
    columns = ExtractColumns(
        keys=keys[0],
        labels=labels[0],
        kinds=kinds[0],
        chunk=_numbers(places),
        key=keys[1],
        label=labels[1],
        kind=kinds[1],
        sentence=_numbers(mentions["sentence"]),
        aliases=sorted(set(zip(*rows[0], strict=True))),
        relations=list(zip(*rows[1], strict=True)),
    )
    facts = documents.select(["doc", "path", "title"]).to_pydict()
    named = [Named(*row) for row in zip(*facts.values(), strict=True)]
    return assemble(columns, named, np.asarray(image.numbers(chunks, "doc"), np.int64))


def _codes(column: pa.ChunkedArray) -> tuple[list[str], np.ndarray]:
    """Distinct values in order, and the number of each row's value."""
    import pyarrow.compute as pc

    distinct = pc.unique(column).sort()
    return distinct.to_pylist(), _numbers(pc.index_in(column, value_set=distinct))


def _numbers(column: Any) -> np.ndarray:
    return np.asarray(image.numbers(pa.table({"n": column}), "n"), np.int64)


def disagreements(folder: Path) -> Iterator[str]:
    """Whether the served graph is the one that follows from what the chunks say."""
    try:
        graph = assembled(folder / "served", _tables(folder))
    except Corrupt as error:
        yield str(error)
        return
    kept = load(folder, graph.document_of)
    wrong = [name for name in _ARRAYS if not np.array_equal(getattr(graph, name), getattr(kept, name))]
    wrong += [name for name in (*_LISTS, "names") if getattr(graph, name) != getattr(kept, name)]
    if wrong:
        yield f"the served graph is not the one of its chunks ({', '.join(wrong)} differ)"


# ---------------------------------------------------------------- the assembled graph


def save(folder: Path, graph: Graph) -> None:
    """The assembled graph as tables and arrays."""
    folder.mkdir()
    entities = pa.table({name: pa.array(getattr(graph, name), pa.string()) for name in _LISTS[:3]})
    aliases = sorted((name, n) for name, n in graph.names.items() if graph.keys[n] != name)
    image.write_table(folder / "entities.arrow", entities)
    columns = ([name for name, _ in aliases], [n for _, n in aliases])
    image.write_table(
        folder / "aliases.arrow",
        pa.table({"name": pa.array(columns[0], pa.string()), "entity": pa.array(columns[1], pa.int32())}),
    )
    image.write_table(folder / "relations.arrow", pa.table({"name": pa.array(graph.relation_names, pa.string())}))
    for name in _ARRAYS:
        np.save(folder / f"{name}.npy", getattr(graph, name))


def present(folder: Path) -> bool:
    """Whether a generation has a graph."""
    return (folder / "graph" / "mentions.arrow").exists()


def load(folder: Path, document_of: np.ndarray) -> Graph:
    """The graph of a generation; arrays are mapped, names are read. A damaged one is assembled anew."""
    place = served(folder)
    try:
        if any(sums.differences(place)):
            raise ValueError("it is not what was written")
        return _read(place, document_of)
    except (OSError, ValueError, KeyError, TypeError, pa.ArrowException):
        with flock(folder.parent / "GRAPH.LOCK"):
            shutil.rmtree(place, ignore_errors=True)
        return _read(served(folder), document_of)


def _read(place: Path, document_of: np.ndarray) -> Graph:
    lists = image.read_table(place / "entities.arrow").to_pydict()
    aliases = image.read_table(place / "aliases.arrow").to_pydict()
    names = {key: n for n, key in enumerate(lists["keys"])}
    names |= dict(zip(aliases["name"], aliases["entity"], strict=True))
    arrays: dict[str, Any] = {name: image.map_array(place / f"{name}.npy") for name in _ARRAYS}
    relations = image.read_table(place / "relations.arrow")["name"].to_pylist()
    return Graph(**lists, names=names, relation_names=relations, document_of=document_of, **arrays)
