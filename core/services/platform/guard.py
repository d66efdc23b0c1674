"""The guard of a workspace: what was lost is named with its cure, and nothing new is put in its place."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING

from core.errors import Corrupt, Refused
from core.types import RESTORE, Damage

if TYPE_CHECKING:
    from core.storage.git.repository import Repository
    from core.storage.index.generations import Generations
    from core.storage.state.database import Database

NEW_DATABASE = "python -m core init --new-database"


class WorkspaceGuard:
    """Repository, database and index of one workspace carry its id."""

    def __init__(self, repository: Repository, database: Database, generations: Generations) -> None:
        self.repository, self.database, self.generations = repository, database, generations

    def open(self) -> None:
        """Create what never was, bring an older workspace to this version, refuse one that lost something."""
        self.repository.prepare()
        workspace = self._checked()
        if not self.repository.exists():  # nodes that start at once with an empty database agree on the id of the first
            self.database.create(workspace)
            workspace = self.database.facts().workspace
        workspace = self.repository.create(workspace)  # the id of whoever was first, where two open it at once
        self.database.create(workspace)
        self.generations.belong(workspace)

    def _checked(self) -> str:
        """The id of the workspace, a new one where there is none yet."""
        history, facts = (
            self.repository.has_history(),
            self.database.facts(),
        )  # in this order: another node may be starting, too
        if not facts.version and history:
            raise Corrupt(
                f"The database {self.database.place} is missing or empty, but the knowledge base has a history. "
                f"{RESTORE}. Or start a new one without the accounts, approvals, discussions, "
                f"query sets and audit of the old one: {NEW_DATABASE}"
            )
        if facts.commit and not self.repository.exists():
            raise Corrupt(
                f"The knowledge base {self.repository.path} is missing, but the database knows its commits up to "
                f"{facts.commit[:12]}. {RESTORE}"
            )
        theirs = self.repository.workspace()
        if self.repository.clone:  # another repository lacks everything that the database knows
            self._same(facts.workspace, theirs)
        self._refuse_lost(facts.commit or self.generations.newest_commit())
        return self._same(facts.workspace, theirs)

    def _refuse_lost(self, known: str) -> None:
        if damages := self.repository.lost(known):
            raise Corrupt("\n".join(map(str, damages)))

    def _same(self, ours: str, theirs: str) -> str:
        """One id from the database and the repository. A new one is written to the repository first, so a kill in between heals."""
        if ours and theirs and ours != theirs and self.repository.clone:
            raise Corrupt(
                f"The shared repository belongs to workspace {theirs}, the database to {ours}. Check CONCORD_REPOSITORY and "
                "CONCORD_DATABASE."
            )
        if ours and theirs and ours != theirs:
            raise Corrupt(
                f"The knowledge base {self.repository.path} belongs to workspace {theirs}, the database {self.database.place} to "
                f"{ours}. {RESTORE}. If they do belong together: "
                f"git --git-dir={self.repository.path} config concord.workspace {ours}"
            )
        if ours and not theirs and self.repository.has_config() and not self.repository.clone:
            raise Corrupt(
                f"The knowledge base {self.repository.path} does not say to which workspace it belongs, the database says {ours}. "
                f"If they belong together: git --git-dir={self.repository.path} config concord.workspace {ours}. "
                f"Else: {RESTORE}"
            )
        return ours or theirs or uuid.uuid4().hex

    def damaged(self) -> Iterator[Damage]:
        """Every damaged file of what nothing else could give back: database and repository. Nothing is changed."""
        facts = None
        try:
            facts = self.database.facts()
        except Corrupt as error:
            yield Damage(self.database.name, f"cannot be read ({error})", RESTORE)
        if facts and facts.version:
            yield from self.database.damaged()
        elif facts and self.repository.has_history():
            cure = f"{RESTORE}. Or start a new one: {NEW_DATABASE}"
            yield Damage(self.database.name, "is missing or empty", cure)
        if self.repository.exists():
            yield from self.repository.damaged(*((facts.commit, facts.workspace) if facts else ()))
        elif facts and facts.commit:
            yield Damage("kb.git", "is missing", RESTORE)
        if facts and facts.workspace:
            yield from self.generations.foreign(facts.workspace)

    def share(self) -> None:
        """Fill an empty shared repository with the documents of a workspace that had its repository for itself."""
        self._refuse_lost(self.database.facts().commit)
        self.repository.share()

    def new_database(self) -> None:
        """Start a database beside a repository that lost its own; the numbers of past changes are not given again."""
        if self.database.facts().version:
            raise Refused(f"There is a database in {self.database.place}. Move it away first.")
        self._refuse_lost(self.generations.newest_commit())
        last = self.repository.last_change()
        self.database.create(self.repository.create(self.repository.workspace() or uuid.uuid4().hex))
        self.database.start_changes_after(last)
