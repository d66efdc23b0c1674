"""What comes out, for the OpenAPI document. Answers are made of the records that services give; these name their keys.

No answer is checked against them per request: tests do that. What goes in stands in the forms of the records.
"""

from __future__ import annotations

from types import GenericAlias
from typing import Any, get_type_hints

from pydantic import BaseModel, ConfigDict, create_model

from core.curation.document.links import Link
from core.curation.review.conflicts import Hunk
from core.curation.review.diffs import Diff, DiffRow, FieldChange
from core.evaluation.impact import Impact, Shift
from core.evaluation.querysets.import_querysets import Problem
from core.evaluation.querysets.queryset import Judgment
from core.evaluation.querysets.queryset import Question as JudgedQuestion
from core.evaluation.querysets.ratings import JudgeAgreement
from core.evaluation.runs.run import Run
from core.evaluation.statistics import PairedComparison
from core.services.jobs.jobs import Job
from core.services.playground.where import Diagnosis
from core.services.reviews.changes import Change
from core.services.reviews.diff import News
from core.services.reviews.discussion import Comment
from core.services.reviews.merge import Collision
from core.storage.state.records import Gap as GapRow
from core.storage.state.records import QuerySetSummary
from core.types import Hit, Pending, Stage

__all__ = ["Diagnosis", "Job", "QuerySetSummary", "model"]  # records of services that are answers as they are
EXACT = ConfigDict(extra="forbid")


def model(reply: str) -> Any:
    """The model that a record names; "[...]" is a list.

    >>> model("[ClosedGap]")
    list[core.entrypoints.api.schemas.ClosedGap]
    """
    return many(model(reply[1:-1])) if reply.startswith("[") else globals()[reply]


class Form(BaseModel):
    """Keys that it does not know are refused."""

    model_config = EXACT


def record(title: str, about: str, base: Any = None, without: tuple[str, ...] = (), /, **more: Any) -> Any:
    """A form with the fields of a record of the services, and more; all of them are always there."""
    hints = {**(get_type_hints(base) if base else {}), **more}
    fields: dict[str, Any] = {key: (hint, ...) for key, hint in hints.items() if key not in without or key in more}
    return create_model(title, __doc__=about, __config__=EXACT, **fields)


def many(item: Any) -> Any:
    """A list of such a form."""
    return GenericAlias(list, (item,))


PendingVectors = record(
    "PendingVectors",
    "Words alone were searched, since vectors are still being computed: so many of all passages have theirs.",
    Pending,
    message=str,
)
SearchAnswer = record(
    "SearchAnswer",
    "Passages of the approved documents for a question, and how they were found.",
    query=str,
    profile=str,
    generation=int,
    commit=str,
    config=dict[str, Any],
    as_of=str,
    confidence=float,
    fits=bool,
    hits=list[Hit],
    stages=list[Stage],
    warnings=list[str],
    also=list[str],
    missing=list[str],
    suggestions=list[str],
    pending=PendingVectors | None,
)
CitedText = record("CitedText", "A sentence and the numbers of its passages.", text=str, citations=list[int])
WithheldText = record(
    "WithheldText", "A sentence that its passages do not bear out.", text=str, citations=list[int], why=str
)
CitedPassage = record(
    "CitedPassage",
    "A passage that the model read, under the number by which sentences cite it.",
    number=int,
    doc=str,
    path=str,
    title=str,
    heading=list[str],
    chunk=str,
    start=int,
    end=int,
    status=str,
    version=int,
    text=str,
)
CitedAnswer = record(
    "CitedAnswer",
    "An answer whose every sentence is borne out by the passages it cites, and what was withheld.",
    query=str,
    answered=bool,
    extract=bool,
    text=str,
    sentences=many(CitedText),
    passages=many(CitedPassage),
    withheld=many(WithheldText),
    advice=str,
    model=str,
    dollars=float,
    confidence=float,
    fits=bool,
    generation=int,
    commit=str,
    as_of=str,
)
CompareAnswer = record(
    "CompareAnswer",
    "Configurations side by side, how far every two agree, and what the judgments so far say of each.",
    query=str,
    compared_by=str,
    seconds=float,
    columns=list[dict[str, Any]],
    pairs=list[dict[str, Any]],
    scores=list[dict[str, Any] | None],
)
_LINE: dict[str, Any] = {
    "doc": str,
    "path": str,
    "title": str,
    "doc_type": str,
    "status": str,
    "imported": bool,
    "owner": str,
    "tags": list[str],
    "effective_date": str | None,
    "review_due": str | None,
    "supersedes": list[str],
    "answers": list[str],
    "version": int,
    "blob": str,
}
DocumentLine = record("DocumentLine", "A document without its text.", **_LINE)
WholeDocument = record(
    "WholeDocument", "A document with its text; `body` is where its frontmatter ends.", **_LINE, text=str, body=int
)
DocumentVersion = record(
    "DocumentVersion",
    "One version of a document.",
    version=int,
    commit=str,
    when=str,
    author=str,
    message=str,
    path=str,
    blob=str,
)
DiffAnswer = record(
    "DiffAnswer",
    "What changed between two versions of a document.",
    old=int,
    new=int,
    fields=list[FieldChange],
    added=int,
    removed=int,
    rows=list[DiffRow],
)
LinkOut = record("LinkOut", "A link of a document; `found` if it leads to one.", Link, found=bool)
LinkIn = record("LinkIn", "A document that links here, and the words of the link.", path=str, text=str)
LinksAnswer = record(
    "LinksAnswer", "Where a document leads, and what links to it.", links=many(LinkOut), linked_from=many(LinkIn)
)
CommentAnswer = record("CommentAnswer", "A comment of a change.", Comment, suggestion=str | None)
PlacedComment = record("PlacedComment", "A comment with its change.", Comment, suggestion=str | None, change=int)
ChangeAnswer = record("ChangeAnswer", "A change with its discussion.", Change, comments=many(CommentAnswer))
ChangeLine = record("ChangeLine", "A change, and what is new in it to the account of the token.", Change, news=News)
ChangeDiff = record(
    "ChangeDiff",
    "What a change does to its documents, line by line.",
    last_look=str,
    edits=int,
    since=str,
    head=str,
    documents=dict[str, Diff],
)
HunkAnswer = record(
    "HunkAnswer", "A run of lines; `both` is the text with both edits, where they do not touch.", Hunk, both=str | None
)
ConflictAnswer = record(
    "ConflictAnswer",
    "A document that both the change and the main line edited.",
    Collision,
    ("parts",),
    parts=many(HunkAnswer),
)
ShiftAnswer = record("ShiftAnswer", "One question before and after a change.", Shift, lost=bool, won=bool, outcome=str)
ImpactAnswer = record(
    "ImpactAnswer",
    "What a change does to search.",
    Impact,
    ("shifts",),
    shifts=many(ShiftAnswer),
    losses=list[str],
    outcome=str,
    sentence=str,
)
ShareAnswer = record("ShareAnswer", "A share with its interval.", count=int, of=int, share=float, interval=list[float])
QuerySetAnswer = record(
    "QuerySetAnswer",
    "A query set, how far its judges agree, and which judgments find no place.",
    name=str,
    about=str,
    digest=str,
    questions=int,
    judgments=int,
    agreement=list[JudgeAgreement],
    answers=list[dict[str, Any]],
    added=ShareAnswer,
    new_documents=ShareAnswer,
    left_out=list[Problem],
    unmapped=list[dict[str, str]],
)
ListedQuestion = record("ListedQuestion", "A question with its judgments.", JudgedQuestion, judgments=list[Judgment])
QuerySetWhole = create_model(
    "QuerySetWhole",
    __base__=QuerySetAnswer,
    __doc__="With its questions, where they were asked for.",
    listed=(many(ListedQuestion), []),
)
RunAnswer = record("RunAnswer", "A run without its questions.", Run, ("results",), name=str, cost_per_1000=float)
RunComparisonAnswer = record(
    "RunComparisonAnswer",
    "Two runs: difference, interval, wins, ties and losses, question by question.",
    PairedComparison,
    before=RunAnswer,
    after=RunAnswer,
    measure=str,
    categories=dict[str, Any],
    questions=list[dict[str, Any]],
    note=str,
)
StartedJob = record("StartedJob", "A job that works in the background.", job=int)
Gap = record(
    "Gap",
    "A question without an answer. `path` is a document that lists it and is not found for it yet, at `rank`.",
    GapRow,
)
ClosedGap = record("ClosedGap", "The number of a gap that is closed now.", closed=int)
DueDocument = record("DueDocument", "A document that is due for review.", doc=str, title=str, owner=str, days=int)
OwnerlessDocument = record(
    "OwnerlessDocument", "A document that nobody owns, or that nobody approved.", doc=str, title=str
)
FreshnessAnswer = record(
    "FreshnessAnswer",
    "Documents that are due for review, have no owner, or came in and were approved by nobody.",
    overdue=many(DueDocument),
    due_soon=many(DueDocument),
    without_owner=many(OwnerlessDocument),
    imported=many(OwnerlessDocument),
)
ConfirmationAnswer = record("ConfirmationAnswer", "A confirmed document.", document=str, review_due=str, commit=str)


class HealthAnswer(Form):
    """Whether the app serves; with a token also what."""

    status: str
    generation: int | None = None
    commit: str | None = None
    store: str | None = None
