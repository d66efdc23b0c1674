"""Filters by type and folder. Where a view starts always stays."""

from __future__ import annotations

from collections.abc import Collection

import streamlit as st

from core.curation.document.names import top_folder
from core.services.graph.view import GraphNode, GraphView
from pages.ui.graph.descriptions import group, starts
from pages.ui.graph.tables import within


def filtered(view: GraphView, name: str) -> GraphView:
    """The view after the filters that somebody set on it."""
    types = sorted({group(node, "type") for node in view.nodes} - {""})
    folders = sorted({top for node in view.nodes for top in tops(node)})
    if len(types) < 2 and len(folders) < 2:
        return view
    with st.container(horizontal=True, key="graph_filters", vertical_alignment="center"):
        kept_types = _pills("Types", types, f"graph_types_{name}")
        kept_folders = _pills("Folders", folders, f"graph_folders_{name}")
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


def _pills(label: str, options: list[str], key: str) -> list[str]:
    if len(options) < 2:
        return []
    st.session_state[key] = [option for option in st.session_state.get(key, []) if option in options]
    chosen = st.multiselect(
        label, options, key=key, placeholder=f"All {label.lower()}", label_visibility="collapsed", width=300
    )
    return list(chosen)
