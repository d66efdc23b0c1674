"""Documents to chunks. A chunker is a function from a document to pieces; this file makes them chunks."""

from __future__ import annotations

import hashlib
import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import partial

from core.chunking.agentic import agentic, situate
from core.chunking.blocks import Outline, blocks
from core.chunking.fixed import fixed
from core.chunking.hierarchical import hierarchical
from core.chunking.markdown import markdown
from core.chunking.packing import Piece, trimmed
from core.chunking.ruler import Ruler
from core.chunking.semantic import semantic
from core.chunking.tools import Tools
from core.errors import BadInput
from core.types import Chunk, ChunkerSpec, Document

CHUNKERS: Mapping[str, Callable[..., Iterable[Piece]]] = {
    "markdown": markdown,
    "fixed": fixed,
    "semantic": semantic,
    "hierarchical": hierarchical,
    "agentic": agentic,
}

SETTINGS: Mapping[str, tuple[Mapping[str, int], ...]] = {
    "fixed": (
        {"max_tokens": 500, "overlap": 50},  # the compliance benchmark; the rest is the thesis, section 4.2
        *({"max_tokens": size, "overlap": size * percent // 100} for size in (700, 1000, 1300) for percent in (10, 20)),
    ),
    "semantic": tuple(
        {"percentile": p, "buffer": b, "max_tokens": m} for p, m in ((80, 800), (80, 1000), (90, 1200)) for b in (0, 1)
    ),
    "hierarchical": tuple(
        {"parent": p, "child": c, "overlap": o} for p, c in ((2000, 500), (2000, 800), (3000, 1000)) for o in (50, 100)
    ),
}

CONTEXTS = ("structural", "none", "contextual")


def parameters(name: str) -> dict[str, int]:
    """The parameters of a chunker with their defaults.

    >>> parameters("fixed")
    {'max_tokens': 500, 'overlap': 50}
    """
    if name not in CHUNKERS:
        raise BadInput(f"There is no chunker {name!r}. Chunkers: {', '.join(CHUNKERS)}.")
    found = inspect.signature(CHUNKERS[name]).parameters.values()
    return {p.name: p.default for p in found if p.kind is inspect.Parameter.KEYWORD_ONLY}


def check_spec(spec: ChunkerSpec) -> dict[str, int]:
    """All parameters of a chunker, defaults filled in; unknown or impossible ones are refused."""
    known = parameters(spec.name)
    for key, value in spec.params.items():
        if key not in known:
            raise BadInput(f"The chunker {spec.name!r} has no parameter {key!r}. It has: {', '.join(known)}.")
        if value < 0:
            raise BadInput(f"The parameter {key!r} of chunker {spec.name!r} must not be negative.")
    full = {**known, **spec.params}
    size = full.get("child", full.get("max_tokens", 1))
    if size < 8:
        raise BadInput(f"Chunks of {size} tokens are too small to mean anything; use 8 or more.")
    if full.get("overlap", 0) >= size or full.get("min_tokens", 0) > size or full.get("parent", size) < size:
        raise BadInput(f"The parameters of chunker {spec.name!r} contradict each other: {full}.")
    return full


def chunker(spec: ChunkerSpec, tools: Tools, context: str = "structural") -> Callable[[Document], tuple[Chunk, ...]]:
    """A function from a document to its chunks; pure, unless the tools hold a language model."""
    params = check_spec(spec)
    if context not in CONTEXTS:
        raise BadInput(f"There is no context {context!r}. Contexts: {', '.join(CONTEXTS)}.")
    return partial(_chunk, split=partial(CHUNKERS[spec.name], tools=tools, **params), tools=tools, context=context)


def _chunk(
    document: Document, *, split: Callable[..., Iterable[Piece]], tools: Tools, context: str
) -> tuple[Chunk, ...]:
    outline, ruler = Outline(document, blocks(document)), Ruler(document.text, tools.tokens)
    seen: Counter[str] = Counter()
    chunks = []
    for piece in trimmed(document.text, split(document)):
        text = document.text[piece.start : piece.end]
        heading = outline.path(piece.start, piece.end)
        seen[text] += 1
        chunks.append(
            Chunk(
                id=_identity(document.id, text, seen[text]),
                doc=document.id,
                start=piece.start,
                end=piece.end,
                text=text,
                heading=heading,
                context=piece.context if context == "none" else _context(document, heading, piece),
                parent=piece.parent,
                tokens=ruler.count(piece.start, piece.end),
                context_by="" if context == "none" else "structural",
            )
        )
    return situate(document, chunks, tools) if context == "contextual" else tuple(chunks)


def _identity(doc: str, text: str, occurrence: int) -> str:
    """An id from content: an edit elsewhere in the document does not change it."""
    return hashlib.sha256(f"{doc}\0{occurrence}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _context(document: Document, heading: tuple[str, ...], piece: Piece) -> str:
    """Where the passage stands: title and headings, and the header of a table that was cut."""
    place = " › ".join((document.title, *heading))
    return f"{place}\n{piece.context}" if piece.context else place


def embedded_text(chunk: Chunk) -> str:
    """What the legs read: the context, then the passage."""
    return f"{chunk.context}\n\n{chunk.text}" if chunk.context else chunk.text
