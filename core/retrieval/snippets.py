"""What a hit shows: the part of its passage around the best sentence, with the query's words marked."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from core.analysis import analyser
from core.chunking.sentences import sentences
from core.types import LexicalOptions

WIDTH = 360  # characters
CACHED = 5_000  # texts

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class SnippetSegment:
    """A run of text; `matched` words are the query's, `best` belongs to the best sentence."""

    text: str
    matched: bool = False
    best: bool = False


@dataclass(frozen=True, slots=True)
class Snippet:
    """Segments in order, and whether text was left out before or after them."""

    segments: tuple[SnippetSegment, ...]
    cut_before: bool = False
    cut_after: bool = False


def snippet(
    text: str, query: str, options: LexicalOptions, rarity: Callable[[str], float], width: int = WIDTH
) -> Snippet:
    """The best sentence with as many neighbours as fit.

    >>> result = snippet("One thing. Keep SAR records. Other.", "sar records", LexicalOptions(), lambda term: 1.0)
    >>> [(s.text, s.matched, s.best) for s in result.segments if s.matched]
    [('SAR', True, True), ('records', True, True)]
    """
    layout = _layout(text, options)
    known = [term for term in _query_terms(query, options) if term in layout.places]
    best = _best(layout, known, rarity)
    start, end = _window(text, layout.sentences, best, width)
    marks = sorted({place for term in known for place in layout.places[term]})
    segments = _segments(text, start, end, marks, layout.sentences[best] if best is not None else None)
    return Snippet(segments, start > 0, end < len(text))


@dataclass(frozen=True, slots=True)
class _Layout:
    """A text prepared for any query: its sentences, the places of each term, and the sentences that hold it."""

    sentences: tuple[Span, ...]
    places: Mapping[str, Sequence[Span]]
    inside: Mapping[str, Sequence[int]]


@lru_cache(maxsize=CACHED)
def _layout(text: str, options: LexicalOptions) -> _Layout:
    """Cached: pages show the same passages for many queries."""
    spans = _sentences(text)
    starts = [start for start, _ in spans]
    places: dict[str, list[Span]] = {}
    inside: dict[str, dict[int, None]] = {}
    for a, b, terms in analyser(options).words(text):
        sentence = max(0, bisect_right(starts, a) - 1)
        for term in dict.fromkeys(terms):
            places.setdefault(term, []).append((a, b))
            inside.setdefault(term, {})[sentence] = None
    return _Layout(spans, places, {term: tuple(numbers) for term, numbers in inside.items()})


@lru_cache(maxsize=256)
def _query_terms(query: str, options: LexicalOptions) -> tuple[str, ...]:
    return tuple(sorted(set(analyser(options)(query))))


def _sentences(text: str) -> tuple[Span, ...]:
    """Sentences, cut at line ends too: a list item or a table row is one of its own."""
    spans, at = [], 0
    for line in text.split("\n"):
        spans += sentences(text, at, at + len(line))
        at += len(line) + 1
    return tuple(spans)


def _best(layout: _Layout, known: Sequence[str], rarity: Callable[[str], float]) -> int | None:
    """The sentence whose query words are rarest together; the first of equals; none if no word matches."""
    scores: dict[int, float] = {}
    for term in known:
        worth = rarity(term)
        for sentence in layout.inside[term]:
            scores[sentence] = scores.get(sentence, 0.0) + worth
    return min(scores, key=lambda n: (-scores[n], n)) if scores and max(scores.values()) > 0 else None


def _window(text: str, spans: Sequence[Span], best: int | None, width: int) -> Span:
    if len(text) <= width * 1.2 or not spans:
        return 0, len(text)
    first = last = best or 0
    while True:
        grown = [(a, b) for a, b in ((first, last + 1), (first - 1, last)) if a >= 0 and b < len(spans)]
        fitting = [(a, b) for a, b in grown if spans[b][1] - spans[a][0] <= width]
        if not fitting:
            break
        first, last = fitting[0]
    start, end = spans[first][0], spans[last][1]
    return (start, end) if end - start <= width * 1.5 else (start, _word_end(text, start + width))


def _word_end(text: str, at: int) -> int:
    space = text.rfind(" ", 0, at)
    return space if space > 0 else at


def _segments(text: str, start: int, end: int, marks: Sequence[Span], best: Span | None) -> tuple[SnippetSegment, ...]:
    """The window cut at every mark: plain and matched runs take turns, and the best sentence cuts them once more."""
    first, last = best or (end, end)
    segments: list[SnippetSegment] = []

    def run(a: int, b: int, matched: bool) -> None:
        for edge in (first, last):
            if a < edge < b:
                segments.append(SnippetSegment(text[a:edge], matched, first <= a < last))
                a = edge
        segments.append(SnippetSegment(text[a:b], matched, first <= a < last))

    at = start
    for a, b in marks:
        if b > at and a < end:
            if a > at:
                run(at, a, False)
            run(max(a, at), min(b, end), True)
            at = min(b, end)
    if at < end:
        run(at, end, False)
    return tuple(segments)
