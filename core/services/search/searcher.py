"""The search that pages, playground, evaluation, API and CLI share."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from core import strict
from core.access import ALREADY_CHECKED, ANYONE, use_case
from core.errors import BadInput, ConcordError, NotFound, Unavailable
from core.ports import Index, Llm, Models, Reranker
from core.retrieval import config as configs
from core.retrieval import pipeline
from core.retrieval.alpha import ALPHAS
from core.retrieval.cache import QueryCache
from core.retrieval.candidates import Candidates
from core.retrieval.legs.several_embedders import apart
from core.retrieval.method_values import AlphaModel, LegScores, RankerModel
from core.retrieval.methods import AlphaTools, LegWeights
from core.retrieval.pipeline import SearchContext
from core.retrieval.query_rules import QueryRules
from core.retrieval.rerankers import RERANKERS
from core.retrieval.rerankers.learned import RANKER
from core.retrieval.scaling import leg_weights
from core.retrieval.trace import Trace
from core.retrieval.trained import TrainedModels
from core.services.search.pending import sentence
from core.services.search.spelling import Speller, unknown_words
from core.types import DocumentFacts, Filters, Frozen, Generation, Hit, Pending, Profile, Result, SearchConfig

if TYPE_CHECKING:
    import numpy as np

    from core.services.platform.base import Base
    from core.services.search.as_of import PastIndex

CHANGE = "@"  # between a profile and the number of a change
RERANKER = "ms-marco-minilm-l12-int8"


@dataclass(frozen=True, slots=True)
class LearnedModels:
    """What was trained here and a search uses."""

    alphas: TrainedModels[AlphaModel] | None = None
    rankers: TrainedModels[RankerModel] | None = None


@dataclass(frozen=True, slots=True)
class OtherStates:
    """States beside the one that serves: as an open change would leave it, and as it was on an earlier day."""

    proposed: Callable[[int, Profile], Index] | None = None
    past: Callable[[str, Profile], PastIndex] | None = None


PASSAGES = 20  # of an everyday search


@dataclass(frozen=True, slots=True)
class EverydaySearch:
    """What the production configuration answers, and the open generation it was asked of."""

    index: Index
    day: date | None
    config: SearchConfig
    result: Result

    def facts(self, hit: Hit) -> DocumentFacts:
        """The document of a hit."""
        chunk = self.index.number(hit.chunk)
        if chunk is None:
            raise NotFound(f"There is no passage {hit.chunk}. Search again.")
        return self.index.documents[self.index.document_of(chunk)]


class Searcher:
    """Searches the serving generation of a profile."""

    def __init__(
        self,
        base: Base,
        models: Models,
        learned: LearnedModels = LearnedModels(),
        elsewhere: OtherStates = OtherStates(),
        caveat: Callable[[str, str, str], str] = lambda model, server, purpose: "",
        pending: Callable[[Generation], Pending | None] = lambda generation: None,
    ) -> None:
        """`caveat` speaks of models that are unfit, `pending` says how far the vectors of a generation are. Synonyms
        and pins are those of the generation that is searched."""
        self._rules, self._speller, self._documents = base.rule_files.rules, Speller(), base.documents
        self.readership = base.documents.readership
        self.generations, self.team_settings, self.clock = base.generations, base.team_settings, base.clock
        self.models, self.alphas, self.rankers = models, learned.alphas, learned.rankers
        self.proposed = elsewhere.proposed
        self.past = elsewhere.past
        self._pending = pending
        self._caveat = caveat
        self.query_vector = lru_cache(maxsize=1024)(self._embed_query)
        self._passage = lru_cache(maxsize=256)(self._embed_passage)

    @use_case(ANYONE)
    def search(
        self,
        query: str,
        *,
        profile: str = "",
        config: SearchConfig | None = None,
        filters: Filters = Filters(),
        k: int = 0,
        as_of: str = "",
    ) -> Result:
        """Answer a query; profile and configuration default to those in production. `as_of` a day or a commit, the
        documents of then answer, in the configuration of today."""
        production = self.team_settings.production()
        config = config or production.config
        if k:
            config = replace(config, k=k, depth=max(config.depth, k))
        chosen = self.team_settings.profile(profile) if profile else production.profile
        index, day = self.opened(chosen, as_of)
        return judged(self.found_in(index, query, config, filters, day=day), production.threshold)

    @use_case(ANYONE)
    def everyday(self, query: str, filters: Filters = Filters(), k: int = PASSAGES, as_of: str = "") -> EverydaySearch:
        """Search as people do: in production's configuration, with notes about pins and missing words."""
        production = self.team_settings.production()
        index, day = self.opened(production.profile, as_of)
        config = replace(production.config, k=k, depth=max(k, production.config.depth))
        found = judged(self.found_in(index, query, config, filters, day=day), production.threshold)
        return EverydaySearch(index, day, config, self.told(index, found))

    @use_case(ANYONE)
    def opened(self, profile: Profile, as_of: str = "") -> tuple[Index, date | None]:
        """The serving generation of a profile, or the one of an earlier state and the day it is looked at from."""
        if not as_of:
            return self.generations.open(profile, words=True), None
        if self.past is None:
            raise Unavailable("Only the documents of now can be searched here.")
        past = self.past(as_of, profile)
        if (
            as_of == str(past.moment.day) and past.moment.day > self.clock.today()
        ):  # a commit has been, whatever its clock says
            raise BadInput(
                f"{past.moment.day} is in the future. Name a day that has been, such as {self.clock.today()}."
            )
        return past.index, past.moment.day

    @use_case(ANYONE)
    def index(self, profile: str = "", *, words: bool = False) -> Index:
        """The serving generation of a profile; `NAME@7` is the profile as change 7 would leave it. `words`: vectors
        are not needed.
        """
        name, _, change = profile.partition(CHANGE)
        chosen = self.team_settings.profile(name)
        if self.proposed and change.isdecimal() and len(change) < 10:
            return self.proposed(int(change), chosen)
        if change:
            raise BadInput(f"{profile!r} names no profile. With a change it is written NAME{CHANGE}NUMBER.")
        return self.generations.open(chosen, words=words)

    def search_in(
        self,
        index: Index,
        query: str,
        config: SearchConfig,
        filters: Filters = Filters(),
        cache: QueryCache | None = None,
        day: date | None = None,
    ) -> Result:
        """Answer a query from an open generation; a cache saves the legs and models a second run. `day` is the earlier
        one that is asked about."""
        found = self.found_in(index, query, config, filters, cache, day)
        return judged(found, self.team_settings.confidence().threshold)

    def found_in(
        self,
        index: Index,
        query: str,
        config: SearchConfig,
        filters: Filters = Filters(),
        cache: QueryCache | None = None,
        day: date | None = None,
    ) -> Result:
        """The same for who has the threshold of confidence at hand: to read it costs a look at the settings. Where
        vectors are pending, words alone are searched, and the result says so."""
        pending = None
        if index.generation.pending and configs.embeds(config):
            pending, config = self._pending(index.generation), configs.by_words(config)
        result = pipeline.search(query, config, index, self.ask(index, config, filters, cache, day=day))
        warnings = (*result.warnings, *self._caveats(config))
        return replace(result, warnings=warnings, as_of=day.isoformat() if day else "", pending=pending)

    def _caveats(self, config: SearchConfig) -> list[str]:
        """One sentence for each use of a language model that was found unfit and is allowed all the same."""
        with suppress(Unavailable, BadInput):
            uses = self.model_uses(config)
            llm = self.llm(config) if uses else None
            return [said for use in uses if llm and (said := self._caveat(llm.name, llm.server, use))]
        return []

    def ask(
        self,
        index: Index,
        config: SearchConfig,
        filters: Filters = Filters(),
        cache: QueryCache | None = None,
        *,
        timed: bool = False,
        day: date | None = None,
    ) -> SearchContext:
        """What a search may use besides the index. `timed` embeds the query anew, so that its time is real."""
        embed = partial(self._embed_query if timed or cache else self.query_vector, index.profile)
        return SearchContext(
            embed=(lambda text: cache.vector(text, embed)) if cache else embed,
            reranker=lambda: self._reranker(config, cache),
            llm=lambda: self.llm(config),
            embed_passage=lambda text: self._passage(index.profile, text),
            weigh=lambda seen, config: self.weigh(index, seen, config),
            filters=filters,
            today=day or self.clock.today(),
            open_leg=cache.open_leg if cache else pipeline.open_leg,
            prompt=self.team_settings.prompt,
            rules=self.rules(index),
            ranker=partial(self.ranker, index),
        )

    def rules(self, index: Index) -> QueryRules:
        """The synonyms and pins that a generation is searched with."""
        return self._rules(index.generation.commit, index.profile.lexical)

    @use_case(ALREADY_CHECKED)
    def told(self, index: Index, result: Result) -> Result:
        """A result with what was only imported, and in doubt with the words that no document uses, unless they are
        misspelt.
        """
        imported = self._documents.imported()
        result = replace(result, hits=tuple(_marked(hit, imported) for hit in result.hits)) if imported else result
        if result.fits:
            return result
        allowed = index.allowed(Filters(), self.clock.today())
        result = self._as_meant(index, result, allowed)
        return replace(result, missing=self._speller.missing(result.query, result.also, index, allowed))

    def _as_meant(self, index: Index, result: Result, allowed: np.ndarray | None) -> Result:
        """With the confidence of the nearest spelling, where that finds the same document first: a slip is no doubt."""
        config = replace(result.config, rerank="off")
        unknown, _ = unknown_words(result.query, index)
        if not unknown or not result.hits or self.model_uses(config):
            return result
        day = date.fromisoformat(result.as_of) if result.as_of else None
        for query in self._speller.suggestions(result.query, unknown, index, allowed)[:1]:
            meant = self.search_in(index, query, config, day=day)
            if meant.hits and meant.hits[0].doc == result.hits[0].doc and meant.confidence > result.confidence:
                return replace(result, confidence=meant.confidence, fits=meant.fits)
        return result

    @use_case(ALREADY_CHECKED)
    def suggestions(self, index: Index, result: Result) -> tuple[str, ...]:
        """Better spellings of a query whose results are poor: a word that no document uses, and doubt or few others."""
        unknown, words = unknown_words(result.query, index)
        if not unknown or (len(unknown) * 3 < words and result.fits):
            return ()
        return self._speller.suggestions(result.query, unknown, index, index.allowed(Filters(), self.clock.today()))

    def candidates(
        self,
        index: Index,
        query: str,
        config: SearchConfig,
        filters: Filters = Filters(),
        cache: QueryCache | None = None,
    ) -> Candidates:
        """What the legs retrieve, before ranking."""
        return pipeline.gather(query, config, index, self.ask(index, config, filters, cache), Trace())

    def weigh(self, index: Index, seen: LegScores, config: SearchConfig) -> LegWeights:
        """The weights of the legs for a query, from the source of alpha that the configuration names."""
        weigh = ALPHAS[config.alpha_from].weigh
        if weigh is None:
            return LegWeights(leg_weights(config), f"alpha {config.alpha:g}, fixed")
        return weigh(seen, config, self.weighers(index))

    def weighers(self, index: Index) -> AlphaTools:
        """The models that can weigh the legs for a query in a generation."""
        return AlphaTools(
            models=self.alphas,
            llm=self.models.llm,
            embed=lambda text: self.query_vector(replace(index.profile, combine="concatenation"), text),
            profile=index.generation.digest,
        )

    def ranker(self, index: Index, config: SearchConfig) -> RankerModel:
        """The learned ranker that a configuration names, if it was trained for this way of searching."""
        if self.rankers is None:
            raise Unavailable("no learned ranker is at hand.")
        model = self.rankers.model(config.rerank_model)
        RANKER.check_purpose(model, config, index.generation.digest)
        return model

    def models_used(self, profile: Profile, config: SearchConfig) -> tuple[str, ...]:
        """The names of the models that such a search depends on."""
        kinds = set(RERANKERS[config.reranker].asks) if config.rerank != "off" else set()
        kinds |= set(ALPHAS[config.alpha_from].asks)
        if configs.imagines(config):
            kinds.add("llm")
        names = [profile.embedder, *profile.embedders] if configs.embeds(config) else []
        if "reranker" in kinds:
            names.append(_cross_encoder(config))
        if "ranker" in kinds and self.rankers and config.rerank_model:
            with suppress(ConcordError):  # the search warns that it went without
                names.append(f"{config.rerank_model} {strict.digest(self.rankers.model(config.rerank_model))}")
        if "llm" in kinds:
            with suppress(Unavailable):  # the search warns that it went without
                names.append(self.llm(config).name)
        return tuple(names)

    def _reranker(self, config: SearchConfig, cache: QueryCache | None) -> Reranker:
        name = _cross_encoder(config)
        load = partial(self.models.reranker, name)
        return cache.reranker(name, load) if cache else load()

    def model_uses(self, config: SearchConfig) -> tuple[str, ...]:
        """What such a search asks a language model for."""
        purpose = RERANKERS[config.reranker].purpose if config.rerank != "off" else ""
        weights = "weights" if "llm" in ALPHAS[config.alpha_from].asks else ""
        return tuple(filter(None, (purpose, weights, "hyde" if configs.imagines(config) else "")))

    def llm(self, config: SearchConfig) -> Llm:
        """The language model of a configuration; `rerank_model` names it unless that is a cross-encoder."""
        return self.models.llm(config.rerank_model if "llm" in RERANKERS[config.reranker].asks else "")

    def _embed_query(self, profile: Profile, text: str) -> np.ndarray:
        """The vector of a query; one row per embedder where their ranks are fused."""
        embedder = self.models.of(profile)
        if embedder.parts and profile.combine == "rrf":
            return apart([part.query(text) for part in embedder.parts])
        return embedder.query(text)

    def _embed_passage(self, profile: Profile, text: str) -> np.ndarray:
        row: np.ndarray = self.models.of(profile).documents([text])[0]
        return row


def judged(found: Result, threshold: float) -> Result:
    """What was found, with whether it is enough."""
    return replace(found, fits=found.confidence >= threshold)


def _cross_encoder(config: SearchConfig) -> str:
    """The cross-encoder of a configuration; a cascade's `rerank_model` names its language model instead."""
    own = config.rerank_model if RERANKERS[config.reranker].asks == ("reranker",) else ""
    return own or RERANKER


def _marked(hit: Hit, imported: Container[str]) -> Hit:
    if hit.doc not in imported or hit.status != "approved":
        return hit
    return replace(hit, imported=True, further=tuple(_marked(passage, imported) for passage in hit.further))


def as_json(result: Result, suggestions: Sequence[str] = ()) -> dict[str, Any]:
    """The contract of `search --json`, with records where `strict.plain` makes JSON: whoever writes much encodes them
    as they are.
    """
    return {
        "query": result.query,
        "profile": result.profile,
        "generation": result.generation,
        "commit": result.commit,
        "config": _config_json(result.config),
        "confidence": round(result.confidence, 4),
        "fits": result.fits,
        "hits": result.hits,
        "stages": result.stages,
        "warnings": list(result.remarks),
        "also": list(result.also),
        "missing": list(result.missing),
        "suggestions": list(suggestions),
        "as_of": result.as_of,
        "pending": pending_json(result.pending),
    }


def pending_json(pending: Pending | None) -> dict[str, Any] | None:
    """Why words alone were searched, and for how long; None where everything was."""
    return {**strict.plain(pending), "message": sentence(pending)} if pending else None


@lru_cache(maxsize=32)
def _config_json(config: SearchConfig) -> Frozen:
    """A configuration after its name; finding that takes as long as encoding a hit."""
    return Frozen({"name": configs.name(config), **strict.plain(config)})
