"""A chosen view: the picture or its table, filters, and what each view has to say besides."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import streamlit as st

from core.curation.text.markup import slugify
from core.errors import ConcordError
from core.graph.communities import Community
from core.services.graph.view import GraphView
from pages.ui import flash, identity, keys, style
from pages.ui.components.listing import listing
from pages.ui.graph import choices, paths, ranking, tables
from pages.ui.graph.choices import Choice
from pages.ui.graph.descriptions import short
from pages.ui.graph.network import drawing, network
from pages.ui.graph.offline import as_html
from pages.ui.graph.tables import filtered
from pages.ui.workspace import app

_ASK = {
    "Document": "There are no documents yet. Write one, or bring files in on Upload.",
    "Query": (
        "Ask something: the graph shows the entities that the query names, where relations lead from them, and the"
        " passages that each hop adds."
    ),
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
        st.warning(flash.refused(error), icon=":material/hub:")
        return
    if not view.nodes:
        st.info(_nothing(choice), icon=":material/hub:")
        return
    view = filtered(view)
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
        "Query": (
            "The query names no entity that the graph knows, so no hop leads anywhere. Name a form, a system, a role or"
            " a document."
        ),
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
        data = drawing(shown, choice.colour, titles, _topics(choice))
        network(data, "graph_network", choices.centre)
        name = " ".join(filter(None, ("Graph", choice.view, choice.start)))
        st.download_button(
            "Download as HTML",
            partial(as_html, name, data),
            f"{slugify(name)}.html",
            "text/html",
            key="graph_html",
            on_click="ignore",
            icon=":material/download:",
            help="The picture as one file that opens in any browser, without Concord and without a network.",
        )


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
        _draw_communities(view, choice)
    elif choice.view == "Links":
        _draw_links(view)
    else:
        st.caption(" ".join(flash.plain(note) for note in view.notes) or style.count(len(view.nodes), "node"))


def _draw_links(view: GraphView) -> None:
    """Two lists side by side, and broken links below."""
    left, right = st.columns(2, gap="large")
    with left:
        st.header(f"Orphans ({len(view.orphans)})", anchor=False)
        st.caption("No document links to these.")
        listing(_link_lines(view.orphans), "Every document is linked from another one.", key="graph_orphans")
    with right:
        st.header(f"Dead ends ({len(view.dead_ends)})", anchor=False)
        st.caption("These link to no other document.")
        listing(_link_lines(view.dead_ends), "Every document links to another one.", key="graph_dead_ends")
    if view.notes:
        st.header(f"Broken links ({len(view.notes)})", anchor=False)
        for note in view.notes:
            st.markdown(f"- {flash.plain(note)}")


def _link_lines(paths: Sequence[str]) -> list[dict[str, Any]]:
    known = {document.path: document for document in app().knowledge.documents.all()}
    return [{keys.DOC: known[path].id, "title": known[path].title, "sub": path} for path in paths if path in known]


def _draw_communities(view: GraphView, choice: Choice) -> None:
    """A box for questions about the whole, then the summaries, the nearest or the largest first."""
    st.caption(" ".join(flash.plain(note) for note in view.notes))
    st.header("What they are about", anchor=False)
    asked = st.text_input(
        "Search the summaries",
        key="graph_global",
        placeholder="A question about the whole, such as: who may approve what?",
    ).strip()
    if asked:
        scored = app().graph.communities.global_search(identity.me(), asked, 5, choice.profile)
        listing(
            [_line(community, f"{score:.2f}") for community, score in scored],
            "No community answers this.",
            key="graph_answers",
        )
        return
    shown, known = {node.community for node in view.nodes}, app().graph.communities.all(identity.me(), choice.profile)
    listing(_lines([community for community in known if community.number in shown]), "", key="graph_topics")
    if view.unconnected:
        alone = [community for community in known[: choice.limit] if community.number not in shown]
        with st.expander(
            f"{style.count(len(view.unconnected), 'unconnected community')}", icon=":material/scatter_plot:"
        ):
            listing(_lines(alone), "", key="graph_alone")


def _lines(communities: Sequence[Community]) -> list[dict[str, Any]]:
    return [_line(community, style.count(community.size, "entity")) for community in communities]


def _line(community: Community, right: str) -> dict[str, Any]:
    title = f"{community.number + 1}. {'; '.join(community.entities[:3])}"
    by = "" if community.by == "rules" else f" (written by {community.by})"  # by a model, or by rules and why
    return {"title": title, "sub": community.summary + by, "right": right}
