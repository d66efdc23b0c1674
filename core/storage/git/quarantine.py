"""Commits of another repository before they are part of this one: kept apart until they are whole and can be read.

`git fetch` leaves what it refuses, or had when it was ended, among the objects of the repository, every time it tries.
So it fetches into a folder of its own, from which objects move over once they were looked at. Ten small objects can
stand for a thousand million files, which git has in memory when it lists or compares them: so they are counted here,
each tree once.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import IO

from core.adapters.system.files import fsync_folder
from core.curation.document.names import visible
from core.errors import Corrupt, Refused, Unavailable
from core.storage.git.plumbing import ENVIRONMENT, is_reviewed

FILES = 300_000  # of one commit
EDITS = 3_000_000  # of files, in all commits that are new
DEPTH = 100  # folders inside each other
FILE_BYTES = 50 * 1024**2  # of a document, a picture or a setting
_INCOMING = "concord-incoming-"
_FOLDER = b"40000"
_KNOWN = 20_000  # trees kept in memory
_NOTHING = "Nothing was taken over."

Entries = Mapping[bytes, tuple[bytes, str]]
"""Of a tree, by name: mode and object."""


class Quarantine:
    """The folder, and what git needs to know to work with it."""

    def __init__(self, repository: Path, folder: Path) -> None:
        self.repository, self.folder, self.objects = repository, folder, repository / "objects"
        self.environment: Mapping[str, str] = {
            "GIT_OBJECT_DIRECTORY": str(folder),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(self.objects),
        }

    def check(self, head: str, folder: str = "") -> None:
        """Refuse what is no commit, too large, or named as nobody can write it; only `folder` of it counts."""
        if self._said("cat-file", "-t", head).strip() != b"commit":
            raise Unavailable(
                f"The remote named a commit for its branch and then did not send it. {_NOTHING} It is tried again."
            )
        lines = self._said("log", "--first-parent", "--format=%T %P", head, "--not", "--all").decode().splitlines()
        with self._git("cat-file", "--batch") as process:
            trees = Trees(process)
            _check_sizes(trees, [line.split()[:2] for line in lines], [part for part in folder.split("/") if part])
        listed = f"{head}:{folder}"
        if self._said("cat-file", "-t", listed).strip() == b"tree":
            for line in self._said("ls-tree", "-r", "-z", "--long", listed).split(b"\0"):
                _check_file(line)

    def adopt(self) -> None:
        """Make the objects part of the repository; a pack counts from the moment that its index is there."""
        files = (path for path in self.folder.rglob("*") if path.is_file() and not path.name.startswith("tmp_"))
        for file in sorted(files, key=lambda path: path.suffix == ".idx"):
            target = self.objects / file.relative_to(self.folder)
            target.parent.mkdir(exist_ok=True)
            if not target.exists():
                file.rename(target)
            fsync_folder(target.parent)
        fsync_folder(self.objects)

    def _said(self, *arguments: str) -> bytes:
        with self._git(*arguments) as process:
            return process.communicate()[0]

    def _git(self, *arguments: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            ["git", f"--git-dir={self.repository}", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **ENVIRONMENT, **self.environment},
        )


class Trees:
    """Trees of a repository, read one by one from `git cat-file --batch`; what they come to is counted once for
    each.
    """

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.entries = lru_cache(_KNOWN)(self._entries)
        self.count = lru_cache(None)(self._count)
        self.edits = lru_cache(_KNOWN)(self._edits)

    def tree_of(self, commit: str) -> str:
        raw = self._read(commit)
        return raw[5:45].decode() if raw.startswith(b"tree ") else ""

    def inside(self, tree: str, folders: Sequence[str]) -> str:
        """The tree of a folder; "" where there is none."""
        for name in folders:
            mode, tree = self.entries(tree).get(name.encode(), (b"", "")) if tree else (b"", "")
            tree = tree if mode == _FOLDER else ""
        return tree

    def _read(self, name: str) -> bytes:
        pipe, out = self.process.stdin, self.process.stdout
        if pipe is None or out is None:
            raise Corrupt("git does not answer.")
        pipe.write(f"{name}\n".encode())
        pipe.flush()
        header = out.readline().split()
        if len(header) != 3:
            raise Refused(f"The remote's branch lacks the object {name[:12]}. {_NOTHING} Repair it there.")
        return _exactly(out, int(header[2]) + 1)[:-1]

    def _entries(self, tree: str) -> Entries:
        raw, at, found = self._read(tree), 0, {}
        while at < len(raw):
            end = raw.index(b"\0", at)
            mode, _, name = raw[at:end].partition(b" ")
            found[name] = (mode, raw[end + 1 : end + 21].hex())
            at = end + 21
        return found

    def _count(self, tree: str, depth: int = 0) -> int:
        """The files in a tree."""
        _refuse_deep(depth)
        return sum(self._weight(entry, depth) for entry in self.entries(tree).values()) if tree else 0

    def _weight(self, entry: tuple[bytes, str], depth: int) -> int:
        return self.count(entry[1], depth + 1) if entry[0] == _FOLDER else 1

    def _edits(self, old: str, new: str, depth: int = 0) -> int:
        """The files that differ between two trees."""
        _refuse_deep(depth)
        if not (old and new):
            return self.count(old or new, depth)
        before, after, total = self.entries(old), self.entries(new), 0
        for name in {**before, **after}:
            one, other = before.get(name), after.get(name)
            if one == other:
                continue
            if one and other and one[0] == other[0] == _FOLDER:
                total += self.edits(one[1], other[1], depth + 1)
            else:
                total += sum(self._weight(entry, depth) for entry in (one, other) if entry)
        return total


@contextmanager
def quarantine(repository: Path) -> Iterator[Quarantine]:
    """A folder for one fetch; the caller is alone with the remote, so what lies there is of a fetch that was killed."""
    for stale in repository.glob(f"{_INCOMING}*"):
        shutil.rmtree(stale, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=_INCOMING, dir=repository))
    try:
        yield Quarantine(repository, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _check_sizes(trees: Trees, commits: Sequence[Sequence[str]], folders: Sequence[str]) -> None:
    """`commits`: the tree and the first parent of each new one."""
    total = 0
    for tree, *parent in commits:
        new = trees.inside(tree, folders)
        if trees.count(new) > FILES:
            raise Refused(f"The remote's branch holds a commit with more than {FILES:,} files. {_NOTHING}")
        total += trees.edits(trees.inside(trees.tree_of(parent[0]), folders) if parent else "", new)
        if total > EDITS:
            raise Refused(f"The new commits of the remote's branch write more than {EDITS:,} files. {_NOTHING}")


def _check_file(line: bytes) -> None:
    """Of `ls-tree --long`: mode, type, object, size, path."""
    facts, _, path = line.partition(b"\t")
    name = path.decode("utf-8", "replace")
    if not facts.startswith(b"100") or not is_reviewed(name):
        return
    holds, size = f"The remote's branch holds {visible(name)!r}", int(facts.split()[3])
    if name.encode("utf-8", "replace") != path:
        raise Refused(f"{holds}, whose name is not UTF-8. {_NOTHING} Rename it there.")
    if size > FILE_BYTES:
        raise Refused(f"{holds} with {size:,} bytes; the limit is {FILE_BYTES:,}. {_NOTHING} Take it out there.")


def _refuse_deep(depth: int) -> None:
    if depth > DEPTH:
        raise Refused(f"The remote's branch holds folders inside each other, more than {DEPTH} deep. {_NOTHING}")


def _exactly(out: IO[bytes], size: int) -> bytes:
    raw = out.read(size)
    if len(raw) != size:
        raise Refused(f"git cannot read what the remote's branch holds. {_NOTHING}")
    return raw
