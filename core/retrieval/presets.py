"""Named configurations to compare."""

from __future__ import annotations

import json

from core import strict
from core.retrieval.config import DEFAULT, name, parse
from core.types import SearchConfig

_PRESETS = (
    ("BM25", "bm25"),
    ("Vectors", "dense"),
    ("Convex 0.3", "convex-0.3"),
    ("TM2C2 0.5", "tm2c2-0.5"),
    ("RRF 60", "rrf-60"),
    ("Conditional rerank", '{"base": "convex-0.5", "rerank": "conditional", "tau": 0.95}'),
    ("Rerank always", "convex-0.5+rerank"),
    ("Tri-modal", "trimodal"),
    ("BM25 by DuckDB FTS", "bm25@duckdb"),
    ("Vectors by LanceDB", "dense@lancedb"),
)

# The compliance benchmark's fifteen.
_FIFTEEN = (
    ("BM25", "bm25"),
    ("Vectors", "dense"),
    ("RRF 20", "rrf-20"),
    ("RRF 60", "rrf-60"),
    ("RRF 100", "rrf-100"),
    ("RRF 60, vectors 2:1", '{"base": "rrf-60", "weights": {"bm25": 1, "dense": 2}}'),
    ("RRF 60, BM25 2:1", '{"base": "rrf-60", "weights": {"bm25": 2, "dense": 1}}'),
    ("Convex 0.3", "convex-0.3"),
    ("Convex 0.5", "convex-0.5"),
    ("Convex 0.7", "convex-0.7"),
    ("RSF", "rsf"),
    ("DBSN", "dbsn"),
    ("CombMNZ", "combmnz"),
    ("TM2C2 0.3", "tm2c2-0.3"),
    ("CombSUM", "combsum"),
)


def presets() -> dict[str, SearchConfig]:
    """What the playground offers, then the rest of the fifteen.

    >>> list(presets())[:3], presets()["Conditional rerank"].tau
    (['BM25', 'Vectors', 'Convex 0.3'], 0.95)
    """
    return {title: parse(text) for title, text in {**dict(_PRESETS), **dict(_FIFTEEN)}.items()}


def learned_alpha(model: str) -> SearchConfig:
    """Convex fusion with the alpha that a trained model predicts for each query.

    >>> learned_alpha("ridge").alpha_model
    'ridge'
    """
    return parse(json.dumps({"base": "convex-0.5", "alpha_from": "learned", "alpha_model": model}))


def fifteen() -> dict[str, SearchConfig]:
    """The compliance benchmark's configurations, in its order.

    >>> len(fifteen())
    15
    """
    return {title: parse(text) for title, text in _FIFTEEN}


def spell(config: SearchConfig) -> str:
    """The shortest text that `parse` turns back into the same configuration.

    >>> spell(parse("convex-0.3")), spell(parse('{"base": "rrf-60", "k": 5}'))
    ('convex-0.3', '{"base": "rrf-60", "k": 5}')
    """
    short = name(config)
    base = DEFAULT if short.startswith("custom-") else parse(short)
    fields, base_fields = strict.plain(config), strict.plain(base)
    changed = {key: value for key, value in fields.items() if value != base_fields[key]}
    if base is DEFAULT:
        return json.dumps(changed)
    return json.dumps({"base": short, **changed}) if changed else short
