"""Generations of a profile, and rolling back to an older one."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.access import Actor
from core.types import Generation
from pages.ui import actions, identity, style
from pages.ui.workspace import app


def draw() -> None:
    draw_generations()
    store = app().index.following.state
    if store and store.usable:  # else the sentence at the top says it, and nobody waits for an answer
        draw_nodes()


def draw_nodes() -> None:
    """What each machine serves, where several share a store."""
    nodes = app().index.following.nodes(identity.me())
    st.subheader("Machines")
    rows = [
        {
            "Machine": node.name,
            "Serves": node.summary,
            "Last heard of": f"{node.age:.0f} s ago" if node.alive else "not for a while",
        }
        for node in nodes
    ]
    st.dataframe(rows, hide_index=True, key="nodes")


def draw_generations() -> None:
    current = app()
    names = [profile.name for profile, _ in current.index.admin.profiles(identity.me())]
    name = st.selectbox(
        "Profile",
        names,
        index=names.index(current.platform.settings.production().profile.name),
        key="generations_of",
        width=260,
    )
    generations = current.index.admin.generations_of(identity.me(), name)
    if not generations:
        st.caption("This profile has no generation yet. Build it under Profiles.")
        return
    titles = {
        commit.id: commit.message.splitlines()[0] if commit.message else ""
        for commit, _ in current.knowledge.documents.commits(limit=500)
    }
    rows = [
        {
            "Generation": generation.number,
            "State": _state(generation),
            "Built": style.moment(generation.built),
            "Last change in it": titles.get(generation.commit, generation.commit[:12]),
            "Documents": generation.documents,
            "Passages": generation.chunks,
            "Size": f"{generation.bytes / 1e6:.1f} MB",
            "Build time": f"{generation.seconds:.1f} s",
            "Notes": "; ".join(generation.notes),
        }
        for generation in generations
    ]
    if not any(row["Notes"] for row in rows):
        rows = [{key: value for key, value in row.items() if key != "Notes"} for row in rows]
    st.dataframe(rows, hide_index=True, key="generations")
    for note in next((generation.notes for generation in generations if generation.current), ()):
        st.caption(note)  # the table is wider than the page, and this is what searches are worth
    others = [generation for generation in generations if not generation.current]
    if not others:
        st.caption("There is no older generation to roll back to.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        number = st.selectbox(
            "Roll back to",
            [generation.number for generation in others],
            format_func=lambda n: f"Generation {n}",
            key="rollback_to",
            width=260,
        )
        if st.button("Roll back", icon=":material/history:", key="rollback"):
            target = next(generation for generation in others if generation.number == number)
            actions.confirm(
                f"Serve generation {number} from now on?",
                [
                    f"Everybody searches the state of {style.moment(target.built)} again: {style.count(target.documents, 'document')}.",
                    "Documents themselves do not change.",
                    "This lasts until the next rebuild.",
                ],
                "Roll back",
                partial(roll_back, number=number, profile=name),
            )


def _state(generation: Generation) -> str:
    serving = "serving, by words so far" if generation.pending else "serving"
    return serving if generation.current else "kept"


def roll_back(actor: Actor, number: int, profile: str) -> str:
    generation = app().index.admin.rollback(actor, number, profile)
    return f"Generation {generation.number} serves now."
