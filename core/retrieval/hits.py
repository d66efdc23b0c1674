"""From chunk numbers to hits that say why they stand where they stand."""

from __future__ import annotations

from dataclasses import replace

from core.ports import Index
from core.retrieval.candidates import Candidates, Fused
from core.retrieval.rerank import Outcome
from core.types import Hit, LegScore


class Explainer:
    """Knows one search: what its legs found, how that was fused, and what the reranker made of it."""

    def __init__(self, index: Index, candidates: Candidates, fused: Fused, reranked: Outcome) -> None:
        self.index, self.candidates, self.fused, self.reranked = index, candidates, fused, reranked
        self.places = {chunk: place for place, chunk in enumerate(fused.ranking, 1)}
        self.columns = {chunk: column for column, chunk in enumerate(fused.chunks.tolist())}
        rows = zip(fused.legs.names, fused.legs.scores.tolist(), fused.legs.places.tolist(), strict=True)
        self.rows = {name: (scaled, places) for name, scaled, places in rows}

    def hit(self, place: int, chunk: int) -> Hit:
        """One chunk as a hit at a place."""
        passage = self.index.passage(chunk)
        facts = self.index.documents[passage.document]
        given = self.reranked.scores.get(chunk)
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
            score=self.fused.ranking[chunk] if given is None else given,
            legs={
                name: self._leg(name, chunk, scores[chunk])
                for name, scores in self.candidates.scores.items()
                if chunk in scores
            },
            status=facts.status,
            version=facts.version,
            fused_rank=self.places.get(chunk, 0),
            rerank_score=self.reranked.said.get(chunk),
        )

    def parent(self, place: int, chunk: int) -> Hit:
        """The parent of a chunk as a hit: `chunk` still names the child that was found."""
        hit, above = self.hit(place, chunk), self.index.passage(chunk).parent
        if above is None:
            return hit
        text = self.index.text(self.index.document_of(chunk))
        return replace(hit, start=above[0], end=above[1], text=text[above[0] : above[1]])

    def _leg(self, name: str, chunk: int, score: float) -> LegScore:
        column, (scaled, places) = self.columns[chunk], self.rows[name]
        guide = self.candidates.guides.get(name)
        note = guide.path(chunk) if guide else ""
        return LegScore(score, scaled[column], self.fused.weights[name], places[column], note)
