"""What a build writes: rows into the table, and beside the manifest what readers look up without asking the table.

served/documents.arrow     facts of documents, in the order of ids; the text only of those without a chunk
served/ids.npy, rows.npy   chunk ids as numbers, in order, and the row of each in this version of the table
served/doc.npy, order.npy  the document of each chunk; chunks by document and place in its text
served/words.arrow,        how many chunks, titles, ... hold a word
served/holders.npy
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core.errors import Conflict, in_one_line
from core.storage.index.duckdb import HEADING, document_table
from core.storage.lance import rows, table
from core.storage.lance.term_counts import Analyse, Counts, Statistics
from core.storage.serving import fields, image
from core.storage.serving.spread import spread_of
from core.types import FIELDS, Chunk, Document

GRACE, NO_GRACE = timedelta(hours=1), timedelta(0)  # for generations that other nodes may still read
SAMPLED = 50  # passages whose nearest ones are looked for twice, to measure recall
NEAREST = 10
FEW = 500  # documents; beyond that every row is looked at again


@dataclass(frozen=True, slots=True)
class TableParent:
    """The generation that a build starts from."""

    served: Path
    place: str  # of its table
    facts: Mapping[str, Any]  # what its manifest says of the table


@dataclass(frozen=True, slots=True)
class TableRows:
    """What a build brings: documents with their chunks, analysed words and vectors, and the ids of documents that go."""

    gone: Sequence[str]
    documents: Sequence[Document]
    chunks: Sequence[Chunk]
    terms: Sequence[str]
    vectors: np.ndarray
    position: int  # of the commit on the main line


@dataclass(frozen=True, slots=True)
class TableTarget:
    """The table that a build writes to, and which generations read it."""

    place: str
    needed: Mapping[str, int]  # versions of the generations that are here
    kept: Collection[str]  # the names of all that may be read anywhere


def write(
    served: Path,
    target: TableTarget,
    before: TableParent | None,
    batch: TableRows,
    analyse: Analyse,
    timed: Callable[[str], AbstractContextManager[None]],
) -> dict[str, Any]:
    """Write a generation; what is returned belongs into its manifest."""
    place, needed = target.place, target.needed
    with timed("rows"):
        opened = _begun(place, before, batch.vectors.shape[1])
        start = int(opened.version)
        leaving = _leaving(opened, batch.gone) if before else None
        needed = {} if before and before.place != place else needed  # a table of its own has no other generations
        ours = _replace(opened, batch, analyse)
    with timed("index"):
        trained = table.index(opened, opened.count_rows())
        table.protect(opened, needed)
        table.release(opened, target.kept, GRACE if "://" in place else NO_GRACE)
        settled = table.settle(opened)
        version = int(opened.version)
    with timed("numbers"):
        documents = _documents(before, batch)
        image.write_table(served / "documents.arrow", documents)
        alone = ours.issuperset(range(start + 1, version + 1)) and not settled  # every other row is where it was
        numbers = {doc: n for n, doc in enumerate(documents["doc"].to_pylist())}
        if (
            before
            and alone
            and (before.place, before.facts["version"]) == (place, start)
            and len(batch.documents) <= FEW
        ):
            size = _renumber(before, opened, numbers, batch).write(served)
        else:
            size = _number(opened, numbers, before, batch).write(served)
        totals = _count(before, batch, leaving, analyse).write(served)
        spread, weight = _spread(served, opened, size), int(opened.stats()["total_bytes"])
        facts = {"version": version, "totals": totals, "spread": spread, "bytes": weight}
        known = before.facts.get("recall") if before else None
        return {**facts, "chunks": size, "recall": _recall(served, opened) if trained else known}


def notes(facts: Mapping[str, Any]) -> list[str]:
    """What people should know of a generation that is searched in a table.

    >>> notes({"recall": 0.978})[0]
    'Searched in LanceDB, so results are approximate: of the ten nearest passages 97.8 % were found in a sample.'
    """
    if facts["recall"] is None:
        return ["Searched in LanceDB. It is small enough that every vector is compared."]
    share = f"of the ten nearest passages {facts['recall']:.1%} were found in a sample".replace("%", " %")
    return [f"Searched in LanceDB, so results are approximate: {share}."]


def disagreements(served: Path, place: str, facts: Mapping[str, Any], chunks: int) -> Iterator[str]:
    """Every way in which a version of the table contradicts what was published with it, or cannot be read at all."""
    try:
        found = table.at(place, facts["version"]).search().select(["id"]).with_row_id(True).to_arrow()
    except Exception as error:  # whatever LanceDB makes of damaged or missing files
        yield f"version {facts['version']} of the table cannot be read: {in_one_line(error)}"
        return
    ids = as_numbers(found["id"].to_pylist())
    order = np.argsort(ids, kind="stable")
    places = np.array(found["_rowid"].to_pylist(), dtype=np.uint64)[order]
    if len(ids) != chunks or not np.array_equal(ids[order], image.map_array(served / "ids.npy")):
        yield f"the manifest names {chunks} chunks, the table holds {len(ids)} ({len(set(ids.tolist()))} distinct)"
    elif not np.array_equal(places, image.map_array(served / "rows.npy")):
        yield "chunks stand in other rows of the table than was published"


def _begun(place: str, before: TableParent | None, width: int) -> Any:
    """The table that is written to, as the parent left it."""
    if before is None:
        return table.created(place, rows.schema(width))
    if before.place != place:
        return table.cloned(place, before.place, before.facts["version"])
    return table.continued(place, before.facts["version"])


def _leaving(opened: Any, gone: Sequence[str]) -> pa.Table:
    """What the statistics know of the chunks of documents that go."""
    columns = ["doc", "terms", "heading"]
    found = [opened.search().where(table.among("doc", gone)).select(columns).to_arrow()] if gone else []
    return pa.concat_tables(found) if found else pa.table({name: pa.array([], pa.string()) for name in columns})


def _replace(opened: Any, batch: TableRows, analyse: Analyse) -> set[int]:
    """Rows of what comes, then away with what they replace: a reader of any version in between is nobody's. The versions that were written."""
    come, written = {document.id for document in batch.documents}, set[int]()
    if batch.chunks:
        around = _around(batch, analyse)
        made = rows.of_chunks(batch.documents, batch.chunks, batch.terms, around, batch.vectors, batch.position)
        written |= table.upsert(opened, made)
    with_rows = {chunk.doc for chunk in batch.chunks}
    written |= table.drop(opened, (set(batch.gone) | come) - with_rows, batch.position)
    return written | table.drop_superseded(opened, with_rows)


def _around(batch: TableRows, analyse: Analyse) -> list[str]:
    """The words in the fields of each chunk, each once."""
    facts, heading = document_table(batch.documents), _headings(batch)
    texts = {name: list(fields.texts(name, facts, heading)) for name in FIELDS}
    places = {document.id: n for n, document in enumerate(batch.documents)}
    known = {
        doc: {
            word
            for name in FIELDS
            if name not in fields.OF_PASSAGES
            for text in texts[name][n]
            for word in analyse(text)
        }
        for doc, n in places.items()
    }
    above = ({word for text in own for word in analyse(text)} for own in texts["headings"])
    return [" ".join(sorted(known[chunk.doc] | own)) for chunk, own in zip(batch.chunks, above, strict=True)]


def _headings(batch: TableRows) -> pa.Table:
    return pa.table({"heading": [HEADING.join(chunk.heading) for chunk in batch.chunks]})


def _documents(before: TableParent | None, batch: TableRows) -> pa.Table:
    """Facts of all documents by id; of those that come, the text only where no chunk has it."""
    with_rows = {chunk.doc for chunk in batch.chunks}
    come = document_table(batch.documents)
    texts = ["" if document.id in with_rows else document.text for document in batch.documents]
    come = come.set_column(come.schema.get_field_index("text"), "text", pa.array(texts, pa.string()))
    if before is None:
        return come.sort_by("doc")
    old = image.read_table(before.served / "documents.arrow").cast(come.schema)
    stay = pc.invert(pc.is_in(old["doc"], pa.array([*batch.gone, *come["doc"].to_pylist()], pa.string())))
    return pa.concat_tables([old.filter(stay), come]).sort_by("doc")


@dataclass(frozen=True, slots=True)
class Numbers:
    """The chunks of a version in the order of their ids: the row and the document of each, and chunks by document and place in it."""

    ids: np.ndarray
    rows: np.ndarray
    doc: np.ndarray
    order: np.ndarray

    def write(self, served: Path) -> int:
        for name in ("ids", "rows", "doc", "order"):
            np.save(served / f"{name}.npy", getattr(self, name))
        return len(self.ids)


def _found(opened: Any, numbers: Mapping[str, int], docs: Collection[str] | None) -> tuple[np.ndarray, ...]:
    """Ids, rows, documents and starts of the chunks that the table has of some documents, or of all."""
    asked = opened.search() if docs is None else opened.search().where(table.among("doc", sorted(docs) or [""]))
    found = asked.select(["id", "doc", "start"]).with_row_id(True).to_arrow()
    owners = np.array([numbers.get(doc, -1) for doc in found["doc"].to_pylist()], dtype=np.int32)
    starts = np.array(found["start"].to_pylist(), dtype=np.int64)
    rows_ = np.array(found["_rowid"].to_pylist(), dtype=np.uint64)
    return as_numbers(found["id"].to_pylist()), rows_, owners, starts


def _number(opened: Any, numbers: Mapping[str, int], before: TableParent | None, batch: TableRows) -> Numbers:
    """Number every chunk of this version, and check that they are those that must be there."""
    ids, places, owners, starts = _found(opened, numbers, None)
    order = np.argsort(ids, kind="stable")
    if not np.array_equal(ids[order], _expected(before, batch)) or (owners < 0).any():
        raise _meddled()
    by_document = np.lexsort((starts[order], owners[order])).astype(np.uint32)
    return Numbers(ids[order], places[order], owners[order], by_document)


def _renumber(before: TableParent, opened: Any, numbers: Mapping[str, int], batch: TableRows) -> Numbers:
    """The same where nobody else wrote and no file was joined: chunks that stay are in the rows that the parent knows."""
    kept_docs = image.read_table(before.served / "documents.arrow")["doc"].to_pylist()
    old = {name: image.map_array(before.served / f"{name}.npy") for name in ("ids", "rows", "doc", "order")}
    leave = {*batch.gone, *(document.id for document in batch.documents)}
    moved = np.array([-1 if doc in leave else numbers.get(doc, -1) for doc in kept_docs], dtype=np.int32)
    now = moved[old["doc"]]
    stay = now >= 0
    come, places, owners, starts = _found(opened, numbers, {chunk.doc for chunk in batch.chunks})
    ids = np.concatenate([old["ids"][stay], come])
    if opened.count_rows() != len(ids) or {*come.tolist()} != {int(chunk.id, 16) for chunk in batch.chunks}:
        raise _meddled()
    order = np.argsort(ids, kind="stable")
    number = np.empty(len(ids), dtype=np.uint32)  # of each chunk, by where it stands in `ids`
    number[order] = np.arange(len(ids), dtype=np.uint32)
    by_place = old["order"][stay[old["order"]]]
    in_turn = np.concatenate(
        [(np.cumsum(stay) - 1)[by_place], len(ids) - len(come) + np.argsort(starts, kind="stable")]
    )
    doc = np.concatenate([now[stay], owners])
    in_turn = in_turn[np.argsort(doc[in_turn], kind="stable")]
    return Numbers(ids[order], np.concatenate([old["rows"][stay], places])[order], doc[order], number[in_turn])


def _meddled() -> Conflict:
    return Conflict(
        "Another node wrote to the table of this profile at the same time, so this generation is not published. "
        "Build it again with: python -m core reindex"
    )


def _expected(before: TableParent | None, batch: TableRows) -> np.ndarray:
    """The ids that the generation must have, in order."""
    come = as_numbers([chunk.id for chunk in batch.chunks])
    if before is None:
        return np.sort(come)
    docs = image.read_table(before.served / "documents.arrow")["doc"].to_pylist()
    leave = {*batch.gone, *(document.id for document in batch.documents)}
    gone = np.array([n for n, doc in enumerate(docs) if doc in leave], dtype=np.int32)
    stay = ~np.isin(image.map_array(before.served / "doc.npy"), gone)
    return np.sort(np.concatenate([image.map_array(before.served / "ids.npy")[stay], come]))


def as_numbers(ids: Sequence[str]) -> np.ndarray:
    """Chunk ids, which are 16 hexadecimal digits, as numbers in the same order.

    >>> as_numbers(["00000000000000ff", "8000000000000000"]).tolist()
    [255, 9223372036854775808]
    """
    return np.array([int(chunk, 16) for chunk in ids], dtype=np.uint64)


def _count(before: TableParent | None, batch: TableRows, leaving: pa.Table | None, analyse: Analyse) -> Counts:
    """The parent's numbers without what goes, and with what comes."""
    counts = Counts({}, {}, 0)
    if before and leaving is not None:
        counts = Statistics(before.served, before.facts["totals"]).counts()
        old = image.read_table(before.served / "documents.arrow")
        went = old.filter(pc.is_in(old["doc"], pa.array(batch.gone, pa.large_string())))
        counts.passages(leaving["terms"].to_pylist(), -1)
        counts.fields(went, leaving, analyse, -1)
    counts.passages(batch.terms, 1)
    counts.fields(document_table(batch.documents), _headings(batch), analyse, 1)
    return counts


def _spread(served: Path, opened: Any, size: int) -> tuple[float, float]:
    """The usual cosine between passages of different documents, as the image measures it."""
    return spread_of(lambda some: _vectors(served, opened, some), image.map_array(served / "doc.npy"), size)


def _vectors(served: Path, opened: Any, chunks: np.ndarray) -> np.ndarray:
    """The vectors of some chunks, by row."""
    places = image.map_array(served / "rows.npy")[chunks].tolist()
    found = opened.take_row_ids(places).select(["vector"]).with_row_id().to_arrow()
    at = {row: n for n, row in enumerate(found["_rowid"].to_pylist())}
    return matrix(found["vector"])[[at[place] for place in places]]


def matrix(column: pa.ChunkedArray) -> np.ndarray:
    """A column of vectors as an array of rows."""
    flat = column.combine_chunks().flatten().to_numpy(zero_copy_only=False)
    return np.asarray(flat.reshape(len(column), -1)) if len(column) else np.empty((0, 0), np.float32)


def _recall(served: Path, opened: Any) -> float:
    """How many of the ten nearest passages of some passages the index of vectors finds."""
    size = len(image.map_array(served / "ids.npy"))
    some = np.linspace(0, size - 1, min(SAMPLED, size)).astype(np.int64)
    asked = _vectors(served, opened, some)
    best = [np.empty(0, np.float32) for _ in asked]
    names = [np.empty(0, np.uint64) for _ in asked]
    for batch in opened.search().select(["vector"]).with_row_id(True).to_batches(4096):
        cosines = asked @ matrix(pa.chunked_array([batch["vector"]])).T
        own = np.array(batch["_rowid"].to_pylist(), dtype=np.uint64)
        for n, scores in enumerate(cosines):
            together, all_names = np.concatenate([best[n], scores]), np.concatenate([names[n], own])
            top = np.argsort(-together, kind="stable")[:NEAREST]
            best[n], names[n] = together[top], all_names[top]
    found = [set(_approximate(opened, vector)) for vector in asked]
    hits = sum(len(one.intersection(exact.tolist())) for one, exact in zip(found, names, strict=True))
    return round(hits / max(1, sum(map(len, names))), 4)


def _approximate(opened: Any, vector: np.ndarray) -> list[int]:
    asked = nearest(opened, vector).select(["_distance"]).with_row_id(True).limit(NEAREST)
    places: list[int] = asked.to_arrow()["_rowid"].to_pylist()
    return places


def nearest(opened: Any, vector: np.ndarray) -> Any:
    """A search by the index of vectors."""
    search = opened.search(vector, vector_column_name="vector").distance_type("cosine")
    return search.nprobes(table.PROBES).refine_factor(table.REFINE)
