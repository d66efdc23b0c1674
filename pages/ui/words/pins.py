"""Answers pinned to questions: the form and the list."""

from __future__ import annotations

import streamlit as st

from core.access import Actor
from core.curation.checks.findings import File
from core.curation.text.markup import slugify
from core.curation.words.pins import FILE, Pin
from core.services.words.words import PinState
from core.types import Document
from pages.ui import flash, keys
from pages.ui.words import saving
from pages.ui.workspace import app

WHOLE = "The passage that fits best"


def draw(me: Actor) -> None:
    change = app().words.rules.open_change(me, FILE)
    _form()
    saving.waiting(change)
    now = app().words.rules.pins(me)
    proposed = app().words.rules.pins(me, change) if change else now
    pins = {state.pin for state in now}
    wanted = {state.pin for state in proposed}
    for state in [*proposed, *(state for state in now if state.pin not in wanted)]:
        _row(state, saving.fate(state.pin in pins, state.pin in wanted))
    if not (now or proposed):
        st.caption("Nothing is pinned yet. Pin a document above, or a result on the Search page.")


def _form() -> None:
    approved = {one.path: one for one in app().knowledge.documents.all() if one.meta.status == "approved"}
    with st.container(border=True, key="pin_form"):
        st.text_input("Question", key=keys.PIN_QUESTION, placeholder="How do I get a new laptop?", max_chars=300)
        left, right = st.columns(2)
        path = left.selectbox(
            "Document that answers it",
            list(approved),
            index=None,
            placeholder="Choose a document",
            format_func=lambda path: f"{approved[path].title} · {path}" if path in approved else path,
            key=keys.PIN_DOCUMENT,
        )
        right.selectbox("Section", _sections(approved.get(path or "")), key=keys.PIN_SECTION)
        st.text_area(
            "The same question in other words (optional)", key=keys.PIN_ALSO, placeholder="One on each line", height=80
        )
        st.caption("It stands first whenever somebody asks with the same words, in any order and form.")
        st.button("Propose", type="primary", key="pin_add", icon=":material/push_pin:", on_click=_add)


def _sections(document: Document | None) -> list[str]:
    titles = [heading.title for heading in File(document).headings if heading.title] if document else []
    return [WHOLE, *dict.fromkeys(titles)]


def _add() -> None:
    typed = st.session_state
    section = str(typed.get(keys.PIN_SECTION) or WHOLE)
    also = [" ".join(line.split()) for line in str(typed.get(keys.PIN_ALSO) or "").splitlines()]
    pin = Pin(
        " ".join(str(typed.get(keys.PIN_QUESTION) or "").split()),
        str(typed.get(keys.PIN_DOCUMENT) or ""),
        "" if section == WHOLE else section,
        tuple(line for line in also if line),
    )
    if saving.propose(FILE, lambda actor, target: app().words.rules.pin(actor, pin, target)):
        typed[keys.PIN_QUESTION], typed[keys.PIN_ALSO] = "", ""


def _row(state: PinState, change: str) -> None:
    pin = state.pin
    with st.container(horizontal=True, vertical_alignment="center", key=f"pin_{slugify(pin.question)}"):
        with st.container(gap=None, width="stretch"):
            st.markdown(f":material/push_pin: **{flash.plain(pin.question)}**{saving.BADGES[change]}")
            also = f" · also: {flash.plain(', '.join(pin.also))}" if pin.also else ""
            place = " › ".join(part for part in (state.title or pin.document, pin.section) if part)
            st.caption(f"{flash.plain(place)}{also}")
            if state.problem:
                st.caption(f":orange[:material/warning: {flash.plain(state.problem)}]")
        if change != "goes":
            st.button(
                "Remove",
                key=f"unpin_{pin.question}",
                type="tertiary",
                help=f"Propose to unpin “{pin.question}”",
                on_click=saving.clicked,
                args=(FILE, lambda actor, target: app().words.rules.unpin(actor, pin.question, target)),
            )
