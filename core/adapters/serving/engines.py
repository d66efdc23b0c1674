"""The libraries' own searches over a generation, beside the image: DuckDB's and rank-bm25's BM25, LanceDB's cosine.

They open at first use and stay open as long as the generation. Several threads may ask at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log
from pathlib import Path
from typing import Any

import numpy as np

from core.adapters.index import duckdb, lance
from core.adapters.serving import image
from core.adapters.serving.tfidf import FullLeg
from core.errors import Unavailable
from core.ports import Leg, Ranking
from core.retrieval.engines import DUCKDB
from core.types import LexicalOptions

RANK_BM25_LIMIT = 50_000  # chunks; it keeps a dictionary for each, 5 KB: 240 MB


class Engines:
    """The engines of one generation. `ids` are those of its chunks, in order; `number` is the inverse."""

    def __init__(
        self, folder: Path, options: LexicalOptions, ids: image.MappedTexts, number: Callable[[str], int | None]
    ) -> None:
        self.folder, self.options, self.ids, self.number = folder, options, ids, number

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
        """DuckDB takes the logarithm to base 10. Its threads add in any order: nine digits hide that, so ties stay ties."""
        with self._duckdb.cursor() as cursor:
            scores = duckdb.match_bm25(cursor, terms, self.options.k1, self.options.b)
        return np.round(scores * log(10.0), 9)

    @cached_property
    def _duckdb(self) -> Any:
        return duckdb.reader(self.folder / "fts.duckdb")

    @cached_property
    def _rank_bm25(self) -> Any:
        """Okapi BM25 with the image's inverse frequencies: its own are negative for a term in half of all chunks."""
        from rank_bm25 import BM25Okapi

        with self._duckdb.cursor() as cursor:
            texts = [terms.split() for terms in duckdb.analysed(cursor)]
        if not any(texts):
            return None
        okapi = BM25Okapi(texts, k1=self.options.k1, b=self.options.b)
        frequencies: dict[str, int] = {}
        for counts in okapi.doc_freqs:
            for term in counts:
                frequencies[term] = frequencies.get(term, 0) + 1
        idf = image.inverse_frequencies(np.array(list(frequencies.values())), len(texts))
        okapi.idf = dict(zip(frequencies, idf.tolist(), strict=True))
        return okapi

    @cached_property
    def vectors(self) -> Any:
        """The Lance table."""
        return lance.table(self.folder / "vec")


@dataclass(frozen=True, slots=True)
class LanceLeg:
    """LanceDB's exact cosine search. It leaves out vectors of length 0; their cosine is 0 here, as in the image."""

    engines: Engines
    vector: np.ndarray
    floor = -1.0

    def search(self, depth: int, allowed: np.ndarray | None) -> Ranking:
        """The nearest chunks: asks for more until the filter leaves enough, and no tie is cut off."""
        size = len(self.engines.ids)
        wanted = min(4 * depth, size)
        while wanted:
            nearest = self._cosines(lance.nearest(self.engines.vectors, self.vector, wanted))
            scores = nearest if wanted < size else dict.fromkeys(range(size), 0.0) | nearest
            ranking = _best(scores, depth, allowed)
            unseen = max(min(nearest.values(), default=0.0), 0.0)  # no chunk beyond scores more
            if wanted == size or (len(ranking) == depth and min(ranking.values()) > unseen):
                return ranking
            wanted = min(4 * wanted, size)
        return {}

    def score(self, chunks: Sequence[int]) -> list[float]:
        """The cosine of given chunks."""
        ids = [self.engines.ids[chunk] for chunk in chunks]
        cosines = self._cosines(lance.distances(self.engines.vectors, self.vector, ids)) if ids else {}
        return [cosines.get(chunk, 0.0) for chunk in chunks]

    def _cosines(self, distances: Sequence[tuple[str, float]]) -> dict[int, float]:
        """Chunk numbers with scores. LanceDB divides by the query's length, the image does not."""
        length = float(np.linalg.norm(self.vector))
        numbered = ((self.engines.number(chunk), distance) for chunk, distance in distances)
        return {chunk: (1.0 - distance) * length for chunk, distance in numbered if chunk is not None}


def _best(scores: dict[int, float], depth: int, allowed: np.ndarray | None) -> Ranking:
    admitted = ((chunk, score) for chunk, score in scores.items() if allowed is None or allowed[chunk])
    return dict(sorted(admitted, key=lambda pair: (-pair[1], pair[0]))[:depth])
