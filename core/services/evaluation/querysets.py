"""Query sets in the database: kept, judged by people and models, exported, re-mapped after every build."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from core import strict
from core.access import Actor, require
from core.curation.names import safe_profile
from core.errors import BadInput, NotFound
from core.evaluation import anchoring, querysets, reading, writing
from core.evaluation.agreement import JudgeAgreement, agreement
from core.evaluation.pooling import Pooled, ask_model
from core.evaluation.querysets import Judgment, QuerySet, Question
from core.evaluation.reading import Problem
from core.ports import Clock, Index, Llm, Progress, no_progress
from core.services.knowledge.documents import Documents
from core.services.people.accounts import shown_names
from core.services.playground.grades import Grade as Said

if TYPE_CHECKING:
    from core.adapters.state.database import Database

UPLOADS = ("csv", "jsonl")  # what comes as one file
GUIDELINES = (
    "Read the question, then the passage. 2: it answers the question. 1: it helps, but more is needed. "
    "0: it does not help. Judge the passage, not the document around it, and do not guess what the system meant."
)


@dataclass(frozen=True, slots=True)
class QuerySetSummary:
    """One line of the list of query sets."""

    name: str
    about: str
    questions: int
    judgments: int
    judges: int
    who: str
    created: str


class QuerySets:
    """Reads and writes query sets."""

    def __init__(self, database: Database, documents: Documents, clock: Clock) -> None:
        self.database, self.documents, self.clock = database, documents, clock

    def all(self) -> tuple[QuerySetSummary, ...]:
        """Every query set, newest first."""
        return tuple(QuerySetSummary(**row) for row in self.database.querysets.summaries())

    def get(self, name: str) -> QuerySet:
        """A query set by name, with all its judgments."""
        head = self._head(name)
        questions = tuple(Question(**row) for row in self.database.querysets.questions(head["id"]))
        judgments = tuple(map(_judgment, self.database.querysets.judgments(head["id"])))
        return QuerySet(name, questions, judgments, head["about"])

    def _head(self, name: str) -> dict[str, Any]:
        row = self.database.querysets.get(name)
        if row is None:
            known = ", ".join(one.name for one in self.all()) or "none yet"
            raise NotFound(
                f"There is no query set {name!r}. Query sets: {known}. Make one with: python -m core eval generate"
            )
        return row

    def keep(self, actor: Actor, queryset: QuerySet) -> QuerySet:
        """Keep a set under its name. A set of that name gets the new questions and judgments; none is lost.

        An id goes on meaning the same question: judgments of the old text say nothing about another one.
        """
        require(actor, "keep a query set")
        queryset = querysets.check(replace(queryset, name=safe_profile(queryset.name)))
        now = self.clock.stamp()
        with self.database.transaction() as state:
            words = {"name": queryset.name, "about": queryset.about, "guidelines": GUIDELINES}
            number = state.querysets.keep(**words, who=actor.name, created=now)
            if taken := _taken(state.querysets.texts(queryset.name), queryset.questions):
                raise BadInput(
                    f"The set {queryset.name!r} asks something else under the id {taken[0]!r}. "
                    "Give the question another id, or keep it in another set."
                )
            places = enumerate(queryset.questions)
            state.querysets.keep_questions(number, [{"place": place, **strict.plain(one)} for place, one in places])
            state.querysets.keep_judgments(number, [_row(one, now) for one in queryset.judgments])
        return self.get(queryset.name)

    def judge(self, actor: Actor, name: str, judgments: Sequence[Judgment]) -> QuerySet:
        """Add what a person judged; judging the same place again replaces the grade."""
        require(actor, "judge results")
        head, known = self._head(name), {question.id for question in self.get(name).questions}
        for one in judgments:
            if one.question not in known:
                raise NotFound(f"There is no question {one.question!r} in {name!r}.")
        now = self.clock.stamp()
        mine = [_row(replace(one, source="person", judge=actor.id), now) for one in judgments]
        self.database.querysets.keep_judgments(head["id"], mine)
        return self.get(name)

    def judge_by_model(
        self, actor: Actor, name: str, pool: Sequence[Pooled], llm: Llm, progress: Progress = no_progress
    ) -> tuple[int, int]:
        """Let a language model judge a pool, labelled as such; returns how many it judged and how many it could not."""
        require(actor, "keep a query set")
        guidelines, made = self.guidelines(name), []
        for n, item in enumerate(pool, 1):
            made.append(ask_model(llm, item, guidelines))
            progress(n, len(pool), f"{llm.name} judges")
        given = [one for one in made if one is not None]
        now, number = self.clock.stamp(), self._head(name)["id"]
        self.database.querysets.keep_judgments(number, [_row(one, now) for one in given])
        return len(given), len(made) - len(given)

    def drop(self, actor: Actor, name: str) -> None:
        """Delete a set. Its runs stay, with their questions."""
        require(actor, "keep a query set")
        number = self._head(name)["id"]
        with self.database.transaction() as state:
            state.querysets.drop(number)

    def guidelines(self, name: str) -> str:
        """What judges are asked to do."""
        return str(self._head(name)["guidelines"])

    def set_guidelines(self, actor: Actor, name: str, text: str) -> None:
        """Tell judges something else."""
        require(actor, "keep a query set")
        if not text.strip() or len(text) > 10_000:
            raise BadInput("Guidelines need some words, at most 10,000 characters.")
        self.database.querysets.set_guidelines(self._head(name)["id"], text.strip())

    def agreement(self, name: str) -> tuple[JudgeAgreement, ...]:
        """How far the judges of a set agree, people and models."""
        names = shown_names(self.database.accounts)
        return agreement(
            replace(one, judge=names.get(one.judge, one.judge)) if one.source == "person" else one
            for one in self.get(name).judgments
        )

    def unmapped(self, name: str, index: Index) -> tuple[anchoring.Anchored, ...]:
        """Judgments that find no place in a generation, with the reason."""
        return anchoring.gains(self.get(name).judgments, index).unmapped

    def read(
        self, actor: Actor, path: Path, form: str = "", name: str = "", split: str = "test"
    ) -> tuple[QuerySet, tuple[Problem, ...]]:
        """Keep a set from a file or folder; returns it and the lines that were left out."""
        found, problems = reading.read(path, form, name or _name(path.stem), split)
        taken = _taken(self.database.querysets.texts(safe_profile(found.name)), found.questions)
        problems += tuple(Problem(path.name, 0, f"the id {one!r} already names another question") for one in taken)
        found = querysets.without(found, taken)
        if not found.questions:
            raise BadInput(f"No line of {path.name} could be used. The first: {problems[0].line}: {problems[0].why}.")
        return self.keep(actor, replace(found, judgments=tuple(self._by_path(found.judgments)))), problems

    def _by_path(self, judgments: Iterable[Judgment]) -> list[Judgment]:
        """Documents that are named by id, by their path instead."""
        paths = {document.id: document.path for document in self.documents.all()}
        return [replace(one, path=paths.get(one.path, one.path)) for one in judgments]

    def write(self, name: str, path: Path, form: str) -> tuple[Path, ...]:
        """Export a set."""
        return writing.write(self.get(name), path, form, self.documents.all())

    def read_upload(
        self, actor: Actor, filename: str, content: bytes, name: str = ""
    ) -> tuple[QuerySet, tuple[Problem, ...]]:
        """Keep a set from a CSV or JSONL file that somebody sent."""
        require(actor, "keep a query set")
        form = Path(filename).suffix.lower().lstrip(".")
        if form not in UPLOADS:
            raise BadInput(f"{filename!r} is neither CSV nor JSONL. Folders come in with: python -m core eval import")
        with TemporaryDirectory() as folder:
            path = Path(folder) / f"{_name(Path(filename).stem)}.{form}"
            path.write_bytes(content)
            return self.read(actor, path, form, name)

    def export(self, name: str, form: str) -> tuple[str, bytes]:
        """A set as one download: the file's name and its content."""
        return writing.packed(self.get(name), form, self.documents.all())

    def from_playground(self, actor: Actor, said: Sequence[Said], name: str = "playground") -> QuerySet:
        """Keep what people judged in the playground: one question per query."""
        if not said:
            raise BadInput("Nobody judged anything in the playground yet. Grade some hits there first.")
        questions = {one.query: Question(strict.digest(one.query, 10), one.query, "playground") for one in said}
        judgments = tuple(_from_playground(questions[one.query].id, one) for one in said)
        about = "what people judged in the playground"
        return self.keep(actor, QuerySet(name, tuple(questions.values()), judgments, about))

    def from_frontmatter(self, actor: Actor, name: str = "frontmatter") -> QuerySet:
        """Keep what authors say their documents answer."""
        return self.keep(actor, reading.from_frontmatter(self.documents.all(), name))


def _taken(texts: Mapping[str, str], questions: Iterable[Question]) -> tuple[str, ...]:
    """Ids under which another text is kept; spaces make no other text."""
    return tuple(one.id for one in questions if texts.get(one.id, one.text).split() != one.text.split())


def _row(judgment: Judgment, created: str) -> dict[str, Any]:
    heading = json.dumps(list(judgment.heading), ensure_ascii=False)
    return {**strict.plain(judgment), "heading": heading, "created": created}


def _from_playground(question: str, said: Said) -> Judgment:
    heading = tuple(step for step in said.heading.split(" › ") if step)
    return Judgment(question, said.path, heading, said.quote, float(said.grade), "person", said.judge)


def _judgment(row: dict[str, Any]) -> Judgment:
    return Judgment(**{**row, "heading": tuple(json.loads(row["heading"]))})


def _name(stem: str) -> str:
    """A file's name as the name of a set.

    >>> _name("My Queries_2")
    'my-queries-2'
    """
    return "-".join("".join(c if c.isascii() and c.isalnum() else " " for c in stem.lower()).split())[:40] or "imported"
