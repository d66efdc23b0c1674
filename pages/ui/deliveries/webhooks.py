"""Webhooks: where events go, added, tried, switched and removed."""

from __future__ import annotations

import streamlit as st

from core.access import ROLES, Actor
from core.services.deliveries.formats import FORMATS
from core.services.deliveries.webhooks import NAMES, Webhook
from pages.ui import actions, dialogs, flash, identity, keys, style
from pages.ui.deliveries.log import said
from pages.ui.workspace import app


def draw(me: Actor) -> None:
    """What there is, and the form for another one."""
    st.markdown(
        "What happens here is told to a channel or a program: comments, approvals, merges, review dates, questions."
    )
    hooks = app().deliveries.webhooks.listed(me)
    for hook in hooks:
        _row(hook)
    if not hooks:
        st.caption("No webhooks yet.")
    _form()
    if secret := st.session_state.pop(keys.WEBHOOK_SECRET, ""):
        _made(secret)


def _row(hook: Webhook) -> None:
    active = ":red-badge[failing]" if hook.failing else ":green-badge[on]"
    state = active if hook.active else ":gray-badge[off]"
    name = flash.plain(hook.name)
    with st.container(border=True, horizontal=True, vertical_alignment="center", key=f"webhook_{hook.id}"):
        with st.container(width="stretch", gap="xxsmall"):
            st.markdown(f"**{name}** {state}")
            heard = style.count(len(hook.events), "event") if hook.events else "all events"
            reads = f"reads as {flash.plain(', '.join(hook.reads_as))}" if hook.reads_as else "reads what everyone may"
            st.caption(f"{FORMATS[hook.format][0]} · {heard} · {reads} · `{hook.place}`")
        with st.container(horizontal=True, width="content", key=f"webhook_buttons_{hook.id}"):
            _buttons(hook, name)


def _buttons(hook: Webhook, name: str) -> None:
    st.button(
        "Test",
        key=f"test_{hook.id}",
        help=f"Send a test to {name}",
        disabled=not hook.active,
        on_click=_test,
        args=(hook.id,),
    )
    word = "Switch off" if hook.active else "Switch on"
    st.button(word, key=f"switch_{hook.id}", help=f"{word} {name}", on_click=_switch, args=(hook.id, not hook.active))
    if st.button("Remove", key=f"remove_{hook.id}", help=f"Remove {name}"):
        actions.confirm(
            f"Remove {hook.name}?",
            ["It hears nothing more, and what waits for it is not sent.", "Its secret is gone."],
            "Remove",
            lambda actor: f"{app().deliveries.webhooks.remove(actor, hook.id).name} is removed.",
        )


def _test(number: int) -> None:
    actions.do(lambda actor: said(app().deliveries.webhooks.test(actor, number)))


def _switch(number: int, on: bool) -> None:
    actions.do(lambda actor: f"{app().deliveries.webhooks.switch(actor, number, on).name} is {'on' if on else 'off'}.")


def _form() -> None:
    with (
        st.expander("Add a webhook", icon=":material/add:", key="add_webhook"),
        st.form("webhook_form", border=False),
    ):
        st.text_input("Address", key="webhook_url", placeholder="https://hooks.slack.com/services/…")
        first, second = st.columns(2)
        first.text_input("Name", key="webhook_name", max_chars=80, placeholder="for example #knowledge in Slack")
        second.selectbox("Format", list(FORMATS), key="webhook_format", format_func=lambda name: FORMATS[name][0])
        st.multiselect("Events", NAMES, key="webhook_events", placeholder="All events")
        st.multiselect(
            "Reads as",
            _readers(),
            key="webhook_reads_as",
            placeholder="Everyone: what everybody may read",
            help="It hears what one of them may read: a role, a group, an account.",
            accept_new_options=True,
        )
        st.form_submit_button("Add", on_click=_add, type="primary")


def _readers() -> list[str]:
    """Roles, groups and accounts, as lists of readers name them."""
    accounts = app().people.accounts.all()
    groups = sorted({group for account in accounts for group in account.groups})
    return [f"role:{role}" for role in ROLES] + [f"group:{group}" for group in groups] + [one.id for one in accounts]


def _add() -> None:
    fields = ("url", "name", "format", "events", "reads_as")
    url, name, form, events, reads_as = (st.session_state[f"webhook_{field}"] for field in fields)

    def add(actor: Actor) -> None:
        _, secret = app().deliveries.webhooks.add(
            actor, str(url or ""), str(name or ""), str(form), tuple(events), reads_as=tuple(reads_as)
        )
        st.session_state[keys.WEBHOOK_SECRET] = secret
        st.session_state["webhook_url"] = st.session_state["webhook_name"] = ""
        st.session_state["webhook_events"] = st.session_state["webhook_reads_as"] = []

    actions.do_quietly(add)


@dialogs.dialog("The secret of the webhook")
def _made(secret: str) -> None:
    identity.me()
    st.markdown("Copy it now: it is not shown again. The receiver checks with it that a message comes from here.")
    st.code(secret, language=None, wrap_lines=True)
    st.caption("Slack and Teams do not need it: their address is a secret already.")
    if st.button("Done", type="primary", key="webhook_done"):
        st.rerun()
