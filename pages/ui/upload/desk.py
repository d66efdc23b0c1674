"""What lies on a person's desk: uploads that are not submitted yet. They live in the session and nowhere else."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from core import strict
from core.access import require
from core.curation.uploads import Batch
from core.errors import ConcordError
from core.services.upload.uploads import Uploads
from pages.ui import flash, identity, keys
from pages.ui.workspace import app


def batch() -> Batch:
    """What is there."""
    kept = st.session_state.get(keys.UPLOAD)
    return strict.parse(Batch, kept, "upload") if kept else Batch()


def keep(made: Batch) -> None:
    """Put it back, as plain values."""
    st.session_state[keys.UPLOAD] = strict.plain(made) if made.items else None


def turn() -> int:
    """A number for widget keys; a new one makes them start afresh."""
    return int(st.session_state.get(keys.UPLOAD_TURN, 0))


def turn_over() -> None:
    """Start all widgets of the desk afresh."""
    st.session_state[keys.UPLOAD_TURN] = turn() + 1


def opened(made: Batch) -> int:
    """The number of the item that is open."""
    return min(int(st.session_state.get(keys.UPLOAD_ITEM, 0)), max(0, len(made.items) - 1))


def change(act: Callable[[Uploads, Batch], Batch], *, moves: bool = False) -> bool:
    """Do something to the desk as the person behind this session; a refusal is shown in its own words."""
    try:
        require(identity.me(), "propose a change")
        keep(act(app().upload.uploads, batch()))
    except ConcordError as error:
        flash.say(str(error), "error")
        return False
    if moves:
        turn_over()
    return True
