"""`agentic`: a language model chooses where the topic changes and writes a context for each chunk.

Source: the thesis, section 3.1.4 (both approaches) and 4.2 (temperature 0.2, 1,000 tokens, 3 tries, a second
model). A model only chooses places and adds context: the text of a chunk stays a span of its document.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

from core.chunking.blocks import Span, blocks
from core.chunking.chunker import Chunker, Tools, tokens
from core.chunking.markdown import markdown
from core.chunking.packing import Piece, pack
from core.chunking.ruler import Ruler, words
from core.chunking.semantic import units
from core.chunking.sentences import sentences
from core.errors import BadInput, Unavailable
from core.llm.prompt import quoted
from core.llm.usable import REPEATS, grounded, listed, prose, repeats, schema_of
from core.llm.writer import WritingTask
from core.types import Chunk, Document

VERSION = 1  # raise it when a prompt changes: answers to the old one are no longer used
ROOM = 60_000  # characters of a document that go into one prompt
SENTENCES = 4  # of a context
LONGEST = 1200  # characters of a context
CONTEXT_TOKENS = 200  # of an answer: four short sentences with room to spare
_NUMBERS = schema_of(sentences={"type": "array", "items": {"type": "integer"}})
_BARE = re.compile(r"\A[\d\s,;]+\Z")


# ---------------------------------------------------------------- segmentation


def agentic(document: Document, tools: Tools, *, max_tokens: int = 2000, min_tokens: int = 48) -> list[Piece]:
    """Segments between breakpoints that a model chose; without usable ones, the pieces of `markdown`."""
    ruler = Ruler(document.text, tools.tokens)
    sentence_spans = units(document.text, blocks(document), ruler, max_tokens)
    least, most = bounds(len(document.text[document.body :].split()))
    try:
        if len(sentence_spans) <= least:
            raise BadInput("the document is too short to be segmented.")
        cuts = _breakpoints(document, sentence_spans, least, min(most, len(sentence_spans) - 1), tools, max_tokens)
    except (BadInput, Unavailable) as error:
        tools.report(document.path, f"cut by headings instead of by a language model: {error}")
        return markdown(document, tools, max_tokens=max_tokens, min_tokens=min(min_tokens, max_tokens))
    groups = [sentence_spans[a:b] for a, b in itertools.pairwise((0, *cuts, len(sentence_spans)))]
    return [piece for group in groups for piece in pack((Piece(*span) for span in group), ruler, max_tokens)]


def bounds(words: int) -> tuple[int, int]:
    """The fewest and most breakpoints for so many words: about one per thousand.

    >>> bounds(200), bounds(8400)
    ((2, 3), (5, 11))
    """
    target = round(words / 1000)
    return max(2, target - 3), target + 3


def _breakpoints(
    document: Document, sentence_spans: Sequence[Span], least: int, most: int, tools: Tools, max_tokens: int
) -> list[int]:
    shown = [" ".join(document.text[a:b].split()) for a, b in sentence_spans]
    task = breakpoints_task(_key(document, f"segments-{max_tokens}"), shown, least, most)
    text, _ = tools.ask(task)
    return [int(number) for number in json.loads(text)]


def segment_task(document: Document, max_tokens: int = 2000) -> WritingTask:
    """What a model is asked about a document; for estimates, which have no tokenizer."""
    spans = units(document.text, blocks(document), Ruler(document.text, words), max_tokens)
    shown = [" ".join(document.text[a:b].split()) for a, b in spans]
    least, most = bounds(len(document.text[document.body :].split()))
    return breakpoints_task(_key(document, f"segments-{max_tokens}"), shown, least, most)


def breakpoints_task(key: str, shown: Sequence[str], least: int, most: int) -> WritingTask:
    """What a model is asked about the sentences of a document."""
    numbered = "\n".join(f"{n}: {sentence}" for n, sentence in enumerate(shown))
    if len(numbered) > 4 * ROOM:
        raise BadInput(f"the document has {len(numbered):,} characters; a model is shown at most {4 * ROOM:,}.")
    prompt = (
        f"{quoted('document', numbered)}\n\nThe document above has {len(shown)} numbered sentences. "
        f"Choose between {least} and {most} of them where a new segment should start because the topic, the section or "
        'the line of thought changes. Answer only with JSON, their numbers in ascending order: {"sentences": [4, 9]}'
    )
    check = partial(_checked, n=len(shown), least=least, most=most)
    return WritingTask(key, "segment", prompt, check, 40 + 8 * most, _NUMBERS)


def _checked(answer: str, n: int, least: int, most: int) -> str:
    """The breakpoints in an answer as a JSON array.

    >>> _checked("Here you are: [9, 4,]", n=12, least=2, most=3)
    '[4, 9]'
    """
    rows = listed(f"[{answer.strip().replace(';', ',')}]" if _BARE.match(answer) else answer, "sentences")
    if not all(isinstance(row, int) and not isinstance(row, bool) for row in rows):
        raise BadInput("expected sentence numbers and nothing else.")
    cuts = sorted(set(rows))
    if not least <= len(cuts) <= most:
        raise BadInput(f"expected {least} to {most} sentence numbers, found {len(cuts)}.")
    if cuts[0] < 1 or cuts[-1] >= n:
        raise BadInput(f"sentence numbers must lie between 1 and {n - 1}.")
    if len(cuts) > 1 and cuts == list(range(cuts[0], cuts[-1] + 1)):
        raise BadInput("sentences in a row are no places where the topic changes.")
    return json.dumps(cuts)


# ---------------------------------------------------------------- context


def situate(document: Document, chunks: Sequence[Chunk], tools: Tools) -> tuple[Chunk, ...]:
    """The chunks with a context written by a model, or taken from the document where no model answers."""

    def write(chunk: Chunk) -> tuple[Chunk, str]:
        return _situated(document, chunk, tools)

    return each_written(document, chunks, tools, write, "chunks have structural context only")


def each_written(
    document: Document, chunks: Sequence[Chunk], tools: Tools, write: Callable[[Chunk], tuple[Chunk, str]], lack: str
) -> tuple[Chunk, ...]:
    """The chunks, each as a model completed it. `write` also says why it could not; then it is reported what chunks
    lack.
    """
    with ThreadPoolExecutor(tools.writer.threads if tools.writer else 1) as pool:
        written = list(pool.map(write, chunks))
    if failed := [why for _, why in written if why]:
        tools.report(document.path, f"{len(failed)} of {len(written)} {lack}: {failed[-1]}")
    return tuple(chunk for chunk, _ in written)


def _situated(document: Document, chunk: Chunk, tools: Tools) -> tuple[Chunk, str]:
    try:
        text, model = tools.ask(context_task(document, chunk))
    except Unavailable as error:
        own = introduction(document)
        return replace(chunk, context=f"{chunk.context}\n{own}" if own else chunk.context), str(error)
    return replace(chunk, context=f"{chunk.context}\n{text}", context_by=model), ""


def context_task(document: Document, chunk: Chunk) -> WritingTask:
    """What a model is asked about a chunk. Its answer must add to the chunk and name nothing that the document does
    not.
    """
    prompt = (
        f"{quoted('document', _around(document.text, chunk.start, chunk.end))}\n\n{quoted('chunk', chunk.text)}\n\n"
        "Write 2 to 4 short sentences that situate the chunk within the document, so that a search finds it: what it "
        "is "
        "about, what it belongs to, and which names or dates of the document it depends on. Answer only with them."
    )
    meta = document.meta
    sources = (document.text, document.title, document.path, meta.doc_type, meta.owner, *meta.tags)

    def check(answer: str) -> str:
        text = context_text(answer)
        if repeats(text, chunk.text) >= REPEATS:
            raise BadInput("it repeats the chunk.")
        return grounded(text, *sources)

    return WritingTask(_key(document, chunk.id), "context", prompt, check, CONTEXT_TOKENS)


def introduction(document: Document) -> str:
    """A context without a model: the document's type and the first sentence of its first paragraph.

    >>> from core.types import Meta
    >>> text = "# Cash\\n\\nCount it twice. Then close.\\n"
    >>> introduction(Document("d", "d.md", "Cash", text, 0, Meta(doc_type="sop")))
    'sop: Count it twice.'
    """
    first = next((block for block in blocks(document) if block.kind == "paragraph"), None)
    text = " ".join(document.text[first.start : first.end].split())[:LONGEST] if first else ""
    opening = text[slice(*sentences(text)[0])] if text else ""
    return ": ".join(part for part in (document.meta.doc_type, opening) if part)


def context_text(answer: str) -> str:
    """An answer as one line of at most four sentences.

    >>> context_text("Here it is: It is \\n about cash. Two. Three. Four. Five.")
    'It is about cash. Two. Three. Four.'
    """
    text = prose(answer)[:LONGEST]
    return text[: sentences(text)[:SENTENCES][-1][1]]


def _around(text: str, start: int, end: int, room: int = ROOM) -> str:
    """As much of the document around a chunk as fits.

    >>> _around("0123456789", 4, 6, room=4)
    '3456'
    """
    first = max(0, min((start + end - room) // 2, len(text) - room))
    return text[first : first + room]


def _key(document: Document, what: str) -> str:
    blob = document.blob or hashlib.sha256(document.text.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{blob}|{what}|v{VERSION}"


AGENTIC = Chunker(
    name="agentic",
    title="Agentic",
    about="A language model finds where the subject changes.",
    source="the thesis, 3.1.4",
    split=agentic,
    parameters=(
        tokens("max_tokens", 2000, "The most that a chunk may hold."),
        tokens("min_tokens", 48, "Smaller pieces join their neighbours.", low=0),
    ),
    asks=("llm",),
)
