"""Index: generations, jobs and profiles. For admins; every act is confirmed with what will happen."""

import streamlit as st

from pages.ui import identity
from pages.ui.index_parts import generations, jobs, profiles, state

me = identity.require("see the index")

st.title("Index")
state.draw()
built, running, how = st.tabs(["Generations", "Jobs", "Profiles"], key="index_tab", bind="query-params")
with built:
    generations.draw()
with running:
    jobs.draw()
with how:
    profiles.draw()
