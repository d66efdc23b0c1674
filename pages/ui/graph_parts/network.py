"""A view as a pyvis network: positions, sizes by PageRank, widths by weight, colours that everybody can tell apart."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any

from core.services.graph_views import GraphEdge, GraphNode, GraphView
from pages.ui import style
from pages.ui.graph_parts.layout import settle

OTHERS = "#8A96A3"
SHAPES = {"document": "square", "entity": "dot", "chunk": "diamond", "community": "hexagon"}
KINDS = {"document": "Document", "entity": "Entity", "chunk": "Passage", "community": "Community"}
COLOURED = ("community", "type")
_LABEL = 30  # characters
_OPTIONS = {
    "physics": {"enabled": False},
    "interaction": {"hover": True, "hoverConnectedEdges": False, "keyboard": False, "multiselect": False},
    "nodes": {"borderWidth": 1.5, "scaling": {"label": {"enabled": False, "drawThreshold": 8.5, "maxVisible": 17}}},
    "edges": {"smooth": {"enabled": True, "type": "continuous", "roundness": 0.25}, "selectionWidth": 1.5},
}
Titles = Mapping[str, tuple[str, str]]  # id and title of a document, by path


def drawing(view: GraphView, colour_by: str, titles: Titles) -> dict[str, Any]:
    """Everything the browser needs: pyvis' nodes, edges and options, a legend, and what each node is."""
    from pyvis.network import Network

    made = Network(directed=True)  # pyvis compares every new edge with all others unless they have a direction
    made.set_options(json.dumps(_OPTIONS))
    colours = palette([group(node, colour_by) for node in view.nodes])
    sizes, places = _sizes(view.nodes), _places(view)
    for node, size, (x, y) in zip(view.nodes, sizes, places, strict=True):
        tone = colours.get(group(node, colour_by), OTHERS)
        made.add_node(
            node.id, short(node.label) or "?", SHAPES.get(node.kind, "dot"), tone, x=x, y=y, size=size,
            font={"size": round(11 + 0.42 * size)}, borderWidth=4 if starts(view, node) else 1.5,
        )  # fmt: skip
    most = max((edge.weight for edge in view.edges), default=1.0)
    for edge in view.edges:
        made.add_edge(edge.source, edge.target, width=round(0.7 + 4.3 * sqrt(edge.weight / most), 2), **_way(edge))
    nodes, edges, *_, options = made.get_network_data()
    return {
        "nodes": nodes,
        "edges": edges,
        "options": json.loads(options),
        "legend": legend(view.nodes, colour_by, colours),
        "shapes": [[SHAPES[kind], KINDS[kind]] for kind in SHAPES if any(node.kind == kind for node in view.nodes)],
        "about": {node.id: _about(node, colour_by, colours, titles) for node in view.nodes},
        "relations": [[edge.source, edge.target, edge.label, round(edge.weight, 2)] for edge in view.edges],
    }


def group(node: GraphNode, colour_by: str) -> str:
    """What a node is coloured by, in words."""
    if colour_by == "community" and node.kind != "chunk":
        return f"Community {node.community + 1}" if node.community >= 0 else ""
    if node.kind == "chunk":
        return "Passage" if colour_by == "community" else f"Passage: {style.type_name(node.type)}"
    return style.type_name(node.type) if node.kind == "document" else node.type.capitalize() or "Other"


def palette(groups: Sequence[str]) -> dict[str, str]:
    """A colour for each of the largest groups; the rest stay grey.

    >>> palette(["a", "b", "a", ""])
    {'a': '#0072B2', 'b': '#E69F00'}
    """
    counts = Counter(one for one in groups if one)
    ranked = sorted(counts, key=lambda one: (-counts[one], one))
    return dict(zip(ranked, style.CONFIGURATIONS, strict=False))


def legend(nodes: Sequence[GraphNode], colour_by: str, colours: Mapping[str, str]) -> list[dict[str, Any]]:
    """Each colour with its name and the nodes that wear it."""
    members: dict[str, list[str]] = {name: [] for name in colours}
    rest: list[str] = []
    for node in nodes:
        members.get(group(node, colour_by), rest).append(node.id)
    rows = [{"name": name, "color": colours[name], "ids": members[name]} for name in colours]
    return rows + ([{"name": "Others", "color": OTHERS, "ids": rest}] if rest else [])


def starts(view: GraphView, node: GraphNode) -> bool:
    """Whether a node is where the view began."""
    return node.hop == 0 and node.kind in ("entity", "document") and any(one.hop for one in view.nodes)


def short(label: str, width: int = _LABEL) -> str:
    """A label that fits below a node; control characters become spaces.

    >>> short("Section 314(a) information requests and more"), short("a\\nb")
    ('Section 314(a) information re…', 'a b')
    """
    flat = " ".join(label.split())
    return flat if len(flat) <= width else flat[: width - 1] + "…"


def _sizes(nodes: Sequence[GraphNode]) -> list[float]:
    """By PageRank within each kind, since kinds have scales of their own; passages by their rank."""
    most: dict[str, float] = {}
    for node in nodes:
        most[node.kind] = max(most.get(node.kind, 0.0), node.size)
    return [
        round(8 + 8 / sqrt(node.rank), 1)
        if node.rank
        else round(8 + 20 * sqrt(node.size / (most[node.kind] or 1.0)), 1)
        for node in nodes
    ]


def _places(view: GraphView) -> list[tuple[int, int]]:
    number = {node.id: n for n, node in enumerate(view.nodes)}
    pairs = [(number[edge.source], number[edge.target]) for edge in view.edges]
    return settle([node.hop for node in view.nodes], pairs, [node.community for node in view.nodes])


def _way(edge: GraphEdge) -> dict[str, Any]:
    return {"arrows": "to" if edge.label == "links to" else "", "dashes": edge.label == "shares"}


def _about(node: GraphNode, colour_by: str, colours: Mapping[str, str], titles: Titles) -> dict[str, Any]:
    """One node for people: facts, and the documents that it comes from."""
    facts = [
        ("Type", style.type_name(node.type) if node.kind in ("document", "chunk") else node.type.capitalize()),
        ("Folder", node.folder.replace("/", " / ")),
        ("Community", str(node.community + 1) if node.community >= 0 and node.kind != "community" else ""),
        ("Hops away", str(node.hop) if node.hop else ""),
        ("Rank in the graph leg", str(node.rank) if node.rank else ""),
        ("PageRank", f"{node.size:.4f}" if node.size else ""),
    ]
    return {
        "label": " ".join(node.label.split()),
        "kind": KINDS.get(node.kind, node.kind),
        "color": colours.get(group(node, colour_by), OTHERS),
        "facts": [[name, value] for name, value in facts if value],
        "detail": node.detail,
        "sources": [[*titles[path], path] for path in node.sources if path in titles],
        "centre": node.kind in ("document", "entity"),
    }
