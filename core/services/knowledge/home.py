"""The knowledge base at a glance: contents, what needs attention, recent changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from core.access import ANYONE, use_case
from core.curation.document.names import folder_counts
from core.services.knowledge.documents import Documents
from core.services.knowledge.freshness import Attention, FreshnessBoard
from core.services.platform.settings import TeamSettings
from core.types import Commit, Edit, Generation, Profile

if TYPE_CHECKING:
    from core.storage.git.repository import Repository
    from core.storage.index.generations import Generations


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
    attention: Attention
    unreadable: tuple[tuple[str, str], ...]
    recent: tuple[Step, ...]
    index: IndexState


class Home:
    """Documents, history and index together."""

    def __init__(
        self,
        documents: Documents,
        freshness: FreshnessBoard,
        repository: Repository,
        generations: Generations,
        team_settings: TeamSettings,
    ) -> None:
        self.documents, self.freshness, self.repository = documents, freshness, repository
        self.generations, self.team_settings = generations, team_settings

    @use_case(ANYONE)
    def overview(self, steps: int = 8) -> Overview:
        documents = self.documents.all()
        return Overview(
            documents=len(documents),
            types=_counts(document.meta.doc_type or "document" for document in documents),
            folders={
                name or "top level": count for name, count in folder_counts(one.path for one in documents).items()
            },
            attention=self.freshness.attention(),
            unreadable=self.documents.unreadable(),
            recent=tuple(Step(commit, edits) for commit, edits in self.documents.commits(steps)),
            index=self.index_state(),
        )

    @use_case(ANYONE)
    def index_state(self) -> IndexState:
        """The serving generation, and how many commits it is behind."""
        profile = self.team_settings.production().profile
        serving, head = self._counted(self.generations.current(profile), profile), self.repository.head()
        if serving is None or serving.commit == head or not head:
            return IndexState(serving, 0, self.generations.pinned(profile))
        known = self.repository.contains(head, serving.commit)
        return IndexState(
            serving,
            len(self.repository.log(head, since=serving.commit)) if known else 1,
            self.generations.pinned(profile),
        )

    def _counted(self, serving: Generation | None, profile: Profile) -> Generation | None:
        """With the documents and passages that whoever reads now may read."""
        if serving is None or self.documents.readership.now() is None:
            return serving
        index = self.generations.open(profile)
        return replace(serving, documents=len(index.documents), chunks=index.size)

    @use_case(ANYONE)
    def found_since(self, commit: str) -> str:
        """Since when a commit can be found; "" while it cannot."""
        profile = self.team_settings.production().profile
        serving = self.generations.current(profile)
        if serving is None or not self.repository.contains(serving.commit, commit):
            return ""
        holding = [
            generation
            for generation in self.generations.all(profile)
            if self.repository.contains(generation.commit, commit)
        ]
        return min((generation.built for generation in holding), default=serving.built)


def _counts(values: Iterable[str]) -> Mapping[str, int]:
    return dict(sorted(Counter(values).items(), key=lambda item: (-item[1], item[0])))
