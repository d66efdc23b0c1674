"""Freshness: which documents are due for review or lack an owner, and confirming that one is still right."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING

from core.access import ANYONE, Actor, use_case
from core.curation.document.frontmatter import decode, read_document
from core.curation.document.frontmatter_edit import with_fields
from core.curation.document.names import folder_counts
from core.curation.document.statuses import Freshness, freshness
from core.cures import DOCUMENTS
from core.errors import BadInput, NotFound
from core.ports import Clock
from core.services.knowledge.documents import Documents
from core.services.people.audit import Audit
from core.types import Document

if TYPE_CHECKING:
    from core.storage.git.repository import Repository
    from core.storage.state.database import State

ONE_BY_ONE = 5  # documents without an owner that are named; more are a matter of their folders
YEAR = timedelta(days=365)  # until the next review, unless somebody says otherwise


@dataclass(frozen=True, slots=True)
class Attention:
    """Approved documents that need somebody, the most urgent first."""

    overdue: tuple[tuple[Document, Freshness], ...]
    due_soon: tuple[tuple[Document, Freshness], ...]
    without_owner: tuple[Document, ...]
    imported: tuple[Document, ...] = ()  # that nobody has approved or confirmed since

    @property
    def ownerless_folders(self) -> dict[str, int]:
        """How many documents have no owner, by folder, where they are too many to go through one by one."""
        return _folders(self.without_owner)

    @property
    def only_imported(self) -> tuple[Document, ...]:
        """Those that nobody has approved and that no other list names."""
        dated = (document for document, _ in (*self.overdue, *self.due_soon))
        named = {document.path for document in (*dated, *self.without_owner)}
        return tuple(document for document in self.imported if document.path not in named)

    @property
    def imported_folders(self) -> dict[str, int]:
        """The same for those that nobody has approved."""
        return _folders(self.imported)


class FreshnessBoard:
    """What the Freshness page shows, and its button."""

    def __init__(
        self,
        documents: Documents,
        repository: Repository,
        moving_main: Callable[[], AbstractContextManager[State]],
        audit: Audit,
        clock: Clock,
        moved: Callable[[Actor], object],
    ) -> None:
        self.documents, self.repository, self.moving_main = documents, repository, moving_main
        self.audit, self.clock, self.moved = audit, clock, moved

    @use_case(ANYONE)
    def attention(self) -> Attention:
        """What is due, and what nobody owns."""
        today = self.clock.today()
        live = [document for document in self.documents.all() if document.meta.status == "approved"]
        dated = [
            (document, freshness(document.meta.effective_date, document.meta.review_due, today)) for document in live
        ]
        return Attention(
            _in_state(dated, "overdue"),
            _in_state(dated, "due soon"),
            tuple(document for document in live if not document.meta.owner),
            tuple(document for document in live if document.imported),
        )

    @use_case(ANYONE)
    def next_review(self) -> date:
        """A year from today."""
        return self.clock.today() + YEAR

    @use_case("confirm a document")
    def confirm(self, actor: Actor, name: str, until: date) -> str:
        """Confirm that a document is still right; only its `review_due` changes."""
        if until <= self.clock.today():
            raise BadInput("The next review must lie in the future.")
        with self.moving_main() as state:
            head, seen = self.repository.head(), self.documents.readership.now()
            hidden = seen is not None and not seen.path(name)
            if hidden or name not in {entry.path for entry in self.repository.entries(head)}:
                raise NotFound(f"There is no document {name!r}.", DOCUMENTS)
            text = decode(self.repository.read(head, name))
            files = {name: with_fields(text, {"review_due": until}).encode()}
            title = read_document(name, text).title
            note = f"Confirm {title}\n\nVerified-by: {actor.name} <{actor.email}>"
            commit = self.repository.commit("main", files, actor.person, note, expected=head)
            self.audit.record(state, actor, "confirm", title, commit=commit, detail=f"{name} until {until}")
        self.moved(actor)
        return commit


def _folders(documents: tuple[Document, ...]) -> dict[str, int]:
    if len(documents) <= ONE_BY_ONE:
        return {}
    counts = folder_counts(document.path for document in documents)
    return {name or "top level": count for name, count in counts.items()}


def _in_state(dated: list[tuple[Document, Freshness]], state: str) -> tuple[tuple[Document, Freshness], ...]:
    return tuple(sorted((pair for pair in dated if pair[1].state == state), key=lambda pair: pair[1].days))
