"""Search: one box, the production configuration, hits with their place in the document."""

import streamlit as st

from core.errors import ConcordError
from pages.ui.workspace import app

st.title("Search")
query = st.text_input(
    "Search the knowledge base",
    placeholder="Ask in your own words, or paste a form number",
    key="q",
    bind="query-params",
)

if not query:
    st.caption("Try: how long do we keep SAR records, FN-22, CU*BASE, what to do when labels do not print")
    st.stop()

try:
    result = app().searching.search(query)
except ConcordError as error:
    st.error(str(error))
    st.stop()

for warning in result.warnings:
    st.warning(warning)
if not result.hits:
    st.info("Nothing found. Try other words.")
for hit in result.hits:
    with st.container(border=True, key=f"hit_{hit.rank}"):
        st.markdown(f"**{hit.rank}. {hit.title}**")
        st.caption(" › ".join((*hit.heading, f"{hit.path}", f"version {hit.version}", hit.status)))
        st.markdown(hit.text)
st.caption(
    f"{len(result.hits)} hits in {sum(stage.ms for stage in result.stages):.0f} ms, generation {result.generation} at {result.commit[:12]}"
)
