"""Query sets in the database: imported, judged by people and models, exported."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from core import strict
from core.access import READS, Actor, use_case
from core.curation.document.names import safe_name
from core.cures import IMPORT_QUERYSET, MAKE_QUERYSET
from core.errors import BadInput, NotFound, Stale, Unavailable
from core.evaluation.querysets import anchoring, export_querysets, import_querysets
from core.evaluation.querysets.import_querysets import Problem
from core.evaluation.querysets.queryset import Judgment, QuerySet, Question, check, without
from core.evaluation.querysets.ratings import AddedPassage, JudgeAgreement, PoolSummary, Rating, agreement, pool_summary
from core.evaluation.runs.pooling import Pooled, ask_model
from core.ports import Clock, Index, Llm, Progress, no_progress
from core.services.knowledge.documents import Documents
from core.services.people.accounts import shown_names
from core.services.people.audit import Audit
from core.services.playground.grades import Grade, question_id
from core.storage.state.records import JudgedRow, JudgmentRow, QuerySetRow, QuerySetSummary, of_row

if TYPE_CHECKING:
    from core.storage.state.database import Database

UPLOADS = ("csv", "jsonl")  # formats of one file
_LINE_ENDS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"  # where str.splitlines ends one
_PROBLEMS = 1000  # lines of an import that are listed
MAX_BYTES, MAX_LINES = 10_000_000, 50_000  # of an upload; the terminal takes more
TOO_LARGE = (
    "The file has {bytes:,} bytes and {lines:,} lines; at most {most_bytes:,} and {most_lines:,} can be uploaded. "
    "Split it."
)
GUIDELINES = (
    "Read the question, then the passage. 2: it answers the question. 1: it helps, but more is needed. "
    "0: it does not help. Judge the passage, not the document around it, and do not guess what the system meant."
)


class QuerySets:
    """Reads and writes query sets."""

    def __init__(self, database: Database, documents: Documents, clock: Clock, audit: Audit) -> None:
        self.database = database
        self.documents = documents
        self.clock = clock
        self.audit = audit

    @use_case("see query sets", READS)
    def listed(self, actor: Actor) -> tuple[QuerySetSummary, ...]:
        """Every query set, for those who may see them."""
        return self.all()

    @use_case("see query sets", READS)
    def show(self, actor: Actor, name: str) -> QuerySet:
        """A query set by name, with the questions about documents that this person may read."""
        return self.shown(self.get(name))

    def shown(self, queryset: QuerySet) -> QuerySet:
        """Without the questions that are judged by a document which whoever reads now may not read; for services.
        Words of a question decide nothing: an author could guess titles by the questions that vanish."""
        seen = self.documents.readership.now()
        if seen is None:
            return queryset
        gone = {judgment.question for judgment in queryset.judgments if not seen.path(judgment.path)}
        return without(queryset, tuple(sorted(gone)))

    def all(self) -> tuple[QuerySetSummary, ...]:
        """Every query set, newest first; for services, doors call `listed`."""
        return tuple(self.database.querysets.summaries())

    def guards(self) -> tuple[QuerySet, ...]:
        """The sets whose questions every change is asked; for services."""
        return tuple(self.get(summary.name) for summary in self.all() if summary.guard)

    @use_case("keep a query set")
    def guard(self, actor: Actor, name: str, on: bool = True) -> None:
        """Ask every change the questions of a set, or no longer."""
        self.head(name)
        with self.database.transaction() as state:
            state.querysets.guard(name, on)
            self.audit.record(state, actor, "make a guard" if on else "take back a guard", name)

    def judged_by(self, source: str) -> tuple[str, ...]:
        """The sets with judgments from a source, oldest first; for services."""
        return tuple(self.database.querysets.judged_by(source))

    def get(self, name: str) -> QuerySet:
        """A query set by name, with all its judgments; for services, doors call `show`."""
        head = self.head(name)
        questions = tuple(of_row(Question, row) for row in self.database.querysets.questions(head.id))
        judgments = tuple(map(_judgment, self.database.querysets.judgments(head.id)))
        return QuerySet(name, questions, judgments, head.about)

    def head(self, name: str) -> QuerySetRow:
        """The row of a set by name; for services."""
        row = self.database.querysets.get(name)
        if row is None:
            known = ", ".join(summary.name for summary in self.all()) or "none yet"
            raise NotFound(f"There is no query set {name!r}. Query sets: {known}.", MAKE_QUERYSET)
        return row

    @use_case("keep a query set")
    def keep(self, actor: Actor, queryset: QuerySet) -> QuerySet:
        """Store a set. An existing set of that name gets the new questions and judgments and loses none.

        A question keeps its id for good: judgments of one text say nothing about another.
        """
        queryset = check(replace(queryset, name=safe_name(queryset.name, "a query set")))
        now = self.clock.stamp()
        with self.database.transaction() as state:
            row = {"name": queryset.name, "about": queryset.about, "guidelines": GUIDELINES}
            number = state.querysets.keep(**row, who=actor.name, created=now)
            if taken := _taken(state.querysets.texts(queryset.name), queryset.questions):
                raise BadInput(
                    f"The set {queryset.name!r} asks something else under the id {taken[0]!r}. "
                    "Give the question another id, or keep it in another set."
                )
            places = enumerate(queryset.questions)
            state.querysets.keep_questions(
                number, [{"place": place, **strict.plain(question)} for place, question in places]
            )
            state.querysets.keep_judgments(number, [row_of(judgment, now) for judgment in queryset.judgments])
            what = f"{len(queryset.questions)} questions, {len(queryset.judgments)} judgments"
            self.audit.record(state, actor, "keep a query set", queryset.name, detail=what)
        return self.shown(self.get(queryset.name))

    @use_case("judge results")
    def judge(self, actor: Actor, name: str, judgments: Sequence[Judgment]) -> None:
        """Add a person's judgments; judging the same place again replaces the grade. Whoever judges need not see the
        set.
        """
        head, known = self.head(name), {question.id for question in self.get(name).questions}
        for judgment in judgments:
            if judgment.question not in known:
                raise NotFound(f"There is no question {judgment.question!r} in {name!r}.")
        now = self.clock.stamp()
        rows = [row_of(replace(judgment, source="person", judge=actor.id), now) for judgment in judgments]
        self._judged(actor, "judge results", name, head.id, rows)

    def _judged(self, actor: Actor, action: str, name: str, number: int, rows: Sequence[dict[str, Any]]) -> None:
        with self.database.transaction() as state:
            state.querysets.keep_judgments(number, rows)
            self.audit.record(state, actor, action, name, detail=f"{len(rows)} judgments")

    @use_case("keep a query set")
    def judge_by_model(
        self, actor: Actor, name: str, pool: Sequence[Pooled], llm: Llm, progress: Progress = no_progress
    ) -> tuple[int, Mapping[str, int]]:
        """Let a language model judge a pool, labelled as such: how many it judged, and why not the others.

        What was judged is kept, also when the work is stopped.
        """
        guidelines, judgments = self.guidelines(actor, name), []
        failed: Counter[str] = Counter()
        try:
            for n, item in enumerate(pool, 1):
                try:
                    judgments.append(ask_model(llm, item, guidelines))
                except Unavailable as error:
                    failed[str(error)] += 1
                progress(n, len(pool), f"{llm.name} judges")
        finally:
            now, number = self.clock.stamp(), self.head(name).id
            self._judged(actor, "let a model judge", name, number, [row_of(judgment, now) for judgment in judgments])
        return len(judgments), dict(failed)

    @use_case("keep a query set")
    def drop(self, actor: Actor, name: str) -> None:
        """Delete a set. Its runs stay, with their questions."""
        number = self.head(name).id
        with self.database.transaction() as state:
            state.querysets.drop(number)
            self.audit.record(state, actor, "delete a query set", name)

    @use_case("see query sets", READS)
    def guidelines(self, actor: Actor, name: str) -> str:
        return self.head(name).guidelines

    @use_case("keep a query set")
    def set_guidelines(self, actor: Actor, name: str, text: str, expected: str | None = None) -> None:
        """What judges read before they judge. `expected` is the text that the writer saw."""
        if not text.strip() or len(text) > 10_000:
            raise BadInput("Guidelines need some words, at most 10,000 characters.")
        with self.database.transaction() as state:
            head = self.head(name)
            if expected not in (None, head.guidelines):
                raise Stale("The guidelines were changed meanwhile. Nothing was saved: compare both texts.")
            state.querysets.set_guidelines(head.id, text.strip())
            self.audit.record(state, actor, "set guidelines", name)

    @use_case("see query sets", READS)
    def agreement(self, actor: Actor, name: str) -> tuple[JudgeAgreement, ...]:
        """How far the judges of a set agree, people and models."""
        names = shown_names(self.database.accounts)
        return agreement(
            replace(judgment, judge=names.get(judgment.judge, judgment.judge))
            if judgment.source == "person"
            else judgment
            for judgment in self.show(actor, name).judgments
        )

    @use_case("see query sets", READS)
    def pool_summary(self, actor: Actor, name: str) -> PoolSummary:
        """How good judges found the answers to the questions of a set, and how often they added to a pool."""
        names = shown_names(self.database.accounts)
        ratings = [of_row(Rating, row, name=names.get(row.judge, "")) for row in self.database.pools.ratings()]
        added = self.database.pools.added()
        passages = [of_row(AddedPassage, row, name="") for row in added]
        return pool_summary(self.show(actor, name), ratings, passages)

    @use_case("see query sets", READS)
    def unmapped(self, actor: Actor, name: str, index: Index) -> tuple[anchoring.Anchored, ...]:
        """Judgments whose place a generation does not have, with the reason."""
        return anchoring.gains(self.show(actor, name).judgments, index).unmapped

    @use_case("keep a query set")
    def read(
        self, actor: Actor, path: Path, form: str = "", name: str = "", split: str = "test"
    ) -> tuple[QuerySet, tuple[Problem, ...]]:
        """Import a set from a file or folder; returns it and the lines that were left out."""
        queryset, problems = import_querysets.read(path, form, name or _name(path.stem), split)
        taken = _taken(self.database.querysets.texts(safe_name(queryset.name, "a query set")), queryset.questions)
        problems += tuple(
            Problem(path.name, 0, f"the id {number!r} already names another question") for number in taken
        )
        queryset = without(queryset, taken)
        if not queryset.questions:
            raise BadInput(f"No line of {path.name} could be used. The first: {problems[0].line}: {problems[0].why}.")
        kept = self.keep(actor, replace(queryset, judgments=tuple(self._by_path(queryset.judgments))))
        listed = json.dumps(strict.plain(problems[:_PROBLEMS]), ensure_ascii=False)
        self.database.querysets.set_problems(self.head(kept.name).id, listed)
        return kept, problems

    @use_case("see query sets", READS)
    def problems(self, actor: Actor, name: str) -> tuple[Problem, ...]:
        """Lines that the last import into a set left out."""
        return tuple(Problem(**row) for row in json.loads(self.head(name).problems))

    def _by_path(self, judgments: Iterable[Judgment]) -> list[Judgment]:
        """Judgments with document ids replaced by paths."""
        paths = {document.id: document.path for document in self.documents.all()}
        return [replace(judgment, path=paths.get(judgment.path, judgment.path)) for judgment in judgments]

    @use_case("see query sets", READS)
    def write(self, actor: Actor, name: str, path: Path, form: str) -> tuple[Path, ...]:
        return export_querysets.write(self.show(actor, name), path, form, self.documents.all())

    @use_case("keep a query set")
    def read_upload(
        self, actor: Actor, filename: str, content: bytes, name: str = ""
    ) -> tuple[QuerySet, tuple[Problem, ...]]:
        """Import a set from an uploaded CSV or JSONL file."""
        form = Path(filename).suffix.lower().lstrip(".")
        if form not in UPLOADS:
            raise BadInput(f"{filename!r} is neither CSV nor JSONL.", IMPORT_QUERYSET)
        text = content.decode(errors="replace").replace("\r\n", "\n")
        lines = 1 + sum(map(text.count, _LINE_ENDS))
        if len(content) > MAX_BYTES or lines > MAX_LINES:
            limits = {"most_bytes": MAX_BYTES, "most_lines": MAX_LINES}
            raise BadInput(TOO_LARGE.format(bytes=len(content), lines=lines, **limits), IMPORT_QUERYSET)
        with TemporaryDirectory() as folder:
            path = Path(folder) / f"{_name(Path(filename).stem)}.{form}"
            path.write_bytes(content)
            return self.read(actor, path, form, name)

    @use_case("see query sets", READS)
    def export(self, actor: Actor, name: str, form: str) -> tuple[str, bytes]:
        """A set as a download: file name and content."""
        return export_querysets.packed(self.show(actor, name), form, self.documents.all())

    @use_case("keep a query set")
    def from_playground(self, actor: Actor, grades: Sequence[Grade], name: str = "playground") -> QuerySet:
        """A set of the grades given in the playground: one question per query."""
        if not grades:
            raise BadInput("Nobody judged anything in the playground yet. Grade some hits there first.")
        questions = {grade.query: Question(question_id(grade.query), grade.query, "playground") for grade in grades}
        judgments = tuple(from_grade(questions[grade.query].id, grade) for grade in grades)
        about = "what people judged in the playground"
        return self.keep(actor, QuerySet(name, tuple(questions.values()), judgments, about))

    @use_case("keep a query set")
    def from_frontmatter(self, actor: Actor, name: str = "frontmatter") -> QuerySet:
        """A set of the questions that documents say they answer."""
        listed = import_querysets.from_frontmatter(self.documents.all(), name)
        if not listed.questions:
            raise BadInput("No document lists a question under `answers:`, so there is nothing to ask.")
        return self.keep(actor, listed)


def _taken(texts: Mapping[str, str], questions: Iterable[Question]) -> tuple[str, ...]:
    """Ids that already name another text; white space makes no difference."""
    return tuple(
        question.id for question in questions if texts.get(question.id, question.text).split() != question.text.split()
    )


def row_of(judgment: Judgment, created: str) -> dict[str, Any]:
    """A judgment as the database keeps it."""
    heading = json.dumps(list(judgment.heading), ensure_ascii=False)
    return {**strict.plain(judgment), "heading": heading, "created": created}


def from_grade(question: str, grade: Grade | JudgedRow) -> Judgment:
    """A grade of the playground as the judgment of a question."""
    heading = tuple(step for step in grade.heading.split(" › ") if step)
    return Judgment(question, grade.path, heading, grade.quote, float(grade.grade), "person", grade.judge, grade.note)


def _judgment(row: JudgmentRow) -> Judgment:
    return of_row(Judgment, row, heading=tuple(json.loads(row.heading)))


def _name(stem: str) -> str:
    """A file's name as the name of a set.

    >>> _name("My Queries_2")
    'my-queries-2'
    """
    return "-".join("".join(c if c.isascii() and c.isalnum() else " " for c in stem.lower()).split())[:40] or "imported"
