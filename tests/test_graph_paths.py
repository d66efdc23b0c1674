"""How two entities are connected: chains are shortest and witnessed, nothing hidden appears, and a gap has a reason."""

from __future__ import annotations

from collections import deque
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.bootstrap import App
from core.errors import BadInput, NotFound
from core.graph.paths import LONGEST, MOST, gap, relation_network, shortest
from core.types import Graph
from tests.conftest import put
from tests.test_graph import FILES, RELATIONS, page, some_graph

SIZE = 12
MASKS = st.lists(st.booleans(), min_size=80, max_size=80)
KINDS = st.lists(st.sampled_from(["name", "name", "name", "amount"]), min_size=SIZE, max_size=SIZE)


def visible_neighbours(graph: Graph, visible: np.ndarray) -> dict[int, set[int]]:
    """By hand: the pair of each visible chunk."""
    near: dict[int, set[int]] = {n: set() for n in range(SIZE)}
    for chunk in np.flatnonzero(visible).tolist():
        a, b = graph.entities[2 * chunk : 2 * chunk + 2].tolist()
        near[a].add(b)
        near[b].add(a)
    return near


def brute_force(near: dict[int, set[int]], closed: set[int], source: int, target: int) -> set[tuple[int, ...]]:
    """All shortest chains, breadth first, one whole chain at a time."""
    waiting, shortest_chains, length = deque([(source,)]), set(), SIZE
    while waiting:
        chain = waiting.popleft()
        if len(chain) > min(length, LONGEST + 1):
            break
        if chain[-1] == target:
            shortest_chains.add(chain)
            length = len(chain)
        elif chain[-1] == source or chain[-1] not in closed:
            waiting.extend((*chain, to) for to in sorted(near[chain[-1]] - set(chain)))
    return shortest_chains


@given(RELATIONS, MASKS, KINDS, st.integers(0, SIZE - 1), st.integers(0, SIZE - 1))
def test_chains_are_the_shortest_witnessed_ones_and_pass_through_nothing_closed(
    edges: list[tuple[int, int]], mask: list[bool], kinds: list[str], source: int, target: int
) -> None:
    graph = replace(some_graph(SIZE, edges), kinds=kinds)
    visible = np.array(mask[: len(graph.document_of)], bool)
    network, near = relation_network(graph, visible), visible_neighbours(graph, visible)
    named = {entity for entity, to in near.items() if to}
    assert set(network.relations) == named, "an entity that no visible passage names is not there"
    if source == target or not {source, target} <= named:
        return
    closed = {n for n, kind in enumerate(kinds) if kind == "amount"}
    expected = brute_force(near, closed, source, target)
    chains = shortest(network, source, target, most=1000)
    assert set(chains) == expected
    assert len(chains) == len(expected)
    costs = [
        sum(network.relations.edges[step]["cost"] for step in zip(chain, chain[1:], strict=False)) for chain in chains
    ]
    assert costs == pytest.approx(sorted(costs)), "the strongest first"
    assert shortest(network, source, target) == chains[:MOST]
    reason = gap(network, source, target)
    if not chains:
        assert (reason.steps > LONGEST) + bool(reason.through) + (min(reason.reached) > 0) == 1
        assert set(reason.through) <= closed


@given(st.integers(1, 9))
def test_a_chain_has_six_steps_at_most(steps: int) -> None:
    network = relation_network(some_graph(10, [(n, n + 1) for n in range(9)]), np.ones(9, bool))
    assert len(shortest(network, 0, steps)) == (steps <= LONGEST)
    assert steps <= LONGEST or gap(network, 0, steps).steps == steps
