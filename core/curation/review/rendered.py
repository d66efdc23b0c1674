"""The diff of two versions as a reader sees it, in rendered blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from core import strict
from core.curation.review.diffs import matcher
from core.curation.text.render import Node, Rendered, render, with_pictures
from core.types import Document


@dataclass(frozen=True, slots=True)
class RenderedBlock:
    """One rendered block. `kind`: equal, added or removed."""

    kind: str
    node: Node


def rendered_diff(
    old: Document,
    new: Document,
    draw: Callable[[Document], Rendered] = render,
    pictures: tuple[Callable[[str], str], Callable[[str], str]] = (str, str),
) -> tuple[RenderedBlock, ...]:
    """Both versions as one list of blocks; a changed block appears twice, old one first.

    `pictures` gives the addresses of each version's pictures: a picture with another content is another block.

    >>> old, new = (Document("d", "d.md", "D", text) for text in ("a\\n\\nb\\n", "a\\n\\nc\\n"))
    >>> [block.kind for block in rendered_diff(old, new)]
    ['equal', 'removed', 'added']
    """
    sides = [
        [_bare(node) for node in with_pictures(draw(document).nodes, address)]
        for document, address in zip((old, new), pictures, strict=True)
    ]
    return tuple(_blocks(*sides))


def _blocks(a: list[Node], b: list[Node]) -> Iterator[RenderedBlock]:
    matched = matcher([*map(strict.canonical, a)], [*map(strict.canonical, b)])
    for kind, a1, a2, b1, b2 in matched.get_opcodes():
        if kind == "equal":
            yield from (RenderedBlock("equal", node) for node in b[b1:b2])
            continue
        yield from (RenderedBlock("removed", node) for node in a[a1:a2])
        yield from (RenderedBlock("added", node) for node in b[b1:b2])


def _bare(node: Node) -> Node:
    """A node without offsets, which every edit above it moves."""
    if isinstance(node, str):
        return node
    tag, attributes, children = node
    bare = {name: value for name, value in attributes.items() if name not in ("start", "end")}
    return [tag, bare, [_bare(child) for child in children]]
