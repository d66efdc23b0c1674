"""Entities of the chunks of changed documents, by rules, spaCy or a language model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from core.curation.links import Link, links
from core.errors import Unavailable
from core.graph.entities import extract
from core.graph.extraction import ask_entities, labelled
from core.llm.writer import PATIENCE
from core.ports import Models, Progress, no_progress
from core.types import Chunk, Document, Extract

Recogniser = Callable[[Sequence[str]], Iterator[list[tuple[str, str, int]]]]
"""Per text the (surface, kind, place) of its entities."""


Extracts = tuple[list[Extract] | None, dict[str, str]]
"""Extracts, and by document what was done differently from what the profile asks for."""


def no_recogniser(texts: Sequence[str]) -> Iterator[list[tuple[str, str, int]]]:
    raise Unavailable("No recogniser of entities is wired. Choose a profile with graph: rules.")


class EntityExtractor:
    """Chunks to extracts, as the profile asks."""

    def __init__(self, models: Models, recogniser: Recogniser = no_recogniser) -> None:
        self.models, self.recogniser = models, recogniser

    def extracts(
        self, way: str, documents: Sequence[Document], chunks: Sequence[Chunk], progress: Progress = no_progress
    ) -> Extracts:
        """One extract per chunk; None when the profile has no graph."""
        if way == "none":
            return None, {}
        linked = {document.id: links(document) if "](" in document.text else () for document in documents}
        if way == "llm":
            return self._by_model(documents, chunks, linked, progress)
        by_rules = []
        for n, chunk in enumerate(chunks):
            progress(n, len(chunks), "Finding entities")
            by_rules.append(extract(chunk.text, linked[chunk.doc]))
        if way == "rules":
            return by_rules, {}
        spans = self.recogniser([chunk.text for chunk in chunks])
        rows = zip(chunks, spans, by_rules, strict=True)
        return [labelled(chunk.text, entities, rules) for chunk, entities, rules in rows], {}

    def _by_model(
        self,
        documents: Sequence[Document],
        chunks: Sequence[Chunk],
        linked: dict[str, tuple[Link, ...]],
        progress: Progress,
    ) -> Extracts:
        """Chunk by chunk; after three answers in a row that are no use, the model is not asked again."""
        llm, extracts, in_a_row = self.models.llm(), [], 0
        failed: dict[str, list[str]] = {}
        for n, chunk in enumerate(chunks, 1):
            if in_a_row < PATIENCE:
                found, why = ask_entities(llm, chunk.text, linked[chunk.doc])
                in_a_row = in_a_row + 1 if why else 0
            else:
                found = extract(chunk.text, linked[chunk.doc])
            extracts.append(found)
            if why:
                failed.setdefault(chunk.doc, []).append(why)
            progress(n, len(chunks), "Finding entities")
        sizes = Counter(chunk.doc for chunk in chunks)
        return extracts, {
            document.path: f"{len(failed[document.id])} of {sizes[document.id]} chunks have entities by rules: {failed[document.id][-1]}"
            for document in documents
            if document.id in failed
        }
