"""Trailers: the lines `Name: value` at the end of a commit's message."""

from __future__ import annotations

import re

from core.types import Person

ONLY = "Only"  # names the fields of a change that touched nothing else: it approves no text
_PERSON = re.compile(r"([^<>]*)<([^<>]+)>\s*")


def trailers(message: str) -> tuple[tuple[str, str], ...]:
    """Names and values, from the last paragraph alone: the others are people's own text.

    >>> trailers("Title\\n\\nChange: 3\\nBypass: No time"), trailers("Title\\n\\nChange: 3\\n\\nlast")
    ((('Change', '3'), ('Bypass', 'No time')), ())
    """
    lines = (line.partition(": ") for line in message.rstrip().split("\n\n")[-1].splitlines())
    return tuple((name, value) for name, colon, value in lines if colon)


def co_authored(person: Person) -> str:
    """The trailer that names somebody whose words a commit holds beside its author's.

    >>> co_authored(Person("Bob", "bob@example.org"))
    'Co-authored-by: Bob <bob@example.org>'
    """
    return f"Co-authored-by: {' '.join(person.name.split())} <{person.email}>"


def co_authors(message: str) -> tuple[Person, ...]:
    """Whom a message names so.

    >>> co_authors("Apply it\\n\\nco-authored-by: Bob <bob@example.org>")
    (Person(name='Bob', email='bob@example.org'),)
    """
    values = (value for name, value in trailers(message) if name.casefold() == "co-authored-by")
    return tuple(Person(match[1].strip(), match[2]) for value in values if (match := _PERSON.fullmatch(value)))
