"""Facts that disagree: notes for editors and diffs, the list on Freshness, and the dialog that settles one."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.access import Actor, allowed
from core.curation.checks.findings import Finding
from core.errors import ConcordError
from core.services.disagreements.finder import Disagreement, Statement
from pages.ui import actions, dialogs, flash, identity, style
from pages.ui.components.listing import filter_by, listing
from pages.ui.workspace import app

RULE = "disagreement"
WORDS = {
    "number": "Number",
    "amount": "Amount",
    "date": "Date or time",
    "period": "Period",
    "name": "Name",
    "negation": "Opposite",
}
STATES = {"open": "Open", "settled": "Settled", "dismissed": "Taken away by the model"}
SETTLE = {"do": "settle", "label": "Both are right", "title": "Settle it with a reason"}
REOPEN = {"do": "reopen", "label": "Reopen"}


def remarks(me: Actor, path: str, text: str) -> list[Finding]:
    """What other documents say otherwise than a text that is being written, line by line."""
    if not allowed(me, "propose a change"):
        return []
    try:
        found = app().knowledge.disagreements.of_text(me, path, text)
    except ConcordError:
        return []  # a text that cannot be read has findings of its own
    return [
        Finding(path, one.mine.line, "warning", RULE, f"{one.sentence} “{one.theirs.text}”")
        for one in found
        if one.state == "open"
    ]


def notes(me: Actor, number: int) -> list[dict[str, Any]]:
    """What a change says otherwise than other documents, for the diff."""
    found = app().knowledge.disagreements.of_change(me, number)
    return [
        {"path": one.mine.path, "line": one.mine.line, "sentence": one.sentence, **_row(one)}
        for one in found
        if one.state != "dismissed"
    ]


def draw(me: Actor) -> None:
    """The list over the whole knowledge base."""
    found = app().knowledge.disagreements.everywhere(me)
    may = allowed(me, "settle a disagreement")
    filters = [filter_by("state", "State", STATES, counted=True), filter_by("kind", "Kind", WORDS, counted=True)]
    items = [_item(one, may) for one in found]
    clicked = listing(items, _none(), "disagreements", filters, chosen={"state": "open"}).act
    if clicked and clicked["do"] == "settle":
        ask_to_settle(str(clicked["key"]))
    elif clicked:
        actions.do(lambda actor: _reopened(actor, str(clicked["key"])))
        st.rerun()


def _none() -> str:
    """What an empty list says: what was compared, and no more than that."""
    documents = style.count(len(app().knowledge.documents.all()), "document")
    kinds = ", ".join(WORDS.values()).lower()
    return f"None found. Compared in {documents}: {kinds}. Facts in quite different words can go unnoticed."


@dialogs.dialog("Both are right?")
def ask_to_settle(key: str) -> None:
    identity.require("settle a disagreement")
    st.markdown("It is no longer counted as open. Your reason stays beside it, until one of the two is edited.")
    reason = st.text_area("Why both are right", key="settle_reason", max_chars=2000)
    with st.container(horizontal=True, horizontal_alignment="right"):
        if st.button("Cancel", key="settle_no"):
            st.rerun()
        if st.button("Both are right", type="primary", key="settle_yes"):
            actions.do(lambda actor: _settled(actor, key, reason))
            st.rerun()


def _settled(actor: Actor, key: str, reason: str) -> str:
    found = app().knowledge.disagreements.settle(actor, key, reason)
    return f"Settled: {flash.plain(found.mine.title)} and {flash.plain(found.theirs.title)} are both right."


def _reopened(actor: Actor, key: str) -> str:
    app().knowledge.disagreements.reopen(actor, key)
    return "It is open again."


def _item(found: Disagreement, may: bool) -> dict[str, Any]:
    """A row of the list: both statements, and why they may differ."""
    row = _row(found)
    action = REOPEN if found.state == "settled" else SETTLE
    why = {
        "settled": f"Both are right: {found.reason} ({row['by']})",
        "dismissed": "A language model says both can be right",
    }
    return {
        "key": found.key,
        "kind": found.kind,
        "state": found.state,
        "beside": [{"text": WORDS[found.kind], "tone": "warn" if found.state == "open" else ""}],
        "sub": why.get(found.state, ""),
        "sides": [{**side, "sub": f"{side['owner']} · {side['place']}"} for side in (row["mine"], row["theirs"])],
        "action": action if may else None,
    }


def _row(found: Disagreement) -> dict[str, Any]:
    said = f"{found.settled_by}, {style.moment(found.settled_at)}" if found.settled_at else ""
    return {
        "key": found.key,
        "kind": found.kind,
        "state": found.state,
        "mine": _side(found.mine),
        "theirs": _side(found.theirs, f"and {found.more:,} more of the same" if found.more else ""),
        "reason": found.reason,
        "by": said,
    }


def marks(text: str, start: int, end: int) -> list[tuple[bool, str]]:
    """A statement in parts, and which of them is the value; the marks of code are not shown.

    >>> marks("Uploaded to `PeopleHub` within one day.", 31, 38)
    [(False, 'Uploaded to PeopleHub within '), (True, 'one day'), (False, '.')]
    """
    parts = ((False, text[:start]), (True, text[start:end]), (False, text[end:]))
    return [(value, shown) for value, part in parts if (shown := part.replace("`", ""))]


def _side(statement: Statement, again: str = "") -> dict[str, Any]:
    return {
        "doc": statement.doc,
        "path": statement.path,
        "title": statement.title,
        "owner": statement.owner or "no owner",
        "place": " · ".join(filter(None, (" › ".join((*statement.heading, f"line {statement.line}")), again))),
        "marks": marks(statement.text, *statement.span),
    }
