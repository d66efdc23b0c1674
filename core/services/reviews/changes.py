"""Changes: proposed edits of one or more documents, each on a branch of its own, until they are merged or closed.

Git holds the text, the database the talk. The head of a change is the head of its branch and nothing else,
so an approval, which names the commit it was given for, can never survive an edit. Whatever writes, writes inside
one database transaction that also moves the branch; a kill leaves at most a branch that is ahead, never one behind.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast, overload

from core.access import ANYONE, READS, Actor, require, use_case
from core.curation.checks.findings import Finding
from core.curation.document.frontmatter import decode, read_document
from core.curation.review import moves, policy
from core.curation.review.moves import CoAuthor, Facts, Verdict
from core.curation.review.proposals import check_text, check_title, checked_files
from core.curation.review.readers import Readable, said_by
from core.cures import CHANGES
from core.errors import BadInput, ConcordError, NotFound, Reached, Refused, Stale, StorageFailed, Unavailable
from core.services.inbox.news import ChangeNews
from core.services.people.accounts import Account, Accounts
from core.services.reviews.checks import ChangeChecks, complete
from core.services.reviews.facts import MAIN_LOCK, ChangeFacts, GitState, RowsOfChange, branch_of, lock_of
from core.services.reviews.requests import CoAuthors, ReviewRequest, ReviewRequests, answered
from core.storage.state.records import ChangeRow, of_row
from core.types import NOTHING, Edit

if TYPE_CHECKING:
    from core.services.platform.base import Base
    from core.storage.state.database import State

AT_ONCE = 1000  # changes whose records are read together
LOOKED_AT = 100  # changes whose texts are read together
KEPT = 100  # rows and records that are kept until the database changes
T = TypeVar("T")
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Change:
    """A change as everybody sees it."""

    id: int
    title: str
    description: str
    author: str
    author_name: str
    state: str
    head: str
    start: str  # the commit of the main line that it departs from
    documents: tuple[Edit, ...]
    editors: tuple[str, ...]  # whoever wrote words of it
    approvals: tuple[str, ...]
    verdicts: tuple[Verdict, ...]
    blocks: tuple[Verdict, ...]  # requests for changes that stand
    conversations: int
    requirements: tuple[str, ...]  # everything that still blocks a merge
    conflicts: tuple[str, ...]
    merged: str
    reverts: int
    bypass: str
    created: str
    updated: str
    ended: str
    ended_by: str
    findings: tuple[Finding, ...] = ()  # what the checks say about its documents
    asked: tuple[ReviewRequest, ...] = ()  # who was asked to review it
    warnings: tuple[str, ...] = ()  # what the rules would like and do not insist on
    approvals_missing: tuple[str, ...] = ()  # among the requirements, those that only reviews meet
    stops: tuple[str, ...] = ()  # what the rules want of search before a merge, also among the requirements
    unknown: tuple[str, ...] = ()  # whom the review rules name, and nobody is called so
    co_authors: tuple[CoAuthor, ...] = ()  # who was invited to work on it
    common: bool = False  # Concord itself, a service or an agent opened it: any person may go on with it
    author_left: bool = False  # whoever wrote it may propose nothing any more

    @property
    def open(self) -> bool:
        return self.state in moves.OPEN


class ChangeBasis(NamedTuple):
    """What a new change starts from."""

    start: str = ""  # a commit; the head of the main line if not said
    reverts: int = 0  # the change that it undoes
    origin: str = ""  # where the documents come from
    read: Mapping[str, str] = (
        NOTHING  # blobs that the writer had before them, by path: one that is another by now is refused
    )


class Described(Sequence[Change]):
    """A list of changes whose length is known at once; git is asked only about those that are looked at."""

    def __init__(self, numbers: Sequence[int], describe: Callable[[Sequence[int]], list[Change]]) -> None:
        self.numbers, self._describe = numbers, describe

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, place: int) -> Change: ...
    @overload
    def __getitem__(self, place: slice) -> list[Change]: ...
    def __getitem__(self, place: int | slice) -> Change | list[Change]:
        if isinstance(place, slice):
            return self._describe(self.numbers[place])
        return self._describe([self.numbers[place]])[0]

    def __iter__(self) -> Iterator[Change]:
        for first in range(0, len(self), LOOKED_AT):
            yield from self[first : first + LOOKED_AT]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]


class Changes:
    """Changes and their moves between states, by the table in `core.curation.review.moves`."""

    def __init__(self, base: Base, accounts: Accounts, news: ChangeNews) -> None:
        self.repository, self.database, self.events = base.repository, base.database, base.events
        self.audit = base.audit
        self.clock = base.clock
        self.accounts = accounts
        self.news = news
        self.checking = ChangeChecks(base.repository, base.reader.read, base.settings.caches)
        self.facts = ChangeFacts(base.repository, accounts, self.checking, base.clock)
        self.readership = base.documents.readership
        self.requests = ReviewRequests(accounts, news.messages, base.clock)
        self.co_authors = CoAuthors(accounts, news.messages, base.clock)
        self._known: tuple[object, dict[object, Any]] = (None, {})  # a version of the database, and what was read

    # ------------------------------------------------------------ reading

    @use_case("propose a change", READS)
    def show(self, actor: Actor, number: int) -> Change:
        """A change, for those who may see what is not merged."""
        return self.get(number)

    @use_case("propose a change", READS)
    def listed(self, actor: Actor, *, state: str = "", author: str = "", text: str = "") -> Described:
        """Changes for those who may see what is not merged, last touched first."""
        return self.all(state=state, author=author, text=text)

    def get(self, number: int) -> Change:
        """A change, for services; doors call `show`."""
        for _, change in self._described([self._row(number)], self.readership.now()):
            return change
        raise no_change(number)

    def all(self, *, state: str = "", author: str = "", text: str = "") -> Described:
        """Last touched first, for services; doors call `listed`."""
        if state not in ("", "open", *moves.STATES):
            raise BadInput(f"There is no state {state!r}. States: open, {', '.join(moves.STATES)}.")
        words, stages, seen = text.casefold().split(), moves.stages(state), self.readership.now()
        derived = state in moves.OPEN and state != "draft"  # what the verdicts make of it
        if not words and not derived and seen is None:
            return self._list(self.database.changes.numbers(stages, author), seen)
        found = (
            row.id
            for row, facts, work in self._briefly(self.database.changes.all(stages, author), seen)
            if (not derived or moves.state(facts) == state) and all(word in _words(row, work) for word in words)
        )
        return self._list(found, seen)

    @use_case("propose a change", READS)
    def counts(self, actor: Actor) -> dict[str, int]:
        """How many changes are merged and closed."""
        if (seen := self.readership.now()) is not None:
            known = Counter(row.stage for row, _, _ in self._briefly(self.database.changes.all(), seen))
            return {state: known[state] for state in ("merged", "closed")}
        stored = self.database.changes.counts()
        return {state: stored.get(state, 0) for state in ("merged", "closed")}

    def heads(self, state: str) -> dict[int, str]:
        """The text of each change in a state that is stored, by its number; much cheaper than what everybody sees."""
        return {row.id: self.facts.head(row) for row in self.database.changes.all(moves.stages(state))}

    @use_case("propose a change", READS)
    def waiting_for(self, actor: Actor) -> Described:
        """Changes that this person should review."""
        seen, rows = self.readership.now(), self.database.changes.all(("in review",))
        return self._list((row.id for row, facts, _ in self._briefly(rows, seen) if _waits_for(facts, actor)), seen)

    @use_case("propose a change", READS)
    def asked_of(self, actor: Actor) -> Described:
        """Changes that this person was asked to review and has not judged as they are now."""
        asked = set(self.database.requests.of_account(actor.id))
        numbers = (number for number in self.waiting_for(actor).numbers if number in asked)
        return self._list(numbers, self.readership.now())

    @use_case("propose a change", READS)
    def beside(self, actor: Actor, number: int) -> tuple[tuple[Change, tuple[str, ...]], ...]:
        """Other open changes of the same documents, with the paths: whoever merges last has to look at the other."""
        own = _paths(self.get(number))
        others = (change for change in self.all(state="open") if change.id != number)
        return tuple((change, tuple(sorted(own & _paths(change)))) for change in others if own & _paths(change))

    @use_case("propose a change", READS)
    def reviewers(self, actor: Actor, number: int = 0) -> tuple[Account, ...]:
        """Whom to ask: those who may review a change, or one that this person is about to propose."""
        if number:
            return self.requests.candidates(self._facts_of(self.get(number)))
        return self.requests.candidates(Facts("draft", "", actor.id, (), (), (), 0, (), (), ()))

    @use_case("propose a change", READS)
    def own_work(self, actor: Actor, number: int) -> str:
        """Why this person may not approve a change; "" when they may."""
        return moves.own_work(self._facts_of(self.get(number)), actor.id, actor.name)

    @use_case("propose a change", READS)
    def invitable(self, actor: Actor, number: int) -> tuple[Account, ...]:
        """Whom to invite to work on a change."""
        return self.co_authors.candidates(self._facts_of(self.get(number)))

    def _facts_of(self, change: Change) -> Facts:
        return self.facts.of(self.database, self._row(change.id), self._records([change.id]))[0]

    def _row(self, number: int) -> ChangeRow:
        return self._once(number, partial(_known, self.database, number))

    def _records(self, numbers: Sequence[int]) -> RowsOfChange:
        read = partial(self.facts.records, self.database, numbers)
        return self._once(("records", *numbers), read) if len(numbers) == 1 else read()

    def _once(self, key: object, read: Callable[[], T]) -> T:
        """What the database says, until somebody commits: a page asks for the same change a dozen times, ten
        statements each.
        """
        version = self.database.version()
        at, known = self._known
        if version is None or at != version or len(known) >= KEPT:
            self._known = _, known = version, {}
        if key not in known:
            known[key] = read()
        return cast(T, known[key])

    def _list(self, numbers: Iterable[int], seen: Readable | None) -> Described:
        """A list for whoever asks now: it is described later, when somebody else may be asking."""
        return Described(tuple(numbers), lambda some: self._some(some, seen))

    def _some(self, numbers: Sequence[int], seen: Readable | None) -> list[Change]:
        rows = {row.id: row for row in self.database.changes.some(numbers)}
        return [change for _, change in self._described([rows[number] for number in numbers if number in rows], seen)]

    def _briefly(self, rows: Sequence[ChangeRow], seen: Readable | None) -> Iterator[tuple[ChangeRow, Facts, GitState]]:
        """Facts without what stands in the way of a merge: enough to tell in which list a change is that somebody may
        see.
        """
        for part, records in self._parts(rows, AT_ONCE):
            looked = self.facts.looked(part, whole=False)
            for row in part:
                if self.readership.sees_change(row, seen):
                    yield row, *self.facts.of(self.database, row, records, looked[row.id])

    def _described(self, rows: Sequence[ChangeRow], seen: Readable | None) -> Iterator[tuple[Facts, Change]]:
        """The changes that somebody may see, as they see them."""
        for part, records in self._parts(rows, LOOKED_AT):
            looked = self.facts.looked(part)
            for row in part:
                if not self.readership.sees_change(row, seen):
                    continue
                facts, work = self.facts.of(self.database, row, records, looked[row.id])
                change = self._change(row, facts, work, records)
                yield facts, _redacted(change, seen) if seen else change

    def _parts(self, rows: Sequence[ChangeRow], size: int) -> Iterator[tuple[Sequence[ChangeRow], RowsOfChange]]:
        for first in range(0, len(rows), size):
            part = rows[first : first + size]
            yield part, self._records([row.id for row in part])

    def _change(self, row: ChangeRow, facts: Facts, work: GitState, records: RowsOfChange) -> Change:
        now = moves.state(facts)
        return of_row(
            Change,
            row,
            state=now,
            head=facts.head,
            start=work.start,
            documents=work.edits.documents,
            editors=tuple(dict.fromkeys(person.name for person in work.edits.writers)),
            approvals=tuple(v.name for v in moves.approvals(facts)),
            verdicts=facts.verdicts,
            blocks=moves.blocking(facts),
            conversations=facts.open_conversations,
            requirements=moves.requirements(facts) if now in moves.OPEN else (),
            approvals_missing=moves.missing_approvals(facts) if now in moves.OPEN else (),
            conflicts=facts.conflicts,
            findings=work.outlook.findings,
            asked=answered(records.requests.get(row.id, ()), facts),
            warnings=(*moves.wanted(facts, "warn"), *self._audience(facts.head, work, records))
            if now in moves.OPEN
            else (),
            stops=moves.wanted(facts, "block") if now in moves.OPEN else (),
            unknown=self.requests.unknown(facts, records.accounts) if now in moves.OPEN else (),
            **{name: getattr(facts, name) for name in ("co_authors", "common", "author_left")},
        )

    @use_case(ANYONE)
    def typed(
        self, path: str, text: str, base: str, today: date | None = None, pictures: Collection[str] = ()
    ) -> tuple[Finding, ...]:
        """Findings on a text that is being written, against a commit and the pictures that its draft holds."""
        found, seen = self.checking.typed(path, text, base, today, pictures), self.readership.now()
        return seen.findings(found) if seen else found

    def _audience(self, head: str, work: GitState, records: RowsOfChange) -> tuple[str, ...]:
        """What it does to who may read what."""
        accounts = (account.actor for account in records.accounts if account.active)
        return self.readership.effect(head, work.edits.documents, accounts)

    # ------------------------------------------------------------ moving

    @contextmanager
    def writing(self, number: int, *more: str) -> Iterator[tuple[State, ChangeRow, Facts]]:
        """The change as it is now, locked against other writers of it until the block ends."""
        with self.newest(*more, lock_of(number)) as state:
            yield state, *self.known(state, number)

    @contextmanager
    def kept(self) -> Iterator[None]:
        """A block that moves a branch and then writes that down. Where only the second fails, what git has stays and
        counts.
        """
        moves = self.repository.git.moves
        try:
            yield
        except (StorageFailed, Unavailable) as error:
            if self.repository.git.moves == moves:
                raise
            _LOG.error("A branch moved, and the database could not record it: %s", error)

    @contextmanager
    def newest(self, *locks: str) -> Iterator[State]:
        """A transaction that sees what every node has written, in the database and in the repository.

        The repository is looked at before the locks are taken: one that hangs must not stop those who ask nothing of
        it. Whoever wrote in between moved main, which is looked at again, or a branch, which then refuses to move.
        """
        self.repository.follow()
        with self.database.transaction(*locks) as state:
            if MAIN_LOCK in locks and state.audit.last_commit() != self.repository.head():
                self.repository.follow()
            with self.repository.frozen():
                yield state

    def known(self, state: State, number: int) -> tuple[ChangeRow, Facts]:
        """The row and the facts of a change inside a transaction."""
        row = _known(state, number)
        seen = self.readership.now()
        if not self.readership.sees_change(row, seen):
            raise no_change(number)
        facts = self.facts.of(state, row)[0]
        return row, replace(facts, broken=tuple(map(seen.redacted, facts.broken))) if seen else facts

    @use_case("propose a change", READS)
    def rules(self, actor: Actor) -> tuple[policy.Rule, ...]:
        """The review rules in force, except those for folders that this person may not read."""
        seen, rules = self.readership.now(), self.facts.rules()
        return tuple(rule for rule in rules if seen is None or seen.path(f"{rule.match.rpartition('/')[0]}/"))

    @use_case("manage accounts", READS)
    def readers(self, actor: Actor) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Folders with their readers, for admins: that they exist and who reads them, not what they hold."""
        return tuple(sorted(self.readership.policy().folders.items()))

    @use_case("manage accounts", READS)
    def admins_read(self, actor: Actor) -> bool:
        """Whether admins read every folder by their role."""
        return self.readership.policy().admins

    @use_case("manage accounts", READS)
    def readers_effect(self, actor: Actor, text: str) -> tuple[str, ...]:
        """What another file of the rules would do to who may read what, before anybody proposes it."""
        accounts = (account.actor for account in self.accounts.all() if account.active)
        return self.readership.effect("", (), accounts, policy.read_all(text.encode())[1])

    @use_case("propose a change", READS)
    def rules_text(self, actor: Actor) -> str:
        """The file of the review rules; "" where there is none, and one approval is enough, or where it is for admins
        alone.
        """
        seen = self.readership.now()
        if seen is not None and not seen.path(policy.FILE):
            return ""
        try:
            return self.repository.read(self.repository.head(), policy.FILE).decode("utf-8", "replace")
        except NotFound:
            return ""

    @use_case("propose a change")
    def propose(
        self,
        actor: Actor,
        title: str,
        files: Mapping[str, bytes | None],
        message: str = "",
        basis: ChangeBasis = ChangeBasis(),
    ) -> Change:
        """Start a change with its first edit; None deletes a document."""
        name, text = check_title(title), check_text(message)
        checked = self._for_reader(checked_files(files))
        with self.newest(f"author {actor.id}" if self.repository.head() else MAIN_LOCK) as state:
            base = basis.start or self.repository.head() or self._begin(state, actor)
            self._refuse_unread(base, basis.read)
            number = self._add(state, actor, base, title=name, description=text, reverts=basis.reverts)
            files = complete(self.repository, base, checked)
            self.repository.commit(branch_of(number), files, actor.person, text or name, start=base)
            self.audit.record(state, actor, "propose", name, change=number, detail=check_text(basis.origin))
        return self.get(number)

    def _for_reader(self, files: Mapping[str, bytes | None], head: str = "") -> Mapping[str, bytes | None]:
        """Files that their writer may read, before and after. A new folder is refused where a hidden one may have its
        name.
        """
        if (seen := self.readership.now()) is None:
            return files
        beside = seen.beside_hidden({*self.repository.paths(self.repository.head()), *self.repository.paths(head)})
        for path, raw in files.items():
            said = None
            if raw is not None and path.endswith(".md"):
                with suppress(ConcordError):
                    said = said_by(read_document(path, decode(raw)))
            if not seen.path(path, said) or beside(path):
                raise NotFound(
                    f"{path} is in no folder that you read. Choose one, or ask an admin to begin a new folder."
                )
        return files

    def _refuse_unread(self, base: str, read: Mapping[str, str]) -> None:
        """Refuse whole texts that would undo an edit which their writer has not seen."""
        blobs = {entry.path: entry.blob for entry in self.repository.entries(base)} if read else {}
        if moved := [path for path, blob in read.items() if blobs.get(path, "") != blob]:
            raise Stale(f"{', '.join(moved)} was edited after you read it. Read it again, and edit that text.")

    def _add(self, state: State, actor: Actor, start: str, **values: Any) -> int:
        """A draft without its branch; its number."""
        author, now = {"author": actor.id, "author_name": actor.name}, self.clock.stamp()
        number = state.changes.add(**author, **values, stage="draft", start=start, created=now, updated=now)
        if self.repository.head(branch_of(number)):  # left by a kill before the change was recorded
            self.repository.delete_branch(branch_of(number))
        return number

    def bring(self, state: State, actor: Actor, title: str, head: str, message: str) -> int:
        """Start a change from commits that were made elsewhere, which stay as they are; its number."""
        require(actor, "propose a change")
        words = {"title": check_title(title), "description": check_text(message)}
        number = self._add(state, actor, self.repository.merge_base(self.repository.head(), head), **words, reverts=0)
        self.repository.create_branch(branch_of(number), head)
        self.audit.record(state, actor, "propose", words["title"], change=number, detail=f"commits up to {head[:12]}")
        return number

    def bring_more(self, actor: Actor, number: int, head: str) -> None:
        """Newer commits that build on those of a change; earlier approvals are void."""
        require(actor, "propose a change")
        with self.kept(), self.writing(number) as (state, row, facts):
            self.allow("edit", facts, actor)
            self.repository.move_branch(branch_of(number), head, facts.head)
            self.touch(state, number)
            self.audit.record(state, actor, "edit", row.title, change=number, detail=f"commits up to {head[:12]}")
        self.events.rewritten(actor)

    def _begin(self, state: State, actor: Actor) -> str:
        """The first commit of an empty knowledge base."""
        commit = self.repository.begin(actor.person, "Begin the knowledge base")
        self.audit.record(state, actor, "begin", "the knowledge base", commit=commit)
        return commit

    @use_case("propose a change")
    def edit(
        self,
        actor: Actor,
        number: int,
        files: Mapping[str, bytes | None],
        message: str = "",
        *,
        expected: str | None = None,
    ) -> Change:
        """Another edit. `expected` is the head that the editor saw; earlier approvals are void."""
        checked = self._for_reader(checked_files(files), self.repository.head(branch_of(number)))
        with self.kept(), self.writing(number) as (state, row, facts):
            self.allow("edit", facts, actor)
            text = check_text(message) or f"Edit {', '.join(checked)}"
            files, seen = complete(self.repository, facts.head, checked), facts.head if expected is None else expected
            self.repository.commit(branch_of(number), files, actor.person, text, expected=seen)
            self.touch(state, number)
            self.audit.record(state, actor, "edit", row.title, change=number, detail=", ".join(checked))
        self.events.rewritten(actor)
        return self.get(number)

    @use_case("propose a change")
    def describe(
        self, actor: Actor, number: int, title: str, description: str, expected: tuple[str, str] | None = None
    ) -> Change:
        """Other words about a change. `expected` are the title and the description that the writer saw."""
        with self.writing(number) as (state, row, facts):
            self.allow("edit", facts, actor)
            if expected not in (None, (row.title, row.description)):
                raise Stale("Title or description were changed meanwhile. Nothing was saved: compare both texts.")
            state.changes.set(number, title=check_title(title), description=check_text(description))
            self.touch(state, number)
            self.audit.record(state, actor, "describe", title, change=number)
        return self.get(number)

    @use_case("propose a change")
    def submit(self, actor: Actor, number: int, reviewers: Sequence[str] = ()) -> Change:
        """Ask for review: those named by id, address or name, and those whom the review rules name."""
        with self.writing(number) as (state, row, facts):
            self.allow("submit", facts, actor)
            if facts.broken:
                raise Refused(f"It cannot be submitted yet. {' '.join(facts.broken)}")
            if not facts.paths:
                raise Refused("It changes nothing: its documents are the same as in the knowledge base.")
            self._move(state, actor, row, "in review", "submit")
            self.requests.ask(state, actor, row, facts, reviewers)
            self.requests.ask_by_rule(state, actor, row, facts)
        self.events.rewritten(actor)
        return self.get(number)

    @use_case("propose a change")
    def ask(self, actor: Actor, number: int, reviewers: Sequence[str]) -> Change:
        """Ask more people to review a change, or the same ones again."""
        with self.writing(number) as (state, row, facts):
            self.allow("ask", facts, actor)
            if not reviewers:
                raise BadInput("Name somebody to ask.")
            self.requests.ask(state, actor, row, facts, reviewers)
            self.audit.record(state, actor, "ask for review", row.title, change=number, detail=", ".join(reviewers))
        return self.get(number)

    @use_case("propose a change")
    def unask(self, actor: Actor, number: int, reviewers: Sequence[str]) -> Change:
        """Take requests back that a person made and nobody has answered."""
        with self.writing(number) as (state, row, facts):
            self.allow("ask", facts, actor)
            if not reviewers:
                raise BadInput("Name somebody who was asked.")
            self.requests.take_back(state, number, facts, reviewers)
            self.audit.record(
                state, actor, "take a request back", row.title, change=number, detail=", ".join(reviewers)
            )
        return self.get(number)

    @use_case("propose a change")
    def withdraw(self, actor: Actor, number: int) -> Change:
        with self.writing(number) as (state, row, facts):
            self.allow("withdraw", facts, actor)
            self._move(state, actor, row, "draft", "withdraw")
        return self.get(number)

    @use_case("propose a change")
    def close(self, actor: Actor, number: int, reason: str = "") -> Change:
        """Its text stays, and it can be reopened."""
        with self.writing(number) as (state, row, facts):
            self.allow("close", facts, actor)
            state.changes.set(number, head=facts.head, ended=self.clock.stamp(), ended_by=actor.name)
            self._move(state, actor, row, "closed", "close", check_text(reason))
            self.news.retire(state, number)
        self.events.ended(number)
        return self.get(number)

    @use_case("propose a change")
    def reopen(self, actor: Actor, number: int) -> Change:
        with self.writing(number) as (state, row, facts):
            self.allow("reopen", facts, actor)
            state.changes.set(number, head="", ended="", ended_by="")
            self._move(state, actor, row, "draft", "reopen")
        return self.get(number)

    @use_case("propose a change")
    def invite(self, actor: Actor, number: int, people: Sequence[str]) -> Change:
        """Let others, named by id, address or name, work on a change as its author does."""
        with self.writing(number) as (state, row, facts):
            self.allow("invite", facts, actor)
            if not people:
                raise BadInput("Name somebody to invite.")
            self.co_authors.invite(state, actor, row, facts, people)
            self.audit.record(state, actor, "invite co-author", row.title, change=number, detail=", ".join(people))
        return self.get(number)

    @use_case("propose a change")
    def uninvite(self, actor: Actor, number: int, people: Sequence[str]) -> Change:
        """Remove co-authors, or oneself."""
        with self.writing(number) as (state, row, facts):
            self.allow("invite", facts, actor)
            if not people:
                raise BadInput("Name a co-author to remove.")
            self.co_authors.uninvite(state, actor, number, facts, people)
            self.audit.record(state, actor, "remove co-author", row.title, change=number, detail=", ".join(people))
        return self.get(number)

    def allow(self, move: str, facts: Facts, actor: Actor) -> None:
        """Refuse a move that the current state does not allow, or not to this person."""
        now = moves.state(facts)
        if sentence := moves.refusal(move, now) or moves.not_theirs(move, facts, actor):
            raise Reached(sentence) if moves.REACHED.get(move) == now else Refused(sentence)

    def touch(self, state: State, number: int) -> None:
        """Set the time of the last activity."""
        state.changes.set(number, updated=self.clock.stamp())

    def _move(self, state: State, actor: Actor, row: ChangeRow, stage: str, action: str, detail: str = "") -> None:
        state.changes.set(row.id, stage=stage, updated=self.clock.stamp())
        self.audit.record(state, actor, action, row.title, change=row.id, detail=detail)


def _known(state: State, number: int) -> ChangeRow:
    row = state.changes.get(number)
    if row is None:
        raise no_change(number)
    return row


def _redacted(change: Change, seen: Readable) -> Change:
    """What checks and rules say of it, without the documents beside it that may not be read."""
    return replace(
        change,
        findings=seen.findings(change.findings),
        requirements=tuple(map(seen.redacted, change.requirements)),
        approvals_missing=tuple(map(seen.redacted, change.approvals_missing)),
        warnings=tuple(map(seen.redacted, change.warnings)),
        stops=tuple(map(seen.redacted, change.stops)),
    )


def no_change(number: int) -> NotFound:
    """The same sentence for what is not there and for what somebody may not see."""
    return NotFound(f"There is no change {number}.", CHANGES)


def _words(row: ChangeRow, work: GitState) -> str:
    paths = " ".join(edit.path for edit in work.edits.documents)
    return f"{row.id} {row.title} {row.description} {row.author_name} {paths}".casefold()


def _waits_for(facts: Facts, actor: Actor) -> bool:
    """In review and not judged by this person yet; or edited since they requested changes."""
    now = moves.state(facts)
    if now == "changes requested":
        return any(block.who == actor.id and block.head != facts.head for block in moves.blocking(facts))
    mine = [verdict for verdict in facts.verdicts if verdict.who == actor.id][-1:]
    approved = any(verdict.verdict == "approved" and verdict.head == facts.head for verdict in mine)
    return now == "in review" and not moves.own_work(facts, actor.id, actor.name) and not approved


def _paths(change: Change) -> set[str]:
    return {path for edit in change.documents for path in (edit.path, edit.old_path) if path}
