"""Uploads that are not submitted yet: they live in the browser session, and as a draft of their author, so that a reload loses nothing."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from core import strict
from core.access import require
from core.curation.upload.draft import MAX_KEPT, packed, restored
from core.curation.upload.uploads import Batch
from core.errors import ConcordError
from core.services.upload.uploads import Uploads
from pages.ui import flash, identity, keys, pictures
from pages.ui.workspace import app

PLACE = "upload"  # of the draft


def batch() -> Batch:
    """The files brought in so far; in a new session, those that were left."""
    if keys.UPLOAD not in st.session_state:
        left = app().knowledge.drafts.find(identity.me(), PLACE)
        st.session_state[keys.UPLOAD] = strict.plain(restored(left[0])) if left else None
    values = st.session_state[keys.UPLOAD]
    return strict.parse(Batch, values, "upload") if values else Batch()


def save(batch: Batch) -> None:
    """Store the batch, as plain values."""
    st.session_state[keys.UPLOAD] = strict.plain(batch) if batch.items else None
    _keep(batch)


def _keep(batch: Batch) -> None:
    """As a draft, unless it is empty or too large for one."""
    me, drafts, text = identity.me(), app().knowledge.drafts, packed(batch)
    if batch.items and len(text) <= MAX_KEPT:
        drafts.keep(me, PLACE, text, MAX_KEPT)
    else:
        drafts.forget(me, PLACE)


def original(digest: str) -> bytes | None:
    """A file that was converted, to compare with; None once others pushed it out."""
    return pictures.WAITING.get(pictures.holder(identity.me()), digest) if digest else None


def keep_original(digest: str, raw: bytes) -> None:
    pictures.WAITING.put(pictures.holder(identity.me()), raw, digest)


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


def change(action: Callable[[Uploads, Batch], Batch], *, moves: bool = False) -> bool:
    """Change the batch as the signed-in person; a refusal is shown in its own words. `moves`: items change places."""
    try:
        require(identity.me(), "propose a change")
        save(action(app().upload.uploads, batch()))
    except ConcordError as error:
        flash.say(str(error), "error")
        return False
    if moves:
        reset_widgets()
    return True
