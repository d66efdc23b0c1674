"""What an editor starts from: a template, an existing text, or the draft that its author left."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

import streamlit as st

from core.access import Actor
from core.curation.frontmatter import decode, read_document, split
from core.curation.templates import TEMPLATES, begin, begin_answering
from core.curation.writing import with_fields
from core.errors import ConcordError
from pages.ui import flash, identity, keys, style
from pages.ui.workspace import app

BLANK = "blank"
NEW = "## Purpose\n\nSay in one or two sentences what this is for, and for whom.\n\n## Steps\n\n1. \n"


@dataclass(frozen=True, slots=True)
class Opened:
    """What an editor was opened on. `base` is the commit that was read; `path` is "" for a new document."""

    place: str
    base: str
    path: str
    text: str
    change: int = 0
    drafted: str = ""  # when the draft was saved, if the text is one
    folder: str = ""


def existing(me: Actor, path: str, change: int = 0) -> Opened:
    """A document to edit: as approved, or as a change has it."""
    base = app().reviews.changes.show(me, change).head if change else app().knowledge.store.head()
    text = decode(app().knowledge.store.read(base, path))
    return _with_draft(me, Opened(f"{change}:{path}", base, path, text, change))


def new(me: Actor, folder: str = "") -> Opened:
    """A new document, from the chosen template."""
    template = str(st.session_state.get(keys.TEMPLATE))
    text = begin(TEMPLATES[template], me.name, app().upload.uploads.clock.today()) if template in TEMPLATES else NEW
    return _with_draft(me, Opened("new", app().knowledge.store.head(), "", text, folder=folder))


def begin_with(me: Actor, question: str) -> None:
    """Start a new document that answers a question, unless one is being written: that one gets the question too."""
    start = new(me)
    if start.drafted:
        answers = read_document("new.md", start.text).meta.answers
        text = with_fields(start.text, {"answers": tuple(dict.fromkeys((*answers, question)))})
    else:
        st.session_state[keys.TEMPLATE] = "faq"
        text = begin_answering(question, me.name, app().upload.uploads.clock.today())
    packed = {"text": text, "base": start.base, "folder": start.folder}
    app().knowledge.drafts.keep(me, start.place, json.dumps(packed))
    _reset_editor()


def _with_draft(me: Actor, start: Opened) -> Opened:
    draft = app().knowledge.drafts.find(me, start.place)
    if not draft:
        return start
    saved = json.loads(draft[0])
    return replace(start, text=saved["text"], base=saved["base"], folder=saved.get("folder", ""), drafted=draft[1])


def keep(start: Opened, me: Actor, text: str, folder: str) -> tuple[str, str]:
    """Save what was typed as a draft, if it is new; returns what to say about it, and when it was saved."""
    draft = app().knowledge.drafts.find(me, start.place)
    packed = json.dumps({"text": text, "base": start.base, "folder": folder})
    if text == start.text and not draft:
        return "Nothing changed yet", ""
    try:
        if not draft or draft[0] != packed:
            app().knowledge.drafts.keep(me, start.place, packed)
            draft = app().knowledge.drafts.find(me, start.place)
    except ConcordError as error:
        return str(error), ""
    return "", draft[1] if draft else ""


def replace_text(start: Opened, me: Actor, text: str, base: str) -> None:
    """Go on with another text, on another commit."""
    app().knowledge.drafts.keep(me, start.place, json.dumps({"text": text, "base": base, "folder": start.folder}))
    _reset_editor()


def draw_others(start: Opened, me: Actor) -> None:
    """Who else has unsaved text of this document."""
    for other in app().knowledge.drafts.others(me, start.path) if start.path else ():
        where = f", in change #{other.change}" if other.change else ""
        st.info(
            f"{flash.plain(other.name)} is editing this document too{where}; last typed {style.moment(other.at)}. "
            "Nobody's text is overwritten: where you both edit the same lines, whoever saves last is asked.",
            icon=":material/group:",
        )


def forget(actor: Actor, place: str) -> None:
    """Delete a draft and reset the editor."""
    app().knowledge.drafts.forget(actor, place)
    app().knowledge.pictures.forget(actor, place)
    _reset_editor()


def _reset_editor() -> None:
    st.session_state[keys.TURN] = st.session_state.get(keys.TURN, 0) + 1


def draw_notice(place: str, when: str) -> None:
    """Say that the text is a draft, with a way to throw it away."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f":material/edit_note: This is what you typed and did not save, kept {style.moment(when)}.")
        st.button(
            "Throw it away",
            key="discard",
            type="tertiary",
            on_click=lambda: forget(identity.me(), place),
        )


def draw_templates(key: str) -> None:
    """The templates that a new document can start from."""
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
    """Switch the template and keep the title. A text that somebody wrote is never thrown away for it."""
    me = identity.me()
    draft = app().knowledge.drafts.find(me, "new")
    if draft and not _untouched(json.loads(draft[0])["text"]):
        flash.say("Your text would be lost. Throw it away first, then choose a template.", "info")
    else:
        st.session_state[keys.TEMPLATE] = str(st.session_state[f"{key}_template"])
        app().knowledge.drafts.forget(me, "new")
        _keep_title(me, " ".join(str(st.session_state.get(f"{key}_title") or "").split()))
    _reset_editor()


def _keep_title(me: Actor, title: str) -> None:
    if title:
        start = new(me)
        packed = {"text": with_fields(start.text, {"title": title}), "base": start.base, "folder": ""}
        app().knowledge.drafts.keep(me, "new", json.dumps(packed))


def _untouched(text: str) -> bool:
    """Whether a text is empty, or its body still that of a template, word for word."""
    bodies = {" ".join(body.split()) for body in (NEW, *(template.body for template in TEMPLATES.values()))}
    return not text or " ".join(text[split(text)[1] :].split()) in bodies
