"""Models by name: bundled ones from disk, anything else through sentence-transformers. Each is loaded once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from core.adapters.weights import BUNDLED, Weights
from core.errors import BadInput, Unavailable
from core.ports import Embedder, Llm, Reranker

T = TypeVar("T")


class ModelShelf:
    """The `Models` port."""

    def __init__(self, root: Path, threads: int, offline: bool) -> None:
        self.root, self.threads, self.offline = root, threads, offline
        self._embedders: dict[str, Embedder] = {}
        self._rerankers: dict[str, Reranker] = {}
        self._loading = threading.Lock()

    def embedder(self, name: str) -> Embedder:
        """An embedder, ready to use."""
        return self._once(self._embedders, name, self._load_embedder)

    def reranker(self, name: str) -> Reranker:
        """A reranker, ready to use."""
        return self._once(self._rerankers, name, self._load_reranker)

    def llm(self, name: str = "") -> Llm:
        """A language model; none is bundled."""
        raise Unavailable("No language model is configured.")

    def _once(self, held: dict[str, T], name: str, load: Callable[[str], T]) -> T:
        if name not in held:
            with self._loading:
                if name not in held:
                    held[name] = load(name)
        return held[name]

    def _load_embedder(self, name: str) -> Embedder:
        weights = _bundled(name)
        if weights is None:
            from core.adapters.hub import HubEmbedder

            return HubEmbedder(name, self.offline)
        from core.adapters.onnx import OnnxEmbedder, StaticEmbedder

        if weights.kind == "reranker":
            raise BadInput(f"{name!r} is a reranker, not an embedder.")
        return (
            StaticEmbedder(weights, self.root)
            if weights.kind == "static"
            else OnnxEmbedder(weights, self.root, self.threads)
        )

    def _load_reranker(self, name: str) -> Reranker:
        weights = _bundled(name)
        if weights is None:
            from core.adapters.hub import HubReranker

            return HubReranker(name, self.offline)
        from core.adapters.onnx import OnnxReranker

        return OnnxReranker(weights, self.root, self.threads)


def _bundled(name: str) -> Weights | None:
    return next((weights for weights in BUNDLED if weights.name == name), None)
