"""Loss, gain and tie: one word, one colour and one icon each, on every page that shows one."""

from __future__ import annotations

import streamlit as st

from core.evaluation.impact import GAIN, LOSS, TIE

_WORDS = {"worse": LOSS, "better": GAIN}  # what a paired comparison calls them
_COLOURS = {LOSS: "red", GAIN: "green", TIE: "gray"}
_ICONS = {LOSS: ":material/trending_down:", GAIN: ":material/trending_up:", TIE: ":material/balance:"}


def outcome(verdict: str) -> str:
    """Loss, gain or tie.

    >>> [outcome(verdict) for verdict in ("worse", "better", "not enough evidence", "loss")]
    ['loss', 'gain', 'tie', 'loss']
    """
    word = _WORDS.get(verdict, verdict)
    return word if word in _COLOURS else TIE


def word(verdict: str) -> str:
    """The one word for it, in tables.

    >>> [word(verdict) for verdict in ("worse", "better", "not enough evidence")]
    ['Loss', 'Gain', 'Tie']
    """
    return outcome(verdict).capitalize()


def icon(verdict: str) -> str:
    return _ICONS[outcome(verdict)]


def badge(verdict: str, words: str) -> str:
    """Markdown of a badge; the words are plain."""
    return f":{_COLOURS[outcome(verdict)]}-badge[{words}]"


def box(verdict: str, sentence: str) -> None:
    """A sentence in the colour of its outcome; the sentence is Markdown."""
    show = {LOSS: st.error, GAIN: st.success, TIE: st.info}[outcome(verdict)]
    show(sentence, icon=icon(verdict))
