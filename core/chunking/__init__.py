"""Documents to chunks. A chunker is a record with a function from a document to pieces; this file makes them chunks."""

from __future__ import annotations

import hashlib
import html
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

from core.chunking.agentic import AGENTIC, situate
from core.chunking.blocks import Outline, blocks
from core.chunking.chunker import Chunker, Report, Tools, ignore
from core.chunking.fixed import FIXED
from core.chunking.hierarchical import HIERARCHICAL
from core.chunking.markdown import MARKDOWN
from core.chunking.packing import Piece, trimmed
from core.chunking.passage_questions import with_questions
from core.chunking.ruler import Ruler
from core.chunking.semantic import SEMANTIC
from core.curation.text.markup import blanked
from core.curation.text.render import in_words
from core.errors import BadInput, one_of
from core.ports import Embedder
from core.types import Chunk, ChunkerSpec, Document, Frozen, Profile

CHUNKERS: dict[str, Chunker] = {record.name: record for record in (MARKDOWN, FIXED, SEMANTIC, HIERARCHICAL, AGENTIC)}

CONTEXTS = ("structural", "none", "contextual")


def known(name: str) -> Chunker:
    """The record of a chunker; an unknown name is refused.

    >>> known("fixed").defaults
    {'max_tokens': 500, 'overlap': 50}
    """
    if name not in CHUNKERS:
        sizes = [size for size in presets() if size.startswith(f"{name.partition('-')[0]}-")]
        said = f" Settings with a name: {', '.join(sizes)}; other sizes are parameters of the chunker." if sizes else ""
        raise BadInput(f"There is no chunker {name!r}. Chunkers: {', '.join(CHUNKERS)}.{said}")
    return CHUNKERS[name]


def presets() -> dict[str, ChunkerSpec]:
    """The settings that experiments compare, by name: those of the thesis, 4.2, and of the compliance benchmark.

    >>> presets()["hierarchical-2000-500-100"].params["overlap"]
    100
    >>> [sum(name.startswith(chunker) for name in presets()) for chunker in ("fixed", "semantic", "hierarchical")]
    [7, 6, 6]
    """
    return {
        "-".join([record.name, *map(str, params.values())]): ChunkerSpec(record.name, Frozen(params))
        for record in CHUNKERS.values()
        for params in record.settings
    }


def check_spec(spec: ChunkerSpec) -> dict[str, int]:
    """All parameters of a chunker, defaults filled in; unknown or impossible ones are refused."""
    record = known(spec.name)
    ranges = {parameter.name: parameter for parameter in record.parameters}
    for key, value in spec.params.items():
        if key not in ranges:
            raise BadInput(f"The chunker {spec.name!r} has no parameter {key!r}. It has: {', '.join(ranges)}.")
        if value < 0:
            raise BadInput(f"The parameter {key!r} of chunker {spec.name!r} must not be negative.")
    full = {**record.defaults, **spec.params}
    size = full.get("child", full.get("max_tokens", 8))
    if size < 8:
        raise BadInput(f"Chunks of {size} tokens are too small to mean anything; use 8 or more.")
    for key, value in full.items():
        if not ranges[key].admits(value):
            low, high = ranges[key].low, ranges[key].high
            raise BadInput(f"The parameter {key!r} of chunker {spec.name!r} must be from {low} to {high}, not {value}.")
    if full.get("overlap", 0) >= size or full.get("min_tokens", 0) > size or full.get("parent", size) < size:
        raise BadInput(f"The parameters of chunker {spec.name!r} contradict each other: {full}.")
    return full


def chunker(
    spec: ChunkerSpec, tools: Tools, context: str = "structural", questions: int = 0
) -> Callable[[Document], tuple[Chunk, ...]]:
    """A function from a document to its chunks; pure, unless the tools hold a language model."""
    params = check_spec(spec)
    one_of(context, CONTEXTS, "context")
    cut = partial(_chunk, split=partial(known(spec.name).split, tools=tools, **params), tools=tools, context=context)
    return (lambda document: with_questions(document, cut(document), tools, questions)) if questions else cut


def _chunk(
    document: Document, *, split: Callable[..., Iterable[Piece]], tools: Tools, context: str
) -> tuple[Chunk, ...]:
    read = replace(document, text=blanked(document.text))  # the same places, without embedded data and tags
    outline, ruler = Outline(read, blocks(read)), Ruler(read.text, tools.tokens)
    seen: Counter[str] = Counter()
    chunks = []
    for piece in trimmed(read.text, split(read)):
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
    """What the legs read: the context, then the passage, with pictures by their words, and without what nobody
    reads.
    """
    return with_context(chunk.context, chunk.text)


def with_context(context: str, passage: str) -> str:
    """The same from its parts."""
    text = html.unescape(blanked(in_words(passage)))
    return f"{context}\n\n{text}" if context else text


def profile_chunker(
    profile: Profile, embedder: Embedder, spec: ChunkerSpec | None = None, report: Report = ignore
) -> Callable[[Document], tuple[Chunk, ...]]:
    """A function from a document to its chunks under a profile, or under another chunker with the same profile."""
    tools = Tools(embedder.tokens, embedder.documents, report=report)
    return chunker(spec or profile.chunker, tools, profile.context)
