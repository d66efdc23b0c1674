"""The text that one tab types: each save names the version it started from, and the text of another tab is shown beside
it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any
from uuid import uuid4

import streamlit as st

from core.access import Actor
from core.curation.document.frontmatter import read_document, split
from core.curation.document.frontmatter_edit import with_body
from core.errors import ConcordError, Stale
from core.services.knowledge.drafts import BESIDE, version
from core.storage.state.records import DraftRow
from core.types import Document
from pages.ui import actions, flash, identity, keys, style
from pages.ui.components import editor_view
from pages.ui.documents import history
from pages.ui.documents.draft import Opened, packed, replace_text, reset_editor, unpacked
from pages.ui.workspace import app

_ALSO = "You also typed in another tab or on another device{when}. Concord keeps both texts until you choose."
_GONE = "You saved or threw away this draft in another tab or on another device. Concord keeps what you type here."


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

    Returns what to say about it, and when it was saved.
    """
    held, kept = st.session_state[keys.EDITING], packed(start, text)
    if held.setdefault("untouched", kept) == kept and held["version"] == start.version and not held["beside"]:
        return "" if start.drafted else "Nothing changed yet", start.drafted
    try:
        try:
            return "", _keep_draft(held, me, start.place, kept, after)
        except Stale:
            _keep_beside(held, me, start.place, kept)
            return "Kept beside your other text", ""
    except ConcordError as error:
        return flash.refusal(error), ""


def _keep_draft(held: dict[str, Any], me: Actor, place: str, kept: str, after: Sequence[str]) -> str:
    """When it was saved. `held` is a plain dict: a run that is cut off after the save has noted its version."""
    drafts = app().knowledge.drafts
    draft = drafts.find(me, place)
    if draft is None or draft.text != kept:
        held["version"] = drafts.keep(me, place, kept, version(draft) if _own(held, draft, after) else held["version"])
        draft = drafts.find(me, place)
    else:
        held["version"] = version(draft)
    _forget_beside(held, me, place)
    return draft.at if draft else ""


def _own(held: dict[str, Any], draft: DraftRow | None, after: Sequence[str]) -> bool:
    """Whether a draft is of this tab: another one may have taken its text, and what it sent before a reload may come
    late.
    """
    return draft is not None and (
        version(draft) == held["beside"] or _parts(json.loads(draft.text)["text"])[1] in after
    )


def _keep_beside(held: dict[str, Any], me: Actor, place: str, kept: str) -> None:
    drafts, own = app().knowledge.drafts, _place_beside(place)
    held["beside"] = drafts.keep(me, own, kept, version(drafts.find(me, own)))


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
    kept = packed(start, with_body(text, _parts(text)[0] + body))
    app().knowledge.drafts.keep(me, place, kept, version(draft))


def _parts(text: str) -> tuple[str, str]:
    """The blank lines before the body of a text, and the body as it is edited."""
    rest = text[split(text)[1] :]
    body = rest.lstrip("\n")
    return rest[: len(rest) - len(body)], body


def go_on(start: Opened, me: Actor, text: str, base: str) -> None:
    """Go on in the open editor with another text, on another commit."""
    replace_text(replace(start, base=base, version=st.session_state[keys.EDITING]["version"]), me, text)


def forget(me: Actor, start: Opened) -> None:
    """Drop what this tab typed, not what another one did, and reset the editor."""
    held = st.session_state[keys.EDITING]
    if held["beside"]:
        _forget_beside(held, me, start.place)
    else:
        app().knowledge.drafts.forget(me, start.place, held["version"])
    app().knowledge.pictures.forget(me, start.place)
    reset_editor()


def draw_notice(start: Opened) -> None:
    """Say that the text is a draft, with a way to throw it away."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f":material/edit_note: This is what you typed and did not save, kept {style.moment(start.drafted)}.")
        st.button("Throw it away", key="discard", type="tertiary", on_click=lambda: forget(identity.me(), start))


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
                _shown(start, unpacked(start, other).text),
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
    reset_editor()


def _drop_left(left: DraftRow) -> None:
    app().knowledge.drafts.forget(identity.me(), left.place, version(left))


def _use_left(start: Opened, left: DraftRow) -> None:
    def use(me: Actor) -> None:
        app().knowledge.drafts.keep(me, start.place, left.text, st.session_state[keys.EDITING]["version"])
        app().knowledge.drafts.forget(me, left.place, version(left))
        reset_editor()

    actions.do_quietly(use)
