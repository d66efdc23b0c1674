"""The questions that a document answers: one per row, suggested from its headings, and tried while one types."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from core.curation.document.questions import MAX_QUESTION, one_line
from core.errors import ConcordError
from core.services.answers.ranks import Place
from core.services.answers.writing import TriedAnswer
from core.types import Document
from pages.ui import flash, identity
from pages.ui.workspace import app

Try = Callable[[Sequence[str]], Sequence[TriedAnswer]]


def draw(answers: Sequence[str], key: str, document: Document | None = None) -> tuple[str, ...]:
    """Draw the rows; with the document as it is typed, also suggestions and where it would be found.

    Returns the questions.
    """
    rows: list[int] = st.session_state.setdefault(f"{key}_answer_rows", list(range(max(1, len(answers)))))
    typed = {row: st.session_state.get(_cell(key, row), answers[row] if row < len(answers) else "") for row in rows}
    questions = tuple(dict.fromkeys(line for text in typed.values() if (line := one_line(text or ""))))
    places = _places(document, questions) if document else {}
    for row in rows:
        _row(key, row, typed[row], places.get(one_line(typed[row] or "")))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Add a question",
            icon=":material/add:",
            type="tertiary",
            key=f"{key}_answer_add",
            on_click=_add,
            args=(key,),
        )
        if places:
            st.caption("Places are estimated: this text beside what Search serves now.")
    if document:
        _suggestions(document, questions, key)
    return questions


def _cell(key: str, row: int) -> str:
    return f"{key}_answer_{row}"


def _row(key: str, row: int, text: str, place: Place | None) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.text_input(
            f"Question {row + 1}",
            text,
            key=_cell(key, row),
            max_chars=MAX_QUESTION,
            placeholder="As somebody would type it",
            label_visibility="collapsed",
        )
        if place:
            st.markdown(badge(place), width="content")
        st.button(
            "Remove",
            icon=":material/close:",
            type="tertiary",
            key=f"{key}_answer_drop_{row}",
            help="Remove this question",
            on_click=_drop,
            args=(key, row),
        )


def badge(place: Place) -> str:
    """The place in colour: among the first, further down, or nowhere."""
    words = flash.plain(place.words[:1].upper() + place.words[1:]).replace("[", "(").replace("]", ")")
    if place.within(app().answers.checks.first):
        return f":green-badge[{words}]"
    return f":{'orange' if place.rank else 'red'}-badge[{words}]"


def _places(document: Document, questions: Sequence[str]) -> dict[str, Place]:
    tried = app().answers.writing.try_out(identity.me(), document, questions)
    return {one.question: one.place for one in tried if one.place}


def _suggestions(document: Document, questions: Sequence[str], key: str) -> None:
    """Questions that the headings answer, one click each; with a language model, a button that asks it."""
    offered = st.session_state.get(f"{key}_answer_model") or app().answers.writing.suggest(identity.me(), document)
    fresh = [question for question in offered if question not in questions]
    if fresh:
        st.pills(
            "Suggested" if f"{key}_answer_model" in st.session_state else "Suggested from the headings",
            fresh,
            key=f"{key}_answer_offer",
            on_change=_take,
            args=(key,),
        )
    if app().evaluation.generator.llm():
        st.button(
            "Suggest with the language model",
            icon=":material/auto_awesome:",
            type="tertiary",
            key=f"{key}_answer_ask",
            on_click=_ask,
            args=(key, document),
        )


def _add(key: str, text: str = "") -> None:
    rows: list[int] = st.session_state[f"{key}_answer_rows"]
    empty = next((row for row in rows if not one_line(st.session_state.get(_cell(key, row)) or "")), None)
    row = empty if text and empty is not None else max(rows, default=-1) + 1
    st.session_state[f"{key}_answer_rows"] = list(dict.fromkeys([*rows, row]))
    st.session_state[_cell(key, row)] = text


def _drop(key: str, row: int) -> None:
    rows: list[int] = st.session_state[f"{key}_answer_rows"]
    st.session_state[f"{key}_answer_rows"] = [other for other in rows if other != row] or [row + 1]
    st.session_state.setdefault(_cell(key, row + 1), "")


def _take(key: str) -> None:
    chosen = st.session_state.get(f"{key}_answer_offer")
    if chosen:
        st.session_state[f"{key}_answer_offer"] = None
        _add(key, str(chosen))


def _ask(key: str, document: Document) -> None:
    """Ask the language model; where it cannot answer, say why."""
    try:
        st.session_state[f"{key}_answer_model"] = list(
            app().answers.writing.suggest(identity.me(), document, model=True)
        )
    except ConcordError as error:
        flash.refuse(error)
