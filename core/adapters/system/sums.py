"""Checksums of a folder that never changes, in a file that `sha256sum --check` reads too.

The last line is the checksum of the lines before it, so that a damaged list is not taken for damaged files.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from core.adapters.system.files import files_below, fsync_folder, write_atomic
from core.lru import LruCache

NAME = "SHA256SUMS"
_OWN = "# these lines: "
_MOST = 4096  # sums that a process keeps
_known: LruCache[tuple[int, ...], str] = LruCache(_MOST)


def sha256(path: Path) -> str:
    """The checksum of a file; computed once per process unless the file changes, under whichever of its names.

    1.5 GB take a second.
    """
    stat = path.stat()
    stamp = (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns)
    return _known.find(stamp, lambda: _computed(path))


def _computed(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write(folder: Path, known: Mapping[str, str] = MappingProxyType({})) -> None:
    """Sum every file below a folder. `known` are the sums of files that were taken over from elsewhere as they are."""
    names = [name for name in files_below(folder) if os.path.basename(name) != NAME]
    lines = "".join(f"{known.get(name) or sha256(folder / name)}  {name}\n" for name in names)
    write_atomic(folder / NAME, f"{lines}{_OWN}{hashlib.sha256(lines.encode()).hexdigest()}\n")
    fsync_folder(folder)


def read(folder: Path) -> Mapping[str, str] | None:
    """File to checksum; None where the list is missing or damaged."""
    try:
        lines, _, own = (folder / NAME).read_text(encoding="utf-8").partition(_OWN)
    except (OSError, ValueError):
        return None
    if own != f"{hashlib.sha256(lines.encode()).hexdigest()}\n":
        return None
    return {line[66:]: line[:64] for line in lines.splitlines()}


def differences(folder: Path, below: str = "") -> Iterator[str]:
    """Files that are not what was written, of those in folders called `below`; the list itself, if it is damaged."""
    sums = read(folder)
    if sums is None:
        yield NAME
        return
    for name, wanted in sums.items():
        if below in f"/{name}" and not is_whole(folder / name, wanted):
            yield name


def is_whole(path: Path, wanted: str) -> bool:
    """Whether a file can be read and has its checksum."""
    try:
        return sha256(path) == wanted
    except OSError:
        return False
