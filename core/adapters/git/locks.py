"""git's lock files, taken so that a dead writer's can be told from those of somebody's own git.

git protects a file such as `refs/heads/main` by creating `refs/heads/main.lock`, which must not exist yet, and renaming it over
the file. Here the lock is a hard link to a file of ours. Whoever holds the writers' lock of the repository knows that no other
writer of ours lives: a lock that is a link to a file of ours is stale, and any other belongs to somebody else and stays.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from core.adapters.git import refs
from core.adapters.system.files import fsync_folder
from core.errors import Unavailable

_OURS = "concord-own-"
_PATIENCE = 5.0  # seconds that somebody's own git may take; its locks live for milliseconds


@contextmanager
def locked(root: Path, name: str) -> Iterator[Path]:
    """Hold git's lock on a file of the repository; the caller holds the writers' lock. `replace` writes the file."""
    own = root / f"{_OURS}{name.replace('/', '-')}"
    own.touch()
    lock = root / f"{name}.lock"
    try:
        _link(own, lock)
        try:
            yield lock
        finally:
            lock.unlink(missing_ok=True)
    finally:
        own.unlink(missing_ok=True)


def _link(own: Path, lock: Path) -> None:
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            lock.parent.mkdir(parents=True, exist_ok=True)
            return os.link(own, lock)
        except FileNotFoundError:
            pass  # somebody's git removed a folder that was empty
        except FileExistsError:
            if time.monotonic() > end:
                raise Unavailable(
                    f"Another git process holds {str(lock)!r}. Wait until it has ended; if none is running, delete that file."
                ) from None
        time.sleep(0.02)


def replace(lock: Path, text: str) -> None:
    """Put a new text in place of the locked file, on the disk when this returns."""
    with open(lock, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    target = lock.with_suffix("")
    lock.rename(target)
    fsync_folder(target.parent)


def sweep(root: Path) -> None:
    """Remove the locks of dead writers; the caller holds the writers' lock."""
    for own in root.glob(f"{_OURS}*"):
        for lock in (*root.glob("*.lock"), *root.glob("refs/**/*.lock")):
            if lock.samefile(own):
                refs.forget_unmade(root, lock)
                lock.unlink()
        own.unlink()
