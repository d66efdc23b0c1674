"""Trained models in the workspace, one JSON file each, cached until the file changes."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, TypeVar

from core.adapters.system.files import write_atomic
from core.cures import train_model
from core.errors import BadInput, NotFound
from core.retrieval.trained import TrainedKind, TrainedModel

M = TypeVar("M", bound=TrainedModel)
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")


class TrainedFiles(Generic[M]):
    """The models of one kind."""

    def __init__(self, kind: TrainedKind[M], models: Path, saved: Callable[[], object] = lambda: None) -> None:
        """`models`: the folder for all kinds. `saved` is called after a model was saved: other machines want it too."""
        self.kind, self.root, self._saved = kind, models / kind.folder, saved
        self._cache: dict[str, tuple[tuple[int, int], M, Any]] = {}

    def names(self) -> tuple[str, ...]:
        return tuple(sorted(path.stem for path in self.root.glob("*.json") if _NAME.fullmatch(path.stem)))

    def save(self, model: M) -> Path:
        """Save a model, replacing one of the same name (whoever trains checks whether it may)."""
        path = self._path(model.name)
        self.kind.serving(model)  # refuses one that cannot be used
        self.root.mkdir(parents=True, exist_ok=True)
        write_atomic(path, self.kind.to_json(model))
        self._saved()
        return path

    def model(self, name: str) -> M:
        return self._load(name)[1]

    def serving(self, name: str) -> Any:
        return self._load(name)[2]

    def _load(self, name: str) -> tuple[tuple[int, int], M, Any]:
        path, kind = self._path(name), self.kind
        try:
            stat = os.stat(path)
        except OSError:
            known = ", ".join(self.names()) or "none yet"
            sentence = f"There is no {kind.title} {name!r}. {kind.word.capitalize()}s: {known}."
            raise NotFound(sentence, train_model(kind.title)) from None
        stamp, cached = (stat.st_ino, stat.st_mtime_ns), self._cache.get(name)
        if cached is None or cached[0] != stamp:
            model = kind.from_json(path.read_text(encoding="utf-8"), path.name)
            cached = self._cache[name] = (stamp, model, kind.serving(model))
        return cached

    def _path(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise BadInput(
                f"The {self.kind.word} name {name!r} may hold only a-z, 0-9, dot, dash and underscore (63 at most)."
            )
        return self.root / f"{name}.json"
