"""Edit a query set in place: add, change or remove a question, and change or remove its judgments."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from core.access import Actor
from core.evaluation.querysets.queryset import GRADES, Judgment, QuerySet, Question
from pages.ui import actions, flash, keys, style
from pages.ui.workspace import app

_GRADES = list(range(GRADES[0], GRADES[1] + 1))


def draw(queryset: QuerySet) -> None:
    """The form for a new question, and the one for the chosen question."""
    with st.popover("Add a question", icon=":material/add:", key="question_new"):
        _form("new", Question("", ""), partial(_add, queryset.name), "Add")
    questions = {question.id: question for question in queryset.questions}
    if st.session_state.get(keys.EDITED) not in questions:
        st.session_state.pop(keys.EDITED, None)
    chosen = st.selectbox(
        "Question to edit",
        list(questions),
        index=None,
        format_func=lambda ident: questions[ident].text,
        placeholder="Choose a question to edit it and its judgments",
        key=keys.EDITED,
    )
    if chosen:
        with st.container(border=True, key="question_open"):
            _chosen(queryset, questions[chosen])


def _chosen(queryset: QuerySet, question: Question) -> None:
    _form(question.id, question, partial(_edit, queryset.name, question.id), "Save")
    judgments = [judgment for judgment in queryset.judgments if judgment.question == question.id]
    st.markdown(f"**{style.count(len(judgments), 'judgment')}**")
    for n, judgment in enumerate(judgments):
        _judgment(queryset.name, judgment, f"{question.id}_{n}")
    with st.popover("Add a judgment", icon=":material/add:", key=f"judgment_new_{question.id}"):
        _new_judgment(queryset.name, question)
    with st.container(horizontal=True, horizontal_alignment="right"):
        if st.button("Remove this question", icon=":material/delete:", type="tertiary", key=f"drop_{question.id}"):
            will = [f"Its {style.count(len(judgments), 'judgment')} go with it.", "Runs that exist keep their figures."]
            act = partial(_remove, name=queryset.name, ident=question.id)
            actions.confirm(f"Remove the question: {question.text}", will, "Remove", act)


def _form(key: str, question: Question, act: Callable[[str, str], None], label: str) -> None:
    text, category, go = st.columns([0.62, 0.24, 0.14], vertical_alignment="bottom")
    text.text_input("Question", question.text, key=f"text_{key}")
    category.text_input("Category", question.category, key=f"category_{key}")
    keyed = (f"text_{key}", f"category_{key}")
    go.button(label, key=f"save_{key}", on_click=act, args=keyed, width="stretch")


def _value(key: str) -> str:
    return str(st.session_state[key])


def _add(name: str, text: str, category: str) -> None:
    def add(actor: Actor) -> str:
        question = app().evaluation.editor.add_question(actor, name, _value(text), _value(category))
        st.session_state[keys.EDITED] = question.id
        st.session_state[text] = ""
        return "The question was added. Judge it here, or in the playground."

    actions.do(add)


def _edit(name: str, ident: str, text: str, category: str) -> None:
    def edit(actor: Actor) -> str:
        app().evaluation.editor.edit_question(actor, name, ident, _value(text), _value(category))
        return "The question was saved."

    actions.do(edit)


def _remove(actor: Actor, name: str, ident: str) -> str:
    app().evaluation.editor.remove_question(actor, name, ident)
    return "The question was removed."


# ---------------------------------------------------------------- judgments


def _judgment(name: str, judgment: Judgment, key: str) -> None:
    """One judgment: what it is about, its grade and note, and the ways to change it."""
    place = " › ".join((judgment.path, *judgment.heading))
    st.caption(f"{flash.plain(place)} · by {flash.plain(judgment.judge or judgment.source)}")
    if judgment.quote:
        st.caption(f"“{flash.plain(judgment.quote[:240])}{'…' if len(judgment.quote) > 240 else ''}”")
    grade, note, save, remove = st.columns([0.16, 0.54, 0.14, 0.16], vertical_alignment="bottom")
    offered = sorted({*map(float, _GRADES), judgment.grade})
    grade.selectbox(
        "Grade", offered, offered.index(judgment.grade), format_func=lambda value: f"{value:g}", key=f"grade_{key}"
    )
    note.text_input("Note", judgment.note, key=f"note_{key}", placeholder="Why this grade")
    save.button("Save", key=f"judged_{key}", on_click=_regrade, args=(name, judgment, key), width="stretch")
    remove.button("Remove", key=f"unjudged_{key}", on_click=_unjudge, args=(name, judgment), width="stretch")


def _regrade(name: str, judgment: Judgment, key: str) -> None:
    def regrade(actor: Actor) -> str:
        place = (judgment.question, judgment.path, judgment.heading, judgment.quote)
        given = Judgment(*place, float(st.session_state[f"grade_{key}"]), note=_value(f"note_{key}").strip())
        app().evaluation.editor.put_judgment(actor, name, given, instead_of=judgment)
        return "The judgment was saved as yours."

    actions.do(regrade)


def _unjudge(name: str, judgment: Judgment) -> None:
    def remove(actor: Actor) -> str:
        app().evaluation.editor.remove_judgment(actor, name, judgment)
        return "The judgment was removed."

    actions.do(remove)


def _new_judgment(name: str, question: Question) -> None:
    documents = {document.path: document.title for document in app().knowledge.documents.all()}
    path = st.selectbox(
        "Document",
        list(documents),
        index=None,
        format_func=lambda path: f"{documents[path]} ({path})",
        key=f"new_path_{question.id}",
    )
    st.text_input("Exact words that answer", key=f"new_quote_{question.id}", placeholder="Empty: the whole document")
    st.segmented_control("Grade", _GRADES, default=_GRADES[-1], key=f"new_grade_{question.id}")
    st.text_input("Note", key=f"new_note_{question.id}")
    st.button("Add", key=f"new_judged_{question.id}", on_click=_judge, args=(name, question.id), disabled=path is None)


def _judge(name: str, ident: str) -> None:
    def judge(actor: Actor) -> str:
        grade = st.session_state[f"new_grade_{ident}"]
        given = Judgment(
            ident,
            _value(f"new_path_{ident}"),
            quote=" ".join(_value(f"new_quote_{ident}").split()),
            grade=float(_GRADES[-1] if grade is None else grade),
            note=_value(f"new_note_{ident}").strip(),
        )
        app().evaluation.editor.put_judgment(actor, name, given)
        return "The judgment was added."

    actions.do(judge)
