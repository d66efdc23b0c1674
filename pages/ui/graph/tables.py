"""A view as tables: for screen readers, for copying, and for more nodes than a picture can hold."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import streamlit as st

from core.services.graph.view import GraphNode, GraphView
from pages.ui import style
from pages.ui.graph.descriptions import KINDS, type_words


def draw(view: GraphView) -> None:
    """Nodes, then relations."""
    nodes, edges = st.tabs([style.count(len(view.nodes), "node"), style.count(len(view.edges), "relation")])
    nodes.dataframe(node_rows(view), hide_index=True, width="stretch", key="graph_nodes", placeholder="")
    edges.dataframe(edge_rows(view), hide_index=True, width="stretch", key="graph_edges")


def node_rows(view: GraphView) -> list[dict[str, Any]]:
    """One row per node, the nearest and largest first."""
    ordered = sorted(view.nodes, key=lambda node: (node.hop, node.rank, -node.size, node.id))
    return [_row(node) for node in ordered]


def _row(node: GraphNode) -> dict[str, Any]:
    return {
        "Node": node.label,
        "Kind": KINDS.get(node.kind, node.kind),
        "Type": type_words(node),
        "Hops": node.hop,
        "Rank": node.rank or None,
        "PageRank": round(node.size, 5),
        "Community": node.community + 1 if node.community >= 0 else None,
        "Sources": ", ".join(node.sources),
    }


def edge_rows(view: GraphView) -> list[dict[str, Any]]:
    """One row per relation, the strongest first."""
    labels = {node.id: node.label for node in view.nodes}
    ordered = sorted(view.edges, key=lambda edge: (-edge.weight, edge.source, edge.target))
    return [
        {
            "From": labels[edge.source],
            "Relation": edge.label,
            "To": labels[edge.target],
            "Weight": round(edge.weight, 2),
        }
        for edge in ordered
    ]


def within(view: GraphView, kept: Collection[str]) -> GraphView:
    """A view with some of its nodes, and the edges among them."""
    nodes = tuple(node for node in view.nodes if node.id in kept)
    return replace(
        view, nodes=nodes, edges=tuple(edge for edge in view.edges if edge.source in kept and edge.target in kept)
    )
