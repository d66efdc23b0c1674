"""Questions that a passage answers, written by a language model when the index is built (doc2query).

People ask in other words than documents use. The questions become a field of their own in the lexical index; they are
never part of a passage, its vector or what is shown. A question must name nothing that its passage does not, and must
find its passage among those of the document.

Source: Nogueira and others, Document expansion by query prediction (2019); the filter after Gospodinov and others,
Doc2Query--: when less is more (2023).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from math import fsum, log

from core.chunking.agentic import each_written
from core.chunking.chunker import Tools
from core.errors import BadInput, Unavailable
from core.llm.prompt import cut, quoted
from core.llm.usable import content_words, grounded, listed, schema_of, words
from core.llm.writer import WritingTask
from core.types import Chunk, Document

VERSION = 1  # raise it when the prompt changes
MOST = 10  # questions of one passage
FIRST = 3  # a question must find its passage among so many of the document
ROOM, LONGEST, SHORTEST = 6000, 160, 3  # characters of a passage and of a question, words of a question
_SCHEMA = schema_of(questions={"type": "array", "items": {"type": "string"}})
_NUMBERING = re.compile(r"\A\s*(?:[-*•]|\(?\d{1,2}[.):])\s+")


def with_questions(document: Document, chunks: Sequence[Chunk], tools: Tools, count: int) -> tuple[Chunk, ...]:
    """The chunks with up to `count` questions each; a chunk for which no model answers has none."""
    finds = _finder(chunks)

    def write(chunk: Chunk) -> tuple[Chunk, str]:
        try:
            text, _ = tools.ask(questions_task(document, chunk, count, finds))
        except Unavailable as error:
            return chunk, str(error)
        return replace(chunk, questions=tuple(json.loads(text))), ""

    return each_written(document, chunks, tools, write, "chunks have no questions")


def questions_task(
    document: Document, chunk: Chunk, count: int, finds: Callable[[str, Chunk], bool] = lambda question, chunk: True
) -> WritingTask:
    """What a model is asked about a chunk. The key is what it reads: an edit elsewhere in the document asks for
    nothing.
    """
    place = " › ".join((document.title, *chunk.heading))
    shown = f"{place}\n\n{cut(chunk.text, ROOM)}"
    prompt = (
        f"{quoted('passage', shown)}\n\nWrite {count} short questions that this passage answers, as people who have "
        "not "
        "read it would type them into a search box: in everyday words, and in other words than it uses where there are "
        'any. Answer only with JSON: {"questions": ["…", "…"]}'
    )
    key = f"questions-{count}|{hashlib.sha256(shown.encode('utf-8', 'surrogatepass')).hexdigest()}|v{VERSION}"

    def check(answer: str) -> str:
        """Those that pass, perhaps none: to ask again would cost more than a question is worth."""
        if not (written := questions_of(answer)):
            raise BadInput("it has no question")
        kept = [each for each in dict.fromkeys(written) if _fits(each, chunk.text, place) and finds(each, chunk)]
        return json.dumps(kept[:count], ensure_ascii=False)

    return WritingTask(key, "passage questions", prompt, check, 40 + 40 * count, _SCHEMA)


def questions_of(answer: str) -> list[str]:
    """The questions in an answer: a JSON list, or one on each line.

    >>> questions_of('{"questions": ["How long?", "Who signs?"]}'), questions_of("1. How long?\\n2. Who signs?")
    (['How long?', 'Who signs?'], ['How long?', 'Who signs?'])
    """
    try:
        rows = [row for row in listed(answer, "questions") if isinstance(row, str)]
    except BadInput:
        rows = [line for line in answer.splitlines() if line.rstrip().endswith("?")]
    return [" ".join(_NUMBERING.sub("", row.encode("utf-8", "replace").decode()).split()) for row in rows]


def _fits(question: str, *sources: str) -> bool:
    """Whether a question has a usable length and names nothing that its sources do not.

    >>> _fits("How long are copies kept?", "Copies: 5 years."), _fits("Does Visa keep copies?", "Copies: 5 years.")
    (True, False)
    """
    with suppress(BadInput):
        return len(words(question)) >= SHORTEST and len(question) <= LONGEST and bool(grounded(question, *sources))
    return False


def _finder(chunks: Sequence[Chunk]) -> Callable[[str, Chunk], bool]:
    """Whether a question's words lead to a chunk: fewer than `FIRST` other chunks of the document hold more of them, by
    how rare they are there. What all chunks hold tells nothing, so a short document passes."""
    held = {chunk.id: content_words(chunk.text) for chunk in chunks}
    frequency = Counter(word for own in held.values() for word in own)

    def worth(some: Iterable[str]) -> float:
        return fsum(log((1 + len(chunks)) / (1 + frequency[word])) for word in some)

    def finds(question: str, chunk: Chunk) -> bool:
        asked = content_words(question)
        own = worth(asked & held[chunk.id])
        return sum(worth(asked & other) > own for other in held.values()) < FIRST

    return finds
