"""Judging in place: how relevant a passage is to a query, anchored to file, heading and words, so that it survives re-chunking."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.access import Actor, require
from core.errors import BadInput
from core.ports import Clock, Database
from core.services.people.accounts import shown_names
from core.types import Hit

GRADES: Mapping[int, str] = {0: "not relevant", 1: "related", 2: "relevant", 3: "answers it"}
_QUOTE = 2000  # characters of a passage that a judgment remembers


@dataclass(frozen=True, slots=True)
class Grade:
    """What one person said about one passage for one query. `judge` is an account's id, `name` what people call it."""

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
    """Keeps judgments; a second look replaces the first."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self.database, self.clock = database, clock

    def judge(self, actor: Actor, query: str, hit: Hit, grade: int, *, blind: bool = False) -> Grade:
        """Keep one grade from 0 to 3."""
        require(actor, "judge passages")
        if isinstance(grade, bool) or grade not in GRADES:
            raise BadInput(f"A grade is one of {', '.join(f'{n} ({word})' for n, word in GRADES.items())}.")
        made = Grade(_words(query), *anchor(hit), grade, actor.id, blind, self.clock.stamp(), actor.name)
        self.database.execute(
            "INSERT INTO judged (query, path, heading, quote, grade, judge, blind, created) VALUES (?, ?, ?, ?, ?, ?, ?, ?) "
            "ON CONFLICT (query, path, heading, quote, judge) DO UPDATE SET grade = excluded.grade, blind = excluded.blind, created = excluded.created",
            (made.query, made.path, made.heading, made.quote, grade, made.judge, int(blind), made.created),
        )
        return made

    def of(self, query: str = "") -> tuple[Grade, ...]:
        """Judgments of one query, or all of them."""
        wanted = _words(query)
        columns = "query, path, heading, quote, grade, judge, blind, created"
        rows = self.database.query(
            f"SELECT {columns} FROM judged WHERE query = ? OR ? = '' ORDER BY id", (wanted, wanted)
        )
        names = shown_names(self.database)
        return tuple(
            Grade(**{**row, "blind": bool(row["blind"])}, name=names.get(row["judge"], row["judge"])) for row in rows
        )

    def grades(self, query: str, judge: str, hits: Sequence[Hit]) -> dict[str, int]:
        """The grades that one account gave to some hits, by chunk."""
        known = {(j.path, j.heading, j.quote): j.grade for j in self.of(query) if j.judge == judge}
        return {hit.chunk: known[anchor(hit)] for hit in hits if anchor(hit) in known}


def pool(columns: Sequence[Sequence[Hit]], seed: int) -> tuple[Hit, ...]:
    """Every passage of all columns once, shuffled: a judge cannot see who found what."""
    once: dict[Any, Hit] = {}
    for hits in columns:
        for hit in hits:
            once.setdefault(anchor(hit), hit)
    order = [once[key] for key in sorted(once)]
    random.Random(seed).shuffle(order)
    return tuple(order)


def anchor(hit: Hit) -> tuple[str, str, str]:
    """What a judgment holds on to: file, heading path, words."""
    return hit.path, " › ".join(hit.heading), " ".join(hit.text.split())[:_QUOTE]


def _words(query: str) -> str:
    return " ".join(query.split())
