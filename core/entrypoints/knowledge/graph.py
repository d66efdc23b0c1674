"""Commands that show the graph: around a document, a query or an entity, paths, communities, links."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated

from core import strict
from core.entrypoints.laboratory.querysets import show_estimate
from core.entrypoints.record import Argument, CommandCall, Option, Shown, command, form
from core.entrypoints.terminal import table
from core.services.graph import kept_communities as community_json
from core.services.graph.explained_paths import EntityPath
from core.services.graph.view import GraphView

_PROFILE = "which index (default: the one in production)"


HopsInput = Annotated[int, Option("how far to go, 0 to 2 (default: 1)")]
LimitInput = Annotated[int, Option("how many nodes (at most 300)")]
ProfileInput = Annotated[str, Option(_PROFILE)]


@form
class Around:
    hops: HopsInput = 1
    limit: LimitInput = 100
    profile: ProfileInput = ""


@form
class DocumentOptions(Around):
    start: Annotated[str, Argument("ID_OR_PATH")]


@form
class QueryOptions(Around):
    start: Annotated[str, Argument("QUERY")]
    hops: Annotated[int, Option("how far to go, 0 to 2 (default: 2)")] = 2


@form
class EntityOptions(Around):
    start: Annotated[str, Argument("NAME")]


@form
class PathOptions:
    source: Annotated[str, Argument("ENTITY")]
    target: Annotated[str, Argument("ENTITY")]
    profile: ProfileInput = ""


@form
class CommunitiesOptions:
    query: Annotated[str, Option("rank them for a question about the whole")] = ""
    estimate: Annotated[bool, Option("say what a model would be asked, and stop")] = False
    limit: LimitInput = 100
    profile: ProfileInput = ""


@command("graph document", "what a document names, links to and shares", "graph.explorer.around_document")
def document(call: CommandCall, form: DocumentOptions) -> Shown:
    view = call.app.graph.explorer.around_document(call.actor, form.start, form.hops, form.limit, form.profile)
    return _show(view)


@command("graph query", "where relations lead from what a query names", "graph.explorer.around_query")
def query(call: CommandCall, form: QueryOptions) -> Shown:
    view = call.app.graph.explorer.around_query(call.actor, form.start, form.hops, form.limit, form.profile)
    return _show(view)


@command("graph entity", "what an entity is related to", "graph.explorer.around_entity")
def entity(call: CommandCall, form: EntityOptions) -> Shown:
    view = call.app.graph.explorer.around_entity(call.actor, form.start, form.hops, form.limit, form.profile)
    return _show(view)


@command("graph path", "how two entities are connected", "graph.explorer.path")
def path(call: CommandCall, form: PathOptions) -> Shown:
    """The shortest paths between two entities, each step with its witnesses."""
    connection = call.app.graph.explorer.path(call.actor, form.source, form.target, form.profile)
    lines = [line for number, chain in enumerate(connection.paths) for line in _path_lines(number, chain)]
    lines += [connection.note] if connection.note else []
    lines += [f"Both are named in {witness.title} ({witness.path})" for witness in connection.shared]
    return Shown(strict.plain(connection), lines)


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


@command("graph communities", "entities that belong together, with summaries", "graph.communities.estimate")
def communities(call: CommandCall, form: CommunitiesOptions) -> Shown:
    """All communities, or the best ones for a question."""
    app = call.app
    actor = call.actor
    if form.estimate:
        return show_estimate(app.graph.communities.estimate(actor, form.profile))
    if not form.query:
        return _show(app.graph.explorer.communities(actor, form.profile, form.limit))
    scored = app.graph.communities.global_search(actor, form.query, min(form.limit, 10), form.profile)
    lines = [f"{score:.3f}  {community.summary}" for community, score in scored]
    return Shown(community_json.as_json(scored), lines or ["There are no communities."])


@command("graph links", "links between documents, orphans and dead ends", "graph.explorer.links")
def links(call: CommandCall) -> Shown:
    return _show(call.app.graph.explorer.links(call.actor))


def _show(view: GraphView) -> Shown:
    rows = [(node.kind, node.label, node.type, node.hop, node.rank or "", node.detail) for node in view.nodes]
    lines = table(rows, ("kind", "name", "type", "hop", "rank", ""))
    lines += [f"orphan    {path}" for path in view.orphans] + [f"dead end  {path}" for path in view.dead_ends]
    return Shown(strict.plain(view), [*lines, *view.notes])
