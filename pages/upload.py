"""Upload: bring files in, see what the checks and the duplicate search say, fix them, submit them as a change."""

import streamlit as st

from pages.ui import identity, keys
from pages.ui.components.upload_view import upload_list
from pages.ui.upload import item, session, sources, submit

me = identity.require("propose a change")

st.title("Upload")
submit.link_to_change()
sources.draw(me)
batch = session.batch()
if batch.items:
    opened = session.opened(batch)
    st.header(submit.summary(batch))
    clicked = upload_list(batch, opened, key="upload_list")
    if clicked.open is not None and clicked.open != opened:
        st.session_state[keys.UPLOAD_ITEM] = int(clicked.open)
        st.rerun()
    with st.container(border=True, key="upload_item_box"):
        item.draw(batch.at(opened), opened)
    submit.draw(batch)
else:
    st.caption(
        "Every file is checked and compared with what is there before anything is written. "
        "You see the result, fix what is wrong, and submit the rest as one change."
    )
