"""What changed between two versions: lines with word marks, frontmatter as fields, and rendered blocks."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import takewhile
from typing import Any

from core import strict
from core.curation.document.frontmatter import read_document
from core.curation.text.render import Node, Rendered, render, with_pictures
from core.types import Document, Meta

Marks = tuple[tuple[bool, str], ...]  # (changed, text) pieces of one line

_WORDS = re.compile(r"\w+|\s+|[^\w\s]")
_ALIKE = 0.35  # lines less alike than this are marked whole
_PAIRS, _WORD_PAIRS = 100_000, 5_000  # equal lines, or words of two lines, that are compared with each other
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
    rows = tuple(_rows(a, b, matcher(a, b), context))
    added = sum(row.kind in ("added", "changed") for row in rows)
    return Diff(rows, added, sum(row.kind in ("removed", "changed") for row in rows))


def matcher(a: Sequence[str], b: Sequence[str], most: int = _PAIRS) -> difflib.SequenceMatcher[str]:
    """What both have in common. The most frequent entries only extend a match, so that repetition costs no time.

    >>> matcher(["a", "b"] * 2000, ["x", *["a", "b"] * 2000, "y"]).get_opcodes()[:2]
    [('replace', 0, 4000, 0, 4002)]
    """
    here, there = Counter(a), Counter(b)
    pairs = sorted((count * there[entry], entry) for entry, count in here.items() if entry in there)
    frequent, total = set(), 0
    for cost, entry in pairs:
        total += cost
        if total > most:
            frequent.add(entry)
    if not frequent:
        return difflib.SequenceMatcher(None, a, b, autojunk=False)
    return _with_end(a, b, frequent)


def _with_end(a: Sequence[str], b: Sequence[str], frequent: Collection[str]) -> difflib.SequenceMatcher[str]:
    """The equal end is matched first: frequent entries extend a match, they never begin one."""
    pairs = zip(reversed(a), reversed(b), strict=False)
    end = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    top_a, top_b = len(a) - end, len(b) - end
    top = difflib.SequenceMatcher(frequent.__contains__, a[:top_a], b[:top_b], autojunk=False).get_matching_blocks()
    whole: Any = difflib.SequenceMatcher(None, (), (), autojunk=False)
    whole.a, whole.b = a, b
    whole.matching_blocks = [*top[:-1], difflib.Match(top_a, top_b, end), difflib.Match(len(a), len(b), 0)]
    matched: difflib.SequenceMatcher[str] = whole
    return matched


def _rows(a: Sequence[str], b: Sequence[str], matched: difflib.SequenceMatcher[str], context: int) -> Iterator[DiffRow]:
    groups = matched.get_grouped_opcodes(context) if context >= 0 else iter([matched.get_opcodes()])
    last = 0
    for group in groups:
        if group and group[0][1] > last:
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
    matched = matcher(a, b, _WORD_PAIRS)
    if matched.ratio() < _ALIKE:
        return ((True, old),), ((True, new),)
    left, right = [], []
    for kind, a1, a2, b1, b2 in matched.get_opcodes():
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


def fields_touched(old: str, new: str) -> set[str]:
    """The fields that differ between two texts of a document; `body` is what stands below them.

    >>> fields_touched("---\\nowner: Ann\\n---\\n# A", "---\\nowner: Bob\\n---\\n# A"), fields_touched("# A", "# B")
    ({'owner'}, {'body'})
    """
    before, after = read_document("a.md", old), read_document("a.md", new)
    same = old[before.body :].strip() == new[after.body :].strip()
    return {change.name for change in field_changes(before.meta, after.meta)} | (set() if same else {"body"})


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


@dataclass(frozen=True, slots=True)
class RenderedBlock:
    """One rendered block. `kind`: equal, added or removed."""

    kind: str
    node: Node


def rendered_diff(
    old: Document,
    new: Document,
    draw: Callable[[Document], Rendered] = render,
    pictures: tuple[Callable[[str], str], Callable[[str], str]] = (str, str),
) -> tuple[RenderedBlock, ...]:
    """Both versions as one list of blocks; a changed block appears twice, old one first.

    `pictures` gives the addresses of each version's pictures: a picture with another content is another block.

    >>> old, new = (Document("d", "d.md", "D", text) for text in ("a\\n\\nb\\n", "a\\n\\nc\\n"))
    >>> [block.kind for block in rendered_diff(old, new)]
    ['equal', 'removed', 'added']
    """
    sides = [
        [_bare(node) for node in with_pictures(draw(document).nodes, address)]
        for document, address in zip((old, new), pictures, strict=True)
    ]
    return tuple(_blocks(*sides))


def _blocks(a: list[Node], b: list[Node]) -> Iterator[RenderedBlock]:
    matched = matcher([*map(strict.canonical, a)], [*map(strict.canonical, b)])
    for kind, a1, a2, b1, b2 in matched.get_opcodes():
        if kind == "equal":
            yield from (RenderedBlock("equal", node) for node in b[b1:b2])
            continue
        yield from (RenderedBlock("removed", node) for node in a[a1:a2])
        yield from (RenderedBlock("added", node) for node in b[b1:b2])


def _bare(node: Node) -> Node:
    """A node without offsets, which every edit above it moves."""
    if isinstance(node, str):
        return node
    tag, attributes, children = node
    bare = {name: value for name, value in attributes.items() if name not in ("start", "end")}
    return [tag, bare, [_bare(child) for child in children]]
