"""Entities of the chunks of changed documents, by rules, spaCy or a language model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from core.bulk import InlineBulk, in_order
from core.curation.document.links import Link, links
from core.errors import Unavailable
from core.graph.entities import extract
from core.graph.extraction import ask_entities, labelled
from core.llm.asking import THREADS, Bill, together
from core.llm.writer import PATIENCE
from core.ports import Bulk, Models, Progress, no_progress
from core.types import Chunk, Document, Extract

Recogniser = Callable[[Sequence[str]], Iterator[list[tuple[str, str, int]]]]
"""Per text the (surface, kind, place) of its entities."""


Extracts = tuple[list[Extract] | None, dict[str, str]]
"""Extracts, and by document what was done differently from what the profile asks for."""


def no_recogniser(texts: Sequence[str]) -> Iterator[list[tuple[str, str, int]]]:
    raise Unavailable("No recogniser of entities is wired. Choose a profile with graph: rules.")


class EntityExtractor:
    """Chunks to extracts, as the profile asks."""

    def __init__(self, models: Models, recogniser: Recogniser = no_recogniser, at_once: int = THREADS) -> None:
        """`at_once`: chunks that a language model is asked about at the same time."""
        self.models, self.recogniser, self.at_once = models, recogniser, at_once

    def extracts(
        self,
        way: str,
        documents: Sequence[Document],
        chunks: Sequence[Chunk],
        progress: Progress = no_progress,
        bill: Bill | None = None,
        bulk: Bulk | None = None,
    ) -> Extracts:
        """One extract per chunk; None when the profile has no graph. What models take is added to the bill."""
        if way == "none":
            return None, {}
        linked = {document.id: links(document) if "](" in document.text else () for document in documents}
        if way == "llm":
            return self._by_model(documents, chunks, linked, progress, bill or Bill())
        texts = [(chunk.text, linked[chunk.doc]) for chunk in chunks]
        by_rules: list[Extract] = in_order((bulk or InlineBulk(self.models)).map("extract", None, texts, progress))
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
        bill: Bill,
    ) -> Extracts:
        """Several chunks at once; after three answers in a row that are no use, the model is not asked again."""
        llm, in_a_row, why = self.models.llm(), 0, ""
        extracts: list[Extract] = []
        failed: dict[str, list[str]] = {}

        def asked(chunk: Chunk) -> tuple[Extract, str, Bill]:
            spent = Bill()
            return *ask_entities(llm, chunk.text, linked[chunk.doc], spent), spent

        def ruled(chunk: Chunk) -> tuple[Extract, str, Bill]:
            return extract(chunk.text, linked[chunk.doc]), why, Bill()

        while len(extracts) < len(chunks):
            begun = in_a_row != len(
                extracts
            )  # a first answer was usable: until then one at a time, three at most in vain
            some = chunks[len(extracts) : len(extracts) + (self.at_once if begun or in_a_row >= PATIENCE else 1)]
            with together(asked if in_a_row < PATIENCE else ruled, some, self.at_once) as results:
                for chunk, (found, reason, spent) in zip(some, results, strict=True):
                    extracts.append(found)
                    bill.join(spent)
                    why = reason
                    if why:
                        failed.setdefault(chunk.doc, []).append(why)
                    in_a_row = in_a_row + 1 if why else 0
                    progress(len(extracts), len(chunks), "Finding entities")
        sizes = Counter(chunk.doc for chunk in chunks)
        return extracts, {
            document.path: f"{len(failed[document.id])} of {sizes[document.id]} chunks have entities by rules: "
            f"{failed[document.id][-1]}"
            for document in documents
            if document.id in failed
        }
