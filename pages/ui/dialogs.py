"""Dialogs, and what redraws a page when work ends: it waits while one is open, since a redraw would close it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Literal, ParamSpec

import streamlit as st

from pages.ui import keys

P = ParamSpec("P")


def dialog(
    title: str, width: Literal["small", "medium", "large"] = "small"
) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """Like `st.dialog`; the page knows that it is open."""

    def decorate(body: Callable[P, None]) -> Callable[P, None]:
        @st.dialog(title, width=width, on_dismiss="rerun")
        @wraps(body)
        def shown(*args: P.args, **kwargs: P.kwargs) -> None:
            st.session_state[keys.DIALOG] = True
            body(*args, **kwargs)

        return shown

    return decorate


def closed() -> None:
    """Note that no dialog is open: a run of the whole page begins, which closes them."""
    st.session_state.pop(keys.DIALOG, None)


def redraw() -> None:
    """Draw the whole page again, for what polls; with a dialog open, not yet."""
    if keys.DIALOG not in st.session_state:
        st.rerun()
