"""Who is here. Every page, fragment and dialog begins with `require(action)`, since each runs alone; callbacks ask again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import streamlit as st

from core.access import Actor, allowed
from core.errors import ConcordError, NotFound, Refused
from pages.ui import flash, keys, listening
from pages.ui.workspace import app

NOT_CONFIGURED = (
    "CONCORD_SIGN_IN is oidc, and no sign-in provider is configured. "
    "Whoever runs this app adds an [auth] section to .streamlit/secrets.toml; docs/sign-in.md shows one."
)


def me() -> Actor:
    """The person behind this session; without one, the page that lets people in, and nothing more."""
    return {"demo": _persona, "local": _signed_in, "oidc": _provider}[app().settings.sign_in]()


def require(action: str) -> Actor:
    """The person, if the role allows the action; else a page that says so, and nothing more."""
    actor = me()
    if not allowed(actor, action):
        st.title("Not for this role")
        st.info(
            f"{flash.plain(actor.name)} is signed in as {actor.role}. Ask an admin, or go back to the search.",
            icon=":material/lock:",
        )
        st.stop()
    return actor


# ---------------------------------------------------------------- three ways in


def _persona() -> Actor:
    """The demo: everybody may be anybody, where nobody else can reach it."""
    if reason := listening.refusal():
        st.error(reason)
        st.stop()
    try:
        return app().people.accounts.actor(st.session_state.get(keys.PERSONA, "admin"))
    except (NotFound, Refused):
        return app().people.accounts.actor(next(one.id for one in app().people.accounts.all() if one.active))


def _signed_in() -> Actor:
    """A local account; asked anew on every run, so a role that was taken away is gone at once."""
    try:
        return app().people.accounts.actor(st.session_state.get(keys.ACCOUNT, ""))
    except ConcordError:
        _sign_in_page()
        st.stop()


def _sign_in_page() -> None:
    with st.container(width=420, key="sign_in"):
        st.title("Sign in")
        with st.form("sign_in_form", border=True):
            name = st.text_input("Name or email", key="sign_in_name", autocomplete="username")
            password = st.text_input(
                "Password", type="password", key="sign_in_password", autocomplete="current-password"
            )
            pressed = st.form_submit_button("Sign in", type="primary", width="stretch")
        if pressed:
            try:
                found = app().people.accounts.sign_in(name, password)
            except ConcordError as error:
                st.error(flash.plain(str(error)), icon=":material/lock:")
            else:
                _begin(found)
                st.rerun()


def _provider() -> Actor:
    """The organisation's own sign-in, through Streamlit; people need an account with the same address."""
    if "is_logged_in" not in st.user:
        st.title("Sign in")
        st.error(NOT_CONFIGURED, icon=":material/lock:")
        st.stop()
    if not st.user["is_logged_in"]:
        st.title("Sign in")
        st.button("Sign in with your organisation", on_click=st.login, type="primary", icon=":material/login:")
        st.stop()
    email, verified = str(st.user.get("email") or ""), st.user.get("email_verified") is not False
    found = app().people.accounts.by_email(email) if verified else None
    if found is None:
        _refuse(email.lower()[:80] or "no address", "no account that is on" if verified else "address not verified")
        st.error(f"There is no account for {flash.plain(email or 'you')}. Ask an admin to add it.")
        st.button("Sign out", on_click=st.logout)
        st.stop()
    if st.session_state.get(keys.ACCOUNT) != found.id:
        _begin(found)
        app().people.audit.note(found, "sign in", found.name)
    return found


def _refuse(email: str, why: str) -> None:
    """Note it once, however often the page is drawn."""
    if st.session_state.get(keys.REFUSED) != email:
        st.session_state[keys.REFUSED] = email
        app().people.accounts.refuse(email, why)


def _begin(actor: Actor) -> None:
    _forget(list(st.session_state))
    st.session_state[keys.ACCOUNT] = actor.id


def _forget(left: Iterable[Any]) -> None:
    """Nothing of one person's work waits in this tab for the next: editor and desk start afresh. Drafts stay with their writer."""
    turns = {key: int(st.session_state.get(key, 0)) + 1 for key in (keys.TURN, keys.UPLOAD_TURN)}
    for key in left:
        st.session_state.pop(key, None)
    for key, turn in turns.items():
        st.session_state[key] = turn


def sign_out() -> None:
    """Leave."""
    _forget(list(st.session_state))
    st.query_params.clear()
    if app().settings.sign_in == "oidc":
        st.logout()


# ---------------------------------------------------------------- the foot of the sidebar


def foot() -> None:
    """Who is here, and how to become somebody else."""
    with st.sidebar.container(key="persona_box"):
        if app().settings.sign_in == "demo":
            _persona_switch()
        else:
            actor = me()
            st.caption(f"{flash.plain(actor.name)} · {actor.role}")
            st.button("Sign out", on_click=sign_out, icon=":material/logout:", key="sign_out")


def _persona_switch() -> None:
    people = {one.id: one for one in app().people.accounts.all() if one.active}
    st.selectbox(
        "Demo: you act as",
        list(people),
        index=list(people).index(me().id),
        format_func=lambda name: f"{people[name].name} · {people[name].role}",
        key=keys.PERSONA,
        persist_state="session",
        on_change=_forget,
        args=(keys.WORK,),
        help="This demo has no sign-in. Switch roles to see what each of them can do.",
    )
