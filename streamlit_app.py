"""Concord's frame: navigation, then the page."""

import streamlit as st

st.set_page_config(page_title="Concord", page_icon="pages/ui/assets/concord.png", layout="wide")
st.navigation([st.Page("pages/search.py", title="Search", icon=":material/search:", default=True)]).run()
