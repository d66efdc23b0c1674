"""The knowledge base at a glance: contents, what needs attention, recent changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.curation.freshness import Freshness, freshness
from core.curation.names import top_folder
from core.ports import Clock
from core.services.knowledge.documents import Documents
from core.services.platform.settings import TeamSettings
from core.types import Commit, Document, Edit, Generation

if TYPE_CHECKING:
    from core.adapters.git.store import GitStore
    from core.adapters.index.generations import Generations


@dataclass(frozen=True, slots=True)
class Step:
    """One commit of the main line and the documents it changed."""

    commit: Commit
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class IndexState:
    """Whether the newest commit can be found."""

    serving: Generation | None
    behind: int
    pinned: bool


@dataclass(frozen=True, slots=True)
class Overview:
    """Everything the Home page shows."""

    documents: int
    types: Mapping[str, int]
    folders: Mapping[str, int]
    overdue: tuple[tuple[Document, Freshness], ...]
    due_soon: tuple[tuple[Document, Freshness], ...]
    without_owner: tuple[Document, ...]
    unreadable: tuple[tuple[str, str], ...]
    recent: tuple[Step, ...]
    index: IndexState


class Home:
    """Documents, history and index together."""

    def __init__(
        self, documents: Documents, store: GitStore, generations: Generations, team_settings: TeamSettings, clock: Clock
    ) -> None:
        self.documents, self.store, self.generations, self.team_settings, self.clock = (
            documents,
            store,
            generations,
            team_settings,
            clock,
        )

    def overview(self, steps: int = 8) -> Overview:
        today, documents = self.clock.today(), self.documents.all()
        live = [document for document in documents if document.meta.status == "approved"]
        dated = [
            (document, freshness(document.meta.effective_date, document.meta.review_due, today)) for document in live
        ]
        return Overview(
            documents=len(documents),
            types=_counts(document.meta.doc_type or "document" for document in documents),
            folders=_counts(top_folder(document.path) or "top level" for document in documents),
            overdue=_in_state(dated, "overdue"),
            due_soon=_in_state(dated, "due soon"),
            without_owner=tuple(document for document in live if not document.meta.owner),
            unreadable=self.documents.unreadable(),
            recent=tuple(Step(commit, edits) for commit, edits in self.store.log(self.store.head(), limit=steps)),
            index=self.index_state(),
        )

    def index_state(self) -> IndexState:
        """The serving generation, and how many commits it is behind."""
        profile = self.team_settings.production().profile
        serving, head = self.generations.current(profile), self.store.head()
        if serving is None or serving.commit == head or not head:
            return IndexState(serving, 0, self.generations.pinned(profile))
        known = self.store.contains(head, serving.commit)
        return IndexState(
            serving, len(self.store.log(head, since=serving.commit)) if known else 1, self.generations.pinned(profile)
        )

    def found_since(self, commit: str) -> str:
        """Since when a commit can be found; "" while it cannot."""
        profile = self.team_settings.production().profile
        serving = self.generations.current(profile)
        if serving is None or not self.store.contains(serving.commit, commit):
            return ""
        holding = [
            generation for generation in self.generations.all(profile) if self.store.contains(generation.commit, commit)
        ]
        return min((generation.built for generation in holding), default=serving.built)


def _counts(values: Iterable[str]) -> Mapping[str, int]:
    return dict(sorted(Counter(values).items(), key=lambda item: (-item[1], item[0])))


def _in_state(dated: list[tuple[Document, Freshness]], state: str) -> tuple[tuple[Document, Freshness], ...]:
    return tuple(sorted((pair for pair in dated if pair[1].state == state), key=lambda pair: pair[1].days))
