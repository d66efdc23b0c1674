"""Short lists that link to documents, and bars with counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pages.ui.components import component, heard


def listing(items: Sequence[Mapping[str, Any]], empty: str, key: str) -> Any:
    """Items with title, note, badges and a text on the right; a click opens `doc`, at its `place` if it has one, or `href`.

    Returns what was clicked: `open`, the `id` of an item that has one and is left to the page. What is `unread` says so.
    """
    return component("listing", "rows")(key=key, data={"items": list(items), "empty": empty}, **heard("open"))


def bars(counts: Mapping[str, int], key: str) -> None:
    component("listing", "rows")(key=key, data={"bars": [[name, count] for name, count in counts.items()]})
