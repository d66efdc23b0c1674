"""A pull request in somebody's own repository: the checks of its documents and what it does to search, before it is
merged there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from core.access import READS, Actor, use_case
from core.curation.checks.findings import Finding, cell
from core.curation.document.names import safe_folder
from core.curation.review import moves
from core.errors import Refused
from core.evaluation.impact import Impact
from core.ports import Progress, no_progress
from core.services.remote.remotes import Remotes
from core.services.reviews.changes import Change, Changes

if TYPE_CHECKING:
    from core.storage.git.git_remote import GitRemote

_MOST = 100  # rows of a table of the summary


@dataclass(frozen=True, slots=True)
class PullRequest:
    """What Concord says about a pull request."""

    base: str
    head: str
    folder: str
    documents: tuple[str, ...]  # that it adds or edits
    findings: tuple[Finding, ...]
    problems: tuple[str, ...]  # for which it could not be merged here: documents that cannot be used, conflicts, names
    impact: Impact | None = None  # None where it was not measured

    @property
    def ok(self) -> bool:
        return not self.problems


@dataclass(frozen=True, slots=True)
class PullSource:
    """Where a pull request is: its branches in somebody's own repository, and the folder of the documents there."""

    repository: Path
    base: str
    head: str = "HEAD"
    folder: str = ""


class PullRequests:
    """Looks at pull requests in an empty workspace, which is made for one look."""

    def __init__(
        self,
        git: GitRemote,
        remotes: Remotes,
        changes: Changes,
        measure: Callable[[Actor, int, Progress], Impact],
    ) -> None:
        self.git = git
        self.remotes = remotes
        self.changes = changes
        self.measure = measure

    @use_case("import documents", READS)
    def look(
        self,
        actor: Actor,
        source: PullSource,
        *,
        impact: bool = True,
        progress: Progress = no_progress,
    ) -> PullRequest:
        """Take the base as the knowledge base and the head as a change of it."""
        if self.changes.repository.head():
            raise Refused("A pull request is looked at in a workspace of its own. Name an empty folder with --home.")
        inner = safe_folder(source.folder)
        with self.git.copy(source.repository, {"base": source.base, "head": source.head}, inner) as copied:
            self.remotes.bring_in(actor, str(copied), "base")
            theirs = self.git.head(copied.as_uri(), "head")
            self.git.fetch(copied.as_uri(), "head", theirs)
        change = self._change(actor, theirs)
        if change is None:
            return PullRequest(source.base, source.head, inner, (), (), ())
        problems = moves.obstacles(self.changes.known(self.changes.database, change.id)[1])
        measured = self.measure(actor, change.id, progress) if impact and not problems else None
        documents = tuple(edit.path for edit in change.documents if edit.kind != "deleted")
        return PullRequest(source.base, source.head, inner, documents, change.findings, problems, measured)

    def _change(self, actor: Actor, theirs: str) -> Change | None:
        """A change with the commits of the head; None where they change no document."""
        if self.changes.repository.changes_nothing(theirs):
            return None
        with self.changes.database.transaction() as state:
            number = self.changes.bring(state, actor, "Pull request", theirs, "")
        return self.changes.get(number)


# ---------------------------------------------------------------- in words


def markdown(request: PullRequest) -> str:
    """The summary that a host shows on the page of a pull request."""
    return "\n".join(_lines(request)) + "\n"


def _lines(request: PullRequest) -> Iterator[str]:
    counts = [sum(each.severity == level for each in request.findings) for level in ("error", "warning")]
    yield "## Documents"
    yield ""
    yield (
        f"{_count(len(request.documents), 'document')} changed, {_count(counts[0], 'error')}, "
        f"{_count(counts[1], 'warning')}. "
        f"{'Nothing stands in the way of a merge.' if request.ok else 'It cannot be merged like this.'}"
    )
    yield from (f"- {cell(problem)}" for problem in request.problems)
    yield from _table(
        ("", "Document", "Line", "What"), [(e.severity, e.path, str(e.line), e.message) for e in request.findings]
    )
    if request.impact:
        yield from _impact(request.impact)


def _impact(impact: Impact) -> Iterator[str]:
    yield ""
    yield "## Search"
    yield ""
    yield cell(impact.sentence)
    yield from (f"- {cell(note)}" for note in impact.notes)
    yield from _table(("Question", "Of", "Before", "After", "Outcome"), impact.rows)


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    if rows:
        yield from ("", f"| {' | '.join(head)} |", f"|{'---|' * len(head)}")
        yield from (f"| {' | '.join(map(cell, row))} |" for row in rows[:_MOST])
    if len(rows) > _MOST:
        yield f"\n{len(rows) - _MOST:,} more rows are left out."


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
