"""Several segments as one: chunks and documents numbered in the order of their ids over all of them.

What one segment has in arrays is looked up here by two numbers: which segment, and where in it. Statistics (how many
chunks, how many hold a term, their average length) are those of all live chunks, so every score has the bits that a
full build would give it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from core.lru import last_results
from core.retrieval.filters import admits
from core.storage.index.arrays import image
from core.storage.index.arrays.cache import ArrayCache
from core.storage.index.arrays.kernels import Postings
from core.storage.index.record import vectors
from core.storage.index.record.segment_list import Segment
from core.types import DocumentFacts, Filters, LexicalOptions

_TERMS = 4096  # whose postings are kept
_opened: WeakValueDictionary[tuple[int, ...], OpenSegment] = WeakValueDictionary()


class OpenSegment:
    """One segment, mapped. Generations that share it in a process share this."""

    def __init__(self, folder: Path, rows: np.ndarray | None) -> None:
        """`folder`: of its arrays."""
        self.documents, self.chunks = (image.read_table(folder / f"{name}.arrow") for name in ("documents", "chunks"))
        self.vectors, self.sketches = rows, image.map_array(folder / "sketches.npy")
        if rows is not None:
            image.warm(rows)
        self.terms = image.MappedTexts(image.read_table(folder / "terms.arrow"), "term")
        self.start, self.where, self.counts, self.lengths = (
            image.map_array(folder / f"{name}.npy") for name in ("start", "where", "counts", "lengths")
        )
        self.doc_of = image.numbers(self.chunks, "doc")
        self.mask = last_results(self._mask, 16)
        self._kept: dict[str, Any] = {}

    def __len__(self) -> int:
        return len(self.chunks)

    @cached_property
    def ids(self) -> np.ndarray:
        """The ids of chunks, in order: 16 characters each."""
        return image.fixed(self.chunks, "id", 16)

    @cached_property
    def doc_ids(self) -> np.ndarray:
        return objects(self.documents["doc"].to_pylist())

    @cached_property
    def facts(self) -> np.ndarray:
        """What is known of each document."""
        return objects(image.facts(self.documents))

    @cached_property
    def term_numbers(self) -> Mapping[str, int]:
        return {term: n for n, term in enumerate(self.terms.all())}

    def once(self, name: str, load: Callable[[], Any]) -> Any:
        """What others keep beside the segment, loaded by the first who asks."""
        if name not in self._kept:
            self._kept[name] = load()
        return self._kept[name]

    def _mask(self, filters: Filters, today: date) -> np.ndarray:
        return np.array([admits(filters, facts, today) for facts in self.facts], dtype=np.bool_)


def opened(cache: ArrayCache, generation: Path, segment: Segment) -> OpenSegment:
    """A segment, opened once per process however many generations have it; again when it has got vectors."""
    return cache.read(generation, segment, lambda folder: _opened_in(folder, cache, generation, segment))


def _opened_in(folder: Path, cache: ArrayCache, generation: Path, segment: Segment) -> OpenSegment:
    rows = cache.vectors(generation, segment)
    files = [folder / "chunks.arrow", *([] if rows is None else [vectors.data_file(segment.folder(generation))])]
    key = tuple(part for file in files for part in (*os.stat(file)[1:3], os.stat(file).st_mtime_ns))
    known = _opened.get(key)
    if known is None:
        known = _opened[key] = OpenSegment(folder, rows)
    return known


def objects(values: Sequence[Any]) -> np.ndarray:
    """Any values as an array of them."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


class Numbering:
    """Rows of several parts in one order: `part` and `local` of each, and back: `numbers` of each part, -1 for what is
    gone.
    """

    def __init__(self, keys: Sequence[np.ndarray], gone: Sequence[np.ndarray]) -> None:
        """`keys` of each part are in order; the largest part is not sorted again."""
        alive = [_left(len(own), out) for own, out in zip(keys, gone, strict=True)]
        largest = max(range(len(keys)), key=lambda n: len(alive[n]))
        small = [n for n in range(len(keys)) if n != largest]
        values = np.concatenate([keys[largest][:0], *(keys[n][alive[n]] for n in small)])
        order = np.argsort(values, kind="stable")
        places = np.searchsorted(alive[largest], np.searchsorted(keys[largest], values[order]))
        part = np.repeat(np.array(small, np.uint16), np.array([len(alive[n]) for n in small], np.int64))
        local = np.concatenate([alive[largest][:0], *(alive[n] for n in small)])
        self.part = np.insert(np.full(len(alive[largest]), largest, np.uint16), places, part[order])
        self.local = np.insert(alive[largest], places, local[order])
        self.rows = [np.flatnonzero(self.part == n) for n in range(len(keys))]
        self.numbers = [np.full(len(own), -1, np.int32) for own in keys]
        for numbers, rows in zip(self.numbers, self.rows, strict=True):
            numbers[self.local[rows]] = rows

    def __len__(self) -> int:
        return len(self.part)

    def spread(self, columns: Sequence[np.ndarray]) -> np.ndarray:
        """A column of all, from one of each part."""
        if len(columns) == 1:
            alone: np.ndarray = columns[0][self.local]
            return alone
        out = np.empty(len(self), dtype=columns[0].dtype)
        for column, rows in zip(columns, self.rows, strict=True):
            out[rows] = column if len(column) == len(rows) else column[self.local[rows]]
        return out


def _left(size: int, gone: np.ndarray) -> np.ndarray:
    """Every number below `size` that is not gone."""
    kept = np.ones(size, np.bool_)
    kept[gone] = False
    return np.flatnonzero(kept).astype(np.int32)


class StitchedTexts:
    """A text column of several segments."""

    def __init__(self, numbering: Numbering, columns: Sequence[image.MappedTexts]) -> None:
        self._numbering, self._columns = numbering, columns

    def __len__(self) -> int:
        return len(self._numbering)

    def __getitem__(self, n: int) -> str:
        return self._columns[self._numbering.part.item(n)][self._numbering.local.item(n)]

    def part(self, n: int, first: int, last: int) -> str:
        """Some bytes of one text, without touching the rest."""
        return self._columns[self._numbering.part.item(n)].part(self._numbering.local.item(n), first, last)

    def all(self) -> list[str]:
        texts = [objects(column.all()) for column in self._columns]
        every: list[str] = self._numbering.spread(texts).tolist()
        return every


class StitchedNumbers:
    """A column of numbers of several segments, read one at a time."""

    def __init__(self, numbering: Numbering, columns: Sequence[np.ndarray]) -> None:
        self._numbering, self._columns = numbering, columns

    def item(self, n: int) -> int:
        number: int = self._columns[self._numbering.part.item(n)].item(self._numbering.local.item(n))
        return number


class StitchedVectors:
    """The vectors of several segments as one array."""

    def __init__(self, numbering: Numbering, columns: Sequence[np.ndarray]) -> None:
        self._numbering, self._columns = numbering, columns

    def __len__(self) -> int:
        return len(self._numbering)

    def __matmul__(self, vector: np.ndarray) -> np.ndarray:
        """The product of every row with a vector."""
        return self._numbering.spread([column @ vector for column in self._columns])

    def __getitem__(self, chunks: int | np.ndarray) -> np.ndarray:
        part, local = self._numbering.part[chunks], self._numbering.local[chunks]
        if np.ndim(chunks) == 0 or len(self._columns) == 1:
            found: np.ndarray = self._columns[part if np.ndim(chunks) == 0 else 0][local]
            return found
        rows = np.empty((len(local), self._columns[0].shape[1]), dtype=self._columns[0].dtype)
        for n, column in enumerate(self._columns):
            rows[part == n] = column[local[part == n]]
        return rows


class MergedSegments:
    """Segments with the documents that are gone from each, as one collection."""

    def __init__(self, parts: Sequence[OpenSegment], gone: Sequence[Sequence[int]], options: LexicalOptions) -> None:
        self.parts, self.options = parts, options
        out = [np.array(numbers, dtype=np.int64) for numbers in gone]
        self.documents = Numbering([part.doc_ids for part in parts], out)
        self.chunks = Numbering(
            [part.ids for part in parts],
            [
                np.flatnonzero(np.isin(part.doc_of, numbers)) if len(numbers) else numbers
                for part, numbers in zip(parts, out, strict=True)
            ],
        )
        self.doc_of = self.chunks.spread(
            [numbers[part.doc_of] for part, numbers in zip(parts, self.documents.numbers, strict=True)]
        )
        self.holders, self.gains = last_results(self._holders, _TERMS), last_results(self._gains, _TERMS)

    @classmethod
    def of(cls, cache: ArrayCache, generation: Path, listed: Sequence[Segment]) -> MergedSegments:
        parts = [opened(cache, generation, segment) for segment in listed]
        return cls(parts, [segment.gone for segment in listed], cache.options)

    def texts(self, name: str, *, of_documents: bool = False) -> StitchedTexts:
        """A text column of chunks, or of documents."""
        tables = [part.documents if of_documents else part.chunks for part in self.parts]
        numbering = self.documents if of_documents else self.chunks
        return StitchedTexts(numbering, [image.MappedTexts(table, name) for table in tables])

    def numbers(self, name: str) -> StitchedNumbers:
        return StitchedNumbers(self.chunks, [image.numbers(part.chunks, name) for part in self.parts])

    def column(self, name: str) -> np.ndarray:
        """All numbers of a column of chunks."""
        return self.chunks.spread([image.numbers(part.chunks, name) for part in self.parts])

    def number(self, chunk: str) -> int | None:
        """The number of a chunk id, if some segment has it and it is not gone."""
        for part, numbers in zip(self.parts, self.chunks.numbers, strict=True):
            at = int(np.searchsorted(part.ids, np.bytes_(chunk.encode("utf-8", "replace"))))
            if at < len(part) and part.ids[at] == chunk.encode("utf-8", "replace") and numbers[at] >= 0:
                return int(numbers[at])
        return None

    @property
    def vectors(self) -> StitchedVectors | None:
        """None until every segment has its own."""
        there = [part.vectors for part in self.parts if part.vectors is not None]
        return StitchedVectors(self.chunks, there) if len(there) == len(self.parts) else None

    @property
    def sketches(self) -> StitchedVectors:
        return StitchedVectors(self.chunks, [part.sketches for part in self.parts])

    def facts(self) -> tuple[DocumentFacts, ...]:
        return tuple(self.documents.spread([part.facts for part in self.parts]).tolist())

    def mask(self, filters: Filters, today: date) -> np.ndarray:
        """Which documents pass the filters."""
        return self.documents.spread([part.mask(filters, today) for part in self.parts])

    # ------------------------------------------------------------ words

    @cached_property
    def norms(self) -> np.ndarray:
        """The part of BM25 that depends on a chunk alone, for each."""
        return image.norms(self.chunks.spread([part.lengths for part in self.parts]), self.options)

    def _gains(self, term: str) -> tuple[np.ndarray, np.ndarray]:
        """The chunks that hold a term, in order, and what it adds to the score of each."""
        chunks, times = self.holders(term)
        times = times.astype(np.float32)
        idf = image.inverse_frequencies(np.array([len(chunks)]), len(self.chunks))[0] * (self.options.k1 + 1.0)
        return chunks, (idf * times / (times + self.norms[chunks])).astype(np.float32)

    def _holders(self, term: str) -> tuple[np.ndarray, np.ndarray]:
        """The chunks that hold a term, in order, and how often each does."""
        found = [
            self._holders_in(n, at)
            for n, part in enumerate(self.parts)
            if (at := part.term_numbers.get(term)) is not None
        ]
        if len(found) == 1:
            return found[0]
        chunks = np.concatenate([np.empty(0, np.uint32), *(own for own, _ in found)])
        times = np.concatenate([np.empty(0, np.uint8), *(counts for _, counts in found)])
        order = np.argsort(chunks, kind="stable")
        return chunks[order], times[order]

    def _holders_in(self, n: int, term: int) -> tuple[np.ndarray, np.ndarray]:
        """The live chunks of a part that hold a term of it, and how often each does."""
        part, here = self.parts[n], slice(self.parts[n].start.item(term), self.parts[n].start.item(term + 1))
        chunks, counts = self.chunks.numbers[n][part.where[here]], part.counts[here]
        if len(self.chunks.rows[n]) == len(part):
            return chunks.astype(np.uint32), counts
        live = chunks >= 0
        return chunks[live].astype(np.uint32), counts[live]

    def frequency(self, term: str) -> int:
        """How many chunks hold a term."""
        return len(self.holders(term)[0])

    def postings(self, terms: Sequence[str]) -> tuple[Postings, np.ndarray]:
        """The postings of the terms that some chunk holds, and their numbers in them."""
        known = [held for term in terms if len((held := self.gains(term))[0])]
        start = np.cumsum([0, *(len(where) for where, _ in known)])
        where = np.concatenate([where for where, _ in known] or [np.empty(0, np.uint32)])
        gains = np.concatenate([gains for _, gains in known] or [np.empty(0, np.float32)])
        return Postings(start, where, gains), np.arange(len(known))

    @cached_property
    def vocabulary(self) -> Mapping[str, int]:
        """Every term that some chunk holds, with its number."""
        return Vocabulary(self)

    def live_terms(self) -> list[str]:
        """Every term that some chunk holds, in order."""
        terms: set[str] = set()
        for part, numbers in zip(self.parts, self.chunks.numbers, strict=True):
            held: Any = (
                np.add.reduceat(np.append(numbers[part.where] >= 0, False), part.start[:-1]) if len(part.terms) else []
            )
            terms.update(term for term, alive in zip(part.terms.all(), held, strict=True) if alive)
        return sorted(terms)


class Vocabulary(Mapping[str, int]):
    """Term to number. Whether a term is known is answered without numbering all."""

    def __init__(self, stitched: MergedSegments) -> None:
        self._stitched = stitched

    def __contains__(self, term: object) -> bool:
        return isinstance(term, str) and self._stitched.frequency(term) > 0

    def __getitem__(self, term: str) -> int:
        return self._numbers[term]

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {term: n for n, term in enumerate(self._stitched.live_terms())}
