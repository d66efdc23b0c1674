"""People in what others write: names to complete after an @, and the chips that stand for them."""

from __future__ import annotations

from collections.abc import Sequence

from core.access import ROLES, allowed, folded
from core.curation.review.readers import EVERYONE, GROUP, ROLE
from core.curation.text.mentions import with_mentions
from core.curation.text.render import Node
from core.services.people.directory import callnames
from pages.ui.workspace import app


def completions(action: str = "propose a change") -> list[dict[str, str]]:
    """Who can be named: the name to show, and what to write after the @."""
    accounts = [account for account in app().people.accounts.all() if account.active]
    names = callnames(accounts)
    return [
        {
            "name": account.name,
            "role": account.role,
            "spelled": account.name if names.get(folded(account.name)) == account.id else account.id,
        }
        for account in accounts
        if allowed(account.actor, action)
    ]


def with_chips(nodes: Sequence[Node]) -> list[Node]:
    """Nodes in which every mention is a chip with the name of the account."""
    accounts = app().people.accounts.all()
    return with_mentions(nodes, callnames(accounts), {account.id: account.name for account in accounts})


def reader(name: str) -> str:
    """A reader of the policy in words: a group, a role and those above it, or the name of an account."""
    if name == EVERYONE:
        return "everybody"
    if name.startswith(GROUP):
        return f"group {name.removeprefix(GROUP)}"
    if name.startswith(ROLE):
        above = ROLES[ROLES.index(name.removeprefix(ROLE)) :]
        return f"{above[0]}s" if len(above) == 1 else f"{above[0]}s and above"
    return next((account.name for account in app().people.accounts.all() if account.id == name), name)


def audience(names: Sequence[str]) -> str:
    """Readers in words."""
    return ", ".join(map(reader, names))
