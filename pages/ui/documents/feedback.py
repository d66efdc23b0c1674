"""Feedback on a document: buttons for everybody, and what readers said for those who write."""

from __future__ import annotations

import streamlit as st

from core.access import Actor, allowed
from core.curation.review.moves import names
from core.storage.state.records import Feedback
from core.types import Document
from pages.ui import actions, address, flash, keys, style, watching
from pages.ui.workspace import app

SAID = {"wrong": "says that this is wrong", "comment": "comments"}


def draw(document: Document, me: Actor, mark: tuple[int, int] | None = None) -> None:
    """The buttons, who confirmed the text, and the open feedback."""
    with st.container(horizontal=True, key="feedback_tools", gap="small"):
        about = "the marked passage" if mark else "this document"
        _box(document, "wrong", "This is wrong", ":material/flag:", f"What is wrong about {about}?", mark)
        st.button(
            "Still right",
            key="still_right",
            icon=":material/verified:",
            help="You used it and its words are right: the owner sees that",
            on_click=actions.do,
            args=(lambda actor: _give(actor, document, "right", "", mark),),
        )
        _box(document, "comment", "Comment", ":material/chat:", f"Your comment on {about}", mark)
        watching.button(me, "document", document.path, "watch_document")
    people = [said.name for said in app().knowledge.feedback.confirmations(document.path)]
    if people:
        shown = people[:3] + ([style.count(len(people) - 3, "other")] if len(people) > 3 else [])
        st.caption(
            f":material/verified: {flash.plain(names(shown))} {'says' if len(people) == 1 else 'say'} that this version is still right."
        )
    if allowed(me, "answer feedback"):
        _unknown_owner(document)
        for said in app().knowledge.feedback.open(me, document.path):
            _said(document, said)


def _box(document: Document, kind: str, label: str, icon: str, question: str, mark: tuple[int, int] | None) -> None:
    box, note = f"{kind}_box", f"{kind}_note_{document.id}"

    def send() -> None:
        words = str(st.session_state.get(note, ""))
        st.session_state[box] = False
        actions.do(lambda actor: _give(actor, document, kind, words, mark))

    with st.popover(label, icon=icon, key=box, on_change="rerun"):
        st.text_area(question, key=note, height=100, max_chars=2000)
        st.button("Tell the owner", key=f"{kind}_send", type="primary", on_click=send)


def _give(actor: Actor, document: Document, kind: str, note: str, mark: tuple[int, int] | None) -> str:
    start, stop = mark or (0, 0)
    app().knowledge.feedback.give(actor, document.path, kind, note, start=start, stop=stop, version=document.version)
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
            f":material/person_off: Nobody in Concord is called {flash.plain(names(unknown))}, so feedback goes to the admins."
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
