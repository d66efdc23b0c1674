"""`llm`: a language model weighs the three sides of a search for each query.

The study's own result is that a language model that sees only the query does worse than fixed weights; it is here to
be compared.
"""

from __future__ import annotations

import json
import re

from core.errors import BadInput, ConcordError
from core.llm.prompt import RULE, quoted
from core.retrieval.alpha import rules
from core.retrieval.alpha.features import Seen
from core.retrieval.alpha.sides import SIDES, listed, shared
from core.retrieval.methods import AlphaSource, LegWeights, Weighers
from core.types import SearchConfig

TOLERANCE = 1e-3

SYSTEM = (
    "You weigh three ways to search a knowledge base for one query. dense: by meaning, for conceptual questions. "
    "sparse: by exact words, for numbers, identifiers, codes and finance. graph: by entities and their relations, for "
    "queries with several names. Answer only with JSON: three numbers from 0 to 1 that sum to 1, under the keys dense, "
    "sparse and graph. " + RULE
)

_OBJECT = re.compile(r"\{[^{}]*\}")


def weigh(seen: Seen, config: SearchConfig, ask: Weighers) -> LegWeights:
    """Weights by a language model; by rule, with a warning, when its answer cannot be used."""
    try:
        answer = ask.llm().complete(
            quoted("query", seen.query), purpose="weights", system=SYSTEM, max_tokens=250, temperature=0.0
        )
        weights = shared(read(answer.text), config.legs)
        return LegWeights(weights, f"{listed(weights)} from {answer.model}")
    except ConcordError as error:
        ruled = rules.weigh(seen, config, ask)
        return LegWeights(ruled.weights, ruled.note, f"The language model's weights were not used: {error}")


def read(text: str) -> tuple[float, float, float]:
    """Dense, sparse and graph from a model's answer; prose around the JSON is ignored, anything else refused.

    >>> read('Sure: {"dense": 0.5, "sparse": 0.25, "graph": 0.25}')
    (0.5, 0.25, 0.25)
    """
    objects = _OBJECT.findall(text)
    if len(objects) != 1:
        raise BadInput("the answer does not hold exactly one JSON object.")
    try:
        raw = json.loads(objects[0])
    except ValueError:
        raise BadInput("the answer is not valid JSON.") from None
    if set(raw) != set(SIDES):
        raise BadInput(f"the answer must have the keys {', '.join(SIDES)} and no others.")
    values = [raw[side] for side in SIDES]
    if not all(isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1 for value in values):
        raise BadInput("every weight must be a number from 0 to 1.")
    if abs(sum(values) - 1.0) > TOLERANCE:
        raise BadInput(f"the weights sum to {sum(values):g}, not to 1.")
    return float(values[0]), float(values[1]), float(values[2])


LLM = AlphaSource(
    name="llm",
    title="By a language model",
    about="A language model weighs meaning, words and graph for each query.",
    source="the cascade study, stage 1",
    weigh=weigh,
    asks=("llm",),
)
