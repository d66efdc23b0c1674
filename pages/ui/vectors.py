"""Vectors that are still being computed: a bar with the time left, and the page is drawn anew when they are there."""

from __future__ import annotations

import streamlit as st

from core.bootstrap import App
from core.services.search.pending import sentence
from core.types import Pending
from pages.ui import dialogs, identity
from pages.ui.workspace import app


def pending(current: App) -> Pending | None:
    """How far they are in production; None where nothing is pending."""
    return current.search.progress.of(current.index.generations.current(current.platform.settings.production().profile))


def draw() -> None:
    """Nothing where every passage can be found by meaning."""
    if pending(app()):
        _live()


@st.fragment(run_every="2s")
def _live() -> None:
    identity.require("search")
    waiting = pending(app())
    if waiting is None:
        return dialogs.redraw()
    st.progress(waiting.done / waiting.total, sentence(waiting))
