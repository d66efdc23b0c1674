"""Who may do what: by role, by the scope of an access token, and never by an agent what a person decides.

One table that services ask, so that pages, command line, API and assistants follow the same rules.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, replace

from core.errors import BadInput, Refused
from core.types import Person

ROLES = ("reader", "author", "reviewer", "admin")  # each may do what the ones before it may

NEEDS: Mapping[str, str] = {
    "search": "reader",
    "read documents": "reader",
    "report a gap": "reader",
    "keep asked questions": "reader",
    "see asked questions": "author",
    "decide on asked questions": "admin",
    "read the inbox": "reader",
    "mark messages as read": "reader",
    "watch documents": "reader",
    "give feedback": "reader",
    "answer feedback": "author",
    "see jobs": "author",
    "see the log of a job": "admin",
    "work on a job": "admin",
    "see the index": "admin",
    "rebuild the index": "admin",
    "roll back the index": "admin",
    "cancel a job": "admin",
    "add a profile": "admin",
    "delete a profile": "admin",
    "change what is in production": "admin",
    "see reported gaps": "author",
    "look after gaps": "author",
    "propose a change": "author",
    "review a change": "reviewer",
    "take over a change": "admin",
    "merge a change": "author",
    "bypass the review rules": "admin",
    "lift a request for changes": "admin",
    "confirm a document": "reviewer",
    "settle a disagreement": "reviewer",
    "see the audit": "admin",
    "manage accounts": "admin",
    "manage their own account": "reader",
    "see deliveries": "admin",
    "send messages": "admin",
    "manage webhooks": "admin",
    "import documents": "admin",
    "back up the workspace": "admin",
    "restore the workspace": "admin",
    "manage the remote": "admin",
    "see the ledger": "admin",
    "compare configurations": "author",
    "save in the playground": "author",
    "judge passages": "author",
    "judge results": "reader",
    "see query sets": "author",
    "keep a query set": "author",
    "run an evaluation": "author",
    "explore the graph": "author",
    "ask a language model": "author",
    "get a written answer": "reader",
    "fetch models": "admin",
    "check a language model": "admin",
    "use an unfit model": "admin",
}

SCOPES = (
    "read",
    "propose",
    "review",
)  # of access tokens: each reaches what the ones before it reach; read writes nothing
NO_TOKEN = ""  # what is done signed in or at the terminal alone: everything of admins, and one's own account
REACH: Mapping[str, str] = {  # an action to the scope that a token needs for it, beside the role of its account
    "search": "read",
    "read documents": "read",
    "read the inbox": "read",
    "see asked questions": "read",
    "see jobs": "read",
    "see reported gaps": "read",
    "see query sets": "read",
    "compare configurations": "read",
    "explore the graph": "read",
    "get a written answer": "read",
    "report a gap": "propose",
    "look after gaps": "propose",
    "keep asked questions": "propose",
    "mark messages as read": "propose",
    "save in the playground": "propose",
    "watch documents": "propose",
    "give feedback": "propose",
    "answer feedback": "propose",
    "propose a change": "propose",
    "judge passages": "propose",
    "judge results": "propose",
    "keep a query set": "propose",
    "run an evaluation": "propose",
    "ask a language model": "propose",
    "review a change": "review",
    "merge a change": "review",
    "confirm a document": "review",
    "settle a disagreement": "review",
    "manage their own account": NO_TOKEN,
    "decide on asked questions": NO_TOKEN,
    "see the log of a job": NO_TOKEN,
    "work on a job": NO_TOKEN,
    "see the index": NO_TOKEN,
    "rebuild the index": NO_TOKEN,
    "roll back the index": NO_TOKEN,
    "cancel a job": NO_TOKEN,
    "add a profile": NO_TOKEN,
    "delete a profile": NO_TOKEN,
    "change what is in production": NO_TOKEN,
    "take over a change": NO_TOKEN,
    "bypass the review rules": NO_TOKEN,
    "lift a request for changes": NO_TOKEN,
    "see the audit": NO_TOKEN,
    "see deliveries": NO_TOKEN,
    "send messages": NO_TOKEN,
    "manage webhooks": NO_TOKEN,
    "manage accounts": NO_TOKEN,
    "import documents": NO_TOKEN,
    "back up the workspace": NO_TOKEN,
    "restore the workspace": NO_TOKEN,
    "manage the remote": NO_TOKEN,
    "see the ledger": NO_TOKEN,
    "fetch models": NO_TOKEN,
    "check a language model": NO_TOKEN,
    "use an unfit model": NO_TOKEN,
}
PERSON, SERVICE, AGENT = KINDS = ("person", "service", "agent")
_AGENTS_REACH = "propose"  # whatever their role


@dataclass(frozen=True, slots=True)
class Actor:
    """An account in its role, and how it came."""

    id: str
    name: str
    email: str
    role: str
    door: str = "app"  # through which they came: app, command line, api, mcp
    scope: str = ""  # of the access token they came with; empty: everything that the role may
    token: str = ""  # the name of that token
    request: str = ""  # the id of the request they came with
    kind: str = PERSON

    @property
    def person(self) -> Person:
        return Person(self.name, self.email)


SYSTEM = Actor("concord", "Concord", "concord@localhost", "admin", "system")  # for work that nobody asked for


def folded(name: str) -> str:
    """A name in comparable form: letters that differ only in case, width or ligature are the same.

    >>> folded(" Zoe "), folded("ＺＯＥ"), folded("ﬁn")
    ('zoe', 'zoe', 'fin')
    """
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold()).strip()


def plain_address(email: str) -> str:
    """An address in comparable form: git drops dots and quotes at its ends.

    >>> plain_address("Eve@example.org."), plain_address("eve@example.org")
    ('eve@example.org', 'eve@example.org')
    """
    return folded(email).strip(" .,:;<>\"\\'")


def allowed(actor: Actor, action: str) -> bool:
    """Whether role, scope and kind of the actor allow the action.

    >>> ann = Actor("ann", "Ann", "ann@example.org", "author")
    >>> allowed(ann, "search"), allowed(ann, "rebuild the index")
    (True, False)
    >>> allowed(ann, "propose a change"), allowed(replace(ann, scope="read"), "propose a change")
    (True, False)
    >>> allowed(replace(ann, kind="agent"), "propose a change"), allowed(replace(ann, kind="agent"), "merge a change")
    (True, False)
    """
    return _ranked(actor, action) and _agent_may(actor, action) and _in_scope(actor.scope, action)


def _ranked(actor: Actor, action: str) -> bool:
    if action not in NEEDS:
        raise BadInput(f"There is no action {action!r}.")
    return actor.role in ROLES and ROLES.index(actor.role) >= ROLES.index(NEEDS[action])


def _in_scope(scope: str, action: str) -> bool:
    needed = REACH[action]
    return not scope or (scope in SCOPES and needed != NO_TOKEN and SCOPES.index(scope) >= SCOPES.index(needed))


def _agent_may(actor: Actor, action: str) -> bool:
    return actor.kind != AGENT or _in_scope(_AGENTS_REACH, action)


def scopes_for(actor: Actor) -> tuple[str, ...]:
    """The scopes that a token of this account can use.

    >>> scopes_for(Actor("ann", "Ann", "ann@example.org", "reviewer", kind="agent"))
    ('read', 'propose')
    """
    free = replace(actor, scope="")
    return tuple(scope for scope in SCOPES if any(REACH[a] == scope and allowed(free, a) for a in NEEDS))


def require(actor: Actor, action: str) -> None:
    """Raise Refused with the rule, unless it is allowed.

    >>> require(Actor("ann", "Ann", "ann@example.org", "reader"), "rebuild the index")
    Traceback (most recent call last):
        ...
    core.errors.Refused: Only admins may rebuild the index; Ann is a reader.
    """
    if not _ranked(actor, action):
        raise Refused(_role_rule(actor, action))
    if not _agent_may(actor, action):
        raise Refused(
            f"Agents may propose and comment; a person approves and merges. {actor.name} is an agent and may not {action}."
        )
    if not _in_scope(actor.scope, action):
        raise Refused(_scope_rule(actor, action))


def _role_rule(actor: Actor, action: str) -> str:
    first = ROLES.index(NEEDS[action])
    who = (
        " and ".join(f"{role}s" for role in ROLES[first:][:2])
        if len(ROLES[first:]) <= 2
        else f"{ROLES[first]}s and above"
    )
    article = "an" if actor.role[:1] in "aeiou" else "a"
    return f"Only {who} may {action}; {actor.name} is {article} {actor.role}."


def _scope_rule(actor: Actor, action: str) -> str:
    """Why a token is not enough."""
    if REACH[action] == NO_TOKEN:
        return f"No access token may {action}. Sign in to do it."
    return (
        f"The access token {actor.token!r} has the scope {actor.scope}, which may not {action}."
        f" Use a token with the scope {REACH[action]}."
    )
