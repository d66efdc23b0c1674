"""The graph of a generation on disk: what each chunk says, and the graph that follows from it.

    gen-N/graph/mentions.arrow, aliases.arrow, relations.arrow   one row per fact, with the id of its chunk
    assembled/gen-N/                                             the graph of it, mapped when a search asks for it

Every segment has the rows of its own chunks, so one edited document costs one document's work. The graph follows from
the rows of all segments; it is assembled once, when it is first asked for or right after publishing, beside the
generation, which never changes.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from core.adapters.system import sums
from core.adapters.system.files import flock, fsync_folder, fsync_tree
from core.cures import reindex
from core.errors import Corrupt
from core.graph.assembly import ExtractColumns, Named, assemble
from core.storage.index.arrays import image
from core.storage.index.arrays.stitched import MergedSegments
from core.storage.index.record.segment_list import Segment, gone_chunks, listed
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


def write(folder: Path, tables: Mapping[str, pa.Table]) -> None:
    """Write what the chunks of a segment say."""
    (folder / "graph").mkdir()
    for name, table in tables.items():
        image.write_table(folder / "graph" / f"{name}.arrow", _sorted(name, table))


def served(folder: Path) -> Path:
    """Where the graph of a generation lies, assembled now if nobody did it before. Graphs of past generations go."""
    generations = folder.parent / "assembled"
    place = generations / folder.name
    if not place.is_dir():
        generations.mkdir(exist_ok=True)
        with flock(folder.parent / "GRAPH.LOCK"):
            if not place.is_dir():
                _sweep(generations)
                save(generations / "new", assembled(folder))
                fsync_tree(generations / "new")
                sums.write(generations / "new")
                (generations / "new").rename(place)
                fsync_folder(generations)
    return place


def _sweep(generations: Path) -> None:
    for old in generations.iterdir():
        if not (generations.parent / old.name).is_dir():
            shutil.rmtree(old, ignore_errors=True)


def tables(folder: Path, gone: Sequence[str] = ()) -> dict[str, pa.Table]:
    """What the chunks of a segment say, without those that are gone."""
    import pyarrow.compute as pc

    found = {name: image.read_table(folder / "graph" / f"{name}.arrow").cast(_TABLES[name]) for name in _TABLES}
    if not gone:
        return found
    out = pa.array(gone, pa.string())
    return {name: table.filter(pc.invert(pc.is_in(table["chunk"], value_set=out))) for name, table in found.items()}


def rows(ids: Sequence[str], extracts: Sequence[Extract]) -> dict[str, pa.Table]:
    """What chunks say, as tables."""
    return {name: _rows(name, ids, extracts) for name in _TABLES}


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


def _sorted(name: str, table: pa.Table) -> pa.Table:
    return table.cast(_TABLES[name]).sort_by([(column, "ascending") for column in _TABLES[name].names])


def assembled(generation: Path, segments: Sequence[Segment] = ()) -> Graph:
    """The graph that follows from what the chunks of all segments say, and from the documents."""
    import pyarrow.compute as pc

    parts = segments or listed(generation)
    said = [tables(one.folder(generation), gone_chunks(generation, one)) for one in parts]
    together = {name: _sorted(name, pa.concat_tables([part[name] for part in said])) for name in _TABLES}
    mentions, ids, facts, document_of = together["mentions"], *_contents(generation, parts)
    places = pc.index_in(mentions["chunk"], value_set=pa.array(ids, pa.string()))
    if places.null_count:
        raise Corrupt("The graph names chunks that the index does not contain.", reindex(full=True))
    keys, labels, kinds = (_codes(mentions[name]) for name in ("key", "text", "kind"))
    rows = [together[name].drop(["chunk"]).to_pydict().values() for name in ("aliases", "relations")]
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
    return assemble(columns, facts, document_of)


def _contents(generation: Path, parts: Sequence[Segment]) -> tuple[list[str], list[Named], np.ndarray]:
    """The ids of chunks, the documents, and the document of each chunk."""
    if image.is_alone(generation) and not parts[0].gone:
        served = generation / "served"
        chunks, documents = (image.read_table(served / f"{name}.arrow") for name in ("chunks", "documents"))
        ids, document_of = chunks["id"].to_pylist(), image.numbers(chunks, "doc")
        columns = list(documents.select(["doc", "path", "title"]).to_pydict().values())
    else:
        stitched = MergedSegments.of(generation, parts)
        ids, document_of = stitched.texts("id").all(), stitched.doc_of
        columns = [stitched.texts(name, of_documents=True).all() for name in ("doc", "path", "title")]
    return ids, [Named(*row) for row in zip(*columns, strict=True)], np.asarray(document_of, np.int64)


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
        graph = assembled(folder)
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
