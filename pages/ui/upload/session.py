"""Uploads that are not submitted yet: while their page is open in memory, and as a draft of their author, so that a
reload loses nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from uuid import uuid4

import streamlit as st

from core.access import require
from core.curation.upload.items import MAX_KEPT, Batch, packed, restored
from core.errors import BadInput, ConcordError, Stale
from core.services.knowledge.drafts import version
from core.services.upload.uploads import Uploads
from pages.ui import batches, flash, identity, keys, pictures
from pages.ui.workspace import app

PLACE = "upload"  # of the draft
ELSEWHERE = "You also changed this upload in another tab or on another device. Your last change here was not saved."
TOO_LARGE = (
    "These documents and their pictures have {size} MB together, and {most} MB is the limit. Bring fewer at once, or"
    " submit what is here first. Whoever runs the app takes over large folders from the terminal."
)


def batch() -> Batch:
    """The files brought in so far; in a new session, or back on the page, those that were left."""
    name = st.session_state.get(keys.UPLOAD)
    if name == "":
        return Batch()
    return (batches.BATCHES.get(batches.tab(), name) if name else None) or reload()


def reload() -> Batch:
    """What was saved last, by this tab or another one."""
    draft = app().knowledge.drafts.find(identity.me(), PLACE)
    held = restored(draft.text) if draft else Batch()
    _hold(held, draft.text if draft else "")
    _saved()["version"] = version(draft)
    st.session_state.pop(keys.UPLOAD_OTHER, None)
    return held


def save(batch: Batch) -> None:
    """Keep the batch as a draft, and hold it for this tab. One that is too large for a draft is refused."""
    me, saved = identity.me(), _saved()
    text = packed(batch)
    drafts = app().knowledge.drafts
    if len(text) > MAX_KEPT:
        raise BadInput(TOO_LARGE.format(size=len(text) // 1024**2, most=MAX_KEPT // 1024**2))
    if batch.items:
        saved["version"] = drafts.keep(me, PLACE, text, saved["version"], MAX_KEPT)
    else:
        drafts.forget(me, PLACE, saved["version"])
        saved["version"] = ""
    _hold(batch, text)


def _saved() -> dict[str, str]:
    """The version of the draft that this tab has: a plain dict, so that a run that is cut off after a save has noted
    it.
    """
    saved: dict[str, str] = st.session_state.setdefault(keys.UPLOAD_SAVED, {"version": ""})
    return saved


def draw_other() -> None:
    """The choice between this upload and the one of another tab, once a change was refused for it."""
    if not st.session_state.get(keys.UPLOAD_OTHER):
        return
    with st.container(border=True, key="other_upload"):
        st.markdown(f":material/difference: {ELSEWHERE}")
        with st.container(horizontal=True):
            st.button("Keep this upload", key="keep_mine", type="primary", on_click=_keep_mine)
            st.button("Use the other upload", key="use_other", on_click=_use_other)


def _keep_mine() -> None:
    st.session_state.pop(keys.UPLOAD_OTHER, None)
    _saved()["version"] = version(app().knowledge.drafts.find(identity.me(), PLACE))
    change(lambda _, batch: batch)


def _use_other() -> None:
    reload()
    reset_widgets()


def _hold(batch: Batch, text: str) -> None:
    """The session knows it by a name; the text itself leaves memory with the page or the tab."""
    name = uuid4().hex if batch.items else ""
    if batch.items:
        who = identity.me().id
        batches.BATCHES.put(batches.tab(), batches.HeldBatch(name, who, batch, batches.size(batch, text)))
    else:
        batches.leave()
    st.session_state[keys.UPLOAD] = name


def original(digest: str) -> bytes | None:
    """A file that was converted, to compare with; None once others pushed it out."""
    return pictures.WAITING.get(identity.me().id, digest) if digest else None


def keep_original(digest: str, raw: bytes) -> None:
    pictures.WAITING.put(identity.me().id, raw, digest)


def turn() -> int:
    """A number in widget keys; counting it up resets the widgets."""
    return int(st.session_state.get(keys.UPLOAD_TURN, 0))


def reset_widgets() -> None:
    st.session_state[keys.UPLOAD_TURN] = turn() + 1


def opened(batch: Batch) -> int:
    """The number of the open item: the one that was chosen, or else the one that the address names."""
    named = st.query_params.get(keys.UPLOAD_AT, "1")
    asked = st.session_state.get(keys.UPLOAD_ITEM, int(named) - 1 if named.isdecimal() and len(named) < 5 else 0)
    return max(0, min(int(asked), len(batch.items) - 1))


def open_item(number: int) -> None:
    """Choose the item to show; the address names it."""
    st.session_state[keys.UPLOAD_ITEM] = number
    if number:
        st.query_params[keys.UPLOAD_AT] = str(number + 1)
    else:
        st.query_params.pop(keys.UPLOAD_AT, None)


def change(action: Callable[[Uploads, Batch], Batch], *, moves: bool = False, adds: bool = False) -> bool:
    """Change the batch as the signed-in person; a refusal is shown in its own words. `moves`: items change places.
    `adds`: more files, which go to those that another tab has added."""
    me = identity.me()
    try:
        require(me, "propose a change")
        with batches.BATCHES.turn(me.id):
            other = adds and version(app().knowledge.drafts.find(me, PLACE)) != _saved()["version"]
            save(action(app().upload.uploads, reload() if other else batch()))
    except Stale:
        st.session_state[keys.UPLOAD_OTHER] = True
        return False
    except ConcordError as error:
        flash.refuse(error)
        return False
    if moves:
        reset_widgets()
    return True
