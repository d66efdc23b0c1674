"""An open generation of a table: rows are read when somebody looks at them, words and vectors are searched by LanceDB."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import pyarrow as pa

from core.analysis import options_for
from core.errors import Unavailable
from core.lru import LruCache, last_results
from core.ports import ByDocument, FieldScores, Leg, Ranking
from core.retrieval.engines import APPROXIMATE
from core.retrieval.filters import admits
from core.storage.index.duckdb import HEADING
from core.storage.lance import rows_written, table
from core.storage.lance.legs import FilterMask, VectorsLeg, WordsLeg, clause, hiding
from core.storage.lance.term_counts import PASSAGE, Counts, ReducedStatistics, Statistics
from core.storage.serving import fields as field_texts
from core.storage.serving import image, kernels
from core.storage.serving.spread import spread_of
from core.types import FIELDS, NOTHING, DocumentFacts, Filters, Generation, Graph, Passage, Profile

LOOKED_UP = ["start", "stop", "parent_start", "parent_stop", "heading", "context", "text", "terms"]
KEPT_ROWS = 10_000  # about 3 KB each
KEPT_VECTORS = 4_000
STOPS_ONLY = "The question has stop words alone, which this index does not hold."


class ChunkRow(NamedTuple):
    """What the table holds of a chunk, besides its vector."""

    start: int
    stop: int
    parent_start: int
    parent_stop: int
    heading: str
    context: str
    text: str
    terms: str


class DocumentRows(Sequence[DocumentFacts]):
    """Facts of documents in the order of ids, read from a mapped file when somebody looks."""

    def __init__(self, documents: pa.Table) -> None:
        self._documents = documents.select(list(DocumentFacts.__dataclass_fields__))
        self._one = last_results(self._read_one, 10_000)

    def __len__(self) -> int:
        return int(self._documents.num_rows)

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return [self._one(n) for n in range(*number.indices(len(self)))]
        return self._one(range(len(self))[number])

    def __iter__(self) -> Iterator[DocumentFacts]:
        for first in range(0, len(self), 1000):
            yield from self._read(first, 1000)

    def _read_one(self, number: int) -> DocumentFacts:
        return self._read(number, 1)[0]

    def _read(self, first: int, count: int) -> list[DocumentFacts]:
        rows = self._documents.slice(first, count).to_pylist()
        return [DocumentFacts(**{**row, "tags": tuple(row["tags"])}) for row in rows]


class TableIndex:
    """One version of a table, ready to search."""

    def __init__(
        self,
        served: Path,
        place: str,
        facts: Mapping[str, Any],
        generation: Generation,
        profile: Profile,
        analyse: Callable[[str], list[str]],
    ) -> None:
        self.generation, self.profile, self.analyse = generation, profile, analyse
        self.pin: IO[str] | None = None  # keeps the generation from being removed while it is open
        self._table = table.at(place, facts["version"])
        self._facts = facts
        self._ids, self._places, self._doc_of, self._order = (
            image.map_array(served / f"{name}.npy") for name in ("ids", "rows", "doc", "order")
        )
        self._documents = image.read_table(served / "documents.arrow")
        self._statistics = Statistics(served, facts["totals"])
        self._indexed = {column for config in self._table.list_indices() for column in config.columns}
        self.gone, self._shown = frozenset[str](), ""  # a condition on rows
        self._start()

    def _start(self) -> None:
        """With nothing kept of what was read."""
        for name in ("spread", "_bounds"):
            self.__dict__.pop(name, None)
        self.documents = DocumentRows(self._documents)  # in the order of ids
        self.vocabulary = self._statistics.vocabulary()
        self._rows: LruCache[int, ChunkRow] = LruCache(KEPT_ROWS)
        self._vectors: LruCache[int, np.ndarray] = LruCache(KEPT_VECTORS)
        self._masks = last_results(self._mask, 8)
        self._text = last_results(self._whole_text, 256)
        self._of_document = last_results(self._document_entries, 10_000)
        self._of_heading = last_results(self._heading_entries, 10_000)

    def without(self, gone: Collection[str]) -> TableIndex:
        """The generation as if some documents had never been in it, with the numbers and statistics of the others."""
        out = np.array([doc in gone for doc in self._documents["doc"].to_pylist()], dtype=np.bool_)
        paths = np.array(self._documents["path"].to_pylist(), dtype=object)
        index, left = copy(self), ~out[self._doc_of]
        index.gone, index._shown = frozenset(gone), hiding(paths[out], paths[~out]) if out.any() else ""
        index._statistics = ReducedStatistics(self._statistics, self._counts(np.flatnonzero(out).tolist()))
        index._ids, index._places = self._ids[left], self._places[left]
        index._doc_of = (np.cumsum(~out, dtype=self._doc_of.dtype) - 1)[self._doc_of[left]]
        index._order = (np.cumsum(left, dtype=self._order.dtype) - 1)[self._order[left[self._order]]]
        index._documents = self._documents.filter(pa.array(~out))
        index._start()
        return index

    def _counts(self, numbers: Sequence[int]) -> Counts:
        """The words of some documents."""
        chunks, counts = [chunk for n in numbers for chunk in self.chunks_of(n)], Counts({}, {}, 0)
        headings: list[str] = []
        for first in range(0, len(chunks), KEPT_ROWS // 2):
            some = chunks[first : first + KEPT_ROWS // 2]
            self.fetch(some)
            counts.passages((self._row(chunk).terms for chunk in some), 1)
            headings += [self._row(chunk).heading for chunk in some]
        counts.fields(self._documents.take(numbers), pa.table({"heading": headings}), self.analyse, 1)
        return counts

    # ------------------------------------------------------------ contents

    @property
    def size(self) -> int:
        return len(self._ids)

    def passage(self, chunk: int) -> Passage:
        row = self._row(chunk)
        return Passage(
            id=f"{int(self._ids[chunk]):016x}",
            document=self.document_of(chunk),
            start=row.start,
            end=row.stop,
            heading=tuple(row.heading.split(HEADING)) if row.heading else (),
            parent=(row.parent_start, row.parent_stop) if row.parent_start >= 0 else None,
        )

    def number(self, chunk: str) -> int | None:
        """The number of a chunk id, if this generation has it."""
        try:
            wanted = np.uint64(int(chunk, 16))
        except (ValueError, OverflowError):
            return None
        at = int(np.searchsorted(self._ids, wanted))
        return at if at < self.size and self._ids[at] == wanted and f"{int(wanted):016x}" == chunk else None

    def context(self, chunk: int) -> str:
        """The text put before the chunk when it is embedded."""
        return self._row(chunk).context

    def excerpt(self, chunk: int) -> str:
        return self._row(chunk).text

    def text(self, document: int) -> str:
        return self._text(document)

    def _whole_text(self, document: int) -> str:
        """A document's text: on the row of its first chunk."""
        chunks = self.chunks_of(document)
        if not chunks:
            return str(self._documents["text"][document].as_py())
        rows = self._take([int(self._places[chunks[0]])], ["document"])
        return str(rows["document"][0].as_py())

    def answers(self, document: int) -> tuple[str, ...]:
        """The questions that a document says it answers."""
        return tuple(json.loads(self._documents["meta"][document].as_py()).get("answers") or ())

    def document_of(self, chunk: int) -> int:
        document: int = self._doc_of.item(chunk)
        return document

    def documents_of(self, chunks: Sequence[int]) -> list[int]:
        """Of many at once, in their order."""
        documents: list[int] = self._doc_of[np.array(chunks, dtype=np.int64)].tolist()
        return documents

    def chunks_of(self, document: int) -> list[int]:
        """In the order of the text."""
        chunks: list[int] = self._order[self._bounds[document] : self._bounds[document + 1]].tolist()
        return chunks

    def by_document(self, rankings: Sequence[Ranking], depth: int) -> ByDocument:
        """The rankings of legs with one passage for each document."""
        return kernels.by_document(rankings, self._doc_of, depth)

    def families(self, chunks: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """All passages of the documents of some, one document after the other, and where each begins."""
        return kernels.families(self._doc_of[np.array(chunks, dtype=np.int64)], self._order, self._bounds)

    def possible_copies(self, chunks: Sequence[int]) -> None:
        """Not known: rows of a table have no sketches."""

    @cached_property
    def _bounds(self) -> np.ndarray:
        """Where each document begins in the order of documents."""
        counts = np.bincount(self._doc_of, minlength=self._documents.num_rows)
        return np.concatenate([[0], np.cumsum(counts)])

    @cached_property
    def spread(self) -> tuple[float, float]:
        """The mean and the deviation of cosines between passages of different documents, in a sample."""
        if self.gone:
            return spread_of(lambda some: self.vectors(some.tolist()), self._doc_of, self.size)
        mean, deviation = self._facts["spread"]
        return mean, deviation

    def rarity(self, term: str) -> float:
        """The inverse document frequency; 0 for an unknown term."""
        return self._statistics.rarity(PASSAGE, term) if self._statistics.holders(PASSAGE, term) else 0.0

    def holding(self, term: str, chunks: Sequence[int]) -> list[bool]:
        """Which of some chunks hold a term."""
        self.fetch(chunks)
        return [term in self._row(chunk).terms.split() for chunk in chunks]

    # ------------------------------------------------------------ rows

    def fetch(self, chunks: Iterable[int]) -> None:
        """Read the rows of chunks at once, as far as they are not kept."""
        missing = sorted({chunk for chunk in chunks if chunk not in self._rows})
        if not missing:
            return
        numbers = {int(self._places[chunk]): chunk for chunk in missing}
        self._keep(self._take(list(numbers), LOOKED_UP), numbers)

    def _keep(self, found: pa.Table, numbers: Mapping[int, int]) -> None:
        columns = [found[name].to_pylist() for name in LOOKED_UP]
        for place, *values in zip(found["_rowid"].to_pylist(), *columns, strict=True):
            self._rows[numbers[place]] = ChunkRow(*values)

    def _row(self, chunk: int) -> ChunkRow:
        kept = self._rows.get(chunk)
        if kept is None:
            place = int(self._places[chunk])
            self._keep(self._take([place], LOOKED_UP), {place: chunk})
            return self._row(chunk)
        return kept

    def _take(self, places: list[int], columns: list[str]) -> pa.Table:
        return self._table.take_row_ids(places).select(columns).with_row_id().to_arrow()

    def vectors(self, chunks: Sequence[int]) -> np.ndarray:
        """The vectors of chunks, in their order."""
        known = {chunk: row for chunk in chunks if (row := self._vectors.get(chunk)) is not None}
        numbers = {int(self._places[chunk]): chunk for chunk in sorted(set(chunks) - known.keys())}
        if numbers:
            found = self._take(list(numbers), ["vector"])
            rows = rows_written.matrix(found["vector"])
            known |= {numbers[place]: row for place, row in zip(found["_rowid"].to_pylist(), rows, strict=True)}
        for chunk in chunks:
            self._vectors[chunk] = known[chunk]
        return np.array([known[chunk] for chunk in chunks], dtype=np.float32)

    def vector(self, chunk: int) -> np.ndarray:
        row: np.ndarray = self.vectors([chunk])[0]
        return row

    # ------------------------------------------------------------ filters

    def allowed(self, filters: Filters, today: date) -> np.ndarray | None:
        """A mask of the chunks that pass the filters, with the clause for the table; None when all do."""
        return self._masks(filters, today)

    def _mask(self, filters: Filters, today: date) -> np.ndarray | None:
        documents = np.array([admits(filters, facts, today) for facts in self.documents], dtype=np.bool_)
        if documents.all():
            return None
        mask: FilterMask = documents[self._doc_of].view(FilterMask)
        mask.where = clause(filters, today)
        return mask

    # ------------------------------------------------------------ legs

    def bm25(self, query: str, engine: str = "", fields: Mapping[str, float] = NOTHING) -> Leg:
        """Words, found by LanceDB. Stop words alone find nothing: they are not in the table."""
        self._own_engine(engine)
        lexical = options_for(query, self.profile.lexical)
        if lexical != self.profile.lexical:
            return WordsLeg(self, (), NOTHING, STOPS_ONLY)
        weighed = {name: weight for name, weight in fields.items() if weight}
        return WordsLeg(self, tuple(sorted(set(self.analyse(query)))), weighed)

    def dense(self, vector: np.ndarray, engine: str = "") -> Leg:
        """Vectors, found by LanceDB."""
        self._own_engine(engine)
        return VectorsLeg(self, vector, APPROXIMATE if "vector" in self._indexed else "")

    def _own_engine(self, engine: str) -> None:
        if engine:
            raise Unavailable(
                f"The profile {self.profile.name!r} is searched in LanceDB, so the engine {engine!r} cannot answer for it. "
                "Take the engine out of the configuration, or search with a profile whose engine is image."
            )

    def holders(self, column: str, terms: Sequence[str], limit: int, where: str) -> list[int]:
        """Chunks that hold some of the terms in a column, best first by LanceDB's own BM25."""
        from lancedb.query import MatchQuery

        if column not in self._indexed:
            return []
        search = self._table.search(MatchQuery(" ".join(terms), column))
        return self._found(search, "_score", limit, where)

    def nearest(self, vector: np.ndarray, limit: int, where: str) -> list[int]:
        """Chunks near a vector, nearest first."""
        if "vector" in self._indexed:
            return self._found(rows_written.nearest(self._table, vector), "_distance", limit, where)
        flat = self._table.search(vector, vector_column_name="vector").distance_type("dot")
        return self._found(flat, "_distance", limit, where)

    def _found(self, search: Any, score: str, limit: int, where: str) -> list[int]:
        """Ask, and keep the rows that come with the answer."""
        conditions = " AND ".join(filter(None, (where, self._shown)))
        asked = search.where(conditions, prefilter=True) if conditions else search
        found = asked.select(["id", score, *LOOKED_UP]).with_row_id(True).limit(limit).to_arrow()
        numbers = np.searchsorted(self._ids, rows_written.as_numbers(found["id"].to_pylist())).tolist()
        self._keep(found, dict(zip(found["_rowid"].to_pylist(), numbers, strict=True)))
        return [int(number) for number in numbers]

    def words(self, terms: Sequence[str], chunk: int) -> float:
        """BM25 of a chunk, with the k1 and b of the profile."""
        words = self._row(chunk).terms.split()
        held, lexical, statistics = Counter(words), self.profile.lexical, self._statistics
        norm = lexical.k1 * (1.0 - lexical.b + lexical.b * len(words) / statistics.mean_length)
        return sum(
            statistics.rarity(PASSAGE, term) * (lexical.k1 + 1.0) * held[term] / (held[term] + norm)
            for term in terms
            if term in held
        )

    def fields(self, query: str, names: Collection[str] = tuple(FIELDS)) -> FieldScores:
        """What the words of a query score in each field of a passage, before weights."""
        terms = sorted(set(self.analyse(query)))
        return lambda chunk: self.fits(terms, chunk, names)

    def fits(self, terms: Sequence[str], chunk: int, names: Iterable[str]) -> Mapping[str, float]:
        """What terms score in some fields of a passage."""
        around = {**self._of_document(self.document_of(chunk)), "headings": self._of_heading(self._row(chunk).heading)}
        return {name: self._statistics.fit(name, terms, around[name]) for name in names}

    def _document_entries(self, document: int) -> Mapping[str, list[frozenset[str]]]:
        """The words of each entry of the fields of a document."""
        facts, none = self._documents.slice(document, 1), pa.table({"heading": [""]})
        texts = {name: next(field_texts.texts(name, facts, none)) for name in FIELDS}
        return {name: [frozenset(self.analyse(text)) for text in own] for name, own in texts.items()}

    def _heading_entries(self, heading: str) -> list[frozenset[str]]:
        return [frozenset(self.analyse(text)) for text in heading.split(HEADING)]

    def tfidf(self, query: str) -> Leg:
        raise self._without("tfidf")

    def sparse(self, query: str) -> Leg:
        raise self._without("sparse")

    def graph(self) -> Graph:
        raise self._without("graph")

    def _without(self, leg: str) -> Unavailable:
        return Unavailable(
            f"The profile {self.profile.name!r} is searched in LanceDB, which has no {leg}: that needs the whole collection "
            "in memory. Search with bm25 and dense, or with a profile whose engine is image."
        )
