"""Communities of a generation: found when somebody first asks, kept, and searched for questions about the whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from core import strict
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

_FORM = 1  # of what is kept; raise it when the same graph would give other communities
_SHOWN = Filters(statuses=("approved",), history=True)  # what summaries may tell


class Communities:
    """The communities of the serving generation."""

    def __init__(self, searcher: Searcher, cache: EmbeddingCache, memo: Memo) -> None:
        self.searcher, self.cache, self.memo = searcher, cache, memo
        self._last: tuple[str, Any] = ("", None)

    def all(self, profile: str = "") -> tuple[Community, ...]:
        """Communities with their summaries, the largest first."""
        rows = self.kept(self.searcher.index(profile))["communities"]
        return tuple(strict.parse(Community, row, "community") for row in rows)

    def global_search(self, query: str, k: int = 5, profile: str = "") -> tuple[tuple[Community, float], ...]:
        """Communities by the cosine of their summary to the query."""
        import numpy as np

        query, found = check_query(query), self.all(profile)
        if not found:
            return ()
        embedder = self.searcher.models.of(self.searcher.index(profile).profile)
        vectors, _ = embed_texts(embedder, self.cache, [one.summary for one in found])
        scores = (vectors.astype(np.float64) * embedder.query(query).astype(np.float64)).sum(axis=1)
        order = np.lexsort((np.arange(len(found)), -scores))[:k]
        return tuple((found[n], float(scores[n])) for n in order.tolist())

    def kept(self, index: Index) -> Any:
        """The communities of a generation: at hand, from the disk, or found now and kept."""
        name = f"{index.generation.digest}-{index.generation.commit}-{_FORM}"
        if self._last[0] != name:
            known = self.memo.get(name)
            if known is None:
                known = strict.plain(self._find(index))
                self.memo.put(name, known)
            self._last = (name, known)
        return self._last[1]

    def _find(self, index: Index) -> dict[str, Any]:
        import numpy as np

        graph = index.graph()
        allowed = index.allowed(_SHOWN, self.searcher.clock.today())
        visible = np.ones(index.size, np.bool_) if allowed is None else allowed
        owners = np.repeat(np.arange(len(graph.keys)), np.diff(graph.chunk_start))
        seen = np.bincount(owners, visible[graph.chunks], minlength=len(graph.keys)) > 0
        membership, method = communities.detect(graph, seen)
        count = min(communities.MOST, int(membership.max(initial=-1)) + 1)
        made = [self._community(index, n, np.flatnonzero(membership == n), visible) for n in range(count)]
        quality = round(communities.modularity(graph, membership), 6)
        return {"method": method, "modularity": quality, "membership": membership.tolist(), "communities": made}

    def _community(self, index: Index, number: int, members: np.ndarray, visible: np.ndarray) -> Community:
        graph = index.graph()
        found = communities.material(graph, members, visible)
        labels = [graph.labels[entity] for entity in found.entities]
        titles = [index.documents[n].title for n in found.documents]
        passages = [index.excerpt(chunk) for chunk in found.chunks]
        if index.profile.graph == "llm":
            summary, by = communities.by_model(self.searcher.models.llm(), labels, titles, passages)
        else:
            summary, by = communities.by_rules(labels, titles, passages), "rules"
        docs = tuple(index.documents[n].doc for n in found.documents)
        return Community(number, len(members), tuple(labels), docs, summary, by)


def as_json(found: tuple[tuple[Community, float], ...]) -> list[dict[str, Any]]:
    """The contract of `graph communities --query --json`."""
    return [{**strict.plain(community), "score": round(score, 6)} for community, score in found]
