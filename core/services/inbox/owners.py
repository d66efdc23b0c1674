"""Who owns a document: the accounts that its `owner:` names; where it names none, the admins."""

from __future__ import annotations

from collections.abc import Iterable

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

    def unknown(self, document: Document) -> tuple[str, ...]:
        """Names in `owner:` that nobody in Concord has."""
        return owners(self.accounts.all(), document.meta.owner)[1]
