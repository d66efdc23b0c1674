"""What reading documents gave, on disk by path and blob: a server that starts again reads nothing twice."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache, cached_property
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from core import strict
from core.errors import ConcordError, storing
from core.storage.cache.model_texts import TextCache

if TYPE_CHECKING:
    from pydantic import TypeAdapter

T = TypeVar("T")
Place = tuple[str, str]  # of a document: its path and its blob
CORE = Path(__file__).parents[2]


class KeptReadings(Generic[T]):
    """Readings of one `kind` by the modules that `rules` name. A disk that cannot be written keeps none, and an entry
    that cannot be read is as good as none."""

    def __init__(self, folder: Path, name: str, kind: Any, rules: tuple[str, ...]) -> None:
        self.folder = folder
        self.name = name
        self.kind = kind
        self.rules = rules

    @cached_property
    def _texts(self) -> TextCache:
        """One file for these rules; those that other versions left are removed."""
        path = self.folder / f"{self.name}-{rules_digest(self.rules)}.db"
        for old in self.folder.glob(f"{self.name}-*.db*"):
            if not old.name.startswith(path.name):
                old.unlink(missing_ok=True)
        return TextCache(path)

    def get(self, places: Iterable[Place]) -> dict[Place, T]:
        """Those that are known."""
        found: dict[Place, T] = {}
        with suppress(ConcordError, ValueError), storing(self.folder):
            keys = {_key(place): place for place in places}
            for key, text in (self._texts.some(list(keys)) if keys else {}).items():
                found[keys[key]] = _adapter(self.kind).validate_json(text)
        return found

    def put(self, readings: Mapping[Place, T]) -> None:
        with suppress(ConcordError), storing(self.folder):
            if readings:
                self._texts.keep({_key(place): strict.canonical(reading) for place, reading in readings.items()})


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    """Reads a kind; making one takes 5 ms."""
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


@cache
def rules_digest(rules: tuple[str, ...]) -> str:
    """What names the rules that read a document: the text of their modules and the parser's version."""
    digest = hashlib.blake2b(version("markdown-it-py").encode(), digest_size=8)
    for path in sorted(path for rule in rules for path in CORE.glob(rule)):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _key(place: Place) -> str:
    path, blob = place
    return f"{blob} {path}"
