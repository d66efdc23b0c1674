"""The short fields around passages: how well a question fits a title, a heading, a tag; built at first use, kept on
disk.

A field holds entries: a document has one title and several tags. BM25 would favour long titles, where some word always
fits. What counts here is how much of the entry the question says, and how much of the question the entry says.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from core.adapters.system.files import fsync_tree, scratch_folder
from core.storage.index.arrays import image, kernels
from core.storage.index.record.duckdb import HEADING
from core.types import FIELDS

UNFINISHED = ".fields-"  # folders that are being written
POINTS = 10.0  # of BM25 that a perfect fit is worth, at weight 1
SAYS_NOTHING = frozenset(["index", "overview", "readme", "introduction", "home"])  # as a title
OF_PASSAGES = ("headings", "questions")  # the other fields belong to documents
_ARRAYS = ("start", "where", "worth", "owner")


class OwnerScores(NamedTuple):
    """The scores of a field by document or passage, and whose each chunk is."""

    best: np.ndarray
    owner_of: np.ndarray

    def __call__(self, chunks: Any) -> Any:
        """Of several chunks."""
        return self.best[self.owner_of[chunks]]

    def of(self, chunk: int) -> float:
        score: float = self.best.item(self.owner_of.item(chunk))
        return score


@dataclass(frozen=True)
class Field:
    """The entries of one field. `owner` is the document or passage of each, `owner_of` that of each chunk."""

    vocabulary: Mapping[str, int]
    start: np.ndarray  # per term, the entries that hold it
    where: np.ndarray
    worth: np.ndarray  # of each term: the rarer, the more
    gains: np.ndarray  # the same for each entry that holds one
    owner: np.ndarray
    whole: np.ndarray  # the worth of each entry
    owner_of: np.ndarray  # per chunk
    owners: int

    def scores(self, terms: Sequence[str]) -> OwnerScores:
        """The scores of the entries that fit best. The terms are looked up once."""
        return OwnerScores(self._owners(terms), self.owner_of)

    def _owners(self, terms: Sequence[str]) -> np.ndarray:
        known = np.array([self.vocabulary[term] for term in terms if term in self.vocabulary], dtype=np.int64)
        if not len(known):
            return np.zeros(self.owners)
        asked = self._asked(terms, known)
        fits = POINTS * kernels.fitted(self.start, self.where, self.gains, known, self.whole, asked)
        if self._one_each:
            return fits
        best, entries = np.zeros(self.owners), np.flatnonzero(fits)
        np.maximum.at(best, self.owner[entries], fits[entries])
        return best

    @cached_property
    def _one_each(self) -> bool:
        """Whether every owner has one entry, in order, as documents have titles."""
        return np.array_equal(self.owner, np.arange(self.owners))

    @cached_property
    def _rarest(self) -> float:
        return float(image.inverse_frequencies(np.zeros(1), max(1, len(self.owner)))[0])

    def _asked(self, terms: Sequence[str], known: np.ndarray) -> float:
        """What the question's words are worth; one that no entry holds is the rarest."""
        return float(self.worth[known].sum()) + self._rarest * (len(terms) - len(known))


def load(folder: Path, analyse: Callable[[str], list[str]], name: str = "fields") -> dict[str, Field]:
    """The fields of a segment, mapped from the folder of its arrays; built and saved under this name if they are not
    there.
    """
    place = folder / name
    documents, chunks = _tables(folder)
    made = {name: _read(place, name) for name in FIELDS} if place.is_dir() else build(folder, analyse, name)
    doc_of = image.numbers(chunks, "doc")
    own = dict.fromkeys(OF_PASSAGES, (np.arange(len(chunks)), len(chunks)))
    return {name: _field(entries, *own.get(name, (doc_of, len(documents)))) for name, entries in made.items()}


def write(folder: Path, analyse: Callable[[str], list[str]]) -> None:
    """Write the fields beside the other arrays of a segment, before anybody reads them."""
    (folder / "fields").mkdir()
    _write(folder / "fields", dict(_build(*_tables(folder), analyse)))


def build(folder: Path, analyse: Callable[[str], list[str]], name: str = "fields") -> dict[str, Entries]:
    """Read the fields of a segment and keep them beside its other arrays."""
    made = dict(_build(*_tables(folder), analyse))
    _keep(folder / name, made)
    return made


def _tables(folder: Path) -> tuple[pa.Table, pa.Table]:
    return image.read_table(folder / "documents.arrow"), image.read_table(folder / "chunks.arrow")


Entries = tuple[list[str], np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def _field(entries: Entries, owner_of: np.ndarray, owners: int) -> Field:
    terms, start, where, worth, owner = entries
    gains = np.repeat(worth, np.diff(start))
    whole = np.bincount(where, gains, minlength=len(owner))
    return Field({term: n for n, term in enumerate(terms)}, start, where, worth, gains, owner, whole, owner_of, owners)


def texts(name: str, documents: pa.Table, chunks: pa.Table) -> Iterator[Sequence[str]]:
    """The entries of each document or passage."""
    if name == "headings":
        yield from (heading.split(HEADING) for heading in chunks["heading"].to_pylist())
    elif name == "questions":
        yield from (questions.split(HEADING) if questions else () for questions in chunks["questions"].to_pylist())
    elif name == "answers":
        yield from (json.loads(meta).get("answers") or () for meta in documents["meta"].to_pylist())
    elif name == "path":
        yield from ((_words_of(path),) for path in documents["path"].to_pylist())
    elif name == "tags":
        yield from documents["tags"].to_pylist()
    else:
        yield from map(titles, documents["title"].to_pylist(), documents["path"].to_pylist())


def titles(title: str, path: str) -> tuple[str, ...]:
    """What a document is called; one with a title that says nothing is called like its folder, too.

    >>> titles("Overview", "hr/travel-policy/index.md"), titles("Travel", "hr/travel.md"), titles("Index", "index.md")
    (('Overview', 'travel policy'), ('Travel',), ('Index',))
    """
    folder = path.split("/")[-2].replace("-", " ").replace("_", " ") if "/" in path else ""
    return (title, folder) if folder and title.strip().casefold() in SAYS_NOTHING else (title,)


def _words_of(path: str) -> str:
    """A path as words: the last folder and the file name without its ending.

    >>> _words_of("hr/travel-policy/index.md")
    'travel policy index'
    """
    return " ".join(path.rpartition(".")[0].split("/")[-2:]).replace("-", " ").replace("_", " ")


def _build(documents: pa.Table, chunks: pa.Table, analyse: Callable[[str], list[str]]) -> Iterator[tuple[str, Entries]]:
    for name in FIELDS:
        entries = [
            (owner, set(analyse(text))) for owner, own in enumerate(texts(name, documents, chunks)) for text in own
        ]
        terms = sorted({term for _, own in entries for term in own})
        numbers = {term: n for n, term in enumerate(terms)}
        entry = np.repeat(np.arange(len(entries)), [len(own) for _, own in entries])
        term = np.array([numbers[term] for _, own in entries for term in own], dtype=np.int64)
        start, where, _, _ = kernels.postings(entry, term, len(entries), len(terms))
        worth = image.inverse_frequencies(np.diff(start), len(entries))
        yield name, (terms, start, where, worth, np.array([owner for owner, _ in entries], dtype=np.int64))


def _read(place: Path, name: str) -> Entries:
    start, where, worth, owner = (image.map_array(place / f"{name}-{array}.npy") for array in _ARRAYS)
    return image.read_table(place / f"{name}.arrow")["term"].to_pylist(), start, where, worth, owner


def _keep(place: Path, made: Mapping[str, Entries]) -> None:
    """Write aside, then rename: readers find all of it or nothing. A second writer keeps the first one's copy."""
    with suppress(OSError), scratch_folder(place.parent, UNFINISHED) as aside:
        _write(aside, made)
        fsync_tree(aside)
        aside.rename(place)


def _write(place: Path, made: Mapping[str, Entries]) -> None:
    for name, (terms, *arrays) in made.items():
        image.write_table(place / f"{name}.arrow", pa.table({"term": pa.array(terms, pa.string())}))
        for array, values in zip(_ARRAYS, arrays, strict=True):
            np.save(place / f"{name}-{array}.npy", values)
