"""Who is signed in. Every page, fragment and dialog starts with `require(action)`, since each can rerun alone; callbacks check again."""

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
    """The signed-in person; without one, draw the sign-in page and stop."""
    return {"demo": _persona, "local": _signed_in, "oidc": _provider}[app().settings.sign_in]()


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


# ---------------------------------------------------------------- demo, local, OIDC


def _persona() -> Actor:
    """Demo: the chosen persona, on the loopback address only."""
    if reason := listening.refusal():
        st.error(reason)
        st.stop()
    try:
        return app().people.accounts.actor(st.session_state.get(keys.PERSONA, "admin"))
    except (NotFound, Refused):
        return app().people.accounts.actor(
            next(account.id for account in app().people.accounts.all() if account.active)
        )


def _signed_in() -> Actor:
    """A local account, looked up on every rerun: a role that was taken away is gone at once."""
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
                actor = app().people.accounts.sign_in(name, password)
            except ConcordError as error:
                st.error(flash.plain(str(error)), icon=":material/lock:")
            else:
                _start_session(actor)
                st.rerun()


def _provider() -> Actor:
    """OIDC through Streamlit; people need an account here with the same address."""
    if "is_logged_in" not in st.user:
        st.title("Sign in")
        st.error(NOT_CONFIGURED, icon=":material/lock:")
        st.stop()
    if not st.user["is_logged_in"]:
        st.title("Sign in")
        st.button("Sign in with your organisation", on_click=st.login, type="primary", icon=":material/login:")
        st.stop()
    email, verified = str(st.user.get("email") or ""), st.user.get("email_verified") is not False
    actor = app().people.accounts.by_email(email) if verified else None
    if actor is None:
        _record_refusal(
            email.lower()[:80] or "no address", "no account that is on" if verified else "address not verified"
        )
        st.error(f"There is no account for {flash.plain(email or 'you')}. Ask an admin to add it.")
        st.button("Sign out", on_click=st.logout)
        st.stop()
    if st.session_state.get(keys.ACCOUNT) != actor.id:
        _start_session(actor)
        app().people.audit.note(actor, "sign in", actor.name)
    return actor


def _record_refusal(email: str, why: str) -> None:
    """One line in the audit per tab, however often the page reruns."""
    if st.session_state.get(keys.REFUSED) != email:
        st.session_state[keys.REFUSED] = email
        app().people.accounts.refuse(email, why)


def _start_session(actor: Actor) -> None:
    _clear(list(st.session_state))
    st.session_state[keys.ACCOUNT] = actor.id


def _clear(names: Iterable[Any]) -> None:
    """Drop one person's work from this tab before the next: editor and uploads start empty. Saved drafts are kept."""
    turns = {key: int(st.session_state.get(key, 0)) + 1 for key in (keys.TURN, keys.UPLOAD_TURN)}
    for key in names:
        st.session_state.pop(key, None)
    for key, turn in turns.items():
        st.session_state[key] = turn


def sign_out() -> None:
    _clear(list(st.session_state))
    st.query_params.clear()
    if app().settings.sign_in == "oidc":
        st.logout()


# ---------------------------------------------------------------- the foot of the sidebar


def foot() -> None:
    """Who is signed in, and the way out."""
    with st.sidebar.container(key="persona_box"):
        if app().settings.sign_in == "demo":
            _persona_switch()
        else:
            actor = me()
            st.caption(f"{flash.plain(actor.name)} · {actor.role}")
            st.button("Sign out", on_click=sign_out, icon=":material/logout:", key="sign_out")


def _persona_switch() -> None:
    people = {account.id: account for account in app().people.accounts.all() if account.active}
    st.selectbox(
        "Demo: you act as",
        list(people),
        index=list(people).index(me().id),
        format_func=lambda name: f"{people[name].name} · {people[name].role}",
        key=keys.PERSONA,
        persist_state="session",
        on_change=_clear,
        args=(keys.WORK,),
        help="This demo has no sign-in. Switch roles to see what each of them can do.",
    )
