"""Drafts that were not saved yet, gaps and feedback; what that means to people: messages, watches and reminders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import and_, bindparam, delete, func, or_, select, update

from core.storage.state.records import (
    DraftPlace,
    DraftRow,
    Feedback,
    Gap,
    MessageRow,
    ReminderRow,
    Settlement,
    WatchRow,
)
from core.storage.state.tables import accounts, drafts, feedback, gaps, messages, reminders, settlements, watches
from core.storage.state.transactions import NumberedRows, StoredRows

# asked at every interaction, so built once
_UNREAD = (
    select(func.count()).select_from(messages).where(messages.c.account == bindparam("account"), messages.c.read == "")
)


class DraftRows(StoredRows):
    """The table `drafts`."""

    def keep(self, who: str, place: str, text: str, at: str) -> None:
        """One text per person and place."""
        self._run.upsert(drafts, [{"who": who, "place": place, "text": text, "at": at}])

    def get(self, who: str, place: str) -> DraftRow | None:
        """The text and when it was kept."""
        mine = (drafts.c.who == who, drafts.c.place == place)
        return self._run.first(DraftRow, select(drafts).where(*mine))

    def holds(self, who: str, words: str) -> bool:
        """Whether a draft of a person has some words in it."""
        mine = (drafts.c.who == who, drafts.c.text.contains(words, autoescape=True))
        return self._run.first(DraftRow, select(drafts).where(*mine)) is not None

    def ending(self, who: str, ending: str) -> list[DraftRow]:
        """Drafts of a person whose places end alike, last typed first."""
        mine = (drafts.c.who == who, drafts.c.place.endswith(ending, autoescape=True))
        return self._run.rows(DraftRow, select(drafts).where(*mine).order_by(drafts.c.at.desc()))

    def at(self, path: str) -> list[DraftPlace]:
        """Who types at a document, in any change, last typed first; not what they typed."""
        columns = (drafts.c.who, accounts.c.name, drafts.c.place, drafts.c.at)
        here = drafts.c.place.endswith(f":{path}", autoescape=True)
        joined = select(*columns).join(accounts, accounts.c.id == drafts.c.who)
        return self._run.rows(DraftPlace, joined.where(here).order_by(drafts.c.at.desc()))

    def drop(self, who: str, place: str) -> None:
        self._run.change(delete(drafts).where(drafts.c.who == who, drafts.c.place == place))


class GapRows(NumberedRows[Gap]):
    """The table `gaps`."""

    kind, table = Gap, gaps

    def open(self) -> list[Gap]:
        """Newest first."""
        return self._run.rows(Gap, select(gaps).where(gaps.c.closed == "").order_by(gaps.c.id.desc()))

    def all(self) -> list[Gap]:
        """Open and closed, newest first."""
        return self._run.rows(Gap, select(gaps).order_by(gaps.c.id.desc()))


class SettlementRows(StoredRows):
    """The table `settlements`."""

    def keep(self, settlement: Settlement) -> None:
        """One per disagreement."""
        self._run.upsert(settlements, [vars(settlement)])

    def all(self) -> dict[str, Settlement]:
        """What was said, by the key of the disagreement."""
        return {row.key: row for row in self._run.rows(Settlement, select(settlements))}

    def drop(self, key: str) -> None:
        self._run.change(delete(settlements).where(settlements.c.key == key))


class FeedbackRows(NumberedRows[Feedback]):
    """The table `feedback`."""

    kind, table = Feedback, feedback

    def of(self, path: str) -> list[Feedback]:
        """On one document, newest first."""
        return self._run.rows(Feedback, select(feedback).where(feedback.c.path == path).order_by(feedback.c.id.desc()))

    def open(self) -> list[Feedback]:
        """What nobody has answered, newest first."""
        waiting = (feedback.c.closed == "", feedback.c.kind != "right")
        return self._run.rows(Feedback, select(feedback).where(*waiting).order_by(feedback.c.id.desc()))

    def close(self, number: int, **values: Any) -> None:
        """Answered: when, by whom, with what words."""
        self._run.change(update(feedback).where(feedback.c.id == number).values(**values))

    def move(self, path: str, to: str) -> None:
        """The document has another path."""
        self._run.change(update(feedback).where(feedback.c.path == path).values(path=to))


class MessageRows(NumberedRows[MessageRow]):
    """The table `messages`."""

    kind, table = MessageRow, messages

    def of(self, account: str, unread: bool, kind: str, limit: int) -> list[MessageRow]:
        """Newest first."""
        wanted = [messages.c.account == account]
        wanted += [messages.c.read == ""] if unread else []
        wanted += [messages.c.kind == kind] if kind else []
        newest = (messages.c.at.desc(), messages.c.id.desc())
        return self._run.rows(MessageRow, select(messages).where(*wanted).order_by(*newest).limit(limit))

    def unread(self, account: str) -> int:
        return int(self._run.value(_UNREAD, account=account))

    def about(self, account: str, about: str, ref: str) -> list[MessageRow]:
        """Those about one thing."""
        mine = (messages.c.account == account, messages.c.about == about, messages.c.ref == ref)
        return self._run.rows(MessageRow, select(messages).where(*mine).order_by(messages.c.id))

    def read(self, account: str, numbers: Sequence[int], at: str) -> int:
        """Mark some of an account as read, or all; how many were new."""
        mine = [messages.c.account == account, messages.c.read == ""]
        mine += [messages.c.id.in_(list(numbers))] if numbers else []
        return self._run.change(update(messages).where(*mine).values(read=at))

    def drop(self, account: str, kind: str, about: str, ref: str) -> None:
        """Take back what an account has not read, since its cause is gone."""
        mine = (messages.c.account == account, messages.c.about == about, messages.c.ref == ref)
        self._run.change(delete(messages).where(*mine, messages.c.kind == kind, messages.c.read == ""))

    def forget(self, account: str, read_before: str, before: str, limit: int) -> None:
        """Drop read ones and all that are too old, and whatever is more than the limit."""
        kept = select(messages.c.id).where(messages.c.account == account).order_by(messages.c.id.desc()).limit(limit)
        old = or_(and_(messages.c.read != "", messages.c.at < read_before), messages.c.at < before)
        gone = or_(old, messages.c.id.not_in(kept))
        self._run.change(delete(messages).where(messages.c.account == account, gone))


class WatchRows(StoredRows):
    """The table `watches`."""

    def of(self, account: str) -> list[WatchRow]:
        """Of one account, the oldest first."""
        return self._run.rows(WatchRow, select(watches).where(watches.c.account == account).order_by(watches.c.id))

    def all(self) -> list[WatchRow]:
        """Of everybody."""
        return self._run.rows(WatchRow, select(watches).order_by(watches.c.id))

    def questions(self) -> list[WatchRow]:
        """Questions of everybody."""
        return self._run.rows(WatchRow, select(watches).where(watches.c.kind == "question").order_by(watches.c.id))

    def add(self, **values: Any) -> None:
        """A new one, unless it is there."""
        self._run.upsert(watches, [values], ["account", "kind", "what"], ())

    def see(self, number: int, seen: str) -> None:
        """What the answers to a question are now."""
        self._run.change(update(watches).where(watches.c.id == number).values(seen=seen))

    def move(self, number: int, what: str) -> None:
        """A document has another path; whoever watches that one already watches it once."""
        this = select(watches.c.account).where(watches.c.id == number).scalar_subquery()
        taken = select(watches.c.id).where(
            watches.c.account == this, watches.c.kind == "document", watches.c.what == what, watches.c.id != number
        )
        self._run.change(delete(watches).where(watches.c.id.in_(taken)))
        self._run.change(update(watches).where(watches.c.id == number).values(what=what))

    def drop(self, account: str, number: int) -> int:
        """One of an account; how many that were."""
        return self._run.change(delete(watches).where(watches.c.account == account, watches.c.id == number))


class ReminderRows(StoredRows):
    """The table `reminders`: who was told about which review date."""

    def all(self) -> set[tuple[str, str, str, str]]:
        """Account, path, date, and whether it was near or past."""
        rows = self._run.rows(ReminderRow, select(reminders))
        return {(row.account, row.path, row.review_due, row.state) for row in rows}

    def add(self, account: str, path: str, review_due: str, state: str) -> None:
        self._run.insert(reminders, account=account, path=path, review_due=review_due, state=state)
