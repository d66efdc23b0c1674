"""Trained alpha models in the workspace, one JSON file each, cached until the file changes."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from core.adapters.system.files import write_atomic
from core.errors import BadInput, NotFound
from core.retrieval.alpha.models import from_json, to_json
from core.retrieval.alpha.predictors import predictor
from core.retrieval.records import AlphaModel, Predict

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")


class AlphaModelFiles:
    """The `AlphaModels` port."""

    def __init__(self, root: Path, saved: Callable[[], object] = lambda: None) -> None:
        """`saved` is called after a model was saved: other machines want it too."""
        self.root, self._saved = root, saved
        self._cache: dict[str, tuple[tuple[int, int], AlphaModel, Predict]] = {}

    def names(self) -> tuple[str, ...]:
        return tuple(sorted(path.stem for path in self.root.glob("*.json") if _NAME.fullmatch(path.stem)))

    def save(self, model: AlphaModel) -> Path:
        """Save a model, replacing one of the same name (`Training` checks whether it may)."""
        path = self._path(model.name)
        predictor(model)  # refuses a model that cannot predict
        self.root.mkdir(parents=True, exist_ok=True)
        write_atomic(path, to_json(model))
        self._saved()
        return path

    def model(self, name: str) -> AlphaModel:
        return self._load(name)[1]

    def predictor(self, name: str) -> Predict:
        return self._load(name)[2]

    def _load(self, name: str) -> tuple[tuple[int, int], AlphaModel, Predict]:
        path = self._path(name)
        try:
            stat = os.stat(path)
        except OSError:
            known = ", ".join(self.names()) or "none yet; train one with: python -m core tune train"
            raise NotFound(f"There is no alpha model {name!r}. Models: {known}.") from None
        stamp, cached = (stat.st_ino, stat.st_mtime_ns), self._cache.get(name)
        if cached is None or cached[0] != stamp:
            model = from_json(path.read_text(encoding="utf-8"), path.name)
            cached = self._cache[name] = (stamp, model, predictor(model))
        return cached

    def _path(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise BadInput(f"The model name {name!r} may hold only a-z, 0-9, dot, dash and underscore (63 at most).")
        return self.root / f"{name}.json"
