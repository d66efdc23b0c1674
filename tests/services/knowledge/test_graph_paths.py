"""How two entities are connected: chains are shortest and witnessed, nothing hidden appears, and a gap has a reason."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.bootstrap import App
from core.errors import BadInput, NotFound
from core.graph.paths import LONGEST, MOST, gap, relation_network, shortest
from core.types import Graph
from tests.conftest import demo, indexed, put
from tests.support.graphs import FILES, RELATIONS, page, some_graph

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
    costs = [sum(network.relations.edges[step]["cost"] for step in pairwise(chain)) for chain in chains]
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


# ---------------------------------------------------------------- in a workspace


@pytest.fixture
def indexed_app(tmp_path: Path) -> App:
    return indexed(tmp_path / "home", FILES)


def test_every_step_quotes_a_sentence_that_names_both_ends(indexed_app: App) -> None:
    (path,) = indexed_app.graph.explorer.path(demo("author"), "Bank Secrecy Act", "golden ledger").paths
    assert [node.label for node in path.nodes][1:] == ["FinCEN", "SAR", "Zurich", "Golden Ledger"]
    quotes = [step.witnesses[0].quote for step in path.steps]
    assert quotes[1:] == [
        "Then FinCEN collects the SAR in Vienna.",
        "Later the SAR reached Zurich with 30 days to go.",
        "Far away Zurich holds the Golden Ledger.",
    ]
    witness = path.steps[1].witnesses[0]
    text = indexed_app.search.searcher.index().text(1)
    assert (witness.doc, witness.path) == ("DOC-2", "b.md")
    assert "FinCEN collects the SAR" in text[witness.start : witness.end]


def test_a_link_says_which_document_links_to_the_other(indexed_app: App) -> None:
    there = indexed_app.graph.explorer.path(demo("author"), "DOC-1", "DOC-2").paths[0].steps[0]
    back = indexed_app.graph.explorer.path(demo("author"), "b.md", "a.md").paths[0].steps[0]
    assert (there.relation, back.relation) == ("links to", "is linked from")
    assert there.witnesses[0].path == back.witnesses[0].path == "a.md"


def test_no_path_leads_through_a_draft_nor_along_what_only_a_draft_says(indexed_app: App) -> None:
    put(indexed_app, {"g.md": page("DOC-7", "In secret the Bank Secrecy Act met Zurich.", "draft")})
    indexed_app.index.builder.build(indexed_app.platform.settings.profile())
    with pytest.raises(NotFound, match="no entity 'Project Falcon'"):
        indexed_app.graph.explorer.path(demo("author"), "FinCEN", "Project Falcon")
    (path,) = indexed_app.graph.explorer.path(demo("author"), "BSA", "Zurich").paths
    assert len(path.steps) == 3, "the draft would make it one"
    assert all(witness.path != "g.md" for step in path.steps for witness in step.witnesses)


def test_what_only_a_retired_document_names_is_no_end_and_no_way(indexed_app: App) -> None:
    put(indexed_app, {"g.md": page("DOC-7", "The Bank Secrecy Act met Zurich and Old Harbour.", "retired")})
    indexed_app.index.builder.build(indexed_app.platform.settings.profile())
    assert len(indexed_app.graph.explorer.path(demo("author"), "BSA", "Zurich").paths[0].steps) == 3
    with pytest.raises(NotFound, match="Only retired, superseded or upcoming documents name 'Old Harbour'"):
        indexed_app.graph.explorer.path(demo("author"), "BSA", "Old Harbour")


def test_a_document_that_is_published_tomorrow_makes_a_path_tomorrow(indexed_app: App) -> None:
    text = page("DOC-7", "The Bank Secrecy Act met Zurich.").replace("status:", "effective_date: 2026-11-16\nstatus:")
    put(indexed_app, {"g.md": text})
    indexed_app.index.builder.build(indexed_app.platform.settings.profile())
    lengths = []
    for day in ("2026-11-15", "2026-11-16"):
        indexed_app.search.searcher.clock.day = day
        lengths.append(len(indexed_app.graph.explorer.path(demo("author"), "BSA", "Zurich").paths[0].steps))
    assert lengths == [3, 1]


def test_names_are_found_by_label_spelling_and_beginning(indexed_app: App) -> None:
    graphs = indexed_app.graph.explorer
    assert graphs.path(demo("author"), "gold", "FinCEN").source.label == "Golden Ledger"
    with pytest.raises(BadInput, match="'Title' could be one of 4 entities: Title DOC"):
        graphs.path(demo("author"), "Title", "FinCEN")
    with pytest.raises(BadInput, match="are the same entity. Choose two different ones."):
        graphs.path(demo("author"), "BSA", "Bank Secrecy Act")
    with pytest.raises(NotFound, match="no entity ''"):
        graphs.path(demo("author"), "", "FinCEN")


def test_why_there_is_no_path(indexed_app: App) -> None:
    put(
        indexed_app,
        {"h.md": page("DOC-8", "Only Atlantis.\n\nThen Lemuria meets Hyperborea.\n\nSo Ultima Thule for 30 days.")},
    )
    indexed_app.index.builder.build(indexed_app.platform.settings.profile())

    def why(a, b):
        return indexed_app.graph.explorer.path(demo("author"), a, b).note

    assert why("Lemuria", "SAR").startswith("There is no path: Lemuria is connected only with Hyperborea; SAR is ")
    assert why("DOC-8", "SAR") == "There is no path: Title DOC-8 links to no document, and none links to it."
    assert why("Ultima Thule", "SAR") == (
        "Paths lead only through amounts or dates, such as 30 days, which join what does not belong together."
    )
    shared = indexed_app.graph.explorer.path(demo("author"), "Lemuria", "Ultima Thule").shared
    assert [witness.doc for witness in shared] == ["DOC-8"]


def test_a_hub_is_an_end_but_no_way_through(app: App) -> None:
    spokes = {f"s{n}.md": page(f"S-{n}", f"Here Hubville meets Spoke{n}ville.") for n in range(55)}
    put(app, spokes)
    app.index.builder.build(app.platform.settings.profile())
    assert len(app.graph.explorer.path(demo("author"), "Hubville", "Spoke1ville").paths[0].steps) == 1
    assert app.graph.explorer.path(demo("author"), "Spoke1ville", "Spoke2ville").note == (
        "Paths lead only through entities that join nearly everything, such as Hubville (in 55 of 55 passages)."
    )


def test_the_network_is_built_once_for_a_generation_and_goes_with_it(indexed_app: App) -> None:
    graphs = indexed_app.graph.explorer
    first = graphs.path(demo("author"), "BSA", "Zurich")
    assert graphs.path(demo("author"), "BSA", "Zurich") == first
    (known,) = graphs._networks.values()
    graphs.path(demo("author"), "SAR", "Zurich")
    assert next(iter(graphs._networks.values())) is known
