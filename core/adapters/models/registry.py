"""Models by name, each loaded once: bundled ones from disk, `openai:` and `bedrock:` from their endpoints, others by
sentence-transformers."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from core.adapters.models.weights import BUNDLED, Weights
from core.adapters.web.endpoints import Endpoints, is_remote
from core.cures import train_model
from core.errors import BadInput, Unavailable
from core.evaluation.learning.triplets import TUNED
from core.ports import Embedder, Llm, Reranker
from core.retrieval.legs.several_embedders import combined
from core.types import Profile

T = TypeVar("T")
_PLAIN = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")


class ModelRegistry:
    """The `Models` port."""

    def __init__(
        self, root: Path, threads: int, offline: bool, endpoints: Endpoints | None = None, tuned: Path | None = None
    ) -> None:
        """`tuned`: where embedders lie that were trained in this workspace."""
        self.root = root
        self.threads = threads
        self.offline = offline
        self.tuned = tuned or root
        self.endpoints = endpoints or Endpoints()
        self.device = self.endpoints.settings.device
        self._embedders: dict[str, Embedder] = {}
        self._rerankers: dict[str, Reranker] = {}
        self._llms: dict[str, Llm] = {}
        self._loading = threading.RLock()

    def embedder(self, name: str) -> Embedder:
        return self._once(self._embedders, name, self._load_embedder)

    def of(self, profile: Profile) -> Embedder:
        """The embedder of a profile: one model, or several side by side."""
        return combined([self.embedder(name) for name in (profile.embedder, *profile.embedders)])

    def reranker(self, name: str) -> Reranker:
        return self._once(self._rerankers, name, self._load_reranker)

    def llm(self, name: str = "") -> Llm:
        """Without a name, the configured one. None is bundled."""
        return self._once(self._llms, name or self.endpoints.settings.llm, self.endpoints.llm)

    def _once(self, loaded: dict[str, T], name: str, load: Callable[[str], T]) -> T:
        if name not in loaded:
            with self._loading:
                if name not in loaded:
                    loaded[name] = load(name)
        return loaded[name]

    def _load_embedder(self, name: str) -> Embedder:
        if is_remote(name):
            return self.endpoints.embedder(name)
        weights = _bundled(name)
        if weights is None:
            return self._hub_embedder(name)
        from core.adapters.models.onnx import OnnxEmbedder, StaticEmbedder

        if weights.kind == "reranker":
            raise BadInput(f"{name!r} is a reranker, not an embedder.")
        return (
            StaticEmbedder(weights, self.root)
            if weights.kind == "static"
            else OnnxEmbedder(weights, self.root, self.threads)
        )

    def _hub_embedder(self, name: str) -> Embedder:
        """A model of sentence-transformers, or one that was trained here; that keeps its name for the caches."""
        from core.adapters.models.hub import HubEmbedder

        if not name.startswith(TUNED):
            return HubEmbedder(name, self.offline, self.device)
        folder = self.tuned / name.removeprefix(TUNED)
        if not _PLAIN.fullmatch(folder.name) or not (folder / "modules.json").is_file():
            raise Unavailable(f"There is no trained embedder {name!r} in this workspace.", train_model("embedder"))
        embedder = HubEmbedder(str(folder), True, self.device)
        embedder.name = name
        return embedder

    def _load_reranker(self, name: str) -> Reranker:
        weights = _bundled(name)
        if weights is None:
            from core.adapters.models.hub import HubReranker

            return HubReranker(name, self.offline, self.device)
        from core.adapters.models.onnx import OnnxReranker

        return OnnxReranker(weights, self.root, self.threads)


def _bundled(name: str) -> Weights | None:
    return next((weights for weights in BUNDLED if weights.name == name), None)
