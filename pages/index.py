"""Index: generations, jobs, profiles, models and money. For admins; every action says first what it will do."""

import streamlit as st

from pages.ui import identity
from pages.ui.index import generations, jobs, models, money, profiles, status

me = identity.require("see the index")

st.title("Index")
status.draw()
generations_tab, jobs_tab, profiles_tab, models_tab, money_tab = st.tabs(
    ["Generations", "Jobs", "Profiles", "Models", "Money"], key="index_tab", bind="query-params"
)
with generations_tab:
    generations.draw()
with jobs_tab:
    jobs.draw()
with profiles_tab:
    profiles.draw()
with models_tab:
    models.draw()
with money_tab:
    money.draw()
