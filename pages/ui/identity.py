"""Who is signed in.

Every page, fragment and dialog starts with `require(action)`, since each can rerun alone; callbacks check again.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn
from urllib.parse import quote, urlencode, urlsplit

import streamlit as st

from core import logs
from core.access import PERSON, Actor, allowed, set_reader
from core.errors import NotFound, Refused
from core.services.people.sessions import Session
from pages.ui import batches, flash, keys
from pages.ui.server import direct, listening, uploaded
from pages.ui.sign_in import cookies, provider
from pages.ui.workspace import app


def me() -> Actor:
    """The signed-in person; without one, say so and stop. What this run reads from here on is what they may read, and
    what they
    do carries the id that the proxy gave their connection."""
    logs.REQUEST.set(logs.plain(st.context.headers.get("X-Request-ID") or ""))
    actor = {"demo": _persona, "local": _signed_in, "oidc": _signed_in}[app().settings.sign_in]()
    set_reader(actor)
    return actor


def require(action: str) -> Actor:
    """The signed-in person, if their role allows the action; otherwise say so and stop."""
    actor = me()
    if not allowed(actor, action):
        st.title("Not for this role")
        st.info(
            f"{flash.plain(actor.name)} is signed in as {actor.role}. Ask an admin, or go back to the search.",
            icon=":material/lock:",
        )
        st.stop()
    return actor


def analyses(actor: Actor) -> bool:
    """Whether somebody may and wants to see what analysts use: chunks, generations, how a search ran."""
    return allowed(actor, "compare configurations") and app().people.accounts.sees_analysis(actor)


# ---------------------------------------------------------------- a persona, or a session


def _persona() -> Actor:
    """Demo: the chosen persona, else the one that this browser acted as last; on the loopback address only."""
    if reason := listening.refusal():
        st.error(reason)
        st.stop()
    try:
        return app().people.accounts.actor(st.session_state.get(keys.PERSONA) or remembered() or "admin")
    except (NotFound, Refused):
        return app().people.accounts.actor(
            next(account.id for account in app().people.accounts.all() if account.active and account.kind == PERSON)
        )


def remembered() -> str:
    """The persona that this browser acted as when the tab was opened."""
    return cookies.persona(st.context.cookies)


def _signed_in() -> Actor:
    """Whose session the browser's cookie names, looked up on every rerun: one that ended or lost its role has done so
    at once.
    """
    found = next(cookies.matched(app().people.sessions, st.context.cookies), None)
    if found and found[1][0].issuer and provider.renewed(found[1][0], found[0]):
        found = next(cookies.matched(app().people.sessions, st.context.cookies), None)
    if found is None:
        _signed_out()
    _, (current, actor) = found
    if st.session_state.setdefault(keys.SESSION, current.id) != current.id:
        _signed_out()  # the tab holds the work of another sign-in
    return actor


def session() -> tuple[Session, Actor] | None:
    """The session of this tab; None in the demo."""
    if app().settings.sign_in == "demo":
        return None
    return cookies.found(app().people.sessions, st.context.cookies)


def page_token() -> str:
    """With which a component calls the server's own routes, for as long as the session lasts."""
    found = session()
    return direct.token(me(), found[0].id if found else 0)


def _signed_out() -> NoReturn:
    """An open tab whose session ended: nothing of it is left, and the way back in leads to the same page."""
    clear(list(st.session_state))
    with st.container(key="signed_out"):
        st.title("You are signed out")
        st.markdown("Your session has ended. Nothing that was saved is lost; sign in to go on where you were.")
        st.html(f'<a class="primary-button" href="{cookies.at("/sign-in")}?next={quote(_here(), safe="")}">Sign in</a>')
    st.stop()


def _here() -> str:
    """The path of this page with its query."""
    parts = urlsplit(st.context.url or "/")
    query = urlencode([(name, value) for name in st.query_params for value in st.query_params.get_all(name)])
    return f"{parts.path or '/'}{'?' if query else ''}{query}"


def clear(names: Iterable[Any]) -> None:
    """Drop one person's work from this tab before the next: editor and uploads start empty. Saved drafts are kept."""
    uploaded.leave()
    batches.leave()
    turns = {key: int(st.session_state.get(key, 0)) + 1 for key in (keys.TURN, keys.UPLOAD_TURN)}
    for key in names:
        st.session_state.pop(key, None)
    for key, turn in turns.items():
        st.session_state[key] = turn
