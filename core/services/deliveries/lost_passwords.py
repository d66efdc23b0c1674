"""Lost passwords: a letter with a link, on which whoever reads the mail of an account chooses a new one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core import strict
from core.access import PERSON, SIGN_IN, Actor, folded, use_case
from core.services.deliveries.outbox import Outbox, OutboxItem
from core.services.people.accounts import Accounts, named

if TYPE_CHECKING:
    from core.storage.state.database import Database

KIND = "password"  # of the delivery
PAUSE = 900  # seconds in which an account gets no second letter
TEXT = (
    "Somebody asked for it on the sign-in page. The link works once, for a day. If it was not you, nothing has changed."
)


class LostPasswords:
    """Sends links to the addresses of accounts, and tells nobody which accounts there are."""

    def __init__(self, database: Database, accounts: Accounts, outbox: Outbox) -> None:
        self.database, self.accounts, self.outbox = database, accounts, outbox

    @use_case(SIGN_IN)
    def offered(self) -> bool:
        """Whether letters leave at all."""
        return self.outbox.with_mail

    @use_case(SIGN_IN)
    def mail(self, name: str) -> None:
        """A letter to the account that is meant, if there is one."""
        row = named(self.database, folded(name.strip()[:300]))
        if row is None or not (self.offered() and row.active and row.kind == PERSON) or row.issuer:
            return
        key = f"lost_{strict.digest([row.id, row.hash, int(self.outbox.now() // PAUSE)], 24)}"
        content = {"sentence": "Choose a new password for Concord", "text": TEXT, "address": self.accounts.link(row.id)}
        with self.database.transaction() as state:
            if not state.deliveries.by_key(key):
                self.outbox.put(state, OutboxItem(key, "mail", row.id, KIND, content))
                who = Actor(row.id, row.name, row.email, row.role)
                self.accounts.audit.record(state, who, "mail password link", f"{row.name} ({row.id})")
