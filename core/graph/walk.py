"""Walking the graph from the entities of a query along relations (the thesis, 3.2.2), and PageRank (the cascade study,
stage 2c).

Growth is bounded by the limits below; every search says how far it went. Amounts and dates are places to start
from, not to pass through. An entity that only hidden documents name is not walked through, so that no path can
tell what a draft says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.analysis import STOPWORDS
from core.graph.entities import VALUES, extract, key
from core.types import Graph

if TYPE_CHECKING:
    import numpy as np


SEEDS = 8  # entities of a query, the rarest first
DEGREE = 12  # relations followed from one entity, the strongest first
CANDIDATES = 2_000  # chunks that hops may add
BROAD = 0.1  # an entity in more than this share of the chunks is a hub: hops do not pass through it
HOPS = 2
_LONGEST = 8  # words of a name


def hub_size(chunks: int) -> float:
    """An entity that more of the chunks name is a hub.

    >>> hub_size(100), hub_size(2000)
    (50.0, 200.0)
    """
    return max(50.0, BROAD * chunks)


def holding(graph: Graph, entity: int) -> np.ndarray:
    """The chunks that name an entity."""
    return graph.chunks[graph.chunk_start[entity] : graph.chunk_start[entity + 1]]


def naming(graph: Graph, chunk: int) -> np.ndarray:
    """The entities that a chunk names."""
    return graph.entities[graph.entity_start[chunk] : graph.entity_start[chunk + 1]]


def neighbours(graph: Graph, entity: int, limit: int = DEGREE) -> list[tuple[int, float, str]]:
    """Related entities with weight and name of the relation, the strongest first."""
    row = slice(graph.related_start[entity], min(graph.related_start[entity] + limit, graph.related_start[entity + 1]))
    names = (graph.relation_names[n] for n in graph.relations[row].tolist())
    return list(zip(graph.related[row].tolist(), graph.weights[row].tolist(), names, strict=True))


def seeds(graph: Graph, query: str) -> tuple[int, ...]:
    """The entities that a query names, in any case and number: the longest names that the graph knows."""
    named = [mention.key for mention in extract(query).mentions]
    named += _known(graph.names, query)
    entities = dict.fromkeys(graph.names[spelled] for spelled in named if spelled in graph.names)
    return tuple(sorted(entities, key=lambda entity: (len(holding(graph, entity)), entity))[:SEEDS])


def _known(names: Mapping[str, int], query: str) -> list[str]:
    words = [word for raw in query.split() if (word := _bare(raw))]
    known, at = [], 0
    while at < len(words):
        for count in range(min(_LONGEST, len(words) - at), 0, -1):
            spelled = key(" ".join(words[at : at + count]))
            if spelled in names and not (count == 1 and words[at] in STOPWORDS["english"]):
                known.append(spelled)
                at += count - 1
                break
        at += 1
    return known


def _bare(word: str) -> str:
    """A word without the punctuation around it; brackets that belong to it stay."""
    word = word.strip(".,;:!?\"'“”‘’[]{}`*_")
    return word if "(" in word and ")" in word else word.strip("()")


# ---------------------------------------------------------------- local search


@dataclass(frozen=True, slots=True, eq=False)
class Reach:
    """How far a walk came: entities by the entity before them (a seed by itself), and the chunks that name them."""

    seeds: tuple[int, ...]
    before: Mapping[int, int]
    hops: Mapping[int, int]
    chunks: np.ndarray  # one truth value per chunk
    added: tuple[int, ...] = ()  # chunks that each hop added
    cut: bool = False


def walk(graph: Graph, start: Sequence[int], allowed: np.ndarray | None, hops: int = HOPS) -> Reach:
    """From the seeds along the strongest relations, at most `hops` far and `CANDIDATES` chunks wide."""
    import numpy as np

    size = len(graph.entity_start) - 1
    reached, visible = np.zeros(size, np.bool_), np.ones(size, np.bool_) if allowed is None else allowed
    edge = [entity for entity in start if visible[holding(graph, entity)].any()]
    before, depth = {entity: entity for entity in edge}, dict.fromkeys(edge, 0)
    added, cut = [0] * (hops + 1), False
    for entity in edge:
        added[0] += _mark(reached, visible, holding(graph, entity))
    for hop in range(1, hops + 1):
        fresh: list[int] = []
        for entity, to in _steps(graph, edge, before, size):
            chunks = holding(graph, to)
            if sum(added[1:]) + len(chunks) > CANDIDATES:
                cut = True
            elif visible[chunks].any():
                before[to], depth[to] = entity, hop
                added[hop] += _mark(reached, visible, chunks)
                fresh.append(to)
        edge = fresh
    return Reach(tuple(e for e, n in depth.items() if n == 0), before, depth, reached, tuple(added), cut)


def _mark(reached: np.ndarray, visible: np.ndarray, chunks: np.ndarray) -> int:
    """Mark the visible ones of some chunks; how many of them are new."""
    fresh = chunks[visible[chunks] & ~reached[chunks]]
    reached[fresh] = True
    return len(fresh)


def _steps(graph: Graph, edge: Sequence[int], before: Mapping[int, int], size: int) -> list[tuple[int, int]]:
    """Where one more hop leads: (from, to), each new entity once, by the first way to it."""
    reached_from: dict[int, int] = {}
    for entity in edge:
        for to, _, _ in neighbours(graph, entity):
            if graph.kinds[to] in VALUES:
                break  # they come last
            if to not in before and to not in reached_from and len(holding(graph, to)) <= hub_size(size):
                reached_from[to] = entity
    return [(entity, to) for to, entity in reached_from.items()]


def path(graph: Graph, reach: Reach, chunk: int) -> str:
    """By which way a walk came to a chunk, for example `BSA -> FinCEN -> SAR`; "" when it did not."""
    if not reach.chunks[chunk]:
        return ""
    return " -> ".join(graph.labels[entity] for entity in trail(reach, arrived(graph, reach, chunk)))


def arrived(graph: Graph, reach: Reach, chunk: int) -> int:
    """The entity by which a walk came to a chunk first."""
    here = set(naming(graph, chunk).tolist())
    return next(entity for entity in reach.hops if entity in here)


def trail(reach: Reach, entity: int) -> list[int]:
    """The entities from a seed to one that was reached."""
    steps = [entity]
    while reach.before[steps[-1]] != steps[-1]:
        steps.append(reach.before[steps[-1]])
    return steps[::-1]


DAMPING = 0.85
SHARED = 2  # entities that two documents must have in common
COMMON = 500  # an entity that more documents name joins everything to everything: it makes no edges
_BLOCK = 512  # documents compared at a time


def pagerank(start: np.ndarray, to: np.ndarray, damping: float = DAMPING) -> np.ndarray:
    """PR(d) = (1 - a) / N + a * sum of PR(n) / degree(n) over neighbours; what dangles is spread evenly.

    >>> import numpy as np
    >>> pagerank(np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1])).round(4).tolist()
    [0.2568, 0.4865, 0.2568]
    """
    import numpy as np

    size = len(start) - 1
    degree = np.diff(start)
    source = np.repeat(np.arange(size), degree)
    rank = np.full(size, 1.0 / max(1, size))
    for _ in range(100):
        share = rank / np.maximum(1, degree)
        dangling = rank[degree == 0].sum()
        arrived = np.bincount(to, share[source], minlength=size) + dangling / max(1, size)
        fresh = (1.0 - damping) / max(1, size) + damping * arrived
        moved, rank = np.abs(fresh - rank).sum(), fresh
        if moved < 1e-10:
            break
    return np.asarray(rank)


def sharing(document: np.ndarray, entity: np.ndarray, documents: int, entities: int) -> tuple[np.ndarray, np.ndarray]:
    """Documents that share at least two entities, as rows of neighbours; found by who names each entity.

    >>> import numpy as np
    >>> start, to = sharing(np.array([0, 0, 1, 1, 2]), np.array([0, 1, 0, 1, 1]), 3, 2)
    >>> start.tolist(), to.tolist()
    ([0, 1, 2, 2], [1, 0])
    """
    import numpy as np
    from scipy.sparse import csr_matrix

    names = csr_matrix((np.ones(len(entity), np.int32), (document, entity)), shape=(documents, entities))
    names.data[:] = 1
    named_by = np.asarray(names.sum(axis=0)).ravel()
    names = names[:, (named_by > 1) & (named_by <= COMMON)]
    turned, degrees, rows = names.T.tocsr(), [], []
    for first in range(0, documents, _BLOCK):
        shared = names[first : first + _BLOCK] @ turned
        shared.sort_indices()
        row = np.repeat(np.arange(shared.shape[0]), np.diff(shared.indptr))
        keep = (shared.data >= SHARED) & (row + first != shared.indices)
        degrees.append(np.bincount(row[keep], minlength=shared.shape[0]))
        rows.append(shared.indices[keep])
    start = np.concatenate(([0], np.cumsum(np.concatenate(degrees) if degrees else np.empty(0, np.int64))))
    return start.astype(np.int64), np.concatenate(rows).astype(np.int64) if rows else np.empty(0, np.int64)
