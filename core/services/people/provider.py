"""Sign-in by a provider: the first one binds an account to issuer and subject, and roles may follow groups."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from core.access import PERSON, ROLES, SIGN_IN, SYSTEM, Actor, plain_address, use_case
from core.errors import Refused
from core.services.people.accounts import MOST_GROUPS, Accounts, checked_email
from core.services.people.audit import Audit
from core.settings import ProviderSettings

if TYPE_CHECKING:
    from core.storage.state.database import Database, State

Claims = Mapping[str, Any]


class ProviderSignIn:
    """Turns checked claims into an account."""

    def __init__(self, database: Database, accounts: Accounts, audit: Audit) -> None:
        self.database, self.accounts, self.audit = database, accounts, audit

    @use_case(SIGN_IN)
    def sign_in(self, claims: Claims, settings: ProviderSettings) -> Actor:
        """The account of a person whom the provider vouches for; others are refused, with a line in the audit."""
        try:
            email, role = _verified_email(claims, settings), _role(claims, settings)
            with self.database.transaction() as state:
                actor = self._account(state, claims, email, settings.create_accounts, role)
                actor = self._with_role(state, actor, role)
                state.accounts.set(actor.id, provider_groups="\n".join(sorted(_groups(claims, settings))))
                self.audit.record(state, actor, "sign in", actor.name, detail=str(claims["iss"]))
        except Refused as refusal:
            self.accounts.refuse(str(claims.get("email") or claims["sub"]).lower()[:80], str(refusal))
            raise
        return actor

    @use_case(SIGN_IN)
    def renew(self, account: str, claims: Claims, settings: ProviderSettings) -> None:
        """Groups and role as the provider says them now; Refused where none of the groups gives a role any more."""
        role = _role(claims, settings)
        groups = "\n".join(sorted(_groups(claims, settings)))
        with self.database.transaction() as state:
            row = state.accounts.get(account)
            if row is not None:
                self._with_role(state, Actor(row.id, row.name, row.email, row.role), role)
                if row.provider_groups != groups:
                    state.accounts.set(row.id, provider_groups=groups)

    def _account(self, state: State, claims: Claims, email: str, create: bool, role: str) -> Actor:
        """By issuer and subject; the first time by address, which binds the two."""
        issuer, subject = str(claims["iss"]), str(claims["sub"])
        row = state.accounts.by_subject(issuer, subject)
        if row is None and plain_address(email) != email.lower():
            raise Refused(f"The address {email} can be mistaken for another one. Change it there, then sign in again.")
        row = row or state.accounts.by_email(email)
        if row is None:
            if create:
                self._create(state, claims, email, role)
                return self._account(state, claims, email, False, role)
            raise Refused(f"There is no account for {email}. Ask an admin to add one with this address.")
        if not row.active:
            raise Refused(f"The account of {email} is switched off. Ask an admin to switch it on.")
        if row.kind != PERSON:
            raise Refused(f"{email} belongs to a {row.kind} account, which comes with an access token alone.")
        if row.subject and (row.issuer, row.subject) != (issuer, subject):
            raise Refused(
                f"The account of {email} belongs to another person at the provider. "
                "If that was you, ask an admin to unbind it."
            )
        if not row.subject:
            state.accounts.set(row.id, issuer=issuer, subject=subject)
        return Actor(row.id, row.name, row.email, row.role)

    def _create(self, state: State, claims: Claims, email: str, role: str) -> None:
        """An account for somebody new, with an id from the address."""
        wanted = _id_from(email)
        taken = {SYSTEM.id, *(row.id for row in state.accounts.all())}
        number = next(n for n in range(1, len(taken) + 2) if (wanted if n == 1 else f"{wanted}-{n}") not in taken)
        name = " ".join(str(claims.get("name") or email.partition("@")[0]).split())[:80]
        actor = Actor(wanted if number == 1 else f"{wanted}-{number}", name, checked_email(email), role or ROLES[0])
        self.accounts.insert(state, actor, "")
        self.audit.record(
            state, actor, "add account", f"{name} ({actor.id})", detail=f"{actor.role}, at the first sign-in"
        )

    def _with_role(self, state: State, actor: Actor, role: str) -> Actor:
        """The role that the provider's groups give, where they decide; the last admin stays one."""
        if not role or role == actor.role:
            return actor
        state.accounts.set(actor.id, role=role)
        if not state.accounts.has_admin():
            state.accounts.set(actor.id, role=actor.role)
            return actor
        changed = replace(actor, role=role)
        self.audit.record(
            state,
            changed,
            "change role",
            f"{actor.name} ({actor.id})",
            detail=f"{actor.role} to {role}, by the provider",
        )
        return changed


def _verified_email(claims: Claims, settings: ProviderSettings) -> str:
    """The address, if the provider says that it is verified: the value true, nothing that looks like it."""
    email, verified = claims.get("email"), claims.get("email_verified")
    if not isinstance(email, str) or not email.strip():
        raise Refused(
            "The provider reports no address. Ask an admin to add the scope email to client_kwargs in [auth]."
        )
    if verified is not True and not (verified is None and settings.trust_unverified_email):
        raise Refused(
            f"The provider has not verified the address {email}. Verify it there, then sign in again; where a provider "
            "never says so, an admin can set trust_unverified_email in [auth]."
        )
    return email.strip()


def _groups(claims: Claims, settings: ProviderSettings) -> set[str]:
    """The groups that the provider names."""
    value = claims.get(settings.role_claim)
    named = value if isinstance(value, list) else [value]
    return {" ".join(str(group).split())[:200] for group in named[:MOST_GROUPS] if group not in (None, "")}


def _role(claims: Claims, settings: ProviderSettings) -> str:
    """The highest role that the claim gives; "" where no roles are mapped."""
    if not settings.roles:
        return ""
    groups = _groups(claims, settings)
    given = [role for role in ROLES if groups & set(settings.roles.get(role, ()))]
    if not given:
        raise Refused(
            "None of your groups at the provider gives a role here. "
            f"Ask an admin to look at {settings.role_claim!r} and [auth.roles]."
        )
    return given[-1]


def _id_from(email: str) -> str:
    """An account id that looks like the address.

    >>> _id_from("Ann.O'Hara+x@example.org"), _id_from("ü@example.org")
    ('ann.o-hara-x', 'account')
    """
    return re.sub(r"[^a-z0-9._-]+", "-", email.partition("@")[0].lower()).strip("._-")[:36] or "account"
