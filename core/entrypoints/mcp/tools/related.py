"""related: where a document leads, and what leads to it."""

from __future__ import annotations

from pydantic import BaseModel, Field

from core.access import allowed
from core.curation.document.links import backlinks, links
from core.entrypoints.mcp.visits import (
    USUAL,
    Budget,
    DocumentReply,
    Marks,
    Name,
    Quoted,
    ToolReply,
    ToolSession,
    document_fields,
    longest,
)
from core.entrypoints.refusals import in_words
from core.errors import ConcordError
from core.types import Document

NODES = 60  # of the graph that are looked at
NAMED = 12  # entities that are listed
NO_GRAPH = "What else is near by the graph is for authors and above."


class RelatedReply(BaseModel):
    """A related document."""

    doc: str
    path: str
    title: Quoted
    status: str
    how: str = Field(description="links to, linked from, or shares names: both name the same things.")
    text: Quoted = Field(description="The words of the link, or how many names both share.")


class RelatedListReply(ToolReply):
    """The documents around a document, the nearest kind first."""

    document: DocumentReply
    related: list[RelatedReply]
    names: list[Quoted] = Field(description="What the document names and few others do.")
    left_out: int = Field(description="Entries that the budget left no room for.")
    note: str

    def words(self) -> str:
        listed = [
            f"{each.how}: {each.title} ({each.doc}, {each.path}, {each.status}): {each.text}" for each in self.related
        ]
        listed += [f"names: {', '.join(self.names)}"] if self.names else []
        marks = Marks([self.document.about(), *listed])
        more = [f"{self.left_out} more did not fit the token budget."] if self.left_out else []
        return "\n".join(
            (marks.notice, marks(self.document.about(), *listed), *more, *([self.note] if self.note else []))
        )


def related(visit: ToolSession, document: Name, token_budget: Budget = USUAL) -> RelatedListReply:
    """List the documents that a document links to, that link to it, and that name the same things.

    Use it before you say that something is complete, to follow a reference, or to see what else a change touches.
    """
    shown, _ = visit.document(document)
    known = {each.path: each for each in visit.app.knowledge.documents.all() if each.meta.status != "draft"}
    near, names, note = _in_graph(visit, shown, known)
    rows = [*_linked(shown, known), *near]

    def made(n: int) -> RelatedListReply:
        about = DocumentReply(**document_fields(shown))
        return RelatedListReply(document=about, related=rows[:n], names=names, left_out=len(rows) - n, note=note)

    count = visit.counter()
    return made(longest(len(rows), lambda n: count.within(made(n), token_budget)))


def _linked(document: Document, known: dict[str, Document]) -> list[RelatedReply]:
    out = {link.path: link.text for link in reversed(links(document)) if link.path in known}
    out.pop(document.path, None)
    into = [(path, text) for path, text in backlinks(known.values()).get(document.path, ()) if path in known]
    return [
        *(_row(known[path], "links to", text) for path, text in reversed(out.items())),
        *(_row(known[path], "linked from", text) for path, text in into),
    ]


def _in_graph(
    visit: ToolSession, document: Document, known: dict[str, Document]
) -> tuple[list[RelatedReply], list[str], str]:
    """Documents that name the same, the names, and why there are none."""
    if not allowed(visit.actor, "explore the graph"):
        return [], [], NO_GRAPH
    try:
        view = visit.app.graph.explorer.around_document(visit.actor, document.id, hops=2, limit=NODES)
    except ConcordError as error:
        return [], [], in_words(error, visit.actor)
    shared = {edge.target: int(edge.weight) for edge in view.edges if edge.label == "shares"}
    near = [
        _row(known[node.sources[0]], "shares names", f"{shared[node.id]} names")
        for node in view.nodes
        if node.id in shared and node.sources[0] in known
    ]
    return near, [node.label for node in view.nodes if node.kind == "entity"][:NAMED], ""


def _row(document: Document, how: str, text: str) -> RelatedReply:
    return RelatedReply(
        doc=document.id, path=document.path, title=document.title, status=document.meta.status, how=how, text=text
    )
