"""The Chunks tab: where the production profile cuts the text, and beside it any other chunker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from core.chunking import CHUNKERS, known, profile_chunker
from core.errors import ConcordError
from core.types import Chunk, ChunkerSpec, Document
from pages.ui import flash, style
from pages.ui.components import component
from pages.ui.workspace import app


def draw(document: Document) -> None:
    production = app().platform.settings.production().profile
    compare = st.toggle("Compare with another chunker", key="compare", bind="query-params")
    sides = [(f"{production.chunker.name} (production)", cut(document, production.chunker))]
    if compare:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            name = st.selectbox("Chunker", list(CHUNKERS), index=1, key="chunker", width=190, bind="query-params")
            params = {
                key: int(
                    st.number_input(
                        key.replace("_", " "),
                        0,
                        5000,
                        value,
                        key=f"chunker_{name}_{key}",
                        width=140,
                        bind="query-params",
                    )
                )
                for key, value in known(name).defaults.items()
            }
        try:
            sides.append(
                (
                    f"{name} ({', '.join(map(str, params.values()))})",
                    cut(document, ChunkerSpec(name, params)),
                )
            )
        except ConcordError as error:
            st.warning(flash.refused(error))
    chunk_view(document, sides, key="chunks")


def cut(document: Document, spec: ChunkerSpec) -> tuple[Chunk, ...]:
    """The chunks of a document under the production profile, with this chunker."""
    profile = app().platform.settings.production().profile
    models = app().models.registry.of(profile)
    return profile_chunker(profile, models, spec, lambda _, what: st.caption(flash.plain(what)))(document)


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
        "summary": (
            f"{style.count(len(chunks), 'chunk')}, {sizes[0] if sizes else 0} to {sizes[-1] if sizes else 0} tokens,"
            f" median {median}"
        ),
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
