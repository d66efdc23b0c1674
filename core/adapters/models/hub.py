"""Any sentence-transformers model, from a folder or, where a hub is allowed, by name. Runs on torch."""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from core.cures import SETUP
from core.errors import Unavailable
from core.ports import Embedder, Progress, no_progress

_BATCH: Mapping[str, int] = {"cpu": 16, "mps": 32}  # texts that the model reads at once; on others _MANY
_MANY = 128
_SLICE = 8  # batches in one call of the model, between two signs of progress


NEEDED = "Models from a hub and the training of embedders need torch, which is not here yet."


def device(wanted: str = "") -> str:
    """Where torch computes: what the settings say, else the best that is here."""
    import torch

    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    kind = wanted.partition(":")[0]
    if not wanted:
        return next(name for name, here in there.items() if here)
    if kind not in there or not there[kind]:
        known = ", ".join(name for name, here in there.items() if here)
        raise Unavailable(f"CONCORD_DEVICE is {wanted}, and torch finds no such device here. It finds: {known}.")
    return wanted


def load(kind: str, name: str, offline: bool, wanted: str) -> Any:
    """The model, or Unavailable with the way to get it."""
    if offline:
        os.environ["HF_HUB_OFFLINE"] = "1"
    if Path(sys.prefix, ".torch.log").exists():  # some of it may be here
        raise Unavailable(f"{NEEDED} It is being installed: try again in a minute.", SETUP)
    try:
        import sentence_transformers
        from huggingface_hub import constants
    except ImportError:
        raise Unavailable(f"{NEEDED} {_failure(Path(sys.prefix, '.torch.failed'))}".strip(), SETUP) from None
    if offline:
        constants.HF_HUB_OFFLINE = True  # where the packages were loaded before the variable was set
    place = device(wanted)
    _hide_bars()
    try:
        return getattr(sentence_transformers, kind)(
            name, device=place, local_files_only=offline, trust_remote_code=False
        )
    except (OSError, ValueError) as error:
        cure = (
            "Allow the hub with CONCORD_OFFLINE=no, or name a folder that holds the model."
            if offline
            else "Check the name and the network."
        )
        raise Unavailable(f"The model {name!r} could not be loaded ({str(error).splitlines()[0]}). {cure}") from None


def _hide_bars() -> None:
    """Progress is ours to tell: the library's bar of weights would show under --quiet, too."""
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]


def _failure(log: Path) -> str:
    """Why torch could not be installed, as its installer said it last (.ci/install.py)."""
    lines = log.read_text(encoding="utf-8", errors="replace").split("\n") if log.exists() else []
    said = next(filter(None, map(str.strip, reversed(lines))), "")
    return f"Installing it failed: {said.rstrip('.')}. " if said else ""


class HubEmbedder:
    """The `Embedder` port on a sentence-transformers model, with the model's own prompts where it has them."""

    parts: Sequence[Embedder] = ()

    def __init__(self, name: str, offline: bool = True, wanted: str = "") -> None:
        self._model = load("SentenceTransformer", name, offline, wanted)
        self.name = name
        self.dimension = int(self._model.get_embedding_dimension())
        self.limit = int(self._model.max_seq_length or 512)
        self.batch = _BATCH.get(self._model.device.type, _MANY)

    def tokens(self, text: str) -> list[tuple[int, int]]:
        return self._tokens([text])[0]

    def _tokens(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        encoding = self._model.tokenizer(
            list(texts), add_special_tokens=False, return_offsets_mapping=True, truncation=False, verbose=False
        )
        return [[tuple(span) for span in spans] for spans in encoding["offset_mapping"]]

    def documents(self, texts: Sequence[str], progress: Progress = no_progress) -> np.ndarray:
        """Texts over the limit are averaged over windows."""
        return self._rows(texts, "document", progress)

    def query(self, text: str) -> np.ndarray:
        row: np.ndarray = self._rows([text], "query")[0]
        return row

    def _rows(self, texts: Sequence[str], role: str, progress: Progress = no_progress) -> np.ndarray:
        """The longest windows first, many in one call: each batch holds texts of about one length, and little
        padding.
        """
        windows = [(n, window) for n, text in enumerate(self._windows(texts, role)) for window in text]
        windows.sort(key=lambda window: len(window[1]), reverse=True)
        rows, many = np.zeros((len(texts), self.dimension), dtype=np.float32), self.batch * _SLICE
        for at in range(0, len(windows), many):
            some = windows[at : at + many]
            for (n, window), row in zip(some, self._encoded([window for _, window in some], role), strict=True):
                rows[n] += row * max(1, len(window))
            progress(len(texts) * min(at + many, len(windows)) // len(windows), len(texts), "Embedding")
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        lengths[lengths == 0] = 1.0
        normalised: np.ndarray = rows / lengths
        return normalised

    def _windows(self, texts: Sequence[str], role: str) -> Iterator[list[str]]:
        """Each text in parts that fit beside the prompt."""
        prompt = (self._model.prompts or {}).get(role) or ""
        room = max(8, self.limit - 2 - len(self._tokens([prompt])[0]))
        for text, spans in zip(texts, self._tokens(texts) if texts else (), strict=True):
            edges = [0, *(spans[n][0] for n in range(room, len(spans), room)), len(text)]
            yield [text[a:b] for a, b in itertools.pairwise(edges)]

    def _encoded(self, windows: list[str], role: str) -> np.ndarray:
        prompt = {"prompt_name": role} if role in (self._model.prompts or {}) else {}
        vectors: np.ndarray = self._model.encode(
            windows,
            batch_size=self.batch,
            convert_to_numpy=True,
            normalize_embeddings=True,
            show_progress_bar=False,
            **prompt,
        )
        return vectors


class HubReranker:
    """The `Reranker` port on a hub cross-encoder."""

    def __init__(self, name: str, offline: bool = True, wanted: str = "") -> None:
        self._model = load("CrossEncoder", name, offline, wanted)
        self.name = name

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        return [
            float(score) for score in self._model.predict([(query, text) for text in texts], show_progress_bar=False)
        ]

    def cuts(self, query: str, texts: Sequence[str]) -> int:
        """How many texts are truncated beside this query."""
        limit = int(self._model.max_seq_length or 512)
        return sum(len(self._model.tokenizer(query, text, verbose=False)["input_ids"]) > limit for text in texts)
