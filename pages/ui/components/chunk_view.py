"""Chunk boundaries drawn on the text of a document, for one or two chunkings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.types import Chunk, Document
from pages.ui import style
from pages.ui.components import component


def chunk_view(document: Document, sides: Sequence[tuple[str, Sequence[Chunk]]], key: str) -> Any:
    body = document.body + len(document.text[document.body :]) - len(document.text[document.body :].lstrip("\n"))
    return component("chunks")(
        key=key,
        data={"text": document.text[body:], "sides": [_side(name, chunks, body) for name, chunks in sides]},
    )


def _side(name: str, chunks: Sequence[Chunk], body: int) -> dict[str, Any]:
    sizes = sorted(chunk.tokens for chunk in chunks)
    median = sizes[len(sizes) // 2] if sizes else 0
    return {
        "name": name,
        "summary": f"{style.count(len(chunks), 'chunk')}, {sizes[0] if sizes else 0} to {sizes[-1] if sizes else 0} tokens, median {median}",
        "chunks": [
            {
                "start": chunk.start - body,
                "end": chunk.end - body,
                "tokens": f"{chunk.tokens} tokens",
                "heading": " › ".join(chunk.heading),
                "context": f"{chunk.context} ({chunk.context_by})" if chunk.context_by else chunk.context,
                "parent": [chunk.parent[0] - body, chunk.parent[1] - body] if chunk.parent else None,
            }
            for chunk in chunks
        ],
    }
