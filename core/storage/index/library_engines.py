"""The libraries' own searches over a generation, beside the image: DuckDB's and rank-bm25's BM25, LanceDB's cosine.

They open at first use and stay open as long as the generation. Several threads may ask at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log
from pathlib import Path
from typing import Any

import numpy as np

from core.errors import Unavailable
from core.ports import Leg, Ranking
from core.retrieval.engines import DUCKDB
from core.storage.index.arrays import image
from core.storage.index.arrays.cache import ArrayCache
from core.storage.index.arrays.gone import gone_chunks
from core.storage.index.arrays.stitched import MergedSegments, StitchedTexts, objects
from core.storage.index.arrays.tfidf import FullLeg
from core.storage.index.record import duckdb, lance
from core.storage.index.record.segment_list import Segment

RANK_BM25_LIMIT = 50_000  # chunks; it keeps a dictionary for each, 5 KB: 240 MB


class Engines:
    """The engines of one generation. `ids` are those of its chunks, in order; `number` is the inverse."""

    def __init__(
        self,
        folder: Path,
        cache: ArrayCache,
        listed: Sequence[Segment],
        stitched: MergedSegments | None,
        ids: image.MappedTexts | StitchedTexts,
        number: Callable[[str], int | None],
    ) -> None:
        self.folder, self.cache = folder, cache
        self.listed, self.stitched = listed, stitched
        self.ids, self.number = ids, number

    def bm25(self, name: str, terms: Sequence[str], more: Callable[[], np.ndarray | float] = lambda: 0.0) -> Leg:
        """BM25 by DuckDB or rank-bm25, for distinct terms, plus `more`. Both score every chunk."""
        if name == DUCKDB:
            return FullLeg(lambda: self._match_bm25(terms) + more())
        if len(self.ids) > RANK_BM25_LIMIT:
            raise Unavailable(
                f"rank-bm25 answers for at most {RANK_BM25_LIMIT:,} chunks, this index has {len(self.ids):,}. "
                "Choose the engine duckdb or image."
            )
        return FullLeg(lambda: (self._rank_bm25.get_scores(terms) if self._rank_bm25 else self._nothing) + more())

    def dense(self, vector: np.ndarray) -> Leg:
        """Cosine by LanceDB."""
        return LanceLeg(self, vector)

    @property
    def _nothing(self) -> np.ndarray:
        return np.zeros(len(self.ids))

    def _match_bm25(self, terms: Sequence[str]) -> np.ndarray:
        """DuckDB takes the logarithm to base 10. Its threads add in any order: nine digits hide that, so ties stay
        ties.
        """
        k1, b = self.cache.options.k1, self.cache.options.b
        if self.stitched is None:
            with self._duckdb[0].cursor() as cursor:
                scores = duckdb.match_bm25(cursor, terms, k1, b)
            return np.round(scores * log(10.0), 9)
        found: Counter[str] = Counter()
        for connection, gone in zip(self._duckdb, self._gone, strict=True):
            with connection.cursor() as cursor:
                found.update(duckdb.frequencies(cursor, terms, gone))
        columns = []
        for connection in self._duckdb:
            with connection.cursor() as cursor:
                columns.append(duckdb.scores(cursor, found, *self._counted, k1, b))
        return np.round(self.stitched.chunks.spread(columns) * log(10.0), 9)

    @cached_property
    def _counted(self) -> tuple[int, int]:
        """How many chunks there are, and how many words."""
        pairs = [duckdb.counted(*pair) for pair in zip(self._duckdb, self._gone, strict=True)]
        return sum(chunks for chunks, _ in pairs), sum(words for _, words in pairs)

    @cached_property
    def _gone(self) -> list[list[str]]:
        return [gone_chunks(self.cache, self.folder, segment) for segment in self.listed]

    @cached_property
    def _duckdb(self) -> list[Any]:
        return [duckdb.reader(segment.folder(self.folder) / "fts.duckdb") for segment in self.listed]

    def analysed(self) -> list[str]:
        """The terms of every chunk, joined by spaces."""
        texts = []
        for connection in self._duckdb:
            with connection.cursor() as cursor:
                texts.append(duckdb.analysed(duckdb.occurrences(cursor)))
        return self.stitched.chunks.spread([objects(own) for own in texts]).tolist() if self.stitched else texts[0]

    @cached_property
    def _rank_bm25(self) -> Any:
        """Okapi BM25 with the image's inverse frequencies: its own are negative for a term in half of all chunks."""
        from rank_bm25 import BM25Okapi

        texts = [terms.split() for terms in self.analysed()]
        if not any(texts):
            return None
        okapi = BM25Okapi(texts, k1=self.cache.options.k1, b=self.cache.options.b)
        frequencies: dict[str, int] = {}
        for counts in okapi.doc_freqs:
            for term in counts:
                frequencies[term] = frequencies.get(term, 0) + 1
        idf = image.inverse_frequencies(np.array(list(frequencies.values())), len(texts))
        okapi.idf = dict(zip(frequencies, idf.tolist(), strict=True))
        return okapi

    @cached_property
    def vectors(self) -> list[Any]:
        """The Lance table of each segment."""
        return [lance.table(segment.folder(self.folder) / "vec") for segment in self.listed]

    def numbered(self, n: int, found: Sequence[tuple[str, float]]) -> dict[int, float]:
        """Chunks that a segment's table gave, by number; without those that are gone."""
        if self.stitched is None:
            return {number: value for chunk, value in found if (number := self.number(chunk)) is not None}
        ids, numbers = self.stitched.parts[n].ids, self.stitched.chunks.numbers[n]
        places = np.searchsorted(ids, np.array([chunk for chunk, _ in found], dtype=ids.dtype))
        pairs = zip(numbers[places].tolist(), (value for _, value in found), strict=True)
        return {number: value for number, value in pairs if number >= 0}


@dataclass(frozen=True, slots=True)
class LanceLeg:
    """LanceDB's exact cosine search. It leaves out vectors of length 0; their cosine is 0 here, as in the image."""

    engines: Engines
    vector: np.ndarray
    floor = -1.0

    def search(self, depth: int, allowed: np.ndarray | None) -> Ranking:
        """The nearest chunks: asks for more until the filter leaves enough, and no tie is cut off."""
        size = len(self.engines.ids)
        largest = max(segment.chunks for segment in self.engines.listed)
        wanted = min(4 * depth, largest)
        while wanted and size:
            nearest, unseen = self._nearest(wanted)
            scores = nearest if wanted < largest else dict.fromkeys(range(size), 0.0) | nearest
            ranking = _best(scores, depth, allowed)
            if wanted == largest or (len(ranking) == depth and min(ranking.values()) > max(unseen, 0.0)):
                return ranking
            wanted = min(4 * wanted, largest)
        return {}

    def _nearest(self, wanted: int) -> tuple[dict[int, float], float]:
        """The nearest chunks of every segment; no chunk beyond them scores more than the second value."""
        nearest: dict[int, float] = {}
        unseen = 0.0
        for n, table in enumerate(self.engines.vectors):
            found = lance.nearest(table, self.vector, min(wanted, self.engines.listed[n].chunks))
            cosines = self._cosines(found)
            nearest |= self.engines.numbered(n, cosines)
            if len(found) < self.engines.listed[n].chunks:
                unseen = max(unseen, min((score for _, score in cosines), default=0.0))
        return nearest, unseen

    def score(self, chunks: Sequence[int]) -> list[float]:
        cosines: dict[int, float] = {}
        for n, table in enumerate(self.engines.vectors):
            part = self.engines.stitched.chunks.part if self.engines.stitched else None
            ids = [self.engines.ids[chunk] for chunk in chunks if part is None or part[chunk] == n]
            if ids:
                found = self._cosines(lance.distances(table, self.vector, ids))
                cosines |= self.engines.numbered(n, found)
        return [cosines.get(chunk, 0.0) for chunk in chunks]

    def _cosines(self, distances: Sequence[tuple[str, float]]) -> list[tuple[str, float]]:
        """Chunks with scores. LanceDB divides by the query's length, the image does not."""
        length = float(np.linalg.norm(self.vector))
        return [(chunk, (1.0 - distance) * length) for chunk, distance in distances]


def _best(scores: dict[int, float], depth: int, allowed: np.ndarray | None) -> Ranking:
    admitted = ((chunk, score) for chunk, score in scores.items() if allowed is None or allowed[chunk])
    return dict(sorted(admitted, key=lambda pair: (-pair[1], pair[0]))[:depth])
