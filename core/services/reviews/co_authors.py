"""Who works on a change beside its author: invited by them, or by an admin who takes the change over."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from core.access import Actor, allowed
from core.curation import review
from core.curation.review import Facts
from core.errors import BadInput, Refused
from core.ports import Clock
from core.services.inbox.messages import Messages, Subject
from core.services.people.accounts import Account, Accounts
from core.services.people.directory import the_one

if TYPE_CHECKING:
    from core.adapters.state.database import State


class CoAuthors:
    """Invites people, and takes invitations back, inside the transaction of a change."""

    def __init__(self, accounts: Accounts, messages: Messages, clock: Clock) -> None:
        self.accounts, self.messages, self.clock = accounts, messages, clock

    def candidates(self, facts: Facts) -> tuple[Account, ...]:
        """Accounts that could work on a change and do not yet."""
        present = review.authors(facts)
        return tuple(account for account in self.accounts.all() if account.id not in present and _able(account))

    def invite(self, state: State, actor: Actor, row: Mapping[str, Any], facts: Facts, names: Iterable[str]) -> None:
        """Invite by id, address or name, and tell them; the authors learn when somebody else does it."""
        if not review.may_invite(facts, actor):
            raise Refused(f"Only {facts.author_name} or an admin may invite co-authors to this change.")
        subject = Subject("change", str(row["id"]), row["title"])
        invited = [self._able(facts, actor, name) for name in dict.fromkeys(names)]
        for account in invited:
            state.co_authors.add(
                change=row["id"], account=account.id, name=account.name, inviter=actor.name, at=self.clock.stamp()
            )
        self.messages.tell(state, actor, [account.id for account in invited], "invited", subject, row["description"])
        if actor.id != facts.author:
            who = review.names([account.name for account in invited])
            self.messages.tell(state, actor, review.authors(facts), "taken over", subject, f"Invited: {who}.")

    def uninvite(self, state: State, actor: Actor, number: int, facts: Facts, names: Iterable[str]) -> None:
        """Remove co-authors and take the unread message back; everybody may leave. What they wrote stays theirs."""
        present = {co_author.account: co_author for co_author in facts.co_authors}
        for name in dict.fromkeys(names):
            account = name if name in present else the_one(self.accounts.all(), name).id
            if account not in present:
                raise BadInput(f"{name} is no co-author of this change.")
            if actor.id != account and not review.may_invite(facts, actor):
                raise Refused(f"Only {facts.author_name} or an admin may remove co-authors of this change.")
            state.co_authors.drop(number, account)
            state.messages.drop(account, "invited", "change", str(number))

    def _able(self, facts: Facts, actor: Actor, name: str) -> Account | Actor:
        """Somebody at the terminal has no account and may name themselves all the same."""
        account = actor if name == actor.id else the_one(self.accounts.all(), name)
        if account.id in review.authors(facts):
            raise BadInput(f"{account.name} is an author of this change already.")
        if isinstance(account, Account) and not _able(account):
            raise BadInput(f"{account.name} is a {account.role} and may not work on changes. An admin can change that.")
        return account


def _able(account: Account) -> bool:
    return account.active and allowed(account.actor, "propose a change")
