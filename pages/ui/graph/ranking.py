"""Where the passages that each hop adds landed: in the graph leg, in tri-modal search, and in production."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from core.errors import ConcordError
from core.retrieval.presets import presets
from core.services.graph.view import GraphView
from core.types import SearchConfig
from pages.ui import flash, style
from pages.ui.graph.choices import Choice
from pages.ui.graph.descriptions import place_of
from pages.ui.workspace import app

DEEP = 100  # how far down a ranking is looked


def draw(view: GraphView, choice: Choice) -> None:
    """Hops in a sentence each, a chart of places, and the list."""
    chunks = sorted((node for node in view.nodes if node.kind == "chunk"), key=lambda node: node.rank)
    st.caption(flash.plain(" · ".join(note[:1].upper() + note[1:] for note in view.notes)))
    if not chunks:
        return
    ways = {"Production": app().platform.settings.production().config, "Tri-modal": presets()["Tri-modal with graph"]}
    ranks = {name: places(choice, config) for name, config in ways.items()}
    st.header("What each hop adds, and where it lands", anchor=False)
    st.plotly_chart(
        _figure([(node.hop, ranks["Tri-modal"].get(node.id, 0), node.label) for node in chunks]),
        width="stretch",
        config={"displayModeBar": False},
        key="graph_places",
    )
    titles = {document.path: (document.id, document.title) for document in app().knowledge.documents.all()}
    rows: list[dict[str, Any]] = [
        {
            "Graph leg": node.rank,
            "Hop": node.hop,
            **{name: ranks[name].get(node.id) for name in ways},
            "Passage": node.label,
            "By way of": node.detail,
            "Open": f"/documents?{urlencode(at)}" if (at := place_of(node, titles)) else None,
        }
        for node in chunks
    ]
    small = {name: st.column_config.NumberColumn(width="small") for name in ("Graph leg", "Hop", *ways)}
    opens = st.column_config.LinkColumn(display_text="Open", width="small")
    st.dataframe(rows, hide_index=True, width="stretch", key="graph_hops", column_config={**small, "Open": opens})


def places(choice: Choice, config: SearchConfig) -> dict[str, int]:
    """The rank of each passage under a configuration, from 1; those further down are left out."""
    try:
        wide = replace(config, k=DEEP, depth=max(DEEP, config.depth), rerank="off")
        result = app().search.searcher.search(choice.start, config=wide, profile=choice.profile)
    except ConcordError:
        return {}
    return {f"chunk:{hit.chunk}": hit.rank for hit in result.hits}


def _figure(landed: list[tuple[int, int, str]]) -> Any:
    """One dot per passage: rank from left to right, a line per hop."""
    from plotly import graph_objects as go

    figure = go.Figure()
    counts = Counter(hop for hop, _, _ in landed)
    for hop in sorted(counts):
        mine = [(rank, label) for landed_hop, rank, label in landed if landed_hop == hop and rank]
        figure.add_scatter(
            x=[rank for rank, _ in mine],
            y=[f"{hop} hops" if hop != 1 else "1 hop"] * len(mine),
            mode="markers",
            text=[label.replace("<", "‹").replace(">", "›") for _, label in mine],  # plotly reads some tags
            marker={"size": 11, "color": style.CATEGORIES[hop % 6], "opacity": 0.85},
            showlegend=False,
            hovertemplate="rank %{x}: %{text}<extra></extra>",
        )
    figure.add_vrect(x0=0.5, x1=10.5, fillcolor="#009E73", opacity=0.08, line_width=0)
    figure.update_layout(
        height=150,
        margin={"l": 60, "r": 12, "t": 6, "b": 40},
        xaxis={"title": "rank in tri-modal search; the first ten are shaded", "zeroline": False, "rangemode": "tozero"},
        yaxis={"autorange": "reversed", "type": "category"},
    )
    return figure
