"""What the legs of a generation retrieve for a query: searched once, cached, and ranked as often as needed."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from core import profiles, strict
from core.evaluation.measures.scoring import READ
from core.ports import Index
from core.retrieval import config as configs
from core.retrieval import pipeline
from core.retrieval.candidates import Candidates, stored
from core.retrieval.trace import Trace
from core.services.models.ledger import tally
from core.services.search.searcher import Searcher
from core.types import Filters, Hit, SearchConfig, Stage

if TYPE_CHECKING:
    from core.adapters.state.database import State

KEEP = 200  # chunks of a ranking that are stored: enough for a hundred documents of two chunks
SLICE = 20  # queries between two saves: the most that a kill can lose
_EMBEDDING = ("embed", "hyde")  # stages that give legs the vector of the query


@dataclass(frozen=True, slots=True)
class RankedQuestion:
    """A query under a configuration: chunks in order with their fused scores, milliseconds per stage, dollars.

    `texts` are the first passages where parents are returned instead of chunks.
    """

    chunks: tuple[int, ...]
    scores: tuple[float, ...]
    confidence: float
    ms: Mapping[str, float]
    warnings: tuple[str, ...] = ()
    cost: float = 0.0
    texts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Gathered:
    """Candidates with the milliseconds and dollars that gathering them took."""

    candidates: Candidates
    ms: Mapping[str, float]
    warnings: tuple[str, ...] = ()
    cost: float = 0.0


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
        """Write the current batch."""
        self.database.rankings.keep(self.search, self._new)
        self._new = {}


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
    ) -> None:
        self.searcher, self.index = searcher, index
        legs, hyde = tuple(sorted(config.legs)), configs.imagines(config)
        self.config = SearchConfig(
            legs=legs,
            depth=config.depth,
            fusion="convex" if len(legs) > 1 else "single",
            hyde=hyde,
            engines=config.engines,
        )
        shape = [generation_key(searcher, index), list(legs), config.depth]
        shape += searcher.models_used(index.profile, self.config) if hyde else ()
        shape += [dict(config.engines)] if config.engines else ()
        self._saved = RankingCache(database, "legs-" + strict.digest(shape, 16))
        self._known = {query: _gathered(query, raw) for query, raw in self._saved.all().items()}

    def serves(self, config: SearchConfig) -> bool:
        """Whether a configuration can be ranked from this cache; a single leg also from a pair of the same depth."""
        legs = tuple(sorted(config.legs))
        alike = legs == self.config.legs or (len(legs) == 1 and legs[0] in self.config.legs)
        same = (config.depth, configs.imagines(config), config.engines)
        return alike and same == (self.config.depth, self.config.hyde, self.config.engines)

    def of(self, query: str) -> Gathered:
        """What the legs retrieve for a query; searched only the first time."""
        if query not in self._known:
            trace = Trace()
            ask = self.searcher.ask(self.index, self.config, timed=True)
            with tally() as paid:
                candidates = pipeline.gather(query, self.config, self.index, ask, trace)
            _ = candidates.completed  # computes the exact scores, which are stored too
            gathered = Gathered(candidates, _times(trace.stages), tuple(trace.warnings), sum(paid))
            if not gathered.warnings:
                self._saved.put(query, _packed(gathered))
            self._known[query] = gathered
        return self._known[query]

    def rank(self, query: str, config: SearchConfig) -> RankedQuestion:
        """A query under a configuration: the pipeline's `rank` on cached candidates; with parents also its `hits`."""
        gathered, trace, ask = self.of(query), Trace(), self.searcher.ask(self.index, config)
        with tally() as paid:
            ranked = pipeline.rank(gathered.candidates, config, self.index, ask, trace)
            hits = pipeline.hits(ranked, config, self.index, ask, trace) if config.parents else ()
        order = self._numbers(hits) if config.parents else ranked.order[:KEEP]
        embeds = configs.embeds(config)
        spent = {name: ms for name, ms in gathered.ms.items() if name in config.legs or (embeds and name in _EMBEDDING)}
        return RankedQuestion(
            chunks=tuple(map(int, order)),
            scores=tuple(float(ranked.fused.ranking.get(chunk, 0.0)) for chunk in order),  # a neighbour has none
            confidence=float(ranked.fused.confidence),
            ms=spent | _times(trace.stages),
            warnings=(*gathered.warnings, *trace.warnings),
            cost=sum(paid) + (gathered.cost if embeds else 0.0),
            texts=tuple(hit.text for hit in hits[:READ]),
        )

    def save(self) -> None:
        """Write what was gathered since the last batch."""
        self._saved.save()

    def _numbers(self, hits: Sequence[Hit]) -> list[int]:
        return [number for hit in hits if (number := self.index.number(hit.chunk)) is not None]


def generation_key(searcher: Searcher, index: Index) -> str:
    """A digest of profile, commit and the chunks that filters admit today."""
    allowed = index.allowed(Filters(), searcher.clock.today())
    admitted = "" if allowed is None else zlib.crc32(allowed.tobytes())
    return strict.digest([profiles.identity(index.profile), index.generation.commit, admitted], 16)


def search_key(searcher: Searcher, index: Index, config: SearchConfig) -> str:
    """A digest of everything that decides a ranking: two searches with the same key give the same results."""
    alpha_model = searcher.alphas.model(config.alpha_model) if config.alpha_model and searcher.alphas else ""
    ranked = config if config.parents else replace(config, k=KEEP)  # the search for parents stops at k
    models = searcher.models_used(index.profile, config)
    shape = strict.plain(ranked)
    if not config.engines:
        del shape["engines"]  # keeps the keys of rankings stored before engines existed
    return strict.digest([generation_key(searcher, index), shape, alpha_model, models], 16)


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
    return {"legs": legs, "ms": dict(gathered.ms), "cost": gathered.cost}


def _gathered(query: str, raw: Mapping[str, Any]) -> Gathered:
    retrieved, exact, floors = {}, {}, {}
    for leg, (chunks, scores, others, rest, floor) in raw["legs"].items():
        retrieved[leg], exact[leg] = dict(zip(chunks, scores, strict=True)), dict(zip(others, rest, strict=True))
        floors[leg] = floor
    return Gathered(stored(retrieved, exact, floors, query), raw["ms"], cost=raw.get("cost", 0.0))
