"""The playground's notebook: saved configurations, past and starred queries, and links to whole setups."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from core import strict
from core.access import OWN_DATA, READS, Actor, use_case
from core.errors import BadInput, NotFound
from core.ports import Clock
from core.retrieval import config as configs
from core.services.people.audit import Audit
from core.services.playground.compare import MOST, Column
from core.storage.state.records import of_row
from core.types import Filters

if TYPE_CHECKING:
    from core.storage.state.database import Database

_HISTORY = 200  # queries per person; starred ones stay
_NAME = 60  # characters


@dataclass(frozen=True, slots=True)
class Setup:
    """Everything that a playground shows; stored behind a link as JSON, so its fields keep their names."""

    query: str = ""
    columns: tuple[Column, ...] = ()
    filters: Filters = field(default_factory=Filters)
    blind: bool = False
    tool: str = ""
    document: str = ""
    queryset: str = ""  # the set that is being judged, and which of its questions
    question: str = ""


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """A past query, with the link to its setup."""

    id: int
    query: str
    link: str
    starred: bool
    created: str


class Notebook:
    """Stores what people want to come back to."""

    def __init__(self, database: Database, clock: Clock, audit: Audit) -> None:
        self.database, self.clock, self.audit = database, clock, audit

    @use_case("save in the playground", OWN_DATA)
    def keep(self, actor: Actor, setup: Setup) -> str:
        """Store a setup and return its link; the same setup has the same link."""
        state, link = strict.canonical(setup), strict.digest(setup, 10)
        self.database.notebook.keep_link(link, state, actor.id, self.clock.stamp())
        return link

    @use_case("compare configurations", OWN_DATA)
    def opened(self, actor: Actor, link: str) -> Setup:
        state = self.database.notebook.linked(link)
        if state is None:
            raise NotFound(f"There is no playground link {link[:40]!r} in this workspace.")
        return check(strict.parse(Setup, json.loads(state), "link"))

    @use_case("save in the playground", OWN_DATA)
    def remember(self, actor: Actor, setup: Setup) -> None:
        """Put a query on top of the actor's history; the same query is listed once."""
        link = self.keep(actor, setup)
        with self.database.transaction() as state:
            state.notebook.put_on_top(actor.id, setup.query, link, self.clock.stamp())
            state.notebook.trim(actor.id, _HISTORY)

    @use_case("compare configurations", OWN_DATA)
    def history(self, actor: Actor, limit: int = 30) -> tuple[HistoryEntry, ...]:
        """The actor's queries: starred ones first, then the newest."""
        rows = self.database.notebook.history(actor.id, limit)
        return tuple(of_row(HistoryEntry, row) for row in rows)

    @use_case("save in the playground", OWN_DATA)
    def star(self, actor: Actor, number: int, on: bool = True) -> None:
        """Star a query, or take its star away."""
        if not self.database.notebook.star(actor.id, number, on):
            raise NotFound(f"There is no query {number} in your history.")

    @use_case("save in the playground")
    def save(self, actor: Actor, column: Column) -> Column:
        """Save a configuration for the team; the same name is replaced."""
        name = " ".join(column.name.split())
        if not name or len(name) > _NAME:
            raise BadInput(f"Give the configuration a name of 1 to {_NAME} characters.")
        configs.check(column.config)
        what = {"name": name, "profile": column.profile, "config": strict.canonical(column.config)}
        with self.database.transaction() as state:
            state.notebook.save(**what, who=actor.id, created=self.clock.stamp())
            self.audit.record(state, actor, "save a configuration", name)
        return replace(column, name=name)

    @use_case("compare configurations", READS)
    def saved(self, actor: Actor) -> dict[str, Column]:
        return {
            row.name: Column(row.profile, configs.from_mapping(json.loads(row.config)), row.name)
            for row in self.database.notebook.saved()
        }

    @use_case("save in the playground")
    def forget(self, actor: Actor, name: str) -> None:
        with self.database.transaction() as state:
            if not state.notebook.forget(name):
                raise NotFound(f"There is no saved configuration {name!r}.")
            self.audit.record(state, actor, "delete a configuration", name)


def check(setup: Setup) -> Setup:
    """The setup, if a playground can show it."""
    if len(setup.columns) > MOST:
        raise BadInput(f"A playground has at most {MOST} columns.")
    for column in setup.columns:
        configs.check(column.config)
    return setup
