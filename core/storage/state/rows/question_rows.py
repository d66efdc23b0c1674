"""Questions: what people asked and who wants theirs not to be kept; what documents answer, and where it was found."""

from __future__ import annotations

from typing import Any

from sqlalchemy import and_, delete, func, or_, select, update

from core.storage.state.records import AnswerRankRow, Asked, AskedInVain, EndedAt, FindabilityRow, QueryRow, QueryTotals
from core.storage.state.tables import answer_ranks, findability, opted_out, queries
from core.storage.state.transactions import NumberedRows


class QueryRows(NumberedRows[QueryRow]):
    """The tables `queries` and `opted_out`; nothing joins them."""

    kind, table = QueryRow, queries

    def set_opened(self, number: int, document: str) -> None:
        self._run.change(update(queries).where(queries.c.id == number).values(opened=1, document=document))

    def ended(self, often: int) -> list[EndedAt]:
        """Questions with the documents that at least so many askings ended at."""
        times, words = func.count(), func.max(queries.c.question).label("question")
        columns = (words, queries.c.document, times.label("times"))
        grouped = select(*columns).where(queries.c.document != "").group_by(queries.c.key, queries.c.document)
        return self._run.rows(EndedAt, grouped.having(times >= often).order_by(queries.c.key, queries.c.document))

    def drop(self, number: int) -> None:
        self._run.change(delete(queries).where(queries.c.id == number))

    def most(self, limit: int) -> list[Asked]:
        """By question: the words of the last asking and what happened in all, the most asked first."""
        last = func.max(queries.c.id)
        counts = (
            select(
                last.label("id"),
                func.count().label("times"),
                func.sum(1 - queries.c.doubtful).label("found"),
                func.sum(queries.c.opened).label("opened"),
            )
            .group_by(queries.c.key)
            .order_by(func.count().desc(), last.desc())
            .limit(limit)
            .subquery()
        )
        columns = (queries.c.question, counts.c.times, queries.c.at.label("last"), counts.c.found, counts.c.opened)
        joined = select(*columns).join(counts, counts.c.id == queries.c.id)
        return self._run.rows(Asked, joined.order_by(counts.c.times.desc(), counts.c.id.desc()))

    def in_vain(self, doubted: int, often: int) -> list[AskedInVain]:
        """Questions asked `doubted` times without a good hit, or `often` times without a click, most asked first."""
        times, found, opened = func.count(), func.sum(1 - queries.c.doubtful), func.sum(queries.c.opened)
        columns = (
            queries.c.key,
            func.max(queries.c.question).label("question"),
            times.label("times"),
            found.label("found"),
            opened.label("opened"),
        )
        wanted = or_(and_(times >= doubted, found == 0), and_(times >= often, opened == 0))
        grouped = select(*columns).group_by(queries.c.key).having(wanted)
        return self._run.rows(AskedInVain, grouped.order_by(times.desc(), queries.c.key))

    def totals(self, key: str = "", after: str = "") -> QueryTotals:
        """All askings that are kept, or those of one question after a time."""
        counts = (
            func.count().label("asked"),
            func.coalesce(func.sum(1 - queries.c.doubtful), 0).label("found"),
            func.coalesce(func.sum(queries.c.opened), 0).label("opened"),
        )
        wanted = [queries.c.key == key, queries.c.at > after] if key else []
        return self._run.first(QueryTotals, select(*counts).where(*wanted)) or QueryTotals(asked=0, found=0, opened=0)

    def forget(self, key: str) -> int:
        """Every asking of a question, or of all where none is named; how many there were."""
        every = delete(queries)
        return self._run.change(every.where(queries.c.key == key) if key else every)

    def older(self, at: str) -> int:
        """Drop what was asked before; how many that were."""
        return self._run.change(delete(queries).where(queries.c.at < at))

    def opted_out(self, account: str) -> bool:
        """Whether somebody's questions are not kept."""
        return self._run.value(select(opted_out.c.account).where(opted_out.c.account == account)) is not None

    def opt_out(self, account: str) -> None:
        self._run.upsert(opted_out, [{"account": account}], new=())

    def opt_in(self, account: str) -> None:
        self._run.change(delete(opted_out).where(opted_out.c.account == account))


class AnswerRows(NumberedRows[AnswerRankRow]):
    """The tables `answer_ranks`, which has a row for each new place of a question, and `findability`."""

    kind, table = AnswerRankRow, answer_ranks

    def newest(self) -> list[AnswerRankRow]:
        """The last place of every question."""
        last = select(func.max(answer_ranks.c.id)).group_by(answer_ranks.c.doc, answer_ranks.c.key)
        return self._run.rows(AnswerRankRow, select(answer_ranks).where(answer_ranks.c.id.in_(last)))

    def of(self, doc: str, key: str) -> list[AnswerRankRow]:
        """Every place that a question had, oldest first."""
        mine = (answer_ranks.c.doc == doc, answer_ranks.c.key == key)
        return self._run.rows(AnswerRankRow, select(answer_ranks).where(*mine).order_by(answer_ranks.c.id))

    def keep_point(self, **values: Any) -> None:
        """What was found at a commit; asked again, the time of the first asking stays."""
        self._run.upsert(findability, [values], new=[name for name in values if name not in ("commit_id", "at")])

    def points(self) -> list[FindabilityRow]:
        """One per commit, oldest first."""
        return self._run.rows(FindabilityRow, select(findability).order_by(findability.c.at, findability.c.checked))

    def last_asked(self) -> str:
        """When everything was asked last; "" before the first time."""
        return self._run.value(select(func.max(findability.c.checked))) or ""
