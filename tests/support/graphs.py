"""Documents that name each other, and graphs made of numbers."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from core.types import Graph


def page(name: str, body: str, status: str = "approved") -> str:
    return f"---\nid: {name}\ntitle: Title {name}\nstatus: {status}\n---\n# Title {name}\n\n{body}\n"


FILES: dict[str, str | None] = {
    "a.md": page("DOC-1", "We follow the Bank Secrecy Act (BSA) that FinCEN runs. See [the other](b.md)."),
    "b.md": page("DOC-2", "Then FinCEN collects the SAR in Vienna.\n\n## More\n\nPlain words about nothing."),
    "c.md": page("DOC-3", "Later the SAR reached Zurich with 30 days to go. Also FinCEN was told."),
    "d.md": page("DOC-4", "Far away Zurich holds the Golden Ledger."),
    "e.md": page("DOC-5", "In secret FinCEN met Project Falcon.", "draft"),
}


def some_graph(size: int, edges: list[tuple[int, int]]) -> Graph:
    """Things `e0`, `e1` ... with these relations, each witnessed by one chunk of its own document."""
    pairs = sorted({(min(pair), max(pair)) for pair in edges if pair[0] != pair[1]})
    both = sorted(pairs + [(b, a) for a, b in pairs])
    naming = sorted((entity, chunk) for chunk, pair in enumerate(pairs) for entity in pair)

    def starts(rows, count):
        return np.searchsorted(np.array(rows, np.int64), np.arange(count + 1))

    keys = [f"e{n}" for n in range(size)]
    return Graph(
        keys=keys,
        labels=[key.upper() for key in keys],
        kinds=["name"] * size,
        names={key: n for n, key in enumerate(keys)},
        document_of=np.arange(len(pairs)),
        document_nodes=np.empty(0, np.int64),
        chunk_start=starts([entity for entity, _ in naming], size),
        chunks=np.array([chunk for _, chunk in naming], np.int32),
        entity_start=np.arange(0, 2 * len(pairs) + 1, 2),
        entities=np.array([entity for pair in pairs for entity in pair], np.int32),
        related_start=starts([a for a, _ in both], size),
        related=np.array([b for _, b in both], np.int32),
        weights=np.ones(len(both), np.float32),
        relations=np.zeros(len(both), np.int32),
        relation_names=[""],
        document_rank=np.empty(0),
        entity_rank=np.full(size, 1.0 / max(1, size)),
    )


RELATIONS = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=40)
