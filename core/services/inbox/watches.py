"""Watching: a folder, a document or a question, and being told when a merge changes it or its answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.access import ANYBODY, OWN_DATA, SYSTEM, UPKEEP, Actor, reading_as, use_case
from core.errors import BadInput, ConcordError, NotFound
from core.ports import Clock
from core.services.inbox.messages import Messages, Subject
from core.services.inbox.news import Landing
from core.services.people.readership import actor_of
from core.storage.state.records import WatchRow, of_row
from core.types import Edit, Hit

if TYPE_CHECKING:
    from core.storage.state.database import Database, State

KINDS = ("folder", "document", "question")
MAX_WATCHES = 200  # of one person
ANSWERS = 5  # documents that count as the answers to a question
Search = Callable[[str], Sequence[Hit]]


@dataclass(frozen=True, slots=True)
class Watch:
    """What somebody wants to hear about: a folder or a document by path, a question by its words."""

    id: int
    account: str
    kind: str
    what: str
    created: str


class Watches:
    """What people watch. Folders and documents are looked at in the transaction of a merge, questions after an index
    build.
    """

    def __init__(self, database: Database, messages: Messages, clock: Clock, search: Search) -> None:
        self.database = database
        self.messages = messages
        self.clock = clock
        self.search = search

    @use_case("watch documents", OWN_DATA)
    def listed(self, actor: Actor) -> tuple[Watch, ...]:
        """One's own, the oldest first."""
        return tuple(map(_watch, self.database.watches.of(actor.id)))

    @use_case("watch documents", OWN_DATA)
    def watch(self, actor: Actor, kind: str, what: str) -> Watch:
        """Begin to watch; watching twice is watching once."""
        name = " ".join(what.split())[:500] if kind == "question" else what.strip("/ ")
        if kind not in KINDS:
            raise BadInput(f"A {kind!r} cannot be watched. Kinds: {', '.join(KINDS)}.")
        if not name:
            raise BadInput("Say what to watch: a folder, a document or a question.")
        mine = self.listed(actor)
        if len(mine) >= MAX_WATCHES:
            raise BadInput(f"You watch {MAX_WATCHES} things already. Stop watching something first.")
        seen = json.dumps(self._answers(name)) if kind == "question" else "[]"
        self.database.watches.add(account=actor.id, kind=kind, what=name, seen=seen, created=self.clock.stamp())
        return next(watch for watch in self.listed(actor) if (watch.kind, watch.what) == (kind, name))

    @use_case("watch documents", OWN_DATA)
    def stop(self, actor: Actor, number: int) -> None:
        if not self.database.watches.drop(actor.id, number):
            raise NotFound(f"You do not watch anything under the number {number}.")

    # ------------------------------------------------------------ what happened

    def landed(self, state: State, actor: Actor, landing: Landing, titles: dict[str, str]) -> None:
        """Tell who watches a document that changed, or a folder above it; a watch follows a document that moves."""
        touched: dict[str, list[Edit]] = {}
        for row in state.watches.all():
            for edit in landing.edits:
                if row.kind != "question" and _covers(row, edit):
                    touched.setdefault(row.account, []).append(edit)
                    if row.kind == "document" and edit.kind == "renamed":
                        state.watches.move(row.id, edit.path)
        for account, every in touched.items():
            edits = [edit for edit in dict.fromkeys(every) if self.messages.readable(state, account, edit.path)]
            if edits:
                whole = all(self.messages.readable(state, account, edit.path) for edit in landing.edits)
                words = landing.title if whole else ""
                self.messages.tell(state, actor, [account], "watched", _subject(edits, titles), words)

    @use_case(UPKEEP)
    def evaluate(self) -> int:
        """After an index build: tell who watches a question which documents are new or changed among its answers."""
        told = 0
        for row in self.database.watches.questions():
            account = self.database.accounts.get(row.account)
            with reading_as(actor_of(account) if account else ANYBODY):
                now, before = self._answers(row.what), json.loads(row.seen)
            fresh = [title for path, version, title in now if [path, version] not in [one[:2] for one in before]]
            if now != before:
                with self.database.transaction() as state:
                    state.watches.see(row.id, json.dumps(now))
                    if fresh:
                        subject = Subject("question", row.what, row.what)
                        words = f"New or changed among the answers: {', '.join(fresh)}"
                        self.messages.tell(state, SYSTEM, [row.account], "watched", subject, words)
                        told += 1
        return told

    def _answers(self, question: str) -> list[list[Any]]:
        """Path, version and title of the first documents; none while there is no index."""
        try:
            hits = self.search(question)
        except ConcordError:
            return []
        documents = {hit.path: [hit.path, hit.version, hit.title] for hit in reversed(hits)}
        return [documents[path] for path in dict.fromkeys(hit.path for hit in hits)][:ANSWERS]


def _watch(row: WatchRow) -> Watch:
    return of_row(Watch, row)


def _covers(row: WatchRow, edit: Edit) -> bool:
    paths = [path for path in (edit.path, edit.old_path) if path]
    if row.kind == "document":
        return row.what in paths
    return any(path.startswith(f"{row.what}/") for path in paths)


def _subject(edits: list[Edit], titles: dict[str, str]) -> Subject:
    """One document by title; several, or one that is gone, as their common folder."""
    if len(edits) == 1 and edits[0].path in titles:
        return Subject("document", edits[0].path, titles[edits[0].path])
    folder = _common([edit.path for edit in edits])
    noun = f"{len(edits)} documents" if len(edits) > 1 else edits[0].path
    return Subject("folder", folder, f"{noun} in {folder}" if folder and len(edits) > 1 else noun)


def _common(paths: list[str]) -> str:
    """The deepest folder that holds all paths.

    >>> _common(["fin/aml/a.md", "fin/b.md"]), _common(["a.md"])
    ('fin', '')
    """
    parts = [path.split("/")[:-1] for path in paths]
    shared = 0
    while all(len(part) > shared and part[shared] == parts[0][shared] for part in parts):
        shared += 1
    return "/".join(parts[0][:shared])
