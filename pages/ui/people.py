"""People in what others write: names to complete after an @, and the chips that stand for them."""

from __future__ import annotations

from collections.abc import Sequence

from core.access import allowed, folded
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
