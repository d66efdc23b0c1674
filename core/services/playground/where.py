"""Where is my document? Its words, its rank in each leg, after fusion and after reranking, and what would bring it
in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import log2
from typing import Any

from core.access import READS, Actor, use_case
from core.analysis import analyser, options_for
from core.errors import ConcordError, NotFound
from core.ports import Index
from core.retrieval.alpha_strip import AlphaStrip, alpha_strip
from core.retrieval.filters import admits
from core.retrieval.presets import follow, presets
from core.retrieval.rerankers.rerank import BY_TAU
from core.services.knowledge.documents import Documents
from core.services.playground.compare import CachedSearch, Column, Comparer
from core.types import DocumentFacts, Filters, Result, SearchConfig

FIELDS = ("title", "heading", "text")


@dataclass(frozen=True, slots=True)
class QueryWord:
    """A word of a query: the fields of the document that have it, its chunks that do, and whether any document does."""

    word: str
    fields: tuple[str, ...]
    chunks: tuple[str, ...]
    known: bool

    @property
    def sentence(self) -> str:
        """Where the word stands.

        >>> QueryWord("keep", ("heading", "text"), ("c1", "c2"), True).sentence
        'in a heading and the text, 2 passages'
        >>> QueryWord("kept", (), (), False).sentence
        'in no document'
        """
        if not self.fields:
            return "not in this document" if self.known else "in no document"
        places = {"title": "the title", "heading": "a heading", "text": "the text"}
        listed = " and ".join(places[field] for field in self.fields)
        return f"in {listed}, {len(self.chunks)} passage{'' if len(self.chunks) == 1 else 's'}"


def query_words(index: Index, document: int, query: str) -> tuple[QueryWord, ...]:
    """Each word of the query that counts, in the order in which it was asked."""
    options = options_for(query, index.profile.lexical)
    analyse, only_stops = analyser(options), options != index.profile.lexical
    wanted: dict[str, str] = {}
    for start, end, terms in analyse.words(query):
        if terms:
            wanted.setdefault(terms[0], query[start:end])
    passages = {number: index.passage(number) for number in index.chunks_of(document)}
    texts = {number: set(analyse(index.excerpt(number))) for number in passages}
    read = {number: texts[number] | set(analyse(index.context(number))) for number in passages}
    terms_of = {
        "title": set(analyse(index.documents[document].title)),
        "heading": {term for passage in passages.values() for term in analyse(" ".join(passage.heading))},
        "text": set().union(*texts.values()),
    }
    return tuple(
        QueryWord(
            word,
            tuple(field for field in FIELDS if term in terms_of[field]),
            tuple(passage.id for number, passage in passages.items() if term in read[number]),
            only_stops or index.rarity(term) > 0,
        )
        for term, word in wanted.items()
    )


DEEPEST = 1000  # candidates of a leg that a configuration may ask for
_DEPTHS = (20, 30, 50, 100, 200, 500, 1000)
_ALPHAS = tuple(step / 20 for step in range(21))
_STEP = 0.001  # of the alpha slider
_LONGER = ("k", "depth and k")


@dataclass(frozen=True, slots=True)
class PassageRanks:
    """A passage of the document: its rank in each leg, after fusion and at the end; 0 where it has none.

    A leg is searched to its end, so 0 there means that it finds nothing in the passage. `words` are the query's.
    """

    chunk: str
    heading: tuple[str, ...]
    start: int
    end: int
    legs: Mapping[str, int]
    fused: int = 0
    final: int = 0
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SuggestedChange:
    """A knob that brings the document into the top k. `effort` is how far it turns, from 0 to 1."""

    knob: str
    value: Any
    rank: int
    effort: float
    sentence: str

    @property
    def better(self) -> bool:
        """Whether the document ranks higher; a longer list only shows more of the same ranking."""
        return self.knob not in _LONGER


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Where a document ranks and why. `cut`: found, k, rerank, not retrieved, filter, status, or not indexed."""

    doc: str
    title: str
    path: str
    rank: int
    k: int
    cut: str
    sentence: str
    ways: tuple[PassageRanks, ...] = ()
    changes: tuple[SuggestedChange, ...] = ()
    words: tuple[QueryWord, ...] = ()
    size: int = 0  # what a leg ranks: passages of the index, or documents where those are fused
    unit: str = "passage"
    spelling: str = ""  # the query as it was probably meant, where it holds a word that no document uses


class Locator:
    """Says where a document ranks, and which knob would bring it in."""

    def __init__(self, comparer: Comparer, documents: Documents) -> None:
        self.comparer, self.documents = comparer, documents

    @use_case("compare configurations", READS)
    def where(
        self,
        actor: Actor,
        query: str,
        name: str,
        column: Column,
        filters: Filters = Filters(),
        cached: CachedSearch | None = None,
    ) -> Diagnosis:
        """Where a document ranks for a query in one column."""
        if cached is None:
            cached = self.comparer.cached_searches(actor, [column], filters).get(column.profile)
        if cached is None:
            self.comparer.searcher.index(column.profile)
            raise NotFound("There is no index to look into.")
        facts = next((facts for facts in cached.index.documents if name in (facts.doc, facts.path)), None)
        if facts is None:
            return self._not_indexed(name, column.config.k)
        search = _DocumentSearch(query, facts, cached)
        config, rank = column.config, search.rank(column.config)
        cut, sentence = _cut(search, config, rank)
        changes = () if cut == "found" else _changes(search, config, cut)
        words = query_words(cached.index, search.number, query)
        return Diagnosis(
            doc=facts.doc,
            title=facts.title,
            path=facts.path,
            rank=rank,
            k=config.k,
            cut=cut,
            sentence=sentence,
            ways=search.passages(config, words),
            changes=tuple(sorted(changes, key=lambda change: (not change.better, change.effort))),
            words=words,
            size=len(cached.index.documents) if config.documents else cached.index.size,
            unit="document" if config.documents else "passage",
            spelling=next(iter(self.comparer.searcher.suggestions(cached.index, search.result(config))), ""),
        )

    def _not_indexed(self, name: str, k: int) -> Diagnosis:
        document = self.documents.show(name)  # raises NotFound when there is no such document
        sentence = "It is not in this index: it was added after the last build. Rebuild the index to find it."
        return Diagnosis(document.id, document.title, document.path, 0, k, "not indexed", sentence)


class _DocumentSearch:
    """One query for one document, searched with other knobs from the cache."""

    def __init__(self, query: str, facts: DocumentFacts, cached: CachedSearch) -> None:
        self.query, self.facts, self.cached = query, facts, cached
        self.number = cached.index.documents.index(facts)
        self._legs: dict[str, dict[str, int]] = {}

    def result(self, config: SearchConfig, filters: Filters | None = None) -> Result:
        """Every candidate, ranked."""
        deep = replace(config, k=DEEPEST)
        return self.cached.search(self.query, deep, filters)

    def rank(self, config: SearchConfig, filters: Filters | None = None) -> int:
        """The document's best rank; 0 when it is not among the candidates."""
        return next((hit.rank for hit in self.result(config, filters).hits if hit.doc == self.facts.doc), 0)

    def fused(self, config: SearchConfig) -> int:
        """The document's best rank before reranking."""
        ranks = [hit.fused_rank for hit in self.result(config).hits if hit.doc == self.facts.doc]
        return min(ranks, default=0)

    def leg(self, leg: str, config: SearchConfig) -> dict[str, int]:
        """The ranks of its passages in one leg alone, which is searched to its end."""
        if leg not in self._legs:
            self._legs[leg] = self._searched(leg, config)
        return self._legs[leg]

    def _searched(self, leg: str, config: SearchConfig) -> dict[str, int]:
        cached, chunks = self.cached, set(self.cached.index.chunks_of(self.number))
        alone = replace(config, legs=(leg,), depth=cached.index.size)
        try:
            candidates = cached.searcher.candidates(cached.index, self.query, alone, self.admitting(), cached.cache)
        except ConcordError:
            return {}
        ranking = enumerate(candidates.retrieved.get(leg, ()), 1)
        return {cached.index.passage(chunk).id: rank for rank, chunk in ranking if chunk in chunks}

    def admitting(self) -> Filters:
        """The filters of the search, widened where they leave the document out."""
        today, asked = self.cached.searcher.clock.today(), self.cached.filters
        widened = (asked, Filters(history=asked.history), replace(asked, history=True), Filters(history=True))
        return next((filters for filters in widened if admits(filters, self.facts, today)), asked)

    def passages(self, config: SearchConfig, words: tuple[QueryWord, ...]) -> tuple[PassageRanks, ...]:
        """The ranks of every passage of the document, best first."""
        index = self.cached.index
        legs = {leg: self.leg(leg, config) for leg in config.legs}
        final = {hit.chunk: hit for hit in self.result(config).hits if hit.doc == self.facts.doc}
        passages = []
        for passage in map(index.passage, index.chunks_of(self.number)):
            hit = final.get(passage.id)
            ranks = {leg: of_leg.get(passage.id, 0) for leg, of_leg in legs.items()}
            places = (hit.fused_rank, hit.rank) if hit else (0, 0)
            place = (passage.id, passage.heading, passage.start, passage.end)
            shared = tuple(word.word for word in words if passage.id in word.chunks)
            passages.append(PassageRanks(*place, ranks, *places, shared))
        far = index.size + 1
        return tuple(
            sorted(
                passages,
                key=lambda passage: (
                    passage.final or far,
                    min((r or far for r in passage.legs.values()), default=far),
                    passage.start,
                ),
            )
        )


def applied(
    column: Column, filters: Filters, change: SuggestedChange, known: Mapping[str, SearchConfig] | None = None
) -> tuple[Column, Filters]:
    """The column and the filters after a suggested change; the name follows the values."""
    if change.knob == "filters":
        return column, change.value
    names = change.knob.split(" and ")
    values = change.value if len(names) > 1 else (change.value,)
    config = replace(column.config, **dict(zip(names, values, strict=True)))
    name = follow(column.name, config, presets() if known is None else known)
    return replace(column, config=config, name=name), filters


def _cut(search: _DocumentSearch, config: SearchConfig, rank: int) -> tuple[str, str]:
    """What kept the document out of the top k, in a word and in a sentence."""
    facts, today = search.facts, search.cached.searcher.clock.today()
    if not admits(search.cached.filters, facts, today):
        if not admits(Filters(), facts, today):
            state = facts.status if facts.status != "approved" else "not yet effective"
            never = " Drafts are never found." if facts.status == "draft" else " It is found only with history."
            return "status", f"It is {state}.{never}"
        return "filter", "The filters leave it out."
    if not rank:
        return "not retrieved", f"No leg has it among its best {config.depth}."
    if rank <= config.k:
        return "found", f"It is here, at rank {rank}."
    fused = search.fused(config)
    if 0 < fused <= config.k:
        return "rerank", f"Fusion put it at rank {fused}; the reranker moved it down to {rank}."
    return "k", f"It stands at rank {rank}, below the first {config.k}."


def _changes(search: _DocumentSearch, config: SearchConfig, cut: str) -> Iterator[SuggestedChange]:
    """Every single knob that brings the document in, each tried from the cache."""
    if cut in ("status", "filter"):
        yield from _filters(search, config)
        return
    attempts = (
        *_alphas(search, config),
        *(("depth", depth, depth - config.depth) for depth in _depths(search, config)),
        *_reranks(config),
    )
    solved: set[str] = set()
    for knob, value, _ in sorted(attempts, key=lambda attempt: (attempt[0], abs(attempt[2]))):
        if knob in solved:
            continue
        rank = search.rank(replace(config, **{knob: value}))
        if 0 < rank <= config.k:
            solved.add(knob)
            yield SuggestedChange(knob, value, rank, _effort(knob, config, value), _say(knob, config, value, rank))
    yield from _longer(search, config, deeper=not solved)


def _longer(search: _DocumentSearch, config: SearchConfig, deeper: bool) -> Iterator[SuggestedChange]:
    """A larger k; where no other knob helps, with a larger depth."""
    depths = [config.depth, *(_depths(search, config) if deeper else ())]
    for depth in depths:
        rank = search.rank(replace(config, depth=depth))
        if rank > config.k:
            looking = f"Look {depth} deep and show" if depth > config.depth else "Show"
            effort = _effort("k", config, rank) + _effort("depth", config, depth)
            knob = "k" if depth == config.depth else "depth and k"
            sentence = f"{looking} {rank} hits instead of {config.k}: a longer list, its rank stays {rank}."
            yield SuggestedChange(knob, rank if knob == "k" else (depth, rank), rank, round(effort, 3), sentence)
            return


def _filters(search: _DocumentSearch, config: SearchConfig) -> Iterator[SuggestedChange]:
    today = search.cached.searcher.clock.today()
    for sentence, filters in (
        ("Search without the filters", Filters(history=search.cached.filters.history)),
        ("Include history", replace(search.cached.filters, history=True)),
        ("Search without the filters and include history", Filters(history=True)),
    ):
        if admits(filters, search.facts, today):
            rank = search.rank(config, filters)
            if 0 < rank <= config.k:
                yield SuggestedChange("filters", filters, rank, 1.0, f"{sentence}: it comes to rank {rank}.")
            return


def _alphas(search: _DocumentSearch, config: SearchConfig) -> Iterator[tuple[str, float, float]]:
    """Alphas with the document in the top k: exact where an alpha strip exists, else on a grid."""
    strip = _strip(search, config)
    if strip is None:
        yield from (("alpha", alpha, alpha - config.alpha) for alpha in _ALPHAS if config.fusion == "convex")
        return
    chunks = set(search.cached.index.chunks_of(search.number))
    for chunk in sorted(chunks & set(strip.intervals)):
        for stretch in strip.intervals[chunk]:
            low, high = stretch.low + _STEP / 2, stretch.high - _STEP / 2
            if stretch.rank and low <= high:
                near = round(min(max(config.alpha, low), high) / _STEP) * _STEP
                yield "alpha", round(near, 3), near - config.alpha


def _strip(search: _DocumentSearch, config: SearchConfig) -> AlphaStrip | None:
    if config.rerank != "off":
        return None
    return alpha_strip(search.cached.candidates(search.query, config), config)


def _depths(search: _DocumentSearch, config: SearchConfig) -> list[int]:
    """Depths at which a leg reaches the document, and the usual ones."""
    reached = [rank for leg in config.legs for rank in search.leg(leg, config).values()]
    return sorted({depth for depth in (*reached, *_DEPTHS) if config.depth < depth <= DEEPEST})


def _reranks(config: SearchConfig) -> Iterator[tuple[str, Any, float]]:
    """Reranking switched on or off, or tau moved to its ends."""
    if config.rerank in BY_TAU:
        yield "tau", 1.0, 1.0 - config.tau
        yield "tau", 0.0, config.tau
    elif config.rerank == "off":
        yield "rerank", "always", 1.0
    else:
        yield "rerank", "off", 1.0


def _effort(knob: str, config: SearchConfig, value: Any) -> float:
    """How far a knob turns: alpha and tau as a share of their scale, counts by doublings, switches fully.

    >>> _effort("alpha", SearchConfig(alpha=0.5), 0.6), _effort("k", SearchConfig(k=10), 20)
    (0.1, 0.25)
    """
    if knob in ("alpha", "tau"):
        return round(abs(float(value) - float(getattr(config, knob))), 3)
    return round(log2(float(value) / float(getattr(config, knob))) / 4, 3) if knob in ("k", "depth") else 1.0


def _say(knob: str, config: SearchConfig, value: Any, rank: int) -> str:
    words = {
        "alpha": f"Move alpha from {config.alpha:g} to {value if isinstance(value, str) else format(value, 'g')}",
        "depth": f"Look {value} deep instead of {config.depth}",
        "tau": f"Move tau from {config.tau:g} to {value if isinstance(value, str) else format(value, 'g')}",
        "rerank": "Rerank always" if value == "always" else "Do not rerank",
    }
    return f"{words[knob]}: it comes to rank {rank}."
