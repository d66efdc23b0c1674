"""The Links tab: which documents link here, and where this one links to."""

from __future__ import annotations

import streamlit as st

from core.curation.document.links import links
from core.types import Document
from pages.ui.components.listing import listing
from pages.ui.workspace import app, links_to


def draw(document: Document) -> None:
    known = {other.path: other for other in app().knowledge.documents.all()}
    here, there = st.columns(2, gap="large")
    with here:
        st.header("What links here")
        listing(_sources(document), "No other document links here.", key="links_here")
    with there:
        st.header("Where this leads")
        targets = dict.fromkeys(link.path for link in links(document) if link.path and link.path != document.path)
        listing([_target(path, known) for path in targets], "This document links to no other.", key="links_there")


def linked_from(document: Document) -> None:
    """Below the text: the documents that link here, if there are any."""
    sources = _sources(document)
    if sources:
        with st.container(key="linked_from"):
            st.header("What links here", divider="gray")
            listing(sources, "", key="links_below")


def _sources(document: Document) -> list[dict[str, object]]:
    known = {other.path: other for other in app().knowledge.documents.all()}
    sources = [(known[path], text) for path, text in links_to(document.path) if path in known]
    return [{"doc": other.id, "title": other.title, "sub": f"as “{text}”"} for other, text in sources]


def _target(path: str, known: dict[str, Document]) -> dict[str, object]:
    if path not in known:
        return {"title": path, "badges": [{"text": "No such document", "tone": "bad"}]}
    return {"doc": known[path].id, "title": known[path].title, "sub": path}
