"""Index work that runs as jobs: build what changed, merge segments, and check that repository, database and index
agree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core import strict
from core.access import READS, SYSTEM, Actor, use_case
from core.errors import Conflict, StorageFailed
from core.ports import Bulk, Progress, no_progress
from core.services.index.builder import Built, IndexBuilder, as_json
from core.services.index.verify import Verification, Verifier
from core.services.jobs.jobs import Job, Jobs, Work
from core.services.platform.settings import TeamSettings
from core.types import Profile

if TYPE_CHECKING:
    from core.services.answers.answer_checks import AnswerChecks
    from core.services.platform.base import Events
    from core.storage.index.generations import Generations


@dataclass(frozen=True, slots=True)
class IndexJobs:
    """Builds and verifies in the background. `answers` asks what documents answer."""

    builder: IndexBuilder
    generations: Generations
    team_settings: TeamSettings
    verifier: Verifier
    jobs: Jobs
    answers: AnswerChecks
    events: Events
    cluster: Callable[[str], AbstractContextManager[Bulk | None]] = lambda address: nullcontext()

    def catch_up(self, cause: Actor = SYSTEM) -> Job | None:
        """Start a build if the index is behind. A rollback stays until somebody rebuilds; a full disk puts it off."""
        profile = self.team_settings.production().profile
        if self.builder.behind(profile) and not self.generations.pinned(profile):
            with suppress(StorageFailed):  # whoever merged has merged; the next merge or start asks again
                return self.jobs.start("reindex", {"profile": profile.name, "full": False}, cause=cause)
        return None

    @use_case("rebuild the index", whole=True)
    def build(
        self,
        actor: Actor,
        profile: str = "",
        *,
        full: bool = False,
        progress: Progress = no_progress,
        on: str = "",
        words: bool = False,
    ) -> Built:
        """Build the newest commit: in this process, or with its bulk work on the cluster at an address. With `words`,
        whoever waits wants to search: vectors that take long, and what documents answer, are left to jobs."""
        chosen = self.team_settings.profile(profile)
        with self.cluster(on) if on else nullcontext() as bulk:
            built = self.builder.build(chosen, full=full, progress=progress, bulk=bulk, words=words)
        self.jobs.audit.note(actor, "rebuild the index", chosen.name, detail="everything" if full else "")
        if self._served(built, chosen):
            if words:
                self.events.served(actor)
            else:
                self.answers.check(SYSTEM, progress)
        self._merge_when_due(chosen, actor)
        return built

    def _merge_when_due(self, profile: Profile, cause: Actor) -> None:
        """Start to merge segments beside the work, where edits left many."""
        if self.generations.merge_due(profile):
            with suppress(StorageFailed):  # the next build asks again
                self.jobs.start("merge", {"profile": profile.name}, cause=cause)

    def _served(self, built: Built, profile: Profile) -> bool:
        """Whether people search in what was built now, by meaning too; then whoever watches a question is told."""
        serves = built.fresh and not built.generation.pending and profile == self.team_settings.production().profile
        if serves:
            self.events.built()
        return serves

    @use_case("see the index", READS, whole=True)
    def verify(
        self, actor: Actor, progress: Progress = no_progress, prepare: Callable[[], object] | None = None
    ) -> Verification:
        """Check in this process; `prepare` opens a workspace that nobody opened yet, once its files are known to be
        whole.
        """
        return self.verifier.verify(progress, prepare)

    def works(self) -> Mapping[str, Work]:
        """What a worker runs, by kind of job."""
        return {"reindex": self._reindex, "merge": self._merge, "verify": self._verify}

    def _verify(self, arguments: Mapping[str, Any], progress: Progress) -> Any:
        verified = self.verify(self.jobs.actor(arguments, "see the index"), progress)
        return strict.plain({"ok": not verified.problems, "problems": verified.problems, "damaged": verified.damaged})

    def _reindex(self, arguments: Mapping[str, Any], progress: Progress) -> Any:
        actor, profile = (
            self.jobs.actor(arguments, "rebuild the index"),
            self.team_settings.profile(arguments["profile"]),
        )
        built = self.builder.build(profile, full=arguments.get("full", False), progress=progress)
        if profile.graph != "none":
            self.generations.open(profile, words=True).graph()  # assembled now, so that the first reader does not wait
        if self._served(built, profile):
            self.events.served(actor)
        self._merge_when_due(profile, actor)
        return as_json(built)

    def _merge(self, arguments: Mapping[str, Any], progress: Progress) -> Any:
        self.jobs.actor(arguments, "rebuild the index")
        profile = self.team_settings.profile(arguments["profile"])
        progress(0, 1, "Merging segments of the index")
        merged = None
        with suppress(Conflict):  # another machine published meanwhile; the build after this one looks again
            merged = self.generations.merge(profile)
        progress(1, 1, "Merged")
        return strict.plain({"generation": merged.number if merged else None})
