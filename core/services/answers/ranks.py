"""Asking what documents say they answer: at which place a search finds the document, and what keeps it back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from core.analysis import analyser
from core.curation.document.frontmatter import split
from core.curation.document.questions import one_line, same_form
from core.ports import Index
from core.retrieval import pipeline
from core.retrieval.alpha import ALPHAS
from core.retrieval.config import embeds
from core.retrieval.filters import admits
from core.retrieval.hyde import Embed
from core.retrieval.reader_index import seen_by
from core.retrieval.rerankers import RERANKERS
from core.services.search.searcher import Searcher
from core.types import DocumentFacts, Filters, SearchConfig

if TYPE_CHECKING:
    import numpy as np

    from core.storage.cache.vectors import EmbeddingCache

AHEAD = 2  # documents that are named where others stand before the one that answers


@dataclass(frozen=True, slots=True)
class Place:
    """Where a document stands among those that a search finds: `rank` 0 is nowhere. `note` says why."""

    rank: int
    note: str = ""

    def within(self, first: int) -> bool:
        """Whether it stands among the first."""
        return 0 < self.rank <= first

    @property
    def words(self) -> str:
        """The place as people read it.

        >>> Place(1).words, Place(4, "behind A").words, Place(0, "“invoice” is missing").words
        ('found at 1', 'found at 4, behind A', 'not found: “invoice” is missing')
        """
        if self.rank:
            return f"found at {self.rank}" + (f", {self.note}" if self.note else "")
        return "not found" + (f": {self.note}" if self.note else "")


@dataclass(frozen=True, slots=True)
class Listed:
    """A question under the `answers:` of a document."""

    facts: DocumentFacts
    question: str

    @property
    def key(self) -> tuple[str, str]:
        """What names it for as long as the document keeps its id and the question its words."""
        return self.facts.doc, same_form(self.question)


_LISTED: WeakKeyDictionary[Index, tuple[Listed, ...]] = WeakKeyDictionary()  # read once per generation


class AnswerSearch:
    """One open generation under the production configuration, less what would be paid for."""

    def __init__(self, searcher: Searcher, vectors: EmbeddingCache) -> None:
        production = searcher.team_settings.production()
        self.searcher, self.vectors = searcher, vectors
        self.index = searcher.generations.open(production.profile)
        self.config = free_of_charge(replace(production.config, k=production.config.depth, collapse=False))
        self.today = searcher.clock.today()
        self.known: dict[str, np.ndarray] = {}

    def listed(self) -> tuple[Listed, ...]:
        """What every document that can be found says it answers."""
        if self.index not in _LISTED:
            _LISTED[self.index] = tuple(
                Listed(facts, question)
                for number, facts in enumerate(self.index.documents)
                for question in answers_of(self.index, number)
            )
        return tuple(asked for asked in _LISTED[self.index] if admits(Filters(), asked.facts, self.today))

    def prepare(self, questions: Sequence[str]) -> None:
        """Look up the vectors of questions that were asked before."""
        if embeds(self.config) and not self.searcher.models.of(self.index.profile).parts:
            self.known = dict(self.vectors.get(self._model, list(dict.fromkeys(questions))))

    def place(self, question: str, path: str) -> Place:
        """Where a search by its readers finds a document, among what all of them may read."""
        index = seen_by(self.index, self.searcher.readership.shared(self.index, [path]))
        found = self.found(question, index)
        rank = found.index(path) + 1 if path in found else 0
        return Place(rank, self._note(question, path, rank, found, index))

    def found(self, question: str, index: Index) -> list[str]:
        """The paths of all documents found, best first."""
        ask = self.searcher.ask(index, self.config)
        ask = ask._replace(embed=partial(self._vector, embed=ask.embed))
        hits = pipeline.search(question, self.config, index, ask).hits
        return list(dict.fromkeys(hit.path for hit in hits))

    def _note(self, question: str, path: str, rank: int, found: Sequence[str], index: Index) -> str:
        titles = {facts.path: (number, facts.title) for number, facts in enumerate(index.documents)}
        if rank > 1:
            ahead = [titles[other][1] for other in found[: min(rank - 1, AHEAD)]]
            more = rank - 1 - len(ahead)
            return f"behind {', '.join(ahead)}" + (f" and {more} more" if more else "")
        if rank:
            return ""
        text = index.text(titles[path][0])
        return missing_note(missing_words(index, question, text[split(text)[1] :]))

    @property
    def _model(self) -> str:
        return f"query {self.searcher.models.of(self.index.profile).name}"

    def _vector(self, text: str, embed: Embed) -> np.ndarray:
        if text not in self.known:
            self.known[text] = embed(text)
            if self.known[text].ndim == 1:
                self.vectors.put(self._model, {text: self.known[text]})
        return self.known[text]


def answers_of(index: Index, document: int) -> Iterator[str]:
    """The questions that a document lists, each once."""
    yield from dict.fromkeys(filter(None, map(one_line, index.answers(document))))


def missing_words(index: Index, question: str, text: str) -> tuple[str, ...]:
    """The words of a question that a text does not use, the rarest first."""
    analyse = analyser(index.profile.lexical)
    there = set(analyse(text))
    words: dict[str, str] = {}
    for start, end, terms in analyse.words(question):
        if terms and not there.intersection(terms):
            words.setdefault(terms[0], question[start:end])
    return tuple(sorted(words.values(), key=lambda word: -max(map(index.rarity, analyse(word)), default=0.0)))


def missing_note(words: Sequence[str]) -> str:
    """Which words a document lacks, three at most.

    >>> missing_note(["invoice", "late", "fee"]), missing_note(["invoice"]), missing_note([])
    ('“invoice”, “late” and “fee” are missing', '“invoice” is missing', '')
    """
    if not words:
        return ""
    quoted = [f"“{word}”" for word in words[:3]]
    listed = " and ".join(filter(None, (", ".join(quoted[:-1]), quoted[-1])))
    return f"{listed} {'is' if len(quoted) == 1 else 'are'} missing"


def free_of_charge(config: SearchConfig) -> SearchConfig:
    """The configuration without what asks a language model: a check every night would run up a bill."""
    free = replace(config, hyde=False)
    if ALPHAS[config.alpha_from].asks:
        free = replace(free, alpha_from="fixed", alpha_model="")
    asks = RERANKERS[config.reranker].asks if config.rerank != "off" else ()
    if "llm" in asks:
        kept = config.rerank if "reranker" in asks else "off"
        free = replace(free, rerank_model="", reranker="cross-encoder", rerank=kept)
    return free
