"""Access tokens: one's own on Account, those of services and agents on Accounts."""

from __future__ import annotations

import streamlit as st

from core.access import Actor, scopes_for
from core.services.people.tokens import DAYS, AccessToken
from pages.ui import actions, dialogs, flash, identity, keys, style
from pages.ui.documents import frontmatter_form
from pages.ui.workspace import app

FIELDS = ("name", "scope", "days", "folders")  # of the form for a new one
SCOPES = {
    "read": "Read: search and read, change nothing",
    "propose": "Propose: also report gaps, give feedback, propose and discuss changes",
    "review": "Review: also approve, merge and confirm, as the role allows",
}


def draw(me: Actor) -> None:
    """One's own tokens, and the form for another."""
    st.markdown(
        "With an access token, a program or an assistant searches and works here in your name, "
        "never with more rights than you have. Give each its own, with the smallest scope that does."
    )
    listing(app().people.tokens.listed(me, me.id), me)
    show_made()


def listing(tokens: tuple[AccessToken, ...], owner: Actor) -> None:
    """Tokens that work, the form for another one, and those that ended."""
    active = [token for token in tokens if token.state == "active"]
    for token in active:
        _row(token)
    if not active:
        st.caption("No access tokens yet.")
    _form(owner)
    if ended := [token for token in tokens if token.state != "active"]:
        with st.expander(f"Ended ({len(ended)})", icon=":material/history:", type="compact"):
            for token in ended:
                last = token.revoked or token.expires
                st.caption(f"**{flash.plain(token.name)}** · {token.scope} · {token.state} {style.day(last[:10])}")


def _row(token: AccessToken) -> None:
    with st.container(border=True, horizontal=True, vertical_alignment="center", key=f"token_{token.id}"):
        with st.container(width="stretch", gap="xxsmall"):
            st.markdown(f"**{flash.plain(token.name)}** :gray-badge[{token.scope}]")
            used = f"last used {style.moment(token.used)}" if token.used else "never used"
            where = f" · {flash.plain(', '.join(token.folders))} alone" if token.folders else ""
            st.caption(f"`{token.prefix}…` · until {style.day(token.expires[:10])} · {used}{where}")
        if st.button("Revoke", key=f"revoke_{token.id}", help=f"End {flash.plain(token.name)}"):
            actions.confirm(
                f"Revoke {token.name}?",
                ["Whatever uses it is refused from now on.", "It cannot be brought back; a new one can be made."],
                "Revoke",
                lambda actor: f"{app().people.tokens.revoke(actor, token.id).name} is revoked.",
            )


def _form(owner: Actor) -> None:
    name, scope, days, folders = (f"token_{field}_{owner.id}" for field in FIELDS)
    with (
        st.expander("New token", icon=":material/add:", key=f"new_token_{owner.id.replace('.', '-')}"),
        st.form(f"token_form_{owner.id}", border=False),
    ):
        st.text_input("What will use it", key=name, max_chars=60, placeholder="for example Nightly report")
        st.radio("Scope", scopes_for(owner), key=scope, format_func=SCOPES.__getitem__)
        st.selectbox("Lasts", DAYS, index=1, key=days, format_func=lambda number: f"{number} days", width=160)
        st.multiselect(
            "Folders",
            frontmatter_form.folders(),
            key=folders,
            placeholder="Everything that the account may read",
            accept_new_options=True,
        )
        st.form_submit_button("Make token", on_click=_make, args=(owner.id,), type="primary")


def _make(owner: str) -> None:
    name, scope, days, folders = (st.session_state[f"token_{field}_{owner}"] for field in FIELDS)

    def make(actor: Actor) -> None:
        text, _ = app().people.tokens.make(actor, str(name or ""), str(scope), int(days), owner, folders=list(folders))
        st.session_state[keys.TOKEN_MADE] = text
        st.session_state[f"token_name_{owner}"], st.session_state[f"token_folders_{owner}"] = "", []

    actions.do_quietly(make)


def show_made() -> None:
    """Show the token that was just made; it is forgotten before it is drawn."""
    if text := st.session_state.pop(keys.TOKEN_MADE, ""):
        _made(text)


@dialogs.dialog("Your new access token")
def _made(text: str) -> None:
    identity.me()
    st.markdown("Copy it now: it is not shown again, and nobody can look it up.")
    st.code(text, language=None, wrap_lines=True)
    st.caption("Programs send it as a header: `Authorization: Bearer` and the token.")
    if st.button("Done", type="primary", key="token_done"):
        st.rerun()
