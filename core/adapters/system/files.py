"""File locks that die with their process, writes that survive a power cut, and folders that are their owner's alone."""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import shutil
import sqlite3
import stat
import tempfile
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, contextmanager, suppress
from math import inf
from pathlib import Path
from shlex import quote
from time import monotonic, sleep
from typing import Any
from urllib.parse import quote as urlquote

from core.cures import Cure, shell
from core.errors import Corrupt, Unavailable
from core.types import Damage

PATIENCE = 60.0  # seconds that a writer waits for another one before it says so


@contextmanager
def flock(path: Path, *, shared: bool = False, inherit: bool = False, patience: float = inf) -> Iterator[int]:
    """Hold an advisory lock on a file until the block ends or the process dies.

    With `inherit`, children keep the lock alive, so their work is never overtaken. Whoever has it may hang: after
    `patience` seconds those who wait are told so.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    turn = _Turn(descriptor, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
    try:
        if not turn.came(patience):
            raise Unavailable(
                f"Another process has held {str(path)!r} for {patience:.0f} seconds. Nothing was changed; try again. "
                "If it stays so, "
                f"find the process that hangs with: fuser {quote(str(path))}"
            )
        os.set_inheritable(descriptor, inherit)
        yield descriptor
    finally:
        turn.over()


class _Turn:
    """A place in the kernel's queue for a lock. Asking again and again would let some wait for ever, so a thread of
    its own waits.
    """

    def __init__(self, descriptor: int, kind: int) -> None:
        self.descriptor, self.kind = descriptor, kind
        self._guard, self._came, self._left = threading.Lock(), threading.Event(), False

    def came(self, patience: float) -> bool:
        try:
            fcntl.flock(self.descriptor, self.kind | fcntl.LOCK_NB)
            self._came.set()
        except BlockingIOError:
            if patience == inf:
                self._wait()
            else:
                threading.Thread(target=self._wait, daemon=True).start()
        return self._came.wait(None if patience == inf else patience)

    def _wait(self) -> None:
        fcntl.flock(self.descriptor, self.kind)
        with self._guard:
            self._came.set()
            if self._left:
                os.close(self.descriptor)

    def over(self) -> None:
        """Give the lock back, or leave the queue: then whoever waits there closes the file."""
        with self._guard:
            self._left = True
            if self._came.is_set():
                os.close(self.descriptor)


def try_flock(path: Path) -> int | None:
    """The exclusive lock's descriptor, or None if it is taken. Close it to release the lock."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


@contextmanager
def scratch_folder(parent: Path, prefix: str, mode: int = 0o777) -> Iterator[Path]:
    """A folder that is removed in the end, unless it was renamed. Its process holds a lock on it, so `sweep` leaves it
    alone.
    """
    parent.mkdir(parents=True, exist_ok=True)
    while True:
        folder = parent / f"{prefix}{secrets.token_hex(8)}"
        folder.mkdir(mode)
        descriptor = os.open(folder, os.O_RDONLY)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if folder.exists():
            break
        os.close(descriptor)  # swept between the two calls above
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(descriptor)


def sweep(parent: Path, prefix: str) -> None:
    """Remove scratch folders whose process died."""
    for folder in parent.glob(f"{prefix}*"):
        try:
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        except OSError:
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        except BlockingIOError:
            pass  # its process lives
        finally:
            os.close(descriptor)


def fsync_file(path: Path | str) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


fsync_folder = fsync_file  # a folder is synced by the same call


def fsync_tree(folder: Path, except_files: Collection[str] = ()) -> None:
    """Sync every file and folder below `folder`, leaves first; not those files that are on the disk already."""
    leave = {os.path.join(folder, name) for name in except_files}
    for root, _, files in os.walk(folder, topdown=False):
        for path in (os.path.join(root, name) for name in files):
            if path not in leave:
                fsync_file(path)
        fsync_folder(root)


def files_below(folder: Path) -> list[str]:
    """The names of all files below a folder, as seen from it, sorted."""
    inside = len(os.path.join(folder, ""))
    return sorted(os.path.join(root, name)[inside:] for root, _, files in os.walk(folder) for name in files)


def write_atomic(path: Path, text: str) -> None:
    """Replace a small file; readers see the old text or the new, also after a power cut."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
    fsync_folder(path.parent)


def read_json(path: Path) -> Any:
    """The parsed file, or None if it is missing or broken."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def cache_file(path: Path, schema: str) -> sqlite3.Connection:
    """A SQLite file shared by processes and safe to delete at any time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path, timeout=60, isolation_level=None)
    try:
        write_ahead(connection)
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(f"CREATE TABLE IF NOT EXISTS {schema} WITHOUT ROWID")
    except sqlite3.DatabaseError as error:
        connection.close()
        if isinstance(error, sqlite3.OperationalError):
            raise
        raise Corrupt(f"The cache {path} is damaged ({error}).", _remove(path)) from None
    return connection


def write_ahead(connection: sqlite3.Connection) -> None:
    """Turn a file to WAL. Where two do so at once SQLite refuses one of them without waiting, whatever its timeout."""
    until = monotonic() + PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or monotonic() > until:
                raise
        sleep(0.01)


def _remove(path: Path) -> Cure:
    return shell("Remove it, to have it computed again,", f"rm {quote(str(path))}")


def damaged_cache(path: Path, table: str, wrong: Callable[[sqlite3.Connection], int]) -> list[Damage]:
    """Whether such a file cannot be read or holds entries that are `wrong`; nothing is written."""
    if not path.exists():
        return []
    file = f"{path.parent.name}/{path.name}"
    try:
        with closing(sqlite3.connect(f"file:{urlquote(str(path))}?mode=ro", uri=True, timeout=60)) as connection:
            lines = [row[0] for row in connection.execute("PRAGMA integrity_check(3)")]
            summed = "sum" in [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
            count = wrong(connection) if summed and lines == ["ok"] else 0
    except sqlite3.DatabaseError as error:
        lines, count = [str(error)], 0
    if lines != ["ok"]:
        return [Damage(file, f"is damaged: {'; '.join(lines)}", _remove(path))]
    return (
        [Damage(file, f"holds {count} damaged entries", shell("Wait: they are computed again when needed"))]
        if count
        else []
    )


OTHERS = stat.S_IRWXG | stat.S_IRWXO  # what the group and everybody else may do
OWN = ("app.db*", "app.lock", "kb.git", "index", "cache", "models", "impact", "as_of", "jobs", "store.json")


def write_privately() -> None:
    """What this process and its children write from now on is for its owner."""
    os.umask(OTHERS)


def close_to_others(home: Path) -> None:
    """Make the workspace's folder, or close one that a copy left open."""
    home.mkdir(parents=True, exist_ok=True)
    if any(map(_open_to_others, _top(home))):
        for path in _all(home):
            if _open_to_others(path):
                with suppress(OSError):  # a disk that cannot be written, or somebody else's file: `exposed` says so
                    path.chmod(stat.S_IMODE(path.lstat().st_mode) & ~OTHERS)


def exposed(home: Path) -> Iterator[Damage]:
    """Whether others may read something."""
    names = [str(path.relative_to(home)) for path in _all(home) if _open_to_others(path)]
    if names:
        shown = ", ".join("the folder itself" if name == "." else name for name in names[:3])
        more = f" and {len(names) - 3:,} more" if len(names) > 3 else ""
        cure = shell("Restart Concord, or close it", f"chmod -R go= {quote(str(home))}")
        yield Damage("the workspace", f"is open to other users: {shown}{more}", cure)


def _top(home: Path) -> Iterator[Path]:
    yield home
    for pattern in OWN:
        yield from sorted(home.glob(pattern))


def _all(home: Path) -> Iterator[Path]:
    for top in _top(home):
        yield top
        if top != home and top.is_dir() and not top.is_symlink():
            for folder, folders, files in os.walk(top):
                yield from (Path(folder, name) for name in (*folders, *files))


def _open_to_others(path: Path) -> bool:
    """A link has no mode of its own, and a file that went meanwhile is nobody's concern."""
    try:
        mode = path.lstat().st_mode
    except OSError:
        return False
    return bool(mode & OTHERS) and not stat.S_ISLNK(mode)
