"""Accounts with roles, local sign-in, and the demo's personas."""

from __future__ import annotations

import re
import secrets
import time
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlencode

from core.access import (
    KINDS,
    OWN_DATA,
    PERSON,
    READS,
    ROLES,
    SIGN_IN,
    SYSTEM,
    UPKEEP,
    Actor,
    folded,
    plain_address,
    require,
    use_case,
)
from core.cures import ACCOUNTS
from core.errors import BadInput, NotFound, Refused, one_of
from core.ports import Clock
from core.services.inbox.messages import Messages, Subject
from core.services.people.audit import Audit
from core.services.people.tries import MAX_TRIES, WINDOW, WORDS, Source, Tries, Try
from core.storage.state.records import AccountRow, of_row

if TYPE_CHECKING:
    from core.adapters.system.passwords import Argon2
    from core.storage.state.database import Database, State
    from core.storage.state.rows.people_rows import AccountRows

DEMO: tuple[Actor, ...] = (
    Actor("reader", "Robin Falk", "robin@meridale.example", "reader"),
    Actor("author", "Avery Lindqvist", "avery@meridale.example", "author"),
    Actor("author2", "Jonas Mbeki", "jonas@meridale.example", "author"),
    Actor("reviewer", "Petra Voss", "petra@meridale.example", "reviewer"),
    Actor("reviewer2", "Theo Nakamura", "theo@meridale.example", "reviewer"),
    Actor("admin", "Ada Brandt", "ada@meridale.example", "admin"),
)
COMMAND_LINE = "command line"  # the door of the terminal
_LOCAL = "@localhost"  # ends the id of people of this machine; no account may have an @ in its id
LOOPBACK = ("127.0.0.1", "localhost", "::1")
MIN_PASSWORD = 10
LINK_LIFE = 86_400.0  # seconds in which a password can be chosen by a link
MOST_GROUPS = 500  # of one account
NOWHERE = Source()
_LONGEST = 300  # letters of a name that count
_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")
_EMAIL = re.compile(r"[^\s<>@]{1,64}@[^\s<>@]{1,190}")


@dataclass(frozen=True, slots=True)
class Account:
    """A person who can sign in, or a service or an agent that comes with an access token."""

    id: str
    name: str
    email: str
    role: str
    active: bool
    password: bool
    issuer: str = ""  # the provider that the account is bound to
    kind: str = PERSON
    groups: tuple[str, ...] = ()  # that admins put it in
    provider_groups: tuple[str, ...] = ()  # that the provider named at the last sign-in
    renew: bool = False  # an admin typed the password: it is good for one sign-in

    @property
    def actor(self) -> Actor:
        groups = tuple(dict.fromkeys((*self.groups, *self.provider_groups)))
        return Actor(self.id, self.name, self.email, self.role, kind=self.kind, groups=groups)


class NewAccount(NamedTuple):
    """Somebody to let in."""

    name: str  # the id
    full_name: str
    email: str
    role: str
    kind: str = PERSON


@dataclass(frozen=True, slots=True)
class PasswordLink:
    """A page on which somebody chooses a password once, without the one of now."""

    account: str
    page: str


@dataclass(frozen=True, slots=True)
class Unlocked:
    """A way in at the terminal: whoever opens the page in a browser, and knows the password, comes in."""

    account: str
    tries: int  # that were forgotten
    page: str


class Accounts:
    """Accounts and sign-in."""

    def __init__(
        self,
        database: Database,
        passwords: Argon2,
        audit: Audit,
        clock: Clock,
        tries: Tries,
        messages: Messages,
    ) -> None:
        self.database = database
        self.passwords = passwords
        self.audit = audit
        self.clock = clock
        self.tries, self.messages = tries, messages
        self._first = secrets.token_urlsafe(32)  # opens the page of the first admin, until this process ends

    @use_case(UPKEEP)
    def seed(self) -> None:
        """The demo's personas, in an empty workspace. They have no password, so nobody can sign in as them."""
        if self.database.accounts.all():
            return
        with self.database.transaction() as state:
            if not state.accounts.all():
                for actor in DEMO:
                    self.insert(state, actor, "")

    @use_case("manage accounts", READS)
    def listed(self, actor: Actor) -> tuple[Account, ...]:
        """Every account, for those who manage them."""
        return self.all()

    @use_case(SIGN_IN)
    def all(self) -> tuple[Account, ...]:
        """In the order of creation; for services and the sign-in."""
        return tuple(map(_account, self.database.accounts.all()))

    def get(self, name: str) -> Account:
        row = self.database.accounts.get(name)
        if row is None:
            raise NotFound(f"There is no account {name!r}.", ACCOUNTS)
        return _account(row)

    @use_case(SIGN_IN)
    def actor(self, name: str) -> Actor:
        """The account as an actor, if it is active."""
        account = self.get(name)
        if not account.active:
            raise Refused(f"The account {name!r} is switched off. Ask an admin.")
        return account.actor

    @use_case(SIGN_IN)
    def returning(self, name: str, door: str) -> Actor:
        """Somebody who came before through a door, with the rights of now."""
        if door == COMMAND_LINE and name.endswith(_LOCAL):
            return local_admin(name.removesuffix(_LOCAL))
        return replace(self.actor(name), door=door)

    def ids(self) -> dict[str, str]:
        """Email to account id."""
        return self.database.accounts.emails()

    def address_of(self, who: str) -> str:
        """An account's address; those who came by the command line have theirs as id."""
        emails = {account: email for email, account in self.ids().items()}
        return emails.get(who) or (who if "@" in who else f"{who}@localhost")

    # ------------------------------------------------------------ changing

    @use_case("manage accounts")
    def add(self, actor: Actor, wanted: NewAccount, password: str = "") -> Account:
        full = " ".join(wanted.full_name.split()) or wanted.name
        role = _role_of(checked_kind(wanted.kind), wanted.role)
        new = Actor(_checked_id(wanted.name), full, checked_email(wanted.email), role, kind=wanted.kind)
        if password:
            _refuse_password(new.kind)
        hashed = self._hash(password) if password else ""
        with self.database.transaction() as state:
            self._refuse_taken(state, new)
            self.insert(state, new, hashed)
            self.audit.record(state, actor, "add account", f"{new.name} ({new.id})", detail=_described(new))
        return self.get(new.id)

    @use_case("manage accounts")
    def set_role(self, actor: Actor, name: str, role: str) -> Account:
        """The last admin stays one."""
        before = self.get(name)
        with self.database.transaction() as state:
            state.accounts.set(name, role=_role_of(before.kind, role))
            self._keep_an_admin(state)
            self.audit.record(state, actor, "change role", f"{before.name} ({name})", detail=f"{before.role} to {role}")
        return self.get(name)

    @use_case("manage accounts")
    def set_groups(self, actor: Actor, name: str, groups: Sequence[str]) -> Account:
        """Set the groups of an account, which folders name as readers; those of the provider stay as they are."""
        before, wanted = self.get(name), checked_groups(groups)
        with self.database.transaction() as state:
            state.accounts.set(name, member_of="\n".join(wanted))
            detail = f"{', '.join(before.groups) or 'none'} to {', '.join(wanted) or 'none'}"
            self.audit.record(state, actor, "change groups", f"{before.name} ({name})", detail=detail)
        return self.get(name)

    @use_case("manage accounts")
    def set_active(self, actor: Actor, name: str, active: bool) -> Account:
        """Switching off ends sessions and access tokens; switching on brings none back."""
        before = self.get(name)
        with self.database.transaction() as state:
            state.accounts.set(name, active=int(active))
            self._keep_an_admin(state)
            if not active:
                state.sessions.end_account(name, 0)
                state.tokens.revoke_account(name, self.clock.stamp())
            self.audit.record(state, actor, f"switch account {'on' if active else 'off'}", f"{before.name} ({name})")
        return self.get(name)

    @use_case("manage accounts", own=True)
    def set_password(self, actor: Actor, name: str, password: str, keep: int = 0) -> None:
        """Set one's own password. One that an admin sets for another account is replaced at its first sign-in.

        It ends the account's sessions, except for one that is kept.
        """
        require(actor, "manage their own account" if actor.id == name else "manage accounts")
        account, hashed = self.get(name), self._hash(password)
        _refuse_password(account.kind)
        with self.database.transaction() as state:
            state.accounts.set(name, hash=hashed, renew=int(actor.id != name and actor.door != COMMAND_LINE))
            state.sessions.end_account(name, keep)
            self.audit.record(state, actor, "set password", f"{account.name} ({name})")

    @use_case("manage accounts")
    def password_link(self, actor: Actor, name: str) -> PasswordLink:
        """A page to choose a password on, for a day and until it is used: any new password makes it worthless."""
        account = self.get(name)
        _refuse_password(account.kind)
        with self.database.transaction() as state:
            self.audit.record(state, actor, "make password link", f"{account.name} ({name})")
        return PasswordLink(name, self.link(name))

    def link(self, name: str) -> str:
        """The page on which an account chooses a password."""
        until = int(self.tries.now() + LINK_LIFE)
        proof = self.tries.keys.sign(name, self._link_text(name, until))
        return f"/sign-in/password?{urlencode({'account': name, 'until': until, 'proof': proof})}"

    @use_case(SIGN_IN)
    def renewing(self, actor: Actor) -> str:
        """The page on which somebody who just signed in chooses a password of their own; "" where they have one."""
        row = self.database.accounts.get(actor.id)
        return self.link(actor.id) if row and row.renew else ""

    # ------------------------------------------------------------ what one sees

    @use_case(SIGN_IN)
    def sees_analysis(self, actor: Actor) -> bool:
        """Whether the menu shows somebody what analysts use."""
        row = self.database.accounts.get(actor.id)
        return row is None or row.analysis

    @use_case("manage their own account", OWN_DATA)
    def see_analysis(self, actor: Actor, yes: bool) -> None:
        """Choose it, for every browser."""
        self.get(actor.id)
        with self.database.transaction() as state:
            state.accounts.set(actor.id, analysis=int(yes))

    def _link_text(self, name: str, until: int) -> str:
        row = self.database.accounts.get(name)
        return f"password {until} {row.hash if row and row.active else secrets.token_hex(8)}"

    @use_case(SIGN_IN)
    def linked(self, name: str, until: str, proof: str) -> Account:
        """The account that a link is for."""
        fresh = until.isascii() and until.isdigit() and len(until) < 12 and int(until) > self.tries.now()
        if not (fresh and self.tries.keys.genuine(name, self._link_text(name, int(until)), proof)):
            raise Refused("This link was used already, or it is older than a day. Ask an admin for a new one.")
        return self.get(name)

    @use_case(SIGN_IN)
    def choose_password(self, name: str, until: str, proof: str, password: str) -> Actor:
        """The password of whoever has a link, which is used up by it."""
        account = self.linked(name, until, proof)
        self.set_password(account.actor, name, password)
        return account.actor

    # ------------------------------------------------------------ the first admin

    @use_case(SIGN_IN)
    def first_page(self) -> str:
        """The page that makes the first admin; "" where one can sign in already."""
        known = any(one.role == "admin" and one.active and one.password for one in self.all())
        return "" if known else f"/sign-in/first?{urlencode({'proof': self._first})}"

    @use_case(SIGN_IN)
    def check_first(self, proof: str) -> None:
        """Refuse whoever has not the link that the server printed, or comes too late."""
        if not self.first_page() or not secrets.compare_digest(self._first.encode(), proof.encode()):
            raise Refused("The first admin is made with the link that the server printed when it started, once.")

    @use_case(SIGN_IN)
    def make_first(self, proof: str, full_name: str, email: str, password: str) -> Actor:
        """The first admin, by the link that the server printed."""
        self.check_first(proof)
        full = " ".join(full_name.split())
        plain = unicodedata.normalize("NFKD", folded(full)).encode("ascii", "ignore").decode()
        name = re.sub(r"[^a-z0-9]+", ".", plain).strip(".")[:40]
        new = Actor(_checked_id(name or "admin"), full or "Admin", checked_email(email), "admin")
        hashed = self._hash(password)
        with self.database.transaction() as state:
            self.check_first(proof)
            self._refuse_taken(state, new)
            self.insert(state, new, hashed)
            self.audit.record(state, new, "add account", f"{new.name} ({new.id})", detail="the first admin")
        return new

    @use_case(SIGN_IN)
    def change_password(self, actor: Actor, current: str, password: str, keep: int = 0) -> None:
        """One's own, for whoever knows the one of now; wrong ones count as tries to sign in."""
        self._proven(actor.id, current, Source(session=keep))
        self.set_password(actor, actor.id, password, keep)

    @use_case("manage accounts")
    def unbind(self, actor: Actor, name: str) -> Account:
        """Let the next person whom the provider reports with the account's address have it."""
        account = self.get(name)
        with self.database.transaction() as state:
            state.accounts.set(name, issuer="", subject="")
            state.sessions.end_account(name, 0)
            state.tokens.revoke_account(name, self.clock.stamp())
            self.audit.record(state, actor, "unbind account", f"{account.name} ({name})", detail=account.issuer)
        return self.get(name)

    # ------------------------------------------------------------ signing in

    @use_case("manage accounts", READS)
    def wrong_passwords(self, actor: Actor, seconds: float = WINDOW) -> int:
        """How often somebody tried to sign in and did not, of late."""
        return self.database.accounts.tries(time.time() - seconds)

    @use_case("manage accounts")
    def unlock(self, actor: Actor, name: str) -> Unlocked:
        """Forget the tries of an account, and a way in that nobody else can use up, whoever goes on guessing."""
        account = self.get(name)
        with self.database.transaction() as state:
            dropped = state.accounts.drop_tries(name)
            self.audit.record(state, actor, "unlock account", f"{account.name} ({name})", detail=f"{dropped} tries")
        query = urlencode({"account": name, "mark": self.tries.mark(name)})
        return Unlocked(name, dropped, f"/sign-in?{query}")

    @use_case(SIGN_IN)
    def sign_in(self, name: str, password: str, source: Source = NOWHERE) -> Actor:
        """The account, if the password is right, and tries are left where this one comes from."""
        actor = self._proven(name, password, source)
        self.audit.before(actor, "sign in", actor.name)
        return actor

    def _proven(self, name: str, password: str, source: Source) -> Actor:
        name = folded(name.strip()[:_LONGEST])
        row, counted, attempt = self._count(name, source)
        if not attempt.number:
            raise Refused(f"Too many wrong passwords. Wait {WORDS[attempt.wait]}, then try again.")
        hashed = row.hash if row else ""
        try:
            right = self.passwords.matches(hashed or _NOBODY, password)  # always tried: timing tells nothing
        except Refused:
            self._give_back(counted, name, attempt)
            raise
        actor = self._decide(counted, name, hashed if right else "", attempt)
        if actor is None:
            raise Refused("The name or the password is wrong.")
        return actor

    def _count(self, name: str, source: Source) -> tuple[AccountRow | None, str, Try]:
        """The account that a name means, what its tries are counted under, and this one.

        Reading and counting are one transaction, before any password is compared: parallel guesses get no more tries.
        """
        with self.database.transaction() as state:
            row = named(state, name)
            typed = plain_address(name) if "@" in name else name
            counted = row.id if row else typed
            attempt = self.tries.count(state, counted, row is not None, source)
            if not attempt.number:
                self._refuse(state, counted, name, "too many wrong passwords")
            return row, counted, attempt

    def _give_back(self, counted: str, name: str, attempt: Try) -> None:
        """A password that was not looked at is no try."""
        with self.database.transaction() as state:
            state.accounts.drop_try(attempt.number)
            self._refuse(state, counted, name, "too many sign-ins at the moment")

    def _decide(self, counted: str, name: str, hashed: str, attempt: Try) -> Actor | None:
        """Let the account in whose password was right, if it is on and still has that one."""
        with self.database.transaction() as state:
            row = state.accounts.get(counted)
            if not (row and hashed and row.active and row.hash == hashed):
                self._refuse(state, counted, name, "wrong name or password")
                if row and attempt.nth % MAX_TRIES == 0:
                    self._warn(state, row, attempt)
                return None
            actor = _account(row).actor
            state.accounts.drop_tries(counted, place=attempt.place)
        return actor

    def _warn(self, state: State, row: AccountRow, attempt: Try) -> None:
        """Tell an account that somebody tries its password."""
        where = f", the last from {attempt.place}" if attempt.place else ""
        harmless = "If it was not you, nothing happened: none of them was accepted."
        words = f"{attempt.nth} wrong passwords within an hour{where}. {harmless}"
        subject = Subject("account", row.id, row.name)
        self.messages.tell(state, SYSTEM, [row.id], "wrong passwords", subject, words)

    @use_case(SIGN_IN)
    def refuse(self, name: str, why: str) -> None:
        with self.database.transaction() as state:
            self._refuse(state, name, name, why)

    def _refuse(self, state: State, counted: str, name: str, why: str) -> None:
        who, name = counted[:80], name[:80]
        self.audit.record(state, Actor(who, who, "", "nobody"), "refuse sign-in", name, detail=why)

    def _refuse_taken(self, state: State, new: Actor) -> None:
        if state.accounts.get(new.id):
            raise BadInput(f"There already is an account {new.id!r}. Choose another id.")
        other = state.accounts.by_email(new.email)
        if other:
            raise BadInput(
                f"The account {other.id!r} ({other.name}) already has the address {other.email};"
                " upper and lower case make no difference. Choose another address."
            )

    def insert(self, state: State, actor: Actor, hashed: str) -> None:
        """A row for a new account."""
        who = {"id": actor.id, "name": actor.name, "email": actor.email, "role": actor.role, "kind": actor.kind}
        state.accounts.add(**who, hash=hashed, created=self.clock.stamp())

    def _keep_an_admin(self, state: State) -> None:
        if not state.accounts.has_admin():
            raise Refused("This is the last admin. Make another account an admin first.")

    def _hash(self, password: str) -> str:
        if len(password) < MIN_PASSWORD:
            raise BadInput(f"The password is shorter than {MIN_PASSWORD} characters. Choose a longer one.")
        if len(password) > 1000:
            raise BadInput("The password is longer than 1,000 characters.")
        return self.passwords.hash(password)


def local_admin(name: str) -> Actor:
    """A person at the terminal, who needs no account: whoever can run commands in the workspace owns its files."""
    return Actor(f"{name}{_LOCAL}", name, f"{name}{_LOCAL}", "admin", COMMAND_LINE)


def shown_names(accounts: AccountRows) -> dict[str, str]:
    """Account id to an unambiguous name: where several share one, the id is added."""
    rows = accounts.all()
    times = Counter(row.name for row in rows)
    return {row.id: row.name if times[row.name] == 1 else f"{row.name} ({row.id})" for row in rows}


_NOBODY = "$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHRzb21lc2FsdA$2kR4M8kq1Yq2m6W2v0l1nqJ0Z1mQ0xq2m6W2v0l1nqI"


def _account(row: AccountRow) -> Account:
    groups, given = tuple(row.member_of.splitlines()), tuple(row.provider_groups.splitlines())
    return of_row(Account, row, password=bool(row.hash), groups=groups, provider_groups=given)


def checked_groups(names: Iterable[str]) -> tuple[str, ...]:
    """Names of groups, once each.

    >>> checked_groups([" hr", "hr", "legal "])
    ('hr', 'legal')
    """
    groups = tuple(dict.fromkeys(" ".join(name.split()) for name in names if name.strip()))
    if len(groups) > MOST_GROUPS or any(len(group) > 200 for group in groups):
        raise BadInput(f"An account is in at most {MOST_GROUPS} groups, each with a name of at most 200 characters.")
    return groups


def _checked_id(name: str) -> str:
    if not _ID.fullmatch(name):
        raise BadInput(f"The account id {name!r} may hold only a-z, 0-9 and . _ - (40 at most).")
    if name == SYSTEM.id:
        raise BadInput(f"The account id {name!r} is that of Concord's own work. Choose another one.")
    return name


def checked_email(email: str) -> str:
    """The address, if it looks like one."""
    if not _EMAIL.fullmatch(email) or not email.isprintable():
        raise BadInput(f"{email!r} is not an email address.")
    return email


def checked_role(role: str) -> str:
    """The role, if there is one of this name."""
    one_of(role, ROLES, "role")
    return role


def checked_kind(kind: str) -> str:
    """The kind of account, if there is one of this name."""
    one_of(kind, KINDS, "kind of account", "Kinds")
    return kind


def named(state: State, name: str) -> AccountRow | None:
    """The account that somebody means by an address, an id or a full name."""
    return state.accounts.by_email(name) if "@" in name else state.accounts.get(name) or _by_full_name(state, name)


def _by_full_name(state: State, name: str) -> AccountRow | None:
    """The one account whose full name it is; nobody where two share it."""
    rows = [row for row in state.accounts.all() if folded(" ".join(row.name.split())) == " ".join(name.split())]
    return rows[0] if len(rows) == 1 else None


def _role_of(kind: str, role: str) -> str:
    """The role, if an account of this kind can have it: what admins do, no access token may."""
    if checked_role(role) == "admin" and kind != PERSON:
        raise BadInput("Service and agent accounts are readers, authors or reviewers: only people are admins.")
    return role


def _refuse_password(kind: str) -> None:
    if kind != PERSON:
        raise BadInput("Service and agent accounts have no password. Make an access token for them.")


def _described(new: Actor) -> str:
    return new.role if new.kind == PERSON else f"{new.role}, {new.kind}"


def may_demo(address: str) -> bool:
    """Whether the demo may run on an address: only where nobody else can reach it.

    >>> may_demo("127.0.0.1"), may_demo("0.0.0.0"), may_demo("")
    (True, False, False)
    """
    return address in LOOPBACK
