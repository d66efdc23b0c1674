"""One record per chunker: what it does, its parameters with ranges, and the settings that experiments compare."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from core.chunking.packing import Piece
from core.parameter import Parameter


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
