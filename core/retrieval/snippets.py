"""What a hit shows: the part of its passage around the best sentence, with the query's words marked."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from core.chunking.sentences import sentences
from core.retrieval.analysis import analyser
from core.types import LexicalOptions

WIDTH = 360  # characters

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of text; `matched` words are the query's, `best` belongs to the best sentence."""

    text: str
    matched: bool = False
    best: bool = False


@dataclass(frozen=True, slots=True)
class Snippet:
    """Segments in order, and whether text was left out before or after them."""

    segments: tuple[Segment, ...]
    cut_before: bool = False
    cut_after: bool = False


def snippet(
    text: str, query: str, options: LexicalOptions, rarity: Callable[[str], float], width: int = WIDTH
) -> Snippet:
    """The best sentence with as many neighbours as fit.

    >>> made = snippet("One thing. Keep SAR records. Other.", "sar records", LexicalOptions(), lambda term: 1.0)
    >>> [(s.text, s.matched, s.best) for s in made.segments if s.matched]
    [('SAR', True, True), ('records', True, True)]
    """
    analyse = analyser(options)
    wanted = set(analyse(query))
    found = [(a, b, wanted.intersection(terms)) for a, b, terms in analyse.words(text) if not wanted.isdisjoint(terms)]
    spans = _sentences(text)
    best = _best(spans, found, rarity)
    start, end = _window(text, spans, best, width)
    segments = _segments(text, start, end, [(a, b) for a, b, _ in found], spans[best] if best is not None else None)
    return Snippet(segments, start > 0, end < len(text))


@lru_cache(maxsize=20_000)
def _sentences(text: str) -> list[Span]:
    """Sentences, and lines: an entry of a list or a row of a table stands for itself."""
    spans, at = [], 0
    for line in text.split("\n"):
        spans += sentences(text, at, at + len(line))
        at += len(line) + 1
    return spans


def _best(
    spans: Sequence[Span], found: Sequence[tuple[int, int, set[str]]], rarity: Callable[[str], float]
) -> int | None:
    """The sentence whose query words are rarest together; the first of equals; none if no word matches."""
    terms: dict[int, set[str]] = {}
    starts = [start for start, _ in spans]
    for a, _, matched in found:
        terms.setdefault(max(0, bisect_right(starts, a) - 1), set()).update(matched)
    scores = {n: sum(rarity(term) for term in sorted(inside)) for n, inside in terms.items()}
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


def _segments(text: str, start: int, end: int, found: Sequence[Span], best: Span | None) -> tuple[Segment, ...]:
    """The window cut at every mark: plain and matched runs take turns, and the best sentence cuts them once more."""
    runs: list[tuple[int, int, bool]] = []
    at = start
    for a, b in found:
        if b <= at or a >= end:
            continue
        if a > at:
            runs.append((at, a, False))
        runs.append((max(a, at), min(b, end), True))
        at = min(b, end)
    if at < end:
        runs.append((at, end, False))
    first, last = best or (end, end)
    return tuple(
        Segment(text[x:y], matched, first <= x < last) for a, b, matched in runs for x, y in _cut(a, b, first, last)
    )


def _cut(a: int, b: int, first: int, last: int) -> list[Span]:
    edges = [a, *(edge for edge in (first, last) if a < edge < b), b]
    return list(pairwise(edges))
