"""The frame around every page: sign-in, navigation by role, the page itself, who is signed in, and the keys of every
page.
"""

from __future__ import annotations

import streamlit as st

from core.access import PERSON, Actor, allowed
from core.errors import Refused
from pages.ui import batches, dialogs, flash, identity, keys, style
from pages.ui.components import component, heard
from pages.ui.home import empty, sample, tour
from pages.ui.menu import PAGES
from pages.ui.server import uploaded
from pages.ui.sign_in import cookies
from pages.ui.workspace import app


def draw() -> None:
    """Draw the frame and run the page."""
    dialogs.closed()
    st.set_page_config(page_title="Concord", page_icon=str(style.ASSETS / "concord.png"), layout="wide")
    style.page_style()
    st.logo(str(style.ASSETS / "wordmark.png"), size="large", icon_image=str(style.ASSETS / "concord.png"))
    page = st.navigation(menu(identity.me()), expanded=True)
    _turn_to(page.url_path)
    _draw_foot()
    _mount_shortcuts()
    sample.line()
    tour.strip()
    try:
        if not empty.promise(page.url_path, page.title):
            page.run()
    except Refused as refusal:  # a role that was taken away while the page was being drawn
        st.info(flash.refused(refusal), icon=":material/lock:")
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


def _mount_shortcuts() -> None:
    """Listen for the keys; on a page without a search box they open Search."""
    demo = app().settings.sign_in == "demo"
    data = {"persona": identity.me().id, "remembered": identity.remembered()} if demo else {}
    pressed = component("shortcuts")(key="shortcuts", data=data, height=1, **heard("search"))
    if pressed.search:
        st.switch_page("pages/search.py")


def _draw_foot() -> None:
    """Who is signed in, and the way out."""
    with st.sidebar.container(key="persona_box"):
        if app().settings.sign_in == "demo":
            _persona_switch()
        else:
            actor = identity.me()
            st.caption(f"{flash.plain(actor.name)} · {actor.role}")
            with st.container(horizontal=True, vertical_alignment="center", key="way_out"):
                _sign_out_form()


def _sign_out_form() -> None:
    """A real form: the route ends the session, takes the cookie away and leaves the app."""
    st.html(
        f'<form method="post" action="{cookies.at("/sign-out")}"><button class="plain-button">Sign out</button></form>'
    )


def _persona_switch() -> None:
    people = {
        account.id: account for account in app().people.accounts.all() if account.active and account.kind == PERSON
    }
    st.selectbox(
        "Demo: you act as",
        list(people),
        index=list(people).index(identity.me().id),
        format_func=lambda name: f"{people[name].name} · {people[name].role}",
        key=keys.PERSONA,
        persist_state="session",
        on_change=identity.clear,
        args=(keys.WORK,),
        help="This demo has no sign-in. Switch roles to see what each of them can do.",
    )
