"""Who may do what: by role, by the scope of an access token, and never by an agent what a person decides.

One table, and one mark on every use case of a service that asks it: pages, command line, API and assistants follow the
same rules.
"""

from __future__ import annotations

import inspect
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from core.errors import BadInput, Refused
from core.types import Person

ROLES = ("reader", "author", "reviewer", "admin")  # each may do what the ones before it may

SCOPES = (
    "read",
    "propose",
    "review",
)  # of access tokens: each reaches what the ones before it reach; read writes nothing
NO_TOKEN = ""  # what is done signed in or at the terminal alone: everything of admins, and one's own account

ACTIONS: Mapping[str, tuple[str, str]] = {  # an action to the lowest role, and to the lowest scope of a token beside it
    "search": ("reader", "read"),
    "read documents": ("reader", "read"),
    "report a gap": ("reader", "propose"),
    "keep asked questions": ("reader", "propose"),
    "see asked questions": ("author", "read"),
    "decide on asked questions": ("admin", NO_TOKEN),
    "read the inbox": ("reader", "read"),
    "mark messages as read": ("reader", "propose"),
    "watch documents": ("reader", "propose"),
    "give feedback": ("reader", "propose"),
    "answer feedback": ("author", "propose"),
    "see jobs": ("author", "read"),
    "see the log of a job": ("admin", NO_TOKEN),
    "work on a job": ("admin", NO_TOKEN),
    "see the index": ("admin", NO_TOKEN),
    "rebuild the index": ("admin", NO_TOKEN),
    "roll back the index": ("admin", NO_TOKEN),
    "cancel a job": ("admin", NO_TOKEN),
    "add a profile": ("admin", NO_TOKEN),
    "delete a profile": ("admin", NO_TOKEN),
    "change what is in production": ("admin", NO_TOKEN),
    "see reported gaps": ("author", "read"),
    "look after gaps": ("author", "propose"),
    "propose a change": ("author", "propose"),
    "review a change": ("reviewer", "review"),
    "take over a change": ("admin", NO_TOKEN),
    "merge a change": ("author", "review"),
    "bypass the review rules": ("admin", NO_TOKEN),
    "lift a request for changes": ("admin", NO_TOKEN),
    "confirm a document": ("reviewer", "review"),
    "settle a disagreement": ("reviewer", "review"),
    "see the audit": ("admin", NO_TOKEN),
    "manage accounts": ("admin", NO_TOKEN),
    "manage their own account": ("reader", NO_TOKEN),
    "see deliveries": ("admin", NO_TOKEN),
    "send messages": ("admin", NO_TOKEN),
    "manage webhooks": ("admin", NO_TOKEN),
    "import documents": ("admin", NO_TOKEN),
    "back up the workspace": ("admin", NO_TOKEN),
    "restore the workspace": ("admin", NO_TOKEN),
    "upgrade the workspace": ("admin", NO_TOKEN),
    "manage the remote": ("admin", NO_TOKEN),
    "see the ledger": ("admin", NO_TOKEN),
    "compare configurations": ("author", "read"),
    "save in the playground": ("author", "propose"),
    "judge passages": ("author", "propose"),
    "judge results": ("reader", "propose"),
    "see query sets": ("author", "read"),
    "keep a query set": ("author", "propose"),
    "run an evaluation": ("author", "propose"),
    "explore the graph": ("author", "read"),
    "get a written answer": ("reader", "read"),
    "fetch models": ("admin", NO_TOKEN),
    "check a language model": ("admin", NO_TOKEN),
    "use an unfit model": ("admin", NO_TOKEN),
}
NEEDS = {action: role for action, (role, _) in ACTIONS.items()}
REACH = {action: scope for action, (_, scope) in ACTIONS.items()}
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
    groups: tuple[str, ...] = ()  # the account is in, by its own list and by the sign-in provider
    folders: tuple[str, ...] = ()  # that the access token is narrowed to; empty: all

    @property
    def person(self) -> Person:
        return Person(self.name, self.email)


SYSTEM = Actor("concord", "Concord", "concord@localhost", "admin", "system")  # for work that nobody asked for
ANYBODY = Actor("", "Somebody", "", "", "unknown")  # at a door that did not say who reads: what is for everybody


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
            f"Agents may propose and comment; a person approves and merges. {actor.name} is an agent and may not "
            f"{action}."
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
    if not actor.token:
        return f"Without an access token you may not {action} here. Use one with the scope {REACH[action]}."
    return (
        f"The access token {actor.token!r} has the scope {actor.scope}, which may not {action}."
        f" Use a token with the scope {REACH[action]}."
    )


# ---------------------------------------------------------------- who reads

# Documents, the index and changes show what this account may read. It is set by every use case, so no method passes
# it on.
_READER: ContextVar[Actor | Callable[[], Actor] | None] = ContextVar("reader", default=None)


def reader() -> Actor:
    """For whom documents are read now; the system itself where no door has asked."""
    now = _READER.get()
    if now is None:
        return SYSTEM
    return now() if callable(now) else now


def reader_is_lazy() -> bool:
    """Whether nobody has asked yet who reads: at the command line, which need not have accounts."""
    return callable(_READER.get())


def set_reader(actor: Actor | Callable[[], Actor]) -> None:
    """Read as this account from here on: a door knows who came before it calls a service."""
    _READER.set(actor)


@contextmanager
def reading_as(actor: Actor | Callable[[], Actor]) -> Iterator[None]:
    """Read as this account inside the block; as SYSTEM everything is read."""
    token = _READER.set(actor)
    try:
        yield
    finally:
        _READER.reset(token)


# ---------------------------------------------------------------- use cases

# What needs no action of its own, and why.
ANYONE = "everybody"  # what every account may read: the documents, the search, what is in production
ALREADY_CHECKED = "in hand"  # works on what a checked call gave: an upload, a search, arrays
UPKEEP = "upkeep"  # what the system does by itself, whoever comes by
SIGN_IN = "sign-in"  # finds out who somebody is
FREE = (ANYONE, ALREADY_CHECKED, UPKEEP, SIGN_IN)

# Where it is written down that a use case was used.
AUDITED = "audit"
READS = "nowhere: it reads"
OWN_DATA = "nowhere: it is one's own"  # text that is being typed, what one has looked at, one's own past queries
SENDING_LOG = "log of deliveries"  # every attempt has its own line there
JOB = "audit, by the jobs that it does"
BACKUP = "audit, by what it calls"
IMPORT = "audit, by the import around it"
LEDGER = "ledger"  # every call of a model has its own line there
NIGHTLY = "nowhere: it runs every night"
ORPHANS = "nowhere: nothing names it any more"

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class UseCase:
    """What a method of a service is to its doors."""

    needs: str  # an action, or why it needs none
    recorded: str = AUDITED
    own: bool = False  # of one's own it needs less, and asks for that itself
    whole: bool = (
        False  # it works on every document, whoever asked: what it gives back names none that they may not read
    )


def use_case(
    needs: str, recorded: str = AUDITED, *, own: bool = False, whole: bool = False
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Mark a method of a service that doors may call. It is refused before anything else, whichever door called it,
    and reads what its actor may read: without one what the caller may, and where no door has said who that is, what
    everybody may.

    >>> class Desk:
    ...     @use_case("see the audit", READS)
    ...     def read(self, actor: Actor) -> str: return "lines"
    >>> Desk().read(Actor("ann", "Ann", "ann@example.org", "reader"))
    Traceback (most recent call last):
        ...
    core.errors.Refused: Only admins may see the audit; Ann is a reader.
    >>> use_case_of(Desk.read).needs
    'see the audit'
    """
    record = UseCase(needs, recorded, own, whole or needs == UPKEEP)

    def marked(method: Callable[P, R]) -> Callable[P, R]:
        asking = _asking(method, record)
        asking.__use_case__ = record  # type: ignore[attr-defined]
        return asking

    return marked


def _asking(method: Callable[P, R], record: UseCase) -> Callable[P, R]:
    parameters, asks = inspect.signature(method).parameters, record.needs not in FREE and not record.own
    place = list(parameters).index("actor") if "actor" in parameters else None
    default = parameters["actor"].default if place is not None else None

    @wraps(method)
    def asked(*arguments: P.args, **named: P.kwargs) -> R:
        actor: Any = None
        if place is not None:
            actor = arguments[place] if len(arguments) > place else named.get("actor", default)
            if asks:
                require(actor, record.needs)
        now = _READER.get()
        reads = SYSTEM if record.whole else actor or now or ANYBODY
        if reads is now:
            return method(*arguments, **named)
        token = _READER.set(reads)
        try:
            return method(*arguments, **named)
        finally:
            _READER.reset(token)

    return asked


def use_case_of(method: Callable[..., object]) -> UseCase | None:
    """What a method is to its doors; nothing when it is for services alone, which have asked."""
    return getattr(method, "__use_case__", None)
