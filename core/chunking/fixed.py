"""`fixed`: windows of a set number of tokens, cut between words."""

from __future__ import annotations

from core.chunking.packing import Piece, windows
from core.chunking.ruler import Ruler
from core.chunking.tools import Tools
from core.types import Document


def fixed(document: Document, tools: Tools, *, max_tokens: int = 500, overlap: int = 50) -> list[Piece]:
    """Windows of `max_tokens`; neighbours share `overlap` tokens (thesis, equation 1)."""
    ruler = Ruler(document.text, tools.tokens)
    return [Piece(*span) for span in windows(ruler, document.body, len(document.text), max_tokens, overlap)]
