"""The editor: the frontmatter as a form, the text with its preview and checks, and the way to save."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from core import strict
from core.access import Actor
from core.curation.checks.findings import Finding
from core.curation.document.frontmatter import read_document
from core.curation.document.frontmatter_edit import with_body, with_fields
from core.curation.text.markup import slugify
from core.curation.text.render import Node, with_pictures
from core.errors import BadInput, ConcordError
from core.services.reviews.authoring import Files, Target, check_new_path, with_both
from core.types import Document
from pages.ui import actions, disagreements, flash, identity, keys, pictures
from pages.ui.components.editor_view import Editing, editor_view, tab, typed
from pages.ui.documents import draft, frontmatter_form, save_target, tabs
from pages.ui.documents.draft import Opened
from pages.ui.workspace import app

UNTITLED = "untitled.md"


def draw(start: Opened, me: Actor) -> None:
    """Form, text and the save button; a new key for every document, person, tab and reset."""
    key = _key(start, me)
    if _component(start, me) not in st.session_state or not tabs.opened(key):  # just opened
        tabs.begin_editing(start, me, key)
    start = tabs.opened(key) or start
    if not start.path:
        draft.draw_templates(key)
    if start.drafted:
        tabs.draw_notice(start)
    _form_and_text(start, key)


def _key(start: Opened, me: Actor) -> str:
    turn, template = st.session_state.setdefault(keys.TURN, 0), "" if start.path else draft.chosen_template()
    return f"edit_{strict.digest([start.place, tab(), turn, me.id, template])}"


def _component(start: Opened, me: Actor) -> str:
    """The key of the text: it outlives a reset and a restart of the server, with the cursor."""
    return f"text_{strict.digest([start.place, me.id])}"


@st.fragment
def _form_and_text(start: Opened, key: str) -> None:
    me = identity.require("propose a change")
    if key != _key(start, me):
        st.rerun()  # the text was replaced
    draft.draw_others(start, me)
    document, problem = _read(start.path or UNTITLED, start.text)
    said = typed(_component(start, me), key)
    body, leading = _typed_body(start, document, said.get("text"))
    values = _fields(start, document, key, leading + body)
    folder, name, path = _path(start, str(values.get("title") or ""), key) if not start.path else ("", "", start.path)
    try:
        text = body if document is None else with_fields(with_body(start.text, leading + body), values)
        document, problem = _read(path or UNTITLED, text)
    except ConcordError as error:
        text, problem = start.text, flash.refusal(error)
    note, saved = tabs.keep(replace(start, folder=folder, name=name), me, text, said.get("after", ()))
    with st.container():
        tabs.draw_other(start, me, text)
    nodes, too_long = _preview(start, document)
    shown = Editing(
        serial=key,
        place=strict.digest([start.place, me.id]),
        path=path,
        text=text if text.endswith(body) else body,
        body=body,
        document=document,
        nodes=nodes,
        problem=problem or too_long,
        note=note,
        saved=saved,
        findings=[] if problem or too_long else _findings(start, me, path, text),
        token=identity.page_token(),
        insert=st.session_state.get(f"{key}_insert", {}),
        left=st.session_state.get(f"{key}_left", ""),
    )
    said = editor_view(_component(start, me), shown)
    if said.picture and said.picture["id"] != st.session_state.get(f"{key}_insert", {}).get("id"):
        _hold(start, me, key, path, said.picture)
    if said.left and said.left["id"] != shown.left:
        tabs.keep_left(start, me, str(said.left["text"]), [str(text) for text in said.left["after"]])
        st.session_state[f"{key}_left"] = str(said.left["id"])
        st.rerun()
    _save(start, me, key, path, text, document)


def _hold(start: Opened, me: Actor, key: str, path: str, picture: Mapping[str, Any]) -> None:
    """Keep a picture with the draft and let the editor show it where the cursor is."""
    try:
        raw = base64.b64decode(str(picture["data"]), validate=True)
        held = app().knowledge.pictures.hold(me, start.place, path or UNTITLED, str(picture["name"]), raw)
    except (ConcordError, ValueError) as error:
        st.error(flash.refused(error), icon=":material/error:")
        return
    st.session_state[f"{key}_insert"] = {"id": str(picture["id"]), "markdown": held.markdown}
    st.rerun(scope="fragment")


def _findings(start: Opened, me: Actor, path: str, text: str) -> list[Finding]:
    """What should be mended before somebody else reads it, and what other documents say otherwise."""
    today = app().upload.uploads.clock.today()
    held = app().knowledge.pictures.held(identity.me(), start.place)
    found = app().reviews.changes.typed(path or UNTITLED, text, start.base, today, held)
    differs = disagreements.remarks(me, path or UNTITLED, text)
    return [*(finding for finding in found if finding.severity != "note"), *differs]


def _read(path: str, text: str) -> tuple[Document | None, str]:
    try:
        return read_document(path, text), ""
    except ConcordError as error:
        return None, flash.refusal(error)


def _fields(start: Opened, document: Document | None, key: str, body: str) -> dict[str, Any]:
    """The values of the form; none where the frontmatter cannot be read, which is then edited as text."""
    if document is None:
        return {}
    title = document.title if start.path or document.meta.title else ""
    named = str(st.session_state.get(f"{key}_title") or title)
    typed, _ = _read(start.path or UNTITLED, with_fields(with_body(start.text, body), {"title": named}))
    status = bool(start.path) or document.meta.status != "approved"  # what is new counts once it is merged
    shown = frontmatter_form.FormOptions(status=status, typed=typed)
    return frontmatter_form.form(document.meta, title, key, shown)


def _typed_body(start: Opened, document: Document | None, typed: str | None) -> tuple[str, str]:
    """The body as typed so far, and the blank lines that stand before it in the file."""
    rest = start.text if document is None else start.text[document.body :]
    before = rest if document is None else rest.lstrip("\n")
    leading = rest[: len(rest) - len(before)] if start.path else "\n"
    return before if typed is None else str(typed), leading


def _path(start: Opened, title: str, key: str) -> tuple[str, str, str]:
    """The folder of a new document, the name that was typed, and its path: else the name is made from the title."""
    folders = frontmatter_form.folders()
    folder_cell, name_cell = st.columns([1, 2])
    folder = folder_cell.selectbox(
        "Folder",
        frontmatter_form.options(folders, start.folder),
        index=frontmatter_form.index_of(folders, start.folder),
        accept_new_options=True,
        placeholder="Top level, or a folder",
        key=f"{key}_folder",
    )
    from_title = slugify(title) if title.strip() else ""
    typed = name_cell.text_input(
        "File name",
        start.name,
        key=f"{key}_name",
        placeholder=f"{from_title or 'from-the-title'}.md",
        help="Made from the title unless you write one.",
    )
    name = (typed or from_title).removesuffix(".md")
    parts = ((folder or "").strip("/"), f"{name}.md" if name else "")
    return folder or "", typed, "/".join(part for part in parts if part)


def _preview(start: Opened, document: Document | None) -> tuple[list[Node], str]:
    """The document as drawn, or why it is not."""
    held = app().knowledge.pictures.held(identity.me(), start.place)
    try:
        nodes = app().upload.reader.render(document).nodes if document else ()
        return with_pictures(nodes, pictures.at(start.base, held)), ""
    except BadInput as error:
        return [], flash.refusal(error)


def _save(start: Opened, me: Actor, key: str, path: str, text: str, document: Document | None) -> None:
    with st.container(border=True, key="save_box"):
        title = document.title if document else path
        if start.change:
            st.caption(f"Saves into change #{start.change}. A new edit voids earlier approvals.")
            why = st.text_input("What you did (optional)", key=f"{key}_why")
            target = Target(start.change, "", why, start.base)
        else:
            verb = "Edit" if start.path else "Add"
            target = save_target.choose(f"{key}_into", f"{verb} {title}"[:200], start.base, me)
            if not start.path and path:
                st.caption(f"It will live at {flash.plain(path)}.")
        if st.button(save_target.label(target), type="primary", icon=":material/save:", key="save"):
            saved = save_target.finish(
                target, lambda: _files(start, path, text), lambda actor: tabs.forget(actor, start)
            )
            if saved:
                st.button("Bring their text in", key="join", on_click=_join, args=(start, target, text))


def _join(start: Opened, target: Target, text: str) -> None:
    """Go on with both texts: theirs stands above mine where both changed the same lines."""

    def join(me: Actor) -> None:
        both, head = with_both(app().reviews.changes, me, target, start.path, text.encode())
        tabs.go_on(start, me, both, head)
        flash.say("Their lines stand above yours where you both wrote. Keep what is right, then save.", "info")

    actions.do_quietly(join)


def _files(start: Opened, path: str, text: str) -> Files:
    if not path.endswith(".md"):
        raise BadInput("Give the document a title first; its file name is made from it.")
    content = text if text.endswith("\n") else f"{text}\n"
    name = start.path or check_new_path(app().knowledge.documents, path)
    return app().knowledge.pictures.with_text(identity.me(), start.place, name, content)
