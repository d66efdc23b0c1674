"""What goes in and out, for the OpenAPI document. Answers are made of the records that services give; these name their keys.

No answer is checked against them per request: tests do that.
"""

from __future__ import annotations

from types import GenericAlias
from typing import Annotated, Any, Literal, get_type_hints

from fastapi import Header, Path, Query
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, create_model

from core.curation.document.frontmatter import MAX_BYTES
from core.curation.document.links import Link
from core.curation.document.names import MAX_PATH_BYTES
from core.curation.review.conflicts import Hunk
from core.curation.review.diffs import Diff, DiffRow, FieldChange
from core.curation.review.proposals import MAX_TEXT, MAX_TITLE
from core.evaluation.impact import Impact, Shift
from core.evaluation.querysets.agreement import JudgeAgreement
from core.evaluation.querysets.draft import Problem
from core.evaluation.querysets.queryset import Judgment
from core.evaluation.querysets.queryset import Question as JudgedQuestion
from core.evaluation.runs.run import Run
from core.evaluation.statistics import PairedComparison
from core.services.knowledge.gaps import MAX_NOTE
from core.services.reviews.changes import Change
from core.services.reviews.diff import News
from core.services.reviews.discussion import Comment
from core.services.reviews.merge import Collision
from core.types import Hit, Pending, Stage

PRINTABLE = r"^[^\x00]*$"  # a NUL is no part of any text
LARGEST = 2_147_483_647  # of an id
MOST_FILES = 200
CONFIGURATION = "A name such as bm25 or convex-0.5, or JSON; what is in production if not given."

Word = Annotated[str, StringConstraints(max_length=400, pattern=PRINTABLE)]
Title = Annotated[str, StringConstraints(max_length=MAX_TITLE, pattern=PRINTABLE)]
Text = Annotated[str, StringConstraints(max_length=MAX_TEXT, pattern=PRINTABLE)]
Note = Annotated[str, StringConstraints(max_length=MAX_NOTE, pattern=PRINTABLE)]
PathOf = Annotated[str, StringConstraints(min_length=1, max_length=MAX_PATH_BYTES, pattern=PRINTABLE)]
WholeText = Annotated[str, StringConstraints(max_length=MAX_BYTES, pattern=PRINTABLE)]
Configuration = Annotated[str, StringConstraints(max_length=8_000, pattern=PRINTABLE)]

QuestionQuery = Annotated[str, Query(min_length=1, max_length=2_000, pattern=PRINTABLE, description="The question.")]
ConfigQuery = Annotated[
    str,
    Query(
        max_length=8_000,
        pattern=PRINTABLE,
        description=CONFIGURATION,
    ),
]
WordQuery = Annotated[str, Query(max_length=400, pattern=PRINTABLE)]
Some = Annotated[tuple[Word, ...], Field(max_length=50, description="Only these; one of them is enough.")]
Several = Annotated[tuple[Word, ...], Query(max_length=50)]
DocumentName = Annotated[str, Path(max_length=400, pattern=PRINTABLE, description="The id or the path of a document.")]
Name = Annotated[str, Path(max_length=400, pattern=PRINTABLE)]
Number = Annotated[int, Path(ge=1, le=LARGEST)]
Seen = Annotated[
    str | None,
    Header(
        alias="If-Match",
        max_length=200,
        description='The ETag of the change, or its head in quotes. Refused with 412 if it was edited since; any state if not given or "*".',
    ),
]

EXACT = ConfigDict(extra="forbid")


# ---------------------------------------------------------------- what goes in


class Form(BaseModel):
    """A body. Keys that it does not know are refused."""

    model_config = EXACT


class SearchForm(Form):
    """The parameters of a search."""

    q: Annotated[str, Field(min_length=1, max_length=2_000, pattern=PRINTABLE, description="The question.")]
    k: Annotated[int, Field(ge=0, le=1000, description="How many hits; as many as in production if not given.")] = 0
    profile: Annotated[Word, Field(description="Which index; the one in production if not given.")] = ""
    config: Annotated[Configuration, Field(description=CONFIGURATION)] = ""
    as_of: Annotated[Word, Field(description="As it was at the end of a day (2026-03-31), or at a commit.")] = ""
    asked: Annotated[bool, Field(description="A person asked this: keep it among the asked questions.")] = False
    type: Some = ()
    status: Some = ()
    tag: Some = ()
    owner: Some = ()
    folder: Some = ()
    doc: Some = ()
    history: Annotated[bool, Field(description="Also retired, superseded and not yet effective documents.")] = False


class FileForm(Form):
    """A document of a change: its whole text, or null to delete it."""

    path: PathOf
    text: WholeText | None


Files = Annotated[list[FileForm], Field(max_length=MOST_FILES)]


ReadBlobs = Annotated[
    dict[Word, Word],
    Field(
        max_length=MOST_FILES,
        description='Path to the `blob` of the text that was edited, "" if there was none: refused with 412 if it is another by now.',
    ),
]


class ProposalForm(Form):
    """A new change."""

    title: Annotated[Title, Field(min_length=1)]
    files: Annotated[Files, Field(min_length=1)]
    message: Text = ""
    read: ReadBlobs = {}


class EditForm(Form):
    """Another edit of a change; with a title also another title, and the message is its description then."""

    files: Files = []
    title: Title = ""
    message: Text = ""


class ReviewersForm(Form):
    """Whom to ask, by id, address or name."""

    reviewers: Annotated[list[Word], Field(max_length=50)] = []


class CoAuthorsForm(Form):
    """Whom to invite or to remove, by id, address or name."""

    accounts: Annotated[list[Word], Field(min_length=1, max_length=50)]
    remove: bool = False


class MessageForm(Form):
    """What to say."""

    message: Text = ""


class CommentForm(Form):
    """A comment on the change, on lines of one of its documents, or in answer to another comment."""

    message: Annotated[Text, Field(min_length=1)]
    path: Word = ""
    line: Annotated[int, Field(ge=0, le=LARGEST)] = 0
    last: Annotated[int, Field(ge=0, le=LARGEST)] = 0
    reply: Annotated[int, Field(ge=0, le=LARGEST)] = 0


class VerdictForm(Form):
    """A verdict on the text of a change."""

    verdict: Literal["approve", "request changes", "take back"]
    message: Text = ""


class GapForm(Form):
    """A question that found no answer."""

    query: Annotated[Word, Field(min_length=1)]
    note: Note = ""


class AssignmentForm(Form):
    """Who looks after it."""

    account: Word


class ConfirmationForm(Form):
    """A document whose words are still right; the next review is in a year if not given."""

    document: Word
    until: Annotated[str, StringConstraints(pattern=r"^(\d{4}-\d{2}-\d{2})?$")] = ""


class RunForm(Form):
    """Configurations over a query set; what is in production if none is named."""

    queryset: Word
    configs: Annotated[list[Configuration], Field(max_length=20)] = []
    profiles: Annotated[list[Word], Field(max_length=20)] = []
    unit: Literal["document", "passage"] = "document"


# ---------------------------------------------------------------- what comes out


def record(title: str, about: str, base: Any = None, without: tuple[str, ...] = (), /, **more: Any) -> Any:
    """A form with the fields of a record of the services, and more; all of them are always there."""
    hints = {**(get_type_hints(base) if base else {}), **more}
    fields: dict[str, Any] = {key: (hint, ...) for key, hint in hints.items() if key not in without or key in more}
    return create_model(title, __doc__=about, __config__=EXACT, **fields)


def many(item: Any) -> Any:
    """A list of such a form."""
    return GenericAlias(list, (item,))


PendingVectors = record(
    "PendingVectors", "Words alone were searched, since vectors are still being computed: so many of all passages have theirs.",
    Pending, message=str,
)  # fmt: skip
SearchAnswer = record(
    "SearchAnswer", "Passages of the approved documents for a question, and how they were found.",
    query=str, profile=str, generation=int, commit=str, config=dict[str, Any], as_of=str, confidence=float, fits=bool, hits=list[Hit],
    stages=list[Stage], warnings=list[str], also=list[str], suggestions=list[str], pending=PendingVectors | None,
)  # fmt: skip
CitedText = record("CitedText", "A sentence and the numbers of its passages.", text=str, citations=list[int])
WithheldText = record(
    "WithheldText", "A sentence that its passages do not bear out.", text=str, citations=list[int], why=str
)
CitedPassage = record(
    "CitedPassage", "A passage that the model read, under the number by which sentences cite it.",
    number=int, doc=str, path=str, title=str, heading=list[str], chunk=str, start=int, end=int, status=str, version=int, text=str,
)  # fmt: skip
CitedAnswer = record(
    "CitedAnswer", "An answer whose every sentence is borne out by the passages it cites, and what was withheld.",
    query=str, answered=bool, extract=bool, text=str, sentences=many(CitedText), passages=many(CitedPassage),
    withheld=many(WithheldText), advice=str, model=str, dollars=float, confidence=float, fits=bool, generation=int, commit=str,
    as_of=str,
)  # fmt: skip
CompareAnswer = record(
    "CompareAnswer", "Configurations side by side, how far every two agree, and what the judgments so far say of each.",
    query=str, compared_by=str, seconds=float, columns=list[dict[str, Any]], pairs=list[dict[str, Any]],
    scores=list[dict[str, Any] | None],
)  # fmt: skip
_LINE: dict[str, Any] = {
    "doc": str, "path": str, "title": str, "doc_type": str, "status": str, "owner": str, "tags": list[str],
    "effective_date": str | None, "review_due": str | None, "supersedes": list[str], "answers": list[str],
    "version": int, "blob": str,
}  # fmt: skip
DocumentLine = record("DocumentLine", "A document without its text.", **_LINE)
WholeDocument = record(
    "WholeDocument", "A document with its text; `body` is where its frontmatter ends.", **_LINE, text=str, body=int
)
DocumentVersion = record(
    "DocumentVersion", "One version of a document.",
    version=int, commit=str, when=str, author=str, message=str, path=str, blob=str,
)  # fmt: skip
DiffAnswer = record(
    "DiffAnswer", "What changed between two versions of a document.",
    old=int, new=int, fields=list[FieldChange], added=int, removed=int, rows=list[DiffRow],
)  # fmt: skip
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
    "ChangeDiff", "What a change does to its documents, line by line.",
    last_look=str, edits=int, since=str, head=str, documents=dict[str, Diff],
)  # fmt: skip
HunkAnswer = record("HunkAnswer", "A run of lines; `both` is the text with both edits, where they do not touch.", Hunk, both=str | None)  # fmt: skip
ConflictAnswer = record("ConflictAnswer", "A document that both the change and the main line edited.", Collision, ("parts",), parts=many(HunkAnswer))  # fmt: skip
ShiftAnswer = record("ShiftAnswer", "One question before and after a change.", Shift, lost=bool, won=bool)
ImpactAnswer = record(
    "ImpactAnswer", "What a change does to search.", Impact, ("shifts",),
    shifts=many(ShiftAnswer), losses=list[str], sentence=str,
)  # fmt: skip
ShareAnswer = record("ShareAnswer", "A share with its interval.", count=int, of=int, share=float, interval=list[float])
QuerySetAnswer = record(
    "QuerySetAnswer", "A query set, how far its judges agree, and which judgments find no place.",
    name=str, about=str, digest=str, questions=int, judgments=int, agreement=list[JudgeAgreement],
    answers=list[dict[str, Any]], added=ShareAnswer, new_documents=ShareAnswer, left_out=list[Problem],
    unmapped=list[dict[str, str]],
)  # fmt: skip
ListedQuestion = record("ListedQuestion", "A question with its judgments.", JudgedQuestion, judgments=list[Judgment])
QuerySetWhole = create_model("QuerySetWhole", __base__=QuerySetAnswer, __doc__="With its questions, where they were asked for.", listed=(many(ListedQuestion), []))  # fmt: skip
RunAnswer = record("RunAnswer", "A run without its questions.", Run, ("results",), name=str, cost_per_1000=float)
RunComparisonAnswer = record(
    "RunComparisonAnswer", "Two runs: difference, interval, wins, ties and losses, question by question.", PairedComparison,
    before=RunAnswer, after=RunAnswer, measure=str, categories=dict[str, Any], questions=list[dict[str, Any]], note=str,
)  # fmt: skip
StartedJob = record("StartedJob", "A job that works in the background.", job=int)
ClosedGap = record("ClosedGap", "The number of a gap that is closed now.", closed=int)
DueDocument = record("DueDocument", "A document that is due for review.", doc=str, title=str, owner=str, days=int)
OwnerlessDocument = record("OwnerlessDocument", "A document that nobody owns.", doc=str, title=str)
FreshnessAnswer = record(
    "FreshnessAnswer", "Documents that are due for review or have no owner.",
    overdue=many(DueDocument), due_soon=many(DueDocument), without_owner=many(OwnerlessDocument),
)  # fmt: skip
ConfirmationAnswer = record("ConfirmationAnswer", "A confirmed document.", document=str, review_due=str, commit=str)


class HealthAnswer(Form):
    """Whether the app serves; with a token also what."""

    status: str
    generation: int | None = None
    commit: str | None = None
    store: str | None = None
