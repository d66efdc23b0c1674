"""what_changed: what was merged since a day."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, Field

from core.entrypoints.contracts.document_json import changed_json, day_of
from core.entrypoints.mcp.visits import USUAL, Budget, Marks, Quoted, ToolReply, ToolSession, longest


class ChangedDocumentReply(BaseModel):
    """A document that a commit touched."""

    kind: str = Field(description="added, edited, renamed or deleted.")
    path: str
    doc: str = Field(description="Its id; empty if it is gone.")
    title: Quoted


class CommitReply(BaseModel):
    """A state of the main line: usually a change that people merged."""

    commit: str
    when: str
    author: Quoted
    message: Quoted
    documents: list[ChangedDocumentReply]


class WhatChangedReply(ToolReply):
    """Commits of the main line, newest first."""

    since: str
    commits: list[CommitReply]
    left_out: int = Field(description="Documents, in these or earlier commits, that the budget left no room for.")

    def words(self) -> str:
        lines = [line for each in self.commits for line in _lines(each)]
        marks = Marks(lines)
        if not lines:
            return f"Nothing was merged since {self.since}."
        more = [f"{self.left_out} more documents did not fit the token budget."] if self.left_out else []
        return "\n".join((f"Merged since {self.since}, newest first.", marks.notice, marks(*lines), *more))


def what_changed(
    visit: ToolSession,
    since: Annotated[str, Field(description="A day such as 2026-03-31: what was merged on it and after it.")],
    token_budget: Budget = USUAL,
) -> WhatChangedReply:
    """List what people merged since a day: when, who, why, and which documents were added, edited, renamed or deleted.

    Use it for "what is new", or to see whether something you read earlier still holds. To see how a document was
    before, use read with as_of.
    """
    documents = visit.app.knowledge.documents
    drafts = {each.path for each in documents.all() if each.meta.status == "draft"}
    rows = [CommitReply(**row) for row in changed_json(documents, day_of(since))]
    for row in rows:
        row.documents = [each for each in row.documents if each.path not in drafts]

    total = sum(max(1, len(row.documents)) for row in rows)

    def made(n: int) -> WhatChangedReply:
        return WhatChangedReply(since=since, commits=_first(rows, n), left_out=total - n)

    count = visit.counter()
    return made(longest(total, lambda n: count.within(made(n), token_budget)))


def _first(rows: Sequence[CommitReply], number: int) -> list[CommitReply]:
    """Commits up to a number of documents; one without any counts as one."""
    shown: list[CommitReply] = []
    for row in rows:
        if number <= 0:
            break
        shown.append(row.model_copy(update={"documents": row.documents[:number]}))
        number -= max(1, len(row.documents))
    return shown


def _lines(commit: CommitReply) -> list[str]:
    head = f"{commit.when[:16]} {commit.author}: {commit.message} ({commit.commit[:12]})"
    return [head, *(f"  {each.kind} {each.path} {each.doc}: {each.title}" for each in commit.documents)]
