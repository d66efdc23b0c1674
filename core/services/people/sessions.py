"""Sessions: one row per sign-in, the same for passwords and for a provider. Ending one counts at once, everywhere."""

from __future__ import annotations

import hashlib
import re
import secrets
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Generic, TypeVar

from core.access import READS, SIGN_IN, Actor, require, use_case
from core.cures import SESSIONS
from core.errors import NotFound, Unavailable
from core.lru import LruCache
from core.services.people.audit import Audit
from core.services.people.readership import groups_of
from core.storage.state.records import SessionOfAccount, of_row

if TYPE_CHECKING:
    from core.storage.state.database import Database, State

GRACE = 60.0  # seconds after the database last confirmed a token or a session in which it is believed without it
PATIENCE = 1.0  # seconds that somebody who is known waits for the database
TOUCH = 60.0  # seconds: `seen` is written at most so often
_BROWSERS = (
    ("Edge", r"Edg(?:A|iOS)?/"),
    ("Opera", r"OPR/"),
    ("Firefox", r"Firefox/|FxiOS/"),
    ("Samsung Internet", "SamsungBrowser/"),
    ("Chromium", r"Chrome/|CriOS/|Chromium/"),
    ("Safari", r"Safari/"),
    ("curl", r"^curl/"),
    ("Python", r"^python|httpx"),
)
_SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("macOS", "Mac OS X|Macintosh"),
    ("ChromeOS", "CrOS"),
    ("Linux", "Linux|X11"),
)


Row = TypeVar("Row")


class Believed(Generic[Row]):
    """Rows of tokens or sessions as the database gave them last.

    Every use asks it again. While it is silent, people read and search on, and nothing is written. If this node alone
    is cut off, a revocation elsewhere counts here a minute later at most.
    """

    def __init__(self, database: Database, now: Callable[[], float] = time.monotonic) -> None:
        self.database, self.now = database, now
        self._rows = LruCache[str, tuple[Row | None, float]](2000)

    def asked(self, key: str, ask: Callable[[], Row | None]) -> Row | None:
        """What the database says; where it is silent, what it said about this key a moment ago."""
        known, when = self._rows.get(key) or (None, 0.0)
        believed = known if known is not None and self.now() - when <= GRACE else None
        try:
            with self.database.within(PATIENCE) if believed is not None else nullcontext():
                row = ask()
        except Unavailable:
            if believed is None:
                raise
            return believed
        self._rows[key] = (row, self.now())
        return row

    def forget(self) -> None:
        """Believe nobody before the database has confirmed them again: something was revoked here."""
        self._rows.clear()


@dataclass(frozen=True, slots=True)
class Session:
    """Somebody signed in on a device."""

    id: int
    account: str
    name: str
    device: str
    issuer: str  # of the sign-in provider; "" for a password
    created: str
    seen: str
    expires: str
    provider_asked: str = ""  # when the sign-in provider was last asked


class Sessions:
    """Starts, finds and ends sessions. A token is a secret of the browser; only its digest is stored."""

    def __init__(
        self, database: Database, audit: Audit, idle: float, life: float, now: Callable[[], float] = time.time
    ) -> None:
        self.database, self.audit, self.now = database, audit, now
        self.idle, self.life = idle * 3600, life * 86400
        self._known = Believed[SessionOfAccount](database)

    @use_case(SIGN_IN)
    def start(
        self,
        actor: Actor,
        cookie: str,
        agent: str = "",
        issuer: str = "",
        subject: str = "",
        *,
        seal: Callable[[str], str] = lambda token: "",
    ) -> str:
        """A new token for an account, to be kept in its cookie; `seal` locks the provider's tokens with it."""
        token = secrets.token_urlsafe(32)
        with self.database.transaction() as state:
            state.sessions.forget(**self._limits())
            state.sessions.add(
                digest=_digest(cookie, token),
                account=actor.id,
                issuer=issuer,
                subject=subject,
                device=device(agent),
                created=self._stamp(),
                seen=self._stamp(),
                expires=self._stamp(self.life),
                provider_tokens=seal(token),
                provider_asked=self._stamp(),
            )
        return token

    @use_case(SIGN_IN)
    def to_renew(self, session: Session, seconds: float) -> tuple[str, str]:
        """The sealed tokens and the subject of a session whose provider was not asked for so long, else "".

        One node gets them for all.
        """
        if not session.issuer or not seconds or session.provider_asked > self._stamp(-seconds):
            return "", ""
        with self.database.transaction() as state:
            row = state.sessions.by_id(session.id, **self._limits())
            if row is None or row.provider_asked != session.provider_asked:
                return "", ""
            state.sessions.set(row.id, provider_asked=self._stamp())
            return row.provider_tokens, row.subject

    @use_case(SIGN_IN)
    def renew(self, session: Session, provider_tokens: str) -> None:
        """Keep what the provider gave to ask it again."""
        self.database.sessions.set(session.id, provider_tokens=provider_tokens)

    @use_case(SIGN_IN)
    def disown(self, session: Session, why: str) -> None:
        """End a session whose provider does not vouch for it any more."""
        with self.database.transaction() as state:
            state.sessions.end(session.id)
            account = Actor(session.account, session.name, "", "")
            self.audit.record(state, account, "end session", f"{session.name} ({session.account})", detail=why)

    @use_case(SIGN_IN)
    def find(self, cookie: str, token: str) -> tuple[Session, Actor] | None:
        """The session of a cookie with its account as it is now; None once it ended or the account is switched off."""
        if not token:
            return None
        digest = _digest(cookie, token)
        row = self._known.asked(digest, lambda: self.database.sessions.by_digest(digest, **self._limits()))
        return self._used(row) if row else None

    @use_case(SIGN_IN)
    def get(self, number: int) -> tuple[Session, Actor] | None:
        """The same by number, for tokens of a page."""
        row = self._known.asked(str(number), lambda: self.database.sessions.by_id(number, **self._limits()))
        return self._used(row) if row else None

    @use_case("manage accounts", READS, own=True)
    def all(self, actor: Actor, account: str = "") -> tuple[Session, ...]:
        """Those of an account, or everybody's; people see their own, admins all."""
        require(actor, "manage their own account" if account and account == actor.id else "manage accounts")
        return tuple(_session(row) for row in self.database.sessions.all(account, **self._limits()))

    # ------------------------------------------------------------ ending

    @use_case(SIGN_IN)
    def sign_out(self, cookie: str, token: str) -> None:
        """The way out that people take themselves."""
        if found := self.find(cookie, token):
            session, actor = found
            with self.database.transaction() as state:
                state.sessions.end(session.id)
                self.audit.record(state, actor, "sign out", actor.name, detail=session.device)
            self._known.forget()

    @use_case("manage accounts", own=True)
    def end(self, actor: Actor, number: int) -> Session:
        """End one of one's own, or anybody's as an admin."""
        row = self.database.sessions.by_id(number, **self._limits())
        own = row is not None and row.account == actor.id
        require(actor, "manage their own account" if own else "manage accounts")
        if row is None:
            raise NotFound(f"There is no session {number}.", SESSIONS)
        with self.database.transaction() as state:
            state.sessions.end(number)
            self._record(state, actor, row, row.device)
        self._known.forget()
        return _session(row)

    @use_case("manage accounts", own=True)
    def end_all(self, actor: Actor, account: str = "", keep: int = 0) -> int:
        """End all of an account, or everybody's, but for one that is kept; how many they were."""
        ended = [session for session in self.all(actor, account) if session.id != keep]
        with self.database.transaction() as state:
            for session in ended:
                state.sessions.end(session.id)
                self._record(state, actor, session, session.device)
        self._known.forget()
        return len(ended)

    def _record(self, state: State, actor: Actor, row: Session | SessionOfAccount, detail: str) -> None:
        self.audit.record(state, actor, "end session", f"{row.name} ({row.account})", detail=detail)

    # ------------------------------------------------------------ time

    def _used(self, row: SessionOfAccount) -> tuple[Session, Actor]:
        """Note that a session was used, once a minute."""
        if row.seen <= self._stamp(-TOUCH):
            self.database.sessions.touch(row.id, self._stamp())
            row = replace(row, seen=self._stamp())
        return _session(row), Actor(row.account, row.name, row.email, row.role, kind=row.kind, groups=groups_of(row))

    def _limits(self) -> dict[str, str]:
        return {"now": self._stamp(), "idle": self._stamp(-self.idle)}

    def _stamp(self, later: float = 0.0) -> str:
        """Always UTC, so that later is also greater."""
        return datetime.fromtimestamp(self.now() + later, UTC).isoformat(timespec="seconds")


def _digest(cookie: str, token: str) -> str:
    """Of token and cookie name: a token that was given to a `__Host-` cookie is worth nothing in a plain one."""
    return hashlib.sha256(f"{cookie}={token}".encode()).hexdigest()


def _session(row: SessionOfAccount) -> Session:
    return of_row(Session, row)


def device(agent: str) -> str:
    """A browser's User-Agent in plain words.

    >>> device("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36")
    'Chromium on Linux'
    >>> device("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1 Version/18.0 Safari/604.1")
    'Safari on iPhone'
    >>> device("")
    'Unknown device'
    """
    browser = next((name for name, mark in _BROWSERS if re.search(mark, agent, re.IGNORECASE)), "")
    system = next((name for name, mark in _SYSTEMS if re.search(mark, agent)), "")
    return " on ".join(filter(None, (browser, system))) or "Unknown device"
