"""Searching the graph: local search along relations (the thesis, 3.2.2), and shared entities with PageRank.

Growth is bounded by the limits below; every search says how far it went. Amounts and dates are places to start
from, not to pass through. An entity that only hidden documents name is not walked through, so that no path can
tell what a draft says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.ports import Leg, Ranking
from core.retrieval.analysis import STOPWORDS
from core.retrieval.entities import VALUES, extract, key
from core.retrieval.fusion import rank
from core.types import Graph

if TYPE_CHECKING:
    import numpy as np

SEEDS = 8  # entities of a query, the rarest first
DEGREE = 12  # relations followed from one entity, the strongest first
CANDIDATES = 2_000  # chunks that hops may add
BROAD = 0.1  # an entity in more than this share of the chunks is a hub: hops do not pass through it
HOPS = 2
_LONGEST = 8  # words of a name


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
    found = dict.fromkeys(graph.names[one] for one in named if one in graph.names)
    return tuple(sorted(found, key=lambda entity: (len(holding(graph, entity)), entity))[:SEEDS])


def _known(names: Mapping[str, int], query: str) -> list[str]:
    words = [word for raw in query.split() if (word := _bare(raw))]
    found, at = [], 0
    while at < len(words):
        for count in range(min(_LONGEST, len(words) - at), 0, -1):
            spelled = key(" ".join(words[at : at + count]))
            if spelled in names and not (count == 1 and words[at] in STOPWORDS["english"]):
                found.append(spelled)
                at += count - 1
                break
        at += 1
    return found


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
    before, depth, added, cut = {entity: entity for entity in edge}, dict.fromkeys(edge, 0), [0] * (hops + 1), False
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
    broad = max(50.0, BROAD * size)
    found: dict[int, int] = {}
    for entity in edge:
        for to, _, _ in neighbours(graph, entity):
            if graph.kinds[to] in VALUES:
                break  # they come last
            if to not in before and to not in found and len(holding(graph, to)) <= broad:
                found[to] = entity
    return [(entity, to) for to, entity in found.items()]


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


@dataclass(slots=True)
class LocalLeg:
    """Chunks that the walk reached, ordered by the cosine that `dense` gives them."""

    graph: Graph
    dense: Leg
    query: str
    hops: int = HOPS
    floor: float = -1.0
    reach: Reach | None = None

    def search(self, depth: int, allowed: np.ndarray | None) -> Ranking:
        """The nearest of the chunks that were reached."""
        self.reach = walk(self.graph, seeds(self.graph, self.query), allowed, self.hops)
        return self.dense.search(depth, self.reach.chunks) if self.reach.chunks.any() else {}

    def score(self, chunks: Sequence[int]) -> list[float]:
        """The cosine of chunks that were reached, the floor of others."""
        reach = self.reach or walk(self.graph, seeds(self.graph, self.query), None, self.hops)
        return [
            cosine if reach.chunks[chunk] else self.floor
            for chunk, cosine in zip(chunks, self.dense.score(chunks), strict=True)
        ]

    def path(self, chunk: int) -> str:
        """How the leg came to a chunk."""
        return path(self.graph, self.reach, chunk) if self.reach else ""

    @property
    def note(self) -> str:
        """How far the walk went, and what bounded it."""
        if not self.reach or not self.reach.seeds:
            return "the query names no entity of the graph"
        labels = ", ".join(self.graph.labels[entity] for entity in self.reach.seeds)
        chunks, hops = " + ".join(map(str, self.reach.added)), ", ".join(map(str, range(self.hops + 1)))
        limits = f"limits: {SEEDS} seeds, {DEGREE} relations each, {CANDIDATES:,} chunks by hops"
        return f"from {labels}: {chunks} chunks by {hops} hops ({limits}{', reached' if self.reach.cut else ''})"


# ---------------------------------------------------------------- shared entities and PageRank


@dataclass(slots=True)
class PageRankLeg:
    """Documents by entities shared with the query times (1 + PageRank), brought down to their chunks.

    A chunk gets its document's score times (1 + share of the document's shared entities that it names) / 2.
    """

    graph: Graph
    query: str
    floor: float = 0.0
    asked: tuple[int, ...] = ()

    def search(self, depth: int, allowed: np.ndarray | None) -> Ranking:
        """The best chunks that name an entity of the query."""
        import numpy as np

        self.asked = seeds(self.graph, self.query)
        if not self.asked:
            return {}
        chunks = np.unique(np.concatenate([holding(self.graph, entity) for entity in self.asked]))
        chunks = chunks if allowed is None else chunks[allowed[chunks]]
        scores = self._scores(chunks)
        order = np.lexsort((chunks, -scores))[:depth]
        return rank(dict(zip(chunks[order].tolist(), scores[order].tolist(), strict=True)))

    def score(self, chunks: Sequence[int]) -> list[float]:
        """The exact score of given chunks."""
        import numpy as np

        self.asked = self.asked or seeds(self.graph, self.query)
        found: list[float] = self._scores(np.array(chunks, np.int64)).tolist()
        return found

    def _scores(self, chunks: np.ndarray) -> np.ndarray:
        import numpy as np

        graph, size = self.graph, len(self.graph.document_of)
        in_chunk = np.zeros(size, np.int64)
        in_document = np.zeros(len(graph.document_rank), np.int64)
        for entity in self.asked:
            in_chunk[holding(graph, entity)] += 1
            in_document[np.unique(graph.document_of[holding(graph, entity)])] += 1
        shared = in_document[graph.document_of[chunks]]
        document = shared * (1.0 + graph.document_rank[graph.document_of[chunks]])
        return np.asarray(document * (1.0 + in_chunk[chunks] / np.maximum(1, shared)) / 2.0)

    def path(self, chunk: int) -> str:
        """Which entities of the query the chunk names."""
        here = set(naming(self.graph, chunk).tolist())
        shared = [self.graph.labels[entity] for entity in self.asked if entity in here]
        return f"names {', '.join(shared)}" if shared else ""

    @property
    def note(self) -> str:
        """What the query shares with the graph."""
        if not self.asked:
            return "the query names no entity of the graph"
        return "shared: " + ", ".join(self.graph.labels[entity] for entity in self.asked)
