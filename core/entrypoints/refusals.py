"""How doors say why something was refused, and what helps whoever was refused: never a command for a shell."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from urllib.parse import urlencode

from core.access import NEEDS, ROLES, Actor
from core.cures import Cure
from core.errors import BadInput, ConcordError

WHO = {"author": "an author", "reviewer": "a reviewer", "admin": "an admin"}


def can(actor: Actor, cure: Cure) -> bool:
    """Whether a person can do it themselves, on a page or on the server; the scope of a token does not matter there."""
    needed = ROLES.index(_role(cure))
    return needed == 0 or actor.role in ROLES[needed:]


def _role(cure: Cure) -> str:
    return NEEDS[cure.right] if cure.right else ROLES[-1]


def next_step(cure: Cure, actor: Actor) -> str:
    """What to do, as one sentence for this person."""
    return cure.sentence if can(actor, cure) else cure.asking(WHO[_role(cure)])


def in_words(error: ConcordError, actor: Actor) -> str:
    """A refusal with the next step of this person.

    >>> from core.cures import reindex
    >>> from core.errors import Unavailable
    >>> ann = Actor("ann", "Ann", "ann@example.org", "author")
    >>> in_words(Unavailable("The profile 'local' has no index yet.", reindex("local")), ann)
    "The profile 'local' has no index yet. Ask an admin to build the index."
    """
    return f"{error.message} {next_step(error.cure, actor)}" if error.cure else error.message


def address(cure: Cure) -> str:
    """Where on the pages it is done.

    >>> from core.cures import JOBS
    >>> address(JOBS)
    '/index?index_tab=Jobs'
    """
    return f"/{cure.page}{'?' if cure.query else ''}{urlencode(cure.query)}" if cure.page else ""


def as_json(cure: Cure, actor: Actor) -> dict[str, str]:
    """A cure for programs: what it does, with the page and the command for those who can, else the role to ask."""
    known = {"action": cure.action, "does": cure.does}
    if not can(actor, cure):
        return known | {"ask": _role(cure)}
    places = {"url": address(cure), "command": cure.command}
    return known | {name: text for name, text in places.items() if text}


def refuse_unknown(given: Iterable[str], known: Collection[str], kind: str = "parameter") -> None:
    """Refuse what an operation does not have: a misspelled filter would find too much."""
    for name in given:
        if name not in known:
            there = ", ".join(sorted(known)) or "none"
            raise BadInput(f"There is no {kind} {name!r} here. {kind.capitalize()}s: {there}.")
