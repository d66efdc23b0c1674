"""Lists: rows that lead somewhere, filtered in the browser, and bars with counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from core.types import NOTHING
from pages.ui.components import component, heard


def listing(
    items: Sequence[Mapping[str, Any]],
    empty: str,
    key: str,
    filters: Sequence[Mapping[str, Any]] = (),
    words: str = "",
    chosen: Mapping[str, str] = NOTHING,
) -> Any:
    """Items with a title, `sub` below it, badges `beside` it, `badges` with a `note`, and a text on the `right`; a
    click opens
    `doc`, at its `place` if it has one, or `href`. `words` says what a filter by words, over `search`, looks at;
    `chosen` is what the
    filters begin with.

    Returns what was clicked: `open`, the `id` of an item that has one and is left to the page, and `act`, what the
    item's `action` is
    to `do` with its `key`. What is `unread` says so.
    """
    data = {"items": list(items), "empty": empty, "filters": list(filters), "words": words, "chosen": dict(chosen)}
    return component("listing", "rows")(key=key, data=data, **heard("open", "act"))


def filter_by(name: str, label: str, labels: Mapping[str, str] = NOTHING, *, counted: bool = False) -> dict[str, Any]:
    """A filter by a value of rows: a menu, or where they are `counted` a button each."""
    return {"name": name, "label": label, "labels": dict(labels), "counted": counted}


def bars(counts: Mapping[str, int], key: str) -> None:
    component("listing", "rows")(key=key, data={"bars": [[name, count] for name, count in counts.items()]})
