"""The room of the graph, wired."""

from __future__ import annotations

from dataclasses import dataclass

from core.services.graph.explorer import GraphExplorer
from core.services.graph.kept_communities import Communities
from core.services.models.wiring import ModelRoom, estimator
from core.services.platform.base import Base
from core.services.search.searcher import Searcher
from core.storage.cache.memo import JsonCache


@dataclass(frozen=True, slots=True)
class GraphRoom:
    """Entities, how they relate, and the communities they form."""

    explorer: GraphExplorer
    communities: Communities


def wire(base: Base, models: ModelRoom, searcher: Searcher) -> GraphRoom:
    cache = JsonCache(base.settings.caches / "communities")
    communities = Communities(searcher, base.vectors, cache, estimator(base, models))
    return GraphRoom(GraphExplorer(searcher, base.documents, communities), communities)
