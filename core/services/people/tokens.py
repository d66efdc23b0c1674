"""Access tokens: how programs and agents come in. Shown once, stored as a digest, revoked at once and everywhere."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from core.access import AGENT, PERSON, READS, SCOPES, SIGN_IN, Actor, require, scopes_for, use_case
from core.curation.document.names import safe_folder
from core.cures import TOKENS
from core.errors import BadInput, NotFound, Refused, StorageFailed, Unauthenticated, one_of
from core.services.people.accounts import Account, Accounts
from core.services.people.audit import Audit
from core.services.people.readership import groups_of
from core.services.people.sessions import Believed
from core.storage.state.records import TokenOfAccount, of_row

if TYPE_CHECKING:
    from core.storage.state.database import Database, State

MARK = "concord_"  # what every token begins with, so that people and scanners recognise one
DAYS, MAX_DAYS = (30, 90, 365), 365
_TOUCH = 60.0  # seconds: `used` is written at most so often
_BYTES, _PREFIX = 39, 8  # 312 random bits in 52 letters; the first 8 letters are kept to find and recognise the token
_LONGEST_NAME = 60
MOST_TOKENS = 20  # of one account, that work


@dataclass(frozen=True, slots=True)
class AccessToken:
    """What is known of a token; not the token itself."""

    id: int
    account: str
    name: str
    scope: str
    prefix: str
    created: str
    expires: str
    used: str  # to the minute; "" before the first time
    revoked: str
    made_by: str
    state: str  # active, expired or revoked
    folders: tuple[str, ...] = ()  # that it is narrowed to


class AccessTokens:
    """Makes, lists, finds and revokes access tokens. Every use asks the database: a revoked token ends everywhere."""

    def __init__(
        self, database: Database, accounts: Accounts, audit: Audit, now: Callable[[], float] = time.time
    ) -> None:
        self.database = database
        self.accounts = accounts
        self.audit = audit
        self.now = now
        self._known = Believed[TokenOfAccount](database)

    @use_case("manage their own account", own=True)
    def make(
        self,
        actor: Actor,
        name: str,
        scope: str = SCOPES[0],
        days: int = 90,
        account: str = "",
        *,
        folders: Sequence[str] = (),
    ) -> tuple[str, AccessToken]:
        """A new token, which is not shown again: one's own, or for an admin that of a service or an agent.

        With `folders` it reads those alone.
        """
        owner = self._owner(actor, account or actor.id)
        name, text = _checked_name(name), MARK + secrets.token_urlsafe(_BYTES)
        values = {"account": owner.id, "name": name, "scope": _checked_scope(owner, scope), "prefix": _prefix(text)}
        values["folders"] = "\n".join(dict.fromkeys(filter(None, map(safe_folder, folders))))
        times = {"created": self._stamp(), "expires": self._stamp(_checked_days(days) * 86400)}
        with self.database.transaction() as state:
            self._refuse_taken(state, owner, name)
            number = state.tokens.add(**values, **times, digest=_digest(text), made_by=actor.id)
            detail = f"{name}, {scope}, until {times['expires'][:10]}"
            self.audit.record(state, actor, "make token", f"{owner.name} ({owner.id})", detail=detail)
        return text, self._get(number)

    @use_case("manage accounts", READS, own=True)
    def listed(self, actor: Actor, account: str = "") -> tuple[AccessToken, ...]:
        """Those of an account, or everybody's, newest first; people see their own, admins all."""
        require(actor, "manage their own account" if account and account == actor.id else "manage accounts")
        return tuple(map(self._token, self.database.tokens.all(account)))

    @use_case("manage accounts", own=True)
    def revoke(self, actor: Actor, number: int) -> AccessToken:
        """End one of one's own, or anybody's as an admin; it is refused from the next request on."""
        row = self.database.tokens.get(number)
        own = row is not None and row.account == actor.id
        require(actor, "manage their own account" if own else "manage accounts")
        if row is None:
            raise NotFound(f"There is no access token {number}.", TOKENS)
        if not row.revoked:
            with self.database.transaction() as state:
                state.tokens.revoke(number, self._stamp())
                what = f"{row.full_name} ({row.account})"
                self.audit.record(state, actor, "revoke token", what, detail=row.name)
            self._known.forget()
        return self._get(number)

    @use_case(SIGN_IN)
    def holder(self, text: str, door: str, request: str = "") -> Actor:
        """Who comes with a token through a door, with the role of now."""
        row = self._known.asked(_digest(text), lambda: self._row(text))
        if row is None:
            raise Unauthenticated("This access token is not known here. Make one on your Account page.")
        if not row.active:
            raise Unauthenticated(f"The account {row.account!r} is switched off. Ask an admin.")
        token = self._token(row)
        if token.state != "active":
            when = (token.revoked or token.expires)[:10]
            what = "was revoked" if token.revoked else "expired"
            raise Unauthenticated(
                f"The access token {token.name!r} {what} on {when}. Make another on your Account page."
            )
        if not token.used or token.used <= self._stamp(-_TOUCH):
            with suppress(StorageFailed):  # on a read-only disk, reading goes on
                self.database.tokens.touch(token.id, self._stamp())
        who = (row.account, row.full_name, row.email, row.role)
        folders = tuple(row.folders.splitlines())
        return Actor(*who, door, token.scope, token.name, request, row.kind, groups_of(row), folders)

    def _row(self, text: str) -> TokenOfAccount | None:
        """Found by its first letters, compared whole in constant time."""
        digest, found = _digest(text), None
        for row in self.database.tokens.by_prefix(_prefix(text)) if text.startswith(MARK) else ():
            if hmac.compare_digest(row.digest, digest):
                found = row
        return found

    def _owner(self, actor: Actor, name: str) -> Account:
        require(actor, "manage their own account" if name == actor.id else "manage accounts")
        if name == actor.id and self.database.accounts.get(name) is None:
            raise BadInput(
                "Say whose access token it is: --as YOU for your own, or --account NAME of a service or agent."
            )
        owner = self.accounts.get(name)
        if owner.id != actor.id and owner.kind == PERSON:
            raise Refused(
                f"{owner.name} makes their own access tokens. Admins make them for service and agent accounts."
            )
        if not owner.active:
            raise Refused(f"The account {name!r} is switched off. Switch it on first.")
        return owner

    def _refuse_taken(self, state: State, owner: Account, name: str) -> None:
        """Two tokens that work have different names: the audit tells them apart by name."""
        active = [token for row in state.tokens.all(owner.id) if (token := self._token(row)).state == "active"]
        if len(active) >= MOST_TOKENS:
            raise Refused(f"{owner.name} has {MOST_TOKENS} access tokens, which is the limit. Revoke one first.")
        if any(token.name == name for token in active):
            raise BadInput(
                f"{owner.name} already has an access token {name!r}. Choose another name, or revoke that one."
            )

    def _get(self, number: int) -> AccessToken:
        row = self.database.tokens.get(number)
        if row is None:
            raise NotFound(f"There is no access token {number}.")
        return self._token(row)

    def _token(self, row: TokenOfAccount) -> AccessToken:
        state = "expired" if row.expires <= self._stamp() else "active"
        state = "revoked" if row.revoked else state
        return of_row(AccessToken, row, state=state, folders=tuple(row.folders.splitlines()))

    def _stamp(self, later: float = 0.0) -> str:
        """Always UTC, so that later is also greater."""
        return datetime.fromtimestamp(self.now() + later, UTC).isoformat(timespec="seconds")


def _digest(text: str) -> str:
    """SHA-256 is enough: nobody guesses 264 bits, however fast."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _prefix(text: str) -> str:
    return text[: len(MARK) + _PREFIX]


def _checked_name(name: str) -> str:
    name = " ".join(name.split())
    if not name or len(name) > _LONGEST_NAME or not name.isprintable():
        raise BadInput(
            f"Give the access token a name of 1 to {_LONGEST_NAME} characters, such as the program that uses it."
        )
    return name


def _checked_days(days: int) -> int:
    if not 1 <= days <= MAX_DAYS:
        raise BadInput(f"An access token lasts 1 to {MAX_DAYS} days, not {days}.")
    return days


def _checked_scope(owner: Account, scope: str) -> str:
    one_of(scope, SCOPES, "scope")
    if scope not in scopes_for(owner.actor):
        who = "Agents may propose and comment; a person approves and merges." if owner.kind == AGENT else ""
        raise BadInput(f"{who} {owner.name} may {' and '.join(scopes_for(owner.actor))}, not {scope}.".strip())
    return scope
