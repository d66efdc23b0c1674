"""Search: the one way in for pages, playground, evaluation, API and CLI."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from core import strict
from core.ports import Clock, Index, Models, Shelf
from core.retrieval import pipeline, weighing
from core.retrieval.alpha import AlphaModels
from core.retrieval.config import name as config_name
from core.services.preferences import Preferences
from core.types import Filters, Result, SearchConfig

if TYPE_CHECKING:
    import numpy as np

RERANKER = "ms-marco-minilm-l12-int8"


class Searching:
    """Searches the serving generation of a profile."""

    def __init__(
        self,
        shelf: Shelf,
        models: Models,
        preferences: Preferences,
        clock: Clock,
        alphas: AlphaModels | None = None,
    ) -> None:
        self.shelf, self.models, self.preferences, self.clock = shelf, models, preferences, clock
        self.alphas = alphas
        self._vector = lru_cache(maxsize=1024)(self._embed)

    def search(
        self,
        query: str,
        *,
        profile: str = "",
        config: SearchConfig | None = None,
        filters: Filters = Filters(),
        k: int = 0,
    ) -> Result:
        """Answer a query; without a profile or configuration, with those in production."""
        if not profile or config is None:
            production = self.preferences.production()
            profile, config = profile or production.profile.name, config or production.config
        if k:
            config = replace(config, k=k, depth=max(config.depth, k))
        return self.search_in(self.index(profile), query, config, filters)

    def index(self, profile: str = "") -> Index:
        """The serving generation of a profile."""
        return self.shelf.open(self.preferences.profile(profile))

    def search_in(self, index: Index, query: str, config: SearchConfig, filters: Filters = Filters()) -> Result:
        """Answer a query from a generation that is already open."""
        embedder = index.profile.embedder
        return pipeline.search(
            query,
            config,
            index,
            embed=lambda text: self._vector(embedder, text),
            reranker=lambda: self.models.reranker(RERANKER),
            filters=filters,
            today=self.clock.today(),
            balance=lambda seen, wanted: weighing.balance(seen, wanted, self.weighers(index)),
        )

    def weighers(self, index: Index) -> weighing.Weighers:
        """Who can be asked for the weights of a query in a generation."""
        embedder = index.profile.embedder
        return weighing.Weighers(
            models=self.alphas,
            llm=self.models.llm,
            embed=lambda text: self._vector(embedder, text),
            profile=index.generation.digest,
        )

    def documents_near(
        self, index: Index, query: str, config: SearchConfig, filters: Filters = Filters()
    ) -> tuple[int, ...]:
        """The documents that any leg retrieves, without ranking them."""
        allowed = index.allowed(filters, self.clock.today())
        embed = lambda text: self._vector(index.profile.embedder, text)
        bare = replace(config, missing="absent")
        found = pipeline.gather(pipeline.check_query(query), bare, index, embed, allowed, pipeline.Trace())
        return pipeline.documents_near(index, found)

    def candidates(
        self, index: Index, query: str, config: SearchConfig, filters: Filters, trace: pipeline.Trace
    ) -> pipeline.Candidates:
        """What the legs find, for whoever fuses it many times; the query is embedded anew, so that times are true."""
        allowed = index.allowed(filters, self.clock.today())
        embed = lambda text: self._embed(index.profile.embedder, text)
        return pipeline.gather(pipeline.check_query(query), config, index, embed, allowed, trace)

    def weighed(
        self, index: Index, query: str, found: pipeline.Candidates, config: SearchConfig, trace: pipeline.Trace
    ) -> SearchConfig:
        """The configuration with this query's own weights, where it asks for them."""
        balance = lambda seen, wanted: weighing.balance(seen, wanted, self.weighers(index))
        return pipeline.weigh(query, found, config, balance, trace)[0]

    def reranked(
        self, index: Index, query: str, fused: pipeline.Fused, config: SearchConfig, trace: pipeline.Trace
    ) -> list[int]:
        """The final order of a fused ranking."""
        return pipeline.rerank(query, fused, config, index, lambda: self.models.reranker(RERANKER), trace)[0]

    def _embed(self, embedder: str, text: str) -> np.ndarray:
        return self.models.embedder(embedder).query(text)


def as_json(result: Result) -> dict[str, Any]:
    """The contract of `search --json`."""
    return {
        "query": result.query,
        "profile": result.profile,
        "generation": result.generation,
        "commit": result.commit,
        "config": {"name": config_name(result.config), **strict.plain(result.config)},
        "hits": [strict.plain(hit) for hit in result.hits],
        "stages": [strict.plain(stage) for stage in result.stages],
        "warnings": list(result.warnings),
    }
