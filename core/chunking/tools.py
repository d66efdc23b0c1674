"""What a chunker may use besides the document."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from core.chunking.ruler import words
from core.errors import Unavailable
from core.llm.writer import Writer, WritingTask
from core.ports import Tokens

Report = Callable[[str, str], object]  # (path, what was done differently)


def _no_embedder(texts: Sequence[str]) -> Any:
    raise Unavailable("This chunker compares sentences by meaning and needs an embedder. Name one in the profile.")


def ignore(path: str, what: str) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Tools:
    """The profile's tokenizer, its embedder for chunkers that compare meaning, and its language models if it has any.

    `report` is called with a document's path and what was done differently from what the profile asks for.
    """

    tokens: Tokens = words
    embed: Callable[[Sequence[str]], Any] = _no_embedder
    writer: Writer | None = None
    report: Report = ignore

    def ask(self, question: WritingTask) -> tuple[str, str]:
        """A usable answer and the model that gave it, else `Unavailable`."""
        if self.writer is None:
            raise Unavailable("No language model is asked here.")
        return self.writer.write(question)
