"""Search: the one way in for pages, playground, evaluation, API and CLI."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from core import profiles, strict
from core.errors import Unavailable
from core.ports import Clock, Index, Llm, Models
from core.retrieval import pipeline, weighing
from core.retrieval.alpha import AlphaModels
from core.retrieval.candidates import Candidates, Fused
from core.retrieval.combining import apart
from core.retrieval.config import name as config_name
from core.retrieval.hyde import Embed
from core.retrieval.trace import Trace
from core.services.platform.settings import TeamSettings
from core.types import Filters, Profile, Result, SearchConfig

if TYPE_CHECKING:
    import numpy as np

    from core.adapters.index.generations import Generations

RERANKER = "ms-marco-minilm-l12-int8"


class Searcher:
    """Searches the serving generation of a profile."""

    def __init__(
        self,
        generations: Generations,
        models: Models,
        team_settings: TeamSettings,
        clock: Clock,
        alphas: AlphaModels | None = None,
    ) -> None:
        self.generations, self.models, self.team_settings, self.clock = generations, models, team_settings, clock
        self.alphas = alphas
        self._vector = lru_cache(maxsize=1024)(self._embed)
        self._passage = lru_cache(maxsize=256)(self._embed_passage)

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
            production = self.team_settings.production()
            profile, config = profile or production.profile.name, config or production.config
        if k:
            config = replace(config, k=k, depth=max(config.depth, k))
        return self.search_in(self.index(profile), query, config, filters)

    def index(self, profile: str = "") -> Index:
        """The serving generation of a profile."""
        return self.generations.open(self.team_settings.profile(profile))

    def search_in(self, index: Index, query: str, config: SearchConfig, filters: Filters = Filters()) -> Result:
        """Answer a query from a generation that is already open."""
        own = config.rerank_model if config.reranker == "cross-encoder" else ""
        return pipeline.search(
            query,
            config,
            index,
            embed=lambda text: self._vector(profiles.dense(index.profile), text, index.profile.combine),
            reranker=lambda: self.models.reranker(own or RERANKER),
            filters=filters,
            today=self.clock.today(),
            llm=partial(self._llm, config),
            embed_passage=self._imagining(index),
            balance=lambda seen, wanted: weighing.balance(seen, wanted, self.weighers(index)),
        )

    def weighers(self, index: Index) -> weighing.Weighers:
        """Who can be asked for the weights of a query in a generation."""
        return weighing.Weighers(
            models=self.alphas,
            llm=self.models.llm,
            embed=lambda text: self._vector(profiles.dense(index.profile), text, "concatenation"),
            profile=index.generation.digest,
        )

    def documents_near(
        self, index: Index, query: str, config: SearchConfig, filters: Filters = Filters()
    ) -> tuple[int, ...]:
        """The documents that any leg retrieves, without ranking them."""
        bare = replace(config, missing="absent")
        return pipeline.documents_near(index, self.candidates(index, query, bare, filters))

    def candidates(
        self,
        index: Index,
        query: str,
        config: SearchConfig,
        filters: Filters = Filters(),
        trace: Trace | None = None,
    ) -> Candidates:
        """What the legs find, before fusion. With a trace the query is embedded anew, so that times are true."""
        query, allowed = pipeline.check_query(query), index.allowed(filters, self.clock.today())
        vector = self._vector if trace is None else self._embed
        plain = lambda text: vector(profiles.dense(index.profile), text, index.profile.combine)
        trace = trace or Trace()
        llm = partial(self._llm, config)
        embed = pipeline.embedding(query, config, plain, self._imagining(index), llm, trace)
        return pipeline.gather(query, config, index, embed, allowed, trace)

    def weighed(self, index: Index, query: str, found: Candidates, config: SearchConfig, trace: Trace) -> SearchConfig:
        """The configuration with this query's own weights, where it asks for them."""
        balance = lambda seen, wanted: weighing.balance(seen, wanted, self.weighers(index))
        return pipeline.weigh(query, found, config, balance, trace)[0]

    def reranked(self, index: Index, query: str, fused: Fused, config: SearchConfig, trace: Trace) -> list[int]:
        """The final order of a fused ranking."""
        own = config.rerank_model if config.reranker == "cross-encoder" else ""
        allowed = index.allowed(Filters(), self.clock.today())
        done = pipeline.reranked(
            query,
            fused,
            config,
            index,
            allowed,
            lambda: self.models.reranker(own or RERANKER),
            partial(self._llm, config),
            trace,
        )
        return done.order(fused.ranking)

    def asked(self, profile: Profile, config: SearchConfig) -> tuple[str, ...]:
        """The models that such a search asks, by name; another one may find something else."""
        reads = config.rerank != "off"
        found = [profile.embedder] if {"dense", "graph"}.intersection(config.legs) else []
        if reads and config.reranker in ("cross-encoder", "cascade"):
            found.append(
                config.rerank_model if config.reranker == "cross-encoder" and config.rerank_model else RERANKER
            )
        imagines = config.hyde and "dense" in config.legs
        if (reads and config.reranker != "cross-encoder") or imagines or config.alpha_from == "llm":
            with suppress(Unavailable):  # then the search says that it went without
                found.append(self._llm(config).name)
        return tuple(found)

    def _llm(self, config: SearchConfig) -> Llm:
        """The language model of a configuration; `rerank_model` names it unless that is a cross-encoder."""
        return self.models.llm("" if config.reranker == "cross-encoder" else config.rerank_model)

    def _imagining(self, index: Index) -> Embed:
        """How HyDE embeds the passage that it imagined."""
        return lambda text: self._passage(profiles.dense(index.profile), text)

    def _embed(self, name: str, text: str, combine: str) -> np.ndarray:
        """The vector of a question; one row per embedder where their ranks vote."""
        embedder = self.models.embedder(name)
        parts = getattr(embedder, "parts", ())
        return apart([part.query(text) for part in parts]) if parts and combine == "rrf" else embedder.query(text)

    def _embed_passage(self, embedder: str, text: str) -> np.ndarray:
        row: np.ndarray = self.models.embedder(embedder).documents([text])[0]
        return row


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
