"""How two entities are connected: the shortest chains of relations between them, the strongest first.

A step needs a visible passage that names both of its ends, so that no chain tells what a draft says. As in `walk`,
chains do not pass through amounts, dates and hubs, but may start or end there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from core.graph.entities import VALUES
from core.graph.walk import hub_size
from core.types import Graph

if TYPE_CHECKING:
    import numpy as np

LONGEST = 6  # steps; a longer chain says nothing about its ends
MOST = 3  # chains of equal length that are shown

Chain = tuple[int, ...]  # entities, from the source to the target


@dataclass(frozen=True, slots=True, eq=False)
class RelationNetwork:
    """The relations that visible passages witness, and the entities that no chain passes through.

    An edge has `passages` (visible ones that name both ends), `relation` (a number of `Graph.relation_names`) and
    `cost`, one over its strength: passages * ln(1 + N / n), where n of N passages name the more common end.
    """

    relations: Any  # networkx.Graph
    closed: frozenset[int]


def relation_network(graph: Graph, visible: np.ndarray) -> RelationNetwork:
    """The network of a generation; some 0.4 s for 27,000 entities with 77,000 relations, so build it once."""
    import networkx
    import numpy as np
    from scipy.sparse import csr_array

    size, total = len(graph.keys), len(graph.document_of)
    named_in = csr_array((visible[graph.chunks].astype(np.int32), graph.chunks, graph.chunk_start), shape=(size, total))
    count = np.asarray(named_in.sum(axis=1)).ravel()
    source = np.repeat(np.arange(size), np.diff(graph.related_start))
    once = source < graph.related
    a, b, relation = source[once], graph.related[once], graph.relations[once]
    shared = np.asarray(named_in[a].multiply(named_in[b]).sum(axis=1)).ravel()
    seen = shared > 0
    a, b = a[seen], b[seen]
    relation, shared = relation[seen], shared[seen]
    cost = 1 / (shared * np.log1p(total / np.maximum(count[a], count[b])))
    network = networkx.Graph()
    network.add_nodes_from(np.flatnonzero(count > 0).tolist())
    rows = zip(*(column.tolist() for column in (a, b, shared, relation, cost)), strict=True)
    network.add_edges_from(
        (one_end, other_end, {"passages": passages, "relation": name, "cost": value})
        for one_end, other_end, passages, name, value in rows
    )
    value = np.array([kind in VALUES for kind in graph.kinds], np.bool_)
    hub = np.diff(graph.chunk_start) > hub_size(total)
    return RelationNetwork(network, frozenset(np.flatnonzero(value | hub).tolist()))


def shortest(network: RelationNetwork, source: int, target: int, most: int = MOST) -> tuple[Chain, ...]:
    """The chains with the fewest steps, the strongest first; none when there is none of `LONGEST` steps or fewer."""
    import networkx

    open_network = _open(network, source, target)
    steps = _steps(open_network, source, target)
    if steps is None or steps > LONGEST:
        return ()
    chains = networkx.DiGraph()
    chains.add_edges_from(
        (a, b, network.relations.edges[a, b]) for a, b in _between(open_network, source, target, steps)
    )
    return tuple(tuple(chain) for chain in islice(networkx.shortest_simple_paths(chains, source, target, "cost"), most))


def _between(network: Any, source: int, target: int, steps: int) -> Iterator[tuple[int, int]]:
    """Every step of every chain of this length; searched from both ends, since half as far reaches far fewer."""
    import networkx

    ahead = networkx.single_source_shortest_path_length(network, source, cutoff=steps - steps // 2)
    behind = networkx.single_source_shortest_path_length(network, target, cutoff=steps // 2)
    middle = [entity for entity in behind if ahead.get(entity, 0) + behind[entity] == steps]
    yield from _back(network, ahead, middle)
    yield from ((far, near) for near, far in _back(network, behind, middle))


def _back(network: Any, distance: Mapping[int, int], start: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The steps from some entities back to where distances begin, as (nearer, farther)."""
    unvisited, visited = list(start), set(start)
    while unvisited:
        entity = unvisited.pop()
        for near in network[entity]:
            if distance.get(near) == distance[entity] - 1:
                yield near, entity
                if near not in visited:
                    visited.add(near)
                    unvisited.append(near)


def _open(network: RelationNetwork, source: int, target: int) -> Any:
    """The network without what no chain passes through, unless it is an end of this one."""
    import networkx

    return networkx.restricted_view(network.relations, network.closed - {source, target}, ())


def _steps(network: Any, source: int, target: int) -> int | None:
    import networkx

    try:
        return len(networkx.bidirectional_shortest_path(network, source, target)) - 1
    except networkx.NetworkXNoPath:
        return None


# ---------------------------------------------------------------- no chain


@dataclass(frozen=True, slots=True)
class PathGap:
    """Why `shortest` found nothing. Only the fields of that reason are set."""

    alone: Chain = ()  # ends that no sentence names with anything else
    steps: int = 0  # longer than `LONGEST`
    through: Chain = ()  # hubs, amounts and dates that the chain would pass through
    reached: tuple[int, int] = (0, 0)  # how many other entities each end is connected with: none in common


def gap(network: RelationNetwork, source: int, target: int) -> PathGap:
    """The reason why two entities are not connected, the simplest first."""
    import networkx

    relations = network.relations
    if alone := tuple(entity for entity in (source, target) if not relations[entity]):
        return PathGap(alone=alone)
    if (steps := _steps(_open(network, source, target), source, target)) is not None:
        return PathGap(steps=steps)
    if _steps(relations, source, target) is not None:
        chain = networkx.bidirectional_shortest_path(relations, source, target)
        return PathGap(through=tuple(entity for entity in chain[1:-1] if entity in network.closed))
    sizes = (len(networkx.node_connected_component(relations, entity)) - 1 for entity in (source, target))
    return PathGap(reached=(next(sizes), next(sizes)))
