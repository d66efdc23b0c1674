"""Tries to sign in: how many passwords are looked at, by account and by where they come from.

A browser in which the account signed in before has a signed mark (OWASP's device cookies) and a count of its own, so
that guesses from elsewhere do not use up its tries.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.storage.state.database import Database, State


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


MAX_TRIES, WINDOW = 5, 300.0  # for an account from one place, within so many seconds
HOUR = 3600.0
MAX_HOURLY = 20  # from one address in an hour; for an account from one place, too
MAX_ACCOUNT = 60  # for an account in an hour, from all places that are not known: it takes more than two to reach it
MARK_LIFE = 180 * 86_400.0  # seconds that a browser stays known
MANY = 20  # marks of one browser that are looked at
WORDS = {WINDOW: "five minutes", HOUR: "an hour"}


@dataclass(frozen=True, slots=True)
class Source:
    """Where a try comes from: an address as the server sees it, marks that a browser holds, or an open session."""

    address: str = ""
    marks: tuple[str, ...] = ()
    session: int = 0


@dataclass(frozen=True, slots=True)
class Try:
    """One that was counted, or had to wait."""

    number: int  # 0 if it has to wait
    wait: float  # seconds, at most
    place: str
    nth: int  # of the account within an hour


class Tries:
    """Counts before any password is compared, in the caller's transaction: parallel guesses get no more tries."""

    def __init__(self, keys: AccountKeys, now: Callable[[], float] = time.time) -> None:
        self.keys, self.now = keys, now

    def count(self, state: State, account: str, exists: bool, source: Source) -> Try:
        """Take one of the tries that are left, of an account or of a name that nobody has."""
        now = self.now()
        state.accounts.keep_tries(now - HOUR, now)
        known = self._known(account, source) if exists else ""
        place = known or seen_from(source.address)
        wait = next(self._full(state, account, place, bool(known), now), 0.0)
        number = 0 if wait else state.accounts.add_try(account, now, place, bool(known))
        return Try(number, wait, place, state.accounts.tries(now - HOUR, account=account))

    def _full(self, state: State, account: str, place: str, known: bool, now: float) -> Iterator[float]:
        """The time of every limit that is reached."""
        tries = state.accounts.tries
        for most, seconds in ((MAX_TRIES, WINDOW), (MAX_HOURLY, HOUR)):
            if tries(now - seconds, account=account, place=place) >= most:
                yield seconds
        if known:
            return
        if is_public(place) and tries(now - HOUR, place=place) >= MAX_HOURLY:
            yield HOUR
        if tries(now - HOUR, account=account, known=0) >= MAX_ACCOUNT:
            yield HOUR

    # ------------------------------------------------------------ browsers

    def mark(self, account: str) -> str:
        """What makes a browser known to an account. It lets nobody in: it only has tries of its own."""
        body = f"{int(self.now() + MARK_LIFE)}-{secrets.token_hex(8)}"
        return f"{body}.{self.keys.sign(account, f'browser {body}')}"

    def marked(self, account: str, mark: str) -> bool:
        """Whether a mark is one of this account, and not too old."""
        body, _, signature = mark.partition(".")
        until = body.partition("-")[0]
        fresh = until.isascii() and until.isdigit() and len(until) < 12 and int(until) > self.now()
        return fresh and self.keys.genuine(account, f"browser {body}", signature)

    def _known(self, account: str, source: Source) -> str:
        if source.session:
            return f"session {source.session}"
        mark = next((mark for mark in source.marks[:MANY] if self.marked(account, mark)), "")
        return f"browser {mark.partition('.')[0]}" if mark else ""


def seen_from(address: str) -> str:
    """An address as it is counted: of IPv6 the network, since whoever has one address there has them all.

    >>> seen_from("203.0.113.7"), seen_from("::ffff:203.0.113.7"), seen_from("2001:db8:1:2:3::4"), seen_from("somebody")
    ('203.0.113.7', '203.0.113.7', '2001:db8:1:2::', '')
    """
    try:
        number = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return ""
    if isinstance(number, ipaddress.IPv6Address):
        number = number.ipv4_mapped or ipaddress.IPv6Address(int(number) >> 64 << 64)
    return str(number)


def is_public(place: str) -> bool:
    """Whether a place tells one from another: a private address may be that of a proxy through which everybody comes.

    >>> is_public("8.8.8.8"), is_public("10.0.0.4"), is_public("127.0.0.1"), is_public("")
    (True, False, False, False)
    """
    return bool(place) and ipaddress.ip_address(place).is_global
