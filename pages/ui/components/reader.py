"""The reading view: a document drawn from harmless nodes, with outline and a marked passage."""

from __future__ import annotations

from typing import Any

from core import strict
from core.curation.render import render
from core.types import Document
from pages.ui.components import component


def reader(document: Document, key: str, *, mark: tuple[int, int] | None = None, anchor: str = "") -> Any:
    """Draw a document. Returns what was clicked: `open` (a link to another document)."""
    made = render(document)
    return component("reader", "nodes")(
        key=key,
        data={
            "path": document.path,
            "version": document.version,
            "nodes": list(made.nodes),
            "outline": strict.plain(made.outline),
            "hidden": made.hidden,
            "mark": {"start": mark[0], "end": mark[1]} if mark else None,
            "anchor": anchor,
        },
        on_open_change=lambda: None,
        on_more_change=lambda: None,
    )
