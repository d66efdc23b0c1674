"""A view as tables: for screen readers, for copying, and for more nodes than a picture can hold; and what filters leave
of it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import streamlit as st

from core.curation.document.names import top_folder
from core.services.graph.view import GraphNode, GraphView
from pages.ui import keys, style
from pages.ui.graph.descriptions import KINDS, group, starts, type_words


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


def filtered(view: GraphView) -> GraphView:
    """The view after the filters that somebody set on it."""
    types = sorted({group(node, "type") for node in view.nodes} - {""})
    folders = sorted({top for node in view.nodes for top in tops(node)})
    if len(types) < 2 and len(folders) < 2:
        return view
    with st.container(horizontal=True, key="graph_filters", vertical_alignment="center"):
        kept_types = _chosen("Types", types, keys.NODE_TYPES)
        kept_folders = _chosen("Folders", folders, keys.NODE_FOLDERS)
    return narrowed(view, kept_types, kept_folders)


def narrowed(view: GraphView, types: Collection[str], folders: Collection[str]) -> GraphView:
    """Nodes of these types with a source in these folders; no types or no folders mean all."""
    kept = {
        node.id
        for node in view.nodes
        if starts(view, node)
        or ((not types or group(node, "type") in types) and (not folders or tops(node) & set(folders)))
    }
    return view if len(kept) == len(view.nodes) else within(view, kept)


def tops(node: GraphNode) -> set[str]:
    """The top folders of a node's sources.

    >>> sorted(tops(GraphNode("a", "a", "entity", sources=("it/x/a.md", "b.md", "hr/c.md"))))
    ['hr', 'it']
    """
    return {top_folder(path) for path in node.sources} - {""}


def _chosen(label: str, options: list[str], key: str) -> list[str]:
    if len(options) < 2:
        return []
    kept = [option for option in st.session_state.get(key, []) if option in options]
    if kept != st.session_state.get(key, kept):  # chosen in another view
        st.session_state[key] = kept
    return st.multiselect(
        label,
        options,
        key=key,
        bind="query-params",
        placeholder=f"All {label.lower()}",
        label_visibility="collapsed",
        width=300,
    )
