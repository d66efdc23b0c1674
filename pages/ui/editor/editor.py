"""The editor: a form for the frontmatter, a text with its preview, and a draft that survives leaving the page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from core import strict
from core.access import Actor
from core.curation.findings import Finding
from core.curation.frontmatter import decode, read_document, split
from core.curation.markup import slugify
from core.curation.render import render
from core.curation.templates import TEMPLATES, begin
from core.curation.writing import with_body, with_fields
from core.errors import BadInput, ConcordError
from core.services.reviews.authoring import Files, Target, check_new_path
from core.types import Document
from pages.ui import flash, identity, keys, style
from pages.ui.components import component
from pages.ui.editor import fields, target
from pages.ui.workspace import app

BLANK = "blank"
NEW = "## Purpose\n\nSay in one or two sentences what this is for, and for whom.\n\n## Steps\n\n1. \n"


@dataclass(frozen=True, slots=True)
class Opened:
    """What an editor was opened on. `base` is the commit that was read; `path` is "" for a document to be."""

    place: str
    base: str
    path: str
    text: str
    change: int = 0
    drafted: str = ""  # when the text was kept, if it is a draft
    folder: str = ""


def existing(me: Actor, path: str, change: int = 0) -> Opened:
    """A document to edit: as approved, or as a change has it."""
    base = app().reviews.changes.get(change).head if change else app().knowledge.store.head()
    text = decode(app().knowledge.store.read(base, path))
    return _drafted(me, Opened(f"{change}:{path}", base, path, text, change))


def new(me: Actor, folder: str = "") -> Opened:
    """A document to be."""
    chosen = str(st.session_state.get(keys.TEMPLATE))
    text = begin(TEMPLATES[chosen], me.name, app().upload.uploads.clock.today()) if chosen in TEMPLATES else NEW
    return _drafted(me, Opened("new", app().knowledge.store.head(), "", text, folder=folder))


def _drafted(me: Actor, start: Opened) -> Opened:
    """The same with the text that its writer left, if there is one."""
    kept = app().knowledge.drafts.find(me, start.place)
    if not kept:
        return start
    left = json.loads(kept[0])
    return replace(start, text=left["text"], base=left["base"], folder=left.get("folder", ""), drafted=kept[1])


def draw(start: Opened, me: Actor) -> None:
    """Form, text and the way to save."""
    turn = st.session_state.setdefault(keys.TURN, 0)
    key = f"edit_{strict.digest([start.place, turn, me.id])}"
    if f"{key}_text" not in st.session_state:  # somebody just came here
        st.session_state[keys.OFFERED] = start.drafted
    if not start.path:
        _templates(key)
    if st.session_state.get(keys.OFFERED):
        _notice(start.place, st.session_state[keys.OFFERED])
    _body(start, key)


def _templates(key: str) -> None:
    """What a new document can start from."""
    chosen = st.session_state.get(keys.TEMPLATE) or BLANK
    st.segmented_control(
        "Start from",
        [BLANK, *TEMPLATES],
        default=chosen,
        required=True,
        format_func=lambda name: TEMPLATES[name].name if name in TEMPLATES else "Blank page",
        key=f"{key}_template",
        on_change=start_from,
        args=(key,),
    )
    if chosen in TEMPLATES:
        st.caption(TEMPLATES[chosen].about)


def start_from(key: str) -> None:
    """Another template, with the title that was typed; a text that somebody wrote is never thrown away for it."""
    me, place = identity.me(), "new"
    kept = app().knowledge.drafts.find(me, place)
    text = json.loads(kept[0])["text"] if kept else ""
    if text and not _untouched(text):
        flash.say("Your text would be lost. Throw it away first, then choose a template.", "info")
    else:
        name = str(st.session_state[f"{key}_template"])
        st.session_state[keys.TEMPLATE] = name
        app().knowledge.drafts.forget(me, place)
        title = " ".join(str(st.session_state.get(f"{key}_title") or "").split())
        if title:
            start = new(me)
            packed = {"text": with_fields(start.text, {"title": title}), "base": start.base, "folder": ""}
            app().knowledge.drafts.keep(me, place, json.dumps(packed))
    st.session_state[keys.TURN] = st.session_state.get(keys.TURN, 0) + 1


def _untouched(text: str) -> bool:
    """Whether a text's body is still that of a template, word for word."""
    bodies = {" ".join(body.split()) for body in (NEW, *(one.body for one in TEMPLATES.values()))}
    return " ".join(text[split(text)[1] :].split()) in bodies


def _notice(place: str, when: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f":material/edit_note: This is what you typed and did not save, kept {style.moment(when)}.")
        st.button("Throw it away", key="discard", type="tertiary", on_click=discard, args=(place,))


def discard(place: str) -> None:
    """Forget a draft and start afresh."""
    app().knowledge.drafts.forget(identity.me(), place)
    st.session_state[keys.TURN] = st.session_state.get(keys.TURN, 0) + 1


@st.fragment
def _body(start: Opened, key: str) -> None:
    me = identity.require("propose a change")
    document, problem = _read(start.path or "untitled.md", start.text)
    whole = document is None
    values = fields.form(document.meta, document.title if start.path or document.meta.title else "", key) if document else {}  # fmt: skip
    folder, path = (start.folder, start.path) if start.path else _path(start, str(values.get("title") or ""), key)
    rest = start.text if document is None else start.text[document.body :]
    before = rest if whole else rest.lstrip("\n")
    lead = rest[: len(rest) - len(before)] if start.path else "\n"
    typed = (st.session_state.get(f"{key}_text") or {}).get("text")
    body = before if typed is None else str(typed)
    try:
        text = body if whole else with_fields(with_body(start.text, lead + body), values)
        document, problem = _read(path or "untitled.md", text)
    except ConcordError as error:
        text, problem = start.text, str(error)
    kept = _keep(start, me, text, folder)
    found = app().reviews.changes.checking.typed(
        path or "untitled.md", text, start.base, app().upload.uploads.clock.today()
    )
    _editor(key, body, document, problem, kept, [one for one in found if one.severity != "note"])
    _save(start, me, key, path, text, document)


def _read(path: str, text: str) -> tuple[Document | None, str]:
    try:
        return read_document(path, text), ""
    except ConcordError as error:
        return None, str(error)


def _path(start: Opened, title: str, key: str) -> tuple[str, str]:
    """Where a new document will live: a folder, and a name from its title."""
    folders = sorted({one.path.rpartition("/")[0] for one in app().knowledge.documents.all()} - {""})
    where, name = st.columns([1, 2])
    folder = where.selectbox(
        "Folder",
        fields.options(folders, start.folder),
        index=fields.index_of(folders, start.folder),
        accept_new_options=True,
        placeholder="Top level, or a folder",
        key=f"{key}_folder",
    )
    wished = name.text_input(
        "File name", key=f"{key}_name", placeholder=f"{_name(title) or 'from-the-title'}.md", help="Made from the title unless you write one."
    )  # fmt: skip
    file = (wished or _name(title)).removesuffix(".md")
    return folder or "", "/".join(part for part in ((folder or "").strip("/"), f"{file}.md" if file else "") if part)


def _name(title: str) -> str:
    return slugify(title) if title.strip() else ""


def _keep(start: Opened, me: Actor, text: str, folder: str) -> str:
    """Remember what was typed, if it differs from what is kept; says so."""
    known = app().knowledge.drafts.find(me, start.place)
    packed = json.dumps({"text": text, "base": start.base, "folder": folder})
    if text == start.text and not known:
        return "Nothing changed yet"
    try:
        if not known or known[0] != packed:
            app().knowledge.drafts.keep(me, start.place, packed)
    except ConcordError as error:
        return str(error)
    return "Your text is kept; it is not saved in a change yet"


def _editor(key: str, body: str, document: Document | None, problem: str, note: str, found: Sequence[Finding]) -> Any:
    nodes = list(render(document).nodes) if document else []
    return component("editor", "nodes")(
        key=f"{key}_text",
        data={
            "serial": key,
            "text": body,
            "title": document.title if document else "",
            "nodes": nodes,
            "problem": problem,
            "note": f"{note} · {len(found)} to fix below" if found and not problem else note,
            "checks": [] if problem else [[one.line, one.severity, one.message] for one in found],
        },
        on_text_change=lambda: None,
    )


def _save(start: Opened, me: Actor, key: str, path: str, text: str, document: Document | None) -> None:
    with st.container(border=True, key="save_box"):
        named = document.title if document else path
        if start.change:
            st.caption(f"Saves into change #{start.change}. A new edit voids earlier approvals.")
            why = st.text_input("What you did (optional)", key=f"{key}_why")
            chosen = Target(start.change, "", why, start.base)
        else:
            chosen = target.choose(f"{key}_into", f"{'Edit' if start.path else 'Add'} {named}"[:200], start.base, me)
            if not start.path and path:
                st.caption(f"It will live at {flash.plain(path)}.")
        if st.button("Save in a change", type="primary", icon=":material/save:", key="save"):
            target.finish(chosen, lambda: _files(start, path, text), lambda actor: _forget(actor, start.place))


def _files(start: Opened, path: str, text: str) -> Files:
    if not path.endswith(".md"):
        raise BadInput("Give the document a title first; its file name is made from it.")
    made = text if text.endswith("\n") else f"{text}\n"
    return {start.path or check_new_path(app().knowledge.documents, path): made.encode()}


def _forget(actor: Actor, place: str) -> None:
    app().knowledge.drafts.forget(actor, place)
    st.session_state[keys.TURN] = st.session_state.get(keys.TURN, 0) + 1
