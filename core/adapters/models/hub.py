"""Any sentence-transformers model, from a folder or, where a hub is allowed, by name. Runs on torch."""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from core.errors import Unavailable
from core.ports import Embedder, Progress, no_progress

_BATCH = 16


def _load(kind: str, name: str, offline: bool) -> Any:
    """The model, or Unavailable with the way to get it."""
    if offline:
        os.environ["HF_HUB_OFFLINE"] = "1"
    try:
        import sentence_transformers
    except ImportError:
        raise Unavailable(
            "Models from a hub need sentence-transformers. Install it with: pip install -r requirements.txt"
        ) from None
    try:
        return getattr(sentence_transformers, kind)(name, device="cpu", trust_remote_code=False)
    except (OSError, ValueError) as error:
        cure = (
            "Allow the hub with CONCORD_OFFLINE=no, or name a folder that holds the model."
            if offline
            else "Check the name and the network."
        )
        raise Unavailable(f"The model {name!r} could not be loaded ({str(error).splitlines()[0]}). {cure}") from None


class HubEmbedder:
    """The `Embedder` port on a sentence-transformers model, with the model's own prompts where it has them."""

    parts: Sequence[Embedder] = ()

    def __init__(self, name: str, offline: bool = True) -> None:
        self._model = _load("SentenceTransformer", name, offline)
        self.name = name
        self.dimension = int(self._model.get_sentence_embedding_dimension())
        self.limit = int(self._model.max_seq_length or 512)

    def tokens(self, text: str) -> list[tuple[int, int]]:
        encoding = self._model.tokenizer(
            text, add_special_tokens=False, return_offsets_mapping=True, truncation=False, verbose=False
        )
        return [tuple(span) for span in encoding["offset_mapping"]]

    def documents(self, texts: Sequence[str], progress: Progress = no_progress) -> np.ndarray:
        """Texts over the limit are averaged over windows."""
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for n in range(0, len(texts), _BATCH):
            for m, text in enumerate(texts[n : n + _BATCH]):
                rows[n + m] = self._embed(text, "document")
            progress(min(n + _BATCH, len(texts)), len(texts), "Embedding")
        return rows

    def query(self, text: str) -> np.ndarray:
        return self._embed(text, "query")

    def _embed(self, text: str, role: str) -> np.ndarray:
        spans = self.tokens(text)
        room = self.limit - 2
        edges = [spans[n][0] for n in range(0, len(spans), room)] + [len(text)] if spans else [0, len(text)]
        windows = [text[a:b] for a, b in itertools.pairwise(edges)]
        prompt = {"prompt_name": role} if role in (self._model.prompts or {}) else {}
        rows = self._model.encode(
            windows, convert_to_numpy=True, normalize_embeddings=True, show_progress_bar=False, **prompt
        )
        weights = np.array([len(window) for window in windows], dtype=np.float32)[:, None]
        mean = (rows * weights).sum(axis=0)
        return np.asarray(mean / (np.linalg.norm(mean) or 1.0), dtype=np.float32)


class HubReranker:
    """The `Reranker` port on a hub cross-encoder."""

    def __init__(self, name: str, offline: bool = True) -> None:
        self._model = _load("CrossEncoder", name, offline)
        self.name = name

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        return [
            float(score) for score in self._model.predict([(query, text) for text in texts], show_progress_bar=False)
        ]

    def cuts(self, query: str, texts: Sequence[str]) -> int:
        """How many texts are truncated beside this query."""
        limit = int(self._model.max_length or 512)
        return sum(len(self._model.tokenizer(query, text, verbose=False)["input_ids"]) > limit for text in texts)
