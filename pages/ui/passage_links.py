"""Links to a passage: a span of a document at one version, as query parameters."""

from __future__ import annotations

from pages.ui import keys

Place = dict[str, str | int]


def place(doc: str, start: int, end: int, version: int) -> Place:
    """A span in the version that was searched.

    >>> place("SOP-1", 120, 240, 3)
    {'doc': 'SOP-1', 'start': 120, 'end': 240, 'version': 3}
    """
    return {keys.DOC: doc, keys.START: start, keys.END: end, keys.VERSION: version}
