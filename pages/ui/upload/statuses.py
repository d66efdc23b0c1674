"""What the status words of other tools are written as, for admins."""

from __future__ import annotations

import streamlit as st

from core.access import Actor, allowed
from core.curation.document.statuses import COUNTS_AS, STATUSES
from pages.ui import actions, style
from pages.ui.workspace import app


def draw(me: Actor) -> None:
    """One line of words per status."""
    if not allowed(me, "import documents"):
        return
    own = app().upload.statuses.all()
    with st.popover("Status words", icon=":material/translate:", type="tertiary", key="status_words"):
        st.caption(
            "Files from other tools bring words of their own. A word that you name here is written as your status when a "
            "file comes in, and kept beside it. Separate words by commas."
        )
        for status in STATUSES:
            st.text_input(
                f"Counts as {style.STATUSES[status].lower()}",
                ", ".join(word for word, meaning in own.items() if meaning == status),
                key=f"status_words_{status}",
                placeholder="for example: beta",
                help=f"Known already: {', '.join(COUNTS_AS[status])}.",
            )
        st.button("Save", key="status_words_save", type="primary", on_click=actions.do, args=(_save,))


def _save(actor: Actor) -> str:
    typed = {status: str(st.session_state.get(f"status_words_{status}", "")) for status in STATUSES}
    words = {word.strip(): status for status, line in typed.items() for word in line.split(",") if word.strip()}
    return f"{style.count(len(app().upload.statuses.decide(actor, words)), 'status word')} saved."
