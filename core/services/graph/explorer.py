"""The graph as people look at it: around a document, a query or an entity, its communities, and links."""

from __future__ import annotations

from datetime import date
from itertools import islice
from weakref import WeakKeyDictionary

from core.access import READS, Actor, use_case
from core.curation.document.links import links
from core.cures import DOCUMENTS
from core.errors import BadInput, NotFound
from core.graph.assembly import LINKS
from core.graph.communities import SMALLEST, Community
from core.graph.entities import document_key, key
from core.graph.entity_patterns import PATTERNS
from core.graph.paths import RelationNetwork, relation_network
from core.graph.walk import CANDIDATES, DEGREE, SHARED, arrived, holding, neighbours, pagerank, path, seeds, trail, walk
from core.ports import Index
from core.retrieval.legs.several_embedders import dense_leg
from core.retrieval.legs.walks import LocalLeg
from core.retrieval.pipeline import check_query
from core.services.graph.explained_paths import EntityConnection, connect
from core.services.graph.kept_communities import Communities
from core.services.graph.view import LIMIT, GraphEdge, GraphNode, GraphView, Painter, folder
from core.services.knowledge.documents import Documents
from core.services.search.searcher import Searcher
from core.types import Filters

IN_FORCE = Filters()  # approved and in effect: what search finds, and what paths are made of


class GraphExplorer:
    """Views of the serving generation's graph."""

    def __init__(self, searcher: Searcher, documents: Documents, topics: Communities) -> None:
        self.searcher, self.documents, self.topics = searcher, documents, topics
        self._networks: WeakKeyDictionary[Index, tuple[date, RelationNetwork]] = WeakKeyDictionary()

    @use_case("explore the graph", READS)
    def around_document(self, actor: Actor, name: str, hops: int = 1, limit: int = 100, profile: str = "") -> GraphView:
        """A document, what it names and links to; with two hops also documents that name the same."""
        index, painter = self._open(profile, hops, limit)
        document = _document(index, painter, name)
        own = int(painter.graph.document_nodes[document])
        weights = {entity: count for entity, count in painter.named_in(document) if painter.seen(entity)}
        linked = _linked(painter, own)[: limit // 4]
        kin = _sharing(painter, document, list(weights))[: limit // 4] if hops > 1 else []
        shown = [entity for entity in weights if entity not in linked][: max(0, limit - 1 - len(linked) - len(kin))]
        if not hops:
            linked, shown = [], []
        nodes = {own: painter.document(document)} | {n: painter.entity(n, 1) for n in (*shown, *linked)}
        nodes |= {n: painter.entity(n, 2) for n, _ in kin if n not in nodes}
        edges = [GraphEdge(painter.node_id(own), painter.node_id(n), weights[n], "names") for n in shown]
        edges += painter.relations([own, *shown, *linked])
        edges += [GraphEdge(painter.node_id(own), painter.node_id(n), count, "shares") for n, count in kin]
        notes = (f"{len(shown)} of {len(weights)} entities shown, those that few other documents name first.",)
        return GraphView(tuple(nodes.values()), _once(edges), notes)

    @use_case("explore the graph", READS)
    def around_query(
        self, actor: Actor, query: str, hops: int = 2, limit: int = 100, profile: str = "", filters: Filters = Filters()
    ) -> GraphView:
        """The entities that a query names, where relations lead from them, and the chunks that this finds."""
        query = check_query(query)
        index, painter = self._open(profile, hops, limit, filters)
        vector = self.searcher.query_vector(index.profile, query)
        leg = LocalLeg(painter.graph, dense_leg(index, vector), query, hops=hops)
        ranking = leg.search(max(1, limit // 3), painter.visible)
        reach = leg.reach or walk(painter.graph, (), None)
        wanted = [n for chunk in ranking for n in trail(reach, arrived(painter.graph, reach, chunk))]
        shown = list(dict.fromkeys((*reach.seeds, *wanted, *reach.hops)))[: max(1, limit - len(ranking))]
        nodes = [painter.entity(entity, reach.hops[entity]) for entity in shown]
        edges = painter.relations(shown)
        for rank, chunk in enumerate(ranking, 1):
            entity = arrived(painter.graph, reach, chunk)
            nodes.append(painter.chunk(chunk, rank, reach.hops[entity], path(painter.graph, reach, chunk)))
            edges.append(painter.holds(chunk, entity))
        notes = [leg.note] + [f"hop {n} adds {count} chunks" for n, count in enumerate(reach.added) if reach.seeds]
        notes.append(f"{len(shown)} of {len(reach.hops)} entities and the best {len(ranking)} chunks shown.")
        inside = {node.id for node in nodes}
        return GraphView(tuple(nodes), tuple(e for e in _once(edges) if {e.source, e.target} <= inside), tuple(notes))

    @use_case("explore the graph", READS)
    def around_entity(self, actor: Actor, name: str, hops: int = 1, limit: int = 100, profile: str = "") -> GraphView:
        """An entity and what is related to it, the strongest first."""
        _, painter = self._open(profile, hops, limit)
        start = [entity for entity in seeds(painter.graph, name) if painter.seen(entity)]
        if not start:
            raise NotFound(f"The graph has no entity {name!r}.{_alike(painter, name)}")
        reach = walk(painter.graph, start, painter.visible, hops)
        shown = list(reach.hops)[:limit]
        bounds = f"at most {DEGREE} relations of each are followed, and hops add at most {CANDIDATES:,} chunks."
        notes = (f"{len(shown)} of {len(reach.hops)} entities shown; {bounds}",)
        nodes = tuple(painter.entity(entity, reach.hops[entity]) for entity in shown)
        return GraphView(nodes, _once(painter.relations(shown)), notes)

    @use_case("explore the graph", READS)
    def path(self, actor: Actor, source: str, target: str, profile: str = "") -> EntityConnection:
        """How two entities are connected: the shortest paths with their witnesses, or why there is none."""
        index, painter = self._open(profile, 0, 1, IN_FORCE)
        first, second = (self._end(painter, name, profile) for name in (source, target))
        if first == second:
            raise BadInput(f"{source!r} and {target!r} are the same entity. Choose two different ones.")
        return connect(painter, self._network(index, painter), first, second)

    def _end(self, painter: Painter, name: str, profile: str) -> int:
        """An end of a path; one that only documents of another time name is not unknown, but no end either."""
        try:
            return _named(painter, name)
        except NotFound:
            _named(self._open(profile, 0, 1)[1], name)
            raise NotFound(
                f"Only retired, superseded or upcoming documents name {name!r}. Paths follow those in force."
            ) from None

    def _network(self, index: Index, painter: Painter) -> RelationNetwork:
        """Built once a day, since documents take effect and expire; gone with its generation."""
        cached, today = self._networks.get(index), self.searcher.clock.today()
        if cached is None or cached[0] != today:
            cached = self._networks[index] = (today, relation_network(painter.graph, painter.visible))
        return cached[1]

    @use_case("explore the graph", READS)
    def entities(
        self, actor: Actor, limit: int = 500, profile: str = "", filters: Filters = Filters(history=True)
    ) -> tuple[GraphNode, ...]:
        """Entities to start from, the largest first; documents have a view of their own."""
        import numpy as np

        _, painter = self._open(profile, 0, 1, filters)
        order = np.argsort(-painter.graph.entity_rank, kind="stable").tolist()
        named = (entity for entity in order if entity not in painter.documents and painter.seen(entity))
        return tuple(painter.entity(entity) for entity in islice(named, limit))

    @use_case("explore the graph", READS)
    def communities(self, actor: Actor, profile: str = "", limit: int = 100) -> GraphView:
        """Communities as nodes, joined by the relations between their entities."""
        import numpy as np

        index, painter = self._open(profile, 1, limit)
        shown = self.topics.all(actor, profile)[:limit]
        graph, group = painter.graph, painter.membership
        source = group[np.repeat(np.arange(len(graph.keys)), np.diff(graph.related_start))]
        target = group[graph.related]
        between = (source >= 0) & (source < target) & (target < len(shown))
        keys, inverse = np.unique(source[between] * max(1, len(shown)) + target[between], return_inverse=True)
        weights = np.bincount(inverse, graph.weights[between]) if len(keys) else np.empty(0)
        pairs = zip(keys.tolist(), weights.tolist(), strict=True)
        edges = [
            GraphEdge(f"community:{pair // len(shown)}", f"community:{pair % len(shown)}", weight)
            for pair, weight in pairs
        ]
        sizes = np.bincount(group[group >= 0], graph.entity_rank[group >= 0], minlength=len(shown))
        joined = {name for edge in edges for name in (edge.source, edge.target)}
        every = tuple(_community_node(community, float(sizes[community.number]), index) for community in shown)
        nodes = tuple(node for node in every if node.id in joined) or every
        alone = tuple(node.label for node in every if node not in nodes)
        notes = [
            f"{int(group.max(initial=-1)) + 1} communities by Leiden, modularity "
            f"{self.topics.cached(index)['modularity']:.3f}; {len(nodes)} shown. "
            f"Entities in no community of at least {SMALLEST} are left out.",
        ]
        if alone:
            notes.append(f"{len(alone)} more are related to no other community; they are listed below, not drawn.")
        return GraphView(nodes, tuple(edges), tuple(notes), unconnected=alone)

    @use_case("explore the graph", READS)
    def links(self, actor: Actor) -> GraphView:
        """Documents and the links between them; orphans and dead ends are listed."""
        import numpy as np

        documents = self.documents.all()
        number = {document.path: n for n, document in enumerate(documents)}
        count: dict[tuple[int, int], int] = {}
        broken = []
        for n, document in enumerate(documents):
            for link in links(document):
                if link.path in number and link.path != document.path:
                    count[n, number[link.path]] = count.get((n, number[link.path]), 0) + 1
                elif link.path and link.path not in number:
                    broken.append(f"{document.path}:{link.line} links to {link.path}, which does not exist.")
        pairs = sorted(count)
        start = np.searchsorted(np.array([a for a, _ in pairs], np.int64), np.arange(len(documents) + 1))
        sizes = pagerank(start, np.array([b for _, b in pairs], np.int64))
        ids = [f"document:{document.id}" for document in documents]
        nodes = tuple(
            GraphNode(ids[n], d.title, "document", d.meta.doc_type, folder(d.path), float(sizes[n]), sources=(d.path,))
            for n, d in enumerate(documents)
        )
        edges = tuple(GraphEdge(ids[a], ids[b], count[a, b], "links to") for a, b in pairs)
        entered, left = {b for _, b in pairs}, {a for a, _ in pairs}
        orphans = tuple(d.path for n, d in enumerate(documents) if n not in entered)
        dead_ends = tuple(d.path for n, d in enumerate(documents) if n not in left)
        return GraphView(nodes, edges, tuple(broken), orphans, dead_ends)

    def _open(
        self, profile: str, hops: int, limit: int, filters: Filters = Filters(history=True)
    ) -> tuple[Index, Painter]:
        import numpy as np

        if not 0 <= hops <= 2:
            raise BadInput("The number of hops must be 0, 1 or 2.")
        if not 1 <= limit <= LIMIT:
            raise BadInput(f"The limit must be between 1 and {LIMIT} nodes: more cannot be read.")
        index = self.searcher.index(profile, words=True)
        graph = index.graph()
        visible = index.allowed(filters, self.searcher.clock.today())
        membership = np.array(self.topics.cached(index)["membership"], np.int64)
        own = {int(entity): n for n, entity in enumerate(graph.document_nodes.tolist())}
        return index, Painter(index, graph, membership, np.ones(index.size, bool) if visible is None else visible, own)


def _document(index: Index, painter: Painter, name: str) -> int:
    for n, facts in enumerate(index.documents):
        if name in (facts.doc, facts.path) and painter.seen(int(painter.graph.document_nodes[n])):
            return n
    raise NotFound(f"The index holds no document {name!r}.", DOCUMENTS)


def _named(painter: Painter, name: str) -> int:
    """The one visible entity of a name: by its label, by another spelling of it, or by how its label begins."""
    graph = painter.graph
    by_rank = sorted(range(len(graph.keys)), key=lambda entity: -graph.entity_rank[entity])
    spelled = (document_key(name), key(name), *(key(name, kind) for kind in PATTERNS))
    exact = [entity for entity in by_rank if graph.labels[entity] == name]
    exact += [graph.names[spelling] for spelling in spelled if spelling in graph.names]
    if visible := [entity for entity in exact if painter.seen(entity)]:
        return visible[0]
    begun = [entity for entity in by_rank if graph.labels[entity].casefold().startswith(name.casefold())]
    begun = [entity for entity in begun if painter.seen(entity)]
    if not (name.strip() and begun):
        raise NotFound(f"The graph has no entity {name!r}.{_alike(painter, name)}")
    if len(begun) > 1:
        several = ", ".join(graph.labels[entity] for entity in begun[:5])
        raise BadInput(f"{name!r} could be one of {len(begun)} entities: {several}. Choose one.")
    return begun[0]


def _linked(painter: Painter, own: int) -> list[int]:
    """Documents that a document links to or is linked from, as entities."""
    near = (to for to, _, name in neighbours(painter.graph, own, LIMIT) if name == LINKS)
    return [to for to in near if to in painter.documents and painter.seen(to)]


def _sharing(painter: Painter, document: int, entities: list[int]) -> list[tuple[int, int]]:
    """Other documents (as entities) that name at least two of the entities, with how many."""
    import numpy as np

    count = np.zeros(len(painter.graph.document_nodes), np.int64)
    for entity in entities:
        chunks = holding(painter.graph, entity)
        count[np.unique(painter.graph.document_of[chunks[painter.visible[chunks]]])] += 1
    count[document] = 0
    order = np.lexsort((np.arange(len(count)), -count))
    return [(int(painter.graph.document_nodes[n]), int(count[n])) for n in order.tolist() if count[n] >= SHARED]


def _alike(painter: Painter, name: str) -> str:
    from rapidfuzz import process

    labels = [label for n, label in enumerate(painter.graph.labels) if painter.seen(n)]
    near = [
        str(label) for label, _, _ in process.extract(name, labels, processor=str.casefold, limit=3, score_cutoff=75)
    ]
    return f" Did you mean: {', '.join(near)}?" if near else ""


def _community_node(community: Community, size: float, index: Index) -> GraphNode:
    paths = {facts.doc: facts.path for facts in index.documents}
    return GraphNode(
        id=f"community:{community.number}",
        label="; ".join(community.entities[:3]),
        kind="community",
        type="rules" if community.by.startswith("rules") else community.by,
        size=size,
        community=community.number,
        sources=tuple(paths[doc] for doc in community.documents if doc in paths),
        detail=community.summary,
    )


def _once(edges: list[GraphEdge]) -> tuple[GraphEdge, ...]:
    """Each pair once: the first edge that was drawn between two nodes stays."""
    kept: dict[frozenset[str], GraphEdge] = {}
    for edge in edges:
        kept.setdefault(frozenset((edge.source, edge.target)), edge)
    return tuple(kept.values())
