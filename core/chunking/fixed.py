"""`fixed`: windows of a set number of tokens, cut between words."""

from __future__ import annotations

from core.chunking.chunker import Chunker, Tools, tokens
from core.chunking.packing import Piece, windows
from core.chunking.ruler import Ruler
from core.types import Document


def fixed(document: Document, tools: Tools, *, max_tokens: int = 500, overlap: int = 50) -> list[Piece]:
    """Windows of `max_tokens`; neighbours share `overlap` tokens (thesis, equation 1)."""
    ruler = Ruler(document.text, tools.tokens)
    return [Piece(*span) for span in windows(ruler, document.body, len(document.text), max_tokens, overlap)]


FIXED = Chunker(
    name="fixed",
    title="Fixed",
    about="Windows of a set number of tokens, cut between words.",
    source="the thesis, equation 1",
    split=fixed,
    parameters=(
        tokens("max_tokens", 500, "The size of a window."),
        tokens("overlap", 50, "What neighbours share.", low=0),
    ),
    settings=(
        {"max_tokens": 500, "overlap": 50},  # the compliance benchmark; the rest is the thesis, section 4.2
        *({"max_tokens": size, "overlap": size * percent // 100} for size in (700, 1000, 1300) for percent in (10, 20)),
    ),
)
