"""Entities of the chunks of changed documents, by rules, spaCy or a language model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from core.curation.links import Link, links
from core.errors import Unavailable
from core.graph.entities import extract
from core.graph.extraction import ask, labelled
from core.ports import Models, Progress, no_progress
from core.types import Chunk, Document, Extract

Recogniser = Callable[[Sequence[str]], Iterator[list[tuple[str, str, int]]]]
"""Per text the (surface, kind, place) of its entities."""


Extracts = tuple[list[Extract] | None, list[str]]
"""Extracts and remarks about them."""


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
            return None, []
        linked = {document.id: links(document) if "](" in document.text else () for document in documents}
        if way == "llm":
            return self._by_model(chunks, linked, progress)
        by_rules = []
        for n, chunk in enumerate(chunks):
            progress(n, len(chunks), "Finding entities")
            by_rules.append(extract(chunk.text, linked[chunk.doc]))
        if way == "rules":
            return by_rules, []
        spans = self.recogniser([chunk.text for chunk in chunks])
        rows = zip(chunks, spans, by_rules, strict=True)
        return [labelled(chunk.text, entities, rules) for chunk, entities, rules in rows], []

    def _by_model(self, chunks: Sequence[Chunk], linked: dict[str, tuple[Link, ...]], progress: Progress) -> Extracts:
        llm, extracts, failed = self.models.llm(), [], 0
        for n, chunk in enumerate(chunks, 1):
            extract, usable = ask(llm, chunk.text, linked[chunk.doc])
            extracts.append(extract)
            failed += not usable
            progress(n, len(chunks), "Finding entities")
        remark = f"{failed} of {len(chunks)} new chunks have entities by rules: the model's answer could not be used"
        return extracts, [remark] if failed else []
