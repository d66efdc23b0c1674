"""A workspace is its owner's alone: no other user of the machine reads its folders (0700) and files (0600).

Only what Concord itself keeps there is touched: somebody may have given it a folder that holds other things, too.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from shlex import quote

from core.types import Damage

OTHERS = stat.S_IRWXG | stat.S_IRWXO  # what the group and everybody else may do
OWN = ("app.db*", "app.lock", "kb.git", "index", "cache", "models", "reports", "impact", "as_of", "jobs", "store.json")


def write_privately() -> None:
    """What this process and its children write from now on is for its owner."""
    os.umask(OTHERS)


def close_to_others(home: Path) -> None:
    """Make the workspace's folder, or close one that an earlier version or a copy left open."""
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
        cure = "The next start closes what it may; else whoever owns the files does, with"
        yield Damage(
            "the workspace", f"is open to other users: {shown}{more}", f"{cure}: chmod -R go= {quote(str(home))}"
        )


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
