"""Upload: bring files in, fill in their fields, see what the checks and the duplicate search say, submit them for
review.
"""

import streamlit as st

from pages.ui import identity
from pages.ui.components.upload_view import upload_list
from pages.ui.upload import item, session, shared, sources, submit

me = identity.require("propose a change")

submit.open_change()
st.title("Upload")
sources.draw(me)
other = st.container()
batch = session.batch()
shared.draw(batch)
if batch.items:
    opened = session.opened(batch)
    submit.heading(batch)
    clicked = upload_list(batch, opened, key="upload_list")
    if clicked.open is not None and clicked.open != opened:
        session.open_item(int(clicked.open))
        st.rerun()
    sources.left_out(batch)
    with st.container(border=True, key="upload_item_box"):
        item.draw(batch.at(opened), opened)
    submit.draw(batch, me)
else:
    st.caption(
        "Every file is checked and compared with what is there before anything is written. "
        "You see the result, fix what is wrong, and submit the rest as one change."
    )
with other:  # a form above may have been refused just now
    session.draw_other()
