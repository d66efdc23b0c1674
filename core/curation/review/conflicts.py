"""Three-way merge of one document, hunk by hunk; inside a conflict word by word, as far as the edits do not touch."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.curation.review.diffs import matcher
from core.errors import BadInput

_TOKENS = re.compile(r"\n|[^\S\n]+|\w+|[^\w\s]")
_MOST_TOKENS = 20_000  # of a conflict that is compared word by word


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
    return _merge(*(text.split("\n") for text in (base, mine, theirs)))


def combined(hunk: Hunk) -> str | None:
    """Both edits of a conflict in one text; None where they touch the same words.

    >>> combined(Hunk(True, ("Call within 4 hours.", "Ask Ann."), ("Call within 6 hours.",), ("Call within 4 hours.",)))
    'Call within 6 hours.\\nAsk Ann.'
    >>> combined(Hunk(True, ("7 years",), ("9 years",), ("5 years",))) is None
    True
    """
    sides = [_TOKENS.findall("\n".join(lines)) for lines in (hunk.base, hunk.mine, hunk.theirs)]
    if not all(sides) or sum(map(len, sides)) > _MOST_TOKENS:
        return None
    parts = _merge(*sides)
    return None if any(part.conflict for part in parts) else "".join(token for part in parts for token in part.mine)


def _merge(o: Sequence[str], a: Sequence[str], b: Sequence[str]) -> tuple[Hunk, ...]:
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
    blocks = matcher(o, side).get_matching_blocks()
    return {block.a + n: block.b + n for block in blocks for n in range(block.size)}


def _between(o: Sequence[str], a: Sequence[str], b: Sequence[str]) -> Hunk:
    if a == b or b == o:
        return Hunk(False, tuple(a))
    return Hunk(False, tuple(b)) if a == o else Hunk(True, tuple(a), tuple(b), tuple(o))


def solve(parts: Sequence[Hunk], choices: Sequence[str]) -> str:
    """The merged text, with one choice per conflict: "mine", "theirs", "both", or "=" followed by other text.

    >>> solve(hunks("b", "B", "X"), ("=both",))
    'both'
    """
    left = iter(choices)
    lines: list[str] = []
    for part in parts:
        choice = next(left) if part.conflict else "mine"
        lines += _chosen(part, choice)
    return "\n".join(lines)


def _chosen(part: Hunk, choice: str) -> Sequence[str]:
    if choice == "both":
        text = combined(part)
        if text is None:
            raise BadInput("Both edits change the same words here. Take one of them, or write what should stand here.")
        choice = f"={text}"
    if choice.startswith("="):
        return choice[1:].split("\n")
    return part.mine if choice == "mine" else part.theirs
