"""Edit a query set: its name, single questions, single judgments. Every edit has its line in the audit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from core import strict
from core.access import Actor, require, use_case
from core.curation.document.names import safe_name
from core.errors import BadInput, NotFound
from core.evaluation.querysets.queryset import GRADES, Judgment, QuerySet, Question, check
from core.services.evaluation.querysets import QuerySets, row_of

if TYPE_CHECKING:
    from core.storage.state.database import State

_NOTE = 1000  # characters


class QuerySetEditor:
    """Changes one thing of a query set at a time."""

    def __init__(self, querysets: QuerySets) -> None:
        self.querysets, self.database = querysets, querysets.database
        self.audit, self.clock = querysets.audit, querysets.clock

    @use_case("keep a query set")
    def rename(self, actor: Actor, name: str, new: str) -> QuerySet:
        """Give a set another name; its runs go with it."""
        head, new = self.querysets.head(name), safe_name(new.strip(), "a query set")
        if self.database.querysets.get(new):
            raise BadInput(f"There is a query set {new!r} already. Choose another name.")
        with self.database.transaction() as state:
            state.querysets.rename(head.id, name, new)
            self.audit.record(state, actor, "rename a query set", new, detail=f"was {name}")
        return self.querysets.shown(self.querysets.get(new))

    @use_case("keep a query set")
    def add_question(self, actor: Actor, name: str, text: str, category: str = "") -> Question:
        """Add a question; its id comes from its text."""
        text = " ".join(text.split())
        question = Question(strict.digest(text, 10), text, category.strip())
        queryset = self._open(actor, name)
        if any(text == known.text for known in queryset.questions):
            raise BadInput(f"The set {name!r} asks this already.")
        return self._put(actor, queryset, question, "add a question", text)

    @use_case("keep a query set")
    def edit_question(self, actor: Actor, name: str, ident: str, text: str, category: str = "") -> Question:
        """Change the words or the category of a question; its judgments stay."""
        queryset, old = self._open(actor, name), self.question(name, ident)
        new = Question(ident, " ".join(text.split()), category.strip())
        return self._put(actor, queryset, new, "edit a question", f"{old.text} → {new.text}")

    def _put(self, actor: Actor, queryset: QuerySet, question: Question, action: str, detail: str) -> Question:
        others = tuple(known for known in queryset.questions if known.id != question.id)
        check(replace(queryset, questions=(*others, question), judgments=()))
        with self.database.transaction() as state:
            number = self.querysets.head(queryset.name).id
            state.querysets.put_question(number, question.id, question.text, question.category)
            self.audit.record(state, actor, action, queryset.name, detail=detail)
        return question

    @use_case("keep a query set")
    def remove_question(self, actor: Actor, name: str, ident: str) -> None:
        """Remove a question with its judgments."""
        self._open(actor, name)
        question = self.question(name, ident)
        with self.database.transaction() as state:
            state.querysets.drop_question(self.querysets.head(name).id, ident)
            self.audit.record(state, actor, "remove a question", name, detail=question.text)

    @use_case("keep a query set")
    def put_judgment(
        self, actor: Actor, name: str, judgment: Judgment, *, instead_of: Judgment | None = None
    ) -> Judgment:
        """Add the actor's judgment; one that it replaces goes, whoever gave it."""
        self._open(actor, name)
        question = self.question(name, judgment.question)
        given = checked(replace(judgment, source="person", judge=actor.id))
        if given.path not in {document.path for document in self.querysets.documents.all()}:
            raise NotFound(f"There is no document {given.path!r}.")
        with self.database.transaction() as state:
            if instead_of is not None:
                self._drop(state, name, instead_of)
            number = self.querysets.head(name).id
            state.querysets.keep_judgments(number, [row_of(given, self.clock.stamp())])
            self.audit.record(state, actor, "edit a judgment", name, detail=_said(question, given))
        return given

    @use_case("keep a query set")
    def remove_judgment(self, actor: Actor, name: str, judgment: Judgment) -> None:
        """Remove one judgment, whoever gave it."""
        self._open(actor, name)
        question = self.question(name, judgment.question)
        with self.database.transaction() as state:
            self._drop(state, name, judgment)
            self.audit.record(state, actor, "remove a judgment", name, detail=_said(question, judgment))

    def _drop(self, state: State, name: str, judgment: Judgment) -> None:
        if not state.querysets.drop_judgment(self.querysets.head(name).id, row_of(judgment, "")):
            raise NotFound(f"This judgment is no longer in {name!r}.")

    def _open(self, actor: Actor, name: str) -> QuerySet:
        require(actor, "keep a query set")
        return self.querysets.get(name)

    def question(self, name: str, ident: str) -> Question:
        """A question of a set by its id; for services, doors call `show`."""
        shown = self.querysets.shown(self.querysets.get(name))
        found = next((known for known in shown.questions if known.id == ident), None)
        if found is None:
            raise NotFound(f"There is no question {ident!r} in {name!r}.")
        return found


def checked(judgment: Judgment) -> Judgment:
    """The judgment, if its grade is on the scale and its note is short."""
    low, high = GRADES
    if not low <= judgment.grade <= high:
        raise BadInput(f"The grade {judgment.grade:g} is not between {low} and {high}.")
    if len(judgment.note) > _NOTE:
        raise BadInput(f"The note has {len(judgment.note):,} characters; the limit is {_NOTE:,}.")
    return judgment


def _said(question: Question, judgment: Judgment) -> str:
    return f"{question.text}: {judgment.path} {judgment.grade:g}"
