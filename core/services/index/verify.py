"""Whether repository, database and index agree; each disagreement is a sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from core.ports import Progress, no_progress
from core.services.index import agreement
from core.services.people.accounts import Accounts
from core.services.people.audit import Audit
from core.services.platform.settings import TeamSettings
from core.types import Profile

if TYPE_CHECKING:
    from core.adapters.git.store import GitStore
    from core.adapters.index.generations import Generations
    from core.adapters.state.database import Database


class Verifier:
    """Checks the whole workspace."""

    def __init__(
        self,
        store: GitStore,
        database: Database,
        generations: Generations,
        team_settings: TeamSettings,
        audit: Audit,
        accounts: Accounts,
    ) -> None:
        self.store, self.database, self.generations = store, database, generations
        self.team_settings, self.audit, self.accounts = team_settings, audit, accounts

    def problems(self, progress: Progress = no_progress) -> tuple[str, ...]:
        progress(0, 3, "Checking the repository")
        problems = [f"repository: {line}" for line in self.store.check()]
        progress(1, 3, "Checking the database")
        problems += [f"database: {line}" for line in self.database.check()]
        problems += [f"accounts: {line}" for line in self.accounts.problems()]
        problems += [f"audit: {line}" for line in self.audit.problems()]
        for profile in self.team_settings.profiles():
            problems += [f"index {profile.name}: {line}" for line in self._profile(profile, partial(progress, 2, 3))]
        progress(3, 3, "Checked")
        return tuple(problems)

    def _profile(self, profile: Profile, step: Callable[[str], None]) -> Iterator[str]:
        step("Checking the index")
        serving, production = self.generations.current(profile), self.team_settings.production().profile
        head = self.store.head()
        if serving is None:
            if profile == production and head:
                yield "the production profile has no index. Build it with: python -m core reindex"
            return
        if serving.commit != head and not self.generations.pinned(profile) and profile == production:
            yield f"generation {serving.number} is at {serving.commit[:12]}, the knowledge base at {head[:12]}. Catch up with: python -m core reindex"
        yield from self._documents(profile, serving.commit)
        yield from self.generations.check(profile)
        step("Asking every engine")
        yield from agreement.disagreements(partial(self.generations.open, profile), step)

    def _documents(self, profile: Profile, commit: str) -> Iterator[str]:
        manifest = self.generations.manifest(profile)
        indexed = {path: row[0] for path, row in manifest["documents"].items()}
        stored = {
            entry.path: entry.blob for entry in self.store.entries(commit) if entry.path not in manifest["skipped"]
        }
        for path in sorted(set(indexed) ^ set(stored)):
            yield f"{path} is only in the {'index' if path in indexed else 'repository'}"
        for path in sorted(set(indexed) & set(stored)):
            if indexed[path] != stored[path]:
                yield f"{path} is indexed at another version than the repository holds"
