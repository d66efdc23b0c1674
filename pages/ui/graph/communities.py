"""Communities in words: what each is about, and which of them a question about the whole belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from core.graph.communities import Community
from core.services.graph.view import GraphView
from pages.ui import flash, style
from pages.ui.components.listing import listing
from pages.ui.graph.choosing import Choice
from pages.ui.workspace import app


def draw(view: GraphView, choice: Choice) -> None:
    """A box for questions about the whole, then the summaries, the nearest or the largest first."""
    st.caption(" ".join(flash.plain(note) for note in view.notes))
    st.subheader("What they are about", anchor=False)
    asked = st.text_input(
        "Search the summaries",
        key="graph_global",
        placeholder="A question about the whole, such as: who may approve what?",
    ).strip()
    if asked:
        found = app().graph.communities.global_search(asked, 5, choice.profile)
        listing([_line(one, f"{score:.2f}") for one, score in found], "No community answers this.", key="graph_answers")
        return
    shown = {node.community for node in view.nodes}
    listing(
        _lines([one for one in app().graph.communities.all(choice.profile) if one.number in shown]),
        "",
        key="graph_topics",
    )


def _lines(found: Sequence[Community]) -> list[dict[str, Any]]:
    return [_line(one, style.count(one.size, "entity")) for one in found]


def _line(one: Community, right: str) -> dict[str, Any]:
    title = f"{one.number + 1}. {'; '.join(one.entities[:3])}"
    by = "" if one.by == "rules" else f" (written by {one.by})"
    return {"title": title, "sub": one.summary + by, "right": right}
