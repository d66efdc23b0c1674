"""Query sets: which there are, and one of them closer: its questions, its judges, what lost its place."""

from __future__ import annotations

from collections import Counter
from functools import partial

import streamlit as st

from core.access import Actor
from core.evaluation.querysets import QuerySet, by_category
from core.evaluation.writing import WRITERS
from pages.ui import acts, empty, flash, progress, style
from pages.ui.evaluation import making
from pages.ui.workspace import app, generation, unmapped

SHOWN = 500


def draw(chosen: str) -> None:
    """The ways in, the list, and the chosen set."""
    making.draw()
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
            "Query set": one.name,
            "Questions": one.questions,
            "Judgments": one.judgments,
            "Judges": one.judges,
            "By": one.who,
            "Made": style.moment(one.created),
            "About": one.about,
        }
        for one in app().evaluation.querysets.all()
    ]
    st.dataframe(rows, hide_index=True, key="sets")
    _one(app().evaluation.querysets.get(chosen))


def _one(found: QuerySet) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader(flash.plain(found.name), anchor=False, width="stretch")
        with st.popover("Export", icon=":material/download:", type="tertiary", key="set_export"):
            for form in WRITERS:
                _download(found.name, form)
        if st.button("Delete", icon=":material/delete:", type="tertiary", key="set_drop"):
            acts.confirm(
                f"Delete the query set {found.name}?",
                [
                    f"{style.count(len(found.questions), 'question')} and {style.count(len(found.judgments), 'judgment')} go.",
                    "Its runs stay, with their questions.",
                ],
                "Delete",
                partial(drop, name=found.name),
            )
    groups, sources = by_category(found), Counter(one.source for one in found.judgments)
    with st.container(gap="xxsmall"):
        st.caption(flash.plain("Questions: " + ", ".join(f"{name.replace('_', ' ')} {len(ids)}" for name, ids in groups.items())))  # fmt: skip
        st.caption(flash.plain("Judged by: " + (", ".join(f"{name} {n}" for name, n in sources.items()) or "nobody yet")))  # fmt: skip
        _lost(found)
        _agreement(found.name)
    with st.expander("Questions", icon=":material/list:", key="set_questions"):
        _questions(found)
    with st.expander("Guidelines for judges", icon=":material/gavel:", key="set_guidelines"):
        st.text_area(
            "Guidelines",
            app().evaluation.querysets.guidelines(found.name),
            key=f"guide_{found.name}",
            height=110,
            label_visibility="collapsed",
        )
        st.button("Keep", key="guide_keep", on_click=_guide, args=(found.name,))  # fmt: skip


def _download(name: str, form: str) -> None:
    label = {"jsonl": "JSONL, everything", "csv": "CSV, everything", "beir": "BEIR folder", "trec": "TREC files"}[form]
    ending = form if form in ("jsonl", "csv") else "zip"
    st.download_button(
        label,
        lambda: app().evaluation.querysets.export(name, form)[1],
        f"{name}.{ending}" if ending == form else f"{name}-{form}.zip",
        key=f"set_{form}",
        icon=":material/download:",
        on_click="ignore",
    )


def _lost(found: QuerySet) -> None:
    """Judgments that find no place in the serving generation are listed, never dropped."""
    lost = unmapped(found.name, found.digest, generation())
    if not lost:
        st.caption("Every judgment finds its place in the index that serves now.")
        return
    with st.expander(
        f"{style.count(len(lost), 'judgment')} without a place", icon=":material/link_off:", key="set_lost"
    ):
        st.caption("They are kept, and count again when their place comes back.")
        rows = [{"Question": one.judgment.question, "Document": one.judgment.path, "Why": one.why} for one in lost]
        st.dataframe(rows, hide_index=True, key="lost")


def _agreement(name: str) -> None:
    found = [one for one in app().evaluation.querysets.agreement(name) if one.kappa is not None]
    if not found:
        st.caption("Agreement is shown as soon as two judges grade the same places.")
        return
    rows = [
        {"Judges": " and ".join(one.judges), "Places": one.places, "Same verdict": one.same, "Kappa": one.kappa}
        for one in found
    ]
    st.dataframe(
        rows,
        hide_index=True,
        key="agreement",
        column_config={
            "Same verdict": st.column_config.NumberColumn(format="percent"),
            "Kappa": st.column_config.NumberColumn(format="%.2f", help="0 is chance, 1 is never a difference."),
        },
    )


def _questions(found: QuerySet) -> None:
    judged = Counter(one.question for one in found.judgments)
    rows = [
        {"Question": one.text, "Category": one.category, "Judgments": judged[one.id], "Id": one.id}
        for one in found.questions[:SHOWN]
    ]
    st.dataframe(rows, hide_index=True, key="questions", height=320)
    if len(found.questions) > SHOWN:
        st.caption(f"The first {SHOWN} of {len(found.questions):,}; the export has all.")


def _guide(name: str) -> None:
    acts.do(partial(guide, name=name, text=str(st.session_state[f"guide_{name}"])))


def guide(actor: Actor, name: str, text: str) -> str:
    """Tell judges something else."""
    app().evaluation.querysets.set_guidelines(actor, name, text)
    return "Judges are asked to do this from now on."


def drop(actor: Actor, name: str) -> str:
    """Delete a query set."""
    app().evaluation.querysets.drop(actor, name)
    return f"The query set {name} is gone."
