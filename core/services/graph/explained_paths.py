"""How two entities are connected, for people: each step with the passages that witness it, or why there is no path."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from core.chunking.sentences import sentences
from core.curation.text.render import plain
from core.graph.assembly import LINKS
from core.graph.communities import central_sentence
from core.graph.entities import VALUES, extract
from core.graph.paths import LONGEST, Chain, RelationNetwork, gap, shortest
from core.graph.walk import holding
from core.services.graph.view import GraphNode, Painter

if TYPE_CHECKING:
    import numpy as np

WITNESSES = 3  # passages shown for a step
_READ = 12  # passages of a step that are read to find a sentence with both names
_QUOTE = 300  # characters
_FEW = 5  # entities that a sentence names rather than counts
SHARED = 5  # documents that name both


@dataclass(frozen=True, slots=True)
class Witness:
    """A passage, where it stands, and the sentence that names both ends of a step."""

    doc: str
    title: str
    path: str
    heading: tuple[str, ...]
    start: int
    end: int
    version: int
    quote: str = ""


@dataclass(frozen=True, slots=True)
class PathStep:
    """One relation of a path. `relation` is "" for two entities that a sentence names together."""

    relation: str
    strength: float
    passages: int
    witnesses: tuple[Witness, ...]


@dataclass(frozen=True, slots=True)
class EntityPath:
    """Entities from the source to the target; `steps[n]` joins `nodes[n]` and `nodes[n + 1]`."""

    nodes: tuple[GraphNode, ...]
    steps: tuple[PathStep, ...]


@dataclass(frozen=True, slots=True)
class EntityConnection:
    """How two entities are connected: equally short paths, or a note that says why there is none."""

    source: GraphNode
    target: GraphNode
    paths: tuple[EntityPath, ...]
    note: str = ""
    shared: tuple[Witness, ...] = ()  # documents that name both, anywhere


def connect(painter: Painter, network: RelationNetwork, source: int, target: int) -> EntityConnection:
    """The paths between two visible entities."""
    chains = shortest(network, source, target)
    return EntityConnection(
        painter.entity(source),
        painter.entity(target),
        tuple(_path(painter, network, chain) for chain in chains),
        "" if chains else _why(painter, network, source, target),
        _shared(painter, source, target),
    )


def _path(painter: Painter, network: RelationNetwork, chain: Chain) -> EntityPath:
    nodes = tuple(painter.entity(entity, hop) for hop, entity in enumerate(chain))
    return EntityPath(nodes, tuple(_step(painter, network, a, b) for a, b in pairwise(chain)))


def _step(painter: Painter, network: RelationNetwork, a: int, b: int) -> PathStep:
    edge = network.relations.edges[a, b]
    chunks = _visible(painter, a, b)
    quotes = [(chunk, _sentence(painter, chunk, a, b)) for chunk in chunks[:_READ].tolist()]
    best = [(chunk, quote) for chunk, quote in quotes if quote]
    best = best or [(chunk, _central(painter, chunk, a, b)) for chunk, _ in quotes[:WITNESSES]]
    witnesses = tuple(_witness(painter, chunk, quote) for chunk, quote in best[:WITNESSES])
    relation = painter.graph.relation_names[edge["relation"]]
    if relation == LINKS and not (painter.graph.document_nodes[painter.graph.document_of[chunks]] == a).any():
        relation = "is linked from"
    return PathStep(relation, round(1 / edge["cost"], 3), edge["passages"], witnesses)


def _visible(painter: Painter, a: int, b: int) -> np.ndarray:
    """The visible passages that name both."""
    import numpy as np

    chunks = np.intersect1d(holding(painter.graph, a), holding(painter.graph, b))
    return np.asarray(chunks[painter.visible[chunks]])


def _sentence(painter: Painter, chunk: int, a: int, b: int) -> str:
    """The first sentence of a passage in which rules find both entities."""
    text = painter.index.excerpt(chunk)
    named: dict[int, set[int]] = {}
    for mention in extract(text).mentions:
        named.setdefault(mention.sentence, set()).add(painter.graph.names.get(mention.key, -1))
    spans = sentences(text)
    both = (number for number, entities in named.items() if {a, b} <= entities)
    return next((_short(text[slice(*spans[number])]) for number in both), "")


def _central(painter: Painter, chunk: int, a: int, b: int) -> str:
    """For links, tables and entities that a model found: the sentence or line that names most of the two."""
    text, labels = painter.index.excerpt(chunk), [painter.graph.labels[a], painter.graph.labels[b]]
    sentence = central_sentence([text], labels)
    if any(label.casefold() in sentence.casefold() for label in labels):
        return _short(sentence)

    def count(line: str) -> int:
        return sum(label.casefold() in line.casefold() for label in labels)

    return _short(max(plain(text).splitlines(), key=count, default=""))


def _short(sentence: str) -> str:
    """The words of a sentence without markup, as far as a quotation goes."""
    flat = " ".join(plain(sentence).split()).replace(" | ", " · ").strip("|*_ ")
    return flat if len(flat) <= _QUOTE else flat[: _QUOTE - 1] + "…"


def _witness(painter: Painter, chunk: int, quote: str = "") -> Witness:
    passage = painter.index.passage(chunk)
    facts = painter.index.documents[passage.document]
    title = facts.title or facts.path
    place = (passage.heading, passage.start, passage.end, facts.version)
    return Witness(facts.doc, title, facts.path, *place, quote)


def _shared(painter: Painter, source: int, target: int) -> tuple[Witness, ...]:
    """Documents that name both, by the first passage that names the rarer."""
    import numpy as np

    chunks = [holding(painter.graph, entity) for entity in (source, target)]
    seen = sorted((rows[painter.visible[rows]] for rows in chunks), key=len)
    rare, common = (painter.graph.document_of[rows] for rows in seen)
    documents, first = np.unique(rare, return_index=True)
    both = first[np.isin(documents, common)]
    return tuple(_witness(painter, chunk) for chunk in seen[0][both[:SHARED]].tolist())


# ---------------------------------------------------------------- no path


def _why(painter: Painter, network: RelationNetwork, source: int, target: int) -> str:
    reason = gap(network, source, target)
    if reason.alone:
        return f"There is no path: {' '.join(_alone(painter, entity) for entity in reason.alone)}"
    if reason.steps:
        return f"The shortest path has {reason.steps} steps. Paths of more than {LONGEST} say nothing about their ends."
    if reason.through:
        return f"Paths lead only through {_closed(painter, reason.through[0])}."
    first, second = (
        _circle(painter, network, entity, count) for entity, count in zip((source, target), reason.reached, strict=True)
    )
    return f"There is no path: {first}; {second}. They have none in common."


def _alone(painter: Painter, entity: int) -> str:
    label = painter.graph.labels[entity]
    if entity in painter.documents:
        return f"{label} links to no document, and none links to it."
    return f"No sentence names {label} together with another entity."


def _closed(painter: Painter, entity: int) -> str:
    """What bars a path, and why nothing passes through it."""
    label = painter.graph.labels[entity]
    if painter.graph.kinds[entity] in VALUES:
        return f"amounts or dates, such as {label}, which join what does not belong together"
    count, total = len(holding(painter.graph, entity)), len(painter.graph.document_of)
    return f"entities that join nearly everything, such as {label} (in {count:,} of {total:,} passages)"


def _circle(painter: Painter, network: RelationNetwork, entity: int, count: int) -> str:
    """What an entity is connected with, by name when they are few."""
    label, near = painter.graph.labels[entity], list(network.relations[entity])
    if count == len(near) and count <= _FEW:
        return f"{label} is connected only with {', '.join(painter.graph.labels[other] for other in near)}"
    return f"{label} is connected with {count:,} entities, directly or through others"
