"""Acts that change something: asked for, explained, confirmed, done, and reported in one sentence."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from core.access import Actor
from core.errors import ConcordError
from pages.ui import flash, identity


def do(act: Callable[[Actor], str]) -> None:
    """Do it as the person behind this session; a refusal is shown in its own words."""
    try:
        flash.say(act(identity.me()))
    except ConcordError as error:
        flash.say(str(error), "error")


def do_quietly(act: Callable[[Actor], object]) -> None:
    """Do it as the person behind this session; only a refusal is worth a word."""
    try:
        act(identity.me())
    except ConcordError as error:
        flash.say(str(error), "error")


@st.dialog("Please confirm")
def confirm(what: str, will: list[str], yes: str, act: Callable[[Actor], str]) -> None:
    """Say what will happen; act only on the second click."""
    identity.me()
    st.markdown(f"**{flash.plain(what)}**")
    for line in will:
        st.markdown(f"- {flash.plain(line)}")
    with st.container(horizontal=True, horizontal_alignment="right"):
        if st.button("Cancel", key="confirm_no"):
            st.rerun()
        if st.button(yes, type="primary", key="confirm_yes"):
            do(act)
            st.rerun()
