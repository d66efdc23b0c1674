"""The parts of a build that are plain functions of values: they run in this process, or on any machine of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from core.analysis import analyser
from core.chunking import chunker, embedded_text
from core.chunking.chunker import Tools
from core.curation.document.links import Link
from core.graph.entities import extract
from core.ports import Embedder, Models, Progress, no_progress
from core.types import Chunk, Document, Extract, Profile

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class BulkWork:
    """One kind of bulk work: `prepare` makes from models and a key the tool with which `run` works on things.

    The key and the things travel to another machine and the results back; tools stay where they were made. `step`
    things are done between two saves in this process, `batch` things travel together to another one.
    """

    title: str
    prepare: Callable[[Models, Any], Any]
    run: Callable[[Any, Sequence[Any], Progress], Sequence[Any]]
    step: int
    batch: int


def _splitter(models: Models, profile: Profile) -> Callable[[Document], tuple[tuple[Chunk, ...], list[str]]]:
    """A function from a document to its chunks and their terms."""
    tools = Tools(models.embedder(profile.embedder).tokens)
    split, analyse = chunker(profile.chunker, tools, profile.context), analyser(profile.lexical)

    def work(document: Document) -> tuple[tuple[Chunk, ...], list[str]]:
        chunks = split(document)
        return chunks, [" ".join(analyse(embedded_text(chunk))) for chunk in chunks]

    return work


def _each(title: str) -> Callable[[Callable[[Any], Any], Sequence[Any], Progress], list[Any]]:
    """Work on one thing after the other."""

    def run(work: Callable[[Any], Any], things: Sequence[Any], progress: Progress) -> list[Any]:
        results = []
        for thing in things:
            results.append(work(thing))
            progress(len(results), len(things), title)
        return results

    return run


def _embed(embedder: Embedder, texts: Sequence[str], progress: Progress) -> Any:
    return embedder.documents(texts, progress)


def _extract(thing: tuple[str, tuple[Link, ...]]) -> Extract:
    return extract(*thing)


WORKS: Mapping[str, BulkWork] = {
    "chunk": BulkWork("Chunking", _splitter, _each("Chunking"), 1, 16),
    "embed": BulkWork("Embedding", lambda models, name: models.embedder(name), _embed, 128, 16),
    "extract": BulkWork("Finding entities", lambda models, _: _extract, _each("Finding entities"), 64, 512),
}


def in_steps(
    work: str, tool: Any, things: Sequence[Any], progress: Progress = no_progress
) -> Iterator[tuple[int, Sequence[Any]]]:
    """The work on some things after the other, each time with the number of the first."""
    record = WORKS[work]
    for n in range(0, len(things), record.step):
        part = things[n : n + record.step]
        yield n, record.run(tool, part, partial(_step_done, progress, n, len(things)))


def _step_done(progress: Progress, before: int, total: int, done: int, _: int, what: str) -> None:
    progress(before + done, total, what)


def in_order(parts: Iterable[tuple[int, Sequence[T]]]) -> list[T]:
    """Results that came in any order, in the order of their things.

    >>> in_order([(2, "c"), (0, "ab")])
    ['a', 'b', 'c']
    """
    return [row for _, rows in sorted(parts, key=lambda part: part[0]) for row in rows]


class InlineBulk:
    """The `Bulk` port in this process."""

    at_once = 1

    def __init__(self, models: Models) -> None:
        self.models = models

    def map(
        self, work: str, key: Any, things: Sequence[Any], progress: Progress = no_progress
    ) -> Iterator[tuple[int, Sequence[Any]]]:
        return in_steps(work, WORKS[work].prepare(self.models, key), things, progress)
