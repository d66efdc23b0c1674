"""How two entities are connected: each path as a chain, with the passages that witness its steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from core.errors import ConcordError
from core.graph.paths import MOST
from core.services.graph.explained_paths import EntityConnection, EntityPath, PathStep, Witness
from pages.ui import flash, identity, keys, style
from pages.ui.components import component
from pages.ui.components.listing import listing
from pages.ui.graph.choices import Choice, look_around
from pages.ui.graph.descriptions import KINDS, type_words
from pages.ui.passage_links import place
from pages.ui.workspace import app

_KEY = "graph_chain"


def draw(choice: Choice) -> None:
    """The paths, or what is missing for them."""
    if not (choice.start and choice.end):
        st.info("Choose two entities to see how they are connected.", icon=":material/conversion_path:")
        return
    try:
        connection = app().graph.explorer.path(identity.me(), choice.start, choice.end, choice.profile)
    except ConcordError as error:
        st.warning(flash.refused(error), icon=":material/conversion_path:")
        return
    if connection.note:
        st.info(flash.plain(connection.note), icon=":material/conversion_path_off:")
    else:
        _chains(connection)
    _shared(connection)


def _chains(connection: EntityConnection) -> None:
    st.caption(flash.plain(summary(connection)))
    chain([_path(path) for path in connection.paths], _KEY, _centre)


def summary(connection: EntityConnection) -> str:
    """How far apart the ends are, and in how many ways they are joined."""
    steps, ways = len(connection.paths[0].steps), len(connection.paths)
    ends = f"{connection.source.label} and {connection.target.label}"
    if steps == 1:
        return f"{ends} are related directly."
    several = "" if ways == 1 else f" {ways} paths are equally short; the strongest comes first."
    several = several if ways < MOST else f" The {ways} strongest of the shortest paths are shown."
    return f"{ends} are {style.count(steps, 'step')} apart.{several}"


def _centre() -> None:
    clicked = (st.session_state.get(_KEY) or {}).get("centre") or {}
    look_around(str(clicked.get("id", "")), str(clicked.get("label", "")))


def _path(path: EntityPath) -> dict[str, Any]:
    return {
        "nodes": [
            {"id": node.id, "label": " ".join(node.label.split()) or "?", "kind": node.kind, "about": about}
            for node in path.nodes
            for about in [" · ".join(word for word in (KINDS[node.kind], type_words(node)) if word)]
        ],
        "steps": [_step(step) for step in path.steps],
    }


def _step(step: PathStep) -> dict[str, Any]:
    return {
        "relation": step.relation or "named together with",
        "count": style.count(step.passages, "passage"),
        "witnesses": [_witness(witness) for witness in step.witnesses],
        "more": step.passages - len(step.witnesses),
    }


def _witness(witness: Witness) -> dict[str, Any]:
    headings = [heading for heading in witness.heading if heading != witness.title]
    return {
        "title": " › ".join((witness.title, *headings)),
        "quote": witness.quote,
        "place": place(witness.doc, witness.start, witness.end, witness.version),
    }


def _shared(connection: EntityConnection) -> None:
    """Documents that name both, whether or not a sentence joins them."""
    st.header("Documents that name both", anchor=False)
    items = [
        {keys.DOC: witness.doc, "title": witness.title, "sub": witness.path, "place": _witness(witness)["place"]}
        for witness in connection.shared
    ]
    listing(items, "No document names both.", key="graph_shared")


def chain(paths: Sequence[Mapping[str, Any]], key: str, on_centre: Callable[[], None]) -> Any:
    """Draw paths, the first one open. A click on an entity comes back as the trigger `centre`."""
    data = {"paths": list(paths)}
    return component("chain")(key=key, data=data, on_centre_change=on_centre)
