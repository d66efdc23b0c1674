"""The git remote of a knowledge base: what is merged here is pushed there, soon after and never instead.

Nothing is queued: what is left to do follows from main and from what was last seen of the remote's branch, so a kill,
a restart and a network that is gone leave nothing to repair.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from core import strict
from core.access import READS, SYSTEM, UPKEEP, Actor, use_case
from core.curation.document.names import safe_folder
from core.curation.review.remote_addresses import safe_address, safe_branch
from core.cures import ACCEPT_REWRITTEN, ADD_REMOTE, BRING_IN, IMPORT_HISTORY, REMOVE_REMOTE
from core.errors import ConcordError, Conflict, NotFound, Refused, StorageFailed, Unavailable
from core.ports import Progress
from core.services.jobs.jobs import Job, Jobs
from core.services.remote.incoming import IncomingCommits
from core.storage.state.records import ChangeRow, RemoteRow, of_row

if TYPE_CHECKING:
    from core.storage.git.git_remote import GitRemote

JOB = "remote"
WHOLE = "origin-whole"  # under this name the commits of a remote of which only a folder is ours
PAUSES = (1.0, 4.0, 15.0)  # seconds between the tries of one job
RACES = 30  # times that somebody else may be faster before a job gives up
LONGEST = 60  # minutes between two tries at most
_NO_BRANCH = "The repository has no branch {branch!r}, or it is empty. Name one that has commits."
_REWRITTEN = (
    "The history of {branch} on the remote was rewritten: it no longer contains {commit}, which it had before. "
    "Nothing was "
    "imported and nothing is pushed. Restore the branch there, or accept its new history: its commits then come in "
    "as a "
    "change, and what only Concord has is pushed again."
)


@dataclass(frozen=True, slots=True)
class Remote:
    """The remote and how far apart both sides are."""

    url: str
    branch: str
    folder: str
    trust: bool
    state: str  # up to date, pushing, waiting, rewritten or failing
    sentence: str
    backlog: int  # merges and other commits of main that are not pushed yet
    incoming: int  # commits of the remote that main lacks
    change: int  # that holds them; 0 for none
    main: str
    commit: str  # the remote's, as last seen
    pushed: str
    fetched: str
    tried: str
    failures: int
    error: str


class Remotes:
    """Adds, shows and removes the remote, and keeps both sides together."""

    def __init__(
        self,
        git: GitRemote,
        incoming: IncomingCommits,
        jobs: Jobs,
        token: str = "",
        minutes: float = 0.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """`token` is only asked about, for addresses over which it must not go; `minutes` lie between two looks."""
        self.git, self.incoming, self.jobs = git, incoming, jobs
        self.repository, self.database, self.clock = incoming.repository, jobs.database, jobs.clock
        self.audit = jobs.audit
        self.token = token
        self.minutes = minutes
        self.sleep = sleep

    # ------------------------------------------------------------ set up

    @use_case("manage the remote", whole=True)
    def add(self, actor: Actor, url: str, branch: str = "main", folder: str = "", *, trust: bool = False) -> Remote:
        """Name the remote, if its branch can be reached and fits. An empty knowledge base takes its history over."""
        if row := self.database.remotes.get():
            raise Refused(f"There is a remote already: {row.url}. Remove it first.", REMOVE_REMOTE)
        place = self._place(url, branch, folder, trust)
        with self.git.alone():
            theirs = self._seen(place)
            self._refuse_unrelated(theirs)
            with self.database.transaction() as state:
                state.remotes.add(place)
                what = f"branch {place.branch}{f', folder {place.folder}' if place.folder else ''}{', trusted' * trust}"
                self.audit.record(state, actor, "add a remote", place.url, detail=what)
            if not self.repository.head() and theirs:
                self.incoming.fast_forward(theirs, place.url)
            self.incoming.take(self._row(), theirs)
        self.start(actor)
        return self._describe(self._row())

    def _place(self, url: str, branch: str, folder: str, trust: bool = False) -> RemoteRow:
        now = self.clock.stamp()
        return RemoteRow(
            name="origin",
            url=safe_address(url, self.token),
            branch=safe_branch(branch),
            folder=safe_folder(folder),
            trust=trust,
            created=now,
            fetched=now,
        )

    @use_case("import documents", whole=True)
    def bring_in(self, actor: Actor, url: str, branch: str = "main", folder: str = "") -> str:
        """Take the history of a repository over into an empty knowledge base, and forget where it came from; its
        newest commit.
        """
        if self.repository.head():
            raise Refused(
                "The knowledge base holds documents already, so another history cannot become its own. Create a "
                "workspace "
                "for it with --home, or add the files without their history.",
                BRING_IN,
            )
        place = self._place(url, branch, folder)
        with self.git.alone():
            theirs = self._seen(place)
            if not theirs:
                raise NotFound(_NO_BRANCH.format(branch=branch))
            self.incoming.move_main(theirs, place.url)
            if self.database.remotes.get() is None:
                self._track(place, "", "")
        self.audit.note(actor, "import", place.url, detail=f"branch {branch}, with its history")
        return self.repository.head()

    @use_case("import documents", READS)
    def reach(self, actor: Actor, url: str, branch: str = "main") -> str:
        """The newest commit of a repository that could be brought in; NotFound where it has none."""
        head = self.git.head(safe_address(url, self.token), safe_branch(branch))
        if not head:
            raise NotFound(_NO_BRANCH.format(branch=branch))
        return head

    def _refuse_unrelated(self, theirs: str) -> None:
        main = self.repository.head()
        if main and theirs and not self.repository.merge_base(main, theirs):
            raise Refused(
                "The remote's branch and this knowledge base have no commit in common, so neither can take over the "
                "other. Use an "
                "empty branch, or import this one into an empty workspace.",
                IMPORT_HISTORY,
            )

    @use_case("manage the remote")
    def remove(self, actor: Actor) -> Remote:
        """Forget the remote. Nothing changes there or here."""
        row = self._row()
        known = self._describe(row)
        with self.git.alone():
            with self.database.transaction() as state:
                state.remotes.remove()
                self.audit.record(state, actor, "remove a remote", row.url)
            self._track(row, "", "")
        return known

    @use_case("manage the remote", READS)
    def show(self, actor: Actor) -> Remote | None:
        """The remote; None if there is none."""
        row = self.database.remotes.get()
        return self._describe(row) if row else None

    # ------------------------------------------------------------ push and fetch

    @use_case("manage the remote", whole=True)
    def push(self, actor: Actor) -> Remote:
        """Push now, in this process, after a look at the remote."""
        self._sync(self._row())
        return self._noted(actor, "push")

    @use_case("manage the remote", whole=True)
    def fetch(self, actor: Actor, *, accept: bool = False) -> Remote:
        """Look for commits made elsewhere now; `accept` a history that was rewritten there."""
        self._sync(self._row(), push=False, accept=accept)
        return self._noted(actor, "accept a rewritten remote" if accept else "fetch")

    def _noted(self, actor: Actor, action: str) -> Remote:
        row = self._row()
        self.audit.note(actor, action, row.url)
        return self._describe(row)

    @use_case("manage the remote", whole=True)
    def ask(self, actor: Actor, *, push: bool = True, accept: bool = False) -> Job:
        """The same as a job: fetch, and push unless told otherwise."""
        self._row()
        wanted = {name: True for name, value in (("fetch", not push), ("accept", accept)) if value}
        return self.jobs.start(JOB, wanted, actor, again=True)

    @use_case(UPKEEP)
    def start(self, cause: Actor = SYSTEM) -> Job | None:
        """After main moved: push soon. Whoever merged has merged, whatever becomes of it."""
        with suppress(StorageFailed):
            if self.database.remotes.get():
                return self.jobs.start(JOB, {}, cause=cause, again=True)
        return None

    @use_case(UPKEEP)
    def tick(self) -> Job | None:
        """Now and then, while the app runs: look for commits made elsewhere, and try again what failed."""
        with suppress(StorageFailed):
            row = self.database.remotes.get()
            if row and self._due(row):
                return self.start() if row.failures or self._moved(row) else None
        return None

    def _due(self, row: RemoteRow) -> bool:
        last = max(row.tried, row.fetched, row.created)
        waited = datetime.fromisoformat(self.clock.stamp()) - datetime.fromisoformat(last)
        pause = min(2.0**row.failures, LONGEST) if row.failures else self.minutes
        return bool(pause) and waited.total_seconds() >= 60 * pause

    def _moved(self, row: RemoteRow) -> bool:
        """Whether there is something to do: a look at the remote's branch costs one short call."""
        try:
            head = self.git.head(row.url, row.branch)
        except ConcordError as error:
            self._failed(row, error)
            return False
        self.database.remotes.set(fetched=self.clock.stamp(), failures=0, error=row.rewritten and row.error)
        return head != self._last(row) or self._ahead(row)

    def _ahead(self, row: RemoteRow) -> bool:
        return self.repository.head() != self.git.tracked(row.branch)

    def work(self, arguments: Mapping[str, Any], progress: Progress) -> Any:
        """The job: both sides together, with a few tries where the remote cannot be reached."""
        self.jobs.actor(arguments, "manage the remote")
        for n, pause in enumerate((*PAUSES, 0.0), 1):
            row = self.database.remotes.get()
            if row is None:
                return {}
            progress(n - 1, len(PAUSES) + 1, "Pushing")
            try:
                self._sync(row, push=not arguments.get("fetch"), accept=bool(arguments.get("accept")))
                break
            except Unavailable:
                if not pause:
                    raise
                self.sleep(pause)
        return strict.plain(self._describe(self._row()))

    def _sync(self, row: RemoteRow, *, push: bool = True, accept: bool = False) -> None:
        with self.git.alone():
            try:
                for _ in range(RACES):
                    if self._round(row, push=push, accept=accept):
                        break
                else:
                    raise Unavailable("The remote moved every time before a push arrived. It is tried again.")
            except ConcordError as error:
                self._failed(row, error)
                raise
            self.database.remotes.set(tried=self.clock.stamp(), failures=0, error="", rewritten="")

    def _failed(self, row: RemoteRow, error: ConcordError) -> None:
        self.database.remotes.set(tried=self.clock.stamp(), failures=row.failures + 1, error=str(error))

    def _round(self, row: RemoteRow, *, push: bool, accept: bool) -> bool:
        """Fetch, take in, push; whether that was all, or somebody was faster."""
        theirs = self._seen(row, accept=accept)
        self.database.remotes.set(fetched=self.clock.stamp())
        self.incoming.take(self._row(), theirs)
        main = self.repository.head()
        if not push or not main or main == theirs or (theirs and not self.repository.contains(main, theirs)):
            return True
        wide = self.git.widen(main, row.folder, self._last(row))
        if not self.git.push(row.url, row.branch, wide):
            return False
        self._track(row, main, wide)
        self.database.remotes.set(pushed=self.clock.stamp())
        return self.repository.head() == main

    def _seen(self, row: RemoteRow, *, accept: bool = False) -> str:
        """The remote's newest commit, with everything that it builds on brought here."""
        head, last = self.git.head(row.url, row.branch), self._last(row)
        if head == last:
            return self.git.tracked(row.branch)
        if head:
            self.git.fetch(row.url, row.branch, head, row.folder)
        if last and not accept and not (head and self.repository.contains(head, last)):
            self.database.remotes.set(rewritten=head or "none")
            raise Conflict(_REWRITTEN.format(branch=row.branch, commit=last[:12]), cure=ACCEPT_REWRITTEN)
        theirs = self.git.narrow(head, row.folder) if head else ""
        self._track(row, theirs, head)
        return theirs

    def _last(self, row: RemoteRow) -> str:
        """The commit that the remote itself had last; with a folder it is another than the one that stands for it
        here.
        """
        return self.git.tracked(row.branch, WHOLE if row.folder else "origin")

    def _track(self, row: RemoteRow, theirs: str, whole: str) -> None:
        self.git.track(row.branch, theirs)
        if row.folder:
            self.git.track(row.branch, whole, WHOLE)

    # ------------------------------------------------------------ in words

    def _row(self) -> RemoteRow:
        row = self.database.remotes.get()
        if row is None:
            raise NotFound("There is no remote.", ADD_REMOTE)
        return row

    def _describe(self, row: RemoteRow) -> Remote:
        main, theirs = self.repository.head(), self.git.tracked(row.branch)
        backlog, incoming = self.git.count(main, theirs, first_parent=True), self.git.count(theirs, main)
        known = self.database.changes.get(row.change) if incoming else None
        change = row.change if known and known.stage != "merged" else 0
        state, sentence = _standing(row, backlog, incoming, known)
        return of_row(
            Remote,
            row,
            state=state,
            sentence=sentence,
            backlog=backlog,
            incoming=incoming,
            change=change,
            main=main,
            commit=theirs,
        )


def _standing(row: RemoteRow, backlog: int, incoming: int, change: ChangeRow | None) -> tuple[str, str]:
    """The state of a remote in a word and in a sentence."""
    mine = f"{_commits(backlog)} of the main line {'waits' if backlog == 1 else 'wait'} to be pushed"
    if row.rewritten:
        return "rewritten", row.error
    if row.failures:
        return "failing", f"{mine + '. ' if backlog else ''}{row.error}"
    if incoming:
        return "waiting", f"{_where(change, incoming)}.{f' {mine} until then.' if backlog else ''}"
    return ("pushing", f"{mine}.") if backlog else ("up to date", "Both sides are equal.")


def _where(change: ChangeRow | None, incoming: int) -> str:
    single = incoming == 1
    made = f"{_commits(incoming)} made elsewhere"
    if change is None or change.stage == "merged":
        return f"{made} {'comes' if single else 'come'} in with the next look"
    if change.stage == "closed":
        verb, what = ("was", "it") if single else ("were", "them")
        return f"{made} {verb} turned down: change {change.id} is closed. Reopen it, or undo {what} on the remote"
    return f"{made} {'waits' if single else 'wait'} in change {change.id} until that is reviewed and merged"


def _commits(number: int) -> str:
    return f"{number:,} {'commit' if number == 1 else 'commits'}"
