"""Who may do what: one table that services ask, so that pages and command line follow the same rules."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from core.errors import BadInput, Refused
from core.types import Person

ROLES = ("reader", "author", "reviewer", "admin")  # each may do what the ones before it may

NEEDS: Mapping[str, str] = {
    "search": "reader",
    "read documents": "reader",
    "report a gap": "reader",
    "see asked questions": "author",
    "decide on asked questions": "admin",
    "read the inbox": "reader",
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
    "propose a change": "author",
    "review a change": "reviewer",
    "merge a change": "author",
    "bypass the review rules": "admin",
    "lift a request for changes": "admin",
    "confirm a document": "reviewer",
    "settle a disagreement": "reviewer",
    "see the audit": "admin",
    "manage accounts": "admin",
    "import documents": "admin",
    "back up the workspace": "admin",
    "restore the workspace": "admin",
    "see the ledger": "admin",
    "compare configurations": "author",
    "judge passages": "author",
    "judge results": "reader",
    "see query sets": "author",
    "keep a query set": "author",
    "run an evaluation": "author",
    "explore the graph": "author",
    "ask a language model": "author",
    "fetch models": "admin",
    "check a language model": "admin",
    "use an unfit model": "admin",
}


@dataclass(frozen=True, slots=True)
class Actor:
    """An account in its role."""

    id: str
    name: str
    email: str
    role: str
    door: str = "app"  # through which they came: app, command line

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
    """Whether the actor's role is high enough for the action.

    >>> ann = Actor("ann", "Ann", "ann@example.org", "author")
    >>> allowed(ann, "search"), allowed(ann, "rebuild the index")
    (True, False)
    """
    if action not in NEEDS:
        raise BadInput(f"There is no action {action!r}.")
    return actor.role in ROLES and ROLES.index(actor.role) >= ROLES.index(NEEDS[action])


def require(actor: Actor, action: str) -> None:
    """Raise Refused with the rule, unless it is allowed.

    >>> require(Actor("ann", "Ann", "ann@example.org", "reader"), "rebuild the index")
    Traceback (most recent call last):
        ...
    core.errors.Refused: Only admins may rebuild the index; Ann is a reader.
    """
    if not allowed(actor, action):
        first = ROLES.index(NEEDS[action])
        who = (
            " and ".join(f"{role}s" for role in ROLES[first:][:2])
            if len(ROLES[first:]) <= 2
            else f"{ROLES[first]}s and above"
        )
        article = "an" if actor.role[:1] in "aeiou" else "a"
        raise Refused(f"Only {who} may {action}; {actor.name} is {article} {actor.role}.")
