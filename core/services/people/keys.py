"""A secret key for each account: what it signs, nobody else can make up."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.storage.state.database import Database


class AccountKeys:
    """Signs links in mails and browsers that signed in before. Every use signs texts of a form of its own."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def sign(self, account: str, text: str) -> str:
        """The signature of a text; an account without a key gets one."""
        if not self.database.mail_choices.key(account):
            self.database.mail_choices.add_key(account, secrets.token_hex(32))
        return _signature(self.database.mail_choices.key(account), text)

    def genuine(self, account: str, text: str, signature: str) -> bool:
        """Whether the account's key made a signature."""
        key = self.database.mail_choices.key(account) if account.isprintable() else ""
        return bool(key) and hmac.compare_digest(_signature(key, text).encode(), signature.encode("utf-8", "replace"))


def _signature(key: str, text: str) -> str:
    return hmac.new(key.encode(), text.encode("utf-8", "replace"), hashlib.sha256).hexdigest()
