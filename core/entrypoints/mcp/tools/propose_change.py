"""propose_change: edits as a draft that a person submits."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from core import strict
from core.access import Actor
from core.entrypoints.mcp.visits import ToolReply, ToolSession
from core.entrypoints.refusals import in_words
from core.errors import BadInput, ConcordError, Conflict, NotFound
from core.services.reviews.authoring import check_new_path
from core.services.reviews.changes import Change, ChangeBasis
from core.types import Document

WAIT = 20  # seconds for the impact; it is kept when it comes later
FINDINGS = 20  # that are named
MOST = 100  # edits
NOT_YET = "Its impact is still being measured; people see it with the change."


class ProposedEdit(BaseModel):
    """An edit of one document."""

    model_config = ConfigDict(extra="forbid")

    document: str = Field(description="The id or path of a document; for a new one its path, such as it/vpn.md.")
    version: int | None = Field(default=None, description="The `version` that you read. Not for a new document.")
    find: str = Field(default="", description="Text to replace, exactly as read gave it; it must stand there once.")
    replace: str = Field(default="", description="What takes its place; empty deletes it.")
    text: str = Field(
        default="",
        description="Instead of find and replace: the whole new body, or the text of a new document. The frontmatter "
        "stays"
        " unless the text begins with its own.",
    )


class FindingReply(BaseModel):
    """What a check says about a line."""

    path: str
    line: int
    severity: str
    message: str


class EditReply(BaseModel):
    """A document that the change touches."""

    kind: str
    path: str


class ImpactReply(BaseModel):
    """What the change does to search."""

    sentence: str
    losses: list[str] = Field(default=[], description="Query sets on which search would be worse, and not by chance.")
    lost: list[str] = Field(default=[], description="Questions whose document would not be found first any more.")


class ChangeReply(ToolReply):
    """The draft."""

    id: int
    title: str
    state: str
    head: str
    documents: list[EditReply]
    findings: list[FindingReply]
    impact: ImpactReply
    link: str = Field(description="Where a person looks at it and submits it.")

    def words(self) -> str:
        lines = [f"Saved as draft change {self.id}: {self.link}"]
        lines += [f"{each.kind} {each.path}" for each in self.documents]
        lines += [f"{each.severity} in {each.path}, line {each.line}: {each.message}" for each in self.findings]
        lines += [f"Effect on search: {self.impact.sentence}", *(f"Lost: {each}" for each in self.impact.lost)]
        return "\n".join(
            (*lines, "Nothing is changed yet. Ask the user to open the link, look at it and submit it for review.")
        )


def propose_change(
    visit: ToolSession,
    title: Annotated[str, Field(description="What the change does, in a few words.")],
    edits: Annotated[
        list[ProposedEdit],
        Field(description="In order; several may touch one document.", min_length=1, max_length=MOST),
    ],
    why: Annotated[str, Field(description="Why, for the people who review it.")] = "",
) -> ChangeReply:
    """Save edits of documents as a draft change. A person submits it; other people review and merge it. You cannot.

    Use it only when the user asks for an edit. Read each document first and name the `version` that you read. Returns
    what the checks find and what the change does to search: correct errors with a new proposal. Needs an account that
    may write.
    """
    start = visit.app.knowledge.repository.head()
    files = edited(visit, edits)
    change = visit.app.reviews.changes.propose(
        visit.actor, title, files, _signed(why, visit.actor), ChangeBasis(start=start)
    )
    findings = [FindingReply(**_some(finding, FindingReply)) for finding in change.findings[:FINDINGS]]
    return ChangeReply(
        **_some(change, ChangeReply, "id", "title", "state", "head"),
        documents=[EditReply(kind=edit.kind, path=edit.path) for edit in change.documents],
        findings=findings,
        impact=_impact(visit, change),
        link=f"{visit.url.rstrip('/')}/reviews?change={change.id}",
    )


def _signed(why: str, actor: Actor) -> str:
    """The reason, and who wrote the text: reviewers look at it with other eyes.

    >>> _signed("Asked in chat.", Actor("ann", "Ann", "ann@example.org", "author", token="desk"))
    "Asked in chat.\\n\\nDrafted by an assistant, with the access token 'desk'."
    """
    token = f", with the access token {actor.token!r}" if actor.token else ""
    return f"{why}\n\nDrafted by an assistant{token}.".strip()


def edited(visit: ToolSession, edits: Sequence[ProposedEdit]) -> dict[str, bytes | None]:
    """The files of the change, by path."""
    texts: dict[str, str] = {}
    for edit in edits:
        document = _existing(visit, edit)
        if document is None:
            path = check_new_path(visit.app.knowledge.documents, edit.document)
            texts[path] = _replaced(edit.document, texts[path], edit) if path in texts else edit.text
        else:
            _check_version(document, edit)
            before = texts.get(document.path, document.text)
            texts[document.path] = _whole(document, edit) if edit.text else _replaced(document.id, before, edit)
    return {path: text.encode("utf-8", "replace") for path, text in texts.items()}


def _existing(visit: ToolSession, edit: ProposedEdit) -> Document | None:
    """The document that is edited; None for a new one."""
    try:
        return visit.document(edit.document)[0]
    except NotFound:
        if edit.document.endswith(".md") and edit.version is None:
            return None
        raise


def _check_version(document: Document, edit: ProposedEdit) -> None:
    if edit.version is None:
        raise BadInput(f"Name the version of {document.id} that you read: read it first.")
    if edit.version != document.version:
        raise Conflict(
            f"{document.id} is at version {document.version}, and you read version {edit.version}. Read it again.",
            (document.path,),
        )


def _whole(document: Document, edit: ProposedEdit) -> str:
    return edit.text if edit.text.startswith("---\n") else document.text[: document.body] + edit.text


def _replaced(name: str, text: str, edit: ProposedEdit) -> str:
    if not edit.find:
        raise BadInput(f"The edit of {name} has neither a text to find nor a whole text.")
    times = text.count(edit.find)
    if times == 1:
        return text.replace(edit.find, edit.replace)
    shown = edit.find if len(edit.find) <= 60 else f"{edit.find[:57]}..."
    if not times:
        raise BadInput(f"{name} does not hold {shown!r}. Copy it from read exactly, with its line breaks and marks.")
    raise BadInput(f"{shown!r} stands {times} times in {name}. Find a longer text that stands there once.")


def _impact(visit: ToolSession, change: Change) -> ImpactReply:
    """What is known of it soon; measuring goes on behind, and people find it with the change."""
    pool = ThreadPoolExecutor(1)
    measuring = pool.submit(visit.app.reviews.impacts.measure, visit.actor, change.id)
    pool.shutdown(wait=False)
    try:
        impact = measuring.result(WAIT)
    except TimeoutError:
        return ImpactReply(sentence=NOT_YET)
    except ConcordError as error:
        return ImpactReply(sentence=in_words(error, visit.actor))
    return ImpactReply(
        sentence=impact.sentence,
        losses=list(impact.losses),
        lost=[each.text for each in impact.shifts if each.outcome == "loss"][:FINDINGS],
    )


def _some(value: object, model: type[BaseModel], *names: str) -> dict[str, Any]:
    """Fields of a value that a reply has, too."""
    plain: dict[str, Any] = strict.plain(value)
    return {name: plain[name] for name in names or model.model_fields}
