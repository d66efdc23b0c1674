"""Links to a passage: a span of a document at one version, as query parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pages.ui import keys

Place = dict[str, str | int]
_PARTS = (keys.DOC, keys.START, keys.END, keys.VERSION)


def place(doc: str, start: int, end: int, version: int) -> Place:
    """A span in the version that was searched.

    >>> place("SOP-1", 120, 240, 3)
    {'doc': 'SOP-1', 'start': 120, 'end': 240, 'version': 3}
    """
    return {keys.DOC: doc, keys.START: start, keys.END: end, keys.VERSION: version}


def address(clicked: Mapping[str, Any]) -> dict[str, str]:
    """The query parameters for a place that was clicked.

    >>> address({"doc": "SOP-1", "start": 120, "end": 240, "version": 3, "n": 99})
    {'doc': 'SOP-1', 'start': '120', 'end': '240', 'version': '3'}
    """
    return {name: str(clicked[name]) for name in _PARTS if name in clicked}
