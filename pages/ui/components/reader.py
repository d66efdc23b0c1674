"""The reading view: a document drawn from safe nodes, with an outline and a marked passage."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core import strict
from core.curation.text.render import MAX_BLOCKS, with_pages, with_pictures
from core.types import Document
from pages.ui import pictures
from pages.ui.components import component, heard
from pages.ui.workspace import app


def reader(
    document: Document,
    key: str,
    *,
    mark: tuple[int, int] | None = None,
    anchor: str = "",
    first: int | None = None,
    address: Callable[[str], str] | None = None,
) -> Any:
    """Draw a long document from block `first` on, else around the mark or the anchor.

    `address` gives a picture's path its address; without it, the approved pictures are shown.

    Returns what was clicked: `more` (the block to begin with).
    """
    render = app().upload.reader.render
    page = render(document, first) if first is not None else render(document, around=mark[0] if mark else anchor)
    nodes = with_pages(page.nodes, (other.path for other in app().knowledge.documents.all()))
    return component("reader", "nodes")(
        key=key,
        data={
            "doc": document.id,
            "path": document.path,
            "version": document.version,
            "nodes": with_pictures(nodes, address or pictures.at(app().knowledge.repository.head())),
            "outline": strict.plain(page.outline),
            "hidden": page.hidden,
            "first": page.first,
            "step": MAX_BLOCKS,
            "mark": {"start": mark[0], "end": mark[1]} if mark else None,
            "anchor": anchor,
        },
        **heard("more"),
    )
