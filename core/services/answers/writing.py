"""Help for authors: questions that a text probably answers, and where it would be found for those that it lists."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import log
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from core import strict
from core.access import READS, Actor, use_case
from core.analysis import analyser
from core.chunking import chunker, embedded_text
from core.chunking.chunker import Tools
from core.curation.document.questions import MOST, one_line, same_form, suggested
from core.curation.text.markup import plain_heading
from core.errors import BadInput, ConcordError
from core.llm.prompt import cut, quoted
from core.llm.writer import Writer, WritingTask
from core.ports import Index, Ranking, Texts
from core.retrieval import pipeline
from core.retrieval.candidates import Candidates
from core.retrieval.trace import Trace
from core.services.answers.ranks import AHEAD, AnswerSearch, Place, missing_note, missing_words
from core.services.index.embedding import embed_texts
from core.services.search.searcher import Searcher
from core.types import NOTHING, Document

if TYPE_CHECKING:
    import numpy as np

    from core.storage.cache.vectors import EmbeddingCache

LEGS = ("bm25", "dense")  # that can score a text which is in no index
LONGEST = 80  # passages of a text that are looked at
SAMPLE = 300  # passages of the index whose mean length is taken
ROOM = 12_000  # characters of a text that a model reads
_HEADING = re.compile(r"^#{2,3} +(.+?)[ #]*$", re.MULTILINE)
_FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class TriedAnswer:
    """Where a text would be found for a question. None: that cannot be estimated."""

    question: str
    place: Place | None


class AnswerWriting:
    """Suggests questions, and tries a text that is not merged yet against what is served."""

    def __init__(self, searcher: Searcher, vectors: EmbeddingCache, texts: Texts) -> None:
        self.searcher, self.vectors, self.texts = searcher, vectors, texts
        self._lengths: WeakKeyDictionary[Index, float] = WeakKeyDictionary()

    # ------------------------------------------------------------ suggest

    @use_case("propose a change", READS)
    def suggest(self, actor: Actor, document: Document, *, model: bool = False) -> tuple[str, ...]:
        """Questions that a document does not list yet: from its headings, or from a language model that read it."""
        if model:
            return self._written(document)
        return suggested(document.title, headings(document), document.meta.answers)

    def _written(self, document: Document) -> tuple[str, ...]:
        writer = Writer([self.searcher.models.llm], self.texts)
        body = document.text[document.body :]
        prompt = (
            f"{quoted('document', cut(f'# {document.title}{chr(10) * 2}{body}', ROOM))}\n\nWrite up to {MOST} "
            "questions that colleagues would type into a search box and that this document answers. "
            "Use their words, not those of the headings. One question per line, at most 15 words each, nothing else."
        )
        task = WritingTask(f"answers {strict.digest(prompt)}", "suggest answers", prompt, _checked)
        listed = {same_form(question) for question in document.meta.answers}
        return tuple(line for line in writer.write(task)[0].splitlines() if same_form(line) not in listed)

    # ------------------------------------------------------------ try

    @use_case("propose a change", READS)
    def try_out(self, actor: Actor, document: Document, questions: Sequence[str]) -> tuple[TriedAnswer, ...]:
        """Where this text would stand for each question, if it were served in the place of what is: an estimate."""
        asked = list(dict.fromkeys(filter(None, map(one_line, questions))))
        try:
            search = AnswerSearch(self.searcher, self.vectors)
            if not asked or not set(search.config.legs) & set(LEGS):
                return tuple(TriedAnswer(question, None) for question in asked)
            draft = _Draft(search, document, self._length(search.index))
            return tuple(TriedAnswer(question, draft.place(question)) for question in asked)
        except ConcordError:
            return tuple(TriedAnswer(question, None) for question in asked)

    def _length(self, index: Index) -> float:
        """The mean number of terms of a passage, from a sample."""
        if index not in self._lengths:
            analyse = analyser(index.profile.lexical)
            sample = range(0, index.size, max(1, index.size // SAMPLE))
            lengths = [len(analyse(f"{index.context(chunk)} {index.excerpt(chunk)}")) for chunk in sample]
            self._lengths[index] = sum(lengths) / len(lengths) if lengths else 1.0
        return self._lengths[index]


class _Draft:
    """The passages of a text beside those of an index, which it replaces where that has an older version."""

    def __init__(self, search: AnswerSearch, document: Document, length: float) -> None:
        self.search = search
        self.index = search.index
        self.document = document
        self.length = length
        legs = tuple(leg for leg in search.config.legs if leg in LEGS)
        self.config = replace(search.config, legs=legs, rerank="off", engines=NOTHING, parents=False)
        number = next((n for n, facts in enumerate(self.index.documents) if facts.path == document.path), None)
        self.old = set(self.index.chunks_of(number)) if number is not None else set()
        embedder = search.searcher.models.of(self.index.profile)

        def embed(texts: Sequence[str]) -> np.ndarray:
            return embed_texts(embedder, search.vectors, texts)[0]

        split = chunker(self.index.profile.chunker, Tools(embedder.tokens, embed), self.index.profile.context)
        self.texts = [embedded_text(chunk) for chunk in split(document)[:LONGEST]]
        self.vectors = embed(self.texts) if "dense" in legs and not embedder.parts else None
        analyse = analyser(self.index.profile.lexical)
        self.terms = [analyse(text) for text in self.texts]

    def place(self, question: str) -> Place:
        """The rank of this text among the documents."""
        ask = self.search.searcher.ask(self.index, self.config)
        deeper = replace(self.config, depth=self.config.depth + len(self.old))
        found = pipeline.gather(question, deeper, self.index, ask, Trace())
        own = {leg: self._scores(leg, question, found) for leg in found.retrieved}
        retrieved = {leg: self._with_own(ranking, own[leg]) for leg, ranking in found.retrieved.items()}

        def score(leg: str, chunks: Sequence[int]) -> list[float]:
            others = [chunk for chunk in chunks if chunk not in own[leg]]
            known = {**own[leg], **dict(zip(others, found.score(leg, others), strict=True))}
            return [known[chunk] for chunk in chunks]

        mixed = Candidates(found.query, retrieved, found.floors, score, vector=found.vector)
        order = pipeline.rank(mixed, self.config, self.index, ask, Trace()).order
        paths = list(dict.fromkeys(map(self._path, order)))
        rank = paths.index("") + 1 if "" in paths else 0
        return Place(rank, self._note(question, rank, paths))

    def _scores(self, leg: str, question: str, found: Candidates) -> dict[int, float]:
        """What a leg would give to the passages of the text; they are numbered after those of the index."""
        if leg == "dense":
            scores = []
            if found.vector and self.vectors is not None:
                vector = found.vector()
                scores = [float(row @ vector) for row in self.vectors]
        else:
            asked = analyser(self.index.profile.lexical)(question)
            scores = [self._bm25(asked, terms) for terms in self.terms]
        return {self.index.size + n: score for n, score in enumerate(scores)} or dict.fromkeys(
            range(self.index.size, self.index.size + len(self.texts)), found.floors[leg]
        )

    def _bm25(self, asked: Sequence[str], terms: Sequence[str]) -> float:
        options = self.index.profile.lexical
        weight = options.k1 * (1 - options.b + options.b * len(terms) / self.length)
        new = log(1 + self.index.size)  # the rarity of a word that no document uses yet
        counts = ((self.index.rarity(term) or new, terms.count(term)) for term in asked)
        return sum(rarity * (options.k1 + 1) * count / (count + weight) for rarity, count in counts if count)

    def _with_own(self, ranking: Ranking, own: Mapping[int, float]) -> dict[int, float]:
        mixed = {chunk: score for chunk, score in ranking.items() if chunk not in self.old}
        mixed |= {chunk: score for chunk, score in own.items() if score > 0}
        best = sorted(mixed, key=lambda chunk: (-mixed[chunk], chunk))[: self.config.depth]
        return {chunk: mixed[chunk] for chunk in best}

    def _path(self, chunk: int) -> str:
        """The document of a passage; "" is the text itself."""
        return "" if chunk >= self.index.size else self.index.documents[self.index.document_of(chunk)].path

    def _note(self, question: str, rank: int, paths: Sequence[str]) -> str:
        if not rank:
            return missing_note(missing_words(self.index, question, self.document.text[self.document.body :]))
        titles = {facts.path: facts.title for facts in self.index.documents}
        ahead = [titles[path] for path in paths[: min(rank - 1, AHEAD)]]
        more = rank - 1 - len(ahead)
        if not ahead:
            return ""
        return f"behind {', '.join(ahead)} and {more} more" if more else f"behind {', '.join(ahead)}"


def headings(document: Document) -> tuple[str, ...]:
    """The headings of the second and third level, in words."""
    body = _FENCE.sub("", document.text[document.body :])
    return tuple(plain_heading(heading) for heading in _HEADING.findall(body))


def _checked(answer: str) -> str:
    """The usable lines of a model's answer: questions of a sensible length, without numbers and bullets before them."""
    lines = [re.sub(r"^\s*(?:[-*•]|\d+[.)])\s*", "", line).strip(' "“”') for line in answer.splitlines()]
    questions = [one_line(line) for line in lines if line.endswith("?") and 2 < len(line.split()) <= 25]
    if not questions:
        raise BadInput("there is no line that ends with a question mark.")
    return "\n".join(dict.fromkeys(questions[:MOST]))
