"""What parsing documents gave, on disk by path and blob: a server that starts again parses nothing twice."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cached_property
from importlib.metadata import version
from pathlib import Path

from core import strict
from core.curation.checks.findings import Reading
from core.errors import ConcordError, storing
from core.storage.cache.model_texts import TextCache

Place = tuple[str, str]  # of a document: its path and its blob
RULES = Path(__file__).parents[2] / "curation"


class KeptReadings:
    """Readings of documents. A disk that cannot be written keeps none, and an entry that cannot be read is as good as none."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def _texts(self) -> TextCache:
        """One file for these rules; those that other versions left are removed."""
        path = self.folder / f"readings-{rules_digest()}.db"
        for old in self.folder.glob("readings-*.db*"):
            if not old.name.startswith(path.name):
                old.unlink(missing_ok=True)
        return TextCache(path)

    def get(self, places: Iterable[Place]) -> dict[Place, Reading]:
        """Those that are known."""
        found: dict[Place, Reading] = {}
        with suppress(ConcordError), storing(self.folder):
            keys = {_key(place): place for place in places}
            for key, text in (self._texts.some(list(keys)) if keys else {}).items():
                found[keys[key]] = strict.parse(Reading, json.loads(text), "reading")
        return found

    def put(self, readings: Mapping[Place, Reading]) -> None:
        with suppress(ConcordError), storing(self.folder):
            if readings:
                self._texts.keep({_key(place): strict.canonical(reading) for place, reading in readings.items()})


def rules_digest() -> str:
    """What names the rules that read a document: their own text and the parser's version."""
    digest = hashlib.blake2b(version("markdown-it-py").encode(), digest_size=8)
    for path in sorted(RULES.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _key(place: Place) -> str:
    path, blob = place
    return f"{blob} {path}"
