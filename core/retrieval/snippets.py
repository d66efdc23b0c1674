"""What a hit shows: the parts of its passage that speak of the query, with the query's words marked."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from core.analysis import analyser, options_for
from core.chunking.sentences import sentences
from core.curation.text.excerpts import HEADS
from core.types import LexicalOptions

WIDTH = 480  # characters
RUNS = 3  # parts that a snippet may have
CLAUSE = 400  # characters; longer sentences are cut at a comma or a semicolon
LENGTH = 0.3  # how much a long sentence loses against a short one with the same words, as in BM25
RARE = 1.5  # a power: one rare word says more than two common ones
BEFORE, AFTER = 0.5, 0.3  # what a sentence gains from the one before it and the one after it
CACHED = 5_000  # texts

_CLAUSES = re.compile(r"(?<=[.;:!?,])\s+")

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class SnippetSegment:
    """A run of text; `matched` words are the query's, `best` belongs to the best sentence."""

    text: str
    matched: bool = False
    best: bool = False


@dataclass(frozen=True, slots=True)
class Snippet:
    """Segments in order, and whether text was left out before or after them; inside, dots stand for what was left out.

    A line with tabs is a row of a table, and one that ends with a tab heads it. A line that ends with `HEADS` is a
    heading.
    """

    segments: tuple[SnippetSegment, ...]
    cut_before: bool = False
    cut_after: bool = False


def snippet(
    text: str, query: str, options: LexicalOptions, rarity: Callable[[str], float], width: int = WIDTH
) -> Snippet:
    """The sentences that hold most of the query, the best of them first, until the width is used up.

    >>> result = snippet("One thing. Keep SAR records. Other.", "sar records", LexicalOptions(), lambda term: 1.0)
    >>> [(s.text, s.matched, s.best) for s in result.segments if s.matched]
    [('SAR', True, True), ('records', True, True)]
    """
    options = options_for(query, options)
    layout = _layout(text, options)
    known = [term for term in _query_terms(query, options) if term in layout.places]
    worths = _worths(layout.inside, known, rarity)
    best = _best(layout, known, worths, rarity)
    windows = _windows(text, layout, worths, best, width)
    marks = sorted({place for term in known for place in layout.places[term]})
    segments = _joined(text, windows, marks, layout.sentences[best] if best is not None else None)
    return Snippet(segments, windows[0][0] > 0, windows[-1][1] < len(text))


def best_section(text: str, query: str, options: LexicalOptions, rarity: Callable[[str], float]) -> int | None:
    """Which heading line, from 0, is above the best sentence; None where there is none.

    >>> best_section("Day\u2063\\nAt 6.\\nNight\u2063\\nAt 22.", "by night", LexicalOptions(), lambda term: 1.0)
    1
    """
    options = options_for(query, options)
    layout = _layout(text, options)
    known = [term for term in _query_terms(query, options) if term in layout.places]
    best = _best(layout, known, _worths(layout.inside, known, rarity), rarity)
    above = [number for number, heading in enumerate(layout.below) if best is not None and heading <= best]
    return above[-1] if above else None


@dataclass(frozen=True, slots=True)
class _Layout:
    """A text prepared for any query: its sentences, the places of each term, and the sentences that hold it.

    `heads` are the sentences that head the table of a row or the section of a sentence, by number; `below` the
    sentences of each heading.
    """

    sentences: tuple[Span, ...]
    places: Mapping[str, Sequence[Span]]
    inside: Mapping[str, Sequence[int]]
    heads: Mapping[int, int]
    below: Mapping[int, Sequence[int]]


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
    numbers = {term: tuple(held) for term, held in inside.items()}
    return _Layout(spans, places, numbers, _heads(text, spans), _below(text, spans))


@lru_cache(maxsize=256)
def _query_terms(query: str, options: LexicalOptions) -> tuple[str, ...]:
    return tuple(sorted(set(analyser(options)(query))))


def _sentences(text: str) -> tuple[Span, ...]:
    """Sentences, cut at line ends too: a list item is one of its own, and so is a row of a table."""
    spans: list[Span] = []
    at = 0
    for line in text.split("\n"):
        end = at + len(line)
        if "\t" in line or line.endswith(HEADS):
            spans.append((at, end))
        else:
            spans += (part for span in sentences(text, at, end) for part in _clauses(text, *span))
        at = end + 1
    return tuple(spans)


def _clauses(text: str, start: int, end: int) -> Iterator[Span]:
    """A sentence that is too long, in parts."""
    if end - start <= CLAUSE:
        yield start, end
        return
    first = start
    for gap in _CLAUSES.finditer(text, start, end):
        if gap.end() - first >= CLAUSE / 2:
            yield first, gap.start()
            first = gap.end()
    yield first, end


def _heads(text: str, spans: Sequence[Span]) -> dict[int, int]:
    """The table head of each row, and the heading of every other sentence that has one."""
    heads: dict[int, int] = {}
    head = heading = None
    for n, (start, end) in enumerate(spans):
        if "\t" not in text[start:end]:
            head = None
        if text.endswith(HEADS, start, end):
            heading = n
            continue
        above = heading if head is None else head
        if above is not None:
            heads[n] = above
        if text.endswith("\t", start, end):
            head = n
    return heads


def _below(text: str, spans: Sequence[Span]) -> dict[int, list[int]]:
    """The sentences below each heading, up to the next one."""
    below: dict[int, list[int]] = {}
    section: list[int] = []
    for n, span in enumerate(spans):
        if text.endswith(HEADS, *span):
            section = below[n] = []
        else:
            section.append(n)
    return below


def _worths(
    inside: Mapping[str, Sequence[int]], known: Sequence[str], rarity: Callable[[str], float]
) -> dict[int, float]:
    """How rare the query's words in a sentence are together."""
    worths: dict[int, float] = {}
    for term in known:
        worth = (rarity(term) or 1.0) ** RARE  # a stop word that was asked for has no rarity
        for sentence in inside[term]:
            worths[sentence] = worths.get(sentence, 0.0) + worth
    return worths


def _best(
    layout: _Layout, known: Sequence[str], worths: Mapping[int, float], rarity: Callable[[str], float]
) -> int | None:
    """The sentence that holds most of the query together with its heading."""
    if not any(worth > 0 for worth in worths.values()):
        return None
    around = {
        term: {*held, *(n for heading in held for n in layout.below.get(heading, ()))}
        for term, held in ((term, layout.inside[term]) for term in known)
    }
    together = _worths({term: sorted(held) for term, held in around.items()}, known, rarity) if layout.below else worths
    return min(together, key=lambda n: (n in layout.below, -together[n], -worths.get(n, 0.0), n))


def _windows(text: str, layout: _Layout, worths: Mapping[int, float], best: int | None, width: int) -> list[Span]:
    """The parts of a text that are shown, in order."""
    spans = layout.sentences
    if len(text) <= width * 1.2 or not spans:
        return [(0, len(text))]
    order = range(len(spans)) if best is None else _order(spans, worths, best)
    chosen = _chosen(layout, [n for n in order if n not in layout.below] or order, width)
    runs = [[n, n] for n in sorted(chosen) if n - 1 not in chosen]
    for run in runs:
        while run[1] + 1 in chosen:
            run[1] += 1
    return [_fitting(text, spans[first][0], spans[last][1], width) for first, last in runs]


def _order(spans: Sequence[Span], worths: Mapping[int, float], best: int) -> list[int]:
    """Sentences by what they and their neighbours hold, for their length; the best one first."""
    mean = sum(end - start for start, end in spans) / len(spans)
    own = [worths.get(n, 0.0) / (1 - LENGTH + LENGTH * (end - start) / mean) for n, (start, end) in enumerate(spans)]
    around = [0.0, *own, 0.0]
    total = [own[n] + BEFORE * around[n] + AFTER * around[n + 2] for n in range(len(own))]
    return sorted(range(len(own)), key=lambda n: (n != best, -total[n], n))


def _chosen(layout: _Layout, order: Sequence[int], width: int) -> set[int]:
    """The first sentences of an order that fit, in few runs; a row brings the head of its table, and all their
    heading.
    """
    chosen: set[int] = set()
    used = 0
    for n in order:
        head = layout.heads.get(n, n)
        more = {n, head, layout.heads.get(head, head)} - chosen
        length = sum(layout.sentences[m][1] - layout.sentences[m][0] for m in more)
        if (chosen and used + length > width) or _runs(chosen | more, layout.heads) > RUNS:
            continue
        chosen |= more
        used += length
    return chosen


def _runs(chosen: set[int], heads: Mapping[int, int]) -> int:
    """How many parts the sentences make; a head belongs to its rows."""
    first = set(heads.values())
    return sum(n - 1 not in chosen and n not in first for n in chosen)


def _fitting(text: str, start: int, end: int, width: int) -> Span:
    if end - start <= width * 1.5 or "\t" in text[start:end]:
        return start, end
    space = text.rfind(" ", start + 1, start + width)
    return start, space if space > 0 else start + width


def _joined(text: str, windows: Sequence[Span], marks: Sequence[Span], best: Span | None) -> tuple[SnippetSegment, ...]:
    """The segments of the windows, with dots between two of them."""
    segments = [*_segments(text, *windows[0], marks, best)]
    for (_, before), (after, end) in pairwise(windows):
        gap = "\n…\n" if "\n" in text[before:after] else " … "
        segments.append(SnippetSegment({"\t": "\n", HEADS: "\n… "}.get(text[before - 1], gap)))
        segments += _segments(text, after, end, marks, best)
    return tuple(segments)


def _segments(text: str, start: int, end: int, marks: Sequence[Span], best: Span | None) -> Iterator[SnippetSegment]:
    """The window cut at every mark: plain and matched runs take turns, and the best sentence cuts them once more."""
    first, last = best or (end, end)

    def run(a: int, b: int, matched: bool) -> Iterator[SnippetSegment]:
        for edge in (first, last):
            if a < edge < b:
                yield SnippetSegment(text[a:edge], matched, first <= a < last)
                a = edge
        yield SnippetSegment(text[a:b], matched, first <= a < last)

    at = start
    for a, b in marks:
        if b > at and a < end:
            if a > at:
                yield from run(at, a, False)
            yield from run(max(a, at), min(b, end), True)
            at = min(b, end)
    if at < end:
        yield from run(at, end, False)
