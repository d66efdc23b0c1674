"""Where questions come from: the knowledge base, its authors, a file, people in the playground."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core import strict
from core.access import Actor
from pages.ui import acts, flash, keys, style
from pages.ui.workspace import app

KINDS = {"known-items": "Known items", "frontmatter": "Answers that authors wrote", "qa": "Questions and answers"}
ABOUT = {
    "known-items": "Headings, names, phrases and first sentences as questions, each of which should find its own place again.",
    "frontmatter": "The `answers:` of every document, as its author wrote them.",
    "qa": "A language model asks about one or two passages; every answer must be an exact quote.",
}


def draw() -> None:
    """Three ways in, side by side."""
    with st.container(horizontal=True, key="making"):
        with st.popover("Generate", icon=":material/auto_awesome:", type="primary", key="make_generate"):
            _generate()
        with st.popover("Import", icon=":material/upload_file:", key="make_import"):
            _import()
        judged = app().playground.grades.of()
        st.button(
            "From playground judgments",
            icon=":material/thumbs_up_down:",
            key="make_playground",
            on_click=acts.do,
            args=(from_playground,),
            disabled=not judged,
            help=f"{style.count(len(judged), 'judgment')} of {style.count(len({one.query for one in judged}), 'query')}"
            if judged
            else "Nobody judged anything in the playground yet.",
        )
    _left_out()


def _generate() -> None:
    model = app().evaluation.experiments.workbench.llm()
    kinds = [kind for kind in KINDS if kind != "qa" or model]
    kind = str(st.radio("From", kinds, format_func=KINDS.__getitem__, key="make_kind"))
    st.caption(ABOUT[kind])
    if not model:
        st.caption("Questions and answers need a language model; none is configured.")
    name = st.text_input("Name", key="make_name", placeholder=kind)
    seed, many = 42, 120
    if kind != "frontmatter":
        first, second = st.columns(2)
        most = f"At most, per {'kind' if kind == 'qa' else 'category'}"
        many = int(first.number_input(most, 1, 1000, 20 if kind == "qa" else 120, key=f"make_many_{kind}"))
        seed = int(second.number_input("Seed", 0, value=42, key="make_seed", help="The same seed, the same questions."))
    if st.button("Generate", key="make_go", type="primary"):
        acts.do(partial(generate, kind=kind, name=name.strip(), seed=seed, many=many))
        st.rerun()


def _import() -> None:
    sent = st.file_uploader("CSV or JSONL", type=["csv", "jsonl"], key="import_file")
    st.caption(
        "CSV needs the column question; known are id, category, path, heading, quote, grade, source and judge. "
        "Folders in BEIR or TREC form come in with `python -m core eval import`."
    )
    name = st.text_input("Name", key="import_name", placeholder="the file's name")
    if sent and st.button("Import", key="import_go", type="primary"):
        acts.do(partial(bring, filename=sent.name, content=sent.getvalue(), name=name.strip()))
        st.rerun()


def _left_out() -> None:
    """Lines of the last import that could not be used."""
    lines = st.session_state.get(keys.PROBLEMS)
    if not lines:
        return
    with st.expander(
        f"{style.count(len(lines), 'line')} of the last import left out", icon=":material/rule:", expanded=True
    ):
        st.dataframe(
            [{"Line": one["line"], "Why": one["why"], "File": one["file"]} for one in lines],
            hide_index=True,
            key="left",
        )
        st.button("Seen", key="left_seen", on_click=lambda: st.session_state.pop(keys.PROBLEMS, None))


def generate(actor: Actor, kind: str, name: str, seed: int, many: int) -> str:
    """Make a query set, in the background where that takes a while."""
    if kind == "frontmatter":
        made = app().evaluation.querysets.from_frontmatter(actor, name or kind)
        return f"{made.name}: {style.count(len(made.questions), 'question')}."
    return f"Making questions as job {app().evaluation.jobs.generate(actor, kind, name, seed, many).id}."


def bring(actor: Actor, filename: str, content: bytes, name: str) -> str:
    """Keep a set that somebody sent; bad lines are listed, the rest goes in."""
    made, problems = app().evaluation.querysets.read_upload(actor, filename, content, name)
    st.session_state[keys.PROBLEMS] = strict.plain(problems)
    return (
        f"{made.name}: {style.count(len(made.questions), 'question')}, {style.count(len(made.judgments), 'judgment')}."
    )


def from_playground(actor: Actor) -> str:
    """What people judged in the playground, as a query set."""
    made = app().evaluation.querysets.from_playground(actor, app().playground.grades.of())
    return f"{flash.plain(made.name)}: {style.count(len(made.questions), 'question')} from the playground."
