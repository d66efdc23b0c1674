"""Communities of a generation: computed when first asked for, cached, and searched for questions about the whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from core import strict
from core.access import READS, Actor, use_case
from core.graph import communities
from core.graph.communities import Community
from core.ports import Index
from core.retrieval.pipeline import check_query
from core.services.index.embedding import embed_texts
from core.services.models.call_estimates import CallEstimate, CallEstimator
from core.services.search.searcher import Searcher
from core.types import Filters

if TYPE_CHECKING:
    import numpy as np

    from core.storage.cache.memo import JsonCache
    from core.storage.cache.vectors import EmbeddingCache

_SHOWN = Filters(statuses=("approved",), history=True)  # what summaries may tell


class Communities:
    """The communities of the serving generation."""

    def __init__(
        self, searcher: Searcher, cache: EmbeddingCache, memo: JsonCache, estimator: CallEstimator | None = None
    ) -> None:
        self.searcher = searcher
        self.cache = cache
        self.memo = memo
        self.estimator = estimator
        self._last: tuple[str, Any] = ("", None)

    @use_case("explore the graph", READS)
    def all(self, actor: Actor, profile: str = "") -> tuple[Community, ...]:
        """Communities with their summaries, the largest first."""
        rows = self.cached(self.searcher.index(profile, words=True))["communities"]
        return tuple(strict.parse(Community, row, "community") for row in rows)

    @use_case("explore the graph", READS)
    def global_search(
        self, actor: Actor, query: str, k: int = 5, profile: str = ""
    ) -> tuple[tuple[Community, float], ...]:
        """Communities by the cosine of their summary to the query."""
        import numpy as np

        query, known = check_query(query), self.all(actor, profile)
        if not known:
            return ()
        embedder = self.searcher.models.of(self.searcher.index(profile, words=True).profile)
        vectors, _ = embed_texts(embedder, self.cache, [community.summary for community in known])
        scores = (vectors.astype(np.float64) * embedder.query(query).astype(np.float64)).sum(axis=1)
        order = np.lexsort((np.arange(len(known)), -scores))[:k]
        return tuple((known[n], float(scores[n])) for n in order.tolist())

    @use_case("explore the graph", READS)
    def estimate(self, actor: Actor, profile: str = "") -> tuple[CallEstimate, ...]:
        """What a language model would be asked for the summaries; nothing where they are by rules, or kept already."""
        index = self.searcher.index(profile, words=True)
        if self.estimator is None or index.profile.graph != "llm" or self.memo.get(_name(index)) is not None:
            return ()
        membership, visible = self._membership(index)
        tasks = [
            communities.task(*self._material(index, members, visible)[:3]) for members in self._members(membership)
        ]
        row = self.estimator.of(tasks, (len(tasks), len(tasks)))
        return (row,) if row else ()

    def cached(self, index: Index) -> Any:
        """The communities of a generation: from memory, from the disk cache, or computed now."""
        name = _name(index)
        if self._last[0] != name:
            cached = self.memo.get(name)
            if cached is None:
                cached = strict.plain(self._find(index))
                self.memo.put(name, cached)
            self._last = (name, cached)
        return self._last[1]

    def _find(self, index: Index) -> dict[str, Any]:
        membership, visible = self._membership(index)
        groups = enumerate(self._members(membership))
        summarised = [self._community(index, n, members, visible) for n, members in groups]
        quality = round(communities.modularity(index.graph(), membership), 6)
        return {"modularity": quality, "membership": membership.tolist(), "communities": summarised}

    def _members(self, membership: np.ndarray) -> list[np.ndarray]:
        """The entities of each community that is summarised, the largest first."""
        import numpy as np

        count = min(communities.MOST, int(membership.max(initial=-1)) + 1)
        return [np.flatnonzero(membership == n) for n in range(count)]

    def _membership(self, index: Index) -> tuple[np.ndarray, np.ndarray]:
        """The community of each entity, and which chunks may be told of."""
        import numpy as np

        graph = index.graph()
        allowed = index.allowed(_SHOWN, self.searcher.clock.today())
        visible = np.ones(index.size, np.bool_) if allowed is None else allowed
        owners = np.repeat(np.arange(len(graph.keys)), np.diff(graph.chunk_start))
        seen = np.bincount(owners, visible[graph.chunks], minlength=len(graph.keys)) > 0
        return communities.detect(graph, seen), visible

    def _material(
        self, index: Index, members: np.ndarray, visible: np.ndarray
    ) -> tuple[list[str], list[str], list[str], tuple[str, ...]]:
        """Labels, titles and passages that a summary is made from, and the documents they come from."""
        graph = index.graph()
        material = communities.material(graph, members, visible)
        labels = [graph.labels[entity] for entity in material.entities]
        titles = [index.documents[n].title for n in material.documents]
        passages = [index.excerpt(chunk) for chunk in material.chunks]
        return labels, titles, passages, tuple(index.documents[n].doc for n in material.documents)

    def _community(self, index: Index, number: int, members: np.ndarray, visible: np.ndarray) -> Community:
        labels, titles, passages, docs = self._material(index, members, visible)
        if index.profile.graph == "llm":
            summary, by = communities.by_model(self.searcher.models.llm(), labels, titles, passages)
        else:
            summary, by = communities.by_rules(labels, titles, passages), "rules"
        return Community(number, len(members), tuple(labels), docs, summary, by)


def _name(index: Index) -> str:
    """What the communities of a generation are kept under."""
    reduced = f"-{strict.digest(sorted(index.gone))}" if index.gone else ""
    return f"{index.generation.digest}-{index.generation.commit}-{communities.VERSION}{reduced}"


def as_json(scored: tuple[tuple[Community, float], ...]) -> list[dict[str, Any]]:
    """The contract of `graph communities --query --json`."""
    return [{**strict.plain(community), "score": round(score, 6)} for community, score in scored]
