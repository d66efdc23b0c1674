"""What the legs of a generation retrieve for a query: searched once, cached, and ranked as often as needed."""

from __future__ import annotations

import json
import threading
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from core import profiles, strict
from core.curation.document.questions import same_form
from core.evaluation.measures.by_name import READ
from core.ports import Index, Reranker
from core.retrieval import config as configs
from core.retrieval import pipeline
from core.retrieval.candidates import Candidates, stored
from core.retrieval.trace import Trace
from core.services.models.ledger import tally
from core.services.search.searcher import Searcher
from core.types import NOTHING, Filters, Hit, SearchConfig, Stage

if TYPE_CHECKING:
    from core.storage.state.database import State

KEEP = 200  # chunks of a ranking that are stored: enough for a hundred documents of two chunks
SLICE = 20  # queries between two saves: the most that a kill can lose
KnownScores = Callable[[str, str, Sequence[str]], tuple[list[float], float] | None]
_EMBEDDING = ("embed", "hyde")  # stages that give legs the vector of the query


@dataclass(frozen=True, slots=True)
class RankedQuestion:
    """A query under a configuration: chunks in order with their fused scores, milliseconds per stage, dollars.

    `texts` are the first passages where parents are returned instead of chunks; `copies` holds chunks of the order with
    those that are named with them.
    """

    chunks: tuple[int, ...]
    scores: tuple[float, ...]
    confidence: float  # the best fused score, as a share of the highest possible
    ms: Mapping[str, float]
    warnings: tuple[str, ...] = ()
    cost: float = 0.0
    texts: tuple[str, ...] = ()
    tokens: int = 0
    copies: tuple[tuple[int, ...], ...] = ()
    chance: float | None = None  # that the first hit of the fusion answers; unknown of those stored before it was


@dataclass(frozen=True, slots=True)
class Gathered:
    """Candidates with the milliseconds and dollars that gathering them took."""

    candidates: Candidates
    ms: Mapping[str, float]
    warnings: tuple[str, ...] = ()
    cost: float = 0.0
    tokens: int = 0


class RankingCache:
    """Results by (search, query) in the database; written in batches, so that a kill loses few."""

    def __init__(self, database: State, search: str) -> None:
        self.database, self.search = database, search
        self._new: dict[str, bytes] = {}

    def all(self) -> dict[str, Any]:
        """Every stored result of this search, by query."""
        packed = self.database.rankings.of(self.search)
        return {query: json.loads(zlib.decompress(result)) for query, result in packed.items()}

    def put(self, query: str, value: Any) -> None:
        """Store a result with the next batch."""
        self._new[query] = zlib.compress(json.dumps(value, separators=(",", ":")).encode(), 6)
        if len(self._new) >= SLICE:
            self.save()

    def save(self) -> None:
        self.database.rankings.keep(self.search, self._new)
        self._new = {}


class ReadOnce:
    """A cross-encoder that reads a list once, and one list at a time: what it took is what it takes alone."""

    def __init__(self, known: KnownScores = lambda model, query, texts: None) -> None:
        """`known` has scores that were made before, with the milliseconds that they took."""
        self._lock, self._known = threading.Lock(), known
        self._read: dict[tuple[Any, ...], tuple[list[float], float]] = {}
        self.elsewhere = False  # whether scores were taken that another machine may have made

    def of(self, model: Reranker, spent: list[float]) -> Reranker:
        """The model; `spent` gets the milliseconds of every list."""
        return _TimedReader(model, self._read, self._lock, spent, self._known_once)

    def _known_once(self, model: str, query: str, texts: Sequence[str]) -> tuple[list[float], float] | None:
        known = self._known(model, query, texts)
        self.elsewhere |= known is not None
        return known


class _TimedReader:
    """One cross-encoder, for one query."""

    def __init__(
        self, model: Reranker, read: dict[Any, Any], lock: threading.Lock, spent: list[float], known: KnownScores
    ) -> None:
        self.name = model.name
        self.model = model
        self.read = read
        self.lock = lock
        self.spent = spent
        self.known = known

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        key = (self.name, query, *texts)
        with self.lock:
            if key not in self.read:
                self.read[key] = self.known(self.name, query, texts) or self._timed(query, texts)
        scores: list[float] = self.read[key][0]
        self.spent.append(self.read[key][1])
        return scores

    def _timed(self, query: str, texts: Sequence[str]) -> tuple[list[float], float]:
        started = time.perf_counter()
        return self.model.scores(query, texts), 1000.0 * (time.perf_counter() - started)

    def cuts(self, query: str, texts: Sequence[str]) -> int:
        return self.model.cuts(query, texts)


class CandidateCache:
    """What the legs of one generation retrieve to one depth: gathered once per query, then ranked from the cache.

    With `hyde` the dense leg sees a passage that would answer the query.
    """

    def __init__(
        self,
        searcher: Searcher,
        database: State,
        index: Index,
        config: SearchConfig,
        reader: ReadOnce | None = None,
    ) -> None:
        self.searcher, self.index, self.reader = searcher, index, reader or ReadOnce()
        self._lock = threading.Lock()
        legs, hyde = tuple(sorted(config.legs)), configs.imagines(config)
        self.config = SearchConfig(
            legs=legs,
            depth=config.depth,
            fusion="convex" if len(legs) > 1 else "single",
            hyde=hyde,
            engines=config.engines,
            fields=config.fields if "bm25" in legs else NOTHING,
            documents=config.documents,
            synonyms=config.synonyms,
        )
        shape = [generation_key(searcher, index), list(legs), config.depth]
        shape += searcher.models_used(index.profile, self.config) if hyde else ()
        shape += [dict(config.engines)] if config.engines else ()
        shape += [{"fields": dict(self.config.fields)}] if self.config.fields else ()
        shape += ["listed without answers"] if self.config.fields.get("answers") else ()
        shape += ["documents"] if config.documents else ()
        shape += [] if config.synonyms else ["no synonyms"]
        self._saved = RankingCache(database, "legs-" + strict.digest(shape, 16))
        self._known = {query: _gathered(query, raw) for query, raw in self._saved.all().items()}

    def serves(self, config: SearchConfig) -> bool:
        """Whether a configuration can be ranked from this cache; a single leg also from a pair of the same depth."""
        legs = tuple(sorted(config.legs))
        alike = legs == self.config.legs or (len(legs) == 1 and legs[0] in self.config.legs)
        fields = config.fields if "bm25" in config.legs else NOTHING
        same = (config.depth, configs.imagines(config), config.engines, config.documents, config.synonyms)
        own = (self.config.depth, self.config.hyde, self.config.engines, self.config.documents, self.config.synonyms)
        return alike and same == own and ("bm25" not in legs or fields == self.config.fields)

    def of(self, query: str) -> Gathered:
        """What the legs retrieve for a query; searched only the first time."""
        with nullcontext() if self.config.hyde else self._lock:  # a language model is asked for several at once
            if query not in self._known:
                gathered = self._gather(query)
                with self._lock if self.config.hyde else nullcontext():
                    self._keep(query, gathered)
        return self._known[query]

    def _gather(self, query: str) -> Gathered:
        trace, config = Trace(), self._judged_with(query)
        ask = self.searcher.ask(self.index, config, timed=True)
        with tally() as paid:
            candidates = pipeline.gather(query, config, self.index, ask, trace)
        _ = candidates.completed  # computes the exact scores, which are stored too
        return Gathered(candidates, _times(trace.stages), tuple(trace.warnings), paid.dollars, paid.tokens)

    def _judged_with(self, query: str) -> SearchConfig:
        """A question that stands under `answers:` is judged without that field: it would find itself there."""
        if not self.config.fields.get("answers") or same_form(query) not in self._listed:
            return self.config
        return configs.without_answers(self.config)

    @cached_property
    def _listed(self) -> frozenset[str]:
        """The questions that documents say they answer."""
        every = (self.index.answers(number) for number in range(len(self.index.documents)))
        return frozenset(same_form(question) for answers in every for question in answers)

    def _keep(self, query: str, gathered: Gathered) -> None:
        if not gathered.warnings:
            self._saved.put(query, _packed(gathered))
        self._known[query] = gathered

    def rank(self, query: str, config: SearchConfig) -> RankedQuestion:
        """A query under a configuration: the pipeline's `rank` on cached candidates, without pins; with parents also
        its
        `hits`."""
        gathered, trace, read = self.of(query), Trace(), []  # type: tuple[Gathered, Trace, list[float]]
        usual = self.searcher.ask(self.index, config)
        ask = usual._replace(
            rules=replace(usual.rules, pins={}),  # a pinned question would find what was written down for it
            reranker=lambda: self.reader.of(usual.reranker(), read),
        )
        with tally() as paid:
            ranked = pipeline.rank(gathered.candidates, config, self.index, ask, trace)
            hits = pipeline.hits(ranked, config, self.index, ask, trace) if config.parents else ()
            collapse = config.collapse and not config.parents
            listed = list(pipeline.listed(ranked, config, self.index, ask)) if collapse else []
        order = self._numbers(hits) if config.parents else ([each.chunk for each in listed] or ranked.order)[:KEEP]
        embeds = configs.embeds(config)
        spent = {name: ms for name, ms in gathered.ms.items() if name in config.legs or (embeds and name in _EMBEDDING)}
        return RankedQuestion(
            chunks=tuple(map(int, order)),
            scores=tuple(float(ranked.fused.ranking.get(chunk, 0.0)) for chunk in order),  # a neighbour has none
            confidence=float(ranked.fused.confidence),
            ms=spent | _with_reading(_times(trace.stages), read),
            warnings=(*gathered.warnings, *trace.warnings),
            cost=paid.dollars + (gathered.cost if embeds else 0.0),
            tokens=paid.tokens + (gathered.tokens if embeds else 0),
            texts=tuple(hit.text for hit in hits[:READ]),
            copies=tuple((each.chunk, *each.copies) for each in listed if each.copies) or self._copies(hits),
            chance=pipeline.first_chance(ranked, config, self.index),
        )

    def save(self) -> None:
        """Write what was gathered since the last batch."""
        self._saved.save()

    def _copies(self, hits: Sequence[Hit]) -> tuple[tuple[int, ...], ...]:
        """The numbers of hits with those of their copies."""
        chunks = [(hit.chunk, *(other.chunk for other in hit.also)) for hit in hits if hit.also]
        return tuple(tuple(n for chunk in group if (n := self.index.number(chunk)) is not None) for group in chunks)

    def _numbers(self, hits: Sequence[Hit]) -> list[int]:
        return [number for hit in hits if (number := self.index.number(hit.chunk)) is not None]


def _with_reading(times: dict[str, float], read: Sequence[float]) -> dict[str, float]:
    """The times of stages, that of the cross-encoder as it was when it read."""
    stage = "cross-encoder" if "cross-encoder" in times else "rerank"
    return {**times, stage: round(sum(read), 4)} if read else times


def generation_key(searcher: Searcher, index: Index) -> str:
    """A digest of profile, commit and the chunks that filters admit today."""
    allowed = index.allowed(Filters(), searcher.clock.today())
    admitted = "" if allowed is None else zlib.crc32(allowed.tobytes())
    less = (
        [index.size] if index.size != index.generation.chunks else []
    )  # without folders that have an index of their own
    return strict.digest([profiles.identity(index.profile), index.generation.commit, admitted, *less], 16)


def search_key(searcher: Searcher, index: Index, config: SearchConfig) -> str:
    """A digest of everything that decides a ranking: two searches with the same key give the same results."""
    alpha_model = searcher.alphas.model(config.alpha_model) if config.alpha_model and searcher.alphas else ""
    to_k = config.parents or config.collapse  # what stops at k, or fills k
    ranked = replace(config, pins=False, k=config.k if to_k else KEEP)
    models = searcher.models_used(index.profile, config)
    return strict.digest([generation_key(searcher, index), configs.shape(ranked), alpha_model, models], 16)


def _times(stages: Sequence[Stage]) -> dict[str, float]:
    return {stage.name: round(stage.ms, 4) for stage in stages}


def _packed(gathered: Gathered) -> dict[str, Any]:
    """Candidates as plain lists: per leg its ranking, then the exact scores of what it did not retrieve."""
    candidates = gathered.candidates
    chunks = candidates.completed.chunks.tolist()
    legs = {}
    for row, leg in zip(candidates.completed.scores.tolist(), sorted(candidates.retrieved), strict=True):
        ranking = candidates.retrieved[leg]
        rest = {chunk: score for chunk, score in zip(chunks, row, strict=True) if chunk not in ranking}
        legs[leg] = [
            [int(chunk) for chunk in ranking],
            [float(score) for score in ranking.values()],
            list(rest),
            list(rest.values()),
            float(candidates.floors[leg]),
        ]
    return {"legs": legs, "ms": dict(gathered.ms), "cost": gathered.cost, "tokens": gathered.tokens}


def _gathered(query: str, raw: Mapping[str, Any]) -> Gathered:
    retrieved, exact, floors = {}, {}, {}
    for leg, (chunks, scores, others, rest, floor) in raw["legs"].items():
        retrieved[leg], exact[leg] = dict(zip(chunks, scores, strict=True)), dict(zip(others, rest, strict=True))
        floors[leg] = floor
    return Gathered(
        stored(retrieved, exact, floors, query), raw["ms"], cost=raw.get("cost", 0.0), tokens=raw.get("tokens", 0)
    )
