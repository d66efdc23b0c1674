"""One analyser for documents and queries. Identifiers survive whole and in parts; only words are stemmed.

Compliance text lives on identifiers: `31 CFR 1020.320(d)`, `CU*BASE`, `FIN-POL-001`, `v2.13.0`, `C++`.
Each becomes a term of its own, so that it can be found exactly, and its parts, so that it can be found roughly.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, lru_cache

from core.errors import one_of
from core.types import LexicalOptions

STEMMERS = ("porter", "english", "none")
STOPWORDS = {
    "none": frozenset[str](),
    "english": frozenset(
        [
            "a",
            "about",
            "above",
            "after",
            "again",
            "all",
            "also",
            "am",
            "an",
            "and",
            "any",
            "are",
            "as",
            "at",
            "be",
            "because",
            "been",
            "before",
            "being",
            "below",
            "between",
            "both",
            "but",
            "by",
            "can",
            "could",
            "did",
            "do",
            "does",
            "doing",
            "down",
            "during",
            "each",
            "few",
            "for",
            "from",
            "further",
            "had",
            "has",
            "have",
            "having",
            "he",
            "her",
            "here",
            "hers",
            "him",
            "his",
            "how",
            "i",
            "if",
            "in",
            "into",
            "is",
            "it",
            "its",
            "itself",
            "just",
            "me",
            "more",
            "most",
            "my",
            "no",
            "nor",
            "not",
            "of",
            "off",
            "on",
            "once",
            "only",
            "or",
            "other",
            "our",
            "out",
            "over",
            "own",
            "same",
            "she",
            "should",
            "so",
            "some",
            "such",
            "than",
            "that",
            "the",
            "their",
            "them",
            "then",
            "there",
            "these",
            "they",
            "this",
            "those",
            "through",
            "to",
            "too",
            "under",
            "until",
            "up",
            "very",
            "was",
            "we",
            "were",
            "what",
            "when",
            "where",
            "which",
            "while",
            "who",
            "whom",
            "why",
            "will",
            "with",
            "would",
            "you",
            "your",
        ]
    ),
}

_SURFACE = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?%?|[^\W_]+(?:(?:['’]|[-–_./*&@:+#§]+|\()[^\W_]+\)?)*[+#%]*")
_DECOMPOSED = re.compile(_SURFACE.pattern.replace(r"[^\W_]", r"(?:[^\W_][\u0300-\u036f]*)"))
_PARTS = re.compile(r"[^\W_]+")
_POSSESSIVE = re.compile(r"['’]s?$", re.IGNORECASE)
_SILENT = re.compile(r"(?<=[^\W\d_])['’](?=[^\W\d_])|(?<=\d),(?=\d{3})")


def analyser(options: LexicalOptions) -> Analyser:
    """The function from text to terms for these options.

    >>> analyser(LexicalOptions())("Filing CTRs under 31 CFR 1020.320(d)")
    ['file', 'ctr', '31', 'cfr', '1020.320(d)', '1020', '320', 'd']
    >>> analyser(LexicalOptions())("the café's C++ and CU*BASE, v2.13.0, $10,000 by e-mail")
    ['cafe', 'c++', 'c', 'cu*base', 'cu', 'base', 'v2.13.0', 'v2', '13', '0', '10000', 'email', 'e', 'mail']
    """
    one_of(options.stemmer, STEMMERS, "stemmer")
    one_of(options.stopwords, STOPWORDS, "stop word list", "Lists")
    return _analyser(options.stemmer, options.stopwords)


@lru_cache(maxsize=1024)
def options_for(query: str, options: LexicalOptions) -> LexicalOptions:
    """The options, with stop words kept where a query holds nothing else.

    >>> options_for("who we are", LexicalOptions()).stopwords
    'none'
    >>> options_for("who pays", LexicalOptions()).stopwords, options_for("?", LexicalOptions()).stopwords
    ('english', 'english')
    """
    every = replace(options, stopwords="none")
    return every if not analyser(options)(query) and analyser(every)(query) else options


class Analyser:
    """Text to terms, with a cache of surface forms."""

    def __init__(self, stemmer: str, stopwords: str) -> None:
        stem, stops = _stem(stemmer), STOPWORDS[stopwords]
        self._terms = lru_cache(maxsize=500_000)(lambda surface: tuple(_terms(surface, stem, stops)))

    def __call__(self, text: str) -> list[str]:
        return [term for surface in _surfaces(text).findall(text) for term in self._terms(surface)]

    def words(self, text: str) -> Iterator[tuple[int, int, tuple[str, ...]]]:
        """The span and terms of each word."""
        return ((*match.span(), self._terms(match.group())) for match in _surfaces(text).finditer(text))


@cache
def _analyser(stemmer: str, stopwords: str) -> Analyser:
    return Analyser(stemmer, stopwords)


def _surfaces(text: str) -> re.Pattern[str]:
    """The word pattern; combining accents belong to the letter before them."""
    composed = text.isascii() or unicodedata.is_normalized("NFC", text)
    return _SURFACE if composed else _DECOMPOSED


def _stem(name: str) -> Callable[[str], str]:
    if name == "none":
        return str
    import Stemmer

    stemmer = Stemmer.Stemmer(name)
    return lambda word: stemmer.stemWord(word)


def _terms(surface: str, stem: Callable[[str], str], stops: frozenset[str]) -> Iterator[str]:
    """The terms of one surface form: a stemmed word, or an identifier followed by its parts."""
    word = fold(_SILENT.sub("", _POSSESSIVE.sub("", surface)))
    parts = _PARTS.findall(word)
    if parts == [word]:
        if word not in stops or _is_acronym(surface):
            yield _stemmed(word, stem)
        return
    joined = word.replace("-", "")
    yield _stemmed(joined, stem) if joined.isalpha() else word  # e-mail is email, but 10-4 is not 104
    for part in parts:
        if part not in stops or len(parts) == 1:
            yield _stemmed(part, stem)


def _stemmed(word: str, stem: Callable[[str], str]) -> str:
    return (stem(word) or word) if word.isalpha() else word


def _is_acronym(surface: str) -> bool:
    """`IT` and `WHO` are names, not stop words."""
    return len(surface) > 1 and surface.isupper() and surface.isalpha()


def fold(text: str) -> str:
    """Lower case without accents.

    >>> fold("Café ÉTÉ")
    'cafe ete'
    """
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return "".join(c for c in decomposed if not unicodedata.combining(c))
