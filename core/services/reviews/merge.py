"""Merge, conflicts, revert, and repair after a kill."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from core.access import READS, UPKEEP, Actor, plain_address, require, use_case
from core.curation.document.frontmatter import decode
from core.curation.pictures.picture_files import is_picture
from core.curation.review import moves
from core.curation.review.conflicts import Hunk, hunks, solve
from core.curation.review.diffs import fields_touched
from core.curation.review.moves import Facts, Verdict
from core.curation.review.proposals import CO_AUTHOR, ONLY, SUGGESTER, check_text, checked_files, credit, trailers
from core.errors import BadInput, Conflict, Moved, Refused, StorageFailed, Unavailable
from core.services.inbox.news import Landing
from core.services.knowledge.documents import Imported
from core.services.reviews.changes import Change, ChangeBasis, Changes
from core.services.reviews.facts import BRANCHES, MAIN_LOCK, as_seen, branch_of, lock_of, people, suggesters
from core.storage.state.records import ChangeRow
from core.types import Commit, Edit, Person

if TYPE_CHECKING:
    from core.storage.state.database import State

RACES = 10  # times that somebody else may be faster before a merge gives up
LATE = (
    "It is merged as {}; you do not need to merge it again. Concord could not record that, because the disk is full "
    "or the "
    "database is unavailable, and does so automatically once it can."
)
_LOG = logging.getLogger(__name__)
REPOSITORY = Actor("repository", "Repository", "", "admin", "repository")


@dataclass(frozen=True, slots=True)
class Collision:
    """One document that both the change and main edited."""

    path: str
    parts: tuple[Hunk, ...]
    gone: str = ""  # "mine" or "theirs" when that side has no such document any more
    head: str = ""  # the commits of the change and of the main line that were compared
    main: str = ""
    pictures: tuple[str, str] = ("", "")  # the blobs of both sides, where it is a picture
    others: tuple[str, ...] = ()  # who edited it on the main line meanwhile


@dataclass(frozen=True, slots=True)
class MergeFacts:
    """A merge as it is recorded: what was merged, where that departed from main, the commit, and why without the
    rules.
    """

    head: str
    start: str
    commit: str
    bypass: str = ""


class Merger:
    """Merges and reverts changes."""

    def __init__(self, changes: Changes) -> None:
        self.changes, self.events = changes, changes.events
        self.database, self.repository, self.clock = changes.database, changes.repository, changes.clock
        self.audit = changes.audit

    @use_case("merge a change")
    def merge(self, actor: Actor, number: int, *, bypass: str = "", head: str = "") -> Change:
        """Merge an approved change as one commit on main, then reindex. `head` is the text that was read."""
        reason = check_text(bypass)
        if reason:
            require(actor, "bypass the review rules")
        for _ in range(RACES - 1):
            with suppress(Moved):  # by a node that died before it could record its merge, or by somebody's own git
                return self._merge(actor, number, reason, head)
        return self._merge(actor, number, reason, head)

    def _merge(self, actor: Actor, number: int, reason: str, head: str) -> Change:
        commit = ""
        try:
            self.repair()  # a merge that the database could not record, perhaps this one
            with self.changes.writing(number, MAIN_LOCK) as (state, row, facts):
                if self._adopt_unknown(state):
                    row, facts = self.changes.known(state, number)
                self._refuse_unready(actor, facts, reason, head)
                change = self.changes.get(number)
                steps, accounts = self.repository.written(facts.head, change.start), self.changes.accounts
                only = self._only(change)
                text = message(change, moves.approvals(facts), steps, accounts.address_of, reason, only)
                author = Person(change.author_name, accounts.address_of(change.author))
                commit = self.repository.merge(facts.head, author, text)
                self._record(state, actor, row, MergeFacts(facts.head, change.start, commit, reason))
        except (StorageFailed, Unavailable) as error:  # main may have moved all the same, and then nothing is undone
            if not commit:
                change, commit = self.changes.get(number), self._unrecorded(number)
            if not commit:
                raise
            with suppress(StorageFailed, Unavailable):
                self.repair()
            _LOG.error("Change %d is merged as %s: %s", number, commit, error)
        self._finish(actor, number)
        with suppress(StorageFailed, Unavailable):
            if (recorded := self.changes.get(number)).merged:
                return recorded
        late = (LATE.format(commit[:12]),)
        return replace(change, state="merged", merged=commit, requirements=(), ended_by=actor.name, warnings=late)

    def _unrecorded(self, number: int) -> str:
        """The commit on main that merged a change, where the database does not know of it; "" where there is none."""
        head = self.repository.head(branch_of(number))
        steps = self.repository.log(self.repository.head(), since=self.database.audit.last_commit()) if head else ()
        return next((step.id for step, _ in steps if step.parents[1:] == (head,)), "")

    def _refuse_unready(self, actor: Actor, facts: Facts, reason: str, head: str) -> None:
        self.changes.allow("bypass" if reason else "merge", facts, actor)
        as_seen(facts.head, head)
        lacking = moves.obstacles(facts) + (() if reason else moves.judgments(facts))
        if lacking:
            raise Refused(f"It cannot be merged yet. {' '.join(lacking)}")

    def _only(self, change: Change) -> tuple[str, ...]:
        """The fields that a change sets, where they are no more than owner and tags."""
        edits = self.repository.changed(change.start, change.head)
        if any(edit.kind != "edited" or is_picture(edit.path) for edit in edits):
            return ()
        before = self.repository.blobs(change.start)
        if any(edit.path not in before for edit in edits):  # words and rules are no documents
            return ()
        blobs = [blob for edit in edits for blob in (before[edit.path], edit.blob)]
        try:
            texts = [decode(raw) for raw in self.repository.read_blobs(blobs)]
            pairs = zip(texts[::2], texts[1::2], strict=True)
            fields = {name for old, new in pairs for name in fields_touched(old, new)}
        except BadInput:  # a file that is no document
            return ()
        return tuple(sorted(fields)) if fields <= {"owner", "tags"} else ()

    def _record(self, state: State, actor: Actor, row: ChangeRow, merge: MergeFacts) -> None:
        now, commit, bypass = self.clock.stamp(), merge.commit, merge.bypass
        what = {"head": merge.head, "start": merge.start, "merged": commit, "bypass": bypass}
        state.changes.set(row.id, stage="merged", **what, ended=now, ended_by=actor.name, updated=now)
        action = "merge with bypass" if bypass else "merge"
        self.audit.record(state, actor, action, row.title, change=row.id, commit=commit, detail=bypass)
        self.events.landed(state, actor, Landing(commit, row.title, self._edits(commit), row))

    def _edits(self, commit: str) -> tuple[Edit, ...]:
        return self.repository.log(commit, limit=1)[0][1]

    def _finish(self, actor: Actor, number: int) -> None:
        """After the merge: delete the branch, start the index build. Whatever becomes of both, the merge stands."""
        with suppress(StorageFailed, Unavailable, Conflict):
            row = self.database.changes.get(number)
            if row and row.merged:  # else the branch shows that main has the change
                self.repository.delete_branch(branch_of(number))
        self.events.moved(actor)
        self.events.ended(number)

    # ------------------------------------------------------------ conflicts

    @use_case("propose a change", READS)
    def collisions(self, actor: Actor, number: int) -> tuple[Collision, ...]:
        """The conflicts of a change, document by document."""
        change = self.changes.get(number)
        return self._collisions(change.head, self.repository.head()) if change.conflicts else ()

    def _collisions(self, head: str, main: str) -> tuple[Collision, ...]:
        conflicts = self.repository.conflicting_blobs(head, main)
        steps = self.repository.log(main, self.repository.merge_base(main, head)) if conflicts else ()
        return tuple(
            replace(self._collision(path, blobs, head, main), others=_editors(path, steps))
            for path, blobs in conflicts.items()
            if any(blobs[1:])
        )

    def _collision(self, path: str, blobs: tuple[str, str, str], head: str, main: str) -> Collision:
        """Where one side deleted the document, the whole text of the other is one conflict; so are two pictures."""
        if is_picture(path):
            sides = [self._described(path, blob) for blob in blobs[1:]]
            gone = next((side for side, blob in zip(("mine", "theirs"), blobs[1:], strict=True) if not blob), "")
            return Collision(path, (Hunk(True, sides[0], sides[1]),), gone, head, main, (blobs[1], blobs[2]))
        base, mine, theirs = map(self._text, blobs)
        if mine is not None and theirs is not None:
            return Collision(path, hunks(base or "", mine, theirs), "", head, main)
        whole = [() if text is None else tuple(text.split("\n")) for text in (mine, theirs)]
        return Collision(path, (Hunk(True, *whole),), "mine" if mine is None else "theirs", head, main)

    def _described(self, path: str, blob: str) -> tuple[str, ...]:
        """A picture in one line, as far as words can."""
        raw = self.repository.blob(blob) if blob else None
        return (f"{path.rsplit('/', 1)[-1]}: a picture of {max(1, len(raw) // 1024):,} KB",) if raw else ()

    def _text(self, blob: str) -> str | None:
        return decode(next(iter(self.repository.read_blobs([blob])))) if blob else None

    @use_case("propose a change")
    def solve(
        self, actor: Actor, number: int, choices: Mapping[str, tuple[str, ...]], *, head: str = "", main: str = ""
    ) -> Change:
        """Update a change with one decision per conflict; this is a new edit, so verdicts are void.

        Per path: "mine", "theirs", "both" (edits that do not touch) or "=text" for each conflict; ("delete",) leaves
        the document out.
        `head` and `main` are the commits whose conflicts the person saw; "" means those of now.
        """
        with self.changes.kept(), self.changes.writing(number) as (state, row, facts):
            self.changes.allow("edit", facts, actor)
            now = self.repository.head()
            if (head or facts.head, main or now) != (facts.head, now):
                raise Conflict(
                    "The text moved on while you were deciding. Nothing was saved; look at the conflicts again."
                )
            collisions = {collision.path: collision for collision in self._collisions(facts.head, now)}
            if not collisions or set(choices) != set(collisions):
                raise BadInput(f"Decide about each document in conflict: {', '.join(collisions) or 'there is none'}.")
            files = checked_files({path: self._solved(collisions[path], chosen) for path, chosen in choices.items()})
            note = "Solve conflicts with the main line"
            self.repository.update_branch(branch_of(number), now, files, actor.person, note, expected=facts.head)
            self.changes.touch(state, number)
            self.audit.record(state, actor, "solve conflicts", row.title, change=number, detail=", ".join(collisions))
        self.events.rewritten(actor)
        return self.changes.get(number)

    def _solved(self, collision: Collision, chosen: tuple[str, ...]) -> bytes | None:
        if not any(collision.pictures) or chosen == ("delete",) or (collision.gone and chosen == (collision.gone,)):
            return _solved(collision, chosen)
        if chosen not in (("mine",), ("theirs",)):
            raise BadInput(f"{collision.path} is a picture on both sides; decide for mine or theirs.")
        return self.repository.blob(collision.pictures[chosen == ("theirs",)])

    # ------------------------------------------------------------ the way back

    @use_case("propose a change")
    def revert(self, actor: Actor, number: int) -> Change:
        """Propose to undo a merged change. Later edits of its documents are kept, or become conflicts."""
        with self.changes.writing(number) as (_, row, facts):
            self.changes.allow("revert", facts, actor)
        commit = row.merged
        before = self.repository.log(commit, limit=1)[0][0].parents[0]
        files: dict[str, bytes | None] = {}
        for edit in self.repository.changed(before, commit):
            if edit.kind in ("added", "renamed"):
                files[edit.path] = None
            if edit.kind != "added":
                files[edit.old_path or edit.path] = self.repository.read(before, edit.old_path or edit.path)
        text = f"Undo change {number}."
        return self.changes.propose(actor, f"Revert “{row.title}”"[:200], files, text, ChangeBasis(commit, number))

    # ------------------------------------------------------------ after a kill

    @use_case(UPKEEP)
    def repair(self) -> int:
        """Record what reached main but not the database, after a kill or a direct push."""
        if self.database.audit.last_commit() == self.repository.head():
            return 0
        with self.changes.newest(MAIN_LOCK) as state:
            return self._adopt_unknown(state)

    @use_case(UPKEEP)
    def sweep(self) -> None:
        """Delete branches of merged changes, which a kill left."""
        for name in self.repository.branches(BRANCHES):
            row = self.database.changes.get(int(name)) if name.isdecimal() and len(name) < 10 else None
            if row and row.stage == "merged":
                with suppress(Unavailable, Conflict):
                    self.repository.delete_branch(branch_of(int(name)))

    @contextmanager
    def moving_main(self) -> Iterator[State]:
        """A transaction in which main may move; commits without a line in the audit get theirs first."""
        with self.changes.kept(), self.changes.newest(MAIN_LOCK) as state:
            self._adopt_unknown(state)
            yield state

    @use_case("import documents", whole=True)
    def importing(self, actor: Actor, what: str, save: Callable[[], Imported]) -> Imported:
        """Documents that come in all at once: the commit and its line in the audit happen together."""
        with self.moving_main() as state:
            imported = save()
            if imported.added or imported.edited or imported.pictures:
                self.audit.record(state, actor, "import", what, commit=imported.commit)
                self.events.landed(state, actor, Landing(imported.commit, what, self._edits(imported.commit)))
        self.events.imported(actor)
        return imported

    def _adopt_unknown(self, state: State) -> int:
        """Record commits without a line in the audit; asked before main moves, so that none is built upon unseen."""
        known, head, adopted = state.audit.last_commit(), self.repository.head(), 0
        for step, edits in self._unknown(state, known, head) if known != head else ():
            self._adopt(state, step, edits)
            adopted += 1
        return adopted

    def _unknown(self, state: State, known: str, head: str) -> Iterator[tuple[Commit, tuple[Edit, ...]]]:
        """Where main moved to another line of the remote, also what of that line came in before; people know its
        edits.
        """
        steps = self.repository.log(head, since=known)
        fresh = {step.id for step, _ in steps}
        if known and steps and known not in steps[-1][0].parents[:1]:
            steps = self.repository.log(head)
        for step, edits in reversed(steps):
            if not state.audit.names(step.id):
                yield step, edits if step.id in fresh else ()

    def _adopt(self, state: State, step: Commit, edits: tuple[Edit, ...]) -> None:
        lines = dict(trailers(step.message))
        named = lines.get("Change", "")
        number = int(named) if named.isdecimal() and len(named) < 10 else 0  # what an id can hold
        state.hold(lock_of(number))  # nobody edits it while it becomes a merged one
        row = state.changes.get(number)
        open_head = self.repository.head(branch_of(number)) if row and row.stage == "in review" else ""
        if row and len(step.parents) == 2 and step.parents[1] == open_head:
            start = self.repository.merge_base(step.parents[0], step.parents[1])
            self._record(state, REPOSITORY, row, MergeFacts(step.parents[1], start, step.id, lines.get("Bypass", "")))
            return
        title = step.message.splitlines()[0] if step.message else "commit"
        self.audit.record(
            state, REPOSITORY, "commit", title, commit=step.id, detail=f"{step.author.name} <{step.author.email}>"
        )
        self.events.landed(state, REPOSITORY, Landing(step.id, title, edits))


def message(
    change: Change,
    approved: tuple[Verdict, ...],
    steps: Sequence[Commit],
    address_of: Callable[[str], str],
    bypass: str,
    only: tuple[str, ...] = (),
) -> str:
    """The merge commit's message: title, description, authors and approvals."""
    lines = [f"Change: {change.id}"]
    author = plain_address(address_of(change.author))
    lines += [credit(CO_AUTHOR, person) for person in people(steps) if plain_address(person.email) != author]
    lines += [credit(SUGGESTER, person) for person in suggesters(steps)]
    for verdict in approved:
        lines += [
            f"Reviewed-by: {_line(verdict.name)} <{address_of(verdict.who)}>",
            f"Reviewed-at: {verdict.when}",
        ]
    lines += [f"Bypass: {_line(bypass)}"] if bypass else []
    lines += [f"{ONLY}: {', '.join(only)}"] if only else []
    return "\n\n".join(part for part in (change.title, change.description, "\n".join(lines)) if part)


def _line(text: str) -> str:
    return " ".join(text.split())


def _solved(collision: Collision, chosen: tuple[str, ...]) -> bytes | None:
    if chosen == ("delete",) or (collision.gone and chosen == (collision.gone,)):
        return None
    wanted = sum(part.conflict for part in collision.parts)
    if len(chosen) != wanted or any(c not in ("mine", "theirs", "both") and not c.startswith("=") for c in chosen):
        raise BadInput(
            f"{collision.path} has {wanted} conflicts; decide each with mine, theirs, both or a text of your own."
        )
    return solve(collision.parts, chosen).encode()


def _editors(path: str, steps: Sequence[tuple[Commit, tuple[Edit, ...]]]) -> tuple[str, ...]:
    """Who changed a document in these steps of the main line, the last one first."""
    names = (step.author.name for step, edits in steps if any(path in (edit.path, edit.old_path) for edit in edits))
    return tuple(dict.fromkeys(names))
