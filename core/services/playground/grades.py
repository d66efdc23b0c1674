"""Grades of passages, anchored to file, heading and words, so that they survive re-chunking."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from core import strict
from core.access import READS, Actor, use_case
from core.errors import BadInput, NotFound
from core.evaluation.measures import by_name
from core.evaluation.querysets import anchoring
from core.evaluation.querysets.queryset import Judgment
from core.evaluation.querysets.ratings import words_of
from core.ports import Clock, Index
from core.services.people.accounts import shown_names
from core.services.people.audit import Audit
from core.storage.state.records import of_row
from core.types import Hit

if TYPE_CHECKING:
    from core.storage.state.database import Database

GRADES: Mapping[int, str] = {0: "not relevant", 1: "related", 2: "relevant", 3: "answers it"}
K = 10  # hits that live scores look at
_QUOTE = 2000  # characters of a passage that are stored
_NOTE = 1000  # characters


@dataclass(frozen=True, slots=True)
class Grade:
    """One person's grade of one passage for one query. `judge` is an account's id, `name` its display name."""

    query: str
    path: str
    heading: str
    quote: str
    grade: int
    judge: str
    blind: bool
    created: str = ""
    name: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class LiveScore:
    """What the judgments so far say of a ranking's first hits; what nobody judged counts as not relevant."""

    ndcg: float
    precision: float
    judged: int
    shown: int

    @property
    def unjudged(self) -> int:
        return self.shown - self.judged


class Grades:
    """Stores grades; grading a passage again replaces its grade."""

    def __init__(self, database: Database, clock: Clock, audit: Audit) -> None:
        self.database, self.clock, self.audit = database, clock, audit

    @use_case("judge passages")
    def judge(
        self, actor: Actor, query: str, hit: Hit, grade: int, *, blind: bool = False, note: str | None = None
    ) -> Grade:
        """Store a grade from 0 to 3; without a note, the one before stays.

        The audit gets one line per person and query: each grade keeps judge and time itself.
        """
        if isinstance(grade, bool) or grade not in GRADES:
            raise BadInput(f"A grade is one of {', '.join(f'{n} ({word})' for n, word in GRADES.items())}.")
        if note is not None and len(note) > _NOTE:
            raise BadInput(f"The note has {len(note):,} characters; the limit is {_NOTE:,}.")
        place = _place(actor, query, hit)
        with self.database.transaction() as state:
            mine = [known for known in state.grades.of(place["query"]) if known.judge == actor.id]
            if not mine:
                self.audit.record(state, actor, "judge passages", place["query"])
            before = next(
                (known.note for known in mine if all(getattr(known, name) == value for name, value in place.items())),
                "",
            )
            told = {"note": before if note is None else note.strip(), "created": self.clock.stamp()}
            state.grades.keep(**place, grade=grade, blind=int(blind), **told)
        return Grade(**place, grade=grade, blind=blind, name=actor.name, **told)

    @use_case("judge passages")
    def withdraw(self, actor: Actor, query: str, hit: Hit) -> None:
        """Take the actor's own grade of a passage back, with the judgments that query sets got from it."""
        place = _place(actor, query, hit)
        with self.database.transaction() as state:
            if not state.grades.drop(**place):
                raise NotFound(f"You gave no grade to this passage of {hit.path} for this query.")
            steps = json.dumps(list(_steps(place["heading"])), ensure_ascii=False)
            state.querysets.drop_copies(question_id(place["query"]), hit.path, steps, place["quote"], actor.id)
            self.audit.record(state, actor, "withdraw a grade", place["query"], detail=hit.path)

    @use_case("compare configurations", READS)
    def scores(
        self, actor: Actor, query: str, columns: Sequence[tuple[Index, Sequence[Hit]]]
    ) -> tuple[LiveScore | None, ...]:
        """What everybody's grades of a query so far say of each column; None where nobody graded anything."""
        judgments = tuple(
            Judgment("", grade.path, _steps(grade.heading), grade.quote, grade.grade, "person", grade.judge)
            for grade in self.of(actor, query)
        )
        return tuple(_score(judgments, index, hits[:K]) if judgments else None for index, hits in columns)

    @use_case("compare configurations", READS)
    def of(self, actor: Actor, query: str = "") -> tuple[Grade, ...]:
        """Grades of one query, or all of them."""
        rows, names = self.database.grades.of(words_of(query)), shown_names(self.database.accounts)
        return tuple(of_row(Grade, row, name=names.get(row.judge, row.judge)) for row in rows)

    @use_case("compare configurations", READS)
    def grades(self, actor: Actor, query: str, hits: Sequence[Hit]) -> dict[str, Grade]:
        """The actor's own grades of some hits, by chunk."""
        known = {(j.path, j.heading, j.quote): j for j in self.of(actor, query) if j.judge == actor.id}
        return {hit.chunk: known[anchor(hit)] for hit in hits if anchor(hit) in known}


def pool(columns: Sequence[Sequence[Hit]], seed: int) -> tuple[Hit, ...]:
    """Every passage of all columns once, shuffled, so that a judge cannot tell which column found it."""
    once: dict[Any, Hit] = {}
    for hits in columns:
        for hit in hits:
            once.setdefault(anchor(hit), hit)
    order = [once[key] for key in sorted(once)]
    random.Random(seed).shuffle(order)
    return tuple(order)


def question_id(query: str) -> str:
    """What a query set calls a question that came from the playground."""
    return strict.digest(query, 10)


def anchor(hit: Hit) -> tuple[str, str, str]:
    """What a grade is anchored to: file, heading path of the passage, words."""
    return hit.path, " › ".join(hit.passage_heading), " ".join(hit.text.split())[:_QUOTE]


@lru_cache(maxsize=8)
def _gains(judgments: tuple[Judgment, ...], index: Index) -> dict[str, float]:
    """The grade of each judged chunk; cached, since every move of a slider asks again."""
    gains = anchoring.gains(judgments, index, "passage").gains.get("", {})
    return {index.passage(chunk).id: gain for chunk, gain in gains.items()}


def _score(judgments: tuple[Judgment, ...], index: Index, hits: Sequence[Hit]) -> LiveScore:
    named = _gains(judgments, cast(Any, index))
    order = [hit.chunk for hit in hits]
    relevant = sum(named.get(chunk, 0.0) > 0 for chunk in order)
    precision = relevant / len(order) if order else 0.0
    return LiveScore(by_name.ndcg(order, named, K), precision, sum(chunk in named for chunk in order), len(order))


def _place(actor: Actor, query: str, hit: Hit) -> dict[str, str]:
    path, heading, quote = anchor(hit)
    return {"query": words_of(query), "path": path, "heading": heading, "quote": quote, "judge": actor.id}


def _steps(heading: str) -> tuple[str, ...]:
    return tuple(step for step in heading.split(" › ") if step)
