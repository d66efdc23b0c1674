"""What a drawing of the graph needs: nodes, weighted edges, and notes on what was left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from core.graph.walk import holding, naming
from core.ports import Index
from core.types import Graph

if TYPE_CHECKING:
    import numpy as np

LIMIT = 300  # nodes that a drawing can show and a person can read
SOURCES = 5  # documents named as sources of a node


@dataclass(frozen=True, slots=True)
class GraphNode:
    """One node. `kind` is entity, document, chunk or community; `size` is PageRank, `hop` the distance from the
    start.
    """

    id: str
    label: str
    kind: str
    type: str = ""
    folder: str = ""
    size: float = 0.0
    community: int = -1
    sources: tuple[str, ...] = ()
    hop: int = 0
    rank: int = 0  # of a chunk: where it landed in the ranking
    detail: str = ""
    span: tuple[int, int] = (0, 0)  # of a chunk: where it stands in its document
    version: int = 0  # of a chunk: in which version of it


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """One edge; `label` names the relation, or how a chunk or document belongs."""

    source: str
    target: str
    weight: float = 1.0
    label: str = ""


@dataclass(frozen=True, slots=True)
class GraphView:
    """A part of the graph. `notes` say what bounded it."""

    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    notes: tuple[str, ...] = ()
    orphans: tuple[str, ...] = ()  # documents that nothing links to
    dead_ends: tuple[str, ...] = ()  # documents that link nowhere
    unconnected: tuple[str, ...] = ()  # communities that are related to no other one, and not drawn


@dataclass(frozen=True, slots=True, eq=False)
class Painter:
    """Turns numbers of an index into nodes and edges."""

    index: Index
    graph: Graph
    membership: np.ndarray
    visible: np.ndarray
    documents: Mapping[int, int] = field(default_factory=dict)  # the document of a document's own entity

    def node_id(self, entity: int) -> str:
        """What an entity is called in a view; documents by their own id."""
        document = self.documents.get(entity)
        return f"entity:{self.graph.keys[entity]}" if document is None else self.document_id(document)

    def document_id(self, document: int) -> str:
        """What a document is called in a view."""
        return f"document:{self.index.documents[document].doc}"

    def seen(self, entity: int) -> bool:
        """Whether a visible chunk names the entity."""
        return bool(self.visible[holding(self.graph, entity)].any())

    def entity(self, entity: int, hop: int = 0) -> GraphNode:
        """An entity as a node, or the document that it stands for."""
        if (document := self.documents.get(entity)) is not None:
            return self.document(document, hop)
        chunks = holding(self.graph, entity)
        homes = dict.fromkeys(self.graph.document_of[chunks[self.visible[chunks]]].tolist())
        return GraphNode(
            id=self.node_id(entity),
            label=self.graph.labels[entity],
            kind="entity",
            type=self.graph.kinds[entity],
            size=float(self.graph.entity_rank[entity]),
            community=int(self.membership[entity]),
            sources=tuple(self.index.documents[n].path for n in list(homes)[:SOURCES]),
            hop=hop,
        )

    def document(self, document: int, hop: int = 0) -> GraphNode:
        """A document as a node; its size is the PageRank among documents."""
        facts = self.index.documents[document]
        return GraphNode(
            id=self.document_id(document),
            label=facts.title or facts.path,
            kind="document",
            type=facts.doc_type,
            folder=folder(facts.path),
            size=float(self.graph.document_rank[document]),
            community=int(self.membership[self.graph.document_nodes[document]]),
            sources=(facts.path,),
            hop=hop,
        )

    def chunk(self, chunk: int, rank: int, hop: int, detail: str) -> GraphNode:
        """A passage, with its place in the ranking and the path that led to it."""
        passage = self.index.passage(chunk)
        facts = self.index.documents[passage.document]
        return GraphNode(
            id=f"chunk:{passage.id}",
            label=" › ".join((facts.title, *passage.heading)),
            kind="chunk",
            type=facts.doc_type,
            folder=folder(facts.path),
            sources=(facts.path,),
            hop=hop,
            rank=rank,
            detail=detail,
            span=(passage.start, passage.end),
            version=facts.version,
        )

    def relations(self, entities: Iterable[int]) -> list[GraphEdge]:
        """The relations among some entities, each once."""
        shown, edges = sorted(set(entities)), []
        inside = set(shown)
        for entity in shown:
            row = slice(self.graph.related_start[entity], self.graph.related_start[entity + 1])
            columns = (self.graph.related[row], self.graph.weights[row], self.graph.relations[row])
            for to, weight, name in zip(*(column.tolist() for column in columns), strict=True):
                if to in inside and entity < to:
                    label = self.graph.relation_names[name]
                    edges.append(GraphEdge(self.node_id(entity), self.node_id(to), weight, label))
        return edges

    def holds(self, chunk: int, entity: int) -> GraphEdge:
        """An entity and a passage that names it."""
        return GraphEdge(self.node_id(entity), f"chunk:{self.index.passage(chunk).id}", 1.0, "named in")

    def named_in(self, document: int) -> list[tuple[int, int]]:
        """The entities of a document with the number of its chunks that name them, the most telling first."""
        import numpy as np

        own = int(self.graph.document_nodes[document])
        chunks = self.index.chunks_of(document)
        rows = [naming(self.graph, chunk) for chunk in chunks]
        entities, counts = np.unique(np.concatenate(rows), return_counts=True) if rows else (np.empty(0), np.empty(0))
        occurrences = np.diff(self.graph.chunk_start)[entities.astype(np.int64)]
        order = np.lexsort((entities, -counts * np.log1p(len(self.graph.document_of) / np.maximum(1, occurrences))))
        pairs = zip(entities[order].tolist(), counts[order].tolist(), strict=True)
        return [(int(entity), int(count)) for entity, count in pairs if entity != own]


def folder(path: str) -> str:
    """The folder of a path.

    >>> folder("finance/tax/1099.md"), folder("a.md")
    ('finance/tax', '')
    """
    return path.rpartition("/")[0]
