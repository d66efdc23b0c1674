"""The graph of a generation: it follows from what the chunks of all segments say.

    assembled/gen-N/      beside the generation, mapped when a search asks for it

It is assembled once, when it is first asked for or right after publishing.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
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
from core.storage.index.arrays.cache import ArrayCache
from core.storage.index.arrays.gone import gone_chunks
from core.storage.index.arrays.stitched import MergedSegments
from core.storage.index.record.graph_rows import TABLES, in_order, tables
from core.storage.index.record.segment_list import Segment, listed
from core.types import Graph

_LISTS = ("keys", "labels", "kinds", "relation_names")
_ARRAYS = tuple(f.name for f in fields(Graph) if f.name not in (*_LISTS, "names", "document_of"))


def served(folder: Path, cache: ArrayCache) -> Path:
    """Where the graph of a generation lies, assembled now if nobody did it before. Graphs of past generations go."""
    generations = folder.parent / "assembled"
    place = generations / folder.name
    if not place.is_dir():
        generations.mkdir(exist_ok=True)
        with flock(folder.parent / "GRAPH.LOCK"):
            if not place.is_dir():
                _sweep(generations)
                save(generations / "new", assembled(folder, listed(folder), cache))
                fsync_tree(generations / "new")
                sums.write(generations / "new")
                (generations / "new").rename(place)
                fsync_folder(generations)
    return place


def _sweep(generations: Path) -> None:
    for old in generations.iterdir():
        if not (generations.parent / old.name).is_dir():
            shutil.rmtree(old, ignore_errors=True)


def assembled(generation: Path, segments: Sequence[Segment], cache: ArrayCache) -> Graph:
    """The graph that follows from what the chunks of all segments say, and from the documents."""
    said = [tables(one.folder(generation), gone_chunks(cache, generation, one)) for one in segments]
    stitched = MergedSegments.of(cache, generation, segments)
    named = [stitched.texts(name, of_documents=True).all() for name in ("doc", "path", "title")]
    facts = [Named(*row) for row in zip(*named, strict=True)]
    return graph_of(said, stitched.texts("id").all(), facts, np.asarray(stitched.doc_of, np.int64))


def graph_of(
    said: Sequence[Mapping[str, pa.Table]], ids: Sequence[str], facts: list[Named], document_of: np.ndarray
) -> Graph:
    """The graph of chunks with these ids, by the document of each and what some tables say."""
    import pyarrow.compute as pc

    together = {name: in_order(name, pa.concat_tables([part[name] for part in said])) for name in TABLES}
    mentions = together["mentions"]
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


def _codes(column: pa.ChunkedArray) -> tuple[list[str], np.ndarray]:
    """Distinct values in order, and the number of each row's value."""
    import pyarrow.compute as pc

    distinct = pc.unique(column).sort()
    return distinct.to_pylist(), _numbers(pc.index_in(column, value_set=distinct))


def _numbers(column: Any) -> np.ndarray:
    return np.asarray(image.numbers(pa.table({"n": column}), "n"), np.int64)


def disagreements(folder: Path, cache: ArrayCache) -> Iterator[str]:
    """Whether the served graph is the one that follows from what the chunks say."""
    try:
        graph = assembled(folder, listed(folder), cache)
    except Corrupt as error:
        yield str(error)
        return
    kept = load(folder, graph.document_of, cache)
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


def load(folder: Path, document_of: np.ndarray, cache: ArrayCache) -> Graph:
    """The graph of a generation; arrays are mapped, names are read. A damaged one is assembled anew."""
    place = served(folder, cache)
    try:
        if any(sums.differences(place)):
            raise ValueError("it is not what was written")
        return _read(place, document_of)
    except (OSError, ValueError, KeyError, TypeError, pa.ArrowException):
        with flock(folder.parent / "GRAPH.LOCK"):
            shutil.rmtree(place, ignore_errors=True)
        return _read(served(folder, cache), document_of)


def _read(place: Path, document_of: np.ndarray) -> Graph:
    lists = image.read_table(place / "entities.arrow").to_pydict()
    aliases = image.read_table(place / "aliases.arrow").to_pydict()
    names = {key: n for n, key in enumerate(lists["keys"])}
    names |= dict(zip(aliases["name"], aliases["entity"], strict=True))
    arrays: dict[str, Any] = {name: image.map_array(place / f"{name}.npy") for name in _ARRAYS}
    relations = image.read_table(place / "relations.arrow")["name"].to_pylist()
    return Graph(**lists, names=names, relation_names=relations, document_of=document_of, **arrays)
