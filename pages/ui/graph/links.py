"""Documents that nobody reaches, documents that lead nowhere, and links that lead to nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from core.services.graph.view import GraphView
from pages.ui import flash, keys
from pages.ui.components.listing import listing
from pages.ui.workspace import app


def draw(view: GraphView) -> None:
    """Two lists side by side, and broken links below."""
    left, right = st.columns(2, gap="large")
    with left:
        st.header(f"Orphans ({len(view.orphans)})", anchor=False)
        st.caption("No document links to these.")
        listing(_lines(view.orphans), "Every document is linked from another one.", key="graph_orphans")
    with right:
        st.header(f"Dead ends ({len(view.dead_ends)})", anchor=False)
        st.caption("These link to no other document.")
        listing(_lines(view.dead_ends), "Every document links to another one.", key="graph_dead_ends")
    if view.notes:
        st.header(f"Broken links ({len(view.notes)})", anchor=False)
        for note in view.notes:
            st.markdown(f"- {flash.plain(note)}")


def _lines(paths: Sequence[str]) -> list[dict[str, Any]]:
    known = {document.path: document for document in app().knowledge.documents.all()}
    return [{keys.DOC: known[path].id, "title": known[path].title, "sub": path} for path in paths if path in known]
