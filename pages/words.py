"""Words: synonyms, pinned answers, and short forms that documents explain."""

import streamlit as st

from pages.ui import flash, identity, keys
from pages.ui.words import pins, synonyms
from pages.ui.workspace import app

me = identity.require("propose a change")
VIEWS = {"Synonyms": synonyms.draw, "Pinned answers": pins.draw, "Suggestions": synonyms.suggestions}

st.title("Words")
st.caption(
    "Your team's vocabulary: synonyms, and the answer that a question should find. Every edit is reviewed like a"
    " document."
)
for problem in app().words.rules.problems(me):
    st.warning(f"{flash.plain(problem)} Until then this list counts for nothing.", icon=":material/warning:")
shown = st.segmented_control(
    "Show",
    list(VIEWS),
    key=keys.WORDS_SHOWN,
    default="Synonyms",
    required=True,
    bind="query-params",
    label_visibility="collapsed",
)
if not app().words.rules.problems(me):
    VIEWS[shown or "Synonyms"](me)
