"""Changes: proposed edits of one or more documents, each on a branch of its own, until they are merged or closed.

Git holds the text, the database the talk. The head of a change is the head of its branch and nothing else,
so a verdict, which names the commit it was given for, can never survive an edit. Whatever writes, writes inside
one database transaction that also moves the branch; a kill leaves at most a branch that is ahead, never one behind.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from core.access import Actor, require
from core.curation import policy, review
from core.curation.findings import Finding
from core.curation.proposals import check_file, check_text, check_title, checked_files
from core.curation.review import Facts, Verdict
from core.errors import BadInput, ConcordError, NotFound, Refused
from core.ports import Clock, Database, Store
from core.services.accounts import Accounts, plain_address
from core.services.auditing import Auditing, Run
from core.services.checking import Checking
from core.types import Edit


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
    editors: tuple[str, ...]
    approvals: tuple[str, ...]
    verdicts: tuple[Verdict, ...]
    conversations: int
    requirements: tuple[str, ...]
    conflicts: tuple[str, ...]
    merged: str
    reverts: int
    bypass: str
    created: str
    updated: str
    ended: str
    ended_by: str
    findings: tuple[Finding, ...] = ()  # what the checks say about its documents

    @property
    def open(self) -> bool:
        """Whether it can still become part of the knowledge base."""
        return self.state in review.OPEN


@dataclass(frozen=True, slots=True)
class Work:
    """What git says about a change; it depends on two commits alone, so it is remembered."""

    start: str
    documents: tuple[Edit, ...]
    editors: tuple[tuple[str, str], ...]  # (email, name), oldest first
    broken: tuple[str, ...]
    conflicts: tuple[str, ...]
    clashes: tuple[tuple[str, ...], ...]
    findings: tuple[Finding, ...]


def branch_of(number: int) -> str:
    """The branch of a change."""
    return f"change/{number}"


class Changes:
    """Keeps changes, and moves them from state to state by the table of `core.curation.review`."""

    def __init__(self, store: Store, database: Database, accounts: Accounts, auditing: Auditing, clock: Clock) -> None:
        self.store, self.database, self.accounts = store, database, accounts
        self.auditing, self.clock, self.checking = auditing, clock, Checking(store)
        self._work = lru_cache(maxsize=512)(self._look)
        self._rules = lru_cache(maxsize=8)(self._read_rules)

    # ------------------------------------------------------------ reading

    def get(self, number: int) -> Change:
        """One change."""
        rows = self.database.query("SELECT * FROM changes WHERE id = ?", (number,))
        if not rows:
            raise NotFound(f"There is no change {number}. List them with: python -m core change list")
        return self._describe(self.database.query, rows[0])

    def all(self, *, state: str = "", author: str = "", text: str = "") -> tuple[Change, ...]:
        """Changes, the one last touched first."""
        if state not in ("", "open", *review.STATES):
            raise BadInput(f"There is no state {state!r}. States: open, {', '.join(review.STATES)}.")
        rows = self.database.query("SELECT * FROM changes ORDER BY updated DESC, id DESC")
        found = (self._describe(self.database.query, row) for row in rows if not author or row["author"] == author)
        words = text.casefold().split()
        return tuple(
            change
            for change in found
            if (not state or change.state == state or (state == "open" and change.open))
            and all(word in _words(change) for word in words)
        )

    def waiting_for(self, actor: Actor) -> tuple[Change, ...]:
        """Changes on which this person's judgment is wanted."""
        return tuple(
            change
            for change in self.all(state="open")
            if change.state == "in review"
            and not review.own_work(self._facts_of(change), actor.id, actor.name)
            and actor.id not in {v.who for v in change.verdicts if v.head == change.head}
        )

    def own_work(self, actor: Actor, number: int) -> str:
        """Why this person may not judge a change; "" when they may."""
        return review.own_work(self._facts_of(self.get(number)), actor.id, actor.name)

    def facts(self, run: Run, row: Mapping[str, Any]) -> tuple[Facts, Work]:
        """What the rules need to know about a change."""
        head = self._head(row)
        work = self._work(head, self._main(row))
        verdicts = tuple(
            Verdict(v["who"], v["name"], v["head"], v["verdict"], v["note"], v["at"])
            for v in run("SELECT * FROM verdicts WHERE change = ? ORDER BY id", (row["id"],))
        )
        talk = "SELECT count(*) AS n FROM comments WHERE change = ? AND thread = 0 AND resolved = ''"
        paths = tuple(dict.fromkeys(p for e in work.documents for p in (e.path, e.old_path) if p))
        facts = Facts(
            stage=row["stage"],
            head=head,
            author=row["author"],
            last_editors=self._last_editors(run, row["id"], work),
            paths=paths,
            verdicts=verdicts,
            open_conversations=run(talk, (row["id"],))[0]["n"],
            broken=work.broken,
            conflicts=work.conflicts,
            rules=self.rules(),
            clashes=work.clashes,
            barred=() if row["merged"] else self._barred(paths),
        )
        return facts, work

    def _barred(self, paths: tuple[str, ...]) -> tuple[str, ...]:
        """Accounts that may not judge a change of these paths now. People of this machine have none, and may."""
        return tuple(one.id for one in self.accounts.all() if not (one.active and review.may_judge(one.actor, paths)))

    def _last_editors(self, run: Run, number: int, work: Work) -> tuple[str, ...]:
        """Whom the audit names for the present text; for a commit that came by another door, all who have its address."""
        if not work.editors:
            return ()
        written = work.editors[-1][0]
        addresses = {account: plain_address(email) for email, account in self.accounts.ids().items()}
        acts = "SELECT who FROM audit WHERE change = ? AND action IN ('propose', 'edit', 'solve conflicts')"
        for row in run(f"{acts} ORDER BY id DESC LIMIT 1", (number,)):
            if addresses.get(row["who"], plain_address(row["who"])) == plain_address(written):
                return (row["who"],)
        return (written, *(account for account, found in addresses.items() if found == plain_address(written)))

    def _facts_of(self, change: Change) -> Facts:
        row = self.database.query("SELECT * FROM changes WHERE id = ?", (change.id,))[0]
        return self.facts(self.database.query, row)[0]

    def _describe(self, run: Run, row: Mapping[str, Any]) -> Change:
        facts, work = self.facts(run, row)
        now = review.state(facts)
        kept = ("id", "title", "description", "author", "author_name", "merged", "reverts", "bypass", "created")
        return Change(
            **{name: row[name] for name in kept},
            **{name: row[name] for name in ("updated", "ended", "ended_by")},
            state=now,
            head=facts.head,
            start=work.start,
            documents=work.documents,
            editors=tuple(dict.fromkeys(name for _, name in work.editors)),
            approvals=tuple(v.name for v in review.approvals(facts)),
            verdicts=facts.verdicts,
            conversations=facts.open_conversations,
            requirements=review.requirements(facts) if now in review.OPEN else (),
            conflicts=facts.conflicts,
            findings=work.findings,
        )

    def _head(self, row: Mapping[str, Any]) -> str:
        """While a change is open its branch is the truth; afterwards what was merged or closed is kept."""
        return str(row["head"]) or self.store.head(branch_of(row["id"])) or str(row["start"])

    def _main(self, row: Mapping[str, Any]) -> str:
        """The main line that a change is compared with: today's, or the one it was merged into."""
        if row["merged"]:
            return str(row["start"])
        return self.store.head()

    def _look(self, head: str, main: str) -> Work:
        start = self.store.fork(main, head)
        edits = self.store.changed(start, head) if head != start else ()
        steps = self.store.log(head, since=start) if head != start else ()
        editors = tuple((step.author.email, step.author.name) for step, _ in reversed(steps))
        now = edits if main == self.store.head() else ()
        conflicts = self.store.conflicts(head) if now else ()
        clashes = self.store.clashes(head) if any(edit.kind in ("added", "renamed") for edit in now) else ()
        findings = self.checking.findings(head, main, edits, self.clock.today())
        broken = tuple(self._broken(head, edits, findings))
        return Work(start, edits, editors, broken, conflicts, clashes, findings)

    def _broken(self, head: str, edits: tuple[Edit, ...], findings: tuple[Finding, ...]) -> Iterator[str]:
        """A file that cannot be read, or in which the checks found an error: sentences that stop a submit and a merge."""
        unreadable = set()
        for edit in edits:
            if edit.kind != "deleted":
                try:
                    check_file(edit.path, self.store.read(head, edit.path))
                except ConcordError as error:
                    unreadable.add(edit.path)
                    yield f"{edit.path}: {error}"
        for one in findings:
            if one.severity == "error" and one.path not in unreadable:
                yield f"{one.path}, line {one.line}: {one.message}"

    def rules(self) -> tuple[policy.Rule, ...]:
        """The review rules that hold now: those of the main line."""
        return self._rules(self.store.head())

    def _read_rules(self, head: str) -> tuple[policy.Rule, ...]:
        try:
            return policy.read(self.store.read(head, policy.FILE)) if head else policy.DEFAULT
        except NotFound:
            return policy.DEFAULT

    # ------------------------------------------------------------ moving

    @contextmanager
    def writing(self, number: int) -> Iterator[tuple[Run, dict[str, Any], Facts]]:
        """The change as it is now, with nobody else writing until the block ends."""
        with self.database.transaction() as run:
            rows = run("SELECT * FROM changes WHERE id = ?", (number,))
            if not rows:
                raise NotFound(f"There is no change {number}. List them with: python -m core change list")
            yield run, rows[0], self.facts(run, rows[0])[0]

    def propose(
        self,
        actor: Actor,
        title: str,
        files: Mapping[str, bytes | None],
        message: str = "",
        *,
        start: str = "",
        reverts: int = 0,
    ) -> Change:
        """Start a change with its first edit. None deletes a document; nothing approved is touched."""
        require(actor, "propose a change")
        name, text = check_title(title), check_text(message)
        made = checked_files(files)
        with self.database.transaction() as run:
            base = start or self.store.head() or self._begin(run, actor)
            row = run(
                "INSERT INTO changes (title, description, author, author_name, stage, start, reverts, created, updated)"
                " VALUES (?, ?, ?, ?, 'draft', ?, ?, ?, ?) RETURNING id",
                (name, text, actor.id, actor.name, base, reverts, self.clock.stamp(), self.clock.stamp()),
            )[0]
            branch = branch_of(row["id"])
            if self.store.head(branch):  # left by a kill before the change was recorded
                self.store.drop(branch)
            self.store.branch(branch, base)
            self.store.commit(branch, made, actor.person, text or name)
            self.auditing.record(run, actor, "propose", name, change=row["id"])
        return self.get(row["id"])

    def _begin(self, run: Run, actor: Actor) -> str:
        """The first commit of a knowledge base that has none."""
        commit = self.store.begin(actor.person, "Begin the knowledge base")
        self.auditing.record(run, actor, "begin", "the knowledge base", commit=commit)
        return commit

    def edit(
        self,
        actor: Actor,
        number: int,
        files: Mapping[str, bytes | None],
        message: str = "",
        *,
        expected: str | None = None,
    ) -> Change:
        """One more edit. `expected` is the head that the editor saw; earlier verdicts are void."""
        require(actor, "propose a change")
        made = checked_files(files)
        with self.writing(number) as (run, row, facts):
            self.allow("edit", facts)
            text = check_text(message) or f"Edit {', '.join(made)}"
            self.store.commit(
                branch_of(number), made, actor.person, text, expected=facts.head if expected is None else expected
            )
            self.touch(run, number)
            self.auditing.record(run, actor, "edit", row["title"], change=number, detail=", ".join(made))
        return self.get(number)

    def describe(self, actor: Actor, number: int, title: str, description: str) -> Change:
        """Another title or description."""
        require(actor, "propose a change")
        with self.writing(number) as (run, _, facts):
            self.allow("edit", facts)
            run(
                "UPDATE changes SET title = ?, description = ? WHERE id = ?",
                (check_title(title), check_text(description), number),
            )
            self.touch(run, number)
            self.auditing.record(run, actor, "describe", title, change=number)
        return self.get(number)

    def submit(self, actor: Actor, number: int) -> Change:
        """Ask for review."""
        require(actor, "propose a change")
        with self.writing(number) as (run, row, facts):
            self.allow("submit", facts)
            if facts.broken:
                raise Refused(f"It cannot be submitted yet. {' '.join(facts.broken)}")
            if not facts.paths:
                raise Refused("It changes nothing: its documents are the same as in the knowledge base.")
            self._move(run, actor, row, "in review", "submit")
        return self.get(number)

    def withdraw(self, actor: Actor, number: int) -> Change:
        """Take a change back to draft."""
        require(actor, "propose a change")
        with self.writing(number) as (run, row, facts):
            self.allow("withdraw", facts)
            self._own(actor, row, "take back")
            self._move(run, actor, row, "draft", "withdraw")
        return self.get(number)

    def close(self, actor: Actor, number: int, reason: str = "") -> Change:
        """Give a change up. Its text stays, and it can be reopened."""
        require(actor, "propose a change")
        with self.writing(number) as (run, row, facts):
            self.allow("close", facts)
            self._own(actor, row, "close")
            run(
                "UPDATE changes SET head = ?, ended = ?, ended_by = ? WHERE id = ?",
                (facts.head, self.clock.stamp(), actor.name, number),
            )
            self._move(run, actor, row, "closed", "close", check_text(reason))
        return self.get(number)

    def reopen(self, actor: Actor, number: int) -> Change:
        """Take a closed change up again, as a draft."""
        require(actor, "propose a change")
        with self.writing(number) as (run, row, facts):
            self.allow("reopen", facts)
            run("UPDATE changes SET head = '', ended = '', ended_by = '' WHERE id = ?", (number,))
            self._move(run, actor, row, "draft", "reopen")
        return self.get(number)

    def allow(self, move: str, facts: Facts) -> None:
        """Refuse a move with the table's own sentence."""
        sentence = review.refusal(move, review.state(facts))
        if sentence:
            raise Refused(sentence)

    def touch(self, run: Run, number: int) -> None:
        """Say that something happened to a change just now."""
        run("UPDATE changes SET updated = ? WHERE id = ?", (self.clock.stamp(), number))

    def _own(self, actor: Actor, row: Mapping[str, Any], verb: str) -> None:
        if actor.id != row["author"] and actor.role not in ("reviewer", "admin"):
            raise Refused(f"Only {row['author_name']}, a reviewer or an admin may {verb} this change.")

    def _move(self, run: Run, actor: Actor, row: Mapping[str, Any], stage: str, action: str, detail: str = "") -> None:
        run("UPDATE changes SET stage = ? WHERE id = ?", (stage, row["id"]))
        self.touch(run, row["id"])
        self.auditing.record(run, actor, action, row["title"], change=row["id"], detail=detail)


def _words(change: Change) -> str:
    paths = " ".join(edit.path for edit in change.documents)
    return f"{change.id} {change.title} {change.description} {change.author_name} {paths}".casefold()
