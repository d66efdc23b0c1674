"""The place of a passage in an address: every link to one is made and followed here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pages.ui import keys

Place = dict[str, str | int]
_PARTS = (keys.DOC, keys.START, keys.END, keys.VERSION)


def place(doc: str, start: int, end: int, version: int) -> Place:
    """A span of a document, as the version that was searched has it.

    >>> place("SOP-1", 120, 240, 3)
    {'doc': 'SOP-1', 'start': 120, 'end': 240, 'version': 3}
    """
    return {keys.DOC: doc, keys.START: start, keys.END: end, keys.VERSION: version}


def address(said: Mapping[str, Any]) -> dict[str, str]:
    """The query parameters of a place that was clicked.

    >>> address({"doc": "SOP-1", "start": 120, "end": 240, "version": 3, "n": 99})
    {'doc': 'SOP-1', 'start': '120', 'end': '240', 'version': '3'}
    """
    return {name: str(said[name]) for name in _PARTS if name in said}
