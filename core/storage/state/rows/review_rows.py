"""Changes, who was asked to review them, what was said about them, and the verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import BindParameter, Select, bindparam, delete, func, or_, select, update

from core.storage.state.records import (
    ChangeRow,
    CoAuthorRow,
    CommentRow,
    ImpactRow,
    LookRow,
    ReviewRequestRow,
    VerdictRow,
    WriterOfChange,
)
from core.storage.state.tables import changes, co_authors, comments, impacts, looks, review_requests, verdicts, viewed
from core.storage.state.transactions import NumberedRows, StoredRows

# asked for on every page of a change, so built once
_NUMBERS: BindParameter[Any] = bindparam("numbers", expanding=True)
_VERDICTS = select(verdicts).where(verdicts.c.change.in_(_NUMBERS)).order_by(verdicts.c.id)
_REQUESTS = select(review_requests).where(review_requests.c.change.in_(_NUMBERS))
_CO_AUTHORS = (
    select(co_authors).where(co_authors.c.change.in_(_NUMBERS)).order_by(co_authors.c.at, co_authors.c.account)
)
_CONVERSATIONS = (
    select(comments.c.change, func.count())
    .where(comments.c.change.in_(_NUMBERS), comments.c.thread == 0, comments.c.resolved == "")
    .group_by(comments.c.change)
)
_APPLIED = select(comments.c.change, comments.c.who).where(
    comments.c.change.in_(bindparam("numbers", expanding=True)),
    comments.c.applied != "",
    comments.c.body.contains("```suggestion"),
)
_NEWEST = select(func.max(comments.c.id)).where(comments.c.change == bindparam("number"))
_BY_OTHERS = (
    select(func.count())
    .select_from(comments)
    .where(comments.c.change == bindparam("number"), comments.c.who != bindparam("who"), comments.c.deleted == "")
    .where(comments.c.id > bindparam("after"))
)


class ChangeRows(NumberedRows[ChangeRow]):
    """The table `changes`."""

    kind, table = ChangeRow, changes

    def all(self, stages: Sequence[str] = (), author: str = "") -> list[ChangeRow]:
        """The one last touched first; in some stages, or of one author or co-author alone."""
        return self._run.rows(ChangeRow, _chosen(select(changes), stages, author))

    def numbers(self, stages: Sequence[str] = (), author: str = "") -> list[int]:
        """Their numbers alone, in the same order."""
        return self._run.column(_chosen(select(changes.c.id), stages, author))

    def some(self, numbers: Sequence[int]) -> list[ChangeRow]:
        """Those with these numbers, in any order."""
        return self._run.rows(ChangeRow, select(changes).where(changes.c.id.in_(_NUMBERS)), numbers=numbers)

    def counts(self) -> dict[str, int]:
        """Stage to how many are in it."""
        return self._run.pairs(select(changes.c.stage, func.count()).group_by(changes.c.stage))


def _chosen(wanted: Select[Any], stages: Sequence[str], author: str) -> Select[Any]:
    wanted = wanted.order_by(changes.c.updated.desc(), changes.c.id.desc())
    if stages:
        wanted = wanted.where(changes.c.stage.in_(stages))
    if author:
        shared = select(co_authors.c.change).where(co_authors.c.account == author)
        wanted = wanted.where(or_(changes.c.author == author, changes.c.id.in_(shared)))
    return wanted


class VerdictRows(NumberedRows[VerdictRow]):
    """The table `verdicts`."""

    kind, table = VerdictRow, verdicts

    def of_changes(self, numbers: Sequence[int]) -> list[VerdictRow]:
        """Oldest first."""
        return self._run.rows(VerdictRow, _VERDICTS, numbers=numbers)


class RequestRows(StoredRows):
    """The table `review_requests`."""

    def of_changes(self, numbers: Sequence[int]) -> list[ReviewRequestRow]:
        """Who was asked, in the order of asking."""
        return self._run.rows(
            ReviewRequestRow, _REQUESTS.order_by(review_requests.c.at, review_requests.c.account), numbers=numbers
        )

    def of_account(self, account: str) -> list[int]:
        """The changes that somebody was asked to review."""
        return self._run.column(select(review_requests.c.change).where(review_requests.c.account == account))

    def add(self, request: ReviewRequestRow) -> None:
        """Somebody is asked, perhaps again."""
        self._run.upsert(review_requests, [vars(request)])

    def drop(self, change: int, account: str) -> None:
        place = (review_requests.c.change == change, review_requests.c.account == account)
        self._run.change(delete(review_requests).where(*place))


class CoAuthorRows(StoredRows):
    """The table `co_authors`."""

    def of_changes(self, numbers: Sequence[int]) -> list[CoAuthorRow]:
        """Who was invited, in the order of the invitations."""
        return self._run.rows(CoAuthorRow, _CO_AUTHORS, numbers=numbers)

    def add(self, co_author: CoAuthorRow) -> None:
        """Somebody is invited, perhaps again."""
        self._run.upsert(co_authors, [vars(co_author)], new=())

    def drop(self, change: int, account: str) -> None:
        """Somebody is a co-author no longer."""
        place = (co_authors.c.change == change, co_authors.c.account == account)
        self._run.change(delete(co_authors).where(*place))


class CommentRows(StoredRows):
    """The table `comments`."""

    def of_change(self, number: int) -> list[CommentRow]:
        """Oldest first."""
        return self._run.rows(CommentRow, select(comments).where(comments.c.change == number).order_by(comments.c.id))

    def applied(self, numbers: Sequence[int]) -> list[WriterOfChange]:
        """Whose suggestions were applied in each change; its commits name them too."""
        return self._run.rows(WriterOfChange, _APPLIED, numbers=numbers)

    def get(self, change: int, number: int) -> CommentRow | None:
        return self._run.first(CommentRow, select(comments).where(comments.c.id == number, comments.c.change == change))

    def newest(self, change: int) -> int:
        """The id of the last one, 0 without any."""
        return int(self._run.value(_NEWEST, number=change) or 0)

    def by_others(self, change: int, who: str, after: int) -> int:
        """How many others wrote after a comment."""
        return int(self._run.value(_BY_OTHERS, number=change, who=who, after=after))

    def alive(self, change: int, thread: int) -> int:
        """How many comments of a conversation nobody deleted."""
        there = select(func.count()).select_from(comments).where(comments.c.change == change, comments.c.deleted == "")
        return int(self._run.value(there.where(or_(comments.c.id == thread, comments.c.thread == thread))))

    def open_conversations(self, numbers: Sequence[int]) -> dict[int, int]:
        """Change to how many are not resolved; without any it is missing."""
        return self._run.pairs(_CONVERSATIONS, numbers=numbers)

    def add(self, **values: Any) -> int:
        """A new one; its id."""
        return self._run.add(comments, **values)

    def set(self, number: int, **values: Any) -> None:
        self._run.change(update(comments).where(comments.c.id == number).values(**values))


class LookRows(StoredRows):
    """The tables `looks` and `viewed`: what each person has seen of a change."""

    def of_person(self, who: str) -> dict[int, LookRow]:
        """By change."""
        return {row.change: row for row in self._run.rows(LookRow, select(looks).where(looks.c.who == who))}

    def get(self, who: str, change: int) -> LookRow | None:
        """The last look of a person at a change."""
        return self._run.first(LookRow, select(looks).where(looks.c.who == who, looks.c.change == change))

    def keep(self, **values: Any) -> None:
        """Another look, in place of the last one."""
        self._run.upsert(looks, [values])

    def viewed(self, who: str, change: int) -> dict[str, str]:
        """Path to the blob that was viewed."""
        mine = select(viewed.c.path, viewed.c.blob).where(viewed.c.who == who, viewed.c.change == change)
        return self._run.pairs(mine)

    def mark(self, who: str, change: int, path: str, blob: str) -> None:
        """A document was viewed with this text."""
        self._run.upsert(viewed, [{"who": who, "change": change, "path": path, "blob": blob}])

    def unmark(self, who: str, change: int, path: str) -> None:
        mine = (viewed.c.who == who, viewed.c.change == change, viewed.c.path == path)
        self._run.change(delete(viewed).where(*mine))


class ImpactRows(StoredRows):
    """The table `impacts`: what was measured last, one row per change."""

    def packed(self, change: int) -> bytes | None:
        """What was measured last."""
        found: bytes | None = self._run.value(select(impacts.c.result).where(impacts.c.change == change))
        return found

    def fresh(self, change: int, head: str, main: str) -> bytes | None:
        """What was measured on exactly this text and this main line."""
        same = (impacts.c.change == change, impacts.c.head == head, impacts.c.main == main)
        found: bytes | None = self._run.value(select(impacts.c.result).where(*same))
        return found

    def measured(self) -> dict[int, tuple[str, str]]:
        """Change to the text and the main line that were measured."""
        rows = self._run.rows(ImpactRow, select(impacts.c.change, impacts.c.head, impacts.c.main))
        return {row.change: (row.head, row.main) for row in rows}

    def keep(self, **values: Any) -> None:
        """Another measurement, in place of the last one."""
        self._run.upsert(impacts, [values])
