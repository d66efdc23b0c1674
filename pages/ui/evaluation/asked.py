"""What people asked: the questions asked most, whether they found something, and what the team keeps."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from urllib.parse import urlencode

import streamlit as st

from core.access import Actor, allowed
from core.services.platform.settings import MAX_DAYS, MAX_FIRST, QuestionSettings
from core.storage.state.records import Asked
from pages.ui import actions, identity, keys, style
from pages.ui.home import empty
from pages.ui.workspace import app

SHOWN = 200


def draw(queryset: str) -> None:
    me = identity.require("see asked questions")
    settings = app().platform.settings.questions()
    asked = app().search.queries.listed(me, SHOWN)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(_sentence(settings), width="stretch")
        if allowed(me, "decide on asked questions"):
            _decide(settings, bool(asked))
    if not asked:
        why = "They come by themselves when people search." if settings.keep else "The team keeps none."
        empty.state("forum", "No questions yet", why, "no_asked")
        return
    st.dataframe(
        [_row(question) for question in asked],
        hide_index=True,
        key="asked_questions",
        column_config={
            "Question": st.column_config.TextColumn(width="large"),
            "Found": st.column_config.NumberColumn(help="How often something was found that is likely to answer."),
            "Opened": st.column_config.NumberColumn(help="How often somebody went on to a document or used a passage."),
            "Search": st.column_config.LinkColumn(display_text="Search"),
        },
    )


def _sentence(settings: QuestionSettings) -> str:
    if not settings.keep:
        return "Questions are not kept."
    return (
        f"Questions of the last {style.count(settings.days, 'day')}, without names; everybody can leave theirs out on"
        " Search."
    )


def _row(asked: Asked) -> dict[str, object]:
    return {
        "Question": asked.question,
        "Asked": asked.times,
        "Found": asked.found,
        "Opened": asked.opened,
        "Last": style.day(asked.last[:10]),
        "Search": f"/search?{urlencode({keys.QUERY: asked.question})}",
    }


def _decide(settings: QuestionSettings, any_asked: bool) -> None:
    with st.popover("What is kept", icon=":material/tune:", type="tertiary", key="asked_settings"):
        keep = st.toggle("Keep questions, without names", settings.keep, key="asked_keep")
        days = st.number_input("For how many days", 1, MAX_DAYS, settings.days, key="asked_days", disabled=not keep)
        if settings.keep and not keep:
            st.caption("What was kept is removed.")
        help_text = "A document must stand among so many for every question that it answers."
        first = st.number_input(
            "Answers are found among the first", 1, MAX_FIRST, settings.first, key="asked_first", help=help_text
        )
        wanted = replace(settings, keep=keep, days=int(days), first=int(first))
        st.button("Save", key="asked_save", type="primary", on_click=actions.do, args=(partial(_save, wanted=wanted),))
    if any_asked and st.button("Forget all", icon=":material/delete:", type="tertiary", key="asked_forget"):
        actions.confirm("Forget every question?", ["Nobody can bring them back."], "Forget", _forget)


def _save(actor: Actor, wanted: QuestionSettings) -> str:
    app().search.queries.decide(actor, wanted)
    return _sentence(wanted)


def _forget(actor: Actor) -> str:
    return f"{style.count(app().search.queries.forget(actor), 'asking')} removed."
