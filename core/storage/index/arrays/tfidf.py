"""TF-IDF over unigrams and bigrams, the cascade study's second sparse leg; built at first use and kept on disk.

The weighting is scikit-learn's default, since the study names no other: raw counts, smooth inverse frequencies, unit
length; the 50,000 most frequent features. Terms are those of BM25, so both sparse legs read the same words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from core.adapters.system.files import fsync_tree, scratch_folder
from core.ports import Ranking
from core.storage.index.arrays import image, kernels

FEATURES = 50_000
UNFINISHED = ".tfidf-"  # folders that are being written
_ARRAYS = ("features", "idf", "start", "where", "gains")


@dataclass(frozen=True)
class TfidfMatrix:
    """Postings per feature. A feature is a term's number, or two of them packed into one (see `codes`), in order."""

    vocabulary: Mapping[str, int]
    size: int
    features: np.ndarray
    idf: np.ndarray
    start: np.ndarray
    where: np.ndarray
    gains: np.ndarray

    def query(self, terms: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """The known features of a query and their weights: a unit vector."""
        numbers = np.array([self.vocabulary.get(term, -1) for term in terms], dtype=np.int64)
        asked, counts = np.unique(codes(numbers, len(self.vocabulary)), return_counts=True)
        if not len(self.features) or not len(asked):
            return np.empty(0, np.int64), np.empty(0)
        at = np.minimum(np.searchsorted(self.features, asked), len(self.features) - 1)
        known = self.features[at] == asked
        weights = counts[known] * self.idf[at[known]]
        return at[known], weights / (np.linalg.norm(weights) or 1.0)

    def scores(self, terms: Sequence[str]) -> np.ndarray:
        """The cosine of every chunk to the query."""
        features, weights = self.query(terms)
        total = np.zeros(self.size)
        for feature, weight in zip(features.tolist(), weights.tolist(), strict=True):
            here = slice(self.start[feature], self.start[feature + 1])
            total[self.where[here]] += weight * self.gains[here]
        return total


def codes(numbers: np.ndarray, terms: int) -> np.ndarray:
    """Each known term and each pair of known neighbours as one number; -1 marks an unknown term.

    >>> codes(np.array([2, 0, -1, 1]), 3).tolist()
    [2, 0, 1, 9]
    """
    pairs = (numbers[:-1] + 1) * terms + numbers[1:]
    together = (numbers[:-1] >= 0) & (numbers[1:] >= 0)
    return np.concatenate([numbers[numbers >= 0], pairs[together]])


def build(texts: Sequence[str], vocabulary: Mapping[str, int], limit: int = FEATURES) -> TfidfMatrix:
    """The matrix of chunks, each given as its terms joined by spaces."""
    chunk, code = _occurrences(texts, vocabulary)
    features, column, counts = np.unique(code, return_inverse=True, return_counts=True)
    frequent = np.sort(np.lexsort((features, -counts))[:limit])  # of equally frequent ones the first by number
    place = np.full(len(features), -1, np.int64)
    place[frequent] = np.arange(len(frequent))
    column = place[column]
    start, where, times, _ = kernels.postings(chunk[column >= 0], column[column >= 0], len(texts), len(frequent))
    idf = np.log((1 + len(texts)) / (1 + np.diff(start))) + 1.0
    gains = times * np.repeat(idf, np.diff(start))
    length = np.sqrt(np.bincount(where, gains * gains, minlength=len(texts)))
    return TfidfMatrix(
        vocabulary, len(texts), features[frequent], idf, start, where, (gains / length[where]).astype(np.float32)
    )


def _occurrences(texts: Sequence[str], vocabulary: Mapping[str, int]) -> tuple[np.ndarray, np.ndarray]:
    chunks, features = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for n, text in enumerate(texts):
        numbers = np.array([vocabulary[term] for term in text.split(" ") if term], dtype=np.int64)
        features.append(codes(numbers, len(vocabulary)))
        chunks.append(np.full(len(features[-1]), n, np.int64))
    return np.concatenate(chunks), np.concatenate(features)


def load(
    folder: Path, vocabulary: Mapping[str, int], size: int, texts: Callable[[], Sequence[str]] = tuple
) -> TfidfMatrix:
    """The matrix of a generation, mapped from disk; built from the chunks' terms and saved if it is not there yet."""
    place = folder / "tfidf"
    if not place.is_dir():
        matrix = build(texts(), vocabulary)
        if not _keep(place, matrix):
            return matrix
    arrays = {name: image.map_array(place / f"{name}.npy") for name in _ARRAYS}
    return TfidfMatrix(vocabulary, size, **arrays)


def _keep(place: Path, matrix: TfidfMatrix) -> bool:
    """Write aside, then rename: readers find all of it or nothing. A second writer keeps the first one's copy."""
    with suppress(OSError), scratch_folder(place.parent, UNFINISHED) as aside:
        for name in _ARRAYS:
            np.save(aside / f"{name}.npy", getattr(matrix, name))
        fsync_tree(aside)
        aside.rename(place)
    return place.is_dir()


class FullLeg:
    """A leg that scores every chunk once, on first use."""

    floor = 0.0

    def __init__(self, every: Callable[[], np.ndarray]) -> None:
        self._every = every

    @cached_property
    def scores(self) -> np.ndarray:
        return self._every()

    def search(self, depth: int, allowed: np.ndarray | None) -> Ranking:
        scores = self.scores if allowed is None else np.where(allowed, self.scores, 0.0)
        ids = kernels.near_top(scores, depth, 0.0)
        ids = ids[scores[ids] > 0.0]
        order = ids[np.lexsort((ids, -scores[ids]))][:depth]
        return dict(zip(order.tolist(), scores[order].tolist(), strict=True))

    def score(self, chunks: Sequence[int]) -> list[float]:
        scores: list[float] = self.scores[np.array(chunks, dtype=np.int64)].tolist()
        return scores


def averaged(bm25: np.ndarray, tfidf: np.ndarray) -> np.ndarray:
    """The mean of both, each divided by its best score (cascade study, stage 2b).

    Over a whole collection the lowest score of both is 0, so the study's min-max is division by the best.

    >>> averaged(np.array([4.0, 1.0, 0.0]), np.array([0.1, 0.2, 0.0])).tolist()
    [0.75, 0.625, 0.0]
    """
    return 0.5 * _of_best(bm25) + 0.5 * _of_best(tfidf)


def _of_best(scores: np.ndarray) -> np.ndarray:
    best = scores.max(initial=0.0)
    return scores / best if best > 0 else scores
