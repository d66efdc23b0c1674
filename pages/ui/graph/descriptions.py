"""Nodes in words and colours: what each is, which group it belongs to, and where it comes from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from core.services.graph.view import GraphNode, GraphView
from pages.ui import style
from pages.ui.passage_links import Place, place

OTHERS = "#8A96A3"
KINDS = {"document": "Document", "entity": "Entity", "chunk": "Passage", "community": "Community"}
_LABEL = 30  # characters
Titles = Mapping[str, tuple[str, str]]  # id and title of a document, by path
Topics = Mapping[int, str]  # what a community is called, by its number


def group(node: GraphNode, colour_by: str, topics: Topics = MappingProxyType({})) -> str:
    """What a node is coloured by, in words; nothing for those that stay grey."""
    if node.kind == "chunk":
        return "" if colour_by == "community" else f"Passage: {style.type_name(node.type)}"
    if colour_by == "community":
        named = topics.get(node.community, f"Community {node.community + 1}")
        return named if node.community >= 0 else ""
    return type_words(node) or "Other"


def type_words(node: GraphNode) -> str:
    """The type of a node as people say it."""
    return style.type_name(node.type) if node.kind in ("document", "chunk") else node.type.capitalize()


def palette(groups: Iterable[tuple[str, float]]) -> dict[str, str]:
    """A colour for each of the largest groups, by members and then by their PageRank; the rest stay grey.

    >>> palette([("a", 0.1), ("b", 0.2), ("c", 0.5), ("a", 0.1), ("", 1.0)])
    {'a': '#0072B2', 'c': '#E69F00', 'b': '#009E73'}
    """
    members: dict[str, list[float]] = {}
    for name, size in groups:
        members.setdefault(name, []).append(size)
    members.pop("", None)
    ranked = sorted(members, key=lambda name: (-len(members[name]), -sum(members[name]), name))
    return dict(zip(ranked, style.CATEGORIES, strict=False))


def legend(groups: Mapping[str, str], colours: Mapping[str, str]) -> list[dict[str, Any]]:
    """Each colour with its name and the nodes that wear it.

    >>> legend({"n1": "a", "n2": ""}, {"a": "#0072B2"})
    [{'name': 'a', 'color': '#0072B2', 'ids': ['n1']}, {'name': 'Others', 'color': '#8A96A3', 'ids': ['n2']}]
    """
    members: dict[str, list[str]] = {name: [] for name in colours}
    rest: list[str] = []
    for node, name in groups.items():
        members.get(name, rest).append(node)
    rows = [{"name": name, "color": colours[name], "ids": members[name]} for name in colours]
    return rows + ([{"name": "Others", "color": OTHERS, "ids": rest}] if rest else [])


def starts(view: GraphView, node: GraphNode) -> bool:
    """Whether a node is where the view began."""
    return node.hop == 0 and node.kind in ("entity", "document") and any(other.hop for other in view.nodes)


def short(label: str, width: int = _LABEL) -> str:
    """A label that fits below a node; control characters become spaces.

    >>> short("Section 314(a) information requests and more"), short("a\\nb")
    ('Section 314(a) information re…', 'a b')
    """
    flat = " ".join(label.split())
    return flat if len(flat) <= width else flat[: width - 1] + "…"


def place_of(node: GraphNode, titles: Titles) -> Place | None:
    """The place of a passage, where its document is still known."""
    home = titles.get(node.sources[0]) if node.kind == "chunk" else None
    return place(home[0], *node.span, node.version) if home else None


def about(node: GraphNode, colour: str, titles: Titles, topics: Topics) -> dict[str, Any]:
    """One node for people: facts, and the documents that it comes from."""
    inside = node.community >= 0 and node.kind != "community"
    facts = [
        ("Type", type_words(node)),
        ("Folder", node.folder.replace("/", " / ")),
        ("Community", topics.get(node.community, str(node.community + 1)) if inside else ""),
        ("Hops away", str(node.hop) if node.hop else ""),
        ("Rank in the graph leg", str(node.rank) if node.rank else ""),
        ("PageRank", f"{node.size:.4f}" if node.size else ""),
    ]
    return {
        "label": " ".join(node.label.split()) or "?",
        "kind": KINDS.get(node.kind, node.kind),
        "color": colour,
        "facts": [[name, value] for name, value in facts if value],
        "detail": node.detail,
        "place": place_of(node, titles),
        "sources": [[*titles[path], path] for path in node.sources if path in titles],
        "centre": node.kind in ("document", "entity"),
    }
