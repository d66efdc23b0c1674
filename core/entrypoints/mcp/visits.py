"""One call of a tool: on which workspace, by whom, and where links lead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from core.access import Actor
from core.entrypoints.mcp.tokens import TokenCount
from core.entrypoints.mcp.tool_replies import ToolReply
from core.errors import Refused
from core.types import Document

if TYPE_CHECKING:
    from core.bootstrap import App

SHORT = 12  # characters of a commit in a link; all of them cost a model tokens


@dataclass(frozen=True, slots=True)
class ToolSession:
    """`url` is the address under which people open the app."""

    app: App
    actor: Actor
    url: str

    def commit(self, as_of: str = "") -> str:
        """The newest state of the main line, or that of a day or commit."""
        return self.app.search.as_of.moment(as_of).commit if as_of else self.app.knowledge.repository.head()

    def document(self, name: str, as_of: str = "") -> tuple[Document, str]:
        """A document by id or path, and the commit that it is read at. Drafts are for their authors, on the pages."""
        commit = self.commit(as_of)
        documents = self.app.knowledge.documents
        document = documents.show_at(self.actor, name, commit) if as_of else documents.show(name)
        if document.meta.status == "draft":
            raise Refused(f"{document.id} is a draft. Assistants read what is approved, and what once was.")
        return document, commit

    def count(self, text: str) -> int:
        """The tokens of a text."""
        return TokenCount(self.app.models.registry, self.app.platform.settings.production().profile)(text)

    def within(self, reply: ToolReply, budget: int) -> bool:
        """Whether both forms of a reply keep the budget: clients differ in which one they show to a model."""
        return all(self.count(form) <= budget for form in (reply.words(), reply.fields()))

    def link(self, document: str, commit: str, start: int, end: int) -> str:
        """The page that opens a document as it was at a commit, with a passage marked, and says what changed since."""
        place = {"doc": document, "start": start, "end": end, "as_of": commit[:SHORT]}
        return f"{self.url.rstrip('/')}/documents?{urlencode(place)}"
