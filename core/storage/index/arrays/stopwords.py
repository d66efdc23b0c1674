"""BM25 over stop words and neighbouring pairs of them, for queries that hold nothing else.

Postings leave stop words out: they would be half of them, and say nothing beside other words. "Who we are" has no
others. So they get postings of their own, made at first use from the stored passages and kept beside the generation;
the index itself stays as it is. Pairs stand for the phrase: "we are" is far rarer than "we" and "are".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from core.adapters.system.files import fsync_tree, scratch_folder
from core.analysis import STOPWORDS, analyser
from core.storage.index.arrays import image, kernels
from core.storage.index.arrays.kernels import Postings
from core.types import LexicalOptions

UNFINISHED = ".stopwords-"  # folders that are being written


@dataclass(frozen=True)
class StopWords:
    """The postings of stop words and of their pairs."""

    vocabulary: Mapping[str, int]
    postings: Postings

    def numbers(self, words: Sequence[str]) -> np.ndarray:
        """The known features of a query, each once."""
        known = [self.vocabulary[one] for one in sorted(set(features(words, words))) if one in self.vocabulary]
        return np.array(known, dtype=np.int64)


def features(words: Sequence[str], stops: Iterable[str]) -> Iterator[str]:
    """The stop words of a text, and each two that stand side by side.

    >>> list(features(["who", "we", "are", "bank", "we"], {"who", "we", "are"}))
    ['who', 'we', 'are', 'we', 'who we', 'we are']
    """
    known = frozenset(stops)
    yield from (word for word in words if word in known)
    yield from (f"{one} {other}" for one, other in pairwise(words) if one in known and other in known)


class Counted(NamedTuple):
    """How often each chunk holds each term, and how many words it has."""

    start: np.ndarray
    where: np.ndarray
    counts: np.ndarray
    lengths: np.ndarray

    def only(self, left: np.ndarray) -> Counted:
        """The same for some of the chunks, which are numbered anew."""
        kept = left[self.where]
        held = np.bincount(
            np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))[kept], minlength=len(self.start) - 1
        )
        where = (np.cumsum(left) - 1)[self.where[kept]].astype(self.where.dtype)
        return Counted(np.concatenate([[0], np.cumsum(held)]), where, self.counts[kept], self.lengths[left])


def load(
    folder: Path,
    options: LexicalOptions,
    every: LexicalOptions,
    texts: Callable[[], Iterable[str]],
    left: np.ndarray | None = None,
) -> StopWords:
    """Those of a generation, mapped from disk; built and saved if they are not there yet. `every` keeps all words;
    `left` are the chunks that count, where others do not."""
    place = folder / "stopword-counts"
    made = None if place.is_dir() else _build(options, every, texts())
    if made and not _keep(place, *made):
        return _opened(*made, options, left)
    arrays = Counted(*(image.map_array(place / f"{name}.npy") for name in Counted._fields))
    return _opened(image.read_table(place / "terms.arrow")["term"].to_pylist(), arrays, options, left)


def _opened(terms: Sequence[str], every: Counted, options: LexicalOptions, left: np.ndarray | None) -> StopWords:
    start, where, counts, lengths = every if left is None else every.only(left)
    held = np.diff(start)
    idf = image.inverse_frequencies(held, len(lengths)) * (options.k1 + 1.0)
    gains = kernels.impacts(start, where, counts, image.norms(lengths, options), idf)
    known = {term: number for number, term in enumerate(terms) if held[number]}
    return StopWords(known, Postings(start, where, gains))


def _build(options: LexicalOptions, every: LexicalOptions, texts: Iterable[str]) -> tuple[list[str], Counted]:
    analyse = analyser(every)
    stops = {term for word in STOPWORDS[options.stopwords] for term in analyse(word)}
    found: list[list[str]] = []
    lengths: list[int] = []
    for text in texts:
        words = analyse(text)
        found.append(list(features(words, stops)))
        lengths.append(len(words))
    terms = sorted({term for own in found for term in own})
    number = {term: n for n, term in enumerate(terms)}
    chunk = np.repeat(np.arange(len(found)), [len(own) for own in found])
    term = np.array([number[term] for own in found for term in own], dtype=np.int64)
    start, where, counts, _ = kernels.postings(chunk, term, len(found), len(terms))
    return terms, Counted(start, where, image.narrow(counts), np.array(lengths, dtype=np.uint32))


def _keep(place: Path, terms: Sequence[str], counted: Counted) -> bool:
    """Write aside, then rename: readers find all of it or nothing. A second writer keeps the first one's copy."""
    with suppress(OSError), scratch_folder(place.parent, UNFINISHED) as aside:
        image.write_table(aside / "terms.arrow", pa.table({"term": pa.array(terms, pa.string())}))
        for name, values in counted._asdict().items():
            np.save(aside / f"{name}.npy", values)
        fsync_tree(aside)
        aside.rename(place)
    return place.is_dir()
