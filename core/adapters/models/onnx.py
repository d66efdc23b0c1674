"""Bundled models on ONNX Runtime: no torch, ready in under a second.

Texts are run one at a time on single-threaded sessions, and threads work on different texts. That is faster
on a CPU than padded batches, and it makes a vector depend on its text alone: int8 activations are scaled
over a whole batch, so in a batch the neighbours would change the result.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from core.adapters.models.weights import Weights, model_folder
from core.errors import Unavailable
from core.ports import Embedder, Progress, no_progress

_CANARY = "How many people live in Berlin?"
_YES = "Berlin had a population of 3,520,031 registered inhabitants in an area of 891.82 square kilometers."
_NO = "Berlin is well known for its museums."


def _session(path: Path) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def _tokenizer(folder: Path) -> Any:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def _feed(ids: Sequence[int], types: Sequence[int]) -> dict[str, np.ndarray]:
    return {
        "input_ids": np.array([ids], dtype=np.int64),
        "attention_mask": np.ones((1, len(ids)), dtype=np.int64),
        "token_type_ids": np.array([types], dtype=np.int64),
    }


def unit(vector: np.ndarray) -> np.ndarray:
    """The vector at length one; a zero vector stays zero."""
    length = float(np.linalg.norm(vector))
    return (vector / length if length else vector).astype(np.float32)


class OnnxEmbedder:
    """A transformer encoder. A text over the limit is read in windows whose vectors are averaged by length."""

    parts: Sequence[Embedder] = ()

    def __init__(self, weights: Weights, root: Path, threads: int = 0) -> None:
        folder = model_folder(root, weights)
        self.name, self.dimension, self.limit = weights.name, weights.dimension, weights.limit
        self._prefix, self._pooling = weights.prefix, weights.pooling
        self._threads = threads or os.cpu_count() or 1
        self._tokenizer, self._session = _tokenizer(folder), _session(folder / weights.files[0][0])
        self._start, self._end = (self._tokenizer.token_to_id(token) for token in ("[CLS]", "[SEP]"))

    def tokens(self, text: str) -> list[tuple[int, int]]:
        return list(self._tokenizer.encode(text, add_special_tokens=False).offsets)

    def documents(self, texts: Sequence[str], progress: Progress = no_progress) -> np.ndarray:
        """The longest texts go first, so that threads finish together."""
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        order = sorted(range(len(texts)), key=lambda n: -len(texts[n]))
        with ThreadPoolExecutor(self._threads) as pool:
            for done, (n, row) in enumerate(
                zip(order, pool.map(lambda n: self._embed(texts[n]), order), strict=True), 1
            ):
                rows[n] = row
                progress(done, len(texts), "Embedding")
        return rows

    def query(self, text: str) -> np.ndarray:
        return self._embed(self._prefix + text)

    def _embed(self, text: str) -> np.ndarray:
        ids = self._tokenizer.encode(text, add_special_tokens=False).ids
        room = self.limit - 2
        windows = [ids[n : n + room] for n in range(0, len(ids), room)] or [[]]
        total = np.zeros(self.dimension, dtype=np.float32)
        for window in windows:
            total += unit(self._run([self._start, *window, self._end])) * (len(window) or 1)
        return unit(total)

    def _run(self, ids: list[int]) -> np.ndarray:
        hidden = self._session.run(None, _feed(ids, [0] * len(ids)))[0][0]
        pooled: np.ndarray = hidden[0] if self._pooling == "cls" else hidden.mean(axis=0)
        return pooled


class StaticEmbedder:
    """Static token vectors: a text is the mean of its tokens. Instant, and blind to word order."""

    parts: Sequence[Embedder] = ()

    def __init__(self, weights: Weights, root: Path) -> None:
        from safetensors.numpy import load_file

        folder = model_folder(root, weights)
        self.name, self.dimension, self.limit = weights.name, weights.dimension, weights.limit
        self._tokenizer = _tokenizer(folder)
        self._unknown = self._tokenizer.token_to_id("[UNK]")
        self._table = next(iter(load_file(folder / weights.files[0][0]).values())).astype(np.float32)

    def tokens(self, text: str) -> list[tuple[int, int]]:
        return list(self._tokenizer.encode(text, add_special_tokens=False).offsets)

    def documents(self, texts: Sequence[str], progress: Progress = no_progress) -> np.ndarray:
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for n, text in enumerate(texts):
            rows[n] = self.query(text)
            if n % 256 == 255:
                progress(n + 1, len(texts), "Embedding")
        progress(len(texts), len(texts), "Embedding")
        return rows

    def query(self, text: str) -> np.ndarray:
        ids = [i for i in self._tokenizer.encode(text, add_special_tokens=False).ids if i != self._unknown]
        return unit(self._table[ids].mean(axis=0)) if ids else np.zeros(self.dimension, dtype=np.float32)


class OnnxReranker:
    """A cross-encoder. Passages over the limit are truncated; the query is kept whole."""

    def __init__(self, weights: Weights, root: Path, threads: int = 0) -> None:
        folder = model_folder(root, weights)
        self.name = weights.name
        self._threads = threads or os.cpu_count() or 1
        self._tokenizer, self._session = _tokenizer(folder), _session(folder / weights.files[0][0])
        self._tokenizer.enable_truncation(weights.limit, strategy="only_second")
        self._self_test()

    def _self_test(self) -> None:
        """int8 weights can saturate on processors without VNNI; a known pair shows whether they do here."""
        yes, no = self.scores(_CANARY, [_YES, _NO])
        if not (yes > 5 and no < 0):
            raise Unavailable(
                f"The reranker {self.name!r} gives wrong scores on this processor ({yes:.2f}, {no:.2f}) and was "
                "switched off."
            )

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Logits, higher is better."""
        short = " ".join(query.split()[:128])
        with ThreadPoolExecutor(self._threads) as pool:
            return list(pool.map(lambda text: self._score(short, text), texts))

    def cuts(self, query: str, texts: Sequence[str]) -> int:
        """How many texts are truncated beside this query."""
        short = " ".join(query.split()[:128])
        return sum(bool(self._tokenizer.encode(short, text).overflowing) for text in texts)

    def _score(self, query: str, text: str) -> float:
        pair = self._tokenizer.encode(query, text)
        return float(self._session.run(None, _feed(pair.ids, pair.type_ids))[0][0][0])
