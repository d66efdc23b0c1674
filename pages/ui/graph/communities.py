"""Communities in words: what each is about, and which of them a question about the whole belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from core.graph.communities import Community
from core.services.graph.view import GraphView
from pages.ui import flash, identity, style
from pages.ui.components.listing import listing
from pages.ui.graph.choices import Choice
from pages.ui.workspace import app


def draw(view: GraphView, choice: Choice) -> None:
    """A box for questions about the whole, then the summaries, the nearest or the largest first."""
    st.caption(" ".join(flash.plain(note) for note in view.notes))
    st.header("What they are about", anchor=False)
    asked = st.text_input(
        "Search the summaries",
        key="graph_global",
        placeholder="A question about the whole, such as: who may approve what?",
    ).strip()
    if asked:
        scored = app().graph.communities.global_search(identity.me(), asked, 5, choice.profile)
        listing(
            [_line(community, f"{score:.2f}") for community, score in scored],
            "No community answers this.",
            key="graph_answers",
        )
        return
    shown, known = {node.community for node in view.nodes}, app().graph.communities.all(identity.me(), choice.profile)
    listing(_lines([community for community in known if community.number in shown]), "", key="graph_topics")
    if view.unconnected:
        alone = [community for community in known[: choice.limit] if community.number not in shown]
        with st.expander(
            f"{style.count(len(view.unconnected), 'unconnected community')}", icon=":material/scatter_plot:"
        ):
            listing(_lines(alone), "", key="graph_alone")


def _lines(communities: Sequence[Community]) -> list[dict[str, Any]]:
    return [_line(community, style.count(community.size, "entity")) for community in communities]


def _line(community: Community, right: str) -> dict[str, Any]:
    title = f"{community.number + 1}. {'; '.join(community.entities[:3])}"
    by = "" if community.by == "rules" else f" (written by {community.by})"  # by a model, or by rules and why
    return {"title": title, "sub": community.summary + by, "right": right}
