"""The App behind the pages, built once per process."""

import streamlit as st

from core.bootstrap import App, build
from core.settings import load


@st.cache_resource(show_spinner="Opening the knowledge base")
def app() -> App:
    """The workspace that the environment names; interrupted work goes on, and the index catches up."""
    made = build(load())
    made.create()
    made.catch_up()
    return made
