"""Verdicts of comparisons and outcomes of changes: one colour and one icon each, on every page that shows one."""

from __future__ import annotations

import streamlit as st

from core.evaluation.impact import GAIN, LOSS, TIE
from core.evaluation.statistics import BETTER, ERROR, MATTERS, OPEN, SAME, WORSE

RULE = (
    f"Better and worse need p of at most {ERROR} and an interval without 0; no difference, an interval within"
    f" {MATTERS}."
)
_GAIN, _LOSS = ("green", ":material/trending_up:"), ("red", ":material/trending_down:")
_EVEN, _OPEN = ("gray", ":material/balance:"), ("gray", ":material/pending:")
_LOOKS = {BETTER: _GAIN, GAIN: _GAIN, WORSE: _LOSS, LOSS: _LOSS, SAME: _EVEN, TIE: _EVEN, OPEN: _OPEN}


def look(verdict: str) -> tuple[str, str]:
    """Colour and icon; a word of an earlier version is open.

    >>> look("worse") == look("loss"), look("not enough evidence") == look("open")
    (True, True)
    """
    return _LOOKS.get(verdict, _OPEN)


def icon(verdict: str) -> str:
    return look(verdict)[1]


def badge(verdict: str, words: str) -> str:
    """Markdown of a badge; the words are plain."""
    return f":{look(verdict)[0]}-badge[{words}]"


def box(verdict: str, sentence: str) -> None:
    """A sentence in the colour of its verdict; the sentence is Markdown."""
    show = {"red": st.error, "green": st.success, "gray": st.info}[look(verdict)[0]]
    show(sentence, icon=icon(verdict))
