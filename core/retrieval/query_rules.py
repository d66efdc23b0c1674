"""Other wordings of a query by reviewed synonyms, and answers pinned to questions.

A passage is scored by the wording that fits it best. A wording that nobody typed counts for less: `SHARE` for each
phrase that was replaced, and never more than the words that were typed are worth.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import log
from typing import TYPE_CHECKING, NamedTuple

from core.analysis import analyser, options_for
from core.curation.words.pins import Pin
from core.curation.words.synonyms import Synonym
from core.ports import Index, Leg, Ranking
from core.types import LexicalOptions

if TYPE_CHECKING:
    import numpy as np

SHARE = 0.8  # of its score that a wording with one other phrase keeps
MOST = 8  # other wordings of one query

Key = tuple[str, ...]


@dataclass(frozen=True)
class QueryRules:
    """What a knowledge base says about words at one commit, analysed as its index is."""

    options: LexicalOptions = field(default_factory=LexicalOptions)
    leads: Mapping[Key, tuple[str, ...]] = field(default_factory=dict)  # an analysed phrase to other phrases
    pins: Mapping[Key, Pin] = field(default_factory=dict)  # the words of a question to its pin
    longest: int = 0  # terms of a phrase
    typed: Mapping[Key, str] = field(default_factory=dict)  # an analysed phrase as the file has it


NO_RULES = QueryRules()


class Wording(NamedTuple):
    """A query in other words, and the share of its score that counts."""

    text: str
    share: float


def compile_rules(synonyms: Sequence[Synonym], pins: Sequence[Pin], options: LexicalOptions) -> QueryRules:
    """Synonyms and pins, ready for queries. Of two pins for the same words the first one counts."""
    leads: dict[Key, tuple[str, ...]] = {}
    typed: dict[Key, str] = {}
    for synonym in synonyms:
        for phrase, others in synonym.leads():
            key = tuple(analyser(options)(phrase))
            if key:
                typed.setdefault(key, phrase)
                leads[key] = tuple(dict.fromkeys((*leads.get(key, ()), *others)))
    pinned: dict[Key, Pin] = {}
    for pin in pins:
        for question in pin.questions:
            pinned.setdefault(question_key(question, options), pin)
    return QueryRules(options, leads, pinned, max(map(len, leads), default=0), typed)


def idle(synonym: Synonym, options: LexicalOptions) -> str:
    """What is wrong with a synonym that has a phrase of stop words alone; "" where nothing is.

    >>> idle(Synonym(("bank", "the")), LexicalOptions())
    "'the' has no word that is searched for. Name one that is not a stop word."
    """
    for phrase in synonym.phrases:
        if not analyser(options)(phrase):
            return f"{phrase!r} has no word that is searched for. Name one that is not a stop word."
    return ""


def question_key(text: str, options: LexicalOptions) -> Key:
    """What two wordings of one question share: the same words in any order, case and form.

    >>> question_key("How do I get a Laptop?", LexicalOptions()) == question_key("getting laptops", LexicalOptions())
    True
    """
    return tuple(sorted(set(analyser(options_for(text, options))(text))))


def pin_of(query: str, words: QueryRules) -> Pin | None:
    """The pin of a query, if somebody pinned an answer to its words."""
    return words.pins.get(question_key(query, words.options)) if words.pins else None


# ---------------------------------------------------------------- other wordings


def wordings(query: str, words: QueryRules, index: Index) -> tuple[Wording, ...]:
    """The query with phrases replaced by their synonyms: first one phrase, then two, up to `MOST` wordings."""
    if not words.leads:
        return ()
    seen, queue = {_terms(query, words)}, [(query, 0)]
    for text, replaced in queue:  # grows while it is read
        for other in _replaced(text, words):
            key = _terms(other, words)
            if key not in seen and len(queue) <= MOST:
                seen.add(key)
                queue.append((other, replaced + 1))
    typed = _worth(query, words, index)
    return tuple(
        Wording(text, SHARE**replaced * min(1.0, typed / _worth(text, words, index))) for text, replaced in queue[1:]
    )


def _terms(text: str, words: QueryRules) -> Key:
    return tuple(sorted(set(analyser(words.options)(text))))


def _replaced(text: str, words: QueryRules) -> Iterator[str]:
    """The text with one phrase replaced, longer phrases first."""
    spans = [(start, end, terms) for start, end, terms in analyser(words.options).words(text) if terms]
    for length in range(words.longest, 0, -1):
        for at in range(len(spans)):
            part = _phrase(spans[at:], length)
            others = words.leads.get(tuple(term for _, _, terms in part for term in terms), ()) if part else ()
            for other in others:
                yield f"{text[: part[0][0]]}{other}{text[part[-1][1] :]}"


def _phrase(spans: Sequence[tuple[int, int, Key]], length: int) -> Sequence[tuple[int, int, Key]]:
    """The first words that have so many terms together; none where no number of words has."""
    count = 0
    for at, (_, _, terms) in enumerate(spans, 1):
        count += len(terms)
        if count >= length:
            return spans[:at] if count == length else ()
    return ()


def _worth(text: str, words: QueryRules, index: Index) -> float:
    """How rare the words of a text are together; one that no passage holds is the rarest."""
    return sum(index.rarity(term) or log(1 + index.size) for term in _terms(text, words)) or 1.0


# ---------------------------------------------------------------- the leg


class SynonymLeg:
    """A lexical leg over several wordings: each passage has the score of the one that fits it best."""

    def __init__(self, typed: Leg, others: Sequence[tuple[Wording, Leg]]) -> None:
        self.floor, self._legs = typed.floor, [(Wording("", 1.0), typed), *others]
        own = getattr(typed, "note", "")
        also = ", ".join(f"“{wording.text}”" for wording, _ in others)
        self.note = " ".join(filter(None, (own, f"Also searched: {also}.")))

    def search(self, depth: int, allowed: np.ndarray | None) -> Ranking:
        """The best of all: whatever stands among the first of the whole does so in one of the legs."""
        found = [leg.search(depth, allowed) for _, leg in self._legs]
        union = sorted({chunk for ranking in found for chunk in ranking})
        scores = [(score, chunk) for score, chunk in zip(self.score(union), union, strict=True) if score > self.floor]
        return {chunk: score for score, chunk in sorted(scores, key=lambda pair: (-pair[0], pair[1]))[:depth]}

    def score(self, chunks: Sequence[int]) -> list[float]:
        return [score for score, _ in self._best(chunks)]

    def path(self, chunk: int) -> str:
        """In which words a passage was found, where they were not typed."""
        text = self.wording(chunk).text
        return f"found as “{text}”" if text else ""

    def wording(self, chunk: int) -> Wording:
        """The wording that a passage owes its score to; without a text it is the query itself."""
        return self._best([chunk])[0][1]

    def _best(self, chunks: Sequence[int]) -> list[tuple[float, Wording]]:
        if not chunks:
            return []
        rows = [[score * wording.share for score in leg.score(chunks)] for wording, leg in self._legs]
        columns = (list(column) for column in zip(*rows, strict=True))
        return [(max(column), self._legs[column.index(max(column))][0]) for column in columns]
