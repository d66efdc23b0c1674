"""Commands that show the graph: around a document, a query or an entity, paths, communities, links."""

from __future__ import annotations

from argparse import Namespace
from itertools import pairwise
from typing import Any

from core import strict
from core.entrypoints.querysets import show_estimate
from core.entrypoints.session import acting, open_app
from core.entrypoints.terminal import Terminal, table
from core.services.graph import communities as community_json
from core.services.graph.paths import EntityPath
from core.services.graph.view import GraphView
from core.settings import Settings

_PROFILE = "which index (default: the one in production)"


def register(add: Any) -> None:
    graph = add.group_of("graph")
    for name, run, metavar, hops, about in (
        ("document", document, "ID_OR_PATH", 1, "what a document names, links to and shares"),
        ("query", query, "QUERY", 2, "where relations lead from what a query names"),
        ("entity", entity, "NAME", 1, "what an entity is related to"),
    ):
        command = graph(name, run, about)
        command.add_argument("start", metavar=metavar)
        command.add_argument("--hops", type=int, default=hops, help=f"how far to go, 0 to 2 (default: {hops})")
        _shared(command)
    path_ = graph("path", path, "how two entities are connected")
    path_.add_argument("source", metavar="ENTITY")
    path_.add_argument("target", metavar="ENTITY")
    path_.add_argument("--profile", default="", help=_PROFILE)
    communities_ = graph("communities", communities, "entities that belong together, with summaries")
    communities_.add_argument("--query", default="", help="rank them for a question about the whole")
    communities_.add_argument("--estimate", action="store_true", help="say what a model would be asked, and stop")
    _shared(communities_)
    graph("links", links, "links between documents, orphans and dead ends")


def _shared(command: Any) -> None:
    command.add_argument("--limit", type=int, default=100, help="how many nodes (at most 300)")
    command.add_argument("--profile", default="", help=_PROFILE)


def document(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    view = app.graph.explorer.around_document(
        acting(app, options), options.start, options.hops, options.limit, options.profile
    )
    return _show(terminal, view)


def query(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    view = app.graph.explorer.around_query(
        acting(app, options), options.start, options.hops, options.limit, options.profile
    )
    return _show(terminal, view)


def entity(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    view = app.graph.explorer.around_entity(
        acting(app, options), options.start, options.hops, options.limit, options.profile
    )
    return _show(terminal, view)


def path(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """The shortest paths between two entities, each step with its witnesses."""
    app = open_app(settings)
    connection = app.graph.explorer.path(acting(app, options), options.source, options.target, options.profile)
    lines = [line for number, chain in enumerate(connection.paths) for line in _path_lines(number, chain)]
    lines += [connection.note] if connection.note else []
    lines += [f"Both are named in {witness.title} ({witness.path})" for witness in connection.shared]
    terminal.show(strict.plain(connection), lines)
    return 0


def _path_lines(number: int, chain: EntityPath) -> list[str]:
    """The chain in one line, then a block per step."""
    lines = ([""] if number else []) + [" -> ".join(node.label for node in chain.nodes)]
    for step, (source, target) in zip(chain.steps, pairwise(chain.nodes), strict=True):
        lines.append(f"  {source.label} {step.relation or 'with'} {target.label} (passages: {step.passages})")
        lines += [
            f"    {' > '.join((witness.title, *witness.heading))} ({witness.path}): {witness.quote}"
            for witness in step.witnesses
        ]
    return lines


def communities(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """All communities, or the best ones for a question."""
    app = open_app(settings)
    actor = acting(app, options)
    if options.estimate:
        return show_estimate(terminal, app.graph.communities.estimate(actor, options.profile))
    if not options.query:
        return _show(terminal, app.graph.explorer.communities(actor, options.profile, options.limit))
    scored = app.graph.communities.global_search(actor, options.query, min(options.limit, 10), options.profile)
    lines = [f"{score:.3f}  {community.summary}" for community, score in scored]
    terminal.show(community_json.as_json(scored), lines or ["There are no communities."])
    return 0


def links(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    return _show(terminal, app.graph.explorer.links(acting(app, options)))


def _show(terminal: Terminal, view: GraphView) -> int:
    rows = [(node.kind, node.label, node.type, node.hop, node.rank or "", node.detail) for node in view.nodes]
    lines = table(rows, ("kind", "name", "type", "hop", "rank", ""))
    lines += [f"orphan    {path}" for path in view.orphans] + [f"dead end  {path}" for path in view.dead_ends]
    terminal.show(strict.plain(view), [*lines, *view.notes])
    return 0
