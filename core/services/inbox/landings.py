"""What a commit of the main line sets off for people, inside the transaction that records it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from core.access import Actor
from core.curation.document.frontmatter import decode, read_document
from core.errors import ConcordError
from core.services.inbox.news import ChangeNews, Landing
from core.services.inbox.watches import Watches
from core.services.knowledge.feedback import FeedbackBoard
from core.services.knowledge.gaps import Gaps
from core.types import Document

if TYPE_CHECKING:
    from core.storage.git.repository import Repository
    from core.storage.state.database import State


class MergeNotifier:
    """Tells those who took part and who watch, and notes which questions without an answer a document lists now."""

    def __init__(
        self, repository: Repository, news: ChangeNews, watches: Watches, gaps: Gaps, feedback: FeedbackBoard
    ) -> None:
        self.repository = repository
        self.news = news
        self.watches = watches
        self.gaps = gaps
        self.feedback = feedback

    def landed(self, state: State, actor: Actor, landing: Landing) -> None:
        """Documents are read only where somebody waits for one."""
        self.news.merged(state, actor, landing)
        self.feedback.landed(state, actor, landing)
        if state.watches.all() or state.gaps.open():
            documents = tuple(self._documents(landing))
            self.watches.landed(state, actor, landing, {document.path: document.title for document in documents})
            self.gaps.landed(state, actor, documents)

    def _documents(self, landing: Landing) -> Iterator[Document]:
        """The readable documents that a commit brought."""
        edits = [edit for edit in landing.edits if edit.kind != "deleted" and edit.path.endswith(".md")]
        for edit, raw in zip(edits, self.repository.read_blobs([edit.blob for edit in edits]), strict=True):
            try:
                yield read_document(edit.path, decode(raw))
            except ConcordError:
                continue
