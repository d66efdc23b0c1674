"""One query, several configurations side by side. Columns of one profile share what its legs retrieve."""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import combinations, pairwise
from typing import Any, cast

from core import strict
from core.access import ALREADY_CHECKED, READS, Actor, use_case
from core.errors import BadInput, ConcordError, NotFound
from core.evaluation.measures import by_name, rank_distance
from core.evaluation.measures.rank_distance import Move, RankAgreement
from core.lru import LruCache
from core.ports import Index
from core.retrieval import config as configs
from core.retrieval.alpha_strip import AlphaStrip, alpha_strip
from core.retrieval.cache import AHEAD, PASSAGES_KEPT, CachedIndex, QueryCache
from core.retrieval.candidates import Candidates
from core.retrieval.pipeline import SearchContext
from core.services.search.searcher import Searcher, as_json
from core.types import Filters, Hit, Result, SearchConfig, Stage

MOST = 4  # columns
_RANKINGS = 16  # configurations of a run whose results are cached
_OWN = ("cut", "fuse")  # stages that every column runs for itself


@dataclass(frozen=True, slots=True)
class Column:
    """A profile, a configuration, and what people call them."""

    profile: str = ""
    config: SearchConfig = field(default_factory=lambda: configs.PRODUCTION)
    name: str = ""

    @property
    def title(self) -> str:
        """The name, or that of the configuration."""
        return self.name or configs.name(self.config)


class CachedSearch:
    """One run's search of one profile, cached: after the first column, moving a knob is arithmetic.

    `spent` has the time of each stage when it really ran, `shown` the passages as the page shows them.
    """

    def __init__(self, index: Index, searcher: Searcher, filters: Filters, ahead: int) -> None:
        self.index, self.searcher, self.filters = cast(Index, CachedIndex(index)), searcher, filters
        self.cache = QueryCache(ahead)
        self.spent: dict[str, float] = {}
        self.shown: LruCache[tuple[Hashable, ...], Any] = LruCache(PASSAGES_KEPT)
        self.rank = lru_cache(_RANKINGS)(self.search)

    def search(self, query: str, config: SearchConfig, filters: Filters | None = None) -> Result:
        return self.searcher.search_in(self.index, query, config, filters or self.filters, self.cache)

    def candidates(self, query: str, config: SearchConfig) -> Candidates:
        return self.searcher.candidates(self.index, query, config, self.filters, self.cache)

    def ask(self, config: SearchConfig) -> SearchContext:
        return self.searcher.ask(self.index, config, self.filters, self.cache)


@dataclass(frozen=True, slots=True)
class ColumnOutcome:
    """A column with its result, or why it has none. `moves` and `gone` compare it with the first column."""

    column: Column
    result: Result | None = None
    error: str = ""
    moves: tuple[Move, ...] = ()
    gone: tuple[Hit, ...] = ()


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The text before and after a passage in its document, and the parent it was cut from."""

    before: str = ""
    after: str = ""
    parent: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """All columns, how far every two of them agree, and how long it took."""

    query: str
    filters: Filters
    outcomes: tuple[ColumnOutcome, ...]
    pairs: Mapping[tuple[int, int], RankAgreement]
    seconds: float
    by: str  # chunk, or doc where profiles cut documents differently


class Comparer:
    """Runs the one search pipeline once per column; columns of one profile share a cache."""

    def __init__(self, searcher: Searcher) -> None:
        self.searcher = searcher

    @use_case("compare configurations", READS)
    def run(self, actor: Actor, query: str, columns: Sequence[Column], filters: Filters = Filters()) -> Comparison:
        """Search with every column; each leg of a profile is asked once."""
        return self.rank(query, columns, self.cached_searches(actor, columns, filters))

    @use_case("compare configurations", READS)
    def cached_searches(
        self, actor: Actor, columns: Sequence[Column], filters: Filters = Filters()
    ) -> dict[str, CachedSearch]:
        """An empty cache for each profile that has an index; everything else here needs one."""
        if not 1 <= len(columns) <= MOST:
            raise BadInput(f"Compare 1 to {MOST} columns, not {len(columns)}.")
        searches: dict[str, CachedSearch] = {}
        for name in {column.profile for column in columns}:
            depth = max((column.config.depth for column in columns if column.profile == name), default=AHEAD)
            try:
                index = self.searcher.index(name)
            except ConcordError:
                continue  # the column says so when it is searched
            searches[name] = CachedSearch(index, self.searcher, filters, max(depth, AHEAD))
        return searches

    @use_case(ALREADY_CHECKED)
    def rank(self, query: str, columns: Sequence[Column], searches: Mapping[str, CachedSearch]) -> Comparison:
        """Rank every column from the caches: the same hits as new searches, without their cost."""
        started = time.perf_counter()
        outcomes = [self._outcome(query, column, searches.get(column.profile)) for column in columns]
        filters = next((search.filters for search in searches.values()), Filters())
        by = "chunk" if len({column.profile for column in columns}) == 1 else "doc"
        keys = [_keys(outcome.result, by) for outcome in outcomes]
        pairs = {(a, b): rank_distance.agreement(keys[a], keys[b]) for a, b in combinations(range(len(outcomes)), 2)}
        compared = tuple(_against(outcome, outcomes[0], by) for outcome in outcomes)
        return Comparison(query, filters, compared, pairs, time.perf_counter() - started, by)

    @use_case(ALREADY_CHECKED)
    def strip(self, query: str, column: Column, search: CachedSearch) -> AlphaStrip | None:
        """How ranks depend on alpha in a column; None where every hit is reranked."""
        if column.config.rerank == "always":
            return None
        return alpha_strip(search.candidates(query, column.config), column.config)

    @use_case(ALREADY_CHECKED)
    def around(self, search: CachedSearch, chunk: str) -> Surroundings:
        """The neighbours and the parent of a passage."""
        number = search.index.number(chunk)
        if number is None:
            raise NotFound(f"There is no passage {chunk!r} in this generation.")
        document = search.index.document_of(number)
        chunks = search.index.chunks_of(document)
        at = chunks.index(number)
        parent = search.index.passage(number).parent
        return Surroundings(
            before=search.index.excerpt(chunks[at - 1]) if at else "",
            after=search.index.excerpt(chunks[at + 1]) if at + 1 < len(chunks) else "",
            parent=search.index.text(document)[slice(*parent)] if parent else "",
        )

    def _outcome(self, query: str, column: Column, search: CachedSearch | None) -> ColumnOutcome:
        try:
            if search is None:
                self.searcher.index(column.profile)  # raises with the cure
                raise BadInput("The index was built a moment ago. Run again.")
            config = configs.check(column.config)
            result = search.rank(query, config)
        except ConcordError as error:
            return ColumnOutcome(column, error=str(error))
        return ColumnOutcome(column, replace(result, stages=_with_real_times(result.stages, search.spent)))


def _with_real_times(stages: Iterable[Stage], spent: dict[str, float]) -> tuple[Stage, ...]:
    """Stages with the time they took when they ran, also where a column found their work in the cache."""
    out = []
    for stage in stages:
        if stage.name not in _OWN and (stage.hits or stage.name == "embed"):
            spent[stage.name] = max(stage.ms, spent.get(stage.name, 0.0))
            stage = replace(stage, ms=spent[stage.name])
        out.append(stage)
    return tuple(out)


def best_alpha(strip: AlphaStrip, gains: Mapping[int, float]) -> tuple[float, float] | None:
    """The widest stretch of alpha with the best nDCG; None when no judged passage can be retrieved.

    >>> from core.retrieval.alpha_strip import strip_of
    >>> best_alpha(strip_of({1: (1.0, 0.0), 2: (0.0, 1.0)}, 2), {2: 3.0})
    (0.5, 1.0)
    """
    edges, named = [0.0, *strip.flips, 1.0], {str(chunk): gain for chunk, gain in gains.items()}
    stretches: list[tuple[float, float, float]] = []
    for low, high in pairwise(edges):
        top = sorted((rank, chunk) for chunk in strip.intervals if (rank := strip.rank(chunk, (low + high) / 2)))
        score = by_name.ndcg([str(chunk) for _, chunk in top], named, strip.k)
        if stretches and stretches[-1][0] == score:
            stretches[-1] = (score, stretches[-1][1], high)
        else:
            stretches.append((score, low, high))
    best = max(stretches, key=lambda stretch: (stretch[0], stretch[2] - stretch[1]))
    return (best[1], best[2]) if best[0] > 0 else None


def _keys(result: Result | None, by: str) -> tuple[Hashable, ...]:
    """The chunks or documents of a result in order, each at its best rank."""
    return tuple(dict.fromkeys(getattr(hit, by) for hit in result.hits)) if result else ()


def _against(outcome: ColumnOutcome, base: ColumnOutcome, by: str) -> ColumnOutcome:
    if outcome.result is None or base.result is None or outcome is base:
        return outcome
    mine, theirs = _keys(outcome.result, by), _keys(base.result, by)
    moved = dict(zip(mine, rank_distance.moves(mine, theirs), strict=True))
    left = set(rank_distance.gone(mine, theirs))
    missing = {getattr(hit, by): hit for hit in reversed(base.result.hits) if getattr(hit, by) in left}
    return replace(
        outcome,
        moves=tuple(moved[getattr(hit, by)] for hit in outcome.result.hits),
        gone=tuple(sorted(missing.values(), key=lambda hit: hit.rank)),
    )


def passage(index: Index, number: int) -> Hit:
    """A passage as a hit that no search has ranked."""
    entry = index.passage(number)
    facts = index.documents[entry.document]
    place = (entry.heading, entry.id, entry.start, entry.end, index.excerpt(number))
    return Hit(0, facts.doc, facts.path, facts.title, *place, 0.0, {}, facts.status, facts.version)


def named_passage(index: Index, chunk: str) -> Hit:
    """A passage by the name of its chunk, as a hit that no search has ranked."""
    number = index.number(chunk)
    if number is None:
        raise NotFound(f'There is no passage {chunk!r} in this index. search --json names them as "chunk".')
    return passage(index, number)


def to_json(comparison: Comparison) -> dict[str, Any]:
    """The contract of `compare --json`."""
    return {
        "query": comparison.query,
        "compared_by": comparison.by,
        "seconds": round(comparison.seconds, 4),
        "columns": [_column_json(outcome) for outcome in comparison.outcomes],
        "pairs": [{"columns": [a, b], **strict.plain(agreement)} for (a, b), agreement in comparison.pairs.items()],
    }


def _column_json(outcome: ColumnOutcome) -> dict[str, Any]:
    shown = {"name": outcome.column.title, "profile": outcome.column.profile, "error": outcome.error}
    if outcome.result is None:
        return {**shown, "config": strict.plain(outcome.column.config)}
    gone = [{"chunk": hit.chunk, "doc": hit.doc, "rank": hit.rank} for hit in outcome.gone]
    return {**shown, **strict.plain(as_json(outcome.result)), "moves": strict.plain(outcome.moves), "gone": gone}
