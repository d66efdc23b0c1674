"""What an editor starts from: a template, an existing text, or the draft that its author left."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

import streamlit as st

from core.access import Actor
from core.curation.document.frontmatter import read_document, split
from core.curation.document.frontmatter_edit import with_fields
from core.curation.document.templates import TEMPLATES, begin, begin_answering
from core.curation.review import moves
from core.errors import ConcordError, Refused
from pages.ui import flash, identity, keys, style
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
    folder: str = ""
    name: str = ""  # the file name of a new document, where its author wrote one


def existing(me: Actor, path: str, change: int = 0) -> Opened:
    """A document to edit: as approved, or as a change of one's own has it. What was typed before is always there to read."""
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
    replace_text(start, me, text, start.base)
    return {keys.DO: "new"} if start.drafted else {keys.DO: "new", keys.TEMPLATE: "faq"}


def _with_draft(me: Actor, start: Opened) -> Opened:
    draft = app().knowledge.drafts.find(me, start.place)
    if not draft:
        return start
    saved = json.loads(draft[0])
    where = {"folder": saved.get("folder", ""), "name": saved.get("name", "")}
    return replace(start, text=saved["text"], base=saved["base"], drafted=draft[1], **where)


def _packed(start: Opened, text: str) -> str:
    return json.dumps({"text": text, "base": start.base, "folder": start.folder, "name": start.name})


def keep(start: Opened, me: Actor, text: str) -> tuple[str, str]:
    """Save what was typed as a draft, unless it is what the form made of the text it opened with.

    Returns what to say about it, and when it was saved.
    """
    draft, packed = app().knowledge.drafts.find(me, start.place), _packed(start, text)
    typed = [text, start.folder, start.name]
    if typed == st.session_state.setdefault(keys.UNTOUCHED, typed) and not draft:
        return "Nothing changed yet", ""
    try:
        if not draft or draft[0] != packed:
            app().knowledge.drafts.keep(me, start.place, packed)
            draft = app().knowledge.drafts.find(me, start.place)
    except ConcordError as error:
        return flash.refusal(error), ""
    return "", draft[1] if draft else ""


def replace_text(start: Opened, me: Actor, text: str, base: str) -> None:
    """Go on with another text, on another commit."""
    app().knowledge.drafts.keep(me, start.place, _packed(replace(start, base=base), text))
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
    if draft and not _untouched(json.loads(draft[0])["text"]):
        flash.say("Your text would be lost. Throw it away first, then choose a template.", "info")
    else:
        st.query_params[keys.TEMPLATE] = str(st.session_state[f"{key}_template"])
        app().knowledge.drafts.forget(me, "new")
        _keep_title(me, " ".join(str(st.session_state.get(f"{key}_title") or "").split()))
    _reset_editor()


def _keep_title(me: Actor, title: str) -> None:
    if title:
        start = new(me)
        app().knowledge.drafts.keep(me, "new", _packed(start, with_fields(start.text, {"title": title})))


def _untouched(text: str) -> bool:
    """Whether a text is empty, or its body still that of a template, word for word."""
    bodies = {" ".join(body.split()) for body in (NEW, *(template.body for template in TEMPLATES.values()))}
    return not text or " ".join(text[split(text)[1] :].split()) in bodies
