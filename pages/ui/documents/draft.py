"""What an editor starts from: a template, an existing text, or the draft that its author left."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import partial

import streamlit as st

from core.access import Actor, allowed
from core.curation.document.frontmatter import read_document, split
from core.curation.document.frontmatter_edit import with_fields
from core.curation.document.templates import TEMPLATES, begin, begin_answering
from core.curation.review import moves
from core.errors import Refused
from core.services.knowledge.drafts import version
from core.storage.state.records import DraftRow
from core.types import Document
from pages.ui import address, flash, identity, keys, style
from pages.ui.workspace import app

BLANK = "blank"
NEW = ""


@dataclass(frozen=True, slots=True)
class Opened:
    """What an editor was opened on. `base` is the commit that was read; `path` is "" for a new document."""

    place: str
    base: str
    path: str
    text: str
    change: int = 0
    drafted: str = ""  # when the draft was saved, if the text is one
    version: str = ""  # of that draft
    folder: str = ""
    name: str = ""  # the file name of a new document, where its author wrote one


def existing(me: Actor, path: str, change: int = 0) -> Opened:
    """A document to edit: as approved, or as a change of one's own has it.

    What was typed before is always there to read.
    """
    known = app().reviews.changes.show(me, change) if change else None
    base = known.head if known else app().knowledge.repository.head()
    text = app().knowledge.documents.source(base, path)
    start = _with_draft(me, Opened(f"{change}:{path}", base, path, text, change))
    refusal = moves.not_theirs("edit", known, me) if known else ""
    if refusal and not start.drafted:
        raise Refused(refusal)
    return start


def new(me: Actor, folder: str = "") -> Opened:
    """A new document, from the chosen template."""
    template = chosen_template()
    text = begin(TEMPLATES[template], me.name, app().upload.uploads.clock.today()) if template in TEMPLATES else NEW
    return _with_draft(me, Opened("new", app().knowledge.repository.head(), "", text, folder=folder))


def begin_with(me: Actor, question: str) -> dict[str, str]:
    """Start a new document that answers a question, unless one is being written: that one gets the question too.

    Returns the parameters of its address.
    """
    start = new(me)
    if start.drafted:
        answers = read_document("new.md", start.text).meta.answers
        text = with_fields(start.text, {"answers": tuple(dict.fromkeys((*answers, question)))})
    else:
        text = begin_answering(question, me.name, app().upload.uploads.clock.today())
    replace_text(start, me, text)
    return {keys.DO: "new"} if start.drafted else {keys.DO: "new", keys.TEMPLATE: "faq"}


def _with_draft(me: Actor, start: Opened) -> Opened:
    draft = app().knowledge.drafts.find(me, start.place)
    return unpacked(start, draft) if draft else start


def unpacked(start: Opened, draft: DraftRow) -> Opened:
    """The same editor on a text that was saved."""
    saved = json.loads(draft.text)
    where = {"folder": saved.get("folder", ""), "name": saved.get("name", "")}
    return replace(start, text=saved["text"], base=saved["base"], drafted=draft.at, version=version(draft), **where)


def packed(start: Opened, text: str) -> str:
    """A text as it is saved, with where it was typed."""
    return json.dumps({"text": text, "base": start.base, "folder": start.folder, "name": start.name})


def replace_text(start: Opened, me: Actor, text: str) -> None:
    """Go on with another text, on the commit and the version of `start`."""
    app().knowledge.drafts.keep(me, start.place, packed(start, text), start.version)
    reset_editor()


def draw_waiting(me: Actor, document: Document) -> None:
    """Say where the reader of a document has unsent text of it, with the way back to it."""
    for typing in app().knowledge.drafts.mine(me, document.path) if allowed(me, "propose a change") else ():
        where, place = (
            (f" in change #{typing.change}", {keys.CHANGE: str(typing.change)}) if typing.change else ("", {})
        )
        place |= {keys.PATH: document.path} if typing.change else {keys.DOC: document.id}
        with st.container(horizontal=True, vertical_alignment="center", key=f"draft_{typing.change}"):
            said = f"You have an unsent draft of this document{where}, saved {style.moment(typing.at)}."
            st.caption(f":material/edit_note: {said}", width="content")
            go_on = partial(address.show, **{keys.DO: "edit", **place})
            st.button("Continue", key=f"go_on_{typing.change}", type="tertiary", on_click=go_on)


def draw_others(start: Opened, me: Actor) -> None:
    """Who else has unsaved text of this document."""
    for other in app().knowledge.drafts.others(me, start.path) if start.path else ():
        where = f", in change #{other.change}" if other.change else ""
        st.info(
            f"{flash.plain(other.name)} is editing this document too{where}; last typed {style.moment(other.at)}. "
            "Nobody's text is overwritten: where you both edit the same lines, whoever saves last is asked.",
            icon=":material/group:",
        )


def reset_editor() -> None:
    """Open the editor again, on what is saved."""
    st.session_state[keys.TURN] = st.session_state.get(keys.TURN, 0) + 1


def chosen_template() -> str:
    """The template that the address names, or a blank page."""
    asked = st.query_params.get(keys.TEMPLATE, "")
    return asked if asked in TEMPLATES else BLANK


def draw_templates(key: str) -> None:
    """The templates that a new document can start from."""
    chosen = chosen_template()
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
    """Switch the template and keep the title. A text that somebody wrote is never thrown away for it."""
    me = identity.me()
    draft = app().knowledge.drafts.find(me, "new")
    if draft and not _untouched(json.loads(draft.text)["text"]):
        flash.say("Your text would be lost. Throw it away first, then choose a template.", "info")
    else:
        st.query_params[keys.TEMPLATE] = str(st.session_state[f"{key}_template"])
        app().knowledge.drafts.forget(me, "new", version(draft))
        _keep_title(me, " ".join(str(st.session_state.get(f"{key}_title") or "").split()))
    reset_editor()


def _keep_title(me: Actor, title: str) -> None:
    if title:
        start = new(me)
        kept = packed(start, with_fields(start.text, {"title": title}))
        app().knowledge.drafts.keep(me, "new", kept, start.version)


def _untouched(text: str) -> bool:
    """Whether a text is empty, or its body still that of a template, word for word."""
    bodies = {" ".join(body.split()) for body in (NEW, *(template.body for template in TEMPLATES.values()))}
    return not text or " ".join(text[split(text)[1] :].split()) in bodies
