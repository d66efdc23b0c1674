"""Do all engines rank as the image does? A sample of queries is taken from the generation itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from core.curation.document.frontmatter import read_document
from core.errors import Unavailable
from core.ports import Index, Leg, Ranking
from core.retrieval.engines import ENGINES, IMAGE, first_difference

if TYPE_CHECKING:
    import numpy as np

DEPTH = 10
MOST, LEAST = 20, 3  # documents whose words become queries
EFFORT = 200_000  # chunks that DuckDB may score, per question of a document: some seconds
DENSE_LIMIT = 10_000  # chunks; beyond, engines rank every n-th: under a narrow filter the image never approximates

Ask = Callable[[str], Leg]
"""One query, to be asked of the engine of this name."""


def disagreements(open_index: Callable[[], Index], skipped: Callable[[str], None]) -> Iterator[str]:
    """One sentence per engine that ranks otherwise, or fails. Why an engine was not asked goes to `skipped`."""
    try:
        index = open_index()
        sample = documents(index)
    except Exception as error:  # whatever a reader makes of damaged bytes
        yield f"the image cannot be opened: {_line(error)}"
        return
    yield from _compared(index, "bm25", _lexical(index, sample), None, skipped)
    if index.generation.pending:
        skipped("Skipped vectors: they are still being computed")
        return
    yield from _compared(index, "dense", _vectors(index, sample), _spread(index.size), skipped)


def documents(index: Index) -> list[int]:
    """Documents spread evenly over the generation: 20 of a small one, 3 of a very large one.

    `match_bm25` takes 270 ms per query at 20,000 chunks.
    """
    count = min(len(index.documents), max(LEAST, min(MOST, EFFORT // max(1, index.size))))
    return [place * len(index.documents) // count for place in range(count)]


def _lexical(index: Index, sample: Sequence[int]) -> Iterator[tuple[str, Ask]]:
    """The title of each document, and the first question that its author says it answers."""
    for document in sample:
        facts = index.documents[document]
        for query in (facts.title, *read_document(facts.path, index.text(document)).meta.answers[:1]):
            yield f"{query!r}", partial(index.bm25, query)


def _vectors(index: Index, sample: Sequence[int]) -> Iterator[tuple[str, Ask]]:
    """The first chunk of each document asks with its own vector: no model is needed."""
    for document in sample:
        for chunk in index.chunks_of(document)[:1]:
            yield f"the vector of {index.passage(chunk).id}", partial(index.dense, index.vector(chunk))


def _spread(size: int) -> np.ndarray | None:
    """Every n-th chunk of an index that is too large to search exactly."""
    if size <= DENSE_LIMIT:
        return None
    import numpy as np

    return np.asarray(np.arange(size) % -(-size // DENSE_LIMIT) == 0)


def _compared(
    index: Index,
    leg: str,
    queries: Iterable[tuple[str, Ask]],
    allowed: np.ndarray | None,
    skipped: Callable[[str], None],
) -> Iterator[str]:
    try:
        asked = [(query, ask, ask(IMAGE).search(DEPTH, allowed)) for query, ask in queries]
    except Exception as error:
        yield f"the image cannot be asked: {_line(error)}"
        return
    for engine in ENGINES[leg][1:]:
        try:
            yield from _differences(index, engine, asked, allowed)
        except Unavailable as error:
            skipped(f"Skipped {engine}: {error}")
        except Exception as error:
            yield f"{engine} cannot be asked: {_line(error)}"


def _differences(
    index: Index, engine: str, asked: Sequence[tuple[str, Ask, Ranking]], allowed: np.ndarray | None
) -> Iterator[str]:
    """One sentence, if there is a difference: how many queries, and the first of them."""
    different = [
        (query, difference)
        for query, ask, ranking in asked
        if (difference := first_difference(ranking, ask(engine), DEPTH, allowed))
    ]
    if different:
        query, first = different[0]
        yield (
            f"{engine} and the image rank {len(different)} of {len(asked)} queries differently, first {query}: "
            f"at rank {first.rank} {engine} has {_chunk(index, first.actual)}, the image {_chunk(index, first.expected)}"
        )


def _chunk(index: Index, number: int | None) -> str:
    return "nothing" if number is None else f"chunk {index.passage(number).id}"


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
