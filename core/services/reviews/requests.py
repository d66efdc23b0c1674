"""Who is asked to review a change, by name or by the review rules when it is submitted; and who is invited to work on
it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.access import Actor, allowed
from core.curation.review import moves
from core.curation.review.moves import Facts
from core.curation.review.policy import applicable
from core.errors import BadInput, Refused
from core.ports import Clock
from core.services.inbox.messages import Messages, Subject
from core.services.people.accounts import Account, Accounts
from core.services.people.directory import accounts_matching, resolve_account
from core.storage.state.records import ChangeRow, CoAuthorRow, ReviewRequestRow, of_row

if TYPE_CHECKING:
    from core.storage.state.database import State


@dataclass(frozen=True, slots=True)
class ReviewRequest:
    """Somebody who was asked, and what they said about the present text; "" while they have not."""

    account: str
    name: str
    asker: str
    rule: str  # what the rule matches that asked; "" where a person did
    at: str
    answer: str


class ReviewRequests:
    """Asks people, inside the transaction of a submit or on its own."""

    def __init__(self, accounts: Accounts, messages: Messages, clock: Clock) -> None:
        self.accounts, self.messages, self.clock = accounts, messages, clock

    def of(self, state: State, number: int, facts: Facts) -> tuple[ReviewRequest, ...]:
        """Everybody who was asked, in order."""
        return answered(state.requests.of_changes([number]), facts)

    def candidates(self, facts: Facts) -> tuple[Account, ...]:
        """Accounts that may review this text."""
        return tuple(account for account in self.accounts.all() if _may_judge(account, facts))

    def ask(self, state: State, actor: Actor, row: ChangeRow, facts: Facts, names: Iterable[str]) -> None:
        """Ask by id, address or name; whoever may not review this change is refused."""
        for name in dict.fromkeys(names):
            account = resolve_account(self.accounts.all(), name, self._who(facts))
            if not _may_judge(account, facts):
                raise BadInput(f"{account.name} may not review this change. {self._who(facts)}")
            self._ask_one(state, actor, row, account)

    def ask_by_rule(self, state: State, actor: Actor, row: ChangeRow, facts: Facts) -> None:
        """Ask whom the rules of the touched paths name as reviewers or owners, where they may review it."""
        asked = {request.account for request in self.of(state, row.id, facts)}
        for rule in applicable(facts.rules, facts.paths):
            for name in (*rule.reviewers, *rule.owners):
                for account in accounts_matching(self.accounts.all(), name):
                    if account.id not in asked and _may_judge(account, facts):
                        asked.add(account.id)
                        self._ask_one(state, actor, row, account, rule.match)

    def take_back(self, state: State, number: int, facts: Facts, names: Iterable[str]) -> None:
        """Ask no longer, and take the unread message back. Whoever has answered stays, and so does whom a rule asks."""
        asked = {request.account: request for request in self.of(state, number, facts)}
        for name in dict.fromkeys(names):
            found = [
                asked[account.id] for account in accounts_matching(self.accounts.all(), name) if account.id in asked
            ]
            if not found:
                raise BadInput(f"{name} was not asked to review this change.")
            for request in found:
                if request.answer:
                    raise Refused(f"{request.name} has answered already, and the answer stays.")
                if request.rule:
                    raise Refused(f"The review rule of {request.rule} asks {request.name}; a person did not.")
                state.requests.drop(number, request.account)
                state.messages.drop(request.account, "asked", "change", str(number))

    def unknown(self, facts: Facts, people: Sequence[Account]) -> tuple[str, ...]:
        """Names in the rules of the touched paths that none of these people has."""
        names = [name for rule in applicable(facts.rules, facts.paths) for name in (*rule.reviewers, *rule.owners)]
        return tuple(name for name in dict.fromkeys(names) if not accounts_matching(people, name))

    def _ask_one(self, state: State, actor: Actor, row: ChangeRow, account: Account, rule: str = "") -> None:
        who = {"account": account.id, "name": account.name, "asker": actor.name}
        state.requests.add(ReviewRequestRow(change=row.id, **who, rule=rule, at=self.clock.stamp()))
        subject = Subject("change", str(row.id), row.title)
        self.messages.tell(state, actor, [account.id], "asked", subject, row.description)

    def _who(self, facts: Facts) -> str:
        names: Sequence[str] = [account.name for account in self.candidates(facts)]
        return f"Ask one of: {', '.join(names)}." if names else "Nobody here may review it."


def answered(rows: Iterable[ReviewRequestRow], facts: Facts) -> tuple[ReviewRequest, ...]:
    """Stored requests, each with what was said about the present text; without those that wait for people who may not
    approve.
    """
    verdicts = moves.current_verdicts(facts)
    now = {who: verdict.verdict for who, verdict in verdicts.items() if verdict.head == facts.head}
    return tuple(
        of_row(ReviewRequest, row, answer=now.get(row.account, ""))
        for row in rows
        if row.account in verdicts or _may_approve(row, facts)
    )


def _may_approve(row: ReviewRequestRow, facts: Facts) -> bool:
    return row.account not in facts.barred and not moves.own_work(facts, row.account, row.name)


def _may_judge(account: Account, facts: Facts) -> bool:
    able = account.active and moves.may_judge(account.actor, facts.paths)
    return able and not moves.own_work(facts, account.id, account.name)


class CoAuthors:
    """Invites people, and takes invitations back, inside the transaction of a change."""

    def __init__(self, accounts: Accounts, messages: Messages, clock: Clock) -> None:
        self.accounts, self.messages, self.clock = accounts, messages, clock

    def candidates(self, facts: Facts) -> tuple[Account, ...]:
        """Accounts that could work on a change and do not yet."""
        present = moves.authors(facts)
        return tuple(account for account in self.accounts.all() if account.id not in present and _able(account))

    def invite(self, state: State, actor: Actor, row: ChangeRow, facts: Facts, names: Iterable[str]) -> None:
        """Invite by id, address or name, and tell them; the authors learn when somebody else does it."""
        if not moves.may_invite(facts, actor):
            raise Refused(f"Only {facts.author_name} or an admin may invite co-authors to this change.")
        subject = Subject("change", str(row.id), row.title)
        invited = [self._able(facts, actor, name) for name in dict.fromkeys(names)]
        for account in invited:
            them = {"account": account.id, "name": account.name, "inviter": actor.name}
            state.co_authors.add(CoAuthorRow(change=row.id, **them, at=self.clock.stamp()))
        self.messages.tell(state, actor, [account.id for account in invited], "invited", subject, row.description)
        if actor.id != facts.author:
            who = moves.names([account.name for account in invited])
            self.messages.tell(state, actor, moves.authors(facts), "taken over", subject, f"Invited: {who}.")

    def uninvite(self, state: State, actor: Actor, number: int, facts: Facts, names: Iterable[str]) -> None:
        """Remove co-authors and take the unread message back; everybody may leave. What they wrote stays theirs."""
        present = {co_author.account: co_author for co_author in facts.co_authors}
        for name in dict.fromkeys(names):
            account = name if name in present else resolve_account(self.accounts.all(), name).id
            if account not in present:
                raise BadInput(f"{name} is no co-author of this change.")
            if actor.id != account and not moves.may_invite(facts, actor):
                raise Refused(f"Only {facts.author_name} or an admin may remove co-authors of this change.")
            state.co_authors.drop(number, account)
            state.messages.drop(account, "invited", "change", str(number))

    def _able(self, facts: Facts, actor: Actor, name: str) -> Account | Actor:
        """Somebody at the terminal has no account and may name themselves all the same."""
        account = actor if name == actor.id else resolve_account(self.accounts.all(), name)
        if account.id in moves.authors(facts):
            raise BadInput(f"{account.name} is an author of this change already.")
        if isinstance(account, Account) and not _able(account):
            raise BadInput(f"{account.name} is a {account.role} and may not work on changes. An admin can change that.")
        return account


def _able(account: Account) -> bool:
    return account.active and allowed(account.actor, "propose a change")
