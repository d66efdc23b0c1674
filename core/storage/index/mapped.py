"""An open generation: legs over the memory-mapped image. Every array is read-only and shared by threads."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import cache, cached_property, lru_cache, partial
from pathlib import Path
from typing import IO, TypeAlias

import numpy as np

from core.analysis import analyser
from core.curation.text.markup import blanked
from core.curation.text.render import in_words
from core.cures import ADD_GRAPH
from core.errors import Unavailable
from core.lru import last_results
from core.ports import ByDocument, FieldScores, Leg, Ranking
from core.retrieval.engines import IMAGE, engine_of
from core.retrieval.filters import admits
from core.storage.index import assembled_graph
from core.storage.index.arrays import fields, image, kernels, stopwords
from core.storage.index.arrays import tfidf as ngrams
from core.storage.index.arrays.cache import ArrayCache
from core.storage.index.arrays.fields import Field, OwnerScores
from core.storage.index.arrays.gone import without
from core.storage.index.arrays.kernels import Postings, near_top
from core.storage.index.arrays.spread import spread_of
from core.storage.index.arrays.stitched import MergedSegments, StitchedNumbers, StitchedTexts, StitchedVectors
from core.storage.index.arrays.stitched_fields import StitchedField, stitched_fields
from core.storage.index.arrays.stopwords import StopWords
from core.storage.index.legs import CLOSE, Bm25Leg, DenseLeg, FieldedLeg
from core.storage.index.library_engines import Engines
from core.storage.index.record import graph_rows, lance
from core.storage.index.record.duckdb import HEADING
from core.storage.index.record.segment_list import Segment, is_alone, listed
from core.types import FIELDS, NOTHING, DocumentFacts, Filters, Generation, Graph, LexicalOptions, Passage, Profile

FIELD_SCORES = 16  # of the last queries: their words, and what those score in each field
ONLY_STOPS = "The question has stop words alone, so they count here."
Texts: TypeAlias = image.MappedTexts | StitchedTexts
Numbers: TypeAlias = np.ndarray | StitchedNumbers
_NUMBERS = ("start", "end", "first_byte", "last_byte", "parent_start", "parent_end")


class MappedIndex:
    """One generation, ready to search."""

    _texts: Texts
    _meta: Texts
    _ids: Texts
    _headings: Texts
    _contexts: Texts
    _starts: Numbers
    _ends: Numbers
    _first_byte: Numbers
    _last_byte: Numbers
    _above: Numbers
    _below: Numbers
    _rows: np.ndarray | StitchedVectors | None
    _sketches: np.ndarray | StitchedVectors

    def __init__(
        self,
        folder: Path,
        cache: ArrayCache,
        generation: Generation,
        profile: Profile,
        analyse: Callable[[str], list[str]],
        exact_limit: int,
        gone: Collection[str] = (),
    ) -> None:
        """`folder`: of its record; `gone` are documents of it that it is opened without."""
        self.generation, self.profile, self.analyse = generation, profile, analyse
        self._folder, self._cache, self.exact_limit = folder, cache, exact_limit
        self.pin: IO[str] | None = None  # keeps the generation from being removed while it is open
        self.segments, self.gone = _without(cache, folder, gone), frozenset(gone)
        alone = is_alone(self.segments)
        self._stitched = None if alone else MergedSegments.of(cache, folder, self.segments)
        self._map(self._stitched) if self._stitched else cache.read(folder, self.segments[0], self._map_alone)
        self._field_scores = last_results(self._score_field, FIELD_SCORES)
        self._asked = last_results(self._analysed, FIELD_SCORES)
        self._text = lru_cache(maxsize=256)(self._texts.__getitem__)
        self.excerpt = last_results(self._excerpt, 8192)
        self._masks = last_results(self._mask, 64)
        self.rarity = last_results(self._rarity, 50_000)
        self.passage = last_results(self._passage, 50_000)
        _single_threaded_blas()

    def _map_alone(self, arrays: Path) -> None:
        """One segment, and nothing of it is gone: its arrays as they are."""
        self._documents, chunks = (image.read_table(arrays / f"{name}.arrow") for name in ("documents", "chunks"))
        self._chunks = chunks
        self._texts, self._meta = (image.MappedTexts(self._documents, name) for name in ("text", "meta"))
        self._ids, self._headings, self._contexts = (
            image.MappedTexts(chunks, name) for name in ("id", "heading", "context")
        )
        self._doc_of, self._starts, self._ends, self._first_byte, self._last_byte, self._above, self._below = (
            image.numbers(chunks, name) for name in ("doc", *_NUMBERS)
        )
        self._terms = image.MappedTexts(image.read_table(arrays / "terms.arrow"), "term")
        self._postings = Postings(*(image.map_array(arrays / f"{name}.npy") for name in Postings._fields))
        rows = self._cache.vectors(self._folder, self.segments[0])
        self._rows, self._sketches = rows, image.map_array(arrays / "sketches.npy")
        if rows is not None:
            image.warm(rows)

    def _map(self, stitched: MergedSegments) -> None:
        """Several segments as one."""
        self._texts, self._meta = (stitched.texts(name, of_documents=True) for name in ("text", "meta"))
        self._ids, self._headings, self._contexts = (stitched.texts(name) for name in ("id", "heading", "context"))
        self._starts, self._ends, self._first_byte, self._last_byte, self._above, self._below = (
            stitched.numbers(name) for name in _NUMBERS
        )
        self._doc_of, self._rows, self._sketches = stitched.doc_of, stitched.vectors, stitched.sketches

    def without(self, gone: Collection[str]) -> MappedIndex:
        """The generation as if some documents had never been in it, with the numbers and statistics of the others."""
        index = self._opened(gone)
        index.pin = self.pin
        return index

    def _opened(self, gone: Collection[str]) -> MappedIndex:
        return MappedIndex(
            self._folder, self._cache, self.generation, self.profile, self.analyse, self.exact_limit, gone
        )

    # ------------------------------------------------------------ contents

    @property
    def size(self) -> int:
        return len(self._ids)

    @cached_property
    def documents(self) -> tuple[DocumentFacts, ...]:
        """In the order of ids."""
        return self._stitched.facts() if self._stitched else tuple(image.facts(self._documents))

    @cached_property
    def vocabulary(self) -> Mapping[str, int]:
        """Term to its number."""
        return self._stitched.vocabulary if self._stitched else {term: n for n, term in enumerate(self._terms.all())}

    @cached_property
    def _by_id(self) -> Mapping[str, int]:
        return {chunk: n for n, chunk in enumerate(self._ids.all())}

    def _passage(self, chunk: int) -> Passage:
        above = self._above.item(chunk)
        return Passage(
            id=self._ids[chunk],
            document=self._doc_of.item(chunk),
            start=self._starts.item(chunk),
            end=self._ends.item(chunk),
            heading=tuple(heading.split(HEADING)) if (heading := self._headings[chunk]) else (),
            parent=(above, self._below.item(chunk)) if above >= 0 else None,
        )

    def context(self, chunk: int) -> str:
        """The text put before the chunk when it is embedded."""
        return self._contexts[chunk]

    def number(self, chunk: str) -> int | None:
        """The number of a chunk id, if this generation has it."""
        return self._stitched.number(chunk) if self._stitched else self._by_id.get(chunk)

    def _rarity(self, term: str) -> float:
        """The inverse document frequency; 0 for an unknown term."""
        holders = self._holders(term)
        return float(image.inverse_frequencies(np.array(len(holders)), self.size)) if len(holders) else 0.0

    def holding(self, term: str, chunks: Sequence[int]) -> list[bool]:
        """Which of some chunks hold a term."""
        holders = self._holders(term)
        if not len(holders):
            return [False] * len(chunks)
        wanted = np.array(chunks, dtype=holders.dtype)  # another type would copy all holders
        at = np.minimum(np.searchsorted(holders, wanted), len(holders) - 1)
        held: list[bool] = (holders[at] == wanted).tolist()
        return held

    def _holders(self, term: str) -> np.ndarray:
        """The chunks that hold a term, in order."""
        if self._stitched:
            return self._stitched.holders(term)[0]
        number = self.vocabulary.get(term)
        if number is None:
            return np.empty(0, np.uint32)
        return self._postings.where[self._postings.start[number] : self._postings.start[number + 1]]

    @cached_property
    def spread(self) -> tuple[float, float]:
        """The mean and the deviation of cosines between passages of different documents, in a sample."""
        return spread_of(self._vectors.__getitem__, self._doc_of, self.size)

    def _excerpt(self, chunk: int) -> str:
        """The text of a chunk, read without touching the rest of its document."""
        return self._texts.part(self._doc_of.item(chunk), self._first_byte.item(chunk), self._last_byte.item(chunk))

    def text(self, document: int) -> str:
        return self._text(document)

    def answers(self, document: int) -> tuple[str, ...]:
        """The questions that a document says it answers."""
        return tuple(json.loads(self._meta[document]).get("answers") or ())

    def document_of(self, chunk: int) -> int:
        document: int = self._doc_of.item(chunk)
        return document

    def documents_of(self, chunks: Sequence[int]) -> list[int]:
        """Of many at once, in their order."""
        documents: list[int] = self._doc_of[np.array(chunks, dtype=np.int64)].tolist()
        return documents

    def chunks_of(self, document: int) -> list[int]:
        """In the order of the text."""
        order, bounds = self._by_document
        chunks: list[int] = order[bounds[document] : bounds[document + 1]].tolist()
        return chunks

    def by_document(self, rankings: Sequence[Ranking], depth: int) -> ByDocument:
        """The rankings of legs with one passage for each document."""
        return kernels.by_document(rankings, self._doc_of, depth)

    def families(self, chunks: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """All passages of the documents of some, one document after the other, and where each begins."""
        return kernels.families(self._doc_of[np.array(chunks, dtype=np.int64)], *self._by_document)

    def possible_copies(self, chunks: Sequence[int]) -> Mapping[int, Sequence[int]] | None:
        """The places of chunks that may be copies, with the earlier ones of which."""
        return kernels.earlier(self._sketches[np.array(chunks, dtype=np.int64)])

    @cached_property
    def _by_document(self) -> tuple[np.ndarray, np.ndarray]:
        """All chunks in the order of documents and text, and where each document begins."""
        bounds = np.searchsorted(np.sort(self._doc_of), np.arange(len(self.documents) + 1))
        starts = np.asarray(self._stitched.column("start") if self._stitched else self._starts)
        return np.lexsort((starts, self._doc_of)), bounds

    # ------------------------------------------------------------ filters

    def allowed(self, filters: Filters, today: date) -> np.ndarray | None:
        """A mask of the chunks that pass the filters; None when all do."""
        return self._masks(filters, today)

    def _mask(self, filters: Filters, today: date) -> np.ndarray | None:
        documents = (
            self._stitched.mask(filters, today)
            if self._stitched
            else np.array([admits(filters, facts, today) for facts in self.documents], dtype=np.bool_)
        )
        return None if documents.all() else documents[self._doc_of]

    # ------------------------------------------------------------ legs

    def bm25(self, query: str, engine: str = "", fields: Mapping[str, float] = NOTHING) -> Leg:
        """The lexical leg, by the image or another engine; words in a field add its weight. Stop words alone: by the
        image.
        """
        engine, (terms, only_stops) = engine_of("bm25", engine), self._asked(query)
        weighed = [(partial(self._field_scores, query, name), weight) for name, weight in fields.items() if weight]
        if engine == IMAGE or only_stops:
            return FieldedLeg(self._bm25(query), weighed) if weighed else self._bm25(query)
        return self._engines.bm25(engine, terms, lambda: sum(weight * score()(np.s_[:]) for score, weight in weighed))

    def _bm25(self, query: str) -> Bm25Leg:
        terms, only_stops = self._asked(query)
        if only_stops:
            words = self._stops.numbers(analyser(self._every_word)(query))
            return Bm25Leg(self._stops.postings, self.size, words, ONLY_STOPS)
        if self._stitched:
            postings, known = self._stitched.postings(terms)
            return Bm25Leg(postings, self.size, known)
        vocabulary = self.vocabulary
        numbers = [vocabulary[term] for term in terms if term in vocabulary]
        return Bm25Leg(self._postings, self.size, np.array(numbers, dtype=np.int64))

    def fields(self, query: str, names: Collection[str] = tuple(FIELDS)) -> FieldScores:
        """What the words of a query score in fields of a passage, before weights; they are looked up once."""
        scores = {name: self._field_scores(query, name) for name in names}
        return lambda chunk: {name: score.of(chunk) for name, score in scores.items()}

    def _score_field(self, query: str, name: str) -> OwnerScores:
        """What the words of a query score in one field; a search and the explanation of its hits ask for the same."""
        return self._fields_for(query)[name].scores(self._terms_of(query))

    def _fields_for(self, query: str) -> Mapping[str, Field | StitchedField]:
        return self._fields_of_all_words if self._only_stops(query) else self._fields

    @cached_property
    def _fields(self) -> Mapping[str, Field | StitchedField]:
        return self._fields_by(self.analyse, "fields")

    @cached_property
    def _fields_of_all_words(self) -> Mapping[str, Field | StitchedField]:
        return self._fields_by(analyser(self._every_word), "fields-of-all-words")

    def _fields_by(self, analyse: Callable[[str], list[str]], name: str) -> Mapping[str, Field | StitchedField]:
        if self._stitched is None:
            return self._cache.read(self._folder, self.segments[0], lambda arrays: fields.load(arrays, analyse, name))
        parts = []
        for part, segment in zip(self._stitched.parts, self.segments, strict=True):
            load = partial(self._cache.read, self._folder, segment, partial(fields.load, analyse=analyse, name=name))
            parts.append(part.once(name, load))
        return stitched_fields(parts, self._stitched)

    @cached_property
    def _stops(self) -> StopWords:
        lexical, every = self.profile.lexical, self._every_word
        if not self.gone:
            return stopwords.load(self._together, lexical, every, self._indexed_texts)
        whole = self._opened(())
        left = np.array([facts.doc not in self.gone for facts in whole.documents], dtype=np.bool_)
        return stopwords.load(whole._together, lexical, every, whole._indexed_texts, left[whole._doc_of])

    def _indexed_texts(self) -> Iterator[str]:
        """What the lexical leg reads of each chunk; its title and headings also where no context has them."""
        for chunk in range(self.size):
            title = self.documents[self.document_of(chunk)].title
            above = self.context(chunk) or " ".join((title, *self.passage(chunk).heading))
            yield f"{above}\n\n{blanked(in_words(self.excerpt(chunk)))}"

    @property
    def _every_word(self) -> LexicalOptions:
        return replace(self.profile.lexical, stopwords="none")

    def _only_stops(self, query: str) -> bool:
        """Whether a query holds nothing but stop words."""
        return self._asked(query)[1]

    def _terms_of(self, query: str) -> list[str]:
        """Distinct terms: repeating a word does not weigh it."""
        return self._asked(query)[0]

    def _analysed(self, query: str) -> tuple[list[str], bool]:
        """The distinct terms of a query, and whether they are stop words alone."""
        if terms := self.analyse(query):
            return sorted(set(terms)), False
        words = analyser(self._every_word)(query)
        return sorted(set(words)), bool(words)

    def tfidf(self, query: str) -> ngrams.FullLeg:
        """TF-IDF over unigrams and bigrams."""
        return ngrams.FullLeg(lambda: self._tfidf.scores(self.analyse(query)))

    def sparse(self, query: str) -> ngrams.FullLeg:
        """The mean of BM25 and TF-IDF."""
        return ngrams.FullLeg(
            lambda: ngrams.averaged(self._bm25(query).every(), self._tfidf.scores(self.analyse(query)))
        )

    @cached_property
    def _tfidf(self) -> ngrams.TfidfMatrix:
        if self.gone:
            return ngrams.build(self._engines.analysed(), self.vocabulary)
        return ngrams.load(self._together, self.vocabulary, self.size, lambda: self._engines.analysed())

    def dense(self, vector: np.ndarray, engine: str = "") -> Leg:
        """The vector leg, by the image or another engine."""
        own = DenseLeg(self, self._vectors, vector)
        return own if engine_of("dense", engine) == IMAGE else self._engines.dense(vector)

    @property
    def _vectors(self) -> np.ndarray | StitchedVectors:
        if self._rows is None:
            raise Unavailable("its vectors are still being computed.")
        return self._rows

    @property
    def _together(self) -> Path:
        """Where what follows from all segments is kept."""
        return self._cache.together(self._folder, self.segments)

    @cached_property
    def _engines(self) -> Engines:
        return Engines(self._folder, self._cache, self.segments, self._stitched, self._ids, self.number)

    def vector(self, chunk: int) -> np.ndarray:
        row: np.ndarray = self._vectors[chunk]
        return row

    def near(self, vector: np.ndarray, depth: int) -> np.ndarray:
        """About the nearest chunks of every segment: by the ANN index of a very large one, of others exactly."""
        found: list[np.ndarray] = []
        for n, segment in enumerate(self.segments):
            numbers = self._stitched.chunks.numbers[n] if self._stitched else np.arange(self.size)
            if segment.chunks > self.exact_limit:
                ids, _ = lance.search_ann(segment.folder(self._folder) / "vec", vector, depth)
                known = self._stitched.parts[n].ids if self._stitched else image.fixed(self._chunks, "id", 16)
                local = np.searchsorted(known, np.array(ids, dtype=known.dtype))
            else:
                rows = self._stitched.parts[n].vectors if self._stitched else None
                local = near_top((self._vectors if rows is None else rows) @ vector, depth, CLOSE)
            found.append(numbers[local][numbers[local] >= 0])
        return np.concatenate(found).astype(np.int64)

    def graph(self) -> Graph:
        return self._graph

    @cached_property
    def _graph(self) -> Graph:
        if not all(graph_rows.present(one.folder(self._folder)) for one in self.segments):
            raise Unavailable(
                f"The profile {self.profile.name!r} has no graph (graph: {self.profile.graph}). "
                "Search with a profile whose graph is rules.",
                ADD_GRAPH,
            )
        return (
            assembled_graph.assembled(self._folder, self.segments, self._cache)
            if self.gone
            else assembled_graph.load(self._folder, self._doc_of, self._cache)
        )


def _without(cache: ArrayCache, folder: Path, gone: Collection[str]) -> tuple[Segment, ...]:
    """The segments of a generation without some more documents; one of which nothing is left goes, unless it is the
    last.
    """
    if not gone:
        return listed(folder)
    segments = tuple(without(cache, folder, segment, gone) for segment in listed(folder))
    return tuple(segment for segment in segments if segment.live) or segments[:1]


@cache
def _single_threaded_blas() -> None:
    """BLAS threads spin while they wait; searches run in parallel instead."""
    import threadpoolctl

    threadpoolctl.threadpool_limits(1, user_api="blas")
