"""Legs over the entity graph: local search along relations (the thesis, 3.2.2), and shared entities with PageRank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.graph.walk import CANDIDATES, DEGREE, HOPS, SEEDS, Reach, holding, naming, path, seeds, walk
from core.ports import Index, Leg, Ranking
from core.retrieval.methods import LegKind, LegQuery
from core.retrieval.ordering import rank
from core.types import Graph

if TYPE_CHECKING:
    import numpy as np


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
    entities: tuple[int, ...] = ()

    def search(self, depth: int, allowed: np.ndarray | None) -> Ranking:
        """The best chunks that name an entity of the query."""
        import numpy as np

        self.entities = seeds(self.graph, self.query)
        if not self.entities:
            return {}
        chunks = np.unique(np.concatenate([holding(self.graph, entity) for entity in self.entities]))
        chunks = chunks if allowed is None else chunks[allowed[chunks]]
        scores = self._scores(chunks)
        order = np.lexsort((chunks, -scores))[:depth]
        return rank(dict(zip(chunks[order].tolist(), scores[order].tolist(), strict=True)))

    def score(self, chunks: Sequence[int]) -> list[float]:
        """The exact score of given chunks."""
        import numpy as np

        self.entities = self.entities or seeds(self.graph, self.query)
        scores: list[float] = self._scores(np.array(chunks, np.int64)).tolist()
        return scores

    def _scores(self, chunks: np.ndarray) -> np.ndarray:
        import numpy as np

        graph, size = self.graph, len(self.graph.document_of)
        in_chunk = np.zeros(size, np.int64)
        in_document = np.zeros(len(graph.document_rank), np.int64)
        for entity in self.entities:
            in_chunk[holding(graph, entity)] += 1
            in_document[np.unique(graph.document_of[holding(graph, entity)])] += 1
        shared = in_document[graph.document_of[chunks]]
        document = shared * (1.0 + graph.document_rank[graph.document_of[chunks]])
        return np.asarray(document * (1.0 + in_chunk[chunks] / np.maximum(1, shared)) / 2.0)

    def path(self, chunk: int) -> str:
        """Which entities of the query the chunk names."""
        here = set(naming(self.graph, chunk).tolist())
        shared = [self.graph.labels[entity] for entity in self.entities if entity in here]
        return f"names {', '.join(shared)}" if shared else ""

    @property
    def note(self) -> str:
        """What the query shares with the graph."""
        if not self.entities:
            return "the query names no entity of the graph"
        return "shared: " + ", ".join(self.graph.labels[entity] for entity in self.entities)


def open_graph(asked: LegQuery, index: Index) -> Leg:
    """Local search along relations."""
    return LocalLeg(index.graph(), asked.open_leg("dense", asked, index), asked.query)


GRAPH = LegKind(
    name="graph",
    title="Graph",
    about="Passages within two relations of the entities that the question names, ordered by meaning.",
    source="the thesis, 3.2.2",
    side="graph",
    colour="#009E73",
    open=open_graph,
    embeds=True,
)


def open_pagerank(asked: LegQuery, index: Index) -> Leg:
    """Shared entities and PageRank."""
    return PageRankLeg(index.graph(), asked.query)


PAGERANK = LegKind(
    name="pagerank",
    title="Graph (PageRank)",
    about="Documents that name the question's entities, the more central the better.",
    source="the cascade study, stage 2c",
    side="graph",
    colour="#5BB89B",
    open=open_pagerank,
)
