"""Comparing: one query, several configurations side by side. Columns of one profile share what its legs found."""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import combinations, pairwise
from typing import Any, cast

from core import strict
from core.errors import BadInput, ConcordError, NotFound
from core.evaluation.measures import rank_distance, ranking
from core.evaluation.measures.rank_distance import Move, RankAgreement
from core.ports import Index
from core.retrieval import config as configs
from core.retrieval.alpha_strip import AlphaStrip, alpha_strip
from core.retrieval.cache import AHEAD, CachedIndex, QueryCache
from core.retrieval.candidates import Candidates
from core.retrieval.pipeline import Ask
from core.services.search.searcher import Searcher, as_json
from core.types import Filters, Hit, Result, SearchConfig, Stage

MOST = 4  # columns
_RANKED = 64  # configurations of one run whose ranking is remembered
_OWN = ("cut", "fuse")  # stages that every column does for itself


@dataclass(frozen=True, slots=True)
class Column:
    """What one column compares: a profile, a configuration, and what people call it."""

    profile: str = ""
    config: SearchConfig = field(default_factory=lambda: configs.PRODUCTION)
    name: str = ""

    @property
    def title(self) -> str:
        """The name, or the configuration's own."""
        return self.name or configs.name(self.config)


class Held:
    """What one query found in one profile, kept in memory: moving a knob is arithmetic on it.

    A column whose knobs did not move is not ranked again; `spent` is what each stage cost when it was really done,
    `shown` what was made of passages to show them.
    """

    def __init__(self, index: Index, searcher: Searcher, filters: Filters, ahead: int) -> None:
        self.index, self.searcher, self.filters = cast(Index, CachedIndex(index)), searcher, filters
        self.cache = QueryCache(ahead)
        self.spent: dict[str, float] = {}
        self.shown: dict[tuple[Hashable, ...], Any] = {}
        self.rank = lru_cache(_RANKED)(self.search)

    def search(self, query: str, config: SearchConfig, filters: Filters | None = None) -> Result:
        """The one search, from memory."""
        return self.searcher.search_in(self.index, query, config, filters or self.filters, self.cache)

    def candidates(self, query: str, config: SearchConfig) -> Candidates:
        """What the legs found, from memory."""
        return self.searcher.candidates(self.index, query, config, self.filters, self.cache)

    def ask(self, config: SearchConfig) -> Ask:
        """What ranking may use."""
        return self.searcher.ask(self.index, config, self.filters, self.cache)


@dataclass(frozen=True, slots=True)
class Lane:
    """One column's answer, or why it has none. `moves` and `gone` are seen from the first column."""

    column: Column
    result: Result | None = None
    error: str = ""
    moves: tuple[Move, ...] = ()
    gone: tuple[Hit, ...] = ()


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What stands before and after a passage in its document, and the larger part it was cut from."""

    before: str = ""
    after: str = ""
    parent: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """All columns, how alike every two of them are, and what the whole took."""

    query: str
    filters: Filters
    lanes: tuple[Lane, ...]
    pairs: Mapping[tuple[int, int], RankAgreement]
    seconds: float
    by: str  # chunk, or doc where profiles cut documents differently


class Comparer:
    """Runs the one search pipeline once per column; columns of one profile share a cache."""

    def __init__(self, searcher: Searcher) -> None:
        self.searcher = searcher

    def run(self, query: str, columns: Sequence[Column], filters: Filters = Filters()) -> Comparison:
        """Search with every column; each leg of a profile is asked once."""
        return self.rank(query, columns, self.hold(columns, filters))

    def hold(self, columns: Sequence[Column], filters: Filters = Filters()) -> dict[str, Held]:
        """Empty memories, one for each profile that has an index."""
        if not 1 <= len(columns) <= MOST:
            raise BadInput(f"Compare 1 to {MOST} columns, not {len(columns)}.")
        held: dict[str, Held] = {}
        for name in {column.profile for column in columns}:
            depth = max((column.config.depth for column in columns if column.profile == name), default=AHEAD)
            try:
                index = self.searcher.index(name)
            except ConcordError:
                continue  # the column says so when it is searched
            held[name] = Held(index, self.searcher, filters, max(depth, AHEAD))
        return held

    def rank(self, query: str, columns: Sequence[Column], held: Mapping[str, Held]) -> Comparison:
        """Rank again from what is in memory: the same answers as new searches, without their cost."""
        started = time.perf_counter()
        lanes = [self._lane(query, column, held.get(column.profile)) for column in columns]
        filters = next((one.filters for one in held.values()), Filters())
        by = "chunk" if len({column.profile for column in columns}) == 1 else "doc"
        keys = [_keys(lane.result, by) for lane in lanes]
        pairs = {(a, b): rank_distance.agreement(keys[a], keys[b]) for a, b in combinations(range(len(lanes)), 2)}
        seen = tuple(_against(lane, lanes[0], by) for lane in lanes)
        return Comparison(query, filters, seen, pairs, time.perf_counter() - started, by)

    def strip(self, query: str, column: Column, held: Held) -> AlphaStrip | None:
        """How ranks depend on alpha in one column; None where they do not."""
        if column.config.rerank == "always":
            return None
        return alpha_strip(held.candidates(query, column.config), column.config)

    def around(self, held: Held, chunk: str) -> Surroundings:
        """The neighbours and the parent of a passage."""
        number = held.index.number(chunk)
        if number is None:
            raise NotFound(f"There is no passage {chunk!r} in this generation.")
        document = held.index.document_of(number)
        chunks = held.index.chunks_of(document)
        at = chunks.index(number)
        parent = held.index.passage(number).parent
        return Surroundings(
            before=held.index.excerpt(chunks[at - 1]) if at else "",
            after=held.index.excerpt(chunks[at + 1]) if at + 1 < len(chunks) else "",
            parent=held.index.text(document)[slice(*parent)] if parent else "",
        )

    def _lane(self, query: str, column: Column, held: Held | None) -> Lane:
        try:
            if held is None:
                self.searcher.index(column.profile)  # raises with the cure
                raise BadInput("The index was built a moment ago. Run again.")
            config = configs.check(column.config)
            result = held.rank(query, config)
        except ConcordError as error:
            return Lane(column, error=str(error))
        return Lane(column, replace(result, stages=_honest(result.stages, held.spent)))


def _honest(stages: Iterable[Stage], spent: dict[str, float]) -> tuple[Stage, ...]:
    """Stages with what they cost when they were done, also where a column found the work done already."""
    out = []
    for stage in stages:
        if stage.name not in _OWN and (stage.hits or stage.name == "embed"):
            spent[stage.name] = max(stage.ms, spent.get(stage.name, 0.0))
            stage = replace(stage, ms=spent[stage.name])
        out.append(stage)
    return tuple(out)


def best_alpha(strip: AlphaStrip, gains: Mapping[int, float]) -> tuple[float, float] | None:
    """The widest stretch of alpha with the best nDCG, if anything that was judged can be found at all.

    >>> from core.retrieval.alpha_strip import strip_of
    >>> best_alpha(strip_of({1: (1.0, 0.0), 2: (0.0, 1.0)}, 2), {2: 3.0})
    (0.5, 1.0)
    """
    edges, named = [0.0, *strip.flips, 1.0], {str(chunk): gain for chunk, gain in gains.items()}
    scored: list[tuple[float, float, float]] = []
    for low, high in pairwise(edges):
        top = sorted((rank, chunk) for chunk in strip.intervals if (rank := strip.rank(chunk, (low + high) / 2)))
        score = ranking.ndcg([str(chunk) for _, chunk in top], named, strip.k)
        if scored and scored[-1][0] == score:
            scored[-1] = (score, scored[-1][1], high)
        else:
            scored.append((score, low, high))
    best = max(scored, key=lambda one: (one[0], one[2] - one[1]))
    return (best[1], best[2]) if best[0] > 0 else None


def _keys(result: Result | None, by: str) -> tuple[Hashable, ...]:
    """What rankings are compared by: passages, or documents at their best passage."""
    return tuple(dict.fromkeys(getattr(hit, by) for hit in result.hits)) if result else ()


def _against(lane: Lane, base: Lane, by: str) -> Lane:
    if lane.result is None or base.result is None or lane is base:
        return lane
    mine, theirs = _keys(lane.result, by), _keys(base.result, by)
    moved = dict(zip(mine, rank_distance.moves(mine, theirs), strict=True))
    left = set(rank_distance.gone(mine, theirs))
    missing = {getattr(hit, by): hit for hit in reversed(base.result.hits) if getattr(hit, by) in left}
    return replace(
        lane,
        moves=tuple(moved[getattr(hit, by)] for hit in lane.result.hits),
        gone=tuple(sorted(missing.values(), key=lambda hit: hit.rank)),
    )


def passage(index: Index, number: int) -> Hit:
    """A passage as a hit that no search has ranked."""
    found = index.passage(number)
    facts = index.documents[found.document]
    place = (found.heading, found.id, found.start, found.end, index.excerpt(number))
    return Hit(0, facts.doc, facts.path, facts.title, *place, 0.0, {}, facts.status, facts.version)


def to_json(made: Comparison) -> dict[str, Any]:
    """The contract of `compare --json`."""
    return {
        "query": made.query,
        "compared_by": made.by,
        "seconds": round(made.seconds, 4),
        "columns": [_column_json(lane) for lane in made.lanes],
        "pairs": [{"columns": [a, b], **strict.plain(agreed)} for (a, b), agreed in made.pairs.items()],
    }


def _column_json(lane: Lane) -> dict[str, Any]:
    shown = {"name": lane.column.title, "profile": lane.column.profile, "error": lane.error}
    if lane.result is None:
        return {**shown, "config": strict.plain(lane.column.config)}
    gone = [{"chunk": hit.chunk, "doc": hit.doc, "rank": hit.rank} for hit in lane.gone]
    return {**shown, **as_json(lane.result), "moves": strict.plain(lane.moves), "gone": gone}
