"""The owner of documents: a person of Concord first, another name only on purpose, and a remark where nobody answers to
it.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.ui import flash, identity
from pages.ui.workspace import app

OTHER = "\0other"  # not a name that a document can hold


def choose(
    cell: Any, key: str, value: str = "", *, label: str = "Owner", placeholder: str = "Who keeps it right", **more: Any
) -> str:
    """The chosen owner, or "".

    Whom the field does not know is typed under *Somebody else*, never by a slip of Enter.
    """
    owners, me = app().inbox.owners, identity.me()
    names = owners.offered(me, [document.meta.owner for document in app().knowledge.documents.all()], value)
    options = [*names, OTHER]
    chosen = cell.selectbox(
        label,
        options,
        index=options.index(value) if value in options else None,
        format_func=lambda name: {OTHER: "Somebody else …", names[0]: f"{names[0]} (me)"}.get(name, name),
        placeholder=placeholder,
        key=key,
        **more,
    )
    if chosen == OTHER:
        chosen = cell.text_input("Name of the owner", key=other(key), max_chars=200, **more)
    owner = " ".join((chosen or "").split())
    if remark := owners.remark(owner):
        cell.caption(f":material/person_off: {flash.plain(remark)}")
    return owner


def other(key: str) -> str:
    """The key of the box for a name that the field does not offer."""
    return f"{key}_other"


def chosen(key: str) -> str:
    """What a field holds, for callbacks."""
    value = st.session_state.get(key)
    return " ".join(str((st.session_state.get(other(key)) if value == OTHER else value) or "").split())
