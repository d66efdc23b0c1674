"""New query sets: generated from documents, imported from a file, or taken from playground judgments."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.access import Actor
from pages.ui import actions, flash, identity, keys, style
from pages.ui.server import uploaded
from pages.ui.workspace import app

KINDS = {"known-items": "Known items", "frontmatter": "Answers that authors wrote", "qa": "Questions and answers"}
ABOUT = {
    "known-items": (
        "Headings, names, phrases and first sentences as questions, each of which should find the place it came from."
    ),
    "frontmatter": "The `answers:` of every document, as its author wrote them.",
    "qa": "A language model asks about one or two passages; every answer must be an exact quote.",
}
REWORDED = "Off: rules reword the headings, in no time and at no cost."


def draw() -> None:
    with st.container(horizontal=True, key="making"):
        with st.popover("Generate", icon=":material/auto_awesome:", type="primary", key="make_generate"):
            _generate()
        turn = int(st.session_state.get(keys.IMPORTED, 0))
        with st.popover("Import", icon=":material/upload_file:", key=f"make_import_{turn}"):
            _import(turn)
        judged = app().playground.grades.of(identity.me())
        st.button(
            "From playground judgments",
            icon=":material/thumbs_up_down:",
            key="make_playground",
            on_click=actions.do,
            args=(from_playground,),
            disabled=not judged,
            help=(
                f"{style.count(len(judged), 'judgment')} of"
                f" {style.count(len({grade.query for grade in judged}), 'query')}"
                if judged
                else "Nobody judged anything in the playground yet."
            ),
        )


def outcome() -> None:
    """What the last generation could not make, with the reasons."""
    job = app().evaluation.jobs.last(identity.me(), "generate")
    result = job.result if job and isinstance(job.result, dict) else {}
    missing, refused = result.get("left_out") or {}, result.get("refused") or {}
    if not missing and not refused:
        return
    made = style.count(int(result["questions"]), "question")
    with st.expander(f"{flash.plain(result['queryset'])}: {made} made, some kinds left out", key="made_outcome"):
        lines = [f"{kind.replace('_', ' ').capitalize()}: {why}." for kind, why in missing.items()]
        lines += [f"{count} refused: {why.rstrip('.')}." for why, count in refused.items()]
        st.markdown("\n".join(f"- {flash.plain(line)}" for line in lines))


def _generate() -> None:
    model = app().evaluation.generator.llm()
    kinds = [kind for kind in KINDS if kind != "qa" or model]
    kind = str(st.radio("From", kinds, format_func=KINDS.__getitem__, key="make_kind"))
    st.caption(ABOUT[kind])
    if not model:
        st.caption("Questions and answers need a language model; none is configured.")
    name = st.text_input("Name", key="make_name", placeholder=kind)
    seed, count, asks = 42, 120, model is not None
    if kind != "frontmatter":
        first, second = st.columns(2)
        most = f"At most, per {'kind' if kind == 'qa' else 'category'}"
        count = int(first.number_input(most, 1, 1000, 20 if kind == "qa" else 120, key=f"make_many_{kind}"))
        seed = int(second.number_input("Seed", 0, value=42, key="make_seed", help="The same seed, the same questions."))
    if model and kind == "known-items":
        asks = st.checkbox("Reword with the language model", value=True, key="make_asks", help=REWORDED)
    if st.button("Generate", key="make_go", type="primary"):
        calls = app().evaluation.jobs.estimate(identity.me(), kind, count) if asks and kind != "frontmatter" else ()
        make = partial(generate, kind=kind, name=name.strip(), seed=seed, count=count, by_rules=not asks)
        actions.after_estimate("Making questions", calls, make)


def _import(turn: int) -> None:
    file = st.file_uploader("CSV or JSONL", type=["csv", "jsonl"], key=f"import_file_{turn}")
    st.caption(
        "CSV needs the column question; known are id, category, path, heading, quote, grade (0 to 3), source, judge "
        "and note. Lines that cannot be used are listed."
    )
    name = st.text_input("Name", key=f"import_name_{turn}", placeholder="the file's name")
    if file:
        bring = partial(import_file, filename=file.name, content=file.getvalue(), name=name.strip())
        st.button("Import", key="import_go", type="primary", on_click=actions.do, args=(bring,))


def generate(actor: Actor, kind: str, name: str, seed: int, count: int, by_rules: bool = False) -> str:
    """Make a query set; as a job, except from frontmatter, which takes no time."""
    if kind == "frontmatter":
        queryset = app().evaluation.querysets.from_frontmatter(actor, name or kind)
        return f"{queryset.name}: {style.count(len(queryset.questions), 'question')}."
    job = app().evaluation.jobs.generate(actor, kind, name, seed, count, by_rules)
    return f"Making questions as job {job.id}."


def import_file(actor: Actor, filename: str, content: bytes, name: str) -> str:
    """Import a query set; lines that cannot be used are listed with the set."""
    queryset, problems = app().evaluation.querysets.read_upload(actor, filename, content, name)
    uploaded.leave()
    st.session_state[keys.IMPORTED] = int(st.session_state.get(keys.IMPORTED, 0)) + 1  # a new popover is closed
    st.session_state[keys.QUERYSET] = queryset.name
    counts = [style.count(len(queryset.questions), "question"), style.count(len(queryset.judgments), "judgment")]
    left = [f"{style.count(len(problems), 'line')} left out, listed below"] if problems else []
    return f"{queryset.name}: {', '.join([*counts, *left])}."


def from_playground(actor: Actor) -> str:
    queryset = app().evaluation.querysets.from_playground(actor, app().playground.grades.of(actor))
    return f"{flash.plain(queryset.name)}: {style.count(len(queryset.questions), 'question')} from the playground."
