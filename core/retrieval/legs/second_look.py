"""The leg of two-hop questions: a second search for what the best passage names, and for what it leaves open.

"When was the pianist who recorded Live at Shelly's Manne-Hole born?" does not say who that is. The passage on the
record does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from core.analysis import analyser
from core.graph.entities import VALUES, extract
from core.ports import Index, Leg, Ranking
from core.retrieval import document_ranking
from core.retrieval.candidates import Candidates, fuse
from core.retrieval.confidence import chances, word_worths
from core.retrieval.methods import LegKind, LegQuery
from core.types import NOTHING, SearchConfig

if TYPE_CHECKING:
    import numpy as np

FIRST = SearchConfig(normalisation="tm2c2", alpha=0.9, depth=30, documents=True)  # whose best passage is the start
SURE = 0.8  # the chance, at least, that the start is right: what a wrong one names leads astray
OPEN = 0.1  # share of the question's words, by rarity, that it must leave open


class SecondQuery(NamedTuple):
    """What is searched for again, and the passage that it starts from."""

    start: int
    names: tuple[str, ...]  # that the start adds
    words: tuple[str, ...]  # of the question, that it does not hold

    def __str__(self) -> str:
        return ", ".join((*self.names, *self.words))


def second_query(query: str, start: int, index: Index) -> SecondQuery | None:
    """What the passage adds to a query and leaves open of it; None where it leaves too little open, or adds nothing."""
    analysed, title = analyser(index.profile.lexical), index.documents[index.document_of(start)].title
    text = index.excerpt(start)
    asked = {term: worth for term, worth in word_worths(query, index).items() if index.rarity(term)}
    missing = asked.keys() - {*analysed(text), *analysed(title)}
    names = _names(text, {*asked, *analysed(title)}, index)
    if not names or sum(asked[term] for term in missing) < OPEN * sum(asked.values()):
        return None
    words = (query[at:end] for at, end, terms in analysed.words(query) if not missing.isdisjoint(terms))
    return SecondQuery(start, names, tuple(dict.fromkeys(words)))


def _names(text: str, known: set[str], index: Index) -> tuple[str, ...]:
    """What a passage names, where a word of the name is new and stands in other passages, too."""
    analysed = analyser(index.profile.lexical)
    fresh: dict[str, str] = {}
    for mention in extract(text).mentions:
        terms = [term for term in analysed(mention.text) if term not in known and not term.isdigit()]
        if mention.kind not in VALUES and any(map(index.rarity, terms)):
            fresh.setdefault(mention.key, mention.text)
    return tuple(fresh.values())


@dataclass(slots=True)
class SecondLook:
    """BM25 for what the first hit adds. That hit has the best score, so that it keeps its place before what it leads
    to.
    """

    asked: LegQuery
    index: Index
    floor: float = 0.0
    query: SecondQuery | None = None
    words: Leg | None = None
    best: float = 0.0
    family: frozenset[int] = field(default_factory=frozenset)  # passages of the document that it starts from
    note: str = ""

    def search(self, depth: int, allowed: np.ndarray | None) -> Ranking:
        """The start, then what a search for its names and the open words finds."""
        self._look(allowed)
        if not self.words or not self.query:
            return {}
        found = self.words.search(depth, allowed)
        self.best = max(found.values(), default=0.0)
        others = {chunk: score for chunk, score in found.items() if chunk not in self.family}
        return {self.query.start: self.best, **others} if others else {}

    def score(self, chunks: Sequence[int]) -> list[float]:
        """The exact score of given chunks."""
        if not self.note:
            self.search(FIRST.depth, None)
        if not self.words or not self.best:
            return [self.floor] * len(chunks)
        scores = self.words.score(chunks)
        return [self.best if chunk in self.family else score for chunk, score in zip(chunks, scores, strict=True)]

    def path(self, chunk: int) -> str:
        """What of the second query a passage holds."""
        if not self.query or not self.best:
            return ""
        if chunk in self.family:
            return "the second look starts here"
        analysed = analyser(self.index.profile.lexical)
        parts = (*self.query.names, *self.query.words)
        held = [part for part in parts if any(self.index.holding(term, [chunk])[0] for term in analysed(part))]
        return f"second look from “{self._title}” for: {', '.join(held)}" if held else ""

    @property
    def _title(self) -> str:
        start = self.query.start if self.query else 0
        return self.index.documents[self.index.document_of(start)].title

    def _look(self, allowed: np.ndarray | None) -> None:
        start, chance = first_hit(self.asked, self.index, allowed)
        if chance < SURE:
            self.note = f"No second look: the first hit is right with a chance of {chance:.2f}, and {SURE:g} is asked."
            return
        self.query = second_query(self.asked.query, start, self.index)
        self.note = "No second look: the first hit leaves nothing rare of the question open, or names nothing more."
        if self.query:
            self.note = f"Second look from “{self._title}” for: {self.query}"
            again = self.asked._replace(query=" ".join((*self.query.names, *self.query.words)))
            self.words = self.asked.open_leg("bm25", again, self.index)
            self.family = frozenset(self.index.chunks_of(self.index.document_of(self.query.start)))


def first_hit(asked: LegQuery, index: Index, allowed: np.ndarray | None) -> tuple[int, float]:
    """The best passage of the best document, by words and meaning, and the chance that it is right; 0 where there is
    none.
    """
    legs = {
        "bm25": asked.open_leg("bm25", asked, index),
        "dense": asked.open_leg("dense", asked._replace(fields=NOTHING), index),
    }
    found = {name: leg.search(document_ranking.passages(FIRST), allowed) for name, leg in legs.items()}
    floors = {name: leg.floor for name, leg in legs.items()}
    candidates = Candidates(asked.query, found, floors, lambda leg, chunks: legs[leg].score(chunks))
    reduced = document_ranking.reduced(candidates, index, FIRST.depth, partial(document_ranking.highest, legs))
    first = list(fuse(reduced, FIRST).ranking)[:1]
    return next(zip(first, chances(reduced, first, FIRST, index), strict=True), (0, 0.0))


SECOND_LOOK = LegKind(
    name="hop",
    title="Second look",
    about="For questions that name a thing by another one: what the best passage names, and what it leaves open of "
    "the question.",
    source="two-hop questions; Yang et al. 2018 (HotpotQA)",
    side="graph",
    colour="#A67BD4",
    open=SecondLook,
    embeds=True,
    fields=True,
)
