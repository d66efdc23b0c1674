"""Trained rankers in the workspace, one JSON file each, cached until the file changes."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from core.adapters.system.files import write_atomic
from core.errors import BadInput, NotFound
from core.retrieval.records import RankerModel
from core.retrieval.rerankers.learned import from_json, to_json

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")


class RankerFiles:
    """The `RankerModels` port."""

    def __init__(self, root: Path, saved: Callable[[], object] = lambda: None) -> None:
        """`saved` is called after a model was saved: other machines want it too."""
        self.root, self._saved = root, saved
        self._cache: dict[str, tuple[tuple[int, int], RankerModel]] = {}

    def names(self) -> tuple[str, ...]:
        return tuple(sorted(path.stem for path in self.root.glob("*.json") if _NAME.fullmatch(path.stem)))

    def save(self, model: RankerModel) -> Path:
        """Save a model, replacing one of the same name (`RankerTraining` checks whether it may)."""
        path = self._path(model.name)
        self.root.mkdir(parents=True, exist_ok=True)
        write_atomic(path, to_json(model))
        self._saved()
        return path

    def model(self, name: str) -> RankerModel:
        path = self._path(name)
        try:
            stat = os.stat(path)
        except OSError:
            known = ", ".join(self.names()) or "none yet; train one with: python -m core tune ranker"
            raise NotFound(f"There is no ranker {name!r}. Rankers: {known}.") from None
        stamp, cached = (stat.st_ino, stat.st_mtime_ns), self._cache.get(name)
        if cached is None or cached[0] != stamp:
            cached = self._cache[name] = (stamp, from_json(path.read_text(encoding="utf-8"), path.name))
        return cached[1]

    def _path(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise BadInput(f"The ranker's name {name!r} may hold only a-z, 0-9, dot, dash and underscore (63 at most).")
        return self.root / f"{name}.json"
