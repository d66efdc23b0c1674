"""What an editor starts from: a template, an existing text, or the draft that its author left."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any
from uuid import uuid4

import streamlit as st

from core.access import Actor, allowed
from core.curation.document.frontmatter import read_document, split
from core.curation.document.frontmatter_edit import with_body, with_fields
from core.curation.document.templates import TEMPLATES, begin, begin_answering
from core.curation.review import moves
from core.errors import ConcordError, Refused, Stale
from core.services.knowledge.drafts import BESIDE, version
from core.storage.state.records import DraftRow
from core.types import Document
from pages.ui import actions, address, flash, identity, keys, style
from pages.ui.components import editor_view
from pages.ui.documents import history
from pages.ui.workspace import app

BLANK = "blank"
NEW = ""
_ALSO = "You also typed in another tab or on another device{when}. Concord keeps both texts until you choose."
_GONE = "You saved or threw away this draft in another tab or on another device. Concord keeps what you type here."


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
    replace_text(start, me, text)
    return {keys.DO: "new"} if start.drafted else {keys.DO: "new", keys.TEMPLATE: "faq"}


def _with_draft(me: Actor, start: Opened) -> Opened:
    draft = app().knowledge.drafts.find(me, start.place)
    return _unpacked(start, draft) if draft else start


def _unpacked(start: Opened, draft: DraftRow) -> Opened:
    saved = json.loads(draft.text)
    where = {"folder": saved.get("folder", ""), "name": saved.get("name", "")}
    return replace(start, text=saved["text"], base=saved["base"], drafted=draft.at, version=version(draft), **where)


def _packed(start: Opened, text: str) -> str:
    return json.dumps({"text": text, "base": start.base, "folder": start.folder, "name": start.name})


def replace_text(start: Opened, me: Actor, text: str) -> None:
    """Go on with another text, on the commit and the version of `start`."""
    app().knowledge.drafts.keep(me, start.place, _packed(start, text), start.version)
    _reset_editor()


def go_on(start: Opened, me: Actor, text: str, base: str) -> None:
    """Go on in the open editor with another text, on another commit."""
    replace_text(replace(start, base=base, version=st.session_state[keys.EDITING]["version"]), me, text)


# ---------------------------------------------------------------- the text of this tab


def begin_editing(start: Opened, me: Actor, key: str) -> None:
    """Hold what the editor opens with: a draft that another tab saves meanwhile changes nothing here."""
    left = [draft.place for draft in app().knowledge.drafts.beside(me, start.place)]
    held = {"key": key, "start": asdict(start), "version": start.version, "beside": "", "left": left}
    st.session_state[keys.EDITING] = held


def opened(key: str) -> Opened | None:
    """What the open editor began with."""
    held = st.session_state.get(keys.EDITING) or {}
    return Opened(**held["start"]) if held.get("key") == key else None


def keep(start: Opened, me: Actor, text: str, after: Sequence[str] = ()) -> tuple[str, str]:
    """Save what was typed, unless it is what the form made of the text it opened with: as the draft, or beside it where
    another tab saved another text meanwhile; `after` are bodies that this tab sent before its page was loaded again.

    Returns what to say about it, and when it was saved."""
    held, packed = st.session_state[keys.EDITING], _packed(start, text)
    if held.setdefault("untouched", packed) == packed and held["version"] == start.version and not held["beside"]:
        return "" if start.drafted else "Nothing changed yet", start.drafted
    try:
        try:
            return "", _keep_draft(held, me, start.place, packed, after)
        except Stale:
            _keep_beside(held, me, start.place, packed)
            return "Kept beside your other text", ""
    except ConcordError as error:
        return flash.refusal(error), ""


def _keep_draft(held: dict[str, Any], me: Actor, place: str, packed: str, after: Sequence[str]) -> str:
    """When it was saved. `held` is a plain dict: a run that is cut off after the save has noted its version."""
    drafts = app().knowledge.drafts
    draft = drafts.find(me, place)
    if draft is None or draft.text != packed:
        held["version"] = drafts.keep(
            me, place, packed, version(draft) if _own(held, draft, after) else held["version"]
        )
        draft = drafts.find(me, place)
    held["version"] = version(draft)
    _forget_beside(held, me, place)
    return draft.at if draft else ""


def _own(held: dict[str, Any], draft: DraftRow | None, after: Sequence[str]) -> bool:
    """Whether a draft is of this tab: another one may have taken its text, and what it sent before a reload may come late."""
    return draft is not None and (
        version(draft) == held["beside"] or _parts(json.loads(draft.text)["text"])[1] in after
    )


def _keep_beside(held: dict[str, Any], me: Actor, place: str, packed: str) -> None:
    drafts, own = app().knowledge.drafts, _place_beside(place)
    held["beside"] = drafts.keep(me, own, packed, version(drafts.find(me, own)))


def _forget_beside(held: dict[str, Any], me: Actor, place: str) -> None:
    if held["beside"]:
        app().knowledge.drafts.forget(me, _place_beside(place), held["beside"])
        held["beside"] = ""


def _place_beside(place: str) -> str:
    return f"{editor_view.tab()}{BESIDE}{place}"


def keep_left(start: Opened, me: Actor, body: str, after: Sequence[str]) -> None:
    """Keep what a tab typed and could not send, where another tab has saved another text meanwhile."""
    drafts = app().knowledge.drafts
    for draft in drafts.beside(me, start.place):
        text = json.loads(draft.text)["text"]
        if _parts(text)[1] in (body, *after):
            _keep_left(start, me, text, body, draft)
            break
    else:
        _keep_left(start, me, start.text, body, None)
    st.session_state[keys.EDITING]["left"] = [draft.place for draft in drafts.beside(me, start.place)]


def _keep_left(start: Opened, me: Actor, text: str, body: str, draft: DraftRow | None) -> None:
    place = draft.place if draft else f"{uuid4().hex[:12]}{BESIDE}{start.place}"
    packed = _packed(start, with_body(text, _parts(text)[0] + body))
    app().knowledge.drafts.keep(me, place, packed, version(draft))


def _parts(text: str) -> tuple[str, str]:
    """The blank lines before the body of a text, and the body as it is edited."""
    rest = text[split(text)[1] :]
    body = rest.lstrip("\n")
    return rest[: len(rest) - len(body)], body


# ---------------------------------------------------------------- the text of another tab


def draw_other(start: Opened, me: Actor, text: str) -> None:
    """The text that another tab typed at the same place, with the choice between both."""
    held, drafts = st.session_state[keys.EDITING], app().knowledge.drafts
    draft, left = drafts.find(me, start.place), drafts.beside(me, start.place)
    if version(draft) != held["version"]:
        _draw_choice(start, text, draft, partial(_keep_mine, draft), partial(_use_draft, start))
    elif left := [other for other in left if other.place in held["left"]]:
        _draw_choice(start, text, left[0], partial(_drop_left, left[0]), partial(_use_left, start, left[0]))


def _draw_choice(
    start: Opened, text: str, other: DraftRow | None, mine: Callable[[], None], theirs: Callable[[], None]
) -> None:
    with st.container(border=True, key="other_text"):
        when = f", {style.moment(other.at)}" if other else ""
        st.markdown(f":material/difference: {_ALSO.format(when=when) if other else _GONE}")
        if other:
            history.diff_view(
                _shown(start, _unpacked(start, other).text),
                _shown(start, text),
                "The other text",
                "This text",
                "other_diff",
            )
        with st.container(horizontal=True):
            st.button("Keep this text", key="keep_mine", type="primary", on_click=mine)
            st.button("Use the other text" if other else "Throw it away", key="use_other", on_click=theirs)


def _shown(start: Opened, text: str) -> Document:
    """A text to compare; one whose fields cannot be read is compared as it is."""
    path = start.path or "new.md"
    try:
        return read_document(path, text)
    except ConcordError:
        return Document("", path, "", text)


def _keep_mine(other: DraftRow | None) -> None:
    """The next save replaces the text that was shown, and no newer one."""
    st.session_state[keys.EDITING]["version"] = version(other)


def _use_draft(start: Opened) -> None:
    _forget_beside(st.session_state[keys.EDITING], identity.me(), start.place)
    _reset_editor()


def _drop_left(left: DraftRow) -> None:
    app().knowledge.drafts.forget(identity.me(), left.place, version(left))


def _use_left(start: Opened, left: DraftRow) -> None:
    def use(me: Actor) -> None:
        app().knowledge.drafts.keep(me, start.place, left.text, st.session_state[keys.EDITING]["version"])
        app().knowledge.drafts.forget(me, left.place, version(left))
        _reset_editor()

    actions.do_quietly(use)


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


def forget(me: Actor, start: Opened) -> None:
    """Drop what this tab typed, not what another one did, and reset the editor."""
    held = st.session_state[keys.EDITING]
    if held["beside"]:
        _forget_beside(held, me, start.place)
    else:
        app().knowledge.drafts.forget(me, start.place, held["version"])
    app().knowledge.pictures.forget(me, start.place)
    _reset_editor()


def _reset_editor() -> None:
    st.session_state[keys.TURN] = st.session_state.get(keys.TURN, 0) + 1


def draw_notice(start: Opened) -> None:
    """Say that the text is a draft, with a way to throw it away."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f":material/edit_note: This is what you typed and did not save, kept {style.moment(start.drafted)}.")
        discard = lambda: forget(identity.me(), start)
        st.button("Throw it away", key="discard", type="tertiary", on_click=discard)


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
    _reset_editor()


def _keep_title(me: Actor, title: str) -> None:
    if title:
        start = new(me)
        packed = _packed(start, with_fields(start.text, {"title": title}))
        app().knowledge.drafts.keep(me, "new", packed, start.version)


def _untouched(text: str) -> bool:
    """Whether a text is empty, or its body still that of a template, word for word."""
    bodies = {" ".join(body.split()) for body in (NEW, *(template.body for template in TEMPLATES.values()))}
    return not text or " ".join(text[split(text)[1] :].split()) in bodies
