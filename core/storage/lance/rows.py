"""Chunks as rows of the table. The first row of each document also holds its whole text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from core.storage.index.duckdb import HEADING
from core.types import Chunk, Document

FILTERED = ("path", "doc_type", "status", "owner", "effective_date", "review_due")
"""Facts of the document that filters ask for, on each of its rows."""


def schema(width: int) -> pa.Schema:
    """The columns of a table whose vectors have so many numbers."""
    text, number = pa.string(), pa.int32()
    kinds = {
        "id": text,
        "doc": text,
        "rev": pa.int64(),
        **dict.fromkeys(FILTERED, text),
        "tags": pa.list_(text),
        **dict.fromkeys(("start", "stop", "parent_start", "parent_stop"), number),
        **dict.fromkeys(("heading", "context", "text", "terms", "around"), text),
        "vector": pa.list_(pa.float32(), width),
    }
    fields = [pa.field(name, kind, nullable=False) for name, kind in kinds.items()]
    return pa.schema([*fields, pa.field("document", text)])


def of_chunks(
    documents: Sequence[Document],
    chunks: Sequence[Chunk],
    terms: Sequence[str],
    around: Sequence[str],
    vectors: np.ndarray,
    rev: int,
) -> pa.Table:
    """One row per chunk, written at a position on the main line. `around` are the words of its fields."""
    owners = {document.id: document for document in documents}
    homes = [owners[chunk.doc] for chunk in chunks]
    first = first_chunks(chunks)
    flat = pa.array(np.ascontiguousarray(vectors, dtype=np.float32).ravel())
    width = vectors.shape[1]
    columns = {
        "id": [chunk.id for chunk in chunks],
        "doc": [chunk.doc for chunk in chunks],
        "rev": [rev] * len(chunks),
        "path": [home.path for home in homes],
        "doc_type": [home.meta.doc_type for home in homes],
        "status": [home.meta.status for home in homes],
        "owner": [home.meta.owner for home in homes],
        "effective_date": [str(home.meta.effective_date or "") for home in homes],
        "review_due": [str(home.meta.review_due or "") for home in homes],
        "tags": [list(home.meta.tags) for home in homes],
        "start": [chunk.start for chunk in chunks],
        "stop": [chunk.end for chunk in chunks],
        "parent_start": [chunk.parent[0] if chunk.parent else -1 for chunk in chunks],
        "parent_stop": [chunk.parent[1] if chunk.parent else -1 for chunk in chunks],
        "heading": [HEADING.join(chunk.heading) for chunk in chunks],
        "context": [chunk.context for chunk in chunks],
        "text": [chunk.text for chunk in chunks],
        "terms": list(terms),
        "around": list(around),
        "vector": pa.FixedSizeListArray.from_arrays(flat, width),
        "document": [
            home.text if first[home.id] == chunk.id else None for home, chunk in zip(homes, chunks, strict=True)
        ],
    }
    return pa.table(columns, schema=schema(width))


def first_chunks(chunks: Sequence[Chunk]) -> Mapping[str, str]:
    """The chunk of each document that stands first in its text."""
    first: dict[str, Chunk] = {}
    for chunk in chunks:
        known = first.setdefault(chunk.doc, chunk)
        if (chunk.start, chunk.id) < (known.start, known.id):
            first[chunk.doc] = chunk
    return {doc: chunk.id for doc, chunk in first.items()}
