"""The room of people, wired."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core import strict
from core.adapters.system.passwords import Argon2
from core.adapters.system.processes import Presence
from core.adapters.web.oidc import OidcProvider
from core.services.people.accounts import Accounts, checked_role
from core.services.people.audit import Audit
from core.services.people.provider import ProviderSignIn
from core.services.people.replies import RENEWED, Replies
from core.services.people.sessions import Sessions
from core.services.people.tokens import AccessTokens
from core.services.people.tries import AccountKeys, Tries
from core.services.platform.base import Base
from core.services.platform.node import Loop
from core.settings import ProviderSettings


@dataclass(frozen=True, slots=True)
class People:
    """Accounts, who is signed in, access tokens with what they were answered, and the audit of what they did."""

    accounts: Accounts
    sessions: Sessions
    tokens: AccessTokens
    provider: ProviderSignIn
    audit: Audit
    replies: Replies


def wire(base: Base) -> People:
    database, audit, settings = base.database, base.audit, base.settings
    accounts = Accounts(database, Argon2(), audit, base.clock, Tries(AccountKeys(database)), base.messages)
    replies = Replies(database, Presence(settings.home / "jobs"))
    base.upkeep.daily.append(replies.sweep)
    base.upkeep.loops.append(Loop(replies.renew, RENEWED, "The keys of requests were not renewed."))
    return People(
        accounts,
        Sessions(database, audit, settings.session_idle, settings.session_life),
        AccessTokens(database, accounts, audit),
        ProviderSignIn(database, accounts, audit),
        audit,
        replies,
    )


def sign_in_provider(auth: Mapping[str, Any]) -> OidcProvider:
    """The provider that a section [auth] describes."""
    settings = strict.parse(ProviderSettings, auth, "auth")
    for role in settings.roles:
        checked_role(role)
    return OidcProvider(settings)
