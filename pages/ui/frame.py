"""The frame around every page: sign-in, navigation by role, then the page itself."""

from __future__ import annotations

import streamlit as st

from core.access import Actor, allowed
from core.errors import Refused
from pages.ui import batches, dialogs, empty, flash, foot, identity, keys, sample, style, tour, uploaded
from pages.ui.components import shortcuts
from pages.ui.menu import PAGES
from pages.ui.workspace import app


def draw() -> None:
    """Draw the frame and run the page."""
    dialogs.closed()
    st.set_page_config(page_title="Concord", page_icon=str(style.ASSETS / "concord.png"), layout="wide")
    style.page_style()
    st.logo(str(style.ASSETS / "wordmark.png"), size="large", icon_image=str(style.ASSETS / "concord.png"))
    page = st.navigation(menu(identity.me()), expanded=True)
    _turn_to(page.url_path)
    foot.draw()
    shortcuts.mount()
    sample.line()
    tour.strip()
    try:
        if not empty.promise(page.url_path, page.title):
            page.run()
    except Refused as refusal:  # a role that was taken away while the page was being drawn
        st.info(flash.plain(str(refusal)), icon=":material/lock:")
    flash.show()


def _turn_to(page: str) -> None:
    """What was brought to another page leaves memory; an upload that was read in comes back from its draft."""
    if st.session_state.get(keys.PAGE) != page:
        uploaded.leave()
        batches.leave()
        st.session_state.pop(keys.UPLOAD, None)
    st.session_state[keys.PAGE] = page


def menu(me: Actor) -> dict[str, list[st.Page]]:
    """The sections and pages that an account may open. Who does not analyse has those pages by their address alone."""
    hidden = set() if identity.analyses(me) else {"Analysis"}
    sections = {
        section: [
            st.Page(
                f"pages/{name}.py",
                title=titled(name, title, me),
                icon=icon,
                default=name == "home",
                visibility="hidden" if section in hidden else "visible",
            )
            for name, title, icon, action in pages
            if allowed(me, action)
        ]
        for section, pages in PAGES.items()
    }
    return {section: pages for section, pages in sections.items() if pages}


def titled(name: str, title: str, me: Actor) -> str:
    """The word in the menu; the inbox says how many messages are new."""
    unread = app().inbox.messages.unread(me) if name == "inbox" else 0
    return f"{title} ({unread})" if unread else title
