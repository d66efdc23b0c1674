"""The list of hits: one passage of each document where documents are ranked, and copies with the best of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from core.ports import Index
from core.retrieval import document_ranking, near_copies
from core.retrieval.hits import Explainer
from core.retrieval.near_copies import LOOK
from core.types import AlsoIn, Hit, SearchConfig

MAX_DEPTH = 1000


def collect(
    explain: Explainer, order: Sequence[int], config: SearchConfig, deeper: Callable[[int], Explainer]
) -> tuple[tuple[Hit, ...], str]:
    """Replace children by their parents, each at the rank of its best child; the note counts them.

    Too few parents are filled up from `deeper` candidates, which follow in their fused order.
    """
    parents: dict[tuple[int, int, int], tuple[Explainer, int]] = {}
    _adopt(parents, explain, order)
    first, depth, known = len(parents), config.depth, -1
    children = len(order)
    while len(parents) < config.k and depth < MAX_DEPTH and known != children:
        depth, known = min(MAX_DEPTH, 4 * depth), children
        more = deeper(depth)
        children = len(more.fused.ranking)
        _adopt(parents, more, list(more.fused.ranking))
    hits = tuple(own.parent(n, chunk) for n, (own, chunk) in enumerate(list(parents.values())[: config.k], 1))
    note = f"{min(first, config.k)} parents of {len(order)} children"
    if len(hits) > first:
        note += f"; filled up with {len(hits) - first} from the first {depth} of each leg"
    return hits, note if len(hits) == config.k else f"{note}; there are no more"


def _adopt(
    parents: dict[tuple[int, int, int], tuple[Explainer, int]], explain: Explainer, order: Sequence[int]
) -> None:
    """Add each parent once, with its first child; a chunk without a parent is its own."""
    for chunk in order:
        passage = explain.index.passage(chunk)
        parents.setdefault((passage.document, *(passage.parent or (passage.start, passage.end))), (explain, chunk))


Deeper = Callable[[int], Explainer]
"""The same query with more candidates of each leg."""


class Placed(NamedTuple):
    """A chunk in its final place, who explains it, and its copies."""

    explain: Explainer
    chunk: int
    copies: tuple[int, ...] = ()

    def hit(self, rank: int) -> Hit:
        hit = self.explain.hit(rank, self.chunk)
        return replace(hit, also=_also(hit, map(self.explain.place, self.copies))) if self.copies else hit


def listed(explain: Explainer, ranked: Sequence[int], config: SearchConfig, deeper: Deeper) -> Iterator[Placed]:
    """Every candidate in its final place. Where copies leave fewer than k, deeper candidates follow in their fused
    order.
    """
    index = explain.index
    fused = all(map(explain.ranks.__contains__, ranked))  # so each stands for a document of its own
    order = ranked if fused else _order(ranked, config, index)
    maybe = index.possible_copies(order[: LOOK * config.k]) if config.collapse else {}
    if maybe is not None and not maybe:
        return (Placed(explain, chunk) for chunk in order)
    by, depth, known = dict.fromkeys(order, explain), config.depth, -1

    def score(chunk: int) -> float:
        return by[chunk].score(chunk)

    groups = grouped(order, index, config, score, maybe)
    while len(groups) < min(config.k, len(order)) and depth < MAX_DEPTH and known != len(order):
        depth, known = min(MAX_DEPTH, 4 * depth), len(order)
        more = deeper(depth)
        by = {**dict.fromkeys(more.fused.ranking, more), **by}
        order = _order(list(dict.fromkeys([*order, *more.fused.ranking])), config, index)
        groups = grouped(order, index, config, score)
    return (Placed(by[first], first, tuple(others)) for first, *others in groups)


def grouped(
    order: Sequence[int],
    index: Index,
    config: SearchConfig,
    score: Callable[[int], float],
    maybe: Mapping[int, Sequence[int]] | None = None,
) -> list[list[int]]:
    """Chunks in their order, each followed by its copies; the one that is listed for them comes first."""
    whole = (lambda chunk: _body(chunk, index)) if config.documents else None

    def approved(chunk: int) -> bool:
        return index.documents[index.document_of(chunk)].status == "approved"

    groups = near_copies.groups(order, index.excerpt, config.k, whole, maybe)
    return [near_copies.led(group, score, approved) if len(group) > 1 else group for group in groups]


def _body(chunk: int, index: Index) -> str:
    """The text of the document that a chunk stands for."""
    document = index.document_of(chunk)
    return index.text(document)[index.documents[document].body :]


def parents(
    explain: Explainer, ranked: Sequence[int], config: SearchConfig, deeper: Deeper
) -> tuple[tuple[Hit, ...], str]:
    """The parents of what was found; where copies collapse, more are collected until k are distinct or there are no
    more.
    """
    hits, said = collect(explain, ranked, config, deeper)
    if not config.collapse:
        return hits, said
    wanted, groups = config.k, _alike(hits, config.k)
    while len(groups) < config.k and len(hits) == wanted:
        wanted *= 2
        hits, said = collect(explain, ranked, replace(config, k=wanted), deeper)
        groups = _alike(hits, config.k)
    shown = groups[: config.k]
    results = tuple(
        replace(hits[first], rank=n, also=_also(hits[first], (_place(hits[other]) for other in others)))
        for n, (first, *others) in enumerate(shown, 1)
    )
    return results, "; ".join(filter(None, (said, note(sum(map(len, shown)) - len(shown)))))


def note(collapsed: int) -> str:
    """How many candidates are named with others.

    >>> note(2), note(0)
    ('2 copies named with the best', '')
    """
    return f"{collapsed} {'copy' if collapsed == 1 else 'copies'} named with the best" if collapsed else ""


def _order(ranked: Sequence[int], config: SearchConfig, index: Index) -> Sequence[int]:
    return document_ranking.once(ranked, index) if config.documents else ranked


def _alike(hits: Sequence[Hit], k: int) -> list[list[int]]:
    """Hits with their copies, by their places."""
    groups = near_copies.groups(range(len(hits)), lambda n: hits[n].text, k)
    return [near_copies.led(group, lambda n: hits[n].score, lambda n: hits[n].status == "approved") for group in groups]


def _also(hit: Hit | AlsoIn, others: Iterable[AlsoIn]) -> tuple[AlsoIn, ...]:
    """Other documents that hold a text, each once; a document that says it twice does not name itself.

    >>> hit = AlsoIn("F-1", "fin/ctr.md", "Reports", (), "c1", 0, 9, 1)
    >>> [other.doc for other in _also(hit, [replace(hit, start=30), replace(hit, doc="F-2"), replace(hit, doc="F-2")])]
    ['F-2']
    """
    first: dict[str, AlsoIn] = {}
    for other in others:
        if other.doc != hit.doc:
            first.setdefault(other.doc, other)
    return tuple(first.values())


def _place(hit: Hit) -> AlsoIn:
    return AlsoIn(hit.doc, hit.path, hit.title, hit.heading, hit.chunk, hit.start, hit.end, hit.version)
