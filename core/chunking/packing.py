"""What chunkers share: cut what is too large, join what is too small."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from core.chunking.blocks import Block, Span, parts, table_header
from core.chunking.ruler import Ruler
from core.chunking.sentences import sentences, trim


@dataclass(frozen=True, slots=True)
class Piece:
    """A span that will be a chunk. `level` is that of the heading it starts with, else 0."""

    start: int
    end: int
    level: int = 0
    context: str = ""
    parent: Span | None = None


def shatter(text: str, block: Block, ruler: Ruler, limit: int) -> Iterator[Piece]:
    """Cut a block into pieces of at most `limit` tokens, between its items, rows or sentences if possible.

    A table that is cut repeats its header, as context: the text of a chunk stays a span of the document.
    """
    header = table_header(text, block) if block.kind == "table" else ""
    for n, piece in enumerate(pack((Piece(*span) for span in _fitting(text, block, ruler, limit)), ruler, limit)):
        yield replace(piece, context=header if n else "")


def _fitting(text: str, block: Block, ruler: Ruler, limit: int) -> Iterator[Span]:
    """Items or rows; if still too large, sentences; if still too large, words."""
    for start, end in parts(text, block):
        if ruler.count(start, end) <= limit:
            yield start, end
            continue
        edges = [start, *(a for a, _ in sentences(text, start, end)[1:]), end]
        for a, b in itertools.pairwise(edges):
            yield from windows(ruler, a, b, limit)


def windows(ruler: Ruler, start: int, end: int, limit: int, overlap: int = 0) -> Iterator[Span]:
    """Windows of at most `limit` tokens over a span; neighbours share at most `overlap` tokens."""
    while start < end:
        stop = min(end, max(ruler.reach(start, limit), start + 1))
        yield start, stop
        if stop >= end:
            return
        back = ruler.back(stop, overlap) if overlap else stop
        start = back if back > start else stop  # a long unbroken run has no earlier place to start from


def pack(pieces: Iterable[Piece], ruler: Ruler, limit: int) -> Iterator[Piece]:
    """Join neighbours greedily up to `limit` tokens."""
    joined: Piece | None = None
    for piece in pieces:
        if joined is None:
            joined = piece
        elif ruler.count(joined.start, piece.end) <= limit:
            joined = replace(joined, end=piece.end)
        else:
            yield joined
            joined = piece
    if joined is not None:
        yield joined


def join_crumbs(pieces: Iterable[Piece], ruler: Ruler, limit: int, least: int) -> list[Piece]:
    """Join pieces of under `least` tokens to a neighbour in the same part of the outline."""
    joined: list[Piece] = []
    for piece in pieces:
        if joined and _is_crumb(joined[-1], piece, ruler, limit, least):
            joined[-1] = replace(joined[-1], end=piece.end)
        else:
            joined.append(piece)
    return joined


def _is_crumb(last: Piece, piece: Piece, ruler: Ruler, limit: int, least: int) -> bool:
    small = ruler.count(last.start, last.end) < least or ruler.count(piece.start, piece.end) < least
    same_part = not piece.level or 0 < last.level <= piece.level
    return small and same_part and ruler.count(last.start, piece.end) <= limit


def trimmed(text: str, pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Pieces without white space at their ends; empty ones are dropped."""
    for piece in pieces:
        start, end = trim(text, piece.start, piece.end)
        if start < end:
            yield replace(piece, start=start, end=end)
