"""The workspace: guarded, created or migrated on first use, caught up after a crash, warmed; and its daily work."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from core.access import UPKEEP, use_case
from core.cures import NEW_DATABASE, RESTORE, Cure, shell, together
from core.errors import ConcordError, Corrupt, Refused, StorageFailed, Unavailable
from core.ports import Clock
from core.services.jobs.jobs import Job, Jobs, Work
from core.types import Damage

if TYPE_CHECKING:
    from core.storage.git.repository import Repository
    from core.storage.index.generations import Generations
    from core.storage.state.database import Database


class WorkspaceGuard:
    """Repository, database and index of one workspace carry its id."""

    def __init__(self, repository: Repository, database: Database, generations: Generations) -> None:
        self.repository, self.database, self.generations = repository, database, generations

    def open(self, migrate: bool = False) -> None:
        """Create a new workspace, open a whole one. One of an earlier version is refused, unless it may `migrate`."""
        if not migrate:
            self.database.refuse_earlier(self.database.earlier())
        self.repository.prepare()
        workspace = self._checked()
        if not self.repository.exists():  # nodes that start at once with an empty database agree on the id of the first
            self.database.create(workspace)
            workspace = self.database.facts().workspace
        workspace = self.repository.create(workspace)  # the id of whoever was first, where two open it at once
        self.database.create(workspace, migrate=migrate)
        self.generations.belong(workspace)

    def _checked(self) -> str:
        """The id of the workspace, a new one where there is none yet."""
        history, facts = (
            self.repository.has_history(),
            self.database.facts(),
        )  # in this order: another node may be starting, too
        if not facts.version and history:
            raise Corrupt(
                f"The database {self.database.place} is missing or empty, but the knowledge base has a history.",
                RESTORE.or_else(NEW_DATABASE),
            )
        if facts.commit and not self.repository.exists():
            raise Corrupt(
                f"The knowledge base {self.repository.path} is missing, but the database knows its commits up to "
                f"{facts.commit[:12]}.",
                RESTORE,
            )
        theirs = self.repository.workspace()
        if self.repository.clone:  # another repository lacks everything that the database knows
            self._same(facts.workspace, theirs)
        self._refuse_lost(facts.commit or self.generations.newest_commit())
        return self._same(facts.workspace, theirs)

    def _refuse_lost(self, known: str) -> None:
        if damages := self.repository.lost(known):
            found = " ".join(f"{each.file} {each.what}." for each in damages)
            raise Corrupt(found, together([each.cure for each in damages]))

    def _same(self, ours: str, theirs: str) -> str:
        """The id of database and repository. A new one goes to the repository first, so a kill in between heals."""
        if ours and theirs and ours != theirs and self.repository.clone:
            raise Corrupt(
                f"The shared repository belongs to workspace {theirs}, the database to {ours}. "
                "Check CONCORD_REPOSITORY and CONCORD_DATABASE."
            )
        if ours and theirs and ours != theirs:
            raise Corrupt(
                f"The knowledge base {self.repository.path} belongs to workspace {theirs}, "
                f"the database {self.database.place} to {ours}.",
                RESTORE.or_else(self._join(ours)),
            )
        if ours and not theirs and self.repository.has_config() and not self.repository.clone:
            raise Corrupt(
                f"The knowledge base {self.repository.path} does not say to which workspace it belongs, "
                f"the database says {ours}.",
                self._join(ours).or_else(RESTORE),
            )
        return ours or theirs or uuid.uuid4().hex

    def _join(self, ours: str) -> Cure:
        command = f"git --git-dir={self.repository.path} config concord.workspace {ours}"
        return shell("If they belong together, write the id of the workspace into it", command)

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
            yield Damage(self.database.name, "is missing or empty", RESTORE.or_else(NEW_DATABASE))
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


@dataclass(frozen=True, slots=True)
class Workspace:
    """What every door does before it serves."""

    guard: WorkspaceGuard
    setup: Sequence[Callable[[], object]]
    repairs: Sequence[Callable[[], object]]  # after the setup, where the disk can be written
    sweeps: Sequence[Callable[[], object]]  # remove what killed processes left, and tell owners what is due
    jobs: Jobs
    behind: Callable[[], Job | None]
    warmup: Sequence[Callable[[], object]]
    works: Mapping[str, Work]  # by kind of job

    @use_case(UPKEEP)
    def create(self, migrate: bool = False) -> None:
        """Create or open the workspace; a disk that cannot be written is no obstacle, an earlier version is."""
        for step in self.setup:
            step()
        self.guard.open(migrate)
        with suppress(StorageFailed, Unavailable):
            for step in self.repairs:
                step()

    @use_case(UPKEEP)
    def catch_up(self) -> Job | None:
        """Remove what killed processes left, look after workers, start a build if the index is behind."""
        with suppress(StorageFailed):
            for sweep in self.sweeps:
                sweep()
            self.jobs.tend()
            return self.behind()
        return None

    @use_case(UPKEEP)
    def warm(self) -> None:
        """Load what the first search would wait for: compiled loops, the production index and its model."""
        for step in self.warmup:
            step()


HOUR, WEEK, PAUSE = 3600.0, 7 * 86_400.0, 600.0  # seconds
_LOG = logging.getLogger(__name__)


class Daily:
    """Runs the daily work: at the start, and after midnight while the app runs. Each piece knows what is done already.

    Where nodes share a database, the first to `claim` the day works for all; if it dies, another one after an hour.
    """

    def __init__(
        self,
        clock: Clock,
        works: Sequence[Callable[[], object]],
        claim: Callable[[str, float], bool] = lambda name, seconds: True,
    ) -> None:
        self.clock, self.works, self.claim = clock, works, claim
        self._done: date | None = None
        self._again = 0.0  # when to ask once more whether the node that does it is alive

    @use_case(UPKEEP)
    def run(self) -> bool:
        """Do it, unless it was done today; whether it was. What fails is logged and does not stop the rest."""
        today = self.clock.today()
        if self._done == today or time.monotonic() < self._again:
            return False
        if not self.claim(f"day {today}", HOUR):
            self._again = time.monotonic() + PAUSE
            return False
        self._done = today
        for work in self.works:
            try:
                work()
            except ConcordError as error:
                _LOG.warning("The work of the day was not finished: %s", error)
        self.claim(f"day {today}", WEEK)
        return True
