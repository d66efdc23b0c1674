"""Audit: who did what, when, and from the page or the command line. Append-only. For admins."""

import re
from datetime import date
from functools import partial

import streamlit as st

from core.services.people.audit import as_csv
from core.storage.state.records import AuditEntry
from pages.ui import identity, style
from pages.ui.workspace import app

me = identity.require("see the audit")
SHOWN, EXPORTED = 500, 100_000
HASH = re.compile(r"[0-9a-f]{40,64}")


def filters() -> dict[str, str | int]:
    recent = app().people.audit.entries(me, limit=5000)
    people = {entry.who: entry.name for entry in reversed(recent)}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        who = st.selectbox(
            "Who",
            sorted(people),
            index=None,
            format_func=people.__getitem__,
            placeholder="Anybody",
            key="audit_who",
            width=230,
        )
        action = st.selectbox(
            "Action",
            sorted({entry.action for entry in recent}),
            index=None,
            placeholder="Any action",
            key="audit_action",
            width=220,
        )
        change = st.number_input("Change", 0, value=None, step=1, placeholder="Any", key="audit_change", width=130)
        since = st.date_input("Since", None, format="YYYY-MM-DD", key="audit_since", width=170)
    return {
        "who": who or "",
        "action": action or "",
        "change": int(change or 0),
        "since": since.isoformat() if isinstance(since, date) else "",
    }


def row(entry: AuditEntry) -> dict[str, object]:
    return {
        "When": style.moment(entry.at),
        "Who": entry.name,
        "Role": entry.role,
        "Door": entry.door,
        "Token": entry.token,
        "Action": entry.action,
        "What": entry.what,
        "Change": f"#{entry.change}" if entry.change else "",
        "Detail": entry.detail[:10] if HASH.fullmatch(entry.detail) else entry.detail,
        "Commit": entry.commit_id[:10],
        "Request": entry.request,
    }


def as_file(account: str, chosen: dict[str, str | int]) -> str:
    """Runs outside the session, when the file is downloaded: hence the account's id."""
    actor = app().people.accounts.actor(account)
    return as_csv(app().people.audit.entries(actor, **chosen, limit=EXPORTED))  # type: ignore[arg-type]


st.title("Audit")
chosen = filters()
entries = app().people.audit.entries(me, **chosen, limit=SHOWN)  # type: ignore[arg-type]
with st.container(horizontal=True, vertical_alignment="center"):
    more = " (the newest are shown; the export has all)" if len(entries) == SHOWN else ""
    st.caption(f"{style.count(len(entries), 'line')}{more}", width="stretch")
    st.download_button(
        "Download CSV",
        partial(as_file, me.id, chosen),
        file_name="concord-audit.csv",
        mime="text/csv",
        icon=":material/download:",
        key="audit_csv",
        on_click="ignore",
    )
if entries:
    rows = [row(entry) for entry in entries]
    empty = {name: None for name in rows[0] if not any(each[name] for each in rows)}  # not shown
    st.dataframe(rows, hide_index=True, key="audit", height=style.table(len(entries)), column_config=empty)
else:
    st.info("Nothing in the audit matches these filters.", icon=":material/history:")
