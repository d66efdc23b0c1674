"""One graph from the extracts of all chunks: aliases merged, occurrences counted, relations ordered.

A pure function of all extracts, so that an incremental build equals a full one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.graph.entities import VALUES, document_key, key
from core.graph.walk import pagerank, sharing
from core.types import Graph

if TYPE_CHECKING:
    import numpy as np

CROWD = 20  # of a sentence that names more, the rarest make relations
LINKS = "links to"


@dataclass(frozen=True, slots=True, eq=False)
class ExtractColumns:
    """The extracts of all chunks as columns; numbers point into the lists, which are sorted."""

    keys: list[str]
    labels: list[str]
    kinds: list[str]
    chunk: np.ndarray
    key: np.ndarray
    label: np.ndarray
    kind: np.ndarray
    sentence: np.ndarray
    aliases: Sequence[tuple[str, str]] = ()
    relations: Sequence[tuple[str, str, str]] = ()


@dataclass(frozen=True, slots=True)
class Named:
    """What the graph knows about a document."""

    doc: str
    path: str
    title: str


def same(aliases: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Short to long key, chains followed to their end; what could mean two things means neither.

    >>> same([("bsa", "bank secrecy act"), ("po", "purchase order"), ("po", "post office")])
    {'bsa': 'bank secrecy act'}
    """
    longs: dict[str, set[str]] = {}
    for short, long in aliases:
        longs.setdefault(short, set()).add(long)
    step = {short: next(iter(long)) for short, long in longs.items() if len(long) == 1}
    return {short: _end(step, short) for short in sorted(step)}


def _end(step: Mapping[str, str], short: str) -> str:
    seen = {short}
    while (following := step.get(short)) is not None and following not in seen:
        short = following
        seen.add(short)
    return min(seen) if following is not None else short  # a circle means its first member


def assemble(extracts: ExtractColumns, documents: Sequence[Named], document_of: np.ndarray) -> Graph:
    """The graph of a generation. `document_of` gives the document of each chunk."""
    import numpy as np

    merged = same(
        [*extracts.aliases, *((key(named.doc, "identifier"), document_key(named.path)) for named in documents)]
    )
    paths = {document_key(named.path) for named in documents}
    canonical = [merged.get(spelled, spelled) for spelled in extracts.keys]
    keys = sorted({spelled for spelled in canonical if spelled in paths or not spelled.startswith("/")} | paths)
    number = {spelled: n for n, spelled in enumerate(keys)}
    nodes = np.array([number.get(spelled, -1) for spelled in canonical], np.int64)[extracts.key]
    live = nodes >= 0
    node, chunk = nodes[live], extracts.chunk[live]
    own = np.array([number[document_key(named.path)] for named in documents], np.int64)
    size = len(document_of)
    mentioned = _distinct(node, chunk, size)
    occurrences = _distinct(
        np.concatenate((mentioned[0], own[document_of])), np.concatenate((mentioned[1], np.arange(size))), size
    )
    labels, kinds = (_most(node, column[live], spelled, len(keys)) for column, spelled in _spellings(extracts))
    for n, named in zip(own.tolist(), documents, strict=True):
        labels[n], kinds[n] = named.title or named.path, "document"
    relations = _relations(extracts, live, (node, chunk), own[document_of], occurrences[0], (number, merged))
    things = np.array([kind not in VALUES for kind in kinds], np.bool_)
    related = _related(relations[:4], np.bincount(occurrences[0], minlength=len(keys)), things, size)
    by_chunk = np.lexsort((occurrences[0], occurrences[1]))
    links = sharing(document_of[mentioned[1]], mentioned[0], len(documents), len(keys))
    return Graph(
        keys=keys,
        labels=labels,
        kinds=kinds,
        names=_names(number, merged, documents),
        document_of=document_of,
        document_nodes=own,
        chunk_start=_starts(occurrences[0], len(keys)),
        chunks=occurrences[1].astype(np.int32),
        entity_start=_starts(occurrences[1][by_chunk], size),
        entities=occurrences[0][by_chunk].astype(np.int32),
        related_start=related[0],
        related=related[1].astype(np.int32),
        weights=related[2].astype(np.float32),
        relations=related[3].astype(np.int32),
        relation_names=relations[4],
        document_rank=pagerank(*links),
        entity_rank=pagerank(related[0], related[1]),
    )


def _distinct(node: np.ndarray, chunk: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Each (entity, chunk) once, by entity and then by chunk."""
    import numpy as np

    pairs = np.unique(node.astype(np.int64) * max(1, size) + chunk)
    return pairs // max(1, size), pairs % max(1, size)


def _starts(rows: np.ndarray, size: int) -> np.ndarray:
    import numpy as np

    return np.asarray(np.searchsorted(rows, np.arange(size + 1)), np.int64)


def _spellings(extracts: ExtractColumns) -> tuple[tuple[np.ndarray, list[str]], tuple[np.ndarray, list[str]]]:
    return (extracts.label, extracts.labels), (extracts.kind, extracts.kinds)


def _most(node: np.ndarray, column: np.ndarray, spelled: list[str], size: int) -> list[str]:
    """The most frequent value of a column for each entity; of equals the first by spelling."""
    import numpy as np

    pairs, counts = np.unique(node * max(1, len(spelled)) + column, return_counts=True)
    owner, value = pairs // max(1, len(spelled)), pairs % max(1, len(spelled))
    order = np.lexsort((value, -counts, owner))
    first = np.flatnonzero(np.diff(owner[order], prepend=-1))
    best = [""] * size
    for n, v in zip(owner[order][first].tolist(), value[order][first].tolist(), strict=True):
        best[n] = spelled[v]
    return best


def _names(number: Mapping[str, int], merged: Mapping[str, str], documents: Sequence[Named]) -> dict[str, int]:
    """Every way to name an entity: keys, aliases, and titles that nothing else is called."""
    names = dict(number)
    names |= {short: number[long] for short, long in merged.items() if long in number}
    for named in documents:
        names.setdefault(key(named.title), number[document_key(named.path)])
    return names


# ---------------------------------------------------------------- relations


def _relations(
    extracts: ExtractColumns,
    live: np.ndarray,
    mentions: tuple[np.ndarray, np.ndarray],
    own: np.ndarray,
    occurrences: np.ndarray,
    numbered: tuple[Mapping[str, int], Mapping[str, str]],
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, list[str]]:
    """All pairs (a < b) with weight and the number of their relation's name. `mentions`: nodes and their chunks;
    `numbered`: the number of a node by its key, and the key that others are the same as."""
    import numpy as np

    (node, chunk), (number, merged) = mentions, numbered
    names = ["", *sorted({LINKS, *(name for _, name, _ in extracts.relations if name)})]
    place = {name: n for n, name in enumerate(names)}
    sentence = extracts.sentence[live]
    a, b = _together(node, chunk, sentence, occurrences, len(number))
    linked = np.flatnonzero(np.array([kind == "document" for kind in extracts.kinds], bool)[extracts.kind[live]])
    named = [
        (number[merged.get(x, x)], number[merged.get(y, y)], place[name])
        for x, name, y in extracts.relations
        if merged.get(x, x) in number and merged.get(y, y) in number
    ]
    more = np.array(named, np.int64).reshape(-1, 3)
    first = np.concatenate((a, own[chunk[linked]], more[:, 0]))
    second = np.concatenate((b, node[linked], more[:, 1]))
    name = np.concatenate((np.zeros(len(a), np.int64), np.full(len(linked), place[LINKS]), more[:, 2]))
    return (*_counted(first, second, name, len(number), len(names)), names)


def _together(
    node: np.ndarray, chunk: np.ndarray, sentence: np.ndarray, occurrences: np.ndarray, size: int
) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of entities that one sentence names."""
    import numpy as np

    spoken = sentence >= 0
    pairs = np.unique((chunk[spoken] * 65_536 + np.minimum(sentence[spoken], 65_535)) * max(1, size) + node[spoken])
    group, member = pairs // max(1, size), pairs % max(1, size)
    order = np.lexsort((member, np.bincount(occurrences, minlength=size)[member], group))
    group, member = group[order], member[order]
    position = np.arange(len(group)) - np.searchsorted(group, group)
    group, member = group[position < CROWD], member[position < CROWD]
    near = [(n, np.flatnonzero(group[n:] == group[:-n])) for n in range(1, min(CROWD, len(group)))]
    empty = np.empty(0, np.int64)
    a = np.concatenate([member[at] for _, at in near] or [empty])
    b = np.concatenate([member[at + n] for n, at in near] or [empty])
    return a, b


def _counted(
    first: np.ndarray, second: np.ndarray, name: np.ndarray, size: int, names: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Each pair once: how often it was seen, and the name that was given most often, if any."""
    import numpy as np

    low, high = np.minimum(first, second), np.maximum(first, second)
    apart = low != high
    triples, counts = np.unique(((low * size + high) * names + name)[apart], return_counts=True)
    pair, relation = triples // names, triples % names
    order = np.lexsort((relation, -counts * (relation > 0), pair))
    starts = np.flatnonzero(np.diff(pair[order], prepend=-1))
    weight = np.add.reduceat(counts[order], starts) if len(starts) else np.empty(0, np.int64)
    pair, relation = pair[order][starts], relation[order][starts]
    return pair // max(1, size), pair % max(1, size), weight, relation


def _related(
    relations: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray], df: np.ndarray, things: np.ndarray, size: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Both directions, the strongest first: weight times ln(1 + chunks / chunks that name the neighbour).

    Amounts and dates come last.
    """
    import numpy as np

    low, high, weight, name = relations
    source, to = np.concatenate((low, high)), np.concatenate((high, low))
    weight, name = np.concatenate((weight, weight)), np.concatenate((name, name))
    strength = weight * np.log1p(size / np.maximum(1, df[to]))
    order = np.lexsort((to, -strength, ~things[to], source))
    return _starts(source[order], len(df)), to[order], weight[order], name[order]
