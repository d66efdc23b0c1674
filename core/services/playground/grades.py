"""Grades of passages, anchored to file, heading and words, so that they survive re-chunking."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.access import Actor, require
from core.errors import BadInput
from core.ports import Clock
from core.services.people.accounts import shown_names
from core.services.people.audit import Audit
from core.types import Hit

if TYPE_CHECKING:
    from core.adapters.state.database import Database

GRADES: Mapping[int, str] = {0: "not relevant", 1: "related", 2: "relevant", 3: "answers it"}
_QUOTE = 2000  # characters of a passage that are stored


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


class Grades:
    """Stores grades; grading a passage again replaces its grade."""

    def __init__(self, database: Database, clock: Clock, audit: Audit) -> None:
        self.database, self.clock, self.audit = database, clock, audit

    def judge(self, actor: Actor, query: str, hit: Hit, grade: int, *, blind: bool = False) -> Grade:
        """Store a grade from 0 to 3. The audit gets one line per person and query: each grade keeps judge and time itself."""
        require(actor, "judge passages")
        if isinstance(grade, bool) or grade not in GRADES:
            raise BadInput(f"A grade is one of {', '.join(f'{n} ({word})' for n, word in GRADES.items())}.")
        judgment = Grade(_words(query), *anchor(hit), grade, actor.id, blind, self.clock.stamp(), actor.name)
        passage = {"path": judgment.path, "heading": judgment.heading, "quote": judgment.quote}
        row = {"query": judgment.query, **passage, "grade": grade, "judge": judgment.judge, "created": judgment.created}
        with self.database.transaction() as state:
            if all(known["judge"] != actor.id for known in state.grades.of(judgment.query)):
                self.audit.record(state, actor, "judge passages", judgment.query)
            state.grades.keep(**row, blind=int(blind))
        return judgment

    def of(self, actor: Actor, query: str = "") -> tuple[Grade, ...]:
        """Grades of one query, or all of them."""
        require(actor, "judge passages")
        rows, names = self.database.grades.of(_words(query)), shown_names(self.database.accounts)
        return tuple(
            Grade(**{**row, "blind": bool(row["blind"]), "name": names.get(row["judge"], row["judge"])}) for row in rows
        )

    def grades(self, actor: Actor, query: str, hits: Sequence[Hit]) -> dict[str, int]:
        """The actor's own grades of some hits, by chunk."""
        known = {(j.path, j.heading, j.quote): j.grade for j in self.of(actor, query) if j.judge == actor.id}
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


def anchor(hit: Hit) -> tuple[str, str, str]:
    """What a grade is anchored to: file, heading path, words."""
    return hit.path, " › ".join(hit.heading), " ".join(hit.text.split())[:_QUOTE]


def _words(query: str) -> str:
    return " ".join(query.split())
