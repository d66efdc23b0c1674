"""Did you mean: a word that no document uses, replaced by the nearest ones that documents do use. Never searched for
unasked.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from core.analysis import analyser, fold
from core.curation.text.markup import blanked
from core.ports import Index

if TYPE_CHECKING:
    import numpy as np

SHORTEST = 4  # letters of a word that can be misspelt
SURE = 6  # letters from which on another first letter is a slip; a shorter word is another word ("best", "test")
LONG = 8  # letters from which on two edits are forgiven
MOST = 3  # suggestions
TOLD = 3  # letters of a word whose absence is worth telling
_WORD = re.compile(rf"[^\W\d_]{{{SHORTEST},}}")


@dataclass(frozen=True, slots=True)
class UnknownWord:
    """A word of a query that no document uses, and where it stands."""

    start: int
    end: int
    text: str


class Speller:
    """The words of the documents that may be found, with how often they stand there; collected at first need."""

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[Index, tuple[bytes, Mapping[str, int]]] = WeakKeyDictionary()

    def words(self, index: Index, allowed: np.ndarray | None) -> Mapping[str, int]:
        """Once per generation, and again when other documents may be found."""
        mask = b"" if allowed is None else allowed.tobytes()
        known = self._known.get(index)
        if known is None or known[0] != mask:
            counts = Counter(word for text in _texts(index, allowed) for word in _WORD.findall(text))
            known = self._known[index] = (mask, counts)
        return known[1]

    def missing(self, query: str, also: Sequence[str], index: Index, allowed: np.ndarray | None) -> tuple[str, ...]:
        """The words of a query that no document uses: neither a near spelling of them, nor what another wording has in
        their place."""
        unknown = [word.text for word in unknown_words(query, index, TOLD)[0]]
        kept = [word for word in unknown if all(word.casefold() in other.casefold() for other in also)]
        known = self.words(index, allowed) if kept else {}
        return tuple(dict.fromkeys(word for word in kept if len(word) < SHORTEST or not nearest(word, known)))

    def suggestions(
        self, query: str, unknown: Sequence[UnknownWord], index: Index, allowed: np.ndarray | None
    ) -> tuple[str, ...]:
        """The query with its unknown words replaced: first each by its nearest, then other choices for one of them."""
        words = self.words(index, allowed)
        choices = [nearest(word.text, words) for word in unknown]
        if not any(choices):
            return ()
        best = [own[0] if own else "" for own in choices]
        made = [_spelt(query, unknown, best)]
        for at, own in enumerate(choices):
            made += [_spelt(query, unknown, [*best[:at], other, *best[at + 1 :]]) for other in own[1:]]
        return tuple(dict.fromkeys(made))[:MOST]


def absence(missing: Sequence[str]) -> str:
    """What is missing, in words.

    >>> absence(["visa"]), absence(["visa", "embassy", "consul"]), absence([])
    ('No document mentions “visa”.', 'No document mentions “visa”, “embassy” or “consul”.', '')
    """
    *others, last = (f"“{word}”" for word in missing or [""])
    named = f"{', '.join(others)} or {last}" if others else last
    return f"No document mentions {named}." if missing else ""


def unknown_words(query: str, index: Index, shortest: int = SHORTEST) -> tuple[list[UnknownWord], int]:
    """The words of a query that no document uses, and how many words count."""
    words = [(start, end, terms) for start, end, terms in analyser(index.profile.lexical).words(query) if terms]
    unknown = [
        UnknownWord(start, end, query[start:end])
        for start, end, terms in words
        if end - start >= shortest
        and query[start:end].isalpha()
        and not any(term in index.vocabulary for term in terms)
    ]
    return unknown, len(words)


def nearest(typed: str, words: Mapping[str, int]) -> list[str]:
    """Known words near a typed one: fewest edits first, then the most frequent.

    >>> nearest("chargback", {"chargeback": 7, "chargebacks": 9, "charge": 50})
    ['chargeback', 'chargebacks']
    >>> nearest("best", {"test": 40, "rest": 9}), nearest("tset", {"test": 40, "rest": 9})
    ([], ['test'])
    """
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    edits, asked = 2 if len(typed) >= LONG else 1, fold(typed)
    known = words if len(typed) >= SURE else [word for word in words if word[:1] == asked[:1]]
    near = process.extract(asked, list(known), scorer=OSA.distance, score_cutoff=edits, limit=None)
    return [word for word, _, _ in sorted(near, key=lambda one: (one[1], -words[one[0]], one[0]))[:MOST]]


def _texts(index: Index, allowed: np.ndarray | None) -> Iterator[str]:
    """Title and text of each document that may be found, in lower case."""
    for number, facts in enumerate(index.documents):
        chunks = index.chunks_of(number)
        if chunks and (allowed is None or allowed[chunks[0]]):
            yield f"{facts.title}\n{blanked(index.text(number)[facts.body :])}".lower()


def _spelt(query: str, unknown: Sequence[UnknownWord], words: Sequence[str]) -> str:
    for word, better in reversed(list(zip(unknown, words, strict=True))):
        query = query[: word.start] + (better or word.text) + query[word.end :]
    return query
