"""Whether every file is what was written, and whether repository, database and index agree; each problem is a sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from core.errors import ConcordError
from core.ports import Progress, no_progress
from core.profiles import LANCE
from core.services.index import engine_agreement
from core.services.people.accounts import Accounts
from core.services.people.audit import Audit
from core.services.platform.settings import TeamSettings
from core.types import Damage, Profile

if TYPE_CHECKING:
    from core.storage.git.repository import Repository
    from core.storage.index.generations import Generations

Look = Callable[[], Iterable[Damage]]


@dataclass(frozen=True, slots=True)
class Verification:
    """Files that are damaged, and what contradicts each other although every file is whole."""

    damaged: tuple[Damage, ...]
    disagreements: tuple[str, ...]

    @property
    def problems(self) -> tuple[str, ...]:
        return (*map(str, self.damaged), *self.disagreements)


class Verifier:
    """Checks the whole workspace. It never fails itself: what cannot be read is a problem with a name."""

    def __init__(
        self,
        repository: Repository,
        generations: Generations,
        team_settings: TeamSettings,
        audit: Audit,
        accounts: Accounts,
        looks: Sequence[tuple[str, Look]],
    ) -> None:
        self.repository, self.generations, self.team_settings = repository, generations, team_settings
        self.audit, self.accounts = audit, accounts
        self.looks = looks  # whoever keeps files, and can say which of them are damaged

    def problems(self, progress: Progress = no_progress) -> tuple[str, ...]:
        return self.verify(progress).problems

    def verify(self, progress: Progress = no_progress, prepare: Callable[[], object] | None = None) -> Verification:
        """Look at every file, then at what they say. `prepare` opens the workspace once its sources are known to be whole."""
        damaged: list[Damage] = []
        for n, (what, look) in enumerate(self.looks):
            progress(n, len(self.looks) + 2, f"Checking {what}")
            damaged += _seen(what, look)
        if any(damage.file.startswith(("kb.git", "app.db", "database")) for damage in damaged):
            return Verification(tuple(damaged), ())
        disagreements = tuple(self._disagreements(prepare, partial(progress, len(self.looks), len(self.looks) + 2)))
        progress(1, 1, "Checked")
        return Verification(tuple(damaged), disagreements)

    def _disagreements(self, prepare: Callable[[], object] | None, step: Callable[[str], None]) -> Iterator[str]:
        try:
            if prepare:
                prepare()
            yield from (f"accounts: {line}" for line in self.accounts.problems())
            yield from (f"audit: {line}" for line in self.audit.problems())
            for profile in self.team_settings.profiles():
                yield from (f"index {profile.name}: {line}" for line in self._profile(profile, step))
        except ConcordError as error:
            yield str(error)
        except Exception as error:  # whatever a reader makes of what no look noticed
            yield f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"

    def _profile(self, profile: Profile, step: Callable[[str], None]) -> Iterator[str]:
        step("Checking the index")
        serving, production = self.generations.current(profile), self.team_settings.production().profile
        head = self.repository.head()
        if serving is None:
            if profile == production and head:
                yield "the production profile has no index. Build it with: python -m core reindex"
            return
        if serving.commit != head and not self.generations.pinned(profile) and profile == production:
            yield f"generation {serving.number} is at {serving.commit[:12]}, the knowledge base at {head[:12]}. Catch up with: python -m core reindex"
        yield from self._documents(profile, serving.commit)
        yield from self.generations.check(profile)
        if profile.engine == LANCE:
            return  # its own answers are approximate, and there is no other engine to compare with
        step("Asking every engine")
        yield from engine_agreement.disagreements(partial(self.generations.open, profile, words=True), step)

    def _documents(self, profile: Profile, commit: str) -> Iterator[str]:
        manifest = self.generations.manifest(profile)
        indexed = {path: row[0] for path, row in manifest["documents"].items()}
        stored = {
            entry.path: entry.blob for entry in self.repository.entries(commit) if entry.path not in manifest["skipped"]
        }
        for path in sorted(set(indexed) ^ set(stored)):
            yield f"{path} is only in the {'index' if path in indexed else 'repository'}"
        for path in sorted(set(indexed) & set(stored)):
            if indexed[path] != stored[path]:
                yield f"{path} is indexed at another version than the repository holds"


def _seen(what: str, look: Look) -> list[Damage]:
    """What a look finds; a look that fails is a problem too."""
    damaged: list[Damage] = []
    try:
        for damage in look():
            damaged.append(damage)
    except Exception as error:
        why = " ".join(str(error).split())[:200]
        damaged.append(Damage(what, f"cannot be checked ({why})", "See whether the disk is readable"))
    return damaged
