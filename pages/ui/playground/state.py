"""What the playground shows, kept as plain values: a setup and the run it belongs to."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

import streamlit as st

from core import strict
from core.errors import ConcordError
from core.retrieval.presets import presets
from core.services.playground.compare import Column, Comparison, Held
from core.services.playground.notebook import Setup, check
from pages.ui import flash, identity, keys
from pages.ui.playground import serving
from pages.ui.workspace import app

FIRST = ("BM25", "Convex 0.3", "Conditional rerank")


def setup() -> Setup:
    """The setup of this session; a link in the address wins when it is new."""
    link = st.query_params.get(keys.LINK, "")
    kept = st.session_state.get(keys.PLAYGROUND)
    if link and (kept is None or kept["link"] != link):
        open_link(link)
    elif kept is None:
        put(Setup(query=st.query_params.get(keys.QUERY, ""), columns=_first()), fresh=True)
    now = _parsed(st.session_state[keys.PLAYGROUND])
    _widgets(now)
    return now


def open_link(link: str) -> None:
    """Show what somebody kept, and nothing of what was there before."""
    st.session_state.pop(keys.PLAYGROUND, None)
    try:
        put(app().playground.notebook.opened(identity.me(), link), fresh=True, link=link)
    except ConcordError as error:
        st.query_params.pop(keys.LINK, None)
        flash.say(str(error), "error")
        put(Setup(columns=_first()), fresh=True)


def put(new: Setup, *, fresh: bool = False, link: str = "") -> None:
    """Show another setup; a fresh one is searched anew, any other is ranked from memory."""
    kept = st.session_state.get(keys.PLAYGROUND) or {}
    run = uuid.uuid4().hex if fresh else kept.get("run", "")
    link = link or kept.get("link", "")
    st.session_state[keys.PLAYGROUND] = {"setup": strict.plain(new), "run": run, "link": link}
    if fresh:
        st.session_state[keys.LOOKED] = []
        _widgets(new, _values(_parsed(kept)) if kept else {})


def _widgets(now: Setup, before: Mapping[str, Any] | None = None) -> None:
    """Widgets show the setup, also when somebody comes back from another page; what did not change stays as typed."""
    for key, value in _values(now).items():
        changed = before is not None and (key not in before or before[key] != value)
        if changed or key not in st.session_state:
            st.session_state[key] = value


def _values(now: Setup) -> dict[str, Any]:
    return {
        keys.ASK: now.query,
        keys.BLIND: now.blind,
        keys.TOOL: now.tool or None,
        keys.EXPECTED: now.document or None,
        **{key: strict.plain(getattr(now.filters, name)) for name, key in keys.NARROWED.items()},
    }


def _parsed(kept: Mapping[str, Any]) -> Setup:
    return check(strict.parse(Setup, kept["setup"], "setup"))


def keep(now: Setup) -> None:
    """Keep the setup behind its link, and let the address say so."""
    link = app().playground.notebook.keep(identity.me(), now)
    put(now, link=link)
    st.query_params.from_dict({keys.LINK: link})


def run_id() -> str:
    """Which run is shown."""
    return str(st.session_state[keys.PLAYGROUND]["run"])


def held(now: Setup) -> dict[str, Held]:
    """What the present run found."""
    return serving.held(now, run_id())


def compare(now: Setup) -> Comparison:
    """Every column, ranked from memory where it can be."""
    return serving.compare(now, held(now))


def _first() -> tuple[Column, ...]:
    return tuple(Column(serving.profile(), presets()[name], name) for name in FIRST)
