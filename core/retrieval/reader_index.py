"""An open generation for one reader: as if what they may not read had never been in it, bit by bit."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from core.curation.review.readers import Readable, Shared
from core.lru import LruCache

if TYPE_CHECKING:
    from core.ports import Index

READERS = 1024  # of one generation whose hidden documents are kept
PASSAGES = 200_000  # of all reduced generations that stay open; about half a kilobyte each
SMALLEST = 4_000  # passages that a small one counts as
LARGE = 4  # reduced generations that stay open, however large


class _Reduced:
    """What is hidden from readers of a generation, and the generation without it."""

    def __init__(self, index: Index) -> None:
        self.hidden: LruCache[Readable | Shared, frozenset[str]] = LruCache(READERS)
        most = max(PASSAGES, LARGE * index.size)
        self.open: LruCache[frozenset[str], Index] = LruCache(most, lambda index: max(SMALLEST, index.size))


_reduced: WeakKeyDictionary[Index, _Reduced] = WeakKeyDictionary()


def seen_by(index: Index, readable: Readable | Shared | None) -> Index:
    """The generation for a reader; itself where they may read everything. One for all from whom the same is hidden."""
    if readable is None:
        return index
    if (reduced := _reduced.get(index)) is None:
        reduced = _reduced.setdefault(index, _Reduced(index))
    hidden = reduced.hidden.find(readable, lambda: _hidden(index, readable))
    return reduced.open.find(hidden, lambda: index.without(hidden)) if hidden else index


def _hidden(index: Index, readable: Readable | Shared) -> frozenset[str]:
    return frozenset(facts.doc for facts in index.documents if not readable.document(facts.doc, facts.path))
