"""Pools of passages for judges: what configurations found, what judges add, and whether the answer was good."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from core import strict
from core.access import READS, Actor, use_case
from core.errors import BadInput, NotFound, one_of
from core.evaluation.querysets import anchoring
from core.evaluation.querysets.queryset import Judgment, Question
from core.evaluation.querysets.ratings import FIRST, KINDS, RATINGS, AddedPassage, Rating, words_of
from core.ports import Clock, Index
from core.retrieval import config as configs
from core.services.people.accounts import shown_names
from core.services.people.audit import Audit
from core.services.playground.compare import passage
from core.services.playground.grades import anchor, pool
from core.services.search.searcher import Searcher
from core.services.search.written_answers import Answerer
from core.storage.state.records import PoolAdditionRow, of_row
from core.types import Hit

if TYPE_CHECKING:
    from core.storage.state.database import Database

FINDER = configs.parse("rrf-60")  # finds what to add: one that asks no paid model, whatever is compared
SHOWN = 12  # passages that it offers
NOTHING = "Nothing was found."
_NOTE = 1000  # characters
ANSWER = 4000  # characters of an answer that are stored


@dataclass(frozen=True, slots=True)
class ShownAnswer:
    """An answer as people see it: the first result, or what a language model wrote; `by` names the model."""

    kind: str
    text: str
    title: str = ""
    heading: tuple[str, ...] = ()
    by: str = ""
    advice: str = ""


class Pools:
    """What judges of a query grade together; an addition of one of them is there for all."""

    def __init__(
        self,
        database: Database,
        searcher: Searcher,
        first: Callable[[str], Sequence[Hit]],
        answerer: Answerer,
        clock: Clock,
        audit: Audit,
    ) -> None:
        """`first` gives the hits of a query in the order in which people see them."""
        self.database = database
        self.searcher = searcher
        self.first = first
        self.answerer = answerer
        self.clock, self.audit = clock, audit

    @use_case("judge passages", READS)
    def pool(self, actor: Actor, query: str, columns: Sequence[Sequence[Hit]], index: Index) -> tuple[Hit, ...]:
        """What the columns found and what judges added, shuffled: nobody sees where a passage comes from."""
        added = self.added(actor, query, index)
        return pool([*columns, added], int(strict.digest(words_of(query), 8), 16))

    @use_case("judge passages", READS)
    def added(self, actor: Actor, query: str, index: Index) -> tuple[Hit, ...]:
        """What judges added to the pool of a query, where this index has it."""
        places = [_judgment(row) for row in self.database.pools.added(words_of(query))]
        chunks = dict.fromkeys(chunk for place in places for chunk in anchoring.anchor(place, index).chunks[:1])
        return tuple(passage(index, chunk) for chunk in chunks)

    @use_case("judge passages", READS)
    def added_chunks(self, actor: Actor, questions: Sequence[Question], index: Index) -> dict[str, list[str]]:
        """What judges added to the pools of some questions, by the id of the question."""
        return {asked.id: [hit.chunk for hit in self.added(actor, asked.text, index)] for asked in questions}

    @use_case("judge passages", READS)
    def find(self, actor: Actor, words: str, index: Index) -> tuple[Hit, ...]:
        """Passages that could be added, by title and place: no order tells what ranked first."""
        if not words.strip():
            return ()
        hits = self.searcher.search_in(index, words_of(words), replace(FINDER, k=SHOWN, depth=SHOWN)).hits
        return tuple(sorted(hits, key=lambda hit: (hit.title, hit.path, hit.start)))

    @use_case("judge passages")
    def add(self, actor: Actor, query: str, hit: Hit, pooled: Sequence[Hit]) -> AddedPassage:
        """Put a passage that a pool lacks into it, for every judge."""
        if anchor(hit) in map(anchor, pooled):
            raise BadInput("This passage is in the list already. Grade it there.")
        place = _place(actor, query, hit)
        new, created = hit.path not in {known.path for known in pooled}, self.clock.stamp()
        with self.database.transaction() as state:
            state.pools.add(**place, new_document=int(new), created=created)
            self.audit.record(state, actor, "add to a pool", place["query"], detail=hit.path)
        return AddedPassage(**place, new_document=new, created=created, name=actor.name)

    @use_case("judge passages")
    def remove(self, actor: Actor, query: str, hit: Hit) -> None:
        """Take one's own addition out again; grades of the passage stay."""
        place = _place(actor, query, hit)
        with self.database.transaction() as state:
            if not state.pools.remove(**place):
                raise NotFound(f"You did not add this passage of {hit.path} to the pool of this query.")
            self.audit.record(state, actor, "take out of a pool", place["query"], detail=hit.path)

    @use_case("judge passages", READS)
    def own(self, actor: Actor, query: str, hits: Sequence[Hit]) -> frozenset[str]:
        """The chunks among some hits that the actor added."""
        mine = {
            (row.path, row.heading, row.quote)
            for row in self.database.pools.added(words_of(query))
            if row.judge == actor.id
        }
        return frozenset(hit.chunk for hit in hits if anchor(hit) in mine)

    @use_case("judge passages", READS)
    def answer(self, actor: Actor, query: str, kind: str = FIRST) -> ShownAnswer:
        """What people see first for a query, or what a language model writes from what they see."""
        hits = self.first(words_of(query))
        if not hits:
            return ShownAnswer(_known(kind), NOTHING)
        if _known(kind) == FIRST:
            return ShownAnswer(kind, hits[0].text, hits[0].title, hits[0].heading)
        reply = self.answerer.ask(actor, words_of(query), hits)
        return ShownAnswer(kind, reply.text, by=reply.model, advice=reply.advice)

    @use_case("judge passages")
    def rate(self, actor: Actor, query: str, shown: ShownAnswer, rating: str, note: str = "") -> Rating:
        """Say whether an answer was good; saying it again replaces what one said."""
        if rating not in RATINGS:
            raise BadInput(f"{rating!r} is no rating. Say whether the answer was good: {', '.join(RATINGS)}.")
        if len(note) > _NOTE:
            raise BadInput(f"The note has {len(note):,} characters; the limit is {_NOTE:,}.")
        given = {"query": words_of(query), "kind": _known(shown.kind), "judge": actor.id, "rating": rating}
        given |= {"answer": shown.text[:ANSWER], "note": note.strip(), "created": self.clock.stamp()}
        with self.database.transaction() as state:
            state.pools.rate(**given)
            self.audit.record(state, actor, "rate an answer", given["query"], detail=f"{shown.kind}: {rating}")
        return Rating(**given, name=actor.name)

    @use_case("judge passages", READS)
    def ratings(self, actor: Actor, query: str = "") -> tuple[Rating, ...]:
        """What judges said of the answers to a query, or to all of them."""
        names = shown_names(self.database.accounts)
        rows = self.database.pools.ratings(words_of(query))
        return tuple(of_row(Rating, row, name=str(names.get(row.judge, row.judge))) for row in rows)


def _known(kind: str) -> str:
    one_of(kind, KINDS, "kind of answer", "Kinds")
    return kind


def _place(actor: Actor, query: str, hit: Hit) -> dict[str, Any]:
    path, heading, quote = anchor(hit)
    return {"query": words_of(query), "path": path, "heading": heading, "quote": quote, "judge": actor.id}


def _judgment(row: PoolAdditionRow) -> Judgment:
    heading = tuple(step for step in row.heading.split(" › ") if step)
    return Judgment("", row.path, heading, row.quote)
