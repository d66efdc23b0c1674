"""Embedders behind an endpoint: batches, windows for long texts, unit vectors. Who speaks to the endpoint is passed in."""

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
    """What a model's card says. A dimension of 0 is asked of the model."""

    dimension: int = 0
    limit: int = 512
    batch: int = 32
    prefix: str = ""  # put before a question
    opening: str = ""  # put before a passage


def read_card(name: str, known: Card) -> Card:
    """A card with what the name itself says: `MODEL?limit=8192&prefix=query: `.

    >>> read_card("openai:mine?limit=2048&prefix=query:%20", Card(dimension=768)).limit
    2048
    """
    said = dict(parse_qsl(name.partition("?")[2], keep_blank_values=True))
    values: dict[str, int | str] = {key: getattr(known, key) for key in Card.__slots__}
    for key, value in said.items():
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
    """A text in consecutive parts of at most `room` estimated tokens, cut between words if possible; nothing is left out.

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
        """Every call is allowed."""
        yield lambda input_tokens, output_tokens=0: None


class RemoteEmbedder:
    """The `Embedder` port on an endpoint.

    A text over the limit is read in windows; its vector is the mean of their unit vectors by length, at length one.
    A blank text has the zero vector and costs nothing.
    """

    parts: Sequence[Embedder] = ()

    def __init__(self, name: str, card: Card, send: Send, meter: Meter, workers: int = 1) -> None:
        self.name, self.limit, self.card = name, card.limit, card
        self._send, self._meter, self._workers = send, meter, workers
        self.dimension = card.dimension
        self.dimension = self.dimension or len(self._asked(["dimension"], "setup")[0])

    def tokens(self, text: str) -> list[tuple[int, int]]:
        """About where the model's tokens lie: its tokenizer is not here."""
        return pieces(text)

    def documents(self, texts: Sequence[str], progress: Progress = no_progress) -> np.ndarray:
        """One row per text."""
        return self._rows(texts, self.card.opening, "indexing", progress)

    def query(self, text: str) -> np.ndarray:
        """The vector of a question, with the prefix that the model's card asks for."""
        row: np.ndarray = self._rows([text], self.card.prefix, "query", no_progress)[0]
        return row

    def _rows(self, texts: Sequence[str], before: str, purpose: str, progress: Progress) -> np.ndarray:
        room = max(1, int(self.limit * _ROOM) - len(pieces(before)))
        parts = [(n, part) for n, text in enumerate(texts) for part in windows(text, room) if part.strip()]
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        found = self._asked([before + part for _, part in parts], purpose, progress)
        for (n, part), row in zip(parts, found, strict=True):
            rows[n] += row * len(part)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        lengths[lengths == 0] = 1.0
        made: np.ndarray = rows / lengths
        return made

    def _asked(self, texts: Sequence[str], purpose: str, progress: Progress = no_progress) -> list[np.ndarray]:
        """One unit vector per text, asked for in batches by several threads."""
        batches = [texts[n : n + self.card.batch] for n in range(0, len(texts), self.card.batch)]
        found: list[np.ndarray] = []
        if not batches:
            return found
        about = sum(len(pieces(text)) for text in texts)
        with self._meter.spending(purpose, self.name, about) as spent, ThreadPoolExecutor(self._workers) as pool:
            for rows, used in pool.map(self._batch, batches):
                spent(used)
                found += rows
                progress(len(found), len(texts), "Embedding")
        return found

    def _batch(self, texts: Sequence[str]) -> tuple[list[np.ndarray], int]:
        rows, used = self._send([text.encode("utf-8", "replace").decode() for text in texts])
        try:
            made = np.array(rows, dtype=np.float32)
        except (TypeError, ValueError):  # not numbers, or not all equally many
            made = np.zeros(0, dtype=np.float32)
        size = self.dimension or made.size // len(texts)
        if not size or made.shape != (len(texts), size) or not np.isfinite(made).all():
            raise Unavailable(
                f"{self.name} gave vectors that cannot be used; {len(texts)} of dimension {size or 'any'} were expected. Check the model and its dimension."
            )
        return [row / (np.linalg.norm(row) or 1.0) for row in made], used
