"""Feedback on a document, from everybody; and what readers said, for those who write."""

from __future__ import annotations

import streamlit as st

from core.access import Actor, allowed
from core.curation.review.moves import names
from core.services.knowledge.feedback import ReadSpan
from core.storage.state.records import Feedback
from core.types import Document
from pages.ui import actions, address, flash, keys, style
from pages.ui.workspace import app

SAID = {"wrong": "says that this is wrong", "comment": "comments"}


Mark = tuple[int, int] | None  # the passage that is meant


def buttons(document: Document, mark: Mark) -> None:
    """That it is wrong, and that it is right."""
    with st.popover("This is wrong", icon=":material/flag:", key="wrong_box", on_change="rerun"):
        _note(document, "wrong", f"What is wrong about {_about(mark)}?", mark)
    st.button(
        "Still right",
        key="still_right",
        icon=":material/verified:",
        help="You used it and its words are right: the owner sees that",
        on_click=actions.do,
        args=(lambda actor: _give(actor, document, "right", "", mark),),
    )


def comment(document: Document, mark: Mark) -> None:
    """Words to the owner that are neither."""
    _note(document, "comment", f"Your comment on {_about(mark)}", mark)


def _about(mark: Mark) -> str:
    return "the marked passage" if mark else "this document"


def said(document: Document, me: Actor) -> None:
    """Who confirmed the text, and the open feedback."""
    people = [said.name for said in app().knowledge.feedback.confirmations(document.path)]
    if people:
        shown = people[:3] + ([style.count(len(people) - 3, "other")] if len(people) > 3 else [])
        st.caption(
            f":material/verified: {flash.plain(names(shown))} {'says' if len(people) == 1 else 'say'} that this version"
            " is still right."
        )
    if allowed(me, "answer feedback"):
        _unknown_owner(document)
        for one in app().knowledge.feedback.open(me, document.path):
            _said(document, one)


def _note(document: Document, kind: str, question: str, mark: Mark) -> None:
    note = f"{kind}_note_{document.id}"

    def send() -> None:
        words = str(st.session_state.get(note, ""))
        if kind == "wrong":
            st.session_state["wrong_box"] = False
        actions.do(lambda actor: _give(actor, document, kind, words, mark))

    st.text_area(question, key=note, height=100, max_chars=2000)
    st.button("Tell the owner", key=f"{kind}_send", type="primary", on_click=send)


def _give(actor: Actor, document: Document, kind: str, note: str, mark: Mark) -> str:
    start, stop = mark or (0, 0)
    app().knowledge.feedback.give(actor, document.path, kind, note, ReadSpan(start, stop, document.version))
    st.session_state.pop(f"{kind}_note_{document.id}", None)
    return (
        "Thank you. The owner sees that it is still right."
        if kind == "right"
        else "Thank you. It is in the owner's inbox."
    )


def _unknown_owner(document: Document) -> None:
    unknown = app().inbox.owners.unknown(document)
    if unknown:
        st.caption(
            f":material/person_off: Nobody in Concord is called {flash.plain(names(unknown))}, so feedback goes to the"
            " admins."
        )


def _said(document: Document, said: Feedback) -> None:
    with st.container(border=True, key=f"feedback_{said.id}", gap="small"):
        st.markdown(f"**{flash.plain(said.name)}** {SAID[said.kind]} :small[:gray[{style.moment(said.at)}]]")
        if said.quote:
            st.markdown(f"> {flash.plain(said.quote)}")
        st.markdown(flash.plain(said.note))
        with st.container(horizontal=True, gap="small"):
            if st.button("Start an edit", key=f"edit_for_{said.id}", icon=":material/edit:"):
                address.show(**{keys.DOC: document.id, keys.DO: "edit"})
                st.rerun()
            with st.popover("Done", icon=":material/check:", key=f"done_box_{said.id}"):
                st.text_input(f"Words to {said.name} (optional)", key=f"answer_{said.id}")
                st.button("Done", key=f"done_{said.id}", type="primary", on_click=_done, args=(said.id, said.name))


def _done(number: int, name: str) -> None:
    words = str(st.session_state.get(f"answer_{number}", ""))

    def close(actor: Actor) -> str:
        app().knowledge.feedback.close(actor, number, words)
        return f"Done. {name} is told."

    actions.do(close)
