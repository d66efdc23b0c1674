"""Three-way comparison of one document: where both sides changed the same lines, hunk by hunk."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

CHOICES = ("mine", "theirs")


@dataclass(frozen=True, slots=True)
class Hunk:
    """A stretch of lines. Without conflict, `mine` is what both sides together make of it."""

    conflict: bool
    mine: tuple[str, ...]
    theirs: tuple[str, ...] = ()
    base: tuple[str, ...] = ()


def hunks(base: str, mine: str, theirs: str) -> tuple[Hunk, ...]:
    """The document in stretches: agreed ones, and those that somebody must decide.

    >>> [(h.conflict, h.mine, h.theirs) for h in hunks("a\\nb\\nc", "a\\nB\\nc", "a\\nX\\nc")]
    [(False, ('a',), ()), (True, ('B',), ('X',)), (False, ('c',), ())]
    >>> solve(hunks("a\\nb\\nc", "A\\nb\\nc", "a\\nb\\nC"), ())
    'A\\nb\\nC'
    """
    o, a, b = (text.split("\n") for text in (base, mine, theirs))
    found: list[Hunk] = []
    at_o = at_a = at_b = 0
    for start, end, in_a, in_b in _anchors(o, a, b):
        if (at_o, at_a, at_b) != (start, in_a, in_b):
            found.append(_between(o[at_o:start], a[at_a:in_a], b[at_b:in_b]))
        if end > start:
            found.append(Hunk(False, tuple(o[start:end])))
        at_o, at_a, at_b = end, in_a + end - start, in_b + end - start
    return tuple(found)


def _anchors(o: Sequence[str], a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int, int, int]]:
    """Stretches of the base that both sides kept: (start, end, place in a, place in b); one empty one at the end."""
    in_a, in_b = _kept(o, a), _kept(o, b)
    found: list[tuple[int, int, int, int]] = []
    for n in range(len(o)):
        if n not in in_a or n not in in_b:
            continue
        if found and found[-1][1] == n and _follows(found[-1], n, in_a[n], in_b[n]):
            found[-1] = (found[-1][0], n + 1, found[-1][2], found[-1][3])
        else:
            found.append((n, n + 1, in_a[n], in_b[n]))
    return [*found, (len(o), len(o), len(a), len(b))]


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
    """The whole text, with one choice per conflict: "mine", "theirs", or "=" followed by text of one's own.

    >>> solve(hunks("b", "B", "X"), ("=both",))
    'both'
    """
    left = iter(choices)
    lines: list[str] = []
    for part in parts:
        choice = next(left) if part.conflict else "mine"
        lines += choice[1:].split("\n") if choice.startswith("=") else getattr(part, choice)
    return "\n".join(lines)
