"""Three-way merge of one document, hunk by hunk."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Hunk:
    """A run of lines. Without conflict, `mine` is the merged text."""

    conflict: bool
    mine: tuple[str, ...]
    theirs: tuple[str, ...] = ()
    base: tuple[str, ...] = ()


def hunks(base: str, mine: str, theirs: str) -> tuple[Hunk, ...]:
    """The document as merged hunks and conflicts.

    >>> [(h.conflict, h.mine, h.theirs) for h in hunks("a\\nb\\nc", "a\\nB\\nc", "a\\nX\\nc")]
    [(False, ('a',), ()), (True, ('B',), ('X',)), (False, ('c',), ())]
    >>> solve(hunks("a\\nb\\nc", "A\\nb\\nc", "a\\nb\\nC"), ())
    'A\\nb\\nC'
    """
    o, a, b = (text.split("\n") for text in (base, mine, theirs))
    parts: list[Hunk] = []
    at_o = at_a = at_b = 0
    for start, end, in_a, in_b in _anchors(o, a, b):
        if (at_o, at_a, at_b) != (start, in_a, in_b):
            parts.append(_between(o[at_o:start], a[at_a:in_a], b[at_b:in_b]))
        if end > start:
            parts.append(Hunk(False, tuple(o[start:end])))
        at_o, at_a, at_b = end, in_a + end - start, in_b + end - start
    return tuple(parts)


def _anchors(o: Sequence[str], a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int, int, int]]:
    """Runs of the base that both sides kept, as (start, end, start in a, start in b), closed by an empty one."""
    in_a, in_b = _kept(o, a), _kept(o, b)
    anchors: list[tuple[int, int, int, int]] = []
    for n in range(len(o)):
        if n not in in_a or n not in in_b:
            continue
        if anchors and anchors[-1][1] == n and _follows(anchors[-1], n, in_a[n], in_b[n]):
            anchors[-1] = (anchors[-1][0], n + 1, anchors[-1][2], anchors[-1][3])
        else:
            anchors.append((n, n + 1, in_a[n], in_b[n]))
    return [*anchors, (len(o), len(o), len(a), len(b))]


def _follows(anchor: tuple[int, int, int, int], n: int, a: int, b: int) -> bool:
    start, _, in_a, in_b = anchor
    return a - in_a == n - start and b - in_b == n - start


def _kept(o: Sequence[str], side: Sequence[str]) -> dict[int, int]:
    blocks = difflib.SequenceMatcher(None, o, side, autojunk=False).get_matching_blocks()
    return {block.a + n: block.b + n for block in blocks for n in range(block.size)}


def _between(o: Sequence[str], a: Sequence[str], b: Sequence[str]) -> Hunk:
    if a == b or b == o:
        return Hunk(False, tuple(a))
    return Hunk(False, tuple(b)) if a == o else Hunk(True, tuple(a), tuple(b), tuple(o))


def solve(parts: Sequence[Hunk], choices: Sequence[str]) -> str:
    """The merged text, with one choice per conflict: "mine", "theirs", or "=" followed by other text.

    >>> solve(hunks("b", "B", "X"), ("=both",))
    'both'
    """
    left = iter(choices)
    lines: list[str] = []
    for part in parts:
        choice = next(left) if part.conflict else "mine"
        lines += choice[1:].split("\n") if choice.startswith("=") else getattr(part, choice)
    return "\n".join(lines)
