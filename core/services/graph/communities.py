"""Communities of a generation: computed when first asked for, cached, and searched for questions about the whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from core import strict
from core.access import Actor, require
from core.graph import communities
from core.graph.communities import Community
from core.ports import Index
from core.retrieval.pipeline import check_query
from core.services.index.embedding import embed_texts
from core.services.search.searcher import Searcher
from core.types import Filters

if TYPE_CHECKING:
    import numpy as np

    from core.adapters.cache.memo import Memo
    from core.adapters.cache.vectors import EmbeddingCache

_SHOWN = Filters(statuses=("approved",), history=True)  # what summaries may tell


class Communities:
    """The communities of the serving generation."""

    def __init__(self, searcher: Searcher, cache: EmbeddingCache, memo: Memo) -> None:
        self.searcher, self.cache, self.memo = searcher, cache, memo
        self._last: tuple[str, Any] = ("", None)

    def all(self, actor: Actor, profile: str = "") -> tuple[Community, ...]:
        """Communities with their summaries, the largest first."""
        require(actor, "explore the graph")
        rows = self.cached(self.searcher.index(profile))["communities"]
        return tuple(strict.parse(Community, row, "community") for row in rows)

    def global_search(
        self, actor: Actor, query: str, k: int = 5, profile: str = ""
    ) -> tuple[tuple[Community, float], ...]:
        """Communities by the cosine of their summary to the query."""
        import numpy as np

        query, known = check_query(query), self.all(actor, profile)
        if not known:
            return ()
        embedder = self.searcher.models.of(self.searcher.index(profile).profile)
        vectors, _ = embed_texts(embedder, self.cache, [community.summary for community in known])
        scores = (vectors.astype(np.float64) * embedder.query(query).astype(np.float64)).sum(axis=1)
        order = np.lexsort((np.arange(len(known)), -scores))[:k]
        return tuple((known[n], float(scores[n])) for n in order.tolist())

    def cached(self, index: Index) -> Any:
        """The communities of a generation: from memory, from the disk cache, or computed now."""
        name = f"{index.generation.digest}-{index.generation.commit}-{communities.VERSION}"
        if self._last[0] != name:
            cached = self.memo.get(name)
            if cached is None:
                cached = strict.plain(self._find(index))
                self.memo.put(name, cached)
            self._last = (name, cached)
        return self._last[1]

    def _find(self, index: Index) -> dict[str, Any]:
        import numpy as np

        graph = index.graph()
        allowed = index.allowed(_SHOWN, self.searcher.clock.today())
        visible = np.ones(index.size, np.bool_) if allowed is None else allowed
        owners = np.repeat(np.arange(len(graph.keys)), np.diff(graph.chunk_start))
        seen = np.bincount(owners, visible[graph.chunks], minlength=len(graph.keys)) > 0
        membership = communities.detect(graph, seen)
        count = min(communities.MOST, int(membership.max(initial=-1)) + 1)
        summarised = [self._community(index, n, np.flatnonzero(membership == n), visible) for n in range(count)]
        quality = round(communities.modularity(graph, membership), 6)
        return {"modularity": quality, "membership": membership.tolist(), "communities": summarised}

    def _community(self, index: Index, number: int, members: np.ndarray, visible: np.ndarray) -> Community:
        graph = index.graph()
        material = communities.material(graph, members, visible)
        labels = [graph.labels[entity] for entity in material.entities]
        titles = [index.documents[n].title for n in material.documents]
        passages = [index.excerpt(chunk) for chunk in material.chunks]
        if index.profile.graph == "llm":
            summary, by = communities.by_model(self.searcher.models.llm(), labels, titles, passages)
        else:
            summary, by = communities.by_rules(labels, titles, passages), "rules"
        docs = tuple(index.documents[n].doc for n in material.documents)
        return Community(number, len(members), tuple(labels), docs, summary, by)


def as_json(scored: tuple[tuple[Community, float], ...]) -> list[dict[str, Any]]:
    """The contract of `graph communities --query --json`."""
    return [{**strict.plain(community), "score": round(score, 6)} for community, score in scored]
