"""Accounts, failed sign-ins, sessions, access tokens and the audit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import bindparam, delete, func, or_, select, update

from core.access import plain_address
from core.storage.state.records import (
    AccountRow,
    AuditEntry,
    SessionOfAccount,
    SessionRow,
    TokenOfAccount,
    TokenRow,
    WriterOfChange,
)
from core.storage.state.tables import accounts, attempts, audit, sessions, tokens
from core.storage.state.transactions import NumberedRows, StoredRows

# asked at every interaction, so built once
_ACCOUNT = select(accounts).where(accounts.c.id == bindparam("name"))
_ACCOUNTS = select(accounts).order_by(accounts.c.place)
_EMAILS = select(accounts.c.email, accounts.c.id)
_SESSIONS = (
    select(
        sessions,
        accounts.c.name,
        accounts.c.email,
        accounts.c.role,
        accounts.c.kind,
        accounts.c.member_of,
        accounts.c.provider_groups,
    )
    .join(accounts, accounts.c.id == sessions.c.account)
    .where(accounts.c.active == 1, sessions.c.expires > bindparam("now"), sessions.c.seen > bindparam("idle"))
    .order_by(sessions.c.seen.desc(), sessions.c.id.desc())
)
_BY_DIGEST = _SESSIONS.where(sessions.c.digest == bindparam("digest"))
_BY_ID = _SESSIONS.where(sessions.c.id == bindparam("number"))
_TOKENS = (
    select(
        tokens,
        accounts.c.name.label("full_name"),
        accounts.c.email,
        accounts.c.role,
        accounts.c.kind,
        accounts.c.member_of,
        accounts.c.provider_groups,
        accounts.c.active,
    )
    .join(accounts, accounts.c.id == tokens.c.account)
    .order_by(tokens.c.id.desc())
)
_BY_PREFIX = _TOKENS.where(tokens.c.prefix == bindparam("prefix"))
_TEXT_ACTS = ("propose", "edit", "solve conflicts")
_WRITERS = (
    select(audit.c.change, audit.c.who, func.min(audit.c.id).label("first"))
    .where(audit.c.change.in_(bindparam("numbers", expanding=True)), audit.c.action.in_(_TEXT_ACTS))
    .group_by(audit.c.change, audit.c.who)
    .order_by("first")
)


class AccountRows(StoredRows):
    """The table `accounts`, and `attempts` to get in."""

    def all(self) -> list[AccountRow]:
        """In the order in which they came."""
        return self._run.rows(AccountRow, _ACCOUNTS)

    def get(self, name: str) -> AccountRow | None:
        return self._run.first(AccountRow, _ACCOUNT, name=name)

    def emails(self) -> dict[str, str]:
        """Email to id."""
        return self._run.pairs(_EMAILS)

    def by_email(self, email: str) -> AccountRow | None:
        """Upper and lower case are the same."""
        return self._run.first(AccountRow, select(accounts).where(accounts.c.address == plain_address(email)))

    def by_subject(self, issuer: str, subject: str) -> AccountRow | None:
        """Who somebody of the sign-in provider is here."""
        return self._run.first(
            AccountRow, select(accounts).where(accounts.c.issuer == issuer, accounts.c.subject == subject)
        )

    def has_admin(self) -> bool:
        """Whether an admin can act."""
        person = accounts.c.kind == "person"
        admin = select(accounts.c.id).where(accounts.c.role == "admin", accounts.c.active == 1, person)
        return self._run.value(admin) is not None

    def add(self, email: str, **values: Any) -> None:
        """A new one, in the last place."""
        place = (self._run.value(select(func.max(accounts.c.place))) or 0) + 1
        self._run.insert(accounts, **values, email=email, address=plain_address(email), place=place)

    def set(self, name: str, **values: Any) -> None:
        self._run.change(update(accounts).where(accounts.c.id == name).values(**values))

    def tries(self, since: float, **equal: Any) -> int:
        """How often somebody tried to sign in after a moment, where the named columns have the given values."""
        wanted = [attempts.c[name] == value for name, value in equal.items()]
        counted = select(func.count()).select_from(attempts).where(attempts.c.at > since, *wanted)
        return int(self._run.value(counted))

    def add_try(self, name: str, at: float, place: str, known: bool) -> int:
        """A try to sign in; its number."""
        return self._run.add(attempts, account=name, at=at, place=place, known=int(known))

    def drop_try(self, number: int) -> None:
        """One whose password was not looked at."""
        self._run.change(delete(attempts).where(attempts.c.id == number))

    def drop_tries(self, name: str, **equal: Any) -> int:
        """Those of one account, where the named columns have the given values; how many they were."""
        wanted = [attempts.c[column] == value for column, value in equal.items()]
        return self._run.change(delete(attempts).where(attempts.c.account == name, *wanted))

    def keep_tries(self, since: float, until: float) -> None:
        """Drop those before and after; some lie in the future where the clock was set back."""
        self._run.change(delete(attempts).where(or_(attempts.c.at <= since, attempts.c.at > until)))


class SessionRows(NumberedRows[SessionRow]):
    """The table `sessions`. One that is over, or whose account is switched off, is as if it were not there."""

    kind, table = SessionRow, sessions

    def by_digest(self, digest: str, now: str, idle: str) -> SessionOfAccount | None:
        """With its account; seen after `idle`, not expired `now`."""
        return self._run.first(SessionOfAccount, _BY_DIGEST, digest=digest, now=now, idle=idle)

    def by_id(self, number: int, now: str, idle: str) -> SessionOfAccount | None:
        return self._run.first(SessionOfAccount, _BY_ID, number=number, now=now, idle=idle)

    def all(self, account: str, now: str, idle: str) -> list[SessionOfAccount]:
        """Of one account, or of everybody; the one used last comes first."""
        mine = _SESSIONS.where(sessions.c.account == account) if account else _SESSIONS
        return self._run.rows(SessionOfAccount, mine, now=now, idle=idle)

    def touch(self, number: int, seen: str) -> None:
        self._run.note(update(sessions).where(sessions.c.id == number).values(seen=seen))

    def end(self, number: int) -> int:
        """Over, at once; how many that were."""
        return self._run.change(delete(sessions).where(sessions.c.id == number))

    def end_account(self, account: str, keep: int) -> int:
        """All of an account, or all but one."""
        return self._run.change(delete(sessions).where(sessions.c.account == account, sessions.c.id != keep))

    def end_everybody(self) -> int:
        return self._run.change(delete(sessions))

    def forget(self, now: str, idle: str) -> None:
        """Drop those that ended by themselves."""
        self._run.change(delete(sessions).where(or_(sessions.c.expires <= now, sessions.c.seen <= idle)))


class TokenRows(NumberedRows[TokenRow]):
    """The table `tokens`, each with its account."""

    kind, table = TokenRow, tokens

    def by_prefix(self, prefix: str) -> list[TokenOfAccount]:
        """Those that begin so."""
        return self._run.rows(TokenOfAccount, _BY_PREFIX, prefix=prefix)

    def get(self, number: int) -> TokenOfAccount | None:
        return self._run.first(TokenOfAccount, _TOKENS.where(tokens.c.id == number))

    def all(self, account: str) -> list[TokenOfAccount]:
        """Of one account, or of everybody; the newest comes first."""
        return self._run.rows(TokenOfAccount, _TOKENS.where(tokens.c.account == account) if account else _TOKENS)

    def touch(self, number: int, used: str) -> None:
        self._run.note(update(tokens).where(tokens.c.id == number).values(used=used))

    def revoke(self, number: int, at: str) -> None:
        """Worth nothing from now on; the row stays for the audit."""
        self._run.change(update(tokens).where(tokens.c.id == number, tokens.c.revoked == "").values(revoked=at))

    def revoke_account(self, account: str, at: str) -> None:
        self._run.change(update(tokens).where(tokens.c.account == account, tokens.c.revoked == "").values(revoked=at))

    def revoke_everybody(self, at: str) -> None:
        self._run.change(update(tokens).where(tokens.c.revoked == "").values(revoked=at))


class AuditRows(StoredRows):
    """The table `audit`, which only grows."""

    def add(self, **values: Any) -> None:
        self._run.add(audit, **values)

    def newest(self, limit: int, since: str = "", **equal: Any) -> list[AuditEntry]:
        """Lines in which the named columns have the given values, newest first; an empty value asks for nothing."""
        wanted = [audit.c[name] == value for name, value in equal.items() if value]
        wanted += [audit.c.at >= since] if since else []
        return self._run.rows(AuditEntry, select(audit).where(*wanted).order_by(audit.c.id.desc()).limit(limit))

    def of_change(self, number: int) -> list[AuditEntry]:
        """Oldest first."""
        return self._run.rows(AuditEntry, select(audit).where(audit.c.change == number).order_by(audit.c.id))

    def commits(self) -> set[str]:
        """Every commit that is named."""
        return set(self._run.column(select(audit.c.commit_id).where(audit.c.commit_id != "")))

    def last_commit(self) -> str:
        """The commit named last, "" if none is."""
        named = select(audit.c.commit_id).where(audit.c.commit_id != "")
        return self._run.value(named.order_by(audit.c.id.desc()).limit(1)) or ""

    def names(self, commit: str) -> bool:
        """Whether a commit is named."""
        return self._run.value(select(audit.c.id).where(audit.c.commit_id == commit)) is not None

    def writers(self, numbers: Sequence[int]) -> list[WriterOfChange]:
        """Who wrote in each change, in the order in which they began."""
        return self._run.rows(WriterOfChange, _WRITERS, numbers=numbers)
