"""Query sets: the list, and the chosen one with its questions, judges and judgments that lost their place."""

from __future__ import annotations

from collections import Counter
from functools import partial

import streamlit as st

from core.access import Actor
from core.evaluation.querysets.export_querysets import WRITERS
from core.evaluation.querysets.queryset import QuerySet, by_category
from core.spreadsheet import csv_text
from pages.ui import actions, flash, identity, keys, meanwhile, progress, style
from pages.ui.evaluation import new_set, question_editor
from pages.ui.home import empty
from pages.ui.workspace import app, generation, unmapped

SHOWN = 500


def draw(chosen: str) -> None:
    new_set.draw()
    new_set.outcome()
    progress.draw(("generate",))
    if not chosen:
        empty.state(
            "quiz",
            "No query set yet",
            "A query set is questions with the places that answer them. Generate known items to start in a minute.",
            "no_sets",
        )
        return
    rows = [
        {
            "Query set": summary.name,
            "Questions": summary.questions,
            "Judgments": summary.judgments,
            "Judges": summary.judges,
            "By": summary.who,
            "Made": style.moment(summary.created),
            "About": summary.about,
        }
        for summary in app().evaluation.querysets.listed(identity.me())
    ]
    st.dataframe(rows, hide_index=True, key="sets")
    _query_set(app().evaluation.querysets.show(identity.me(), chosen))


def _query_set(queryset: QuerySet) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.header(flash.plain(queryset.name), anchor=False, width="stretch")
        if st.button("Judge", icon=":material/checklist:", type="tertiary", key="set_judge"):
            st.switch_page("pages/playground.py", query_params={keys.JUDGE: queryset.name})
        with st.popover("Rename", icon=":material/edit:", type="tertiary", key="set_rename"):
            st.text_input("Name", queryset.name, key=f"rename_{queryset.name}", max_chars=40)
            st.button("Rename", key="set_rename_go", on_click=_rename, args=(queryset.name,))
        with st.popover("Export", icon=":material/download:", type="tertiary", key="set_export"):
            for form in WRITERS:
                _download(queryset.name, form)
        if st.button("Delete", icon=":material/delete:", type="tertiary", key="set_drop"):
            actions.confirm(
                f"Delete the query set {queryset.name}?",
                [
                    (
                        f"{style.count(len(queryset.questions), 'question')} and"
                        f" {style.count(len(queryset.judgments), 'judgment')} are deleted."
                    ),
                    "Its runs are kept, with their questions.",
                ],
                "Delete",
                partial(delete, name=queryset.name),
            )
    groups, sources = by_category(queryset), Counter(judgment.source for judgment in queryset.judgments)
    with st.container(gap="xxsmall"):
        st.caption(
            flash.plain(
                "Questions: " + ", ".join(f"{name.replace('_', ' ')} {len(ids)}" for name, ids in groups.items())
            )
        )
        st.caption(
            flash.plain("Judged by: " + (", ".join(f"{name} {n}" for name, n in sources.items()) or "nobody yet"))
        )
        _unmapped(queryset)
        _agreement(queryset.name)
        _pool_summary(queryset.name)
    _guard(queryset.name)
    _left_out(queryset.name)
    with st.expander("Questions", icon=":material/list:", key="set_questions"):
        _questions(queryset)
        question_editor.draw(queryset)
    with st.expander("Guidelines for judges", icon=":material/gavel:", key="set_guidelines"):
        guidelines = app().evaluation.querysets.guidelines(identity.me(), queryset.name)
        meanwhile.say(f"guide_{queryset.name}", guidelines)
        st.text_area(
            "Guidelines",
            guidelines,
            key=f"guide_{queryset.name}",
            height=110,
            label_visibility="collapsed",
        )
        st.button("Keep", key="guide_keep", on_click=_save_guidelines, args=(queryset.name,))


def _guard(name: str) -> None:
    on = any(summary.guard for summary in app().evaluation.querysets.listed(identity.me()) if summary.name == name)
    st.toggle(
        "Guard: ask every change these questions",
        on,
        key=f"guard_{name}",
        help=(
            "The Search tab of a change says what it does to them, and a review rule can stop a change that loses here."
        ),
        on_change=_set_guard,
        args=(name,),
    )


def _set_guard(name: str) -> None:
    on = bool(st.session_state[f"guard_{name}"])

    def guard(actor: Actor) -> str:
        app().evaluation.querysets.guard(actor, name, on)
        return f"{name} is a guard now." if on else f"{name} is no guard any more."

    actions.do(guard)


def _download(name: str, form: str) -> None:
    label = {"jsonl": "JSONL, everything", "csv": "CSV, everything", "beir": "BEIR folder", "trec": "TREC files"}[form]
    account = identity.me().id
    ending = form if form in ("jsonl", "csv") else "zip"
    st.download_button(
        label,
        lambda: app().evaluation.querysets.export(app().people.accounts.actor(account), name, form)[1],
        f"{name}.{ending}" if ending == form else f"{name}-{form}.zip",
        key=f"set_{form}",
        icon=":material/download:",
        on_click="ignore",
    )


def _unmapped(queryset: QuerySet) -> None:
    """Judgments without a place in the serving generation are listed, never dropped."""
    lost = unmapped(queryset.name, queryset.digest, generation(), identity.me())
    if not lost:
        st.caption("Every judgment finds its place in the index that serves now.")
        return
    with st.expander(
        f"{style.count(len(lost), 'judgment')} without a place", icon=":material/link_off:", key="set_lost"
    ):
        st.caption("They are kept, and count again when their place comes back.")
        rows = [
            {"Question": entry.judgment.question, "Document": entry.judgment.path, "Why": entry.why} for entry in lost
        ]
        st.dataframe(rows, hide_index=True, key="lost")


def _left_out(name: str) -> None:
    """Lines that the last import left out; they stay until the next import."""
    problems = app().evaluation.querysets.problems(identity.me(), name)
    if not problems:
        return
    with st.expander(
        f"{style.count(len(problems), 'line')} of the last import left out",
        icon=":material/rule:",
        expanded=True,
        key="set_left",
    ):
        rows = [{"Line": problem.line, "Why": problem.why, "File": problem.file} for problem in problems]
        st.dataframe(rows, hide_index=True, key="left", column_config={"Why": st.column_config.TextColumn(width=560)})
        st.download_button(
            "Download the list",
            csv_text([("line", "why", "file"), *((row["Line"], row["Why"], row["File"]) for row in rows)]),
            f"{name}-left-out.csv",
            "text/csv",
            icon=":material/download:",
            key="left_csv",
            on_click="ignore",
        )


def _rename(name: str) -> None:
    def rename(actor: Actor) -> str:
        renamed = app().evaluation.editor.rename(actor, name, str(st.session_state[f"rename_{name}"]))
        st.session_state[keys.QUERYSET] = renamed.name
        return f"{name} is now called {renamed.name}."

    actions.do(rename)


def _agreement(name: str) -> None:
    pairs = [pair for pair in app().evaluation.querysets.agreement(identity.me(), name) if pair.kappa is not None]
    if not pairs:
        st.caption("Agreement is shown as soon as two judges grade the same places.")
        return
    rows = [
        {"Judges": " and ".join(pair.judges), "Places": pair.places, "Same verdict": pair.same, "Kappa": pair.kappa}
        for pair in pairs
    ]
    st.dataframe(
        rows,
        hide_index=True,
        key="agreement",
        column_config={
            "Same verdict": st.column_config.NumberColumn(format="percent"),
            "Kappa": st.column_config.NumberColumn(format="%.2f", help="0 is chance, 1 is full agreement."),
        },
    )


def _pool_summary(name: str) -> None:
    """Whether answers were good, and how often judges had to add a passage."""
    summary = app().evaluation.querysets.pool_summary(identity.me(), name)
    for quality in summary.answers:
        kappas = [
            f"{' and '.join(pair.judges)}: kappa {pair.kappa:.2f}" for pair in quality.judges if pair.kappa is not None
        ]
        said = f"The {quality.kind} was good for {quality.good} rated questions, partly for {quality.partly}."
        st.caption(flash.plain(" ".join([said, *(f"{kappa}." for kappa in kappas)])))
    if summary.added.of and (summary.answers or summary.added.count):
        st.caption(
            f"Judges added a passage for {summary.added} judged questions; for {summary.new_documents} "
            "it came from a document that was not in the list."
        )


def _questions(queryset: QuerySet) -> None:
    judged = Counter(judgment.question for judgment in queryset.judgments)
    rows = [
        {"Question": question.text, "Category": question.category, "Judgments": judged[question.id], "Id": question.id}
        for question in queryset.questions[:SHOWN]
    ]
    st.dataframe(rows, hide_index=True, key="questions", height=min(320, 38 + 35 * len(rows)))
    if len(queryset.questions) > SHOWN:
        st.caption(f"The first {SHOWN} of {len(queryset.questions):,}; the export has all.")


def _save_guidelines(name: str) -> None:
    actions.do(partial(set_guidelines, name=name, text=str(st.session_state[f"guide_{name}"])))


def set_guidelines(actor: Actor, name: str, text: str) -> str:
    app().evaluation.querysets.set_guidelines(actor, name, text, meanwhile.shown(f"guide_{name}"))
    return "Judges see these guidelines from now on."


def delete(actor: Actor, name: str) -> str:
    app().evaluation.querysets.drop(actor, name)
    return f"The query set {name} was deleted."
