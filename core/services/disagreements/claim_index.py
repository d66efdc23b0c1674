"""The claims of every document in force, read once per text and kept as an index that follows the main line."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from functools import lru_cache

from core.curation.document.statuses import freshness
from core.disagreements.claims import Claim, claims
from core.disagreements.lookup import ClaimIndex, Match
from core.ports import Clock
from core.services.knowledge.documents import Documents
from core.types import Document

Pair = tuple[str, Claim, Match]  # the path of the first claim, and what disagrees with it


class ClaimBase:
    """What the documents in force say. Only documents that changed are read again."""

    def __init__(self, documents: Documents, clock: Clock) -> None:
        self.documents, self.clock = documents, clock
        self.index = ClaimIndex()
        self.read = lru_cache(maxsize=4096)(self._read)
        self._answers = lru_cache(maxsize=64)(self._answer)  # an editor asks again and again
        self._state: tuple[str, str] = ("", "")
        self._texts: dict[str, tuple[str, str]] = {}  # blob and title by path
        self._pairs: dict[tuple[str, str], tuple[Pair, ...]] = {}
        self._stale: set[str] = set()
        self._lock = threading.RLock()

    def in_force(self, document: Document) -> bool:
        """Approved, and its first day has come."""
        dates = (document.meta.effective_date, document.meta.review_due)
        return document.meta.status == "approved" and freshness(*dates, self.clock.today()).state != "upcoming"

    def claims(self, document: Document) -> tuple[Claim, ...]:
        return self.read(document.text, document.title, document.body)

    def _read(self, text: str, title: str, body: int) -> tuple[Claim, ...]:
        return claims(Document("", "", title, text, body))

    def against(self, said: Iterable[Claim], without: frozenset[str]) -> tuple[tuple[Claim, Match], ...]:
        """What documents in force say otherwise, except those on the paths `without`."""
        with self._lock:
            self._follow()
            found = self._answers(self._state, tuple(said), without)
        seen = self.documents.readership.now()
        return found if seen is None else tuple(pair for pair in found if seen.path(pair[1].path))

    def _answer(
        self, state: tuple[str, str], said: tuple[Claim, ...], without: frozenset[str]
    ) -> tuple[tuple[Claim, Match], ...]:
        return tuple(self.index.against(said, without))

    def pairs(self) -> tuple[Pair, ...]:
        """Every disagreement between two documents in force, by path and line."""
        with self._lock:
            self._follow()
            self._compare_changed()
            seen = self.documents.readership.now()
            every = (pair for pairs in self._pairs.values() for pair in pairs)
            every = (pair for pair in every if seen is None or seen.paths((pair[0], pair[2].path)))
            return tuple(sorted(every, key=lambda pair: (pair[0], pair[1].line, pair[2].path, pair[2].claim.line)))

    def _follow(self) -> None:
        """Bring the index to the newest commit and to today."""
        now = (self.documents.repository.head(), self.clock.today().isoformat())
        if now == self._state:
            return
        live = {document.path: document for document in self.documents.whole() if self.in_force(document)}
        texts = {path: (document.text, document.title) for path, document in live.items()}
        for path in self._texts.keys() - texts.keys():
            self.index.remove(path)
            self._stale.add(path)
        for path in sorted(path for path, text in texts.items() if self._texts.get(path) != text):
            self.index.put(path, self.claims(live[path]))
            self._stale.add(path)
        self._texts, self._state = texts, now

    def _compare_changed(self) -> None:
        for ends in [ends for ends in self._pairs if self._stale.intersection(ends)]:
            del self._pairs[ends]
        found: dict[tuple[str, str], list[Pair]] = {}
        for path, claim, match in self.index.pairs(self._stale):
            ends = (path, match.path)
            found.setdefault(ends, []).append((path, claim, match))
        self._pairs |= {ends: tuple(pairs) for ends, pairs in found.items()}
        self._stale.clear()
