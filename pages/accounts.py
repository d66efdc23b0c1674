"""Accounts: who may sign in, in which role, and which services and agents come with access tokens. For admins."""

import streamlit as st

from core.access import KINDS, PERSON, ROLES, Actor
from core.services.people.accounts import Account, NewAccount
from pages.ui import actions, flash, identity, style
from pages.ui.account import sessions, tokens
from pages.ui.workspace import app

me = identity.require("manage accounts")
ABOUT = {
    "reader": "searches and reads",
    "author": "also proposes, discusses and merges changes",
    "reviewer": "also approves changes and confirms documents",
    "admin": "also manages accounts and index",
}


def role_changed(name: str) -> None:
    role = str(st.session_state[f"role_{name}"])
    actions.do(lambda actor: f"{app().people.accounts.set_role(actor, name, role).name} is {role} now.")


def switched(name: str) -> None:
    active = bool(st.session_state[f"active_{name}"])
    actions.do(
        lambda actor: (
            f"The account of {app().people.accounts.set_active(actor, name, active).name} is"
            f" {'on' if active else 'off'}."
        )
    )


def groups_set(name: str) -> None:
    groups = str(st.session_state.get(f"groups_{name}", "")).split(",")
    actions.do(lambda actor: _set_groups(actor, name, groups))


def _set_groups(actor: Actor, name: str, groups: list[str]) -> str:
    account = app().people.accounts.set_groups(actor, name, groups)
    return f"{account.name} is in {', '.join(account.groups) or 'no group'}."


def password_set(name: str) -> None:
    password = str(st.session_state.pop(f"password_{name}", ""))
    actions.do(lambda actor: _set_password(actor, name, password))


def _set_password(actor: Actor, name: str, password: str) -> str:
    current = identity.session()
    app().people.accounts.set_password(actor, name, password, keep=current[0].id if current else 0)
    names = {account.id: account.name for account in app().people.accounts.listed(actor)}
    return f"The password of {names[name]} is set. At their next sign-in they choose their own."


def link_made(name: str) -> None:
    actions.do(lambda actor: _make_link(actor, name))


def _make_link(actor: Actor, name: str) -> str:
    """The link as a whole address: the configured one, else the one that the admin's own browser shows."""
    link = app().people.accounts.password_link(actor, name)
    here = app().settings.url or (st.context.url or "").rpartition("/")[0]
    had = next(account.password for account in app().people.accounts.listed(actor) if account.id == name)
    st.session_state[f"made_link_{name}"] = (f"{here.rstrip('/')}{link.page}", had)
    return "Copy the link in their row and send it to them."


def added() -> None:
    form = {field: str(st.session_state.get(f"add_{field}", "")) for field in ("id", "name", "email", "kind", "role")}
    actions.do(lambda actor: _add(actor, form))


def _add(actor: Actor, form: dict[str, str]) -> str:
    account = app().people.accounts.add(
        actor,
        NewAccount(
            form["id"].strip(),
            form["name"],
            form["email"].strip() or ("" if form["kind"] == PERSON else f"{form['id'].strip()}@localhost"),
            form["role"],
            kind=form["kind"],
        ),
    )
    st.session_state.update({f"add_{field}": "" for field in ("id", "name", "email")})  # an empty form
    return f"{account.name} is added as {account.role}. {_next_step(actor, account)}".strip()


def _next_step(actor: Actor, account: Account) -> str:
    """How they come in."""
    if account.kind != PERSON:
        return f"Make an access token in the row of this {account.kind}."
    if app().settings.sign_in == "oidc":
        return f"They sign in with your organisation's account for {account.email}."
    return _make_link(actor, account.id) if app().settings.sign_in == "local" else ""


def account_row(account: Account) -> None:
    name, role, active = flash.plain(account.name), f"role_{account.id}", f"active_{account.id}"
    st.session_state[role], st.session_state[active] = account.role, account.active  # a refused change snaps back
    with st.container(
        border=True, horizontal=True, vertical_alignment="center", key=f"account_{account.id.replace('.', '-')}"
    ):
        with st.container(width="stretch", gap="xxsmall"):
            you, off = " (you)" if account.id == me.id else "", "" if account.active else " · switched off"
            kind = "" if account.kind == PERSON else f" :blue-badge[{account.kind}]"
            st.markdown(f"**{name}**{you}{kind}")
            st.caption(f"{flash.plain(account.id)} · {flash.plain(account.email)}{off}{_waiting(account)}")
            link, had = st.session_state.get(f"made_link_{account.id}", ("", False))
            if link and had == account.password:  # an invitation that was followed is of no more use
                st.caption(
                    f"Send this link to {name} and to no other person. They choose a password with it, once, within a"
                    " day."
                )
                st.code(link, language=None, wrap_lines=True)
        st.selectbox(
            f"Role of {name}",
            ROLES if account.kind == PERSON else ROLES[:-1],
            key=role,
            on_change=role_changed,
            args=(account.id,),
            label_visibility="collapsed",
            width=140,
        )
        st.toggle(
            f"The account of {name} is on",
            key=active,
            on_change=switched,
            args=(account.id,),
            label_visibility="collapsed",
        )
        groups_of(account, name)
        if account.kind == PERSON:
            ways_in(account, name)
        else:
            own = tuple(token for token in every_token if token.account == account.id)
            working = sum(token.state == "active" for token in own)
            with st.popover(style.count(working, "token"), type="tertiary", icon=":material/key:"):
                tokens.listing(own, account.actor)


def _waiting(account: Account) -> str:
    """Whether they have yet to come in; the demo's personas need no sign-in."""
    invited = account.kind == PERSON and account.active and app().settings.sign_in != "demo"
    if not invited or account.issuer:
        return ""
    if not account.password:
        return " · Not signed in yet"
    return " · Has yet to choose a password" if account.renew else ""


def groups_of(account: Account, name: str) -> None:
    """The groups that folders may name as their readers."""
    known = dict.fromkeys((*account.groups, *account.provider_groups))
    with st.popover(style.count(len(known), "group"), type="tertiary", icon=":material/group:"):
        key = f"groups_{account.id}"
        st.session_state.setdefault(key, ", ".join(account.groups))
        st.text_input(
            f"Groups of {name}",
            key=key,
            help="With commas between them. Folders name groups as their readers: Reviews, Readers.",
        )
        if account.provider_groups:
            st.caption(f"From the sign-in provider: {flash.plain(', '.join(account.provider_groups))}")
        st.button("Set groups", key=f"set_groups_{account.id}", on_click=groups_set, args=(account.id,))


def ways_in(account: Account, name: str) -> None:
    """Sessions and password of a person."""
    if signed_in := [session for session in everybody if session.account == account.id]:
        with st.popover(style.count(len(signed_in), "session"), type="tertiary", icon=":material/devices:"):
            sessions.listing(signed_in, here)
    with st.popover("Password", type="tertiary", icon=":material/key:"):
        st.button(
            "Make a link",
            key=f"link_{account.id}",
            on_click=link_made,
            args=(account.id,),
            help="With it they choose a password themselves, once, within a day.",
        )
        st.text_input(
            f"New password of {name}", type="password", key=f"password_{account.id}", autocomplete="new-password"
        )
        st.button("Set password", key=f"set_{account.id}", on_click=password_set, args=(account.id,))


st.title("Accounts")
st.caption(" · ".join(f"**{role}** {about}" for role, about in ABOUT.items()))
everybody, every_token, current = app().people.sessions.all(me), app().people.tokens.listed(me), identity.session()
here = current[0].id if current else 0
accounts = app().people.accounts.listed(me)
for account in accounts:
    if account.kind == PERSON:
        account_row(account)
st.header("Service accounts", anchor=False)
st.caption(
    "Programs and agents that come with access tokens. An agent is a language model that acts by itself: it proposes"
    " and comments, people approve and merge."
)
for account in accounts:
    if account.kind != PERSON:
        account_row(account)
if all(account.kind == PERSON for account in accounts):
    st.caption("None yet.")
tokens.show_made()
with st.expander("Add an account", icon=":material/person_add:", key="add_box"), st.form("add_form", border=False):
    first, second, third = st.columns(3)
    first.text_input("Account id", key="add_id", placeholder="for example avery")
    second.text_input("Name", key="add_name")
    third.text_input("Email", key="add_email")
    first, second, _ = st.columns(3)
    first.selectbox("Kind", KINDS, key="add_kind", format_func=str.capitalize)
    second.selectbox("Role", ROLES, key="add_role")
    st.form_submit_button("Add", on_click=added, icon=":material/person_add:")
