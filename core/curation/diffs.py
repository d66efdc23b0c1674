"""What changed between two versions: lines with word marks, and frontmatter as fields."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

from core.types import Document, Meta

Marks = tuple[tuple[bool, str], ...]  # (changed, text) pieces of one line

_WORDS = re.compile(r"\w+|\s+|[^\w\s]")
_ALIKE = 0.35  # lines less alike than this are marked whole
_MAX_MARKED = 2000  # characters of a line that are compared word by word


@dataclass(frozen=True, slots=True)
class DiffRow:
    """One line of a diff. `kind`: equal, changed, added, removed, or gap (`count` unchanged lines left out)."""

    kind: str
    left: int = 0
    right: int = 0
    before: Marks = ()
    after: Marks = ()
    count: int = 0


@dataclass(frozen=True, slots=True)
class Diff:
    """The rows, and how many lines were added and removed."""

    rows: tuple[DiffRow, ...]
    added: int
    removed: int


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One frontmatter field that differs."""

    name: str
    before: str
    after: str


def lines(text: str) -> list[str]:
    """Lines as git, checks and comments count them: only a line feed ends one.

    >>> lines("a\\x0cb\\u2028c\\nd\\n"), lines("")
    (['a\\x0cb\\u2028c', 'd'], [])
    """
    rows = text.split("\n")
    return rows if rows[-1] else rows[:-1]


def diff(old: str, new: str, context: int = 3) -> Diff:
    """A line diff with `context` unchanged lines around each change (-1: all).

    >>> [row.kind for row in diff("a\\nb\\nc", "a\\nB\\nc").rows]
    ['equal', 'changed', 'equal']
    """
    a, b = lines(old), lines(new)
    matcher = difflib.SequenceMatcher(None, a, b, autojunk=len(a) + len(b) > 4000)
    rows = tuple(_rows(a, b, matcher, context))
    added = sum(row.kind in ("added", "changed") for row in rows)
    return Diff(rows, added, sum(row.kind in ("removed", "changed") for row in rows))


def _rows(a: Sequence[str], b: Sequence[str], matcher: difflib.SequenceMatcher[str], context: int) -> Iterator[DiffRow]:
    groups = matcher.get_grouped_opcodes(context) if context >= 0 else iter([matcher.get_opcodes()])
    last = 0
    for group in groups:
        if group[0][1] > last:
            yield DiffRow("gap", count=group[0][1] - last)
        for kind, a1, a2, b1, b2 in group:
            yield from _equal(a, a1, a2, b1) if kind == "equal" else _changed(a[a1:a2], b[b1:b2], a1, b1)
            last = a2
    if len(a) > last:
        yield DiffRow("gap", count=len(a) - last)


def _equal(a: Sequence[str], a1: int, a2: int, b1: int) -> Iterator[DiffRow]:
    for n in range(a2 - a1):
        line: Marks = ((False, a[a1 + n]),)
        yield DiffRow("equal", a1 + n + 1, b1 + n + 1, line, line)


def _changed(old: Sequence[str], new: Sequence[str], a1: int, b1: int) -> Iterator[DiffRow]:
    for n in range(max(len(old), len(new))):
        if n < len(old) and n < len(new):
            before, after = words(old[n], new[n])
            yield DiffRow("changed", a1 + n + 1, b1 + n + 1, before, after)
        elif n < len(old):
            yield DiffRow("removed", left=a1 + n + 1, before=((False, old[n]),))
        else:
            yield DiffRow("added", right=b1 + n + 1, after=((False, new[n]),))


def words(old: str, new: str) -> tuple[Marks, Marks]:
    """A line before and after, with the differing words marked.

    >>> words("keep 5 years", "keep 7 years")
    (((False, 'keep '), (True, '5'), (False, ' years')), ((False, 'keep '), (True, '7'), (False, ' years')))
    """
    if len(old) + len(new) > _MAX_MARKED:
        return ((True, old),), ((True, new),)
    a, b = _WORDS.findall(old), _WORDS.findall(new)
    matcher = difflib.SequenceMatcher(None, a, b, autojunk=False)
    if matcher.ratio() < _ALIKE:
        return ((True, old),), ((True, new),)
    left, right = [], []
    for kind, a1, a2, b1, b2 in matcher.get_opcodes():
        if a2 > a1:
            left.append((kind != "equal", "".join(a[a1:a2])))
        if b2 > b1:
            right.append((kind != "equal", "".join(b[b1:b2])))
    return tuple(left), tuple(right)


def field_changes(old: Meta, new: Meta) -> tuple[FieldChange, ...]:
    """Frontmatter fields that differ, in their usual order.

    >>> field_changes(Meta(owner="Ann"), Meta(owner="Bob", tags=("x",)))
    (FieldChange(name='owner', before='Ann', after='Bob'), FieldChange(name='tags', before='', after='x'))
    """
    changes = []
    for field in fields(Meta):
        before, after = (show_field(getattr(meta, field.name)) for meta in (old, new))
        if before != after:
            changes.append(FieldChange(field.name, before, after))
    return tuple(changes)


def show_field(value: object) -> str:
    """A frontmatter value for display."""
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        return ", ".join(f"{key}: {item}" for key, item in value.items())
    return str(value or "")


def body_diff(old: Document, new: Document, context: int = 3) -> Diff:
    """The diff of the bodies, with line numbers of the whole files."""
    bodies = diff(old.text[old.body :], new.text[new.body :], context)
    left, right = (document.text.count("\n", 0, document.body) for document in (old, new))
    moved = tuple(
        DiffRow(
            row.kind, row.left and row.left + left, row.right and row.right + right, row.before, row.after, row.count
        )
        for row in bodies.rows
    )
    return Diff(moved, bodies.added, bodies.removed)
