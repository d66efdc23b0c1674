"""Query sets with questions and judgments, their runs and rankings; grades and notebook of the playground."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import delete, func, select, update

from core.storage.state.records import (
    AskedRow,
    ConfigurationRow,
    JudgedRow,
    JudgmentRow,
    PackedRun,
    PoolAdditionRow,
    QuerySetQuestionRow,
    QuerySetRow,
    QuerySetSummary,
    RatingRow,
)
from core.storage.state.tables import (
    asked,
    configurations,
    judged,
    judgments,
    permalinks,
    pool_additions,
    querysets,
    questions,
    rankings,
    ratings,
    runs,
)
from core.storage.state.transactions import StoredRows

_PLACE = ["queryset", "question", "path", "heading", "quote", "source", "judge"]
_PASSAGE = ("query", "path", "heading", "quote", "judge")


class QuerySetRows(StoredRows):
    """The tables `querysets`, `queryset_questions` and `queryset_judgments`."""

    def summaries(self) -> list[QuerySetSummary]:
        """Every set with its counts, newest first."""
        asked = select(func.count()).where(questions.c.queryset == querysets.c.id).scalar_subquery()
        given = select(func.count()).where(judgments.c.queryset == querysets.c.id).scalar_subquery()
        people = select(func.count(judgments.c.judge.distinct())).where(judgments.c.queryset == querysets.c.id)
        judges = people.where(judgments.c.judge != "").scalar_subquery()
        head = [querysets.c[name] for name in ("name", "about", "who", "created", "guard")]
        counts = [asked.label("questions"), given.label("judgments"), judges.label("judges")]
        return self._run.rows(QuerySetSummary, select(*head, *counts).order_by(querysets.c.id.desc()))

    def judged_by(self, source: str) -> list[str]:
        """Names of the sets with judgments from a source, oldest first."""
        held = select(judgments.c.queryset).where(judgments.c.source == source)
        named = select(querysets.c.name).where(querysets.c.id.in_(held))
        return self._run.column(named.order_by(querysets.c.id))

    def guard(self, name: str, on: bool) -> None:
        """Whether every change is asked its questions."""
        self._run.change(update(querysets).where(querysets.c.name == name).values(guard=int(on)))

    def get(self, name: str) -> QuerySetRow | None:
        return self._run.first(QuerySetRow, select(querysets).where(querysets.c.name == name))

    def questions(self, number: int) -> list[QuerySetQuestionRow]:
        """In their order."""
        return self._run.rows(
            QuerySetQuestionRow, select(questions).where(questions.c.queryset == number).order_by(questions.c.place)
        )

    def judgments(self, number: int) -> list[JudgmentRow]:
        """In the order in which they were given."""
        return self._run.rows(
            JudgmentRow, select(judgments).where(judgments.c.queryset == number).order_by(judgments.c.id)
        )

    def texts(self, name: str) -> dict[str, str]:
        """Question id to text, of a set by name; empty where there is no such set."""
        joined = questions.join(querysets, querysets.c.id == questions.c.queryset)
        asked = select(questions.c.id, questions.c.text).select_from(joined).where(querysets.c.name == name)
        return self._run.pairs(asked)

    def keep(self, **values: Any) -> int:
        """The head of a set; one of that name gets the new description. Its id."""
        self._run.upsert(querysets, [values], ["name"], ["about"])
        return int(self._run.value(select(querysets.c.id).where(querysets.c.name == values["name"])))

    def keep_questions(self, number: int, rows: Sequence[Mapping[str, Any]]) -> None:
        """A question that is there gets the new category."""
        self._run.upsert(questions, [{"queryset": number, **row} for row in rows], new=["category"])

    def keep_judgments(self, number: int, rows: Sequence[Mapping[str, Any]]) -> None:
        """A judgment of the same place by the same judge gets the new grade."""
        self._run.upsert(judgments, [{"queryset": number, **row} for row in rows], _PLACE, ["grade", "note"])

    def drop_judgment(self, number: int, place: Mapping[str, Any]) -> bool:
        """False when there is no such judgment."""
        row = {"queryset": number, **place}
        return self._run.change(delete(judgments).where(*(judgments.c[name] == row[name] for name in _PLACE))) > 0

    def drop_copies(self, question: str, path: str, heading: str, quote: str, judge: str) -> None:
        """A person's judgment of one place, in whatever set it was copied to."""
        place = {"question": question, "path": path, "heading": heading, "quote": quote}
        place |= {"judge": judge, "source": "person"}
        self._run.change(delete(judgments).where(*(judgments.c[name] == value for name, value in place.items())))

    def put_question(self, number: int, ident: str, text: str, category: str) -> None:
        """One question: a new one in the last place, or the new text and category of one that is there."""
        last = self._run.value(select(func.max(questions.c.place)).where(questions.c.queryset == number))
        place = 0 if last is None else int(last) + 1
        row = {"queryset": number, "id": ident, "place": place, "text": text, "category": category}
        self._run.upsert(questions, [row], new=["text", "category"])

    def drop_question(self, number: int, question: str) -> bool:
        """A question with its judgments; False when there is none."""
        self._run.change(delete(judgments).where(judgments.c.queryset == number, judgments.c.question == question))
        return self._run.change(delete(questions).where(questions.c.queryset == number, questions.c.id == question)) > 0

    def rename(self, number: int, old: str, new: str) -> None:
        """Another name for a set, also in the runs that were made on it."""
        self._run.change(update(querysets).where(querysets.c.id == number).values(name=new))
        for ident, packed in self._run.pairs(select(runs.c.id, runs.c.facts).where(runs.c.queryset == old)).items():
            facts = json.dumps({**json.loads(packed), "queryset": new})
            self._run.change(update(runs).where(runs.c.id == ident).values(queryset=new, facts=facts))

    def set_guidelines(self, number: int, text: str) -> None:
        """What judges are asked to do."""
        self._run.change(update(querysets).where(querysets.c.id == number).values(guidelines=text))

    def set_problems(self, number: int, problems: str) -> None:
        """Lines that the last import left out, as JSON."""
        self._run.change(update(querysets).where(querysets.c.id == number).values(problems=problems))

    def drop(self, number: int) -> None:
        """A set with its questions and judgments."""
        self._run.change(delete(judgments).where(judgments.c.queryset == number))
        self._run.change(delete(questions).where(questions.c.queryset == number))
        self._run.change(delete(querysets).where(querysets.c.id == number))


class RunRows(StoredRows):
    """The table `runs`."""

    def keep(self, **values: Any) -> None:
        """One row per id, in the last place."""
        last = self._run.value(select(func.max(runs.c.place)))
        self._run.upsert(runs, [{**values, "place": (last or 0) + 1}])

    def get(self, number: str) -> PackedRun | None:
        return self._run.first(PackedRun, select(runs.c.facts, runs.c.results).where(runs.c.id == number))

    def starting(self, prefix: str) -> list[PackedRun]:
        """Facts and results of those whose id begins so."""
        begins = func.substr(runs.c.id, 1, len(prefix)) == prefix
        return self._run.rows(PackedRun, select(runs.c.facts, runs.c.results).where(begins))

    def newest(self, queryset: str, limit: int) -> list[PackedRun]:
        """Facts of one query set, or of all for ""."""
        wanted = [runs.c.queryset == queryset] if queryset else []
        order = (runs.c.created.desc(), runs.c.place.desc())
        return self._run.rows(PackedRun, select(runs.c.facts).where(*wanted).order_by(*order).limit(limit))


class RankingRows(StoredRows):
    """The table `rankings`."""

    def of(self, search: str) -> dict[str, bytes]:
        """Packed results by query."""
        return self._run.pairs(select(rankings.c.query, rankings.c.result).where(rankings.c.search == search))

    def keep(self, search: str, packed: Mapping[str, bytes]) -> None:
        """Packed results by query, together or not at all."""
        rows = [{"search": search, "query": query, "result": result} for query, result in packed.items()]
        self._run.upsert(rankings, rows)


class GradeRows(StoredRows):
    """The table `judged`."""

    def keep(self, **values: Any) -> None:
        """One grade per query, passage and judge."""
        self._run.upsert(judged, [values], _PASSAGE)

    def drop(self, query: str, path: str, heading: str, quote: str, judge: str) -> bool:
        """False when there is no such grade."""
        place = zip(_PASSAGE, (query, path, heading, quote, judge), strict=True)
        return self._run.change(delete(judged).where(*(judged.c[name] == value for name, value in place))) > 0

    def of(self, query: str) -> list[JudgedRow]:
        """Grades of one query, or all of them for "", oldest first."""
        wanted = [judged.c.query == query] if query else []
        return self._run.rows(JudgedRow, select(judged).where(*wanted).order_by(judged.c.id))


class PoolRows(StoredRows):
    """The tables `pool_additions` and `ratings`."""

    def add(self, **values: Any) -> None:
        """A passage is in a pool once, whoever added it first."""
        self._run.upsert(pool_additions, [values], _PASSAGE[:-1], ())

    def remove(self, query: str, path: str, heading: str, quote: str, judge: str) -> bool:
        """False when this judge added no such passage."""
        place = zip(_PASSAGE, (query, path, heading, quote, judge), strict=True)
        wanted = (pool_additions.c[name] == value for name, value in place)
        return self._run.change(delete(pool_additions).where(*wanted)) > 0

    def added(self, query: str = "") -> list[PoolAdditionRow]:
        """What judges added to the pool of one query, or of all for "", oldest first."""
        wanted = [pool_additions.c.query == query] if query else []
        return self._run.rows(PoolAdditionRow, select(pool_additions).where(*wanted).order_by(pool_additions.c.id))

    def rate(self, **values: Any) -> None:
        """One rating per query, kind of answer and judge."""
        self._run.upsert(ratings, [values], ["query", "kind", "judge"])

    def ratings(self, query: str = "") -> list[RatingRow]:
        """Ratings of the answers to one query, or to all for "", oldest first."""
        wanted = [ratings.c.query == query] if query else []
        return self._run.rows(RatingRow, select(ratings).where(*wanted).order_by(ratings.c.id))


class NotebookRows(StoredRows):
    """The tables `permalinks`, `asked` and `configurations`."""

    def keep_link(self, link: str, state: str, who: str, created: str) -> None:
        """The same link is kept once."""
        self._run.upsert(permalinks, [{"id": link, "state": state, "who": who, "created": created}], new=())

    def linked(self, link: str) -> str | None:
        found: str | None = self._run.value(select(permalinks.c.state).where(permalinks.c.id == link))
        return found

    def put_on_top(self, who: str, query: str, link: str, created: str) -> None:
        """List a query once, as the newest; a star stays."""
        mine = (asked.c.who == who, asked.c.query == query)
        starred = self._run.value(select(asked.c.starred).where(*mine)) or 0
        self._run.change(delete(asked).where(*mine))
        self._run.add(asked, who=who, query=query, link=link, starred=starred, created=created)

    def trim(self, who: str, most: int) -> None:
        """Forget what is older than the newest so many; starred ones stay."""
        newest = select(asked.c.id).where(asked.c.who == who).order_by(asked.c.id.desc()).limit(most)
        self._run.change(delete(asked).where(asked.c.who == who, asked.c.starred == 0, asked.c.id.not_in(newest)))

    def history(self, who: str, limit: int) -> list[AskedRow]:
        """Starred ones first, then the newest."""
        order = (asked.c.starred.desc(), asked.c.id.desc())
        return self._run.rows(AskedRow, select(asked).where(asked.c.who == who).order_by(*order).limit(limit))

    def star(self, who: str, number: int, on: bool) -> bool:
        """False when there is no such query."""
        mine = (asked.c.id == number, asked.c.who == who)
        return self._run.change(update(asked).where(*mine).values(starred=int(on))) > 0

    def save(self, **values: Any) -> None:
        """One configuration per name."""
        self._run.upsert(configurations, [values], new=["profile", "config", "who"])

    def saved(self) -> list[ConfigurationRow]:
        return self._run.rows(ConfigurationRow, select(configurations).order_by(configurations.c.name))

    def forget(self, name: str) -> bool:
        """False when there is no such configuration."""
        return self._run.change(delete(configurations).where(configurations.c.name == name)) > 0
