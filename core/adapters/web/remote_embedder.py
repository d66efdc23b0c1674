"""Embedders behind an endpoint: batches, windows for long texts, unit vectors. The transport is passed in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from urllib.parse import parse_qsl

import numpy as np

from core.chunking.ruler import Ruler, pieces
from core.errors import BadInput, Unavailable
from core.ports import Embedder, Meter, Progress, Spent, no_progress

Send = Callable[[Sequence[str]], tuple[Sequence[Sequence[float]], int]]
"""Texts to their vectors in the same order, and how many tokens the endpoint counted."""

_ROOM = 0.75  # of the limit: tokens are estimated, so a window leaves a quarter free


@dataclass(frozen=True, slots=True)
class Card:
    """A model's properties. A dimension of 0 is unknown and found by a first call."""

    dimension: int = 0
    limit: int = 512
    batch: int = 32
    prefix: str = ""  # put before a question
    opening: str = ""  # put before a passage


def read_card(name: str, known: Card) -> Card:
    """A card, overridden by options in the name: `MODEL?limit=8192&prefix=query: `.

    >>> read_card("openai:mine?limit=2048&prefix=query:%20", Card(dimension=768)).limit
    2048
    """
    options = dict(parse_qsl(name.partition("?")[2], keep_blank_values=True))
    values: dict[str, int | str] = {key: getattr(known, key) for key in Card.__slots__}
    for key, value in options.items():
        if key not in values:
            raise BadInput(f"The embedder {name!r} has an unknown option {key!r}. Known: {', '.join(values)}.")
        if isinstance(values[key], str):
            values[key] = value
        elif value.isdigit() and 1 <= int(value) <= 1_000_000:
            values[key] = int(value)
        else:
            raise BadInput(f"The embedder {name!r}: {key} must be a whole number from 1 up, got {value!r}.")
    return Card(**values)  # type: ignore[arg-type]


def windows(text: str, room: int) -> list[str]:
    """The text in consecutive parts of at most `room` estimated tokens, cut between words if possible.

    >>> windows("one two three", 2)
    ['one two ', 'three']
    """
    ruler, edges = Ruler(text, pieces), [0]
    while edges[-1] < len(text):
        edges.append(ruler.reach(edges[-1], room))
    return [text[a:b] for a, b in pairwise(edges)]


class Unmetered:
    """The `Meter` port where nothing is counted."""

    @contextmanager
    def spending(self, purpose: str, model: str, input_tokens: int, output_tokens: int = 0) -> Iterator[Spent]:
        yield lambda input_tokens, output_tokens=0: None


class RemoteEmbedder:
    """The `Embedder` port on an endpoint.

    A text over the limit is read in windows; its vector is the length-weighted mean of their unit vectors, normalised.
    A blank text has the zero vector and costs nothing.
    """

    parts: Sequence[Embedder] = ()

    def __init__(self, name: str, card: Card, send: Send, meter: Meter, workers: int = 1) -> None:
        self.name, self.limit, self.card = name, card.limit, card
        self._send, self._meter, self._workers = send, meter, workers
        self.dimension = card.dimension
        self.dimension = self.dimension or len(self._vectors(["dimension"], "setup")[0])

    def tokens(self, text: str) -> list[tuple[int, int]]:
        """An estimate: the model's tokenizer is not here."""
        return pieces(text)

    def documents(self, texts: Sequence[str], progress: Progress = no_progress) -> np.ndarray:
        return self._rows(texts, self.card.opening, "indexing", progress)

    def query(self, text: str) -> np.ndarray:
        row: np.ndarray = self._rows([text], self.card.prefix, "query", no_progress)[0]
        return row

    def _rows(self, texts: Sequence[str], before: str, purpose: str, progress: Progress) -> np.ndarray:
        room = max(1, int(self.limit * _ROOM) - len(pieces(before)))
        parts = [(n, part) for n, text in enumerate(texts) for part in windows(text, room) if part.strip()]
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        vectors = self._vectors([before + part for _, part in parts], purpose, progress)
        for (n, part), row in zip(parts, vectors, strict=True):
            rows[n] += row * len(part)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        lengths[lengths == 0] = 1.0
        normalised: np.ndarray = rows / lengths
        return normalised

    def _vectors(self, texts: Sequence[str], purpose: str, progress: Progress = no_progress) -> list[np.ndarray]:
        """One unit vector per text, fetched in batches by several threads."""
        batches = [texts[n : n + self.card.batch] for n in range(0, len(texts), self.card.batch)]
        vectors: list[np.ndarray] = []
        if not batches:
            return vectors
        about = sum(len(pieces(text)) for text in texts)
        with self._meter.spending(purpose, self.name, about) as spent, ThreadPoolExecutor(self._workers) as pool:
            for rows, used in pool.map(self._batch, batches):
                spent(used)
                vectors += rows
                progress(len(vectors), len(texts), "Embedding")
        return vectors

    def _batch(self, texts: Sequence[str]) -> tuple[list[np.ndarray], int]:
        rows, used = self._send([text.encode("utf-8", "replace").decode() for text in texts])
        try:
            matrix = np.array(rows, dtype=np.float32)
        except (TypeError, ValueError):  # not numbers, or not all equally many
            matrix = np.zeros(0, dtype=np.float32)
        size = self.dimension or matrix.size // len(texts)
        if not size or matrix.shape != (len(texts), size) or not np.isfinite(matrix).all():
            raise Unavailable(
                f"{self.name} gave vectors that cannot be used; {len(texts)} of dimension {size or 'any'} were "
                "expected. Check the model and its dimension."
            )
        return [row / (np.linalg.norm(row) or 1.0) for row in matrix], used
