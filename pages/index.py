"""Index: generations, jobs, profiles and money. For admins; every act is confirmed with what will happen."""

import streamlit as st

from pages.ui import identity
from pages.ui.index import generations, jobs, money, profiles, state

me = identity.require("see the index")

st.title("Index")
state.draw()
built, running, how, paid = st.tabs(["Generations", "Jobs", "Profiles", "Money"], key="index_tab", bind="query-params")
with built:
    generations.draw()
with running:
    jobs.draw()
with how:
    profiles.draw()
with paid:
    money.draw()
