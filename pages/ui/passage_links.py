"""Links to a passage: a span of a document at one version, as query parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.types import Hit
from pages.ui import keys

Place = dict[str, str | int]
NAMED = 3  # documents with the same text that a hit names


def place(doc: str, start: int, end: int, version: int) -> Place:
    """A span in the version that was searched.

    >>> place("SOP-1", 120, 240, 3)
    {'doc': 'SOP-1', 'start': 120, 'end': 240, 'version': 3}
    """
    return {keys.DOC: doc, keys.START: start, keys.END: end, keys.VERSION: version}


def pinned(place: Place, commit: str) -> Place:
    """A place in the text of a commit, which never changes.

    >>> pinned({"doc": "SOP-1", "start": 120}, "1a2b3c4d5e6f7890")
    {'doc': 'SOP-1', 'start': 120, 'as_of': '1a2b3c4d5e6f'}
    """
    return {**place, keys.AS_OF: commit[: keys.COMMIT]}


def also(hit: Hit) -> dict[str, Any] | None:
    """Other documents with the text of a hit: the first as links, the rest counted and listed."""
    if not hit.also:
        return None
    titles = [hit.title, *(other.title for other in hit.also)]
    labels = [_label(other.title, other.path, titles) for other in hit.also]
    links = [
        {"label": label, "place": place(other.doc, other.start, other.end, other.version)}
        for label, other in zip(labels, hit.also[:NAMED], strict=False)
    ]
    return {"links": links, "more": len(labels) - len(links), "rest": ", ".join(labels[NAMED:])}


def also_sentence(hit: Hit) -> str:
    """Why there is one hit for several documents; "" where there is one document."""
    if not hit.also:
        return ""
    others = "another document" if len(hit.also) == 1 else f"{len(hit.also)} other documents"
    return f" The same text in {others} is named with this hit instead of listed again."


def _label(title: str, path: str, titles: Sequence[str]) -> str:
    """A title; with its path where several documents have it."""
    return f"{title} ({path})" if titles.count(title) > 1 else title
