"""The review rules: what they ask of whom, and another version as a change."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import streamlit as st

from core.access import Actor, allowed
from core.curation.review import policy
from core.services.reviews.changes import ChangeBasis
from pages.ui import actions, dialogs, flash, identity
from pages.ui.workspace import app

EXAMPLE = """rules:
  - match: "*"
    approvals: 1
"""


def draw(me: Actor) -> None:
    """Every rule in words, and a way to propose others."""
    with st.expander("Review rules", icon=":material/rule:", key="review_rules"):
        rows = [
            {"Documents": _where(rule), "Before a merge": policy.demands(rule)}
            for rule in app().reviews.changes.rules(me)
        ]
        st.dataframe(rows, hide_index=True, key="rules_table", width="stretch")
        st.caption("Rules are changed as documents are: authors propose, admins decide.")
        if allowed(me, "propose a change") and st.button(
            "Propose other rules", key="rules_edit", icon=":material/edit:"
        ):
            _edit()


@dialogs.dialog("Propose other rules", width="large")
def _edit() -> None:
    identity.require("propose a change")
    now = app().reviews.changes.rules_text(identity.me()) or EXAMPLE
    if "rules_text" not in st.session_state:
        st.session_state["rules_start"] = app().knowledge.repository.head()
    text = st.text_area("Rules", now, key="rules_text", height=320, max_chars=policy.MAX_BYTES)
    title = st.text_input("Title of the change", "Change the review rules", key="rules_title")
    if allowed(me := identity.me(), "manage accounts") and lone(me):
        st.info("You are the only admin, so no other admin can approve this: merge it by a bypass with a reason.")
    if st.button("Propose", type="primary", key="rules_go"):
        actions.do(partial(propose, title=title, text=text, start=st.session_state["rules_start"]))
        st.rerun()


def lone(me: Actor) -> bool:
    """Whether no other account may approve a change of the policy."""
    others = (account for account in app().people.accounts.listed(me) if account.active and account.id != me.id)
    return not any(allowed(account.actor, "bypass the review rules") for account in others)


def propose(actor: Actor, title: str, text: str, start: str = "") -> str:
    """The rules as a change; what cannot be read is refused."""
    return f"Change {submitted(actor, title, text, start)} proposes them. They hold once it is merged."


def submitted(actor: Actor, title: str, text: str, start: str = "") -> int:
    """The number of the change that proposes the file, on the commit that it was typed on: rules that were merged since
    are
    joined with it, or conflict."""
    policy.read(text.encode())
    change = app().reviews.changes.propose(actor, title, {policy.FILE: text.encode()}, basis=ChangeBasis(start))
    app().reviews.changes.submit(actor, change.id)
    return change.id


def asked_of(paths: Iterable[str]) -> str:
    """What the rules ask of documents on some paths, for whoever is about to submit them."""
    rules = policy.applicable(app().reviews.changes.rules(identity.me()), paths)
    said = "; ".join(dict.fromkeys(policy.demands(rule) for rule in rules))
    return f"The review rules ask: {said}." if said else ""


def _where(rule: policy.Rule) -> str:
    return "all" if rule.match == "*" else rule.match


def say(paths: Iterable[str]) -> None:
    if words := asked_of(paths):
        st.caption(f":material/rule: {flash.plain(words)}")
