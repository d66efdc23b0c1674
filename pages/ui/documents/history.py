"""The History tab: versions, what changed between two of them, who wrote each line, and the document as it was on an
earlier day.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from core import strict
from core.access import Actor, allowed
from core.curation.review.diffs import body_diff, field_changes
from core.errors import ConcordError, NotFound
from core.services.knowledge.blame import BlameLine, approval, blame
from core.services.knowledge.documents import Version
from core.services.platform.main_line import Moment
from core.types import Document
from pages.ui import address, flash, identity, keys, pictures, style
from pages.ui.components import component
from pages.ui.components.listing import listing
from pages.ui.components.reader import reader
from pages.ui.documents import document_actions, header
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
        st.warning(f"One of these versions cannot be read: {flash.refused(error)}")


def _row(doc: str, version: Version) -> dict[str, object]:
    commit = version.commit
    why = commit.message.splitlines()[0] if commit.message else "Change"
    sub = " · ".join(part for part in (commit.author.name, approval(commit.message)) if part)
    place = {keys.DOC: doc, keys.AS_OF: commit.id[: keys.COMMIT]}
    title = f"Version {version.number}: {why}"
    return {"title": title, "sub": sub, "right": style.moment(commit.when), "doc": doc, "place": place}


def _read(version: Version) -> Document:
    return app().knowledge.documents.at(version.commit)


def diff_view(old: Document, new: Document, left: str, right: str, key: str) -> Any:
    lines = body_diff(old, new)
    fields = field_changes(old.meta, new.meta)
    summary = (
        f"{style.count(lines.added, 'line')} added or changed, {style.count(lines.removed, 'line')} removed or changed"
    )
    return component("diff", "difftext")(
        key=key,
        data={
            "rows": strict.plain(lines.rows),
            "fields": strict.plain(fields),
            "left": left,
            "right": right,
            "summary": summary,
        },
    )


def blame_view(lines: Sequence[BlameLine], key: str) -> Any:
    """Draw the lines; consecutive lines of one commit name it once."""
    last = ""
    rows = []
    for line in lines:
        commit = line.commit
        first = commit is not None and commit.id != last
        last = commit.id if commit else ""
        rows.append(
            {
                "number": line.number,
                "text": line.text,
                "who": commit.author.name if commit and first else "",
                "when": style.day(commit.when[:10]) if commit and first else "",
                "why": commit.message.splitlines()[0] if commit and commit.message else "",
            }
        )
    return component("blame", "difftext")(key=key, data={"lines": rows})


def draw_past(name: str, as_of: str, mark: tuple[int, int] | None, me: Actor) -> None:
    """The text of then, under a line that says how it stands to the text of now."""
    documents = app().knowledge.documents
    try:
        moment = documents.line.moment(as_of)
        document = documents.show_at(me, name, as_of)
    except ConcordError as error:
        st.error(flash.refused(error), icon=":material/search_off:")
        return
    now = _now(document)
    header.draw_past(document, moment)
    _since(document, now, moment)
    if now and now.blob != document.blob and st.toggle("Show what changed", key=keys.SINCE, bind="query-params"):
        diff_view(document, now, f"Version {document.version}", f"Version {now.version}, now", key="since_then")
        return
    span = mark if mark and mark[1] <= len(document.text) else None
    reader(document, key="past_reader", mark=span, address=pictures.at(moment.commit))


def _now(document: Document) -> Document | None:
    """The same document in the newest state, by id, or where its file is now another's."""
    try:
        return app().knowledge.documents.show(document.id)
    except NotFound:
        return None


def _unchanged(moment: Moment) -> str:
    if moment.day > app().search.page.clock.today():
        return "That day is still to come; this is the text of today."
    return "Nothing in it has changed since."


def _since(document: Document, now: Document | None, moment: Moment) -> None:
    when = f"As of {style.day(moment.day)}"
    if now is None:
        st.warning(f"{when}. This document has been removed or renamed since.", icon=":material/history:")
        return
    if now.blob == document.blob:
        st.info(f"{when}. {_unchanged(moment)}", icon=":material/history:")
    else:
        st.warning(
            f"{when}, version {document.version}. This has changed since: it is now version {now.version}.",
            icon=":material/history:",
        )
    st.button(
        "Open the version of now",
        on_click=lambda: address.show(**{keys.DOC: now.id}),
        icon=":material/arrow_forward:",
        key="open_now",
    )
