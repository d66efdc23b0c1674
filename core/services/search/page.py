"""The Search page: hits grouped by document, with snippets, facets, and better words when nothing matches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from itertools import chain
from weakref import WeakKeyDictionary

from core.access import ANYONE, UPKEEP, use_case
from core.curation.document.names import top_folder
from core.curation.document.statuses import STATES, Freshness, freshness, parse_date
from core.ports import Clock, Index
from core.retrieval.sections import excerpt_of
from core.retrieval.snippets import WIDTH, Snippet, snippet
from core.services.platform.settings import TeamSettings
from core.services.search.searcher import PASSAGES, Searcher
from core.types import DocumentFacts, Filters, Hit, Result, SearchConfig

MAX_TAGS = 40
FIRST, LONG = 3, 800  # the best passages of the first documents have longer snippets, in characters
WARMED = 2_000  # passages whose snippets are prepared when the app starts, in about a second
PER_DOCUMENT = 3  # passages of a document that are shown


@dataclass(frozen=True, slots=True)
class PagePassage:
    """A hit with its snippet, and the whole passage where the snippet leaves something out."""

    hit: Hit
    snippet: Snippet
    whole: Snippet | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """A document with its passages, best first."""

    facts: DocumentFacts
    freshness: Freshness
    passages: tuple[PagePassage, ...]


@dataclass(frozen=True, slots=True)
class PageResults:
    """Everything the Search page shows."""

    result: Result
    groups: tuple[Group, ...]
    facets: dict[str, tuple[tuple[str, int], ...]]
    literal: bool
    nearest: tuple[str, ...]


def by_document(result: Result) -> dict[str, tuple[Hit, ...]]:
    """The passages to show of each document, best first."""
    grouped: dict[str, list[Hit]] = {}
    for hit in result.hits:
        grouped.setdefault(hit.doc, []).extend((hit, *hit.further[: PER_DOCUMENT - 1]))
    return {doc: tuple(hits[:PER_DOCUMENT]) for doc, hits in grouped.items()}


class SearchPage:
    """The everyday search, with the production configuration."""

    def __init__(self, searcher: Searcher, team_settings: TeamSettings, clock: Clock) -> None:
        self.searcher, self.team_settings, self.clock = searcher, team_settings, clock
        self._catalogues: WeakKeyDictionary[Index, _Catalogue] = WeakKeyDictionary()

    @use_case(ANYONE)
    def find(self, query: str, filters: Filters = Filters(), k: int = PASSAGES, as_of: str = "") -> PageResults:
        """Search and group; `literal` is False when no document uses the words, `nearest` has better spelt ones."""
        asked = self.searcher.everyday(query, filters, k, as_of)
        index, day, result = asked.index, asked.day, asked.result
        catalogue, open_filters = self._catalogue(index, day), _without_facets(filters)
        groups = self._groups(result, index, catalogue)
        near = result if filters == open_filters else self._unfiltered(index, query, asked.config, open_filters, day)
        literal = any("bm25" in hit.legs and hit.legs["bm25"].score > 0 for hit in result.hits)
        return PageResults(
            result=result,
            groups=groups,
            facets=_facets(result, near, catalogue, filters),
            literal=literal,
            nearest=self.searcher.suggestions(index, result),
        )

    @use_case(UPKEEP)
    def warm(self) -> None:
        """Search once, where there is an index, and prepare the snippets of the first passages: all of a small
        knowledge base.
        """
        if self.searcher.generations.current(self.team_settings.production().profile) is None:
            return
        self.find("warm up")
        index = self.searcher.index(words=True)
        for chunk in range(min(index.size, WARMED)):
            snippet(excerpt_of(index.excerpt(chunk), chunk, index).text, "", index.profile.lexical, index.rarity)

    def _unfiltered(self, index: Index, query: str, config: SearchConfig, filters: Filters, day: date | None) -> Result:
        """What would be listed without the chosen values; a reranker is too slow for a count."""
        return self.searcher.found_in(index, query, replace(config, rerank="off"), filters, day=day)

    def _catalogue(self, index: Index, day: date | None) -> _Catalogue:
        """Cached per generation and day: every search counts the same documents."""
        known, today = self._catalogues.get(index), day or self.clock.today()
        if known is None or known.day != today:
            known = self._catalogues[index] = _catalogue(index, today)
        return known

    def _groups(self, result: Result, index: Index, known: _Catalogue) -> tuple[Group, ...]:
        asked = " ".join((result.query, *result.also))
        return tuple(
            Group(
                *known.by_id[doc][1:],
                tuple(self._passage(hit, asked, index, LONG if n < FIRST else WIDTH) for hit in hits),
            )
            for n, (doc, hits) in enumerate(by_document(result).items())
        )

    def _passage(self, hit: Hit, query: str, index: Index, width: int) -> PagePassage:
        text = excerpt_of(hit.text, index.number(hit.chunk), index).text
        show = partial(snippet, text, query, index.profile.lexical, index.rarity)
        part = show(width)
        is_cut = part.cut_before or part.cut_after or sum(len(segment.text) for segment in part.segments) < len(text)
        return PagePassage(hit, part, show(len(text)) if is_cut else None)


@dataclass(frozen=True, slots=True)
class _Catalogue:
    """The documents of a generation on one day: by id with their numbers, and the values of each facet by document
    number.
    """

    day: date
    by_id: Mapping[str, tuple[int, DocumentFacts, Freshness]]
    columns: Mapping[str, Sequence[tuple[str, ...]]]


def _catalogue(index: Index, today: date) -> _Catalogue:
    fresh = [freshness_of(facts, today) for facts in index.documents]
    columns: dict[str, Sequence[tuple[str, ...]]] = {
        "types": [(facts.doc_type,) for facts in index.documents],
        "statuses": [(facts.status,) for facts in index.documents],
        "freshness": [(state.state,) for state in fresh],
        "folders": [(top_folder(facts.path),) for facts in index.documents],
        "owners": [(facts.owner,) for facts in index.documents],
        "tags": [facts.tags for facts in index.documents],
    }
    by_id = {facts.doc: (n, facts, state) for n, (facts, state) in enumerate(zip(index.documents, fresh, strict=True))}
    return _Catalogue(today, by_id, columns)


def _facets(
    result: Result, near: Result, catalogue: _Catalogue, filters: Filters
) -> dict[str, tuple[tuple[str, int], ...]]:
    """How many documents of the list have each value; for values that were not chosen, how many would be listed
    without filters.
    """
    listed, others = ({catalogue.by_id[hit.doc][0] for hit in found.hits} for found in (result, near))
    facets = {}
    for name, column in catalogue.columns.items():
        counts, more = (Counter(chain.from_iterable(map(column.__getitem__, docs))) for docs in (listed, others))
        if chosen := getattr(filters, name):
            counts = Counter({**more, **{value: counts[value] for value in chosen}})
        facets[name] = _ordered(counts, STATES if name == "freshness" else ())[: MAX_TAGS if name == "tags" else None]
    return facets


def _without_facets(filters: Filters) -> Filters:
    """What facets are counted with: values that were not chosen keep their counts."""
    return Filters(docs=filters.docs, history=filters.history or bool(filters.statuses))


def freshness_of(facts: DocumentFacts, today: date) -> Freshness:
    return freshness(parse_date(facts.effective_date), parse_date(facts.review_due), today)


def _ordered(counts: Mapping[str, int], order: Sequence[str] = ()) -> tuple[tuple[str, int], ...]:
    """Values with their counts, most frequent first or in `order`; empty values are left out."""
    if order:
        return tuple((value, counts[value]) for value in order if value in counts)
    return tuple(sorted(((value, n) for value, n in counts.items() if value), key=lambda item: (-item[1], item[0])))
