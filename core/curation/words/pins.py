"""`pins.yaml` in the knowledge base: questions with the document that is shown first, changed by review as documents
are.

pins:
  - question: How do I get a new laptop?
    also: [new laptop]
    document: it/laptops.md
    section: Ask for one
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from core.curation.checks.findings import File
from core.curation.document.names import safe_path
from core.curation.words.entries import comments, entries, written
from core.errors import BadInput
from core.types import Document

FILE, KEY = "pins.yaml", "pins"
MOST, QUESTIONS, LONGEST = 1000, 20, 300  # pins in the file, wordings of one, characters of a question
_KEYS = ("question", "also", "document", "section")


@dataclass(frozen=True, slots=True)
class Pin:
    """A question, other wordings of it, and the document (by path) with the section that answers it."""

    question: str
    document: str
    section: str = ""
    also: tuple[str, ...] = ()
    line: int = field(default=0, compare=False)

    @property
    def questions(self) -> tuple[str, ...]:
        return (self.question, *self.also)


def read(raw: bytes) -> tuple[Pin, ...]:
    """The pins of the file; BadInput names the line and what to do.

    >>> read(b"pins:\\n  - question: Why?\\n    document: a.md\\n")[0].document
    'a.md'
    """
    listed = entries(raw, FILE, KEY)
    if len(listed) > MOST:
        raise BadInput(f"{FILE} has {len(listed):,} pins; the limit is {MOST:,}.")
    pins = tuple(_pin(value, line) for line, value in listed)
    asked: dict[str, int] = {}
    for pin in pins:
        for question in pin.questions:
            first = asked.setdefault(question.casefold(), pin.line)
            if first != pin.line:
                raise BadInput(f"{FILE}, line {pin.line}: {question!r} is pinned in line {first} already. Keep one.")
    return pins


def _pin(value: Any, line: int) -> Pin:
    where = f"{FILE}, line {line}"
    if not isinstance(value, Mapping):
        raise BadInput(f"{where}: a pin has a question and a document, each on a line of its own.")
    if unknown := [name for name in value if name not in _KEYS]:
        raise BadInput(f"{where}: the key {unknown[0]!r} is unknown. Keys: {', '.join(_KEYS)}.")
    also = value.get("also") or []
    texts = {name: value.get(name) or "" for name in ("question", "document", "section")}
    if not isinstance(also, list) or not all(isinstance(text, str) for text in (*also, *texts.values())):
        raise BadInput(f"{where}: question, document and section are texts, also is a list of texts.")
    return check(Pin(texts["question"], texts["document"], texts["section"], tuple(also), line), where)


def check(pin: Pin, where: str = "A pin") -> Pin:
    """The pin, if its texts make sense."""
    if not pin.question or not pin.document:
        raise BadInput(f"{where}: name both a question and the document that answers it.")
    if len(pin.questions) > QUESTIONS:
        raise BadInput(f"{where}: {len(pin.questions)} wordings are too many; the limit is {QUESTIONS}.")
    for text in (*pin.questions, pin.section):
        if len(text) > LONGEST or not all(character.isprintable() for character in text):
            raise BadInput(
                f"{where}: {text[:40]!r} is longer than {LONGEST} characters or cannot be shown. Shorten it."
            )
    if not all(any(character.isalnum() for character in question) for question in pin.questions):
        raise BadInput(f"{where}: a question needs at least one word.")
    try:
        safe_path(pin.document)
    except BadInput as error:
        raise BadInput(f"{where}: {error}") from None
    return pin


def pin_problem(pin: Pin, document: Document | None) -> tuple[str, str]:
    """The severity of what is wrong with a pin and a sentence about it; two empty texts where nothing is.

    >>> pin_problem(Pin("Why?", "a.md"), None)[1]
    'a.md, pinned to “Why?”, is not there. Name another document, or take the pin out.'
    """
    what = f"{pin.document}, pinned to “{pin.question}”,"
    if document is None:
        return "error", f"{what} is not there. Name another document, or take the pin out."
    if document.meta.status != "approved":
        instead = "Name the one that takes its place, or take the pin out."
        return "error", f"{what} is {document.meta.status}, so nobody finds it. {instead}"
    if pin.section and pin.section.casefold() not in (heading.title.casefold() for heading in File(document).headings):
        return "warning", f"{what} has no section “{pin.section}”, so its best passage is shown. Name another section."
    return "", ""


def write(pins: Iterable[Pin], before: bytes = b"") -> bytes:
    """The file, in the order of questions, so that two changes rarely meet in one place.

    >>> print(write([Pin("Why?", "a.md", also=("how",))]).decode(), end="")
    pins:
      - question: Why?
        also:
          - how
        document: a.md
    """
    ordered = sorted(pins, key=lambda pin: (pin.question.casefold(), pin.question))
    head = comments(before) if before else ""
    return (head + f"{KEY}:\n" + "".join(map(_entry, ordered))).encode()


def _entry(pin: Pin) -> str:
    lines = [f"  - question: {written(pin.question)}"]
    lines += ["    also:", *(f"      - {written(text)}" for text in pin.also)] if pin.also else []
    lines += [f"    document: {written(pin.document)}"]
    lines += [f"    section: {written(pin.section)}"] if pin.section else []
    return "".join(f"{line}\n" for line in lines)
