"""An open generation as one reader sees it: what they may not read is in no list, no leg and no text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from core.curation.review.readers import Readable
from core.lru import LruCache
from core.retrieval.filters import ReaderFilters
from core.types import DocumentFacts, Filters, Passage

if TYPE_CHECKING:
    import numpy as np

    from core.ports import Index, Leg, Ranking

NOT_SHOWN = DocumentFacts("", "", "", "", "draft", "", (), "", "", 0, "", 0)  # stands where a hidden document is
_NAMES = tuple(field.name for field in fields(Filters))
_VIEWS = 64  # readers of one generation that are remembered
_APART = 8  # and how many generations without what has an index of its own


def seen_by(index: Index, readable: Readable | None) -> Index:
    """The generation for a reader; itself where they may read everything. One view for all who may read the same."""
    if readable is None:
        return index
    views: dict[Readable, ReaderIndex] = index.__dict__.setdefault("views", {})
    view = views.get(readable)
    if view is None:
        if len(views) >= _VIEWS:
            views.pop(next(iter(views)), None)
        view = views[readable] = ReaderIndex(_without_apart(index, readable), readable)
    return cast("Index", view)


def _without_apart(index: Index, readable: Readable) -> Index:
    """The generation without hidden documents that have an index of their own: as if they had never been in it."""
    if not readable.readers.own_index:
        return index
    gone = frozenset(facts.doc for facts in index.documents if readable.apart(facts.doc, facts.path))
    kept: LruCache[frozenset[str], Index] = index.__dict__.setdefault("apart", LruCache(_APART))
    return kept.find(gone, lambda: index.without(gone)) if gone else index


def counted(index: Index) -> tuple[int, int]:
    """How many documents and passages of a generation its reader may read."""
    shown = getattr(index, "shown", None)  # through a cache of it, too
    return (
        (len(index.documents), index.size)
        if shown is None
        else (int(shown.sum()), len(cast(ReaderIndex, index).chunks))
    )


class ReaderIndex:
    """A view of an index: the mask of its legs and everything that names a document. Statistics of words are those of all,
    but for folders with an index of their own."""

    def __init__(self, index: Index, readable: Readable) -> None:
        self._index, self.readable = index, readable

    def __getattr__(self, name: str) -> Any:
        return getattr(self._index, name)

    def allowed(self, filters: Filters, today: date) -> np.ndarray | None:
        """The chunks that pass the filters and may be read."""
        given = {name: getattr(filters, name) for name in _NAMES}
        return self._index.allowed(ReaderFilters(**given, readable=self.readable), today)

    def bm25(self, *given: Any, **named: Any) -> Leg:
        return self._masked(self._index.bm25(*given, **named))

    def dense(self, *given: Any, **named: Any) -> Leg:
        return self._masked(self._index.dense(*given, **named))

    def tfidf(self, query: str) -> Leg:
        return self._masked(self._index.tfidf(query))

    def sparse(self, query: str) -> Leg:
        return self._masked(self._index.sparse(query))

    def _masked(self, leg: Leg) -> Leg:
        return cast("Leg", _MaskedLeg(leg, self.allowed(Filters(history=True), date.min)))

    @cached_property
    def shown(self) -> np.ndarray:
        """Which documents may be read."""
        import numpy as np

        may = self.readable.document
        return np.array([may(facts.doc, facts.path) for facts in self._index.documents], dtype=np.bool_)

    @cached_property
    def documents(self) -> Sequence[DocumentFacts]:
        return _ShownFacts(self._index.documents, self.shown)

    @cached_property
    def vocabulary(self) -> Mapping[str, int]:
        return _ShownWords(self)

    @cached_property
    def chunks(self) -> list[int]:
        """Those that may be read."""
        import numpy as np

        return [chunk for document in np.flatnonzero(self.shown) for chunk in self._index.chunks_of(int(document))]

    def number(self, chunk: str) -> int | None:
        number = self._index.number(chunk)
        return number if number is not None and self._is_shown(number) else None

    def passage(self, chunk: int) -> Passage:
        passage = self._index.passage(chunk)
        return passage if self._is_shown(chunk) else Passage("", passage.document, 0, 0, (), None)

    def excerpt(self, chunk: int) -> str:
        return self._index.excerpt(chunk) if self._is_shown(chunk) else ""

    def context(self, chunk: int) -> str:
        return self._index.context(chunk) if self._is_shown(chunk) else ""

    def text(self, document: int) -> str:
        return self._index.text(document) if self.shown[document] else ""

    def answers(self, document: int) -> tuple[str, ...]:
        return self._index.answers(document) if self.shown[document] else ()

    def chunks_of(self, document: int) -> list[int]:
        return self._index.chunks_of(document) if self.shown[document] else []

    def _is_shown(self, chunk: int) -> bool:
        return bool(self.shown[self._index.document_of(chunk)])


class _MaskedLeg:
    """A leg that finds what may be read where nobody gives it a mask; masks come from `allowed` of the view, which knows the reader."""

    def __init__(self, leg: Leg, mask: np.ndarray | None) -> None:
        self._leg, self._mask = leg, mask

    def __getattr__(self, name: str) -> Any:
        return getattr(self._leg, name)

    def search(self, depth: int, allowed: np.ndarray | None) -> Ranking:
        return self._leg.search(depth, self._mask if allowed is None else allowed)


class _ShownFacts(Sequence[DocumentFacts]):
    """Facts of documents, blank where one is hidden: numbers of documents stay as they are."""

    def __init__(self, facts: Sequence[DocumentFacts], shown: np.ndarray) -> None:
        self._facts, self._shown = facts, shown

    def __len__(self) -> int:
        return len(self._facts)

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return [self[n] for n in range(*number.indices(len(self)))]
        return self._facts[number] if self._shown[number] else NOT_SHOWN

    def __iter__(self) -> Iterator[DocumentFacts]:
        return (one if shown else NOT_SHOWN for one, shown in zip(self._facts, self._shown.tolist(), strict=True))


class _ShownWords(Mapping[str, int]):
    """The words of documents that may be read."""

    def __init__(self, view: ReaderIndex) -> None:
        self._view, self._all = view, view._index.vocabulary

    def __contains__(self, term: object) -> bool:
        return term in self._all and any(self._view._index.holding(str(term), self._view.chunks))

    def __getitem__(self, term: str) -> int:
        if term not in self:
            raise KeyError(term)
        return self._all[term]

    def __iter__(self) -> Iterator[str]:
        return (term for term in self._all if term in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)
