"""A chosen view: the picture or its table, filters, and what each view has to say besides."""

from __future__ import annotations

import streamlit as st

from core.errors import ConcordError
from core.services.graph.view import GraphView
from pages.ui import flash, identity, style
from pages.ui.components.network import network
from pages.ui.graph import choices, communities, links, paths, ranking, tables
from pages.ui.graph.choices import Choice
from pages.ui.graph.descriptions import short
from pages.ui.graph.filters import filtered
from pages.ui.graph.network import drawing
from pages.ui.workspace import app

_ASK = {
    "Document": "There are no documents yet. Write one, or bring files in on Upload.",
    "Query": "Ask something: the graph shows the entities that the query names, where relations lead from them, and the passages that each hop adds.",
    "Entity": "Choose an entity to see what is related to it.",
}
_READABLE = 300  # nodes


def draw(choice: Choice) -> None:
    """The view, or what is missing for it."""
    if choice.view in _ASK and not choice.start:
        st.info(flash.plain(_ASK[choice.view]), icon=":material/hub:")
        return
    if choice.view == "Path":
        paths.draw(choice)
        return
    try:
        view = _view(choice)
    except ConcordError as error:
        st.warning(flash.plain(flash.refusal(error)), icon=":material/hub:")
        return
    if not view.nodes:
        st.info(_nothing(choice), icon=":material/hub:")
        return
    view = filtered(view, choice.view)
    _drawn(view, choice)
    _besides(view, choice)


def _view(choice: Choice) -> GraphView:
    graphs, me = app().graph.explorer, identity.me()
    if choice.view == "Document":
        return graphs.around_document(me, choice.start, choice.hops, choice.limit, choice.profile)
    if choice.view == "Query":
        return graphs.around_query(me, choice.start, choice.hops, choice.limit, choice.profile)
    if choice.view == "Entity":
        return graphs.around_entity(me, choice.start, choice.hops, choice.limit, choice.profile)
    return graphs.communities(me, choice.profile, choice.limit) if choice.view == "Communities" else graphs.links(me)


def _nothing(choice: Choice) -> str:
    return {
        "Query": "The query names no entity that the graph knows, so no hop leads anywhere. Name a form, a system, a role or a document.",
        "Communities": "There are no communities: too few entities are named together.",
        "Links": flash.plain(_ASK["Document"]),
    }.get(choice.view, "There is nothing to show here.")


def _drawn(view: GraphView, choice: Choice) -> None:
    if not view.nodes:
        st.info("The filters leave nothing. Take some away.", icon=":material/filter_list_off:")
    elif choice.table:
        tables.draw(view)
    else:
        titles = {document.path: (document.id, document.title) for document in app().knowledge.documents.all()}
        shown = largest(view)
        if len(shown.nodes) < len(view.nodes):
            st.caption(f"The {_READABLE} largest of {len(view.nodes):,} nodes are drawn; the table holds all.")
        network(drawing(shown, choice.colour, titles, _topics(choice)), "graph_network", choices.centre)


def _topics(choice: Choice) -> dict[int, str]:
    """What communities are called: by their largest entities."""
    if choice.view == "Links":
        return {}
    known = app().graph.communities.all(identity.me(), choice.profile)
    return {community.number: short("; ".join(community.entities[:2]), 34) for community in known}


def largest(view: GraphView, most: int = _READABLE) -> GraphView:
    """As much of a view as a picture can show."""
    if len(view.nodes) <= most:
        return view
    kept = {node.id for node in sorted(view.nodes, key=lambda node: (node.hop, -node.size, node.id))[:most]}
    return tables.within(view, kept)


def _besides(view: GraphView, choice: Choice) -> None:
    """What words say better than a picture."""
    if choice.view == "Query":
        ranking.draw(view, choice)
    elif choice.view == "Communities":
        communities.draw(view, choice)
    elif choice.view == "Links":
        links.draw(view)
    else:
        st.caption(" ".join(flash.plain(note) for note in view.notes) or style.count(len(view.nodes), "node"))
