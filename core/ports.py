"""Protocols by shape: what services and rules need from the outside, without saying who provides it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import date
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from core.types import (
    Answer,
    DocumentFacts,
    Filters,
    Generation,
    Graph,
    LlmRequest,
    Passage,
    Profile,
    Receipt,
)

if TYPE_CHECKING:
    from email.message import EmailMessage

    import numpy as np

Progress = Callable[[int, int, str], None]
"""Called with (done, total, what is being done); it may raise Cancelled."""

FieldScores = Callable[[int], Mapping[str, float]]
"""What the words of a query score in each field of a chunk."""

Ranking = Mapping[int, float]
"""Chunk number to score, best first, no repeats, ties in the order of ids. The one currency between stages.

Chunks of a generation are numbered in the order of their ids, so comparing numbers compares ids.
"""

ByDocument = tuple[Sequence[Ranking], Mapping[int, Sequence[int]]]
"""Rankings with one passage for each document, and for each of those passages others of its document, best first."""


def no_progress(done: int, total: int, what: str) -> None:
    """For callers that do not want to know."""


class Tokens(Protocol):
    """Where a model's tokens lie in a text, as (start, end) character offsets."""

    def __call__(self, text: str) -> Sequence[tuple[int, int]]: ...


class Embedder(Protocol):
    """Texts to unit vectors. A text's vector depends on that text alone, not on its neighbours in a batch."""

    name: str
    dimension: int
    limit: int

    @property
    def parts(self) -> Sequence[Embedder]: ...
    def tokens(self, text: str) -> Sequence[tuple[int, int]]: ...
    def documents(self, texts: Sequence[str], progress: Progress = ...) -> np.ndarray: ...
    def query(self, text: str) -> np.ndarray: ...


class Reranker(Protocol):
    """A model that reads a query and a passage together."""

    name: str

    def scores(self, query: str, texts: Sequence[str]) -> list[float]: ...
    def cuts(self, query: str, texts: Sequence[str]) -> int: ...


class Llm(Protocol):
    """A language model."""

    name: str
    server: str  # where it answers, without a key: two servers may serve other weights under one name

    def complete(self, request: LlmRequest) -> Answer: ...


class Spent(Protocol):
    """Told what a call used, as often as it learns of it."""

    def __call__(self, input_tokens: int, output_tokens: int = ...) -> None: ...


class Meter(Protocol):
    """Asked before a paid call with what it may use at most; the block tells what it did use."""

    def spending(
        self, purpose: str, model: str, input_tokens: int, output_tokens: int = ...
    ) -> AbstractContextManager[Spent]: ...


class Leg(Protocol):
    """One way to find candidates in one generation."""

    floor: float

    def search(self, depth: int, allowed: np.ndarray | None) -> Ranking: ...
    def score(self, chunks: Sequence[int]) -> list[float]: ...


@runtime_checkable
class ExplainsPath(Protocol):
    """A leg that can say by which path it came to a chunk, and how far it went."""

    @property
    def note(self) -> str: ...
    def path(self, chunk: int) -> str: ...


class Index(Protocol):
    """One open generation: what is in it, and its legs."""

    generation: Generation
    profile: Profile

    @property
    def gone(self) -> frozenset[str]: ...  # documents that it is opened without
    @property
    def size(self) -> int: ...
    @property
    def documents(self) -> Sequence[DocumentFacts]: ...
    @property
    def vocabulary(self) -> Mapping[str, int]: ...
    def passage(self, chunk: int) -> Passage: ...
    def number(self, chunk: str) -> int | None: ...
    @property
    def spread(self) -> tuple[float, float]: ...
    def rarity(self, term: str) -> float: ...
    def holding(self, term: str, chunks: Sequence[int]) -> list[bool]: ...
    def excerpt(self, chunk: int) -> str: ...
    def context(self, chunk: int) -> str: ...
    def text(self, document: int) -> str: ...
    def answers(self, document: int) -> tuple[str, ...]: ...
    def chunks_of(self, document: int) -> list[int]: ...
    def document_of(self, chunk: int) -> int: ...
    def documents_of(self, chunks: Sequence[int]) -> list[int]: ...
    def possible_copies(self, chunks: Sequence[int]) -> Mapping[int, Sequence[int]] | None: ...
    def by_document(self, rankings: Sequence[Ranking], depth: int) -> ByDocument: ...
    def families(self, chunks: Sequence[int]) -> tuple[np.ndarray, np.ndarray]: ...
    def allowed(self, filters: Filters, today: date) -> np.ndarray | None: ...
    def bm25(self, query: str, engine: str = ..., fields: Mapping[str, float] = ...) -> Leg: ...
    def fields(self, query: str, names: Collection[str] = ...) -> FieldScores: ...
    def dense(self, vector: np.ndarray, engine: str = ...) -> Leg: ...
    def vector(self, chunk: int) -> np.ndarray: ...
    def tfidf(self, query: str) -> Leg: ...
    def sparse(self, query: str) -> Leg: ...
    def graph(self) -> Graph: ...
    def without(self, gone: Collection[str]) -> Index: ...


class Texts(Protocol):
    """Texts that a model wrote before, by what it was asked."""

    def get(self, key: str) -> str | None: ...
    def put(self, key: str, text: str) -> None: ...


class Models(Protocol):
    """Models by name, loaded once."""

    def embedder(self, name: str) -> Embedder: ...
    def of(self, profile: Profile) -> Embedder: ...
    def reranker(self, name: str) -> Reranker: ...
    def llm(self, name: str = ...) -> Llm: ...


class Bulk(Protocol):
    """Work of `core.bulk` over many things: in this process, or on a cluster. Results come in any order, each with the
    number of its first thing. `at_once` is how many things are worked on at the same time."""

    @property
    def at_once(self) -> int: ...
    def map(
        self, work: str, key: Any, things: Sequence[Any], progress: Progress = ...
    ) -> Iterator[tuple[int, Sequence[Any]]]: ...


class Clock(Protocol):
    """The time, passed in so that tests can choose it."""

    def today(self) -> date: ...
    def stamp(self) -> str: ...


class Processes(Protocol):
    """Worker processes of this machine, at most `limit`; the kernel knows which are alive."""

    limit: int

    def spawn(self) -> str | None: ...
    def alive(self) -> Mapping[str, float]: ...
    def gone(self) -> tuple[str, ...]: ...
    def kill(self, name: str) -> None: ...
    def turn(self, pause: float) -> bool: ...
    def settle(self, place: int) -> None: ...
    def leave(self) -> None: ...
    def large(self) -> bool: ...


class Mailer(Protocol):
    """A mail server. Inside the block one connection serves every letter."""

    def connected(self) -> AbstractContextManager[Callable[[EmailMessage], Receipt]]: ...


class Poster(Protocol):
    """Sends a body to a URL of somebody else; `check` refuses URLs that may not be called."""

    def check(self, url: str) -> str: ...
    def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> Receipt: ...
