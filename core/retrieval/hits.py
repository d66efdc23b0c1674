"""From chunk numbers to hits that explain their rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from core.ports import Index
from core.retrieval.candidates import Candidates, Fused
from core.retrieval.methods import Outcome
from core.retrieval.query_rules import SynonymLeg
from core.retrieval.sections import placed
from core.types import NOTHING, AlsoIn, Hit, LegScore


class FurtherHits(Sequence[Hit]):
    """Other passages of the document at a place; what the legs said of the document stands with the first. Each is made
    when it is asked for: most searches show none, and they would cost as much as the hits."""

    __slots__ = ("_chunks", "_index", "_place", "_query")

    def __init__(self, index: Index, query: str, place: int, chunks: Sequence[int]) -> None:
        self._index, self._query = index, query
        self._place, self._chunks = place, chunks

    def __len__(self) -> int:
        return len(self._chunks)

    def __getitem__(self, at: Any) -> Any:
        chunks = self._chunks[at]
        return tuple(map(self._hit, chunks)) if isinstance(at, slice) else self._hit(chunks)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __reduce__(self) -> tuple[type[tuple[Hit, ...]], tuple[tuple[Hit, ...]]]:
        return tuple, (self[:],)  # a copy needs no index

    def _hit(self, chunk: int) -> Hit:
        passage = self._index.passage(chunk)
        facts = self._index.documents[passage.document]
        span = (passage.id, passage.start, passage.end, self._index.excerpt(chunk))
        hit = Hit(
            self._place,
            facts.doc,
            facts.path,
            facts.title,
            passage.heading,
            *span,
            0.0,
            {},
            facts.status,
            facts.version,
        )
        return placed(hit, self._query, chunk, self._index)


class Explainer:
    """Explains the hits of one ranking: scores of the legs, the fusion and the reranker."""

    def __init__(
        self,
        index: Index,
        candidates: Candidates,
        fused: Fused,
        outcome: Outcome,
        fields: Mapping[str, float] = NOTHING,
    ) -> None:
        self.index, self.fields = index, fields
        self.candidates, self.fused, self.outcome = candidates, fused, outcome
        self._scores = cache(lambda text: index.fields(text, tuple(fields)))  # by wording
        self.query = " ".join((candidates.query, *candidates.also))
        self.ranks = {chunk: place for place, chunk in enumerate(fused.ranking, 1)}
        self.columns = {chunk: column for column, chunk in enumerate(fused.chunks.tolist())}
        legs, guides = fused.legs, candidates.guides
        arrays = (array.tolist() for array in (legs.here, legs.raw, legs.scores, legs.places, fused.parts))
        rows = dict(zip(legs.names, zip(*arrays, strict=True), strict=True))
        self.legs = [(name, fused.weights[name], guides.get(name), *rows[name]) for name in candidates.retrieved]

    def hit(self, place: int, chunk: int) -> Hit:
        """A chunk at its rank, under the heading of its best section."""
        return placed(self._hit(place, chunk), self.query, chunk, self.index)

    def _hit(self, place: int, chunk: int) -> Hit:
        passage = self.index.passage(chunk)
        facts = self.index.documents[passage.document]
        further = self.candidates.further.get(chunk)
        return Hit(
            rank=place,
            doc=facts.doc,
            path=facts.path,
            title=facts.title,
            heading=passage.heading,
            chunk=passage.id,
            start=passage.start,
            end=passage.end,
            text=self.index.excerpt(chunk),
            score=self.score(chunk),
            legs=self._legs(chunk),
            status=facts.status,
            version=facts.version,
            fused_rank=self.ranks.get(chunk, 0),
            rerank_score=self.outcome.scored.get(chunk),
            reasons=self.outcome.reasons.get(chunk, NOTHING),
            further=FurtherHits(self.index, self.query, place, further) if further else (),
        )

    def score(self, chunk: int) -> float:
        """What decides the order of a chunk."""
        reranked = self.outcome.scores.get(chunk)
        return self.fused.ranking.get(chunk, 0.0) if reranked is None else reranked

    def place(self, chunk: int) -> AlsoIn:
        """Where a chunk stands, for the hit that it is a copy of."""
        passage = self.index.passage(chunk)
        facts = self.index.documents[passage.document]
        span = (passage.id, passage.start, passage.end)
        return AlsoIn(facts.doc, facts.path, facts.title, passage.heading, *span, facts.version)

    def parent(self, place: int, chunk: int) -> Hit:
        """The parent of a chunk as a hit: `chunk` still names the child that was found."""
        hit, above = self._hit(place, chunk), self.index.passage(chunk).parent
        if above is not None:
            text = self.index.text(self.index.document_of(chunk))
            hit = replace(hit, start=above[0], end=above[1], text=text[above[0] : above[1]])
        return placed(hit, self.query, chunk, self.index)

    def _legs(self, chunk: int) -> dict[str, LegScore]:
        """What each leg said; nothing for a neighbour that a reranker brought in."""
        at = self.columns.get(chunk)
        if at is None:
            return {}
        return {
            name: LegScore(
                raw[at],
                scores[at],
                weight,
                places[at],
                guide.path(chunk) if guide else "",
                parts[at],
                self._fields(chunk) if name == "bm25" else NOTHING,
            )
            for name, weight, guide, here, raw, scores, places, parts in self.legs
            if here[at]
        }

    def _fields(self, chunk: int) -> Mapping[str, float]:
        """What each field that counts gave to the score for words."""
        if not self.fields:
            return NOTHING
        guide = self.candidates.guides.get("bm25")
        text, share = guide.wording(chunk) if isinstance(guide, SynonymLeg) else ("", 1.0)
        given = self._scores(text or self.candidates.query)(chunk)
        return {name: part for name, weight in self.fields.items() if (part := share * weight * given[name]) > 0}
