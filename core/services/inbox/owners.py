"""Who owns a document: the accounts that its `owner:` names; where it names none, the admins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from core.access import EVERYBODY, PERSON, Actor, folded, use_case
from core.services.people.accounts import Accounts
from core.services.people.directory import owners
from core.types import Document


class Owners:
    """Finds the people behind documents."""

    def __init__(self, accounts: Accounts) -> None:
        self.accounts = accounts

    def of(self, documents: Iterable[Document]) -> set[str]:
        """The accounts that own any of these documents; the admins where nobody does."""
        return self.named(*(document.meta.owner for document in documents))

    def named(self, *texts: str) -> set[str]:
        """The accounts that any `owner:` names; the admins where none does."""
        accounts = self.accounts.all()
        people = {account.id for text in texts for account in owners(accounts, text)[0]}
        return people or {account.id for account in accounts if account.active and account.role == "admin"}

    @use_case(EVERYBODY)
    def unknown(self, document: Document) -> tuple[str, ...]:
        """Names in `owner:` that nobody in Concord has."""
        return owners(self.accounts.all(), document.meta.owner)[1]

    @use_case(EVERYBODY)
    def offered(self, actor: Actor, written: Iterable[str], *more: str) -> list[str]:
        """Whom a field for an owner offers: oneself, the other people by name, then what documents say besides.

        People who share a name are offered by their id.
        """
        people = [account for account in self.accounts.all() if account.active and account.kind == PERSON]
        times = Counter(folded(account.name) for account in people)
        spelled = {account.id: account.name if times[folded(account.name)] == 1 else account.id for account in people}
        mine = spelled.pop(actor.id, actor.name)
        names = [mine, *sorted(spelled.values(), key=str.casefold)]
        return list(dict.fromkeys([*names, *sorted({name for name in (*written, *more) if name}, key=str.casefold)]))

    @use_case(EVERYBODY)
    def remark(self, owner: str) -> str:
        """What to know about an owner before it is written: that nobody answers to a name; "" where all is well."""
        if not (missing := owners(self.accounts.all(), owner)[1]):
            return ""
        return f"Nobody here is called {', '.join(missing)}. Reminders and questions about it go to the admins."
