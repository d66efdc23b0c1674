"""Allowlists for ids, paths and revisions before they reach git, a database or the file system."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable

from core.errors import BadInput

MAX_PATH_BYTES = 500
MAX_NAME_BYTES = 180  # of one folder or file; a file system takes 255
_SIGNS = frozenset(" .,()&+'’@=#!-–—_")
_RESERVED = {"con", "prn", "aux", "nul", *(f"com{n}" for n in range(1, 10)), *(f"lpt{n}" for n in range(1, 10))}
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_REVISION = re.compile(r"[0-9a-f]{4,64}|main|settings|change/[a-z0-9][a-z0-9-]{0,60}")
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")


def safe_path(path: str, suffixes: tuple[str, ...] = (".md",)) -> str:
    """The path in its one spelling, or BadInput that says what is wrong with it.

    >>> safe_path("finance/close/month-end.md")
    'finance/close/month-end.md'
    >>> safe_path("../secrets.md")
    Traceback (most recent call last):
        ...
    core.errors.BadInput: The path '../secrets.md' has the part '..', which is not a plain file or folder name. ...
    """
    name = unicodedata.normalize("NFC", path)
    if not name.endswith(suffixes):
        raise BadInput(f"The path {_show(path)} must end in {' or '.join(suffixes)}.")
    if len(name.encode("utf-8", "surrogatepass")) > MAX_PATH_BYTES:
        raise BadInput(f"The path {_show(path)} is longer than {MAX_PATH_BYTES} bytes. Shorten a folder or the name.")
    parts = name.split("/")
    for part in parts:
        _check_segment(part, path)
    return name


def _check_segment(part: str, path: str) -> None:
    if not _is_plain(part) or part.endswith((".", " ")):
        raise BadInput(
            f"The path {_show(path)} has the part {_show(part)}, which is not a plain file or folder name. "
            "Use letters, digits, spaces and . , ( ) & + ' @ = # ! - _ and start with a letter or digit."
        )
    if len(part.encode("utf-8", "surrogatepass")) > MAX_NAME_BYTES:
        raise BadInput(f"The path {_show(path)} has a name longer than {MAX_NAME_BYTES} bytes. Shorten it.")
    if part.split(".")[0].casefold() in _RESERVED:
        raise BadInput(f"The path {_show(path)} uses the reserved name {_show(part)}. Rename it.")


def _is_plain(part: str) -> bool:
    """Letters and digits of any script, with their accents and vowel signs, and a few signs between them."""
    return bool(part) and (part[0].isalnum() or part[0] == "_") and all(_is_letter(c) or c in _SIGNS for c in part)


def _is_letter(char: str) -> bool:
    return char.isalnum() or unicodedata.category(char) in ("Mn", "Mc")


def collision_key(path: str) -> str:
    """Paths with equal keys cannot both exist on every file system.

    >>> collision_key("A/Über.md") == collision_key("a/über.md")
    True
    """
    return unicodedata.normalize("NFKC", path).casefold()


def name_collisions(paths: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    """Groups of paths that cannot coexist on every file system.

    >>> name_collisions(["a.md", "it/vpn.md", "it/VPN.md"])
    (('it/VPN.md', 'it/vpn.md'),)
    """
    groups: dict[str, list[str]] = {}
    for path in paths:
        groups.setdefault(collision_key(path), []).append(path)
    return tuple(tuple(sorted(group)) for group in groups.values() if len(group) > 1)


def safe_folder(folder: str) -> str:
    """A folder in its one spelling; "" is the root.

    >>> safe_folder("/finance/close/ "), safe_folder("")
    ('finance/close', '')
    """
    name = folder.strip().strip("/")
    return safe_path(f"{name}/x.md").removesuffix("/x.md") if name else ""


def free_path(path: str, taken: Collection[str]) -> str:
    """The path, or the first numbered one that is free.

    >>> free_path("it/vpn.md", {"it/VPN.md", "it/vpn-2.md"})
    'it/vpn-3.md'
    """
    keys = {collision_key(other) for other in taken}
    numbered = (f"{path.removesuffix('.md')}-{n}.md" for n in itertools.count(2))
    return next(free for free in itertools.chain([path], numbered) if collision_key(free) not in keys)


def free_name(name: str, taken: Collection[str]) -> str:
    """The name, or the first numbered one that is free.

    >>> free_name("b", {"a"}), free_name("b", {"b", "b-2"})
    ('b', 'b-3')
    """
    numbered = (f"{name}-{n}" for n in itertools.count(2))
    return next(free for free in itertools.chain([name], numbered) if free not in taken)


def folder_counts(paths: Iterable[str], most: int = 30) -> dict[str, int]:
    """How many documents lie in which folder, the largest first; one that holds most of them counts as its own folders.

    >>> folder_counts(["a/x/1.md", "a/x/2.md", "a/y/3.md", "a/4.md", "b/5.md", "6.md"])
    {'a/x': 2, '': 1, 'a': 1, 'a/y': 1, 'b': 1}
    """
    names = [path.rpartition("/")[0] for path in paths]
    split: set[str] = set()

    def group(name: str) -> str:
        parts = name.split("/")
        shown = (depth for depth in range(1, len(parts) + 1) if "/".join(parts[:depth]) not in split)
        return "/".join(parts[: next(shown, len(parts))])

    while True:
        counts = Counter(map(group, names))
        first, held = min(counts.items(), key=lambda pair: (-pair[1], pair[0]), default=("", 0))
        below = {group(name) for name in names if name.startswith(f"{first}/")}
        if not first or not below or first in split or 2 * held <= len(names) or len(counts) >= most:
            return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))
        split.add(first)


def top_folder(path: str) -> str:
    """The first folder of a path; "" at the top.

    >>> top_folder("finance/close/month-end.md"), top_folder("README.md")
    ('finance', '')
    """
    return path.split("/")[0] if "/" in path else ""


def visible(name: str) -> str:
    """A printable name; invisible characters become �, so that a bad name never looks like a good one.

    >>> visible("a\\x00b\\u202e.md")
    'a�b�.md'
    """
    shown = "".join(c if c.isprintable() else "\ufffd" for c in name)
    return shown if len(shown) <= 300 else shown[:200] + "…" + shown[-20:]


def safe_id(value: str) -> str:
    """A document id: letters, digits, dot, dash, underscore.

    >>> safe_id("FIN-POL-001")
    'FIN-POL-001'
    """
    if not _ID.fullmatch(value):
        raise BadInput(
            f"The id {_show(value)} may hold only letters, digits and . _ - (64 at most, starting with a letter or "
            "digit)."
        )
    return value


def safe_revision(value: str) -> str:
    """A commit id or the name of a branch that Concord made."""
    if not _REVISION.fullmatch(value):
        raise BadInput(f"{_show(value)} is not a commit or a branch of this knowledge base.")
    return value


def safe_name(value: str, of: str) -> str:
    """The name of a profile or a query set, as `of` says: lower-case letters, digits and dashes."""
    if not _NAME.fullmatch(value):
        raise BadInput(f"The name {_show(value)} of {of} may hold only a-z, 0-9 and - (40 at most).")
    return value


def _show(value: str) -> str:
    """The value quoted and shortened, with control and direction characters escaped."""
    text = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in value)
    return f"'{text if len(text) <= 120 else text[:117] + '...'}'"
