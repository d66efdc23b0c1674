"""PageRank, and the graph of documents that share entities (the cascade study, stage 2c)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

DAMPING = 0.85
SHARED = 2  # entities that two documents must have in common
COMMON = 500  # an entity that more documents name joins everything to everything: it makes no edges
_BLOCK = 512  # documents compared at a time


def pagerank(start: np.ndarray, to: np.ndarray, damping: float = DAMPING) -> np.ndarray:
    """PR(d) = (1 - a) / N + a * sum of PR(n) / degree(n) over neighbours; what dangles is spread evenly.

    >>> import numpy as np
    >>> pagerank(np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1])).round(4).tolist()
    [0.2568, 0.4865, 0.2568]
    """
    import numpy as np

    size = len(start) - 1
    degree = np.diff(start)
    source = np.repeat(np.arange(size), degree)
    rank = np.full(size, 1.0 / max(1, size))
    for _ in range(100):
        share = rank / np.maximum(1, degree)
        dangling = rank[degree == 0].sum()
        arrived = np.bincount(to, share[source], minlength=size) + dangling / max(1, size)
        fresh = (1.0 - damping) / max(1, size) + damping * arrived
        moved, rank = np.abs(fresh - rank).sum(), fresh
        if moved < 1e-10:
            break
    return np.asarray(rank)


def sharing(document: np.ndarray, entity: np.ndarray, documents: int, entities: int) -> tuple[np.ndarray, np.ndarray]:
    """Documents that share at least two entities, as rows of neighbours; found by who names each entity.

    >>> import numpy as np
    >>> start, to = sharing(np.array([0, 0, 1, 1, 2]), np.array([0, 1, 0, 1, 1]), 3, 2)
    >>> start.tolist(), to.tolist()
    ([0, 1, 2, 2], [1, 0])
    """
    import numpy as np
    from scipy.sparse import csr_matrix

    names = csr_matrix((np.ones(len(entity), np.int32), (document, entity)), shape=(documents, entities))
    names.data[:] = 1
    named_by = np.asarray(names.sum(axis=0)).ravel()
    names = names[:, (named_by > 1) & (named_by <= COMMON)]
    turned, degrees, rows = names.T.tocsr(), [], []
    for first in range(0, documents, _BLOCK):
        shared = names[first : first + _BLOCK] @ turned
        shared.sort_indices()
        row = np.repeat(np.arange(shared.shape[0]), np.diff(shared.indptr))
        keep = (shared.data >= SHARED) & (row + first != shared.indices)
        degrees.append(np.bincount(row[keep], minlength=shared.shape[0]))
        rows.append(shared.indices[keep])
    start = np.concatenate(([0], np.cumsum(np.concatenate(degrees) if degrees else np.empty(0, np.int64))))
    return start.astype(np.int64), np.concatenate(rows).astype(np.int64) if rows else np.empty(0, np.int64)
