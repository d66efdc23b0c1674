"""The History tab: versions, what changed between two of them, and who wrote each line."""

from __future__ import annotations

import streamlit as st

from core.access import allowed
from core.errors import ConcordError
from core.services.knowledge.blame import approval, blame
from core.services.knowledge.documents import Version
from core.types import Document
from pages.ui import flash, identity, keys, style
from pages.ui.components.blame_view import blame_view
from pages.ui.components.diff_view import diff_view
from pages.ui.components.listing import listing
from pages.ui.documents import document_actions
from pages.ui.workspace import app


def draw(document: Document) -> None:
    versions = app().knowledge.documents.history(document.id)
    by_number = {version.number: version for version in versions}
    if st.toggle("Who wrote each line", key="blame", bind="query-params"):
        blame_view(blame(app().knowledge.documents, document.id), key="blame_lines")
        return
    listing([_row(document.id, version) for version in versions], "", key="versions")
    if len(versions) < 2:
        st.caption("This is the first version; there is nothing to compare yet.")
        return
    numbers, last = sorted(by_number), len(by_number) - 1
    old, new = st.columns(2)
    before = old.selectbox(
        "From version", numbers, index=last - 1, key=f"{keys.OLD}_{document.id}", bind="query-params"
    )
    after = new.selectbox("To version", numbers, index=last, key=f"{keys.NEW}_{document.id}", bind="query-params")
    me = identity.me()
    if allowed(me, "propose a change") and before != numbers[-1]:
        document_actions.restore_version(document, by_number[before], me)
    try:
        diff_view(
            _read(by_number[before]), _read(by_number[after]), f"Version {before}", f"Version {after}", key="diff"
        )
    except ConcordError as error:
        st.warning(f"One of these versions cannot be read: {flash.plain(flash.refusal(error))}")


def _row(doc: str, version: Version) -> dict[str, object]:
    commit = version.commit
    why = commit.message.splitlines()[0] if commit.message else "Change"
    sub = " · ".join(part for part in (commit.author.name, approval(commit.message)) if part)
    place = {keys.DOC: doc, keys.AS_OF: commit.id[: keys.COMMIT]}
    title = f"Version {version.number}: {why}"
    return {"title": title, "sub": sub, "right": style.moment(commit.when), "doc": doc, "place": place}


def _read(version: Version) -> Document:
    return app().knowledge.documents.at(version.commit)
