"""The top of the playground: query, filters and history."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from core import strict
from core.services.playground.examples import ExampleQuestion
from core.services.playground.notebook import Setup
from core.types import Filters
from pages.ui import actions, identity, keys, style
from pages.ui.flash import plain
from pages.ui.playground import state, view_data
from pages.ui.workspace import app


def draw(now: Setup) -> None:
    """The title with its popovers, then the query box."""
    with st.container(horizontal=True, vertical_alignment="center", key="playground_bar"):
        st.title("Playground", anchor=False, width="stretch")
        with st.popover(_filter_words(now.filters), icon=":material/filter_list:", type="tertiary"):
            _filters(now.filters)
        with st.popover("History", icon=":material/history:", type="tertiary"):
            _history()
    with st.form("playground_ask", border=False):
        box, go = st.columns([1, 0.12], vertical_alignment="bottom")
        box.text_area(
            "Query",
            key=keys.ASK,
            height=68,
            label_visibility="collapsed",
            placeholder="One query for all columns. Ctrl+Enter runs it.",
        )
        go.form_submit_button(
            "Run", type="primary", on_click=run, icon=":material/play_arrow:", width="stretch", help="Ctrl+Enter"
        )

    _examples(now)


def _examples(now: Setup) -> None:
    """A row of questions to click, until somebody asks their own."""
    examples = view_data.examples(identity.me())
    if not examples or now.query not in ("", *(example.text for example in examples)):
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="playground_examples"):
        st.caption("Answered differently:", width="content")
        for n, example in enumerate(examples):
            if example.text != now.query:
                st.button(plain(example.text), key=f"example_{n}", type="tertiary", on_click=_ask, args=(example,))


def _ask(example: ExampleQuestion) -> None:
    state.put(state.example(example), fresh=True, link="")
    st.query_params.clear()


def run() -> None:
    """Start a new run: every column searches again."""
    now = replace(state.setup(), query=" ".join(str(st.session_state[keys.ASK]).split()), queryset="", question="")
    if now.query != state.setup().query:
        now = replace(now, document="")  # it was the answer to another question
    if not now.query:
        return
    state.put(now, fresh=True)
    actions.do_quietly(lambda actor: app().playground.notebook.remember(actor, now))
    actions.do_quietly(lambda _: state.keep(now))


def _filter_words(filters: Filters) -> str:
    chosen = sum(len(getattr(filters, name)) for name in ("types", "folders", "tags"))
    return "Filters" + (f": {chosen}" if chosen else "") + (", with history" if filters.history else "")


def _filters(filters: Filters) -> None:
    """Which documents may be found; applied to every column at the next run."""
    documents = app().knowledge.documents.all()
    options = {
        "types": sorted(
            {document.meta.doc_type for document in documents if document.meta.doc_type} | set(filters.types)
        ),
        "folders": sorted(
            {document.path.split("/")[0] for document in documents if "/" in document.path} | set(filters.folders)
        ),
        "tags": sorted({tag for document in documents for tag in document.meta.tags} | set(filters.tags)),
    }
    with st.form("playground_filters", border=False):
        for name, values in options.items():
            st.multiselect(
                name.capitalize(),
                values,
                key=keys.NARROWED[name],
                format_func=style.type_name if name == "types" else str,
            )
        st.toggle("Include retired, superseded and upcoming documents", key=keys.NARROWED["history"])
        st.form_submit_button("Apply", on_click=_apply)


def _apply() -> None:
    chosen = {name: st.session_state[key] for name, key in keys.NARROWED.items()}
    filters = strict.parse(Filters, chosen, "filters")
    state.put(replace(state.setup(), filters=filters), fresh=True)


def _history() -> None:
    """Past queries; a click opens one with its setup."""
    entries = app().playground.notebook.history(identity.me())
    if not entries:
        st.caption("What you run is listed here.")
    for entry in entries:
        with st.container(horizontal=True, vertical_alignment="center", key=f"asked_{entry.id}"):
            icon = ":material/star:" if entry.starred else ":material/star_border:"
            label = "Let go" if entry.starred else "Keep"
            st.button(
                label,
                icon=icon,
                key=f"star_{entry.id}",
                type="tertiary",
                on_click=_star,
                args=(entry.id, not entry.starred),
            )
            st.button(
                _short(entry.query), key=f"again_{entry.id}", type="tertiary", on_click=_again, args=(entry.link,)
            )


def _star(number: int, on: bool) -> None:
    actions.do_quietly(lambda actor: app().playground.notebook.star(actor, number, on))


def _again(link: str) -> None:
    state.open_link(link)
    st.query_params.from_dict({keys.LINK: link})


def _short(query: str) -> str:
    return plain(query if len(query) <= 60 else query[:59] + "…")
