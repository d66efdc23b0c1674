"""Documents that are there already: same path, content, id, wording or meaning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.chunking import embedded_text, profile_chunker
from core.curation.upload.shingles import CLOSE, Duplicate, MeaningMatches, PassagePair, ShingleIndex, body, pairs
from core.errors import ConcordError
from core.ports import Index, Models
from core.services.index.embedding import embed_texts
from core.services.knowledge.documents import Documents
from core.services.platform.settings import TeamSettings
from core.services.search.searcher import Searcher
from core.types import Chunk, Document

if TYPE_CHECKING:
    import numpy as np

    from core.storage.cache.vectors import EmbeddingCache

NEAR = (
    0.82  # cosine (bge-small): with SHARE, of 59 starter documents only a true copy and a superseded version are found
)
SURE = 0.87  # when fewer than THREE passages speak; of 531 starter passages only those of a true copy reach it
NEARBY = 0.72  # passages about the same thing; those about another one stay below 0.6
SHARE = 0.5  # of a document's passages that must be so near to one other document
THREE = 3
PROBES = 24  # passages of a whole batch that are embedded at once; one opened document is looked at whole


class DuplicateFinder:
    """Compares new texts with approved ones. Vectors it computes are cached for the index."""

    def __init__(
        self,
        documents: Documents,
        searcher: Searcher,
        team_settings: TeamSettings,
        models: Models,
        cache: EmbeddingCache,
    ) -> None:
        self.documents, self.searcher, self.team_settings = documents, searcher, team_settings
        self.models, self.cache = models, cache
        self._marks: tuple[str, ShingleIndex | None] = ("", None)

    def duplicates(self, document: Document) -> tuple[Duplicate, ...]:
        """By path, content, id and wording; never by wording against its own path."""
        by_path = {other.path: other for other in self.documents.all()}
        there = by_path.get(document.path)
        duplicates = [_same(document, there)] if there else []
        for other in by_path.values():
            if other is not there and other.text == document.text:
                duplicates.append(Duplicate("same content", other.path, other.id, other.title))
            elif other is not there and document.meta.id and other.meta.id == document.meta.id:
                duplicates.append(Duplicate("same id", other.path, other.id, other.title, 1.0, pairs(document, other)))
        excluded = frozenset({document.path, *(duplicate.path for duplicate in duplicates)})
        for other, score in self.marks().near(body(document), excluded):
            duplicates.append(Duplicate("near copy", other.path, other.id, other.title, score, pairs(document, other)))
        return tuple(duplicates)

    def marks(self) -> ShingleIndex:
        """The shingles of all approved documents, computed once per commit and audience."""
        state = f"{self.documents.repository.head()} {self.documents.readership.audience()}"
        marks = self._marks[1] if self._marks[0] == state else None
        if marks is None:
            marks = ShingleIndex(self.documents.all())
            self._marks = (state, marks)
        return marks

    def meanings(
        self, documents: Sequence[Document], excluded: Sequence[frozenset[str]], probes: int = PROBES
    ) -> list[MeaningMatches]:
        """By meaning, for several documents at once: a few passages of each are searched in the index."""
        index = self._index()
        if index is None or not documents or not index.size:
            return [MeaningMatches() for _ in documents]
        each = max(1, probes // len(documents))
        whole = [self._chunks(index, document) for document in documents]
        chunks = [_spread(all_chunks, each) for all_chunks in whole]
        embedder = self.models.of(index.profile)
        texts = [embedded_text(chunk) for some in chunks for chunk in some]
        vectors, _ = embed_texts(embedder, self.cache, texts)
        comparisons, at = [], 0
        for document, some, known, every in zip(documents, chunks, excluded, whole, strict=True):
            alike = _by_meaning(index, document, some, vectors[at : at + len(some)], known)
            comparisons.append(MeaningMatches(alike, len(some), len(every)))
            at += len(some)
        return comparisons

    def _index(self) -> Index | None:
        """The production index, if there is one."""
        try:
            return self.searcher.index()
        except ConcordError:
            return None

    def _chunks(self, index: Index, document: Document) -> tuple[Chunk, ...]:
        return profile_chunker(index.profile, self.models.of(index.profile))(document)


def _same(mine: Document, there: Document) -> Duplicate:
    kind = "same content" if mine.text == there.text else "same path"
    shown = () if kind == "same content" else pairs(mine, there)
    return Duplicate(kind, there.path, there.id, there.title, 1.0, shown)


def _spread(chunks: Sequence[Chunk], most: int) -> list[Chunk]:
    """A few chunks, evenly spread over the document."""
    step = max(1.0, len(chunks) / most)
    return [chunks[int(n * step)] for n in range(min(most, len(chunks)))]


def _by_meaning(
    index: Index, document: Document, chunks: Sequence[Chunk], vectors: np.ndarray, excluded: frozenset[str]
) -> tuple[Duplicate, ...]:
    """Documents that say most of it, then those with a passage about the same thing."""
    near = NEAR if len(chunks) >= THREE else SURE
    nearest: dict[int, list[PassagePair]] = {}
    for chunk, vector in zip(chunks, vectors, strict=True):
        for number, score in index.dense(vector).search(3, None).items():
            if score >= NEARBY and index.documents[index.document_of(number)].path not in excluded:
                nearest.setdefault(index.document_of(number), []).append(_pair(index, document, chunk, number, score))
                break
    best = {n: sorted(found, key=lambda pair: (-pair.score, pair.my_line)) for n, found in nearest.items()}
    counts = Counter({n: sum(pair.score >= near for pair in found) for n, found in best.items()})
    same = [n for n, count in counts.most_common(3) if count and count / len(chunks) >= SHARE]
    close = sorted(best.keys() - set(same), key=lambda n: (-best[n][0].score, n))[:3]
    return (
        *(_like(index, n, "same meaning", counts[n] / len(chunks), best[n][:3]) for n in same),
        *(_like(index, n, CLOSE, best[n][0].score, best[n][:1]) for n in close),
    )


def _like(index: Index, n: int, kind: str, score: float, found: Sequence[PassagePair]) -> Duplicate:
    facts = index.documents[n]
    return Duplicate(kind, facts.path, facts.doc, facts.title, round(score, 3), tuple(found))


def _pair(index: Index, document: Document, chunk: Chunk, number: int, score: float) -> PassagePair:
    passage = index.passage(number)
    theirs = index.text(passage.document)
    return PassagePair(
        chunk.text,
        index.excerpt(number),
        document.text.count("\n", 0, chunk.start) + 1,
        theirs.count("\n", 0, passage.start) + 1,
        round(float(score), 3),
    )
