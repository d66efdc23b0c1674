"""Parsers for what git prints: tree entries, edits, log records, blame, merge-tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from core.curation.pictures.picture_files import is_picture
from core.curation.review.proposals import SETTINGS
from core.types import Commit, Edit, Person, TreeEntry

_KINDS = {"A": "added", "C": "added", "M": "edited", "T": "edited", "D": "deleted", "R": "renamed"}


def is_document(path: str) -> bool:
    return path.endswith(".md") and not path.startswith(".")


def parse_tree_entry(line: bytes, wanted: Callable[[str], bool] = is_document) -> TreeEntry | None:
    """A line of `ls-tree --long`: mode, type, blob, size, path."""
    if not line:
        return None
    facts, path = line.split(b"\t", 1)
    mode, _, blob, size = facts.split()
    name = path.decode("utf-8", "replace")
    return TreeEntry(name, blob.decode(), int(size)) if mode.startswith(b"100") and wanted(name) else None


def is_reviewed(path: str) -> bool:
    """Documents, their pictures, and the settings beside them."""
    return is_document(path) or is_picture(path) or path in SETTINGS


def parse_edits(fields: Iterator[bytes]) -> Iterator[Edit]:
    """The NUL-separated raw format: `:mode mode old new K`, then one path, or two for a rename or copy.

    Only files count, as in `parse_tree_entry`: one that becomes a link or a submodule is deleted.
    """
    for field in fields:
        if not field.strip().startswith(b":"):
            continue
        before, after, _, new, letter = field.decode().lstrip("\n:").split()
        kind = _KINDS[letter[0]]
        first = next(fields).decode("utf-8", "replace")
        path = next(fields).decode("utf-8", "replace") if letter[0] in "RC" else first
        if after.startswith("100"):
            kind = kind if before.startswith("100") else "added"
            yield Edit(kind, path, old_path=first if kind == "renamed" else "", blob=new)
        elif before.startswith("100"):
            yield Edit("deleted", first)


def parse_log_record(record: bytes) -> tuple[Commit, tuple[Edit, ...]]:
    """One record of `Repository._log`: the commit and the files it changed."""
    head, _, rest = record.partition(b"\x02")
    commit, parents, name, email, when, message = head.decode("utf-8", "replace").split("\0", 5)
    step = Commit(commit, Person(name, email), when, message.strip(), parents=tuple(parents.split()))
    return step, tuple(parse_edits(iter(rest.split(b"\0"))))


def parse_blame(out: bytes) -> tuple[tuple[str, str], ...]:
    """`blame --line-porcelain`: each line with the commit that wrote it."""
    lines: list[tuple[str, str]] = []
    commit = ""
    for line in out.decode("utf-8", "replace").split("\n"):
        if line.startswith("\t"):
            lines.append((commit, line[1:]))
            commit = ""
        elif not commit:
            commit = line.split(" ", 1)[0]
    return tuple(lines)


def parse_merge_tree(out: bytes) -> tuple[str, dict[str, dict[int, str]]]:
    """`merge-tree --write-tree -z`: the tree, and per conflicting path its blobs by stage."""
    tree, *lines = [part.decode("utf-8", "replace") for part in out.split(b"\0") if part]
    conflicts: dict[str, dict[int, str]] = {}
    for facts, path in sorted((line.split("\t", 1) for line in lines), key=lambda pair: pair[1]):
        _, blob, stage = facts.split()
        conflicts.setdefault(path, {})[int(stage)] = blob
    return tree, conflicts
