"""Small results that take a while, kept as JSON files; the newest few of each kind stay."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from core import strict
from core.adapters.system.files import read_json, write_atomic
from core.errors import StorageFailed, storing

_KEPT = 20


class JsonCache:
    """Keeps small values. Names are made of hex digits and dashes by whoever asks."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, name: str) -> Any:
        """What was kept under a name, or None."""
        return read_json(self.folder / f"{name}.json")

    def put(self, name: str, value: Any) -> None:
        """Keep a value; the oldest beyond the last few go. A disk that cannot be written keeps none."""
        with suppress(StorageFailed), storing(self.folder):
            self._put(name, value)

    def _put(self, name: str, value: Any) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        write_atomic(self.folder / f"{name}.json", strict.canonical(value))
        kept = sorted(self.folder.glob("*.json"), key=lambda path: path.stat().st_mtime_ns, reverse=True)
        for path in kept[_KEPT:]:
            path.unlink(missing_ok=True)
