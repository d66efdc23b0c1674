"""Where nodes stand: computed here, so that the same view looks the same every time and the browser rests."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

Pair = tuple[int, int]

WIDE, HIGH = 1000, 700  # the box that every view fills, in pixels
_ITERATIONS = 100  # of networkx; with 50 a view of 600 nodes has twice as many that touch, 200 gain nothing
_EVEN = 0.5  # how far positions move towards an even spread, so that crowds loosen and stragglers come near
_GOLDEN = 2.399963229728653  # radians: a sunflower's angle, so that no two nodes start at one place


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
