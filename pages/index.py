"""Index: generations, jobs, profiles and money. For admins; every action says first what it will do."""

import streamlit as st

from pages.ui import identity
from pages.ui.index import generations, jobs, money, profiles, status

me = identity.require("see the index")

st.title("Index")
status.draw()
generations_tab, jobs_tab, profiles_tab, money_tab = st.tabs(
    ["Generations", "Jobs", "Profiles", "Money"], key="index_tab", bind="query-params"
)
with generations_tab:
    generations.draw()
with jobs_tab:
    jobs.draw()
with profiles_tab:
    profiles.draw()
with money_tab:
    money.draw()
