"""`markdown`, the default chunker: follows headings and keeps tables, lists and code whole where they fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.chunking.blocks import Block, blocks
from core.chunking.chunker import Chunker, Tools, tokens
from core.chunking.packing import Piece, join_crumbs, pack, shatter
from core.chunking.ruler import Ruler
from core.types import Document


def markdown(document: Document, tools: Tools, *, max_tokens: int = 400, min_tokens: int = 48) -> list[Piece]:
    """One piece per section; large sections are cut between blocks, small pieces join their neighbours."""
    ruler = Ruler(document.text, tools.tokens)
    pieces = [
        piece for section in sections(blocks(document)) for piece in _section(document.text, section, ruler, max_tokens)
    ]
    return join_crumbs(pieces, ruler, max_tokens, min_tokens)


def sections(document_blocks: Sequence[Block]) -> Iterator[list[Block]]:
    section: list[Block] = []
    for block in document_blocks:
        if block.kind == "heading" and section:
            yield section
            section = []
        section.append(block)
    if section:
        yield section


def _section(text: str, section: list[Block], ruler: Ruler, limit: int) -> Iterator[Piece]:
    start, end, level = section[0].start, section[-1].end, section[0].level
    if ruler.count(start, end) <= limit:
        yield Piece(start, end, level)
        return
    room = limit - ruler.count(start, section[0].end) if level else limit  # the heading stays with what follows it
    room = max(room, limit // 2, 1)
    yield from pack(_fitting(text, section, ruler, room), ruler, _even(ruler.count(start, end), limit))


def _even(total: int, limit: int) -> int:
    """A size that spreads `total` evenly over as few pieces as the limit allows.

    >>> _even(410, 400), _even(1000, 400)
    (226, 367)
    """
    pieces = -(-total // limit)
    return min(limit, total * 11 // (10 * pieces) + 1)


def _fitting(text: str, section: list[Block], ruler: Ruler, room: int) -> Iterator[Piece]:
    for block in section:
        if ruler.count(block.start, block.end) <= room:
            yield Piece(block.start, block.end, block.level)
        else:
            yield from shatter(text, block, ruler, room)


MARKDOWN = Chunker(
    name="markdown",
    title="Markdown",
    about="Follows the headings and keeps tables, lists and code whole where they fit.",
    source="",
    split=markdown,
    parameters=(
        tokens("max_tokens", 400, "The most that a chunk may hold."),
        tokens("min_tokens", 48, "Smaller pieces join their neighbours.", low=0),
    ),
)
