"""Which chunks an edit adds, removes or changes."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.types import Chunk

_ALIKE = 0.4  # below this, two chunks at the same place are two different chunks


@dataclass(frozen=True, slots=True)
class ChunkPair:
    """One chunk before and after. `kind`: same, changed, added or removed."""

    kind: str
    before: Chunk | None = None
    after: Chunk | None = None


def compare(old: Sequence[Chunk], new: Sequence[Chunk]) -> tuple[ChunkPair, ...]:
    """Two chunkings of one document in reading order.

    >>> def chunks(*texts): return [Chunk(text, "d", 0, 0, text) for text in texts]
    >>> [pair.kind for pair in compare(chunks("keep 5 years", "old"), chunks("keep 7 years", "fresh words", "old"))]
    ['changed', 'added', 'same']
    """
    return tuple(_pairs(old, new))


def _pairs(old: Sequence[Chunk], new: Sequence[Chunk]) -> Iterator[ChunkPair]:
    matcher = difflib.SequenceMatcher(None, [c.text for c in old], [c.text for c in new], autojunk=False)
    for kind, a1, a2, b1, b2 in matcher.get_opcodes():
        if kind == "equal":
            yield from (ChunkPair("same", a, b) for a, b in zip(old[a1:a2], new[b1:b2], strict=True))
        else:
            yield from _between(list(old[a1:a2]), list(new[b1:b2]))


def _between(old: list[Chunk], new: list[Chunk]) -> Iterator[ChunkPair]:
    """Chunks between two equal runs; similar ones count as changed."""
    while old and new:
        if _alike(old[0], new[0]):
            yield ChunkPair("changed", old.pop(0), new.pop(0))
        elif any(_alike(old[0], other) for other in new[1:]):
            yield ChunkPair("added", after=new.pop(0))
        else:
            yield ChunkPair("removed", before=old.pop(0))
    yield from (ChunkPair("removed", before=chunk) for chunk in old)
    yield from (ChunkPair("added", after=chunk) for chunk in new)


def _alike(chunk: Chunk, other: Chunk) -> bool:
    return difflib.SequenceMatcher(None, chunk.text.split(), other.text.split(), autojunk=False).ratio() >= _ALIKE
