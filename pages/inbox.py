"""Inbox: what reached somebody, newest first, and what they watch."""

import streamlit as st

from core.access import Actor
from core.services.inbox.watches import Watch
from pages.ui import actions, flash, identity, inbox, keys, style
from pages.ui.home import gaps
from pages.ui.workspace import app

me = identity.require("read the inbox")
WATCHED = {"folder": ":material/folder:", "document": ":material/description:", "question": ":material/search:"}


def read_all(actor: Actor) -> str:
    count = app().inbox.messages.read(actor)
    return f"{style.count(count, 'message')} marked as read."


def stop(actor: Actor, number: int) -> str:
    app().inbox.watches.stop(actor, number)
    return "You will not hear about it any more."


def filters(unread: int) -> tuple[bool, str]:
    """Whether only new messages are shown, and of which kind."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="inbox_filters"):
        shown = st.segmented_control(
            "Show",
            ["New", "All"],
            key=keys.INBOX_SHOWN,
            default="New",
            required=True,
            bind="query-params",
            format_func=lambda name: f"New ({unread})" if name == "New" else name,
            label_visibility="collapsed",
        )
        kind = st.selectbox(
            "Kind",
            ["", *inbox.KINDS],
            key=keys.INBOX_KIND,
            bind="query-params",
            format_func=lambda name: inbox.KINDS[name][0] if name else "Every kind",
            label_visibility="collapsed",
            width=200,
        )
    return shown != "All", kind or ""


def watched(watch: Watch) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key=f"watch_{watch.id}"):
        st.markdown(f"{WATCHED[watch.kind]} {flash.plain(watch.what)}", width="stretch")
        st.button(
            "Stop watching",
            key=f"stop_{watch.id}",
            type="tertiary",
            on_click=actions.do,
            args=(lambda actor: stop(actor, watch.id),),
        )


app().inbox.reminders.remind()
unread = app().inbox.messages.unread(me)
with st.container(horizontal=True, vertical_alignment="bottom"):
    st.title("Inbox", width="stretch")
    if app().settings.smtp_url:
        by_mail = {keys.ACCOUNT_VIEW: "Messages"}
        st.page_link("pages/account.py", label="Also by mail", icon=":material/mail:", query_params=by_mail)
    st.button(
        "Mark all read",
        key="read_all",
        icon=":material/done_all:",
        disabled=not unread,
        on_click=actions.do,
        args=(read_all,),
    )
new, kind = filters(unread)
empty = "Nothing new. All shows what came before." if new else "Nothing has reached you yet."
inbox.lines(app().inbox.messages.listed(me, unread=new, kind=kind), empty, key="inbox_lines")
gaps.draw(me)
st.header("What you watch")
watches = app().inbox.watches.listed(me)
for watch in watches:
    watched(watch)
if not watches:
    st.caption("Nothing yet. Watch a document on its page, a folder in Documents, or a question in Search.")
