"""One record per chunker: what it does, its parameters with ranges, the settings that experiments compare, and what it
may use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.chunking.packing import Piece
from core.chunking.ruler import words
from core.errors import Unavailable
from core.llm.writer import Writer, WritingTask
from core.parameter import Parameter
from core.ports import Tokens


@dataclass(frozen=True, slots=True)
class Chunker:
    """`split` takes a document, tools and the parameters by name, and gives pieces: spans of the document."""

    name: str
    title: str
    about: str
    source: str
    split: Callable[..., Iterable[Piece]]
    parameters: tuple[Parameter, ...]
    settings: tuple[Mapping[str, int], ...] = ()
    asks: tuple[str, ...] = ()  # kinds of models that it needs

    @property
    def defaults(self) -> dict[str, int]:
        """Every parameter with its default."""
        return {parameter.name: int(parameter.default) for parameter in self.parameters}


def tokens(name: str, default: int, about: str, low: int = 8) -> Parameter:
    """A parameter that counts tokens."""
    return Parameter(name, name.replace("_", " ").capitalize(), low, 20_000, 1, about, default, reach=5000)


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
