"""A view as a pyvis network: positions, sizes by PageRank, widths by weight, colours that everybody can tell apart."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import sqrt
from types import MappingProxyType
from typing import Any

from core.services.graph.view import GraphEdge, GraphNode, GraphView
from pages.ui.graph.descriptions import KINDS, OTHERS, Titles, Topics, about, group, legend, palette, short, starts
from pages.ui.graph.layout import settle

SHAPES = {"document": "square", "entity": "dot", "chunk": "diamond", "community": "hexagon"}
_LARGE = {"square": 0.82, "hexagon": 0.95}  # shapes of equal weight to the eye
_ROOMY = 45  # nodes: with more of them each is drawn smaller
_OPTIONS = {
    "physics": {"enabled": False},
    "interaction": {"hover": True, "hoverConnectedEdges": False, "keyboard": False, "multiselect": False},
    "edges": {"smooth": {"enabled": True, "type": "continuous", "roundness": 0.2}, "selectionWidth": 1},
}


def drawing(view: GraphView, colour_by: str, titles: Titles, topics: Topics = MappingProxyType({})) -> dict[str, Any]:
    """Everything the browser needs: pyvis' nodes, edges and options, a legend, and what each node is."""
    groups = {node.id: group(node, colour_by, topics) for node in view.nodes}
    colours = palette([(groups[node.id], node.size) for node in view.nodes])
    tones = {node: colours.get(name, OTHERS) for node, name in groups.items()}
    nodes, edges, *_, options = _network(view, tones).get_network_data()
    return {
        "nodes": nodes,
        "edges": edges,
        "options": json.loads(options),
        "legend": legend(groups, colours),
        "shapes": [[SHAPES[kind], KINDS[kind]] for kind in SHAPES if any(node.kind == kind for node in view.nodes)],
        "about": {node.id: about(node, tones[node.id], titles, topics) for node in view.nodes},
        "relations": [[edge.source, edge.target, edge.label, round(edge.weight, 2)] for edge in view.edges],
    }


def _network(view: GraphView, tones: dict[str, str]) -> Any:
    from pyvis.network import Network

    network = Network(directed=True)  # pyvis compares every new edge with all others unless they have a direction
    network.set_options(json.dumps(_OPTIONS))
    for node, size, (x, y) in zip(view.nodes, _sizes(view.nodes), _places(view), strict=True):
        label = f"{node.rank} · {node.label}" if node.rank else node.label
        thick = 3.5 if starts(view, node) else 1.5
        shape = SHAPES.get(node.kind, "dot")
        size = round(size * _LARGE.get(shape, 1.0), 1)
        network.add_node(node.id, short(label) or "?", shape, tones[node.id], x=x, y=y, size=size, borderWidth=thick)
    most = max((edge.weight for edge in view.edges), default=1.0)
    thin = _share(len(view.edges) / 2)
    for edge in view.edges:
        width = (0.8 + 3.7 * sqrt(edge.weight / most)) * thin
        network.add_edge(edge.source, edge.target, width=round(width, 2), **_way(edge))
    return network


def _share(count: float) -> float:
    """How much smaller many are drawn than few.

    >>> _share(45), round(_share(300), 2)
    (1.0, 0.47)
    """
    return float(min(1.0, (_ROOMY / max(1.0, count)) ** 0.4))


def _sizes(nodes: Sequence[GraphNode]) -> list[float]:
    """By PageRank within each kind, since kinds have scales of their own; passages by their rank."""
    most: dict[str, float] = {}
    for node in nodes:
        most[node.kind] = max(most.get(node.kind, 0.0), node.size)
    less = _share(len(nodes))
    return [
        round(less * (7 + (7 / sqrt(node.rank) if node.rank else 17 * sqrt(node.size / (most[node.kind] or 1.0)))), 1)
        for node in nodes
    ]


def _places(view: GraphView) -> list[tuple[int, int]]:
    number = {node.id: n for n, node in enumerate(view.nodes)}
    pairs = [(number[edge.source], number[edge.target]) for edge in view.edges]
    return settle([node.hop for node in view.nodes], pairs, [node.community for node in view.nodes])


def _way(edge: GraphEdge) -> dict[str, Any]:
    linked = {"middle": {"enabled": edge.label == "links to", "scaleFactor": 0.4}}
    return {"arrows": linked, "dashes": [4, 4] if edge.label == "shares" else False}
