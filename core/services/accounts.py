"""Who people are. In the demo everybody may be anybody, on this machine alone."""

from __future__ import annotations

from core.access import Actor
from core.errors import NotFound

DEMO: tuple[Actor, ...] = (
    Actor("reader", "Robin Falk", "robin@meridale.example", "reader"),
    Actor("author", "Avery Lindqvist", "avery@meridale.example", "author"),
    Actor("author2", "Jonas Mbeki", "jonas@meridale.example", "author"),
    Actor("reviewer", "Petra Voss", "petra@meridale.example", "reviewer"),
    Actor("reviewer2", "Theo Nakamura", "theo@meridale.example", "reviewer"),
    Actor("admin", "Ada Brandt", "ada@meridale.example", "admin"),
)
LOOPBACK = ("127.0.0.1", "localhost", "::1")


def demo(name: str) -> Actor:
    """A persona of the demo."""
    for actor in DEMO:
        if actor.id == name:
            return actor
    raise NotFound(f"There is no persona {name!r}. Personas: {', '.join(actor.id for actor in DEMO)}.")


def may_demo(address: str) -> bool:
    """Whether the demo may run on an address: only where nobody else can reach it.

    >>> may_demo("127.0.0.1"), may_demo("0.0.0.0"), may_demo("")
    (True, False, False)
    """
    return address in LOOPBACK
