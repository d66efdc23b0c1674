"""Generations of a profile, and rolling back to an older one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    names = [profile.name for profile, _ in app().index.admin.profiles(identity.me())]
    production = names.index(app().platform.settings.production().profile.name)
    name = st.selectbox("Profile", names, index=production, key="generations_of", width=260)
    generations = app().index.admin.generations_of(identity.me(), name)
    if not generations:
        st.caption("This profile has no generation yet. Build it under Profiles.")
        return
    st.dataframe(_rows(generations), hide_index=True, key="generations")
    for note in next((generation.notes for generation in generations if generation.current), ()):
        st.caption(note)  # the table is wider than the page, and this is what searches are worth
    older = {generation.number: generation for generation in generations if not generation.current}
    if older:
        _offer_rollback(older, name)
    else:
        st.caption("There is no older generation to roll back to.")


def _rows(generations: Sequence[Generation]) -> list[dict[str, object]]:
    titles = {
        commit.id: commit.message.splitlines()[0] if commit.message else ""
        for commit, _ in app().knowledge.documents.commits(limit=500)
    }
    noted = any(generation.notes for generation in generations)
    return [
        {
            "Generation": generation.number,
            "State": _state(generation),
            "Built": style.moment(generation.built),
            "Last change in it": titles.get(generation.commit, generation.commit[:12]),
            "Documents": generation.documents,
            "Passages": generation.chunks,
            "Size": f"{generation.bytes / 1e6:.1f} MB",
            "Build time": f"{generation.seconds:.1f} s",
            **({"Notes": "; ".join(generation.notes)} if noted else {}),
        }
        for generation in generations
    ]


def _offer_rollback(older: Mapping[int, Generation], profile: str) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        number = st.selectbox(
            "Roll back to", list(older), format_func=lambda n: f"Generation {n}", key="rollback_to", width=260
        )
        if st.button("Roll back", icon=":material/history:", key="rollback"):
            target = older[number]
            actions.confirm(
                f"Serve generation {number} from now on?",
                [
                    (
                        f"Everybody searches the state of {style.moment(target.built)} again:"
                        f" {style.count(target.documents, 'document')}."
                    ),
                    "Documents themselves do not change.",
                    "This lasts until the next rebuild.",
                ],
                "Roll back",
                partial(roll_back, number=number, profile=profile),
            )


def _state(generation: Generation) -> str:
    serving = "serving, by words so far" if generation.pending else "serving"
    return serving if generation.current else "kept"


def roll_back(actor: Actor, number: int, profile: str) -> str:
    generation = app().index.admin.rollback(actor, number, profile)
    return f"Generation {generation.number} serves now."
