"""The chunker of a profile, as previews and estimates need it: with its embedder and without a language model."""

from __future__ import annotations

from collections.abc import Callable

from core.chunking import chunker
from core.chunking.tools import Report, Tools, ignore
from core.ports import Embedder
from core.types import Chunk, ChunkerSpec, Document, Profile


def profile_chunker(
    profile: Profile, embedder: Embedder, spec: ChunkerSpec | None = None, report: Report = ignore
) -> Callable[[Document], tuple[Chunk, ...]]:
    """A function from a document to its chunks under a profile, or under another chunker with the same profile."""
    tools = Tools(embedder.tokens, embedder.documents, report=report)
    return chunker(spec or profile.chunker, tools, profile.context)
