"""Markdown of people, parsed where it can do no harm: short texts here, longer ones in a process with limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from core import strict
from core.adapters.conversion.worker_pool import Limits, Overrun, WorkerPool
from core.curation.checks import check_rules
from core.curation.checks.findings import Reading
from core.curation.document.size_limits import effort
from core.curation.text.render import Rendered, render
from core.errors import BadInput
from core.lru import LruCache
from core.types import Document

T = TypeVar("T")
Answers = LruCache[str, dict[str, Any]]

SIZE = 2  # texts that are read at the same time
SHORT = 8_000  # characters and cells: an ordinary document; the worst text of this length takes half a second
READINGS, DRAWN = (
    512,
    4,
)  # answers kept, so that an edit of one file does not read the others again; drawn ones are large
LIMITS = Limits(wall=60.0, cpu=10, memory=1024**3)


class TextReader:
    """Readings and previews of documents; a text that would take too long is refused with a sentence."""

    def __init__(self, limits: Limits = LIMITS, size: int = SIZE) -> None:
        self.pool = WorkerPool("core.adapters.conversion.programs.text_worker", size, limits)
        self._readings: Answers = LruCache(READINGS)
        self._drawn: Answers = LruCache(DRAWN)

    def read(self, document: Document, weight: int = 0) -> Reading:
        """What the checks find in a document alone. `weight`: the characters of all texts that are read with it."""
        if max(weight, effort(document.text)) <= SHORT:
            return check_rules.read(document)
        return self._asked(Reading, document, {"do": "read"}, self._readings)

    def admit(self, document: Document) -> None:
        """Refuse a document that takes too long to read."""
        if effort(document.text) > SHORT:
            self.read(document)

    def render(self, document: Document, first: int = 0, around: int | str = "") -> Rendered:
        if effort(document.text) <= SHORT:
            return render(document, first, around)
        return self._asked(Rendered, document, {"do": "render", "first": first, "around": around}, self._drawn)

    def _asked(self, cls: type[T], document: Document, question: Mapping[str, Any], latest: Answers) -> T:
        """The worker's answer; also a refusal is remembered, unless only the clock was against it."""
        parts = {name: getattr(document, name) for name in ("id", "path", "title", "body", "text")}
        asked = {**question, "document": parts}
        key = strict.digest(asked)
        answer = latest.get(key)
        if answer is None:
            try:
                answer = self.pool.ask(asked)
                if "answer" in answer:
                    answer = {"answer": strict.parse(cls, answer["answer"], question["do"])}
            except Overrun as error:
                advice = "Split it, or make its tables, lists and lines shorter."
                answer = {"error": f"{document.path} {error}. {advice}", "again": error.again}
            if not answer.get("again"):
                latest[key] = answer
        if "error" in answer:
            raise BadInput(str(answer["error"]))
        parsed: T = answer["answer"]
        return parsed

    def close(self) -> None:
        self.pool.close()
