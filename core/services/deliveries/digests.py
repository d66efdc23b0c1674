"""The daily digest: what was held since the last one, and below it what waits for somebody anyway."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from core import strict
from core.access import Actor, allowed, reading_as
from core.services.deliveries.choices import TOPICS, topic_of
from core.services.deliveries.letters import DIGEST
from core.services.deliveries.outbox import Outbox, OutboxItem
from core.services.people.accounts import Accounts
from core.services.people.directory import owners
from core.storage.state.records import HeldDelivery
from core.types import Document

if TYPE_CHECKING:
    from core.services.knowledge.freshness import FreshnessBoard
    from core.services.reviews.changes import Changes
    from core.storage.state.database import Database, State

IN_DIGEST = "in digest"  # the state of what became a part of one
MOST = 20  # lines under one heading
DigestLine = dict[str, str]  # what, note, address
Standing = Callable[[Actor], list[tuple[str, list[DigestLine]]]]


class Digests:
    """Makes one letter a day for everybody who has something new, at an hour of a time zone."""

    def __init__(
        self, database: Database, outbox: Outbox, accounts: Accounts, standing: Standing, hour: int, zone: str
    ) -> None:
        self.database = database
        self.outbox = outbox
        self.accounts = accounts
        self.standing = standing
        self.hour, self.zone = hour, ZoneInfo(zone)
        self._done = 0.0

    def collect(self) -> int:
        """Put the digests of today into the outbox, once its hour has come; how many that makes."""
        moment, day = last_moment(self.outbox.now(), self.hour, self.zone)
        if self._done == moment:
            return 0
        people = {row.target for row in self.database.deliveries.held(moment)}
        made = sum(self._collect(account, moment, day) for account in sorted(people))
        self._done = moment
        return made

    def _collect(self, name: str, moment: float, day: date) -> bool:
        account = self.accounts.get(name)
        standing = self.standing(account.actor) if account.active else []
        key = f"digest_{strict.digest([name, day.isoformat()], 24)}"
        with self.database.transaction() as state:
            rows = [row for row in state.deliveries.held(moment) if row.target == name]
            if not rows or state.deliveries.by_key(key):
                return False
            news = [row for row in rows if not row.read and self._may_be_told(state, account.actor, row)]
            if news and account.active:
                self.outbox.put(state, OutboxItem(key, "mail", name, DIGEST, _content(news, standing, day)))
            sent = state.deliveries.by_key(key)
            self._end(state, rows, sent.id if sent else 0)
        return bool(news) and account.active

    def _may_be_told(self, state: State, actor: Actor, row: HeldDelivery) -> bool:
        """What was held may have been hidden since."""
        return self.accounts.messages.readership.may_be_told(state, actor, json.loads(row.content))

    def _end(self, state: State, rows: Iterable[HeldDelivery], number: int) -> None:
        stamp = self.outbox.clock.stamp()
        for row in rows:
            if row.read or not number:
                note = "It was read before the digest." if row.read else "The account is switched off."
                state.deliveries.set(row.id, state="cancelled", note=note, ended=stamp)
            else:
                state.deliveries.set(row.id, state=IN_DIGEST, digest=number, ended=stamp)


def last_moment(now: float, hour: int, zone: ZoneInfo) -> tuple[float, date]:
    """The last time that the clocks of a zone showed the hour, and the day of it.

    Where the clocks skip it, the moment an hour later counts; where they show it twice, the first time.

    >>> moment = datetime(2026, 11, 16, 6, 30, tzinfo=ZoneInfo("UTC")).timestamp()
    >>> str(last_moment(moment, 7, ZoneInfo("UTC"))[1]), str(last_moment(moment, 7, ZoneInfo("Europe/Berlin"))[1])
    ('2026-11-15', '2026-11-16')
    """
    local = datetime.fromtimestamp(now, zone)
    day = local.date()
    at = datetime(day.year, day.month, day.day, hour, tzinfo=zone).timestamp()
    if at > now:
        day -= timedelta(days=1)
        at = datetime(day.year, day.month, day.day, hour, tzinfo=zone).timestamp()
    return at, day


def _content(rows: Sequence[HeldDelivery], standing: list[tuple[str, list[DigestLine]]], day: date) -> dict[str, Any]:
    news = _news(rows)
    listed = {line["address"] for lines in news.values() for line in lines}
    parts = [(TOPICS[topic][0], news[topic]) for topic in TOPICS if topic in news]
    parts += [(heading, [line for line in lines if line["address"] not in listed]) for heading, lines in standing]
    count = sum(map(len, news.values()))
    names = {name for row in rows for name in json.loads(row.content).get("names", ())}
    names |= {line["near"] for _, lines in standing for line in lines if line.get("near")}
    return {
        "names": sorted(names),
        "subject": f"{count} new in Concord, {day.day} {day:%b %Y}",
        "parts": [{"heading": heading, "lines": _cut(lines)} for heading, lines in parts if lines],
    }


def _news(rows: Sequence[HeldDelivery]) -> dict[str, list[DigestLine]]:
    """Topic to lines; several causes of one message are one line with all their words."""
    by_message: dict[tuple[int, str], list[dict[str, Any]]] = {}
    for row in rows:
        content = json.loads(row.content)
        by_message.setdefault((row.message, content["sentence"]), []).append(content)
    news: dict[str, list[DigestLine]] = {}
    for contents in by_message.values():
        words = dict.fromkeys(content["text"] for content in contents if content["text"])
        line = {"what": contents[-1]["sentence"], "note": " · ".join(words)[:400], "address": contents[-1]["address"]}
        news.setdefault(topic_of(contents[-1]["kind"]), []).append(line)
    return news


def _cut(lines: list[DigestLine]) -> list[DigestLine]:
    more = len(lines) - MOST
    return lines[:MOST] + ([{"what": f"and {more} more", "note": "", "address": "/inbox"}] if more > 0 else [])


class DigestContent:
    """What waits for somebody, whether it is new or not: reviews, review dates, questions."""

    def __init__(self, database: Database, changes: Changes, board: FreshnessBoard) -> None:
        self.database, self.changes, self.board = database, changes, board

    def of(self, actor: Actor) -> list[tuple[str, list[DigestLine]]]:
        """Headings with their lines; empty ones are left out."""
        with reading_as(actor):
            return self._of(actor)

    def _of(self, actor: Actor) -> list[tuple[str, list[DigestLine]]]:
        parts = [
            ("Waiting for your review", list(self._reviews(actor))),
            ("Due for review", list(self._due(actor))),
            ("Questions for you to answer", list(self._questions(actor))),
        ]
        return [(heading, lines) for heading, lines in parts if lines]

    def _reviews(self, actor: Actor) -> Iterable[DigestLine]:
        if allowed(actor, "propose a change"):
            for change in self.changes.asked_of(actor):
                yield _line(change.title, f"by {change.author_name}", "/reviews", change=change.id)

    def _due(self, actor: Actor) -> Iterable[DigestLine]:
        attention = self.board.attention()
        accounts = self.changes.accounts.all()
        for dated, words in ((attention.overdue, "The review date has passed"), (attention.due_soon, "Review date")):
            for document, _ in dated:
                if _owns(accounts, document, actor):
                    yield _line(document.title, f"{words}: {document.meta.review_due}", "/documents", doc=document.path)

    def _questions(self, actor: Actor) -> Iterable[DigestLine]:
        if allowed(actor, "see reported gaps"):
            readership = self.changes.readership
            for row in self.database.gaps.open():
                if row.owner == actor.id and readership.sees_gap(row, readership.now()):
                    yield {**_line(row.query, row.note, "/search", q=row.query), "near": row.near}


def _owns(accounts: Sequence[Any], document: Document, actor: Actor) -> bool:
    return bool(document.meta.owner) and actor.id in {
        account.id for account in owners(accounts, document.meta.owner)[0]
    }


def _line(what: str, note: str, page: str, **query: Any) -> DigestLine:
    return {"what": what, "note": note, "address": f"{page}?{urlencode(query)}"}
