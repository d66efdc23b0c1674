"""The state of the playground in the session: a setup and its run, as plain values."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from core import strict
from core.errors import ConcordError
from core.retrieval.presets import presets
from core.services.playground.compare import CachedSearch, Column, Comparison
from core.services.playground.examples import ExampleQuestion
from core.services.playground.notebook import Setup, check
from pages.ui import flash, identity, keys
from pages.ui.playground import view_data
from pages.ui.workspace import app

FIRST = ("BM25", "Documents 0.9", "Conditional rerank")
EXAMPLE = ("BM25", "Tri-modal with graph", "Conditional rerank")  # run at once: words, the graph, and reranking


def setup() -> Setup:
    """The setup of this session; a new link in the URL wins."""
    link = st.query_params.get(keys.LINK, "")
    stored = st.session_state.get(keys.PLAYGROUND)
    if link and (stored is None or stored["link"] != link):
        open_link(link)
    elif stored is None:
        put(_beginning(st.query_params.get(keys.QUERY, "")), fresh=True)
    now = _stored_setup(st.session_state[keys.PLAYGROUND])
    _widgets(now)
    return now


def open_link(link: str) -> None:
    """Replace the setup by the one behind a link."""
    st.session_state.pop(keys.PLAYGROUND, None)
    try:
        put(app().playground.notebook.opened(identity.me(), link), fresh=True, link=link)
    except ConcordError as error:
        st.query_params.pop(keys.LINK, None)
        flash.refuse(error)
        put(Setup(columns=_first()), fresh=True)


def put(new: Setup, *, fresh: bool = False, link: str = "") -> None:
    """Replace the setup; `fresh` starts a new run, else it is ranked from the cache."""
    stored = st.session_state.get(keys.PLAYGROUND) or {}
    run = uuid.uuid4().hex if fresh else stored.get("run", "")
    link = link or stored.get("link", "")
    st.session_state[keys.PLAYGROUND] = {"setup": strict.plain(new), "run": run, "link": link}
    if fresh:
        st.session_state[keys.LOOKED] = []
        _widgets(new, _values(_stored_setup(stored)) if stored else {})


def _widgets(now: Setup, before: Mapping[str, Any] | None = None) -> None:
    """Set the widgets to the setup, also after a visit to another page; those that did not change keep their input."""
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


def _stored_setup(stored: Mapping[str, Any]) -> Setup:
    return check(strict.parse(Setup, stored["setup"], "setup"))


def keep(now: Setup) -> None:
    """Store the setup and put its link into the URL."""
    link = app().playground.notebook.keep(identity.me(), now)
    put(now, link=link)
    st.query_params.from_dict({keys.LINK: link})


def run_id() -> str:
    return str(st.session_state[keys.PLAYGROUND]["run"])


def searches(now: Setup) -> dict[str, CachedSearch]:
    """The cached searches of the current run, by profile."""
    return view_data.cached_searches(identity.me(), now, run_id())


def compare(now: Setup) -> Comparison:
    """Every column, ranked from the cache where possible."""
    return view_data.compare(now, searches(now))


def _beginning(query: str) -> Setup:
    """The query of the address; else a question that configurations answer differently, if one was measured."""
    examples = () if query else view_data.examples(identity.me())
    return example(examples[0]) if examples else Setup(query=query, columns=_first())


def example(question: ExampleQuestion) -> Setup:
    """Three ways to answer a question, and the document that does."""
    return Setup(query=question.text, columns=_first(EXAMPLE), document=question.document)


def _first(names: Sequence[str] = FIRST) -> tuple[Column, ...]:
    depth = app().platform.settings.production().config.depth  # of all, so that methods are compared
    return tuple(Column(view_data.profile(), replace(presets()[name], depth=depth), name) for name in names)
