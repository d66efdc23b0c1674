"""What the rules of review need to know about a change.

Git says what it does, the audit who wrote it, the accounts who may judge it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from core.access import PERSON, SYSTEM, allowed, plain_address
from core.curation.checks.findings import Finding
from core.curation.document.frontmatter import decode, read_document
from core.curation.document.links import same_but_links
from core.curation.review import moves, policy
from core.curation.review.gate import AnswerPlace, Measured, SearchRequirement, demands
from core.curation.review.moves import CoAuthor, Facts, Verdict
from core.curation.review.proposals import CO_AUTHOR, SUGGESTER, check_file, credited
from core.errors import ConcordError, NotFound, Stale
from core.evaluation import impact
from core.lru import LruCache
from core.ports import Clock
from core.services.people.accounts import Account, Accounts
from core.services.reviews.checks import ChangeChecks
from core.storage.state.records import ChangeRow, CoAuthorRow, ReviewRequestRow, VerdictRow, WriterOfChange, of_row
from core.types import Commit, Edit, Person

if TYPE_CHECKING:
    from core.storage.git.repository import Repository
    from core.storage.state.database import State


@dataclass(frozen=True, slots=True)
class EditedDocuments:
    """What a change does to the commit that it departs from; another merge leaves that as it is."""

    documents: tuple[Edit, ...] = ()
    writers: tuple[Person, ...] = ()  # whose words it holds, in the order in which they began
    suggesters: tuple[Person, ...] = ()  # whose suggestions another person took over


@dataclass(frozen=True, slots=True)
class Outlook:
    """What stands in the way of a merge; it depends on the change, the main line and the day."""

    broken: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    name_collisions: tuple[tuple[str, ...], ...] = ()
    findings: tuple[Finding, ...] = ()
    listed: tuple[tuple[str, int], ...] = ()  # how many questions each document lists whose words are edited


@dataclass(frozen=True, slots=True)
class GitState:
    """What git says about a change. One that has ended is asked for no outlook: nobody merges it."""

    start: str
    edits: EditedDocuments = EditedDocuments()
    outlook: Outlook = Outlook()


@dataclass(frozen=True, slots=True)
class RowsOfChange:
    """What the database says about some changes, read at once: a list that asks for each alone takes seconds."""

    accounts: tuple[Account, ...]
    addresses: Mapping[str, str]  # account to its plain address
    verdicts: Mapping[int, list[VerdictRow]]
    requests: Mapping[int, list[ReviewRequestRow]]
    conversations: Mapping[int, int]
    writers: Mapping[int, list[WriterOfChange]]
    suggesters: Mapping[int, list[WriterOfChange]]
    co_authors: Mapping[int, list[CoAuthorRow]]


BRANCHES = "change/"
KEPT = 4096  # changes of which is known what git says


MAIN_LOCK = "main"  # of whoever moves the main line; taken before those of changes


def branch_of(number: int) -> str:
    return f"{BRANCHES}{number}"


def lock_of(number: int) -> str:
    """The lock of whoever writes a change: writers of different ones do not wait for each other."""
    return f"change {number}"


def as_seen(head: str, seen: str) -> None:
    """Refuse to judge, to comment on or to merge another text than the one that was read; "" is any."""
    if seen and seen != head:
        raise Stale("The change was edited after you opened it. Look at the new text first.")


class ChangeFacts:
    """Facts about changes, for the review rules."""

    def __init__(self, repository: Repository, accounts: Accounts, checking: ChangeChecks, clock: Clock) -> None:
        self.repository = repository
        self.accounts = accounts
        self.checking = checking
        self.clock = clock
        self._starts = LruCache[tuple[str, str], str](KEPT)  # by main and head
        self._edits = LruCache[tuple[str, str], EditedDocuments](KEPT)  # by start and head
        self._outlooks = LruCache[tuple[str, str, date], Outlook](KEPT)  # by main, head and day
        self._rules = lru_cache(maxsize=8)(self._read_rules)

    def records(self, state: State, numbers: Sequence[int]) -> RowsOfChange:
        """What is stored about these changes."""
        return RowsOfChange(
            accounts=self.accounts.all(),
            addresses={account: plain_address(email) for email, account in self.accounts.ids().items()},
            verdicts=_by_change(state.verdicts.of_changes(numbers)),
            requests=_by_change(state.requests.of_changes(numbers)),
            conversations=state.comments.open_conversations(numbers),
            writers=_by_change(state.audit.writers(numbers)),
            suggesters=_by_change(state.comments.applied(numbers)),
            co_authors=_by_change(state.co_authors.of_changes(numbers)),
        )

    def of(
        self, state: State, row: ChangeRow, records: RowsOfChange | None = None, work: GitState | None = None
    ) -> tuple[Facts, GitState]:
        """The facts about a change, with what git says; `work` is that, where it was asked about many at once."""
        known = records or self.records(state, [row.id])
        work = work or self.looked([row])[row.id]
        head = self.head(row)
        verdicts = tuple(of_row(Verdict, verdict, when=verdict.at) for verdict in known.verdicts.get(row.id, ()))
        paths = tuple(dict.fromkeys(p for e in work.edits.documents for p in (e.path, e.old_path) if p))
        facts = Facts(
            stage=row.stage,
            head=head,
            author=row.author,
            writers=_accounts(known, known.writers.get(row.id, ()), work.edits.writers),
            suggesters=_accounts(known, known.suggesters.get(row.id, ()), work.edits.suggesters),
            paths=paths,
            verdicts=verdicts,
            open_conversations=known.conversations.get(row.id, 0),
            broken=work.outlook.broken,
            conflicts=work.outlook.conflicts,
            rules=self.rules(),
            name_collisions=work.outlook.name_collisions,
            barred=() if row.merged else _barred(known.accounts, paths),
            demands=self._demands(state, row, head, paths, work),
            author_name=row.author_name,
            co_authors=tuple(of_row(CoAuthor, each) for each in known.co_authors.get(row.id, ())),
            **_author_now(known.accounts, row.author),
        )
        return facts, work

    def _demands(
        self, state: State, row: ChangeRow, head: str, paths: tuple[str, ...], work: GitState
    ) -> tuple[SearchRequirement, ...]:
        """What the rules want of search, of a change that waits for its merge."""
        rules = self.rules()
        if row.stage != "in review" or not any(rule.measured or rule.answers for rule in rules):
            return ()
        packed = state.impacts.fresh(row.id, head, self.repository.head())
        known = _measured(packed, state.settlements.all()) if packed else None
        return demands(rules, paths, dict(work.outlook.listed), known)

    def head(self, row: ChangeRow) -> str:
        """An open change's head is its branch; a merged or closed one's is stored."""
        return row.head or self.repository.newest(branch_of(row.id)) or row.start

    def looked(self, rows: Sequence[ChangeRow], *, whole: bool = True) -> dict[int, GitState]:
        """What git says about changes, by number, through a few processes for all; without `whole` no outlooks."""
        main, heads = self.repository.head(), {row.id: self.head(row) for row in rows}
        self._depart(main, {heads[row.id] for row in rows if not row.merged})
        starts = {row.id: row.start if row.merged else self._starts.get((main, heads[row.id])) or "" for row in rows}
        self._compare({(row.start, heads[row.id]) for row in rows if row.merged})
        edits = {row.id: self._edits.get((starts[row.id], heads[row.id])) or EditedDocuments() for row in rows}
        waiting = {row.id for row in rows if whole and not row.ended and edits[row.id].documents}
        outlooks = self._look(main, {heads[number]: (starts[number], edits[number]) for number in waiting})
        return {
            row.id: GitState(starts[row.id], edits[row.id], outlooks[heads[row.id]] if row.id in waiting else Outlook())
            for row in rows
        }

    def _depart(self, main: str, heads: Collection[str]) -> None:
        """Know where these commits left main, and what they did since."""
        new = [head for head in heads if (self._starts.get((main, head)) or "", head) not in self._edits]
        found = self.repository.departures(main, new)
        starts = {head: departure.start for head, departure in found.items()}
        unknown = {head: start for head, start in starts.items() if (start, head) not in self._edits}
        for head, documents in self.repository.compared(unknown).items():
            self._edits[(starts[head], head)] = _edited(documents, found[head].steps)
        for head, start in starts.items():
            self._starts[(main, head)] = start

    def _compare(self, pairs: Collection[tuple[str, str]]) -> None:
        """Know what merged changes did, by the state of main that they left and their last commit."""
        unknown = {head: start for start, head in pairs if (start, head) not in self._edits}
        steps = self.repository.since(unknown)
        for head, documents in self.repository.compared(unknown).items():
            self._edits[(unknown[head], head)] = _edited(documents, steps[head])

    def _look(self, main: str, changes: Mapping[str, tuple[str, EditedDocuments]]) -> dict[str, Outlook]:
        today = self.clock.today()
        known = {head: self._outlooks.get((main, head, today)) for head in changes}
        new = [head for head, outlook in known.items() if outlook is None]
        if not new:
            return {head: outlook for head, outlook in known.items() if outlook}
        conflicts = self.repository.conflicts(main, new)
        self.checking.prefetch(main, [changes[head][1].documents for head in new])
        self.repository.prefetch(place for head in new for place in self._asked(head, *changes[head]))
        for head in new:
            start, edits = changes[head]
            findings = self.checking.findings(head, main, edits.documents, today)
            unreadable = dict(self._unreadable(head, edits.documents))
            known[head] = outlook = Outlook(
                tuple(_broken(unreadable, findings)),
                conflicts[head],
                self.repository.name_collisions(main, edits.documents),
                findings,
                tuple(self._listed(start, head, edits.documents)),
            )
            self._outlooks[(main, head, today)] = outlook
        return {head: outlook for head, outlook in known.items() if outlook}

    def _asked(self, head: str, start: str, edits: EditedDocuments) -> Iterator[tuple[str, str]]:
        """The files that an outlook reads, by commit and path."""
        for edit in edits.documents:
            if edit.kind != "deleted":
                yield head, edit.path
                yield from [(start, edit.old_path or edit.path)] if edit.kind != "added" and start else []

    def _listed(self, start: str, head: str, edits: tuple[Edit, ...]) -> Iterator[tuple[str, int]]:
        """Readable documents only: the others are broken anyway. An edit that only follows a link is asked nothing."""
        for edit in edits:
            if edit.kind != "deleted" and edit.path.endswith(".md"):
                with suppress(ConcordError):
                    text = decode(self.repository.read(head, edit.path))
                    if edit.kind == "added" or not same_but_links(self._text(start, edit.old_path or edit.path), text):
                        yield edit.path, len(read_document(edit.path, text).meta.answers)

    def _text(self, commit: str, path: str) -> str:
        return decode(self.repository.read(commit, path))

    def _unreadable(self, head: str, edits: tuple[Edit, ...]) -> Iterator[tuple[str, str]]:
        for edit in edits:
            if edit.kind != "deleted":
                try:
                    check_file(edit.path, self.repository.read(head, edit.path))
                except ConcordError as error:
                    yield edit.path, str(error)

    def rules(self) -> tuple[policy.Rule, ...]:
        """The review rules on main."""
        return self._rules(self.repository.head())

    def _read_rules(self, head: str) -> tuple[policy.Rule, ...]:
        try:
            return policy.read(self.repository.read(head, policy.FILE)) if head else policy.DEFAULT
        except NotFound:
            return policy.DEFAULT


def _broken(unreadable: Mapping[str, str], findings: Iterable[Finding]) -> Iterator[str]:
    """Unreadable files and errors of checks, as sentences; they block submit and merge."""
    for path, why in unreadable.items():
        yield f"{path}: {why}"
    for finding in findings:
        if finding.severity == "error" and finding.path not in unreadable:
            yield f"{finding.path}, line {finding.line}: {finding.message}"


class _OfChange(Protocol):
    @property
    def change(self) -> int: ...


Stored = TypeVar("Stored", bound=_OfChange)


def _by_change(rows: Iterable[Stored]) -> dict[int, list[Stored]]:
    found: dict[int, list[Stored]] = {}
    for row in rows:
        found.setdefault(row.change, []).append(row)
    return found


def _barred(accounts: Iterable[Account], paths: tuple[str, ...]) -> tuple[str, ...]:
    """Accounts that may not review these paths now."""
    return tuple(account.id for account in accounts if not (account.active and moves.may_judge(account.actor, paths)))


def _edited(documents: tuple[Edit, ...], steps: Sequence[Commit]) -> EditedDocuments:
    return EditedDocuments(documents, people(steps), suggesters(steps))


def people(steps: Iterable[Commit]) -> tuple[Person, ...]:
    """The writers of commits: their authors, and those whom their messages name as co-authors."""
    return tuple(dict.fromkeys(each for step in steps for each in (step.author, *credited(CO_AUTHOR, step.message))))


def suggesters(steps: Iterable[Commit]) -> tuple[Person, ...]:
    """The people whose suggestions others took over."""
    return tuple(dict.fromkeys(each for step in steps for each in credited(SUGGESTER, step.message)))


def _accounts(records: RowsOfChange, recorded: Iterable[WriterOfChange], written: Iterable[Person]) -> tuple[str, ...]:
    """The accounts on record, and those of the people whom commits name."""
    return moves.writers([line.who for line in recorded], [each.email for each in written], records.addresses)


def _author_now(accounts: Iterable[Account], author: str) -> dict[str, bool]:
    """Whether the author is no person, and whether it is one who may not go on; somebody at the terminal has no
    account.
    """
    account = next((account for account in accounts if account.id == author), None)
    if account is None:
        return {"common": author == SYSTEM.id, "author_left": False}
    may = account.active and allowed(account.actor, "propose a change")
    return {"common": account.kind != PERSON, "author_left": not may}


def _measured(packed: bytes, settled: Mapping[str, Any]) -> Measured:
    """A kept impact, as far as the rules care; what somebody settled since does not count."""
    known = impact.unpack(packed)
    answers = [
        AnswerPlace(each.source, each.text, each.before, each.after, each.kind == impact.OWN)
        for each in known.of(impact.OWN, impact.ANSWERS)
        if not each.gone
    ]
    losses = tuple(f"On {name}: {known.verdicts[name].sentence}" for name in known.losses)
    disagreements = tuple((each.path, each.sentence) for each in known.contradictions if each.key not in settled)
    return Measured(tuple(answers), losses, disagreements)
