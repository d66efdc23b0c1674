"""The reading view: a document drawn from harmless nodes, with outline and a marked passage."""

from __future__ import annotations

from typing import Any

from core import strict
from core.curation.render import MAX_BLOCKS, render
from core.types import Document
from pages.ui.components import component


def reader(
    document: Document, key: str, *, mark: tuple[int, int] | None = None, anchor: str = "", first: int | None = None
) -> Any:
    """Draw a document: from a block on, else the part with the mark or the anchor.

    Returns what was clicked: `open` (a link to another document or part), `more` (the block to begin with).
    """
    made = render(document, first) if first is not None else render(document, around=mark[0] if mark else anchor)
    return component("reader", "nodes")(
        key=key,
        data={
            "doc": document.id,
            "path": document.path,
            "version": document.version,
            "nodes": list(made.nodes),
            "outline": strict.plain(made.outline),
            "hidden": made.hidden,
            "first": made.first,
            "step": MAX_BLOCKS,
            "mark": {"start": mark[0], "end": mark[1]} if mark else None,
            "anchor": anchor,
        },
        on_open_change=lambda: None,
        on_more_change=lambda: None,
    )
