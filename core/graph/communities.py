"""Communities of entities: found by Leiden, summarised by rules or by a model, searched by their summaries.

Leiden optimises modularity and guarantees connected communities (Traag et al. 2019; the thesis, equation 4).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.chunking.sentences import sentences
from core.errors import BadInput, Unavailable
from core.graph.entities import VALUES
from core.graph.walk import holding
from core.llm.asking import ModelTask, ask
from core.llm.prompt import RULE, quoted
from core.llm.usable import grounded, prose
from core.ports import Llm
from core.types import Graph

if TYPE_CHECKING:
    import numpy as np

VERSION = 3  # caches are named by it: raise it when the same graph would give other communities
SEED = 1
SMALLEST = 3  # entities; fewer are no community
MOST = 200  # communities that are summarised, the largest first
SHOWN = 8  # entities and documents that a summary names
_ITERATIONS = 5  # of one run of Leiden; ten gain less than 0.001 of modularity
_TRIALS = 5  # independent runs, of which the best counts: one alone loses up to 0.003 of modularity

_SYSTEM = (
    "You describe one topic of a knowledge base for people who look for an overview: two to four plain sentences, no "
    "list, no heading, only what the material says. " + RULE
)


@dataclass(frozen=True, slots=True)
class Community:
    """Entities that belong together, what they are about, and the documents that name most of them."""

    number: int
    size: int
    entities: tuple[str, ...]
    documents: tuple[str, ...]
    summary: str
    by: str = "rules"


def detect(graph: Graph, visible: np.ndarray, seed: int = SEED) -> np.ndarray:
    """The community of each visible entity: 0 is the largest, -1 means none."""
    import numpy as np

    edges, weights = _edges(graph)
    return _by_size(np.where(visible, _leiden(len(graph.keys), edges, weights, seed), -1))


def _edges(graph: Graph) -> tuple[np.ndarray, np.ndarray]:
    """Relations between things, each once, with weights; amounts and dates would join what does not belong together."""
    import numpy as np

    source = np.repeat(np.arange(len(graph.keys)), np.diff(graph.related_start))
    value = np.array([kind in VALUES for kind in graph.kinds], np.bool_)
    once = (source < graph.related) & ~value[source] & ~value[graph.related]
    return np.stack([source[once], graph.related[once]], axis=1), graph.weights[once]


def _leiden(size: int, edges: np.ndarray, weights: np.ndarray, seed: int) -> np.ndarray:
    """A label per entity. The adjacency matrix is sorted, so the same relations give the same labels in any process."""
    import numpy as np
    from graspologic_native import leiden_csr  # type: ignore[attr-defined]  # its stub leaves it out
    from scipy.sparse import coo_array

    labels = size + np.arange(size)  # an entity without relations is alone
    if not len(edges):
        return labels
    upper = coo_array((weights.astype(np.float64), (edges[:, 0], edges[:, 1])), shape=(size, size))
    matrix = (upper + upper.T).tocsr()
    matrix.sort_indices()
    _, communities = leiden_csr(
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int32),
        matrix.data,
        size,
        iterations=_ITERATIONS,
        trials=_TRIALS,
        seed=seed,
    )
    labels[list(communities)] = list(communities.values())
    return labels


def _by_size(raw: np.ndarray) -> np.ndarray:
    """Numbers by size, of equals by the first member; what is too small is -1.

    >>> import numpy as np
    >>> _by_size(np.array([7, 5, 5, 5, 7, 5, 7, 9])).tolist()
    [1, 0, 0, 0, 1, 0, 1, -1]
    >>> _by_size(np.array([-1, -1, -1, 4, 4, 4])).tolist()
    [-1, -1, -1, 0, 0, 0]
    """
    import numpy as np

    names, first, inverse, counts = np.unique(raw, return_index=True, return_inverse=True, return_counts=True)
    counts[names < 0] = 0
    order = np.lexsort((first, -counts))
    number = np.empty(len(names), np.int64)
    number[order] = np.arange(len(names))
    return np.asarray(np.where(counts[inverse] >= SMALLEST, number[inverse], -1))


def modularity(graph: Graph, membership: np.ndarray) -> float:
    """How much denser communities are than chance, from -0.5 to 1; entities without one count as one each."""
    import networkx

    edges, weights = _edges(graph)
    if not len(edges):
        return 0.0
    network = networkx.Graph()
    network.add_nodes_from(range(len(membership)))
    network.add_weighted_edges_from(zip(*edges.T.tolist(), weights.tolist(), strict=True))
    groups: dict[int, set[int]] = {}
    for entity, number in enumerate(membership.tolist()):
        groups.setdefault(number if number >= 0 else ~entity, set()).add(entity)
    return float(networkx.community.modularity(network, groups.values()))


# ---------------------------------------------------------------- what a community is about


@dataclass(frozen=True, slots=True)
class Material:
    """What a summary is made from: entities and documents by weight, and the chunks that name most."""

    entities: tuple[int, ...]
    documents: tuple[int, ...]
    chunks: tuple[int, ...]


def material(graph: Graph, members: np.ndarray, visible: np.ndarray) -> Material:
    """The most central entities of a community, and the visible chunks and documents where they stand."""
    import numpy as np

    order = members[np.lexsort((members, -graph.entity_rank[members]))]
    rows = [holding(graph, entity) for entity in members.tolist()]
    gain = np.repeat(graph.entity_rank[members], [len(row) for row in rows])
    chunks = np.bincount(np.concatenate(rows), gain, minlength=len(graph.document_of)) * visible
    documents = np.bincount(graph.document_of, chunks, minlength=len(graph.document_nodes))
    best, homes = (np.lexsort((np.arange(len(values)), -values)) for values in (chunks, documents))
    return Material(
        tuple(order[:SHOWN].tolist()),
        tuple(n for n in homes[:SHOWN].tolist() if documents[n] > 0),
        tuple(n for n in best[:3].tolist() if chunks[n] > 0),
    )


def central_sentence(passages: Sequence[str], labels: Sequence[str]) -> str:
    """The sentence that names most of the labels; of equals the first. Tables, headings and code are no sentences.

    >>> central_sentence(["# SAR\\n\\nCall HR. The BSA Officer files the SAR with FinCEN."], ["SAR", "FinCEN"])
    'The BSA Officer files the SAR with FinCEN.'
    """
    spans = [passage[a:b] for passage in passages for a, b in sentences(passage)]
    prose = [" ".join(span.split()) for span in spans if not span.startswith(("|", "#", "`", "<"))]

    def count(sentence: str) -> int:
        return sum(label.casefold() in sentence.casefold() for label in labels)

    return re.sub(r"^(?:[-*+>]|\d{1,3}[.)])\s+", "", max(prose, key=count, default=""))


def by_rules(labels: Sequence[str], titles: Sequence[str], passages: Sequence[str]) -> str:
    """A summary without a model: entities, documents, and the most central sentence.

    >>> by_rules(["SAR", "FinCEN"], ["Suspicious activity reports"], ["Call us. File the SAR with FinCEN."])
    'SAR; FinCEN. In: Suspicious activity reports. “File the SAR with FinCEN.”'
    """
    sentence = central_sentence(passages, labels)[:300]
    return f"{'; '.join(labels)}. In: {'; '.join(titles)}." + (f" “{sentence}”" if sentence else "")


def by_model(llm: Llm, labels: Sequence[str], titles: Sequence[str], passages: Sequence[str]) -> tuple[str, str]:
    """A summary and who made it; by rules, with the reason, when the model's answer cannot be used."""
    try:
        text, answer = ask(llm, task(labels, titles, passages))
    except Unavailable as error:
        return by_rules(labels, titles, passages), f"rules: {error}"
    return text, answer.model


def task(labels: Sequence[str], titles: Sequence[str], passages: Sequence[str]) -> ModelTask[str]:
    """What a model is asked about a community; names and numbers of its answer must stand in the material."""
    rows = [f"Entities: {'; '.join(labels)}", f"Documents: {'; '.join(titles)}", *passages]
    prompt = quoted("material", "\n\n".join(rows)) + "\nWhat is this topic about?"

    def read(answer: str) -> str:
        text = grounded(prose(answer)[:1200], *rows)
        if not any(label.casefold() in text.casefold() for label in (*labels, *titles)):
            raise BadInput("it names none of the entities and documents")
        return text

    return ModelTask("community summary", prompt, read, _SYSTEM, 220, temperature=0.2)
