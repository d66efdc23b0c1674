"""Freshness: documents that are due for review, without an owner, or not found for what they answer."""

from collections.abc import Collection, Mapping, Sequence
from datetime import date
from urllib.parse import urlencode

import streamlit as st

from core.access import Actor, allowed
from core.curation.document.names import top_folder
from core.services.answers.answer_checks import AnswerState
from core.services.answers.ranks import Place
from core.services.knowledge.freshness import Attention
from core.types import Document
from pages.ui import actions, dialogs, disagreements, flash, identity, keys, style
from pages.ui.components.listing import filter_by, listing
from pages.ui.workspace import app, overview

me = identity.require("read documents")
TOP, NOBODY = "top level", "No owner"
KINDS = {"overdue": "Overdue", "due soon": "Due soon", "no owner": "Without owner", "imported": "Imported"}
TONES = {"overdue": "warn", "due soon": "note", "no owner": "bad", "imported": "note"}
ANSWER_KINDS = {"nowhere": "Not found", "late": "Found too late"}
ANSWER_TONES = {"nowhere": "bad", "late": "warn"}
CONFIRM = {"do": "confirm", "label": "Still right", "title": "You read it and its words are still right"}


def rows(attention: Attention, within: str = "") -> list[dict[str, object]]:
    """Most urgent first; `within` a folder of an import, each document that nobody approved."""
    if within:
        groups = attention.imported_folders
        return [row(each, "imported", "") for each in attention.imported if folder_among(each.path, groups) == within]
    overdue = [
        row(document, "overdue", f"{style.count(-state.days, 'day')} over") for document, state in attention.overdue
    ]
    due_soon = [
        row(document, "due soon", f"in {style.count(state.days, 'day')}") for document, state in attention.due_soon
    ]
    return [
        *overdue,
        *due_soon,
        *one_or_folder(attention.without_owner, attention.ownerless_folders, "no owner"),
        *one_or_folder(attention.only_imported, attention.imported_folders, "imported"),
    ]


def folder_among(path: str, groups: Collection[str]) -> str:
    """The folder of a list that a document counts to."""
    return max((name for name in groups if path.startswith(f"{name}/")), key=len, default=TOP)


def one_or_folder(documents: Sequence[Document], folders: Mapping[str, int], kind: str) -> list[dict[str, object]]:
    """A row for each document, or for each folder where they are many: after an import. Owners come first."""
    if not folders:
        return [row(document, kind, "") for document in documents]
    return [folder_row(name, count, kind) for name, count in folders.items()]


def folder_row(name: str, count: int, kind: str) -> dict[str, object]:
    """The documents of a folder, which the library lists, or this page those that were imported."""
    place = {} if name == TOP else {keys.FOLDER: name}
    imported = kind == "imported"
    return {
        "href": f"/freshness?{urlencode({keys.FOLDER: name})}"
        if imported
        else f"/documents?{urlencode({**place, 'owner': '-'})}",
        "count": count,
        "title": f"{style.count(count, 'document')} in {name}",
        "sub": "nobody approved them here yet" if imported else "nobody owns them",
        "kind": kind,
        **({} if imported else {"owner": NOBODY}),
        "folder": name,
        "badges": [{"text": KINDS[kind], "tone": TONES[kind]}],
    }


def row(document: Document, kind: str, when: str) -> dict[str, object]:
    due = document.meta.review_due
    return {
        "key": document.path,
        "doc": document.id,
        "title": document.title,
        "sub": f"{document.meta.owner or 'no owner'} · {document.path}",
        "kind": kind,
        "owner": document.meta.owner or NOBODY,
        "folder": top_folder(document.path) or TOP,
        "badges": [{"text": KINDS[kind], "tone": TONES[kind]}],
        "note": " · ".join(part for part in (style.day(due) if due else "", when) if part),
        "action": CONFIRM if kind != "no owner" and allowed(me, "confirm a document") else None,
    }


@dialogs.dialog("Still right?")
def ask_to_confirm(path: str) -> None:
    identity.require("read documents")
    document = app().knowledge.documents.show(path)
    st.markdown(
        f"You read **{flash.plain(document.title)}**, and its words are still right. This is recorded under your name."
    )
    until = st.date_input(
        "Next review", app().knowledge.freshness.next_review(), format="YYYY-MM-DD", key="confirm_until"
    )
    with st.container(horizontal=True, horizontal_alignment="right"):
        if st.button("Cancel", key="confirm_no"):
            st.rerun()
        if st.button("Still right", type="primary", key="confirm_yes") and until:
            actions.do(lambda actor: confirm(actor, path, until))
            st.rerun()


def confirm(actor: Actor, path: str, until: date) -> str:
    app().knowledge.freshness.confirm(actor, path, until)
    return f"Confirmed. The next review is due on {style.day(until)}."


def answer_row(state: AnswerState) -> dict[str, object]:
    """A question with the document that answers it."""
    place = state.place or Place(0)
    kind = "late" if place.rank else "nowhere"
    return {
        "key": f"{state.path} {state.question}",
        "doc": state.doc,
        "title": state.question,
        "sub": " · ".join(part for part in (state.title, state.owner or "no owner", place.note) if part),
        "kind": kind,
        "owner": state.owner or NOBODY,
        "folder": top_folder(state.path) or TOP,
        "badges": [{"text": f"Found at {place.rank}" if place.rank else "Not found", "tone": ANSWER_TONES[kind]}],
        "note": f"since {style.day(state.since[:10])}" if state.since else "",
    }


def answers() -> None:
    """What documents answer and are not found for, the worst first."""
    checks = app().answers.checks
    points = checks.findability()
    if points:
        last = points[-1]
        st.markdown(
            f"**{last.found} of {style.count(last.questions, 'question')}** that documents answer are found among the "
            f"first {last.within}. They are asked after every merge and every night."
        )
    empty = "Every document is found for what it answers." if points else "Nothing was asked yet."
    listing([answer_row(state) for state in checks.failing()], empty, "freshness_answers", filters(ANSWER_KINDS))


def filters(kinds: Mapping[str, str]) -> list[dict[str, object]]:
    """By what is wrong, who owns it and where it is."""
    by_kind = filter_by("kind", "What is due", kinds, counted=True)
    return [by_kind, filter_by("owner", "Any owner"), filter_by("folder", "Any folder")]


def view() -> str:
    """Which list is shown."""
    chosen = st.segmented_control(
        "Show",
        ["Due", "Answers", *(["Disagreements"] if allowed(me, "propose a change") else [])],
        key=keys.FRESHNESS_SHOWN,
        default="Due",
        required=True,
        bind="query-params",
        label_visibility="collapsed",
    )
    return str(chosen or "Due")


st.title("Freshness")
shown = view()
if shown == "Answers":
    answers()
    st.stop()
if shown == "Disagreements":
    disagreements.draw(me)
    st.stop()
attention = overview().attention
documents = app().knowledge.documents.all()
nothing = "Every document is fresh, approved and has an owner."
if not documents:
    nothing = "There are no documents yet."
elif not any(document.meta.review_due for document in documents):
    nothing = "No document has a date for its next review yet, so none is ever due."
if attention.without_owner and allowed(me, "propose a change"):
    st.page_link(
        "pages/documents.py",
        label="Name the missing owners in one step",
        icon=":material/group_add:",
        query_params={keys.DO: "owners"},
    )
within = st.query_params.get(keys.FOLDER, "")
if within:
    st.page_link("pages/freshness.py", label="Everything that is due", icon=":material/arrow_back:")
    nothing = f"Nothing in {within} waits for an approval."
clicked = listing(rows(attention, within), nothing, f"freshness {within}".strip(), filters(KINDS))
if clicked.act:
    ask_to_confirm(str(clicked.act["key"]))
