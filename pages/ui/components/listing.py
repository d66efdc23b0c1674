"""Short lists that link to documents, and bars with counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pages.ui.components import component


def listing(items: Sequence[Mapping[str, Any]], empty: str, key: str) -> None:
    """Items with title, note, badges and a text on the right; a click opens `doc`, at its `place` if it has one, or `href`."""
    component("listing", "rows")(key=key, data={"items": list(items), "empty": empty})


def bars(counts: Mapping[str, int], key: str) -> None:
    component("listing", "rows")(key=key, data={"bars": [[name, count] for name, count in counts.items()]})
