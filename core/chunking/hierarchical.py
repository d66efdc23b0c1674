"""`hierarchical`: small chunks to search, large parents to read. A child lies inside exactly one parent."""

from __future__ import annotations

from collections.abc import Iterator

from core.chunking.blocks import blocks
from core.chunking.chunker import Chunker, Tools, tokens
from core.chunking.packing import Piece, pack, shatter, windows
from core.chunking.ruler import Ruler
from core.types import Document


def hierarchical(
    document: Document, tools: Tools, *, parent: int = 2000, child: int = 500, overlap: int = 50
) -> list[Piece]:
    """Parents of whole blocks up to `parent` tokens, each cut into windows of `child` tokens (thesis, equation 3)."""
    ruler = Ruler(document.text, tools.tokens)
    return [
        Piece(*span, parent=(above.start, above.end))
        for above in pack(_blocks(document, ruler, parent), ruler, parent)
        for span in windows(ruler, above.start, above.end, child, overlap)
    ]


def _blocks(document: Document, ruler: Ruler, limit: int) -> Iterator[Piece]:
    for block in blocks(document):
        if ruler.count(block.start, block.end) <= limit:
            yield Piece(block.start, block.end)
        else:
            yield from shatter(document.text, block, ruler, limit)


HIERARCHICAL = Chunker(
    name="hierarchical",
    title="Hierarchical",
    about="Small children to find, large parents to read.",
    source="the thesis, equation 3",
    split=hierarchical,
    parameters=(
        tokens("parent", 2000, "The most that a parent may hold."),
        tokens("child", 500, "The size of a child."),
        tokens("overlap", 50, "What neighbouring children share.", low=0),
    ),
    settings=tuple(
        {"parent": p, "child": c, "overlap": o} for p, c in ((2000, 500), (2000, 800), (3000, 1000)) for o in (50, 100)
    ),
)
