"""Commits that were made elsewhere: a change holds them until people merge it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from core.access import SYSTEM
from core.errors import Conflict, Refused
from core.services.reviews.changes import Change, Changes
from core.services.reviews.facts import branch_of
from core.services.reviews.merge import Merger
from core.storage.state.records import RemoteRow

if TYPE_CHECKING:
    from core.storage.git.git_remote import GitRemote

TITLE = "Commits from {}"
_TEXT = (
    "These commits were made outside of Concord. Merge this change to take them over; until then nothing is "
    "pushed to the remote."
)


class IncomingCommits:
    """Opens, extends and closes the change that holds what the remote has and main lacks."""

    def __init__(self, changes: Changes, merger: Merger, git: GitRemote) -> None:
        self.changes, self.merger, self.git = changes, merger, git
        self.repository, self.database = changes.repository, changes.database

    def take(self, row: RemoteRow, theirs: str) -> None:
        """Bring the remote's commits to people. Where there is nothing to review, main takes them over."""
        main = self.repository.head()
        if theirs and not self.repository.contains(main, theirs):
            trusted = (
                row.trust
                and self.git.by_concord(theirs, main)
                and not self.repository.conflicts(main, [theirs])[theirs]
            )
            if trusted or self.repository.changes_nothing(theirs):
                self.fast_forward(theirs, row.url)
            else:
                self._hold(row, theirs)
        self._close_if_taken(row.change)

    def fast_forward(self, theirs: str, where: str) -> None:
        """Move main, write down what it got, and make it searchable."""
        self.move_main(theirs, where)
        self.merger.events.moved(SYSTEM)

    def move_main(self, theirs: str, where: str) -> None:
        """The same without what a merge sets off."""
        with self.merger.moving_main():
            self.repository.fast_forward(theirs, SYSTEM.person, f"Take over commits from {where}")
        self.merger.repair()

    def _hold(self, row: RemoteRow, theirs: str) -> None:
        """Have a change with these commits in review. One that somebody approved, edited or closed keeps its
        commits.
        """
        known = self.database.changes.get(row.change)
        change = self.changes.get(row.change) if known else None
        if change is None or change.state == "merged":
            return self._open(row, theirs)
        newer = not self.repository.contains(change.head, theirs)
        if newer and change.state == "closed":
            return self._open(row, theirs)
        if newer and change.state != "approved" and self.repository.contains(theirs, change.head):
            self.changes.bring_more(SYSTEM, change.id, theirs)
        elif change.state != "closed" and self.repository.changes_nothing(change.head):  # and could not be merged
            self.fast_forward(change.head, row.url)
            self._close_if_taken(change.id)
            return self.take(replace(row, change=0), theirs)
        return self._submit(self.changes.get(change.id))

    def _open(self, row: RemoteRow, theirs: str) -> None:
        with self.changes.newest() as state:
            number = self.changes.bring(state, SYSTEM, TITLE.format(_name(row.url)), theirs, _TEXT)
            state.remotes.set(change=number)
        self._submit(self.changes.get(number))

    def _submit(self, change: Change) -> None:
        """Ask for review; what cannot be read stays a draft, whose page says why."""
        with suppress(Refused):
            if change.state == "draft":
                self.changes.submit(SYSTEM, change.id)

    def _close_if_taken(self, number: int) -> None:
        """A change whose commits came in on another way has nothing left to merge."""
        row = self.database.changes.get(number)
        if row is None or row.stage not in ("draft", "in review"):
            return
        head = self.repository.head(branch_of(number))
        if head and self.repository.contains(self.repository.head(), head):
            with suppress(Refused, Conflict):
                self.changes.close(SYSTEM, number, "Its commits are part of the main line.")


def _name(url: str) -> str:
    """A repository by its own name.

    >>> _name("https://git.example.org/team/handbook.git")
    'handbook'
    """
    return url.rstrip("/").rpartition("/")[2].removesuffix(".git")[:100] or "the remote"
