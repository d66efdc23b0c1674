"""Commands that show the graph: around a document, a query or an entity, communities, links."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from core import strict
from core.entrypoints.session import open_app
from core.entrypoints.terminal import Terminal, table
from core.services.graph import communities as community_json
from core.services.graph.view import GraphView
from core.settings import Settings


def register(add: Any) -> None:
    graph = add.group_of("graph", "entities of the knowledge base and how they hang together")
    for name, run, metavar, hops, about in (
        ("document", document, "ID_OR_PATH", 1, "what a document names, links to and shares"),
        ("query", query, "QUERY", 2, "where relations lead from what a query names"),
        ("entity", entity, "NAME", 1, "what an entity is related to"),
    ):
        command = graph(name, run, about)
        command.add_argument("start", metavar=metavar)
        command.add_argument("--hops", type=int, default=hops, help=f"how far to go, 0 to 2 (default: {hops})")
        _shared(command)
    communities_ = graph("communities", communities, "entities that belong together, with summaries")
    communities_.add_argument("--query", default="", help="rank them for a question about the whole")
    _shared(communities_)
    graph("links", links, "links between documents, orphans and dead ends")


def _shared(command: Any) -> None:
    command.add_argument("--limit", type=int, default=100, help="how many nodes (at most 300)")
    command.add_argument("--profile", default="", help="which index (default: the one in production)")


def document(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    graphs = open_app(settings).graph.explorer
    return _show(terminal, graphs.around_document(options.start, options.hops, options.limit, options.profile))


def query(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    graphs = open_app(settings).graph.explorer
    return _show(terminal, graphs.around_query(options.start, options.hops, options.limit, options.profile))


def entity(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    graphs = open_app(settings).graph.explorer
    return _show(terminal, graphs.around_entity(options.start, options.hops, options.limit, options.profile))


def communities(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """All communities, or the best ones for a question."""
    app = open_app(settings)
    if not options.query:
        return _show(terminal, app.graph.explorer.communities(options.profile, options.limit))
    ranked = app.graph.communities.global_search(options.query, min(options.limit, 10), options.profile)
    lines = [f"{score:.3f}  {community.summary}" for community, score in ranked]
    terminal.show(community_json.as_json(ranked), lines or ["There are no communities."])
    return 0


def links(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    return _show(terminal, open_app(settings).graph.explorer.links())


def _show(terminal: Terminal, view: GraphView) -> int:
    rows = [(node.kind, node.label, node.type, node.hop, node.rank or "", node.detail) for node in view.nodes]
    lines = table(rows, ("kind", "name", "type", "hop", "rank", ""))
    lines += [f"orphan    {path}" for path in view.orphans] + [f"dead end  {path}" for path in view.dead_ends]
    terminal.show(strict.plain(view), [*lines, *view.notes])
    return 0
