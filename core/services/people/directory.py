"""Whom a name means: an account by its id, its address or its full name, upper and lower case aside."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from core.access import folded, plain_address
from core.errors import BadInput
from core.services.people.accounts import Account


def accounts_matching(accounts: Iterable[Account], text: str) -> tuple[Account, ...]:
    """The active accounts that a text means; several where people share a name.

    >>> ann, bob = (Account(n, f"{n} Doe", f"{n}@example.org", "author", True, False) for n in ("ann", "bob"))
    >>> words = ("ANN", "bob@Example.org", "Ann doe", "Cyd")
    >>> [account.id for word in words for account in accounts_matching((ann, bob), word)]
    ['ann', 'bob', 'ann']
    """
    name, address = folded(" ".join(text.split())), plain_address(text)
    active = [account for account in accounts if account.active]
    exact = [account for account in active if account.id == name or plain_address(account.email) == address]
    return tuple(exact or [account for account in active if name and folded(account.name) == name])


def resolve_account(accounts: Iterable[Account], text: str, hint: str = "") -> Account:
    """The one account that a text means; refused where it means nobody or several."""
    people = accounts_matching(accounts, text)
    if not people:
        raise BadInput(f"There is no account named {text!r}. {hint}".strip())
    if len(people) > 1:
        ids = ", ".join(account.id for account in people)
        raise BadInput(f"Several people are called {text!r}. Name one by id: {ids}.")
    return people[0]


def owners(accounts: Iterable[Account], text: str) -> tuple[tuple[Account, ...], tuple[str, ...]]:
    """The accounts that the `owner:` of a document names, and the names that nobody has; commas separate several."""
    everybody, names = tuple(accounts), [name for name in (part.strip() for part in re.split(r"[,;]", text)) if name]
    people = {name: accounts_matching(everybody, name) for name in names}
    known = dict.fromkeys(account for accounts_called in people.values() for account in accounts_called)
    return tuple(known), tuple(name for name, accounts_called in people.items() if not accounts_called)


def callnames(accounts: Iterable[Account]) -> dict[str, str]:
    """Names after an @, folded, to the active account: id, full name, and a first name that only one person has.

    >>> ann, bob = (Account(n, f"{n} Doe", f"{n}@example.org", "author", True, False) for n in ("ann", "bob"))
    >>> callnames((ann, bob))
    {'ann': 'ann', 'bob': 'bob', 'ann doe': 'ann', 'bob doe': 'bob'}
    """
    active = [account for account in accounts if account.active]
    full = [(folded(" ".join(account.name.split())), account.id) for account in active]
    first = [(name.partition(" ")[0], account) for name, account in full]
    names = {account.id: account.id for account in active}
    for spelled in (full, first):
        times = Counter(name for name, _ in spelled)
        names |= {name: account for name, account in spelled if name and times[name] == 1 and name not in names}
    return names
