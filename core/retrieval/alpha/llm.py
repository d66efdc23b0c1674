"""`llm`: a language model weighs the three sides of a search for each query.

The study's own result is that a language model that sees only the query does worse than fixed weights; it is here to
be compared.
"""

from __future__ import annotations

import re

from core.errors import BadInput, ConcordError
from core.llm.asking import ModelTask, ask
from core.llm.prompt import RULE, quoted
from core.llm.usable import json_value, schema_of
from core.retrieval.alpha import rules
from core.retrieval.alpha.rules import SIDES, listed, shared
from core.retrieval.method_values import LegScores
from core.retrieval.methods import AlphaSource, AlphaTools, LegWeights
from core.types import SearchConfig

TOLERANCE = 0.1  # how far the sum may be from 1: models do not add up well

SYSTEM = (
    "You weigh three ways to search a knowledge base for one query. dense: by meaning, for conceptual questions. "
    "sparse: by exact words, for numbers, identifiers, codes and finance. graph: by entities and their relations, for "
    "queries with several names. Answer only with JSON: three numbers from 0 to 1 that sum to 1, under the keys dense, "
    "sparse and graph. " + RULE
)

MAX_TOKENS = 60
_SHARE = {"type": "number", "minimum": 0, "maximum": 1}
_SCHEMA = schema_of(dense=_SHARE, sparse=_SHARE, graph=_SHARE)


def task(query: str) -> ModelTask[tuple[float, float, float]]:
    """What a model is asked about a query."""
    return ModelTask("weights", quoted("query", query), read, SYSTEM, MAX_TOKENS, schema=_SCHEMA)


def weigh(seen: LegScores, config: SearchConfig, weighers: AlphaTools) -> LegWeights:
    """Weights by a language model; by rule, with a warning, when its answer cannot be used."""
    try:
        sides, answer = ask(weighers.llm(), task(seen.query))
        weights = shared(sides, config.legs)
        return LegWeights(weights, f"{listed(weights)} from {answer.model}")
    except ConcordError as error:
        ruled = rules.weigh(seen, config, weighers)
        return LegWeights(ruled.weights, ruled.note, f"The language model's weights were not used: {error}")


def read(text: str) -> tuple[float, float, float]:
    """Dense, sparse and graph from a model's answer: shares or percent, scaled to a sum of 1; anything else is refused.

    >>> read('Sure: {"dense": "50%", "sparse": 24, "graph": 25,}')
    (0.5051, 0.2424, 0.2525)
    """
    raw = json_value(text, dict)
    if set(raw) != set(SIDES):
        raise BadInput(f"it must have the keys {', '.join(SIDES)} and no others")
    values = [_number(raw[side]) for side in SIDES]
    total = sum(values)
    if not (abs(total - 1.0) <= TOLERANCE or abs(total / 100 - 1.0) <= TOLERANCE):
        raise BadInput(f"its weights sum to {total:g}, not to 1")
    if max(values) - min(values) < 0.02 * total:
        raise BadInput("equal weights say nothing about the query")
    dense, sparse, graph = (round(value / total, 4) for value in values)
    return dense, sparse, graph


def _number(value: object) -> float:
    """A weight as models write it."""
    text = str(value).strip().rstrip("%")
    if isinstance(value, bool) or not re.fullmatch(r"\d+(\.\d+)?|\.\d+", text):
        raise BadInput("every weight must be a number from 0 to 1")
    return float(text)


LLM = AlphaSource(
    name="llm",
    title="By a language model",
    about="A language model weighs meaning, words and graph for each query.",
    source="the cascade study, stage 1",
    weigh=weigh,
    asks=("llm",),
)
