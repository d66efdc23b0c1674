"""What the playground shows, kept as plain values: a setup and the run it belongs to."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Any

import streamlit as st

from core import strict
from core.errors import ConcordError
from core.retrieval.presets import presets
from core.services.comparing import MOST, Column, Comparison, Held
from core.services.notebook import Setup, check
from core.types import SearchConfig
from pages.ui import flash, identity, keys
from pages.ui.workspace import app, memory

FIRST = ("BM25", "Convex 0.3", "Conditional rerank")


def setup() -> Setup:
    """The setup of this session; a link in the address wins when it is new."""
    link = st.query_params.get(keys.LINK, "")
    kept = st.session_state.get(keys.PLAYGROUND)
    if link and (kept is None or kept["link"] != link):
        open_link(link)
    elif kept is None:
        put(Setup(query=st.query_params.get(keys.QUERY, ""), columns=_first()), fresh=True)
    now = check(strict.parse(Setup, st.session_state[keys.PLAYGROUND]["setup"], "setup"))
    _widgets(now)
    return now


def open_link(link: str) -> None:
    """Show what somebody kept."""
    try:
        put(app().notebook.opened(identity.me(), link), fresh=True, link=link)
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
        _widgets(new, anew=True)


def _widgets(now: Setup, *, anew: bool = False) -> None:
    """Widgets show the setup, also when somebody comes back from another page."""
    values = {
        keys.ASK: now.query,
        keys.BLIND: now.blind,
        keys.TOOL: now.tool or None,
        keys.EXPECTED: now.document or None,
    }
    for key, value in values.items():
        if anew or key not in st.session_state:
            st.session_state[key] = value


def keep(now: Setup) -> None:
    """Keep the setup behind its link, and let the address say so."""
    link = app().notebook.keep(identity.me(), now)
    put(now, link=link)
    st.query_params.from_dict({keys.LINK: link})


def held(now: Setup) -> dict[str, Held]:
    """What the present run found."""
    run, profiles = st.session_state[keys.PLAYGROUND]["run"], {column.profile for column in now.columns}
    return {name: found for name in sorted(profiles) if (found := memory(run, name, now.filters))}


def compare(now: Setup) -> Comparison:
    """Every column, ranked from memory where it can be."""
    return app().comparing.refuse(now.query, now.columns, held(now))


def choices() -> dict[str, SearchConfig]:
    """Presets, then what the team saved, by name."""
    saved = {name: column.config for name, column in app().notebook.saved().items()}
    return {"Production": app().preferences.production().config, **presets(), **saved}


def built_profiles() -> list[str]:
    """Profiles that have an index."""
    current = app()
    return [one.name for one in current.preferences.profiles() if current.shelf.current(one) is not None]


def turn(what: dict[str, Any]) -> None:
    """One knob of one column was turned, or a column came or went."""
    now = setup()
    columns, at, value = list(now.columns), int(what.get("column", 0)), what.get("value")
    if what["knob"] == "add" and len(columns) < MOST:
        columns.append(_next(columns))
    elif what["knob"] == "remove" and len(columns) > 1:
        columns.pop(at)
    elif 0 <= at < len(columns):
        columns[at] = _turned(columns[at], str(what["knob"]), value)
    put(check(replace(now, columns=tuple(columns))))


def _turned(column: Column, knob: str, value: Any) -> Column:
    if knob == "preset":
        saved = app().notebook.saved().get(str(value))
        return saved or Column(column.profile, choices().get(str(value), column.config), str(value))
    if knob == "profile":
        return replace(column, profile=str(value))
    if knob not in ("alpha", "tau", "rrf_k", "depth"):
        return column
    number: Any = float(value) if knob in ("alpha", "tau") else int(value)
    return replace(column, config=replace(column.config, **{knob: number}))


def _next(columns: list[Column]) -> Column:
    """A preset that is not there yet."""
    used = {column.name for column in columns}
    name = next((name for name in presets() if name not in used), "BM25")
    return Column(columns[0].profile if columns else _profile(), presets()[name], name)


def _first() -> tuple[Column, ...]:
    return tuple(Column(_profile(), presets()[name], name) for name in FIRST)


def _profile() -> str:
    return app().preferences.production().profile.name
