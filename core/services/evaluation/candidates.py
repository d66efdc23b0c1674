"""What the legs of a generation find for a query: searched once, kept, and fused as often as anybody likes."""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from core import profiles, strict
from core.evaluation.scoring import READ
from core.ports import Index
from core.retrieval.candidates import Candidates, fuse
from core.retrieval.trace import Trace
from core.services.models.ledger import tally
from core.services.search.searcher import Searcher
from core.types import Filters, SearchConfig, Stage

if TYPE_CHECKING:
    from core.adapters.state.database import State

KEEP = 200  # candidates of a ranking that are kept: enough for a hundred documents of two chunks
SLICE = 20  # queries between two saves: what a kill can cost
_ASKING = ("embed", "hyde")  # stages of every leg that needs the vector of the query


@dataclass(frozen=True, slots=True)
class Ranked:
    """One query under one configuration: chunks in order with their fused scores, the time of every stage, dollars.

    `texts` are the first passages where they are not the chunks themselves but their parents.
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
    """Candidates with the time and the dollars that finding them took."""

    candidates: Candidates
    ms: Mapping[str, float]
    warnings: tuple[str, ...] = ()
    cost: float = 0.0


class Kept:
    """Answers by (search, query) in the database; written in slices, so that a kill costs little."""

    def __init__(self, database: State, search: str) -> None:
        self.database, self.search = database, search
        self._new: dict[str, bytes] = {}

    def all(self) -> dict[str, Any]:
        """Everything kept for this search, by query."""
        packed = self.database.rankings.of(self.search)
        return {query: json.loads(zlib.decompress(result)) for query, result in packed.items()}

    def put(self, query: str, value: Any) -> None:
        """Keep one answer, soon."""
        self._new[query] = zlib.compress(json.dumps(value, separators=(",", ":")).encode(), 6)
        if len(self._new) >= SLICE:
            self.save()

    def save(self) -> None:
        """Keep it now."""
        self.database.rankings.keep(self.search, self._new)
        self._new = {}


class CandidateCache:
    """One generation's legs to one depth; with `hyde`, as the dense one sees a passage that would answer the query."""

    def __init__(
        self,
        searcher: Searcher,
        database: State,
        index: Index,
        legs: Sequence[str],
        depth: int,
        hyde: bool = False,
    ) -> None:
        self.searcher, self.index = searcher, index
        fusion = "convex" if len(legs) > 1 else "single"
        self.config = SearchConfig(legs=tuple(legs), depth=depth, fusion=fusion, missing="exact", hyde=hyde)
        named = [generation_key(searcher, index), sorted(legs), depth]
        named += searcher.asked(index.profile, self.config) if hyde else ()
        self.kept = Kept(database, "legs-" + strict.digest(named, 16))
        self._known = {query: _gathered(raw) for query, raw in self.kept.all().items()}

    def of(self, query: str) -> Gathered:
        """What the legs find for a query; searched only the first time."""
        if query not in self._known:
            trace = Trace()
            with tally() as paid:
                found = self.searcher.candidates(self.index, query, self.config, Filters(), trace)
            made = Gathered(found, _times(trace.stages), tuple(trace.warnings), sum(paid))
            if not made.warnings:
                self.kept.put(query, _packed(made))
            self._known[query] = made
        return self._known[query]

    def rank(self, query: str, config: SearchConfig) -> Ranked:
        """A query under a configuration: arithmetic, and a reranker where one is asked for."""
        if config.parents:
            return self._families(query, config)
        gathered, trace = self.of(query), Trace()
        found = narrow(gathered.candidates, config)
        embeds = not {"dense", "graph"}.isdisjoint(config.legs)
        ms = {name: spent for name, spent in gathered.ms.items() if name in config.legs or (embeds and name in _ASKING)}
        with tally() as paid:
            weighed = self.searcher.weighed(self.index, query, found, config, trace)
            started = time.perf_counter()
            fused = fuse(found, weighed)
            ms["fuse"] = (time.perf_counter() - started) * 1000.0
            order = self.searcher.reranked(self.index, query, fused, config, trace)[:KEEP]
        return Ranked(
            chunks=tuple(map(int, order)),
            scores=tuple(float(fused.ranking.get(chunk, 0.0)) for chunk in order),  # a neighbour that joined has none
            confidence=float(fused.confidence),
            ms=ms | _times(trace.stages),
            warnings=(*gathered.warnings, *trace.warnings),
            cost=sum(paid) + (gathered.cost if embeds else 0.0),
        )

    def _families(self, query: str, config: SearchConfig) -> Ranked:
        """The same where parents are returned: some may come from deeper than the legs were asked, so it is a search."""
        with tally() as paid:
            result = self.searcher.search_in(self.index, query, config)
        found = narrow(self.of(query).candidates, config)
        fused = fuse(found, self.searcher.weighed(self.index, query, found, config, Trace()))
        chunks = tuple(number for hit in result.hits if (number := self.index.number(hit.chunk)) is not None)
        return Ranked(
            chunks=chunks,
            scores=tuple(float(fused.ranking.get(chunk, 0.0)) for chunk in chunks),
            confidence=float(fused.confidence),
            ms=_times(result.stages),
            warnings=result.warnings,
            cost=sum(paid),
            texts=tuple(hit.text for hit in result.hits[:READ]),
        )


def narrow(found: Candidates, config: SearchConfig) -> Candidates:
    """The candidates as `gather` would have given them for fewer legs, or with other rules for what is missing."""
    retrieved = {leg: found.retrieved[leg] for leg in config.legs if leg in found.retrieved}
    floors = {leg: found.floors[leg] for leg in retrieved}
    if config.missing == "absent" or len(retrieved) == 1:
        return Candidates(retrieved, retrieved, floors)
    union = sorted({chunk for ranking in retrieved.values() for chunk in ranking})
    scores: dict[str, Mapping[int, float]] = {}
    for leg, ranking in retrieved.items():
        absent = [chunk for chunk in union if chunk not in ranking]
        given = found.scores[leg] if config.missing == "exact" else dict.fromkeys(absent, floors[leg])
        scores[leg] = {**ranking, **{chunk: given[chunk] for chunk in absent}}
    return Candidates(retrieved, scores, floors)


def generation_key(searcher: Searcher, index: Index) -> str:
    """What decides which chunks there are and who may be found: profile, commit, and the admitted chunks."""
    allowed = index.allowed(Filters(), searcher.clock.today())
    admitted = "" if allowed is None else zlib.crc32(allowed.tobytes())
    return strict.digest([profiles.identity(index.profile), index.generation.commit, admitted], 16)


def search_key(searcher: Searcher, index: Index, config: SearchConfig) -> str:
    """What names a search: two with the same key find the same."""
    learned = searcher.alphas.model(config.alpha_model) if config.alpha_model and searcher.alphas else ""
    wanted = config if config.parents else replace(config, k=KEEP)  # parents are looked for until there are k
    asked = searcher.asked(index.profile, config)
    return strict.digest([generation_key(searcher, index), wanted, learned, asked], 16)


def _times(stages: Sequence[Stage]) -> dict[str, float]:
    return {stage.name: round(stage.ms, 4) for stage in stages}


def _packed(made: Gathered) -> dict[str, Any]:
    """Candidates as plain lists; the exact scores of what a leg did not retrieve follow its own ranking."""
    legs = {}
    for leg, ranking in made.candidates.retrieved.items():
        rest = {chunk: score for chunk, score in made.candidates.scores[leg].items() if chunk not in ranking}
        legs[leg] = [
            [int(chunk) for chunk in ranking],
            [float(score) for score in ranking.values()],
            [int(chunk) for chunk in rest],
            [float(score) for score in rest.values()],
            float(made.candidates.floors[leg]),
        ]
    return {"legs": legs, "ms": dict(made.ms), "cost": made.cost}


def _gathered(raw: Mapping[str, Any]) -> Gathered:
    retrieved, scores, floors = {}, {}, {}
    for leg, (chunks, given, others, rest, floor) in raw["legs"].items():
        retrieved[leg] = dict(zip(chunks, given, strict=True))
        scores[leg] = {**retrieved[leg], **dict(zip(others, rest, strict=True))}
        floors[leg] = floor
    return Gathered(Candidates(retrieved, scores, floors), raw["ms"], cost=raw.get("cost", 0.0))
