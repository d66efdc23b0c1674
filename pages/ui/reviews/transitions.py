"""What the buttons of a change do. The services decide; a refusal is shown in their words."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from core.access import Actor
from core.curation.review import moves
from core.errors import BadInput
from pages.ui import actions, address, keys
from pages.ui.workspace import app


def submit(actor: Actor, number: int, note: str, head: str) -> str:
    change = app().reviews.changes.submit(actor, number, chosen("submit", number))
    asked = moves.names([request.name for request in change.asked])
    verb = "is" if len(change.asked) == 1 else "are"
    return f"Submitted. {asked} {verb} asked." if asked else "Submitted. It now waits for a reviewer."


def ask(actor: Actor, number: int, note: str, head: str) -> str:
    app().reviews.changes.ask(actor, number, chosen("ask", number))
    return "Asked. The request is in their inbox."


def invite(actor: Actor, number: int, note: str, head: str) -> str:
    app().reviews.changes.invite(actor, number, chosen("invite", number))
    return "Invited. They are told in their inbox."


def withdraw(actor: Actor, number: int, note: str, head: str) -> str:
    app().reviews.changes.withdraw(actor, number)
    return "It is a draft again."


def approve(actor: Actor, number: int, note: str, head: str) -> str:
    """Approve exactly the text that was shown."""
    change = app().reviews.discussion.approve(actor, number, note, head=head)
    return "Approved. It can be merged." if change.state == "approved" else "Approved."


def request_changes(actor: Actor, number: int, note: str, head: str) -> str:
    app().reviews.discussion.request_changes(actor, number, note, head=head)
    return "Changes requested. It waits until you come back to it."


def take_back(actor: Actor, number: int, note: str, head: str) -> str:
    app().reviews.discussion.take_back(actor, number)
    return "Taken back."


def lift(actor: Actor, number: int, note: str, head: str) -> str:
    """Lift what others requested, with a reason."""
    app().reviews.discussion.lift(actor, number, note)
    return "Lifted. The reason stays in the discussion."


def merge(actor: Actor, number: int, note: str, head: str) -> str:
    merged = app().reviews.merger.merge(actor, number)
    return " ".join(["Merged.", *(merged.warnings or ["Indexing has started."])])


def bypass(actor: Actor, number: int, note: str, head: str) -> str:
    """Merge without the approvals that the rules require, with a reason."""
    if not note.strip():
        raise BadInput("Say why the review rules are bypassed. The reason stays with the change for ever.")
    merged = app().reviews.merger.merge(actor, number, bypass=note)
    return " ".join(["Merged without approval. The reason stays with the change.", *merged.warnings])


def close(actor: Actor, number: int, note: str, head: str) -> str:
    app().reviews.changes.close(actor, number, note)
    return "Closed. It can be reopened."


def reopen(actor: Actor, number: int, note: str, head: str) -> str:
    app().reviews.changes.reopen(actor, number)
    return "Reopened as a draft."


def revert(actor: Actor, number: int, note: str, head: str) -> str:
    """Propose to undo it, and open that change."""
    undo = app().reviews.merger.revert(actor, number)
    address.show(**{keys.CHANGE: str(undo.id)})
    return f"Change #{undo.id} undoes it, once it is reviewed and merged."


TRANSITIONS: dict[str, Callable[[Actor, int, str, str], str]] = {
    "submit": submit,
    "ask": ask,
    "invite": invite,
    "approve": approve,
    "request changes": request_changes,
    "take back": take_back,
    "lift": lift,
    "merge": merge,
    "bypass": bypass,
    "withdraw": withdraw,
    "close": close,
    "reopen": reopen,
    "revert": revert,
}


def key_of(name: str, number: int, part: str = "do") -> str:
    """The widget key of a button, its note or its popover; a new one after each time it was done, so that it starts
    closed and empty.
    """
    times = st.session_state.get(keys.DONE, {}).get(f"{name} {number}", 0)
    return f"{part}_{name.replace(' ', '_')}_{number}" + (f"_{times}" if times else "")


def chosen(name: str, number: int) -> list[str]:
    """The accounts in the box that says whom to ask."""
    return list(st.session_state.get(key_of(name, number, "whom"), ()))


def do(name: str, number: int, head: str) -> None:
    note = str(st.session_state.get(key_of(name, number, "note"), ""))

    def act(actor: Actor) -> str:
        sentence = TRANSITIONS[name](actor, number, note, head)
        done = st.session_state.setdefault(keys.DONE, {})
        done[f"{name} {number}"] = done.get(f"{name} {number}", 0) + 1
        return sentence

    actions.do(act)
