"""The folders of arrays, outside of the generations: made from the record, shared by whoever has it, safe to delete.

    <root>/<record>-<options>/        the arrays of a segment: `image.py` says which, fields/, and what searches add
    <root>/<segments>-<options>/      what follows from several segments: tfidf/, stopword-counts/

A name says which bytes the arrays follow from, so generations that share a segment share its arrays, and nothing in a
folder is ever out of date. A folder is written aside and gets its name by one rename; it has checksums, and one that is
missing or damaged is made again by whoever opens it. Searches go on in what they have mapped.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from core import strict
from core.adapters.system import sums
from core.adapters.system.files import flock, scratch_folder, sweep
from core.analysis import analyser
from core.errors import Corrupt
from core.storage.index.arrays import fields, image, stopwords, tfidf
from core.storage.index.record import duckdb, segment_list, vectors
from core.storage.index.record.segment_list import Segment
from core.types import LexicalOptions

ARRAYS = 1  # raise it when the same record gives other arrays
FRESH = 600  # seconds in which a folder stays that no generation needs: it may belong to one that is being built
_DIGITS = 32  # of a checksum, in the name of a folder
_MAKING = ".making-"
_TRIES = 5  # of reading a folder that is deleted meanwhile
_whole: set[tuple[str, int]] = set()  # folders whose checksums this process compared, with the time of their list
T = TypeVar("T")


class ArrayCache:
    """The arrays of segments whose words are analysed in one way."""

    def __init__(self, root: Path, options: LexicalOptions, others: Sequence[Path] = ()) -> None:
        """`others`: where arrays are looked for, too."""
        self.root, self.options, self.others = root, options, others
        self._suffix = strict.digest({"arrays": ARRAYS, **strict.plain(options)}, 8)

    # ------------------------------------------------------------ reading

    def read(self, generation: Path, segment: Segment, read: Callable[[Path], T]) -> T:
        """What is read from the folder of a segment's arrays, which is made where it is missing or damaged."""
        folder = self.folder(generation, segment)
        for _ in range(_TRIES):
            try:
                return read(folder)
            except (OSError, ValueError):  # deleted or damaged since it was looked at
                folder = self.checked(generation, segment)
        return read(folder)

    def checked(self, generation: Path, segment: Segment) -> Path:
        """The folder of a segment's arrays, each file of which is what was written."""
        name = f"{_digest(generation, segment)}-{self._suffix}"
        _whole.difference_update({stamp for stamp in list(_whole) if stamp[0].endswith(name)})
        return self.folder(generation, segment)

    def folder(self, generation: Path, segment: Segment) -> Path:
        """The same, as far as this process compared it."""
        name = f"{_digest(generation, segment)}-{self._suffix}"
        for root in (self.root, *self.others):
            if _is_whole(root / name):
                return root / name
        with self._locked():
            if not _is_whole(self.root / name):
                self._make(generation, segment, self.root / name)
        return self.root / name

    def together(self, generation: Path, segments: Sequence[Segment]) -> Path:
        """The folder of what follows from several segments, or from one of which something is gone."""
        if segment_list.is_alone(segments):
            return self.folder(generation, segments[0])
        name = _name_together([(_digest(generation, segment), segment.gone) for segment in segments])
        folder = self.root / f"{name}-{self._suffix}"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def vectors(self, generation: Path, segment: Segment) -> np.ndarray | None:
        """The vectors of a segment in the order of ids; None while they are not there."""
        folder = segment.folder(generation)
        if not vectors.present(folder):
            return None
        rows = vectors.mapped(folder)
        return self.read(generation, segment, lambda arrays: _copied(folder, arrays)) if rows is None else rows

    # ------------------------------------------------------------ making

    @contextmanager
    def making(self) -> Iterator[Path]:
        """A folder to write arrays into, before they get their name."""
        with scratch_folder(self.root, _MAKING) as aside:
            yield aside

    def keep(self, aside: Path, generation: Path, segment: Segment) -> None:
        """Give the arrays of a segment their name."""
        _name(aside, self.root / f"{_digest(generation, segment)}-{self._suffix}")

    def _make(self, generation: Path, segment: Segment, target: Path) -> None:
        record = segment.folder(generation) / "fts.duckdb"
        if not sums.sha256(record).startswith(target.name.partition("-")[0]):
            raise Corrupt(f"{record.name} of {generation.name} is not what was published.")
        with self.making() as aside:
            with duckdb.open_file(record) as connection:
                write(connection, aside, self.options)
            _name(aside, target)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """One maker at a time, so that others find what it made."""
        self.root.mkdir(parents=True, exist_ok=True)
        with flock(self.root / "LOCK"):
            yield


def write(connection: Any, folder: Path, options: LexicalOptions) -> None:
    """Write the arrays of a segment from its record."""
    image.compile_lexical(connection, folder, options)
    fields.write(folder, analyser(options))


def collect(root: Path, generations: Sequence[Path]) -> None:
    """Remove what killed makers left, and arrays that no generation needs. Searches keep what they have mapped."""
    if not root.is_dir():
        return
    sweep(root, _MAKING)
    for folder in root.iterdir():
        for unfinished in (tfidf.UNFINISHED, fields.UNFINISHED, stopwords.UNFINISHED):
            sweep(folder, unfinished)
    needed = {name for generation in generations for name in _names(generation)}
    for folder in root.glob("*-*"):
        with suppress(OSError):  # another process removed it
            if folder.name.partition("-")[0] not in needed and time.time() - folder.stat().st_mtime > FRESH:
                shutil.rmtree(folder, ignore_errors=True)


def _names(generation: Path) -> Iterator[str]:
    """What the names of a generation's folders begin with."""
    try:
        segments = segment_list.listed(generation)
        digests = [_digest(generation, segment) for segment in segments]
    except (OSError, Corrupt, KeyError, TypeError):  # it is damaged
        return
    yield from digests
    yield _name_together([(digest, segment.gone) for digest, segment in zip(digests, segments, strict=True)])


def _digest(generation: Path, segment: Segment) -> str:
    """The checksum of a segment's words, as published; of the file itself while the generation is being built."""
    name = f"{segment.place}/fts.duckdb" if segment.place else "fts.duckdb"
    known = (sums.read(generation) or {}).get(name)
    return (known or sums.sha256(generation / name))[:_DIGITS]


def _name_together(parts: Sequence[tuple[str, Sequence[int]]]) -> str:
    return strict.digest([[digest, list(gone)] for digest, gone in parts], _DIGITS)


def _is_whole(folder: Path) -> bool:
    """Whether a folder of arrays is what was written; its files are read once in a process."""
    try:
        stamp = (str(folder), (folder / sums.NAME).stat().st_mtime_ns)
    except OSError:
        return False
    if stamp not in _whole and not any(sums.differences(folder)):
        _whole.add(stamp)
    return stamp in _whole


def _name(aside: Path, target: Path) -> None:
    """Complete a folder and let it have its name. A whole one that another process made meanwhile stays."""
    sums.write(aside)
    if target.exists() and not _is_whole(target):
        with suppress(OSError):
            target.rename(aside.with_name(f"{aside.name}-old"))
        shutil.rmtree(aside.with_name(f"{aside.name}-old"), ignore_errors=True)
    with suppress(OSError):
        aside.rename(target)


def _copied(record: Path, arrays: Path) -> np.ndarray:
    """A copy of vectors that do not stand side by side in LanceDB's file, as those of earlier versions."""
    path = arrays / f"vectors-{vectors.data_file(record).stem}.npy"
    if not path.exists():
        with scratch_folder(arrays, _MAKING) as aside:
            np.save(aside / path.name, vectors.read(record))
            (aside / path.name).rename(path)
    return image.map_array(path)
