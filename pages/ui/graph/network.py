"""A view as a network of vis-network: positions, sizes by PageRank, widths by weight, colours that everybody can tell
apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from math import sqrt
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import streamlit as st

from core.errors import Unavailable
from core.services.graph.view import GraphNode, GraphView
from pages.ui.components import component
from pages.ui.graph.descriptions import KINDS, OTHERS, Titles, Topics, about, group, legend, palette, short, starts

if TYPE_CHECKING:
    import numpy as np

SHAPES = {"document": "square", "entity": "dot", "chunk": "diamond", "community": "hexagon"}
_LARGE = {"square": 0.82, "hexagon": 0.95}  # shapes of equal weight to the eye
_ROOMY = 45  # nodes: with more of them each is drawn smaller
_OPTIONS = {
    "physics": {"enabled": False},
    "interaction": {"hover": True, "hoverConnectedEdges": False, "keyboard": False, "multiselect": False},
    "edges": {"smooth": {"enabled": True, "type": "continuous", "roundness": 0.2}, "selectionWidth": 1},
}
Pair = tuple[int, int]
WIDE, HIGH = 1000, 700  # the box that every view fills, in pixels
_ITERATIONS = 100  # of networkx; with 50 a view of 600 nodes has twice as many that touch, 200 gain nothing
_EVEN = 0.5  # how far positions move towards an even spread, so that crowds loosen and stragglers come near
_GOLDEN = 2.399963229728653  # radians: a sunflower's angle, so that no two nodes start at one place
_BUNDLE = Path("lib", "vis-9.1.2", "vis-network.min.js")


def drawing(view: GraphView, colour_by: str, titles: Titles, topics: Topics = MappingProxyType({})) -> dict[str, Any]:
    """Everything the browser needs: nodes, edges and options of vis-network, a legend, and what each node is."""
    groups = {node.id: group(node, colour_by, topics) for node in view.nodes}
    colours = palette([(groups[node.id], node.size) for node in view.nodes])
    tones = {node: colours.get(name, OTHERS) for node, name in groups.items()}
    return {
        "nodes": _nodes(view, tones),
        "edges": _edges(view),
        "options": _OPTIONS,
        "legend": legend(groups, colours),
        "shapes": [[SHAPES[kind], KINDS[kind]] for kind in SHAPES if any(node.kind == kind for node in view.nodes)],
        "about": {node.id: about(node, tones[node.id], titles, topics) for node in view.nodes},
        "relations": [[edge.source, edge.target, edge.label, round(edge.weight, 2)] for edge in view.edges],
    }


def _nodes(view: GraphView, tones: Mapping[str, str]) -> list[dict[str, Any]]:
    nodes = []
    for node, size, (x, y) in zip(view.nodes, _sizes(view.nodes), _places(view), strict=True):
        label = f"{node.rank} · {node.label}" if node.rank else node.label
        shape = SHAPES.get(node.kind, "dot")
        nodes.append(
            {
                "id": node.id,
                "label": short(label) or "?",
                "shape": shape,
                "color": tones[node.id],
                "x": x,
                "y": y,
                "size": round(size * _LARGE.get(shape, 1.0), 1),
                "borderWidth": 3.5 if starts(view, node) else 1.5,
            }
        )
    return nodes


def _edges(view: GraphView) -> list[dict[str, Any]]:
    most = max((edge.weight for edge in view.edges), default=1.0)
    thin = _share(len(view.edges) / 2)
    return [
        {
            "from": edge.source,
            "to": edge.target,
            "width": round((0.8 + 3.7 * sqrt(edge.weight / most)) * thin, 2),
            "arrows": {"middle": {"enabled": edge.label == "links to", "scaleFactor": 0.4}},
            "dashes": [4, 4] if edge.label == "shares" else False,
        }
        for edge in view.edges
    ]


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


def settle(hops: Sequence[int], pairs: Sequence[Pair], groups: Sequence[int] = ()) -> list[tuple[int, int]]:
    """Positions in pixels by networkx' spring layout: joined nodes pull, all others push.

    Nodes of one group start side by side and near hops inside. An edge pulls less where both ends have many.

    >>> settle([0], [])
    [(0, 0)]
    >>> a, b, c = settle([0, 1, 1], [(0, 1), (0, 2)])
    >>> abs(b[0] - c[0]) > abs(a[0] - b[0])  # the centre stands between its neighbours
    True
    """
    import networkx
    import numpy as np

    if len(hops) < 2:
        return [(0, 0)] * len(hops)
    network = networkx.Graph()
    network.add_nodes_from(range(len(hops)))
    network.add_edges_from(sorted({(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]}))
    for a, b, edge in network.edges(data=True):
        edge["weight"] = 1 / sqrt(min(network.degree[a], network.degree[b]))
    start = dict(enumerate(_start(hops, groups)))
    places = networkx.spring_layout(network, pos=start, iterations=_ITERATIONS, method="energy", seed=1)
    return _pixels(np.array([places[node] for node in network]))


def _start(hops: Sequence[int], groups: Sequence[int]) -> np.ndarray:
    """A sunflower of radius 1: near hops inside, each group in its own part of the disc."""
    import numpy as np

    size = len(hops)
    order = sorted(range(size), key=lambda node: (hops[node], groups[node] if groups else 0, node))
    place = np.empty(size)
    place[order] = np.arange(size)
    angle = place * _GOLDEN
    if groups:
        names = sorted(set(groups))
        share = np.array([names.index(group) for group in groups]) / len(names)
        angle = 2 * np.pi * (share + (place / size) / len(names))
    return np.stack([np.cos(angle), np.sin(angle)], axis=1) * np.sqrt((place + 0.5) / size)[:, None]


def _pixels(at: np.ndarray) -> list[tuple[int, int]]:
    """The longest axis across the screen, and the whole box in use."""
    import numpy as np

    at = at - at.mean(axis=0)
    _, axes = np.linalg.eigh(at.T @ at)
    at = at @ axes[:, ::-1]
    at = at * np.where(at[np.abs(at).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)
    low, high = at.min(axis=0), at.max(axis=0)
    box = (at - low) / np.maximum(high - low, 1e-9)
    even = np.argsort(np.argsort(at, axis=0, kind="stable"), axis=0, kind="stable") / (len(at) - 1)
    spread = (1 - _EVEN) * box + _EVEN * even
    spread[:, high - low < 1e-6] = 0.5
    return [(round(x), round(y)) for x, y in ((spread - 0.5) * [WIDE, HIGH]).tolist()]


def network(data: Mapping[str, Any], key: str, on_centre: Callable[[], None]) -> Any:
    """Draw a network. `centre` comes back as a trigger: a node to look around."""
    clicked = component("network")(key=key, data=dict(data), on_centre_change=on_centre)
    _library()(key="vis_library", data={}, height=1)
    return clicked


@cache
def _library() -> Any:
    """The bundle as its own component: its data never changes, so a browser receives it once."""
    return st.components.v2.component(
        "concord_vis_library", html="<span></span>", js=f"{bundle()}\nexport default function () {{}}\n"
    )


def bundle() -> str:
    """The JavaScript of vis-network, from the pyvis package; without the address of its source map."""
    package = find_spec("pyvis")
    path = Path(package.origin).parent / _BUNDLE if package and package.origin else Path("pyvis")
    if not path.is_file():
        raise Unavailable("pyvis is not installed, so the graph cannot be drawn. Install it with: pip install pyvis")
    return path.read_text(encoding="utf-8").partition("//# sourceMappingURL")[0]
