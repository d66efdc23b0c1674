"""Words that mean the same: the form, the list, and acronyms that documents explain."""

from __future__ import annotations

import streamlit as st

from core.access import Actor
from core.curation.text.markup import slugify
from core.curation.words.synonyms import FILE, Synonym
from core.services.words.words import Acronym
from pages.ui import flash, keys, style
from pages.ui.words import saving
from pages.ui.workspace import app

BOTH, ONE = "Both ways", "One way"
WAYS = {
    BOTH: "Whoever types one of them also finds the others.",
    ONE: "Whoever types the first also finds the others, not the other way round.",
}
SHOWN = 25  # acronyms


def draw(me: Actor) -> None:
    change = app().words.rules.open_change(me, FILE)
    _form()
    saving.waiting(change)
    now = app().words.rules.synonyms(me)
    proposed = app().words.rules.synonyms(me, change) if change else now
    rows = sorted({*now, *proposed}, key=lambda synonym: synonym.text.casefold())
    with st.container(gap="xsmall", key="synonym_rows"):
        for synonym in rows:
            _row(synonym, saving.fate(synonym in now, synonym in proposed))
    if not rows:
        st.caption("No synonyms yet. Add the first above, or look at the suggestions.")


def _form() -> None:
    with st.container(border=True, key="synonym_form"):
        st.text_input(
            "Words that mean the same",
            key=keys.SYNONYM_WORDS,
            placeholder="PTO, vacation, annual leave",
            help="Put commas between them. A phrase of several words is fine.",
        )
        way = st.segmented_control("They count", list(WAYS), default=BOTH, required=True, key=keys.SYNONYM_WAY)
        st.caption(WAYS[way or BOTH])
        st.button("Propose", type="primary", key="synonym_add", icon=":material/add:", on_click=_add)


def _add() -> None:
    words = [" ".join(word.split()) for word in str(st.session_state.get(keys.SYNONYM_WORDS) or "").split(",")]
    words = [word for word in words if word]
    one_way = st.session_state.get(keys.SYNONYM_WAY) == ONE and len(words) > 1
    text = f"{words[0]} -> {' = '.join(words[1:])}" if one_way else " = ".join(words)
    if saving.propose(FILE, lambda actor, target: app().words.rules.add(actor, [text], target)):
        st.session_state[keys.SYNONYM_WORDS] = ""


def _row(synonym: Synonym, state: str) -> None:
    sign = " → " if synonym.means else " = "
    sides = [synonym.words, synonym.means] if synonym.means else [(word,) for word in synonym.words]
    text = sign.join(" = ".join(f"**{flash.plain(word)}**" for word in side) for side in sides)
    with st.container(horizontal=True, vertical_alignment="center", key=f"synonym_{slugify(synonym.text)}"):
        st.markdown(f"{text}{saving.BADGES[state]}", width="stretch")
        if state != "goes":
            st.button(
                "Remove",
                key=f"remove_{synonym.text}",
                type="tertiary",
                help=f"Propose to remove {synonym.text}",
                on_click=saving.clicked,
                args=(FILE, lambda actor, target: app().words.rules.remove(actor, synonym.text, target)),
            )


def suggestions(me: Actor) -> None:
    """Acronyms that documents explain, each with a button that proposes it."""
    change = app().words.rules.open_change(me, FILE)
    known = {synonym.text for synonym in app().words.rules.synonyms(me, change)} if change else set()
    found = [acronym for acronym in app().words.rules.acronyms(me) if acronym.synonym.text not in known]
    st.caption("Short forms that documents explain in brackets, and that the synonyms do not have yet.")
    saving.waiting(change)
    for acronym in found[:SHOWN]:
        _suggestion(acronym)
    if len(found) > SHOWN:
        st.caption(f"{style.count(len(found) - SHOWN, 'more suggestion')} come up when these are taken.")
    if not found:
        st.caption("Nothing to suggest: no document explains a short form that the synonyms lack.")


def _suggestion(acronym: Acronym) -> None:
    more = f" and {style.count(acronym.documents - 1, 'other document')}" if acronym.documents > 1 else ""
    sentence = acronym.sentence if len(acronym.sentence) <= 240 else f"{acronym.sentence[:240]}…"
    with st.container(horizontal=True, vertical_alignment="center", key=f"acronym_{slugify(acronym.short)}"):
        with st.container(gap=None, width="stretch"):
            st.markdown(f"**{flash.plain(acronym.short)}** = **{flash.plain(acronym.long)}**")
            st.caption(f"{flash.plain(acronym.title)}{more}: “{flash.plain(sentence)}”")
        st.button(
            "Add",
            key=f"take_{acronym.short}",
            icon=":material/add:",
            help=f"Propose {acronym.synonym.text}",
            on_click=saving.clicked,
            args=(FILE, lambda actor, target: app().words.rules.add(actor, [acronym.synonym.text], target)),
        )
