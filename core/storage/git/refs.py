"""Branches and loose objects as files, and git's locks on branches.

A branch that never was is told apart from one that is broken or lost: git deletes the log of a branch before the
branch itself, so a log without its branch means a loss.

git protects a file such as `refs/heads/main` by creating `refs/heads/main.lock`, which must not exist yet, and
renaming it over the file. Here the lock is a hard link to a file of ours. Whoever holds the writers' lock of the
repository knows that no other writer of ours lives: a lock that is a link to a file of ours is stale, and any other
belongs to somebody else and stays.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path

from core.adapters.system.files import fsync_folder
from core.errors import Unavailable

_OURS = "concord-own-"
_PATIENCE = 5.0  # seconds that somebody's own git may take; its locks live for milliseconds
HEAD = "ref: refs/heads/main"
_NONE = "0" * 40
_BLOCK = 4096  # bytes: a ref has 41
_ID = re.compile(r"[0-9a-f]{40}")
_PACKED = re.compile(
    r"# pack-refs with:(?: peeled| fully-peeled| sorted)* ?|[0-9a-f]{40} refs/[^\x00-\x20\x7f\ud800-\udfff]+"
    r"|\^[0-9a-f]{40}"
)
_LOGGED = re.compile(rb"[0-9a-f]{40} ([0-9a-f]{40}) [^\n]*<[^\n]*> \d+ [+-]\d{4}(\t[^\n]*)?")


def value(path: Path, name: str) -> str | None:
    """The commit of a ref, "" where there is none, None where its file is broken."""
    commit = loose(path, name)
    return packed(path).get(name, "") if commit == "" else commit


def loose(path: Path, name: str) -> str | None:
    """The same from the ref's own file alone."""
    try:
        file = os.open(f"{path}/{name}", os.O_RDONLY)  # a page asks a hundred times: `open` takes five times as long
    except OSError:
        return ""
    try:
        text = os.read(file, _BLOCK).decode("latin-1")
    except OSError:
        return ""
    finally:
        os.close(file)
    return text[:40] if _ID.fullmatch(text.rstrip("\r\n")) else None


def packed(path: Path) -> dict[str, str]:
    """Refs that `git pack-refs` moved into one file."""
    lines = (_text(path / "packed-refs") or "").splitlines()
    return {line[41:]: line[:40] for line in lines if _PACKED.fullmatch(line) and not line.startswith(("#", "^"))}


def packed_is_broken(path: Path) -> bool:
    """Whether a line of that file is none that git writes."""
    text = _text(path / "packed-refs")
    return text is not None and not (text.endswith("\n") and all(_PACKED.fullmatch(line) for line in text.splitlines()))


def head_is_broken(path: Path) -> bool:
    """Whether HEAD does not name the main branch."""
    return (_text(path / "HEAD") or "").rstrip("\n") != HEAD


def names(path: Path) -> list[str]:
    """Every branch that there is or was."""
    loose = {*_below(path, path / "refs"), *_below(path / "logs", path / "logs" / "refs")}
    return sorted(loose | set(packed(path)))


def every(path: Path) -> dict[str, str | None]:
    """Every ref with its commit, None where its file is broken."""
    here = {name: loose(path, name) for name in _below(path, path / "refs")}
    return {**packed(path), **{name: commit for name, commit in here.items() if commit != ""}}


def _below(base: Path, folder: Path) -> Iterator[str]:
    for file in folder.rglob("*"):
        if file.is_file() and file.suffix != ".lock":
            yield str(file.relative_to(base))


def log(path: Path, name: str) -> list[str]:
    """The commits that a branch had, newest first, as far as its log can be read."""
    lines = _bytes(path / "logs" / name).splitlines()
    return [match[1].decode() for line in reversed(lines) if (match := _LOGGED.fullmatch(line))]


def log_is_broken(path: Path, name: str) -> bool:
    """Whether a line of a branch's log is none that git writes."""
    text = _bytes(path / "logs" / name)
    return bool(text) and not (text.endswith(b"\n") and all(map(_LOGGED.fullmatch, text.splitlines())))


def is_lost(path: Path, name: str) -> bool:
    """Whether a branch without a file of its own is not where its log says.

    A writer locks the branch, writes the log and turns the lock into the branch: so lock and file are looked for last,
    in this order.
    """
    if (path / name).is_file() or not _bytes(path / "logs" / name):
        return False
    now = packed(path).get(name, "")
    elsewhere = not now or (not log_is_broken(path, name) and log(path, name)[:1] != [now])
    return elsewhere and not (path / f"{name}.lock").exists() and not (path / name).is_file()


def forget_unmade(path: Path, lock: Path) -> None:
    """A writer that was killed, or had no space, between the log and the branch leaves a last line of what never was.

    The log is cut, not written anew: that needs no space.
    """
    name = str(lock.relative_to(path).with_suffix(""))
    file, lines = path / "logs" / name, _bytes(path / "logs" / name).splitlines(keepends=True)
    unfinished = lines and not lines[-1].endswith(b"\n")
    if unfinished or (lines and lines[-1][:40].decode("latin-1") == (value(path, name) or _NONE)):
        os.truncate(file, sum(map(len, lines[:-1])))
        if not lines[:-1]:
            file.unlink()


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return None


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


# ---------------------------------------------------------------- loose objects
# What was written lately lies in files of its own: reading or writing one takes a fiftieth of a process. Whatever is
# not as
# expected is git's to say.

_FEW = 200  # files; git reads more of them faster
COMPARED = ["-r", "-z", "-M", "--raw", "--no-abbrev"]  # options of diff-tree
_FILES, _FOLDER = (b"100644", b"100755", b"120000"), b"40000"  # modes


class NotLoose(Exception):
    """An object lies in a pack, is damaged or is not there."""


def loose_answer(path: Path, arguments: Sequence[str]) -> tuple[int, bytes] | None:
    """The exit code and output of git, where every object that it reads is loose; None where git has to be asked."""
    with suppress(NotLoose):
        match arguments:
            case ("cat-file", "blob", name):
                found = _found(path, name)
                return (0, loose_blob(path, found)) if found else (128, b"")
            case ("ls-tree", "-r", "-z", *options, name) if options in ([], ["--long"]):
                lines = islice(_listed(path, tree_of(path, name), b"", bool(options)), _FEW + 1)
                out = [*lines]
                return (0, b"".join(out)) if len(out) <= _FEW else None
            case ("diff-tree", *options, old, new) if options == COMPARED:
                edits = [*islice(_compared(path, tree_of(path, old), tree_of(path, new), b""), _FEW + 1)]
                moved = {letter for letter, _ in edits} >= {
                    b"A",
                    b"D",
                }  # perhaps: git looks whether one became the other
                return (0, b"".join(line for _, line in edits)) if len(edits) <= _FEW and not moved else None
    return None


def loose_blobs(path: Path, names: Sequence[str]) -> list[bytes] | None:
    """A few files by their ids; None where git has to be asked."""
    with suppress(NotLoose):
        return [loose_blob(path, name) for name in names] if len(names) <= _FEW else None
    return None


def loose_blob(path: Path, name: str) -> bytes:
    return _object(path, name, b"blob")


def tree_of(path: Path, name: str) -> str:
    """The tree of a commit; a tree is its own."""
    kind, content = _loose(path, name)
    if kind == b"tree":
        return name
    if kind != b"commit" or not content.startswith(b"tree "):
        raise NotLoose(name)
    return content[5:45].decode("ascii", "replace")


def loose_edits(path: Path, old: str, new: str) -> bytes:
    """What `diff-tree` says of two commits or trees; before the first one was nothing, ""."""
    edits = [*islice(_compared(path, tree_of(path, old) if old else "", tree_of(path, new), b""), _FEW + 1)]
    if len(edits) > _FEW or {letter for letter, _ in edits} >= {b"A", b"D"}:
        raise NotLoose(new)  # git looks whether a file that went is one that came
    return b"".join(line for _, line in edits)


def loose_commit(path: Path, name: str) -> bytes:
    return _object(path, name, b"commit")


def _found(path: Path, name: str) -> str:
    """The object behind an id, or behind the id of a commit and a path; "" where the path is not there."""
    root, _, rest = name.partition(":")
    steps = os.fsencode(rest).split(b"/") if rest else []
    found = tree_of(path, root) if steps else root
    for step in steps:
        found = next((entry for _, entry, label in _entries(path, found) if label == step), "") if found else ""
    return found


def _listed(path: Path, tree: str, above: bytes, long: bool) -> Iterator[bytes]:
    for mode, name, label in _entries(path, tree):
        if mode == _FOLDER:
            yield from _listed(path, name, above + label + b"/", long)
        elif mode not in _FILES:
            raise NotLoose(name)
        else:
            size = b" %7d" % len(loose_blob(path, name)) if long else b""
            yield b"%s blob %s%s\t%s%s\0" % (mode, name.encode(), size, above, label)


def _compared(path: Path, old: str, new: str, above: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Letter and line of every file that two trees ("" is an empty one) do not share, in git's order."""
    nothing, before, after = (b"000000", _NONE), _ordered(path, old), _ordered(path, new)
    for label in sorted(before.keys() | after.keys()):
        if (was := before.get(label, nothing)) == (now := after.get(label, nothing)):
            continue
        if label.endswith(b"/"):
            old_folder, new_folder = ("" if name == _NONE else name for _, name in (was, now))
            yield from _compared(path, old_folder, new_folder, above + label)
        else:
            letter = b"D" if now == nothing else b"M"
            letter = b"A" if was == nothing else letter
            parts = (was[0], now[0], was[1].encode(), now[1].encode(), letter, above + label)
            yield letter, b":%s %s %s %s %s\0%s\0" % parts


def _ordered(path: Path, tree: str) -> dict[bytes, tuple[bytes, str]]:
    """Mode and id by name; that of a folder ends in a slash, as git orders them. What is neither it nor a file is
    git's to compare.
    """
    entries = [*_entries(path, tree)] if tree else []
    if any(mode not in (*_FILES[:2], _FOLDER) for mode, _, _ in entries):
        raise NotLoose(tree)
    return {label + b"/" * (mode == _FOLDER): (mode, name) for mode, name, label in entries}


def _entries(path: Path, tree: str) -> Iterator[tuple[bytes, str, bytes]]:
    """Mode, id and name of everything in a tree."""
    content, at = _object(path, tree, b"tree"), 0
    while at < len(content):
        if (end := content.find(b"\0", at)) < 0:
            raise NotLoose(tree)
        mode, _, label = content[at:end].partition(b" ")
        at = end + 21
        yield mode, content[end + 1 : at].hex(), label


def _object(path: Path, name: str, wanted: bytes) -> bytes:
    kind, content = _loose(path, name)
    if kind != wanted:
        raise NotLoose(name)
    return content


def _loose(path: Path, name: str) -> tuple[bytes, bytes]:
    """Kind and content, as strict as git: a whole stream, nothing behind it, and the length that it says."""
    reader = zlib.decompressobj()
    try:
        with open(f"{path}/objects/{name[:2]}/{name[2:]}", "rb") as file:
            header, _, content = reader.decompress(file.read()).partition(b"\0")
    except (OSError, zlib.error):
        raise NotLoose(name) from None
    kind, _, size = header.partition(b" ")
    if not reader.eof or reader.unused_data or size != b"%d" % len(content) or not _ID.fullmatch(name):
        raise NotLoose(name)
    return kind, content


def write_object(path: Path, kind: bytes, content: bytes) -> str:
    """The id of an object, which is written as git writes it: synced, and under its name only when it is whole."""
    whole = b"%s %d\0%s" % (kind, len(content), content)
    name = hashlib.sha1(whole, usedforsecurity=False).hexdigest()
    file = path / "objects" / name[:2] / name[2:]
    with suppress(NotLoose):
        _loose(path, name)
        os.utime(file)  # git removes nothing that was touched lately
        return name
    file.parent.mkdir(exist_ok=True)
    number, unfinished = tempfile.mkstemp(prefix="tmp_obj_", dir=file.parent)
    try:
        with open(number, "wb") as out:
            out.write(zlib.compress(whole, 1))
            out.flush()
            os.fsync(number)
        os.chmod(unfinished, 0o400)  # the workspace is its owner's
        os.replace(unfinished, file)
    except BaseException:
        Path(unfinished).unlink(missing_ok=True)
        raise
    return name


def edited_tree(path: Path, tree: str, blobs: Mapping[str, str]) -> str:
    """A tree ("" is none yet) with these files written, or removed where their blob is ""; "" where nothing is left.

    A file where a folder stands, or the other way round, is git's to decide.
    """
    entries = {label: (mode, name) for mode, name, label in _entries(path, tree)} if tree else {}
    below: dict[bytes, dict[str, str]] = {}
    for place, blob in blobs.items():
        first, inside, rest = place.partition("/")
        label = first.encode()
        if not first or first.startswith(".") or "~" in first:
            raise NotLoose(place)  # git refuses some of those
        if inside:
            below.setdefault(label, {})[rest] = blob
        elif entries.get(label, (b"",))[0] == _FOLDER:
            raise NotLoose(place)
        elif blob:
            entries[label] = (_FILES[0], blob)
        else:
            entries.pop(label, None)
    for label, more in below.items():
        mode, name = entries.pop(label, (_FOLDER, ""))
        if mode != _FOLDER:
            raise NotLoose(name)
        if made := edited_tree(path, name, more):
            entries[label] = (_FOLDER, made)
    if any(mode not in (_FOLDER, *_FILES) for mode, _ in entries.values()):
        raise NotLoose(tree)
    ordered = sorted(entries.items(), key=lambda entry: entry[0] + b"/" * (entry[1][0] == _FOLDER))
    lines = (b"%s %s\0%s" % (mode, label, bytes.fromhex(name)) for label, (mode, name) in ordered)
    return write_object(path, b"tree", b"".join(lines)) if entries else ""


# ---------------------------------------------------------------- locks


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
        except BaseException:
            with suppress(OSError):
                forget_unmade(root, lock)
            raise
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
                    f"Another git process holds {str(lock)!r}. Wait until it has ended; if none is running, delete "
                    "that file."
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
                forget_unmade(root, lock)
                lock.unlink()
        own.unlink()
