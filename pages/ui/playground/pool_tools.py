"""Below a blind pool: add a passage that it lacks, and say whether the answer that people get was good."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import streamlit as st

from core.access import Actor
from core.curation.text.excerpts import excerpt_text
from core.evaluation.querysets.ratings import FIRST, RATINGS, WRITTEN, words_of
from core.services.playground.compare import CachedSearch, Comparison, named_passage
from core.services.playground.grades import GRADES, anchor
from core.services.playground.notebook import Setup
from core.services.playground.pools import ANSWER, ShownAnswer
from core.types import Hit
from pages.ui import actions, flash, identity, keys
from pages.ui.playground import judging, state, view_data
from pages.ui.workspace import app

_KINDS = {FIRST: "The first result", WRITTEN: "A written answer"}
_GRADES = {str(grade): f"{grade} {word}" for grade, word in GRADES.items() if grade}


def draw(now: Setup, comparison: Comparison) -> None:
    """Both questions that come after the grades."""
    me, searches = identity.me(), state.searches(now)
    search = searches.get(now.columns[0].profile)
    if search is None:
        return
    pooled = view_data.pooled(me, now, comparison, searches)
    with st.container(border=True, key="pool_missing"):
        st.header("Is something missing?", anchor=False)
        _missing(me, now, search, pooled)
    with st.container(border=True, key="pool_answer"):
        st.header("Was the answer good?", anchor=False)
        _answer(me, now)


# ---------------------------------------------------------------- what the pool lacks


def _missing(me: Actor, now: Setup, search: CachedSearch, pooled: Sequence[Hit]) -> None:
    st.caption("Look for a passage that is not in the list. Once you grade it, every other judge gets it too.")
    words = st.text_input(
        "Search all documents", key=keys.MISSING, placeholder="Words of the passage", icon=":material/search:"
    )
    known = {anchor(hit) for hit in pooled}
    for hit in app().playground.pools.find(me, words, search.index):
        _offer(now, hit, anchor(hit) in known)
    for hit in pooled:
        if hit.chunk in app().playground.pools.own(me, now.query, pooled):
            with st.container(horizontal=True, vertical_alignment="center", key=f"own_{hit.chunk}"):
                st.caption(f"You added {flash.plain(_place(hit))}.", width="stretch")
                st.button(
                    "Take out", key=f"out_{hit.chunk}", type="tertiary", on_click=_take_out, args=(now, hit.chunk)
                )


def _offer(now: Setup, hit: Hit, known: bool) -> None:
    """One passage with its whole text: nobody should grade a part."""
    with st.expander(flash.plain(_place(hit)), key=f"offer_{hit.chunk}"):
        st.text(excerpt_text(hit.text))
        if known:
            st.caption("It is in the list above. Grade it there.")
            return
        key = f"add_{hit.chunk}"
        st.segmented_control(
            "Add it, with your grade",
            list(_GRADES),
            format_func=_GRADES.__getitem__,
            key=key,
            on_change=_add,
            args=(now, hit.chunk, key),
        )


def _add(now: Setup, chunk: str, key: str) -> None:
    chosen = st.session_state.get(key)

    def add(actor: Actor) -> str:
        hit, pooled = _passage(actor, now, chunk)
        app().playground.pools.add(actor, now.query, hit, pooled)
        grade = app().playground.grades.judge(actor, now.query, hit, int(str(chosen)), blind=True)
        judging.keep(actor, now, grade)
        return f"{hit.title} is in the list now, with your grade."

    if chosen is not None:
        actions.do(add)


def _take_out(now: Setup, chunk: str) -> None:
    def remove(actor: Actor) -> str:
        hit, _ = _passage(actor, now, chunk)
        app().playground.pools.remove(actor, now.query, hit)
        return f"{hit.title} was taken out. Grades of it stay."

    actions.do(remove)


def _passage(actor: Actor, now: Setup, chunk: str) -> tuple[Hit, tuple[Hit, ...]]:
    """A passage of the first column's index, and what is in the pool now."""
    searches = state.searches(now)
    index = searches[now.columns[0].profile].index
    return named_passage(index, chunk), view_data.pooled(actor, now, state.compare(now), searches)


def _place(hit: Hit) -> str:
    return " › ".join((hit.title, *hit.heading))


# ---------------------------------------------------------------- the answer


def _answer(me: Actor, now: Setup) -> None:
    st.caption("Grade the passages first: this shows what search puts on top.")
    kinds = [FIRST, *([WRITTEN] if app().settings.llm else [])]
    with st.container(horizontal=True):
        for kind in kinds:
            st.button(f"Show {_KINDS[kind].lower()}", key=f"show_{kind.split()[0]}", on_click=_show, args=(now, kind))
    shown = _shown(now)
    if shown is None:
        return
    with st.container(border=True, key="shown_answer"):
        if shown.title:
            st.markdown(f"**{flash.plain(' › '.join((shown.title, *shown.heading)))}**")
        st.text(excerpt_text(shown.text))
        if shown.by or shown.advice:
            st.caption(flash.plain(f"Written by {shown.by}." if shown.by else shown.advice))
    _rating(me, now, shown)


def _rating(me: Actor, now: Setup, shown: ShownAnswer) -> None:
    mine = [given for given in app().playground.pools.ratings(me, now.query) if given.judge == me.id]
    before = next((given for given in mine if given.kind == shown.kind), None)
    same = before if before and before.answer == shown.text[:ANSWER] else None
    if before and not same:
        st.caption(f"You said {before.rating} of another answer, which search gave before.")
    with st.form("rate_answer", border=False):
        st.segmented_control(
            "Was it good?", RATINGS, format_func=str.capitalize, default=same.rating if same else None, key="rating"
        )
        st.text_input("Note", same.note if same else "", key="rating_note", placeholder="Why, if you like")
        st.form_submit_button("Keep", on_click=_rate, args=(now,))


def _shown(now: Setup) -> ShownAnswer | None:
    stored: dict[str, Any] = st.session_state.get(keys.SHOWN_ANSWER) or {}
    if stored.get("query") != words_of(now.query):
        return None
    return ShownAnswer(**{**stored["answer"], "heading": tuple(stored["answer"]["heading"])})


def _show(now: Setup, kind: str) -> None:
    def show(actor: Actor) -> None:
        answer = asdict(app().playground.pools.answer(actor, now.query, kind))
        answer["heading"] = list(answer["heading"])
        st.session_state[keys.SHOWN_ANSWER] = {"query": words_of(now.query), "answer": answer}
        st.session_state.pop("rating", None)
        st.session_state.pop("rating_note", None)

    actions.do_quietly(show)


def _rate(now: Setup) -> None:
    shown, rating = _shown(now), st.session_state.get("rating")
    if shown is None:
        return

    def rate(actor: Actor) -> str:
        note = str(st.session_state.get("rating_note") or "")
        app().playground.pools.rate(actor, now.query, shown, str(rating or ""), note)
        return "Kept. The query set shows how often answers are good."

    actions.do(rate)
