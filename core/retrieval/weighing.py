"""Weights for one query: from a trained model, from a language model, or by rule (cascade study, stage 1).

The study's own result is that a language model that sees only the query does worse than fixed weights; it is here to
be compared.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.errors import BadInput, ConcordError, Unavailable
from core.llm.prompt import RULE, quoted
from core.ports import Llm
from core.retrieval.alpha import AlphaModels, check_purpose
from core.retrieval.features import Seen
from core.types import SearchConfig

if TYPE_CHECKING:
    import numpy as np

SIDES = ("dense", "sparse", "graph")
NUMERIC = (0.30, 0.55, 0.15)  # dense, sparse, graph: exact terms decide
OTHER = (0.55, 0.30, 0.15)
TOLERANCE = 1e-3

SYSTEM = (
    "You weigh three ways to search a knowledge base for one query. dense: by meaning, for conceptual questions. "
    "sparse: by exact words, for numbers, identifiers, codes and finance. graph: by entities and their relations, for "
    "queries with several names. Answer only with JSON: three numbers from 0 to 1 that sum to 1, under the keys dense, "
    "sparse and graph. " + RULE
)

_NUMERIC = re.compile(
    r"\d|[$€£%§]|\b(?:accounts?|apr|apy|assets?|balances?|banks?|bonds?|budgets?|cash|credit|currency|debit|debts?|"
    r"deposits?|dividends?|dollars?|equity|fees?|finance|financial|funds?|interest|invest\w*|invoices?|ira|loans?|"
    r"mortgages?|pay|payments?|payroll|prices?|profits?|revenues?|salary|shares?|stocks?|tax|taxes|wires?)\b",
    re.IGNORECASE,
)
_OBJECT = re.compile(r"\{[^{}]*\}")


@dataclass(frozen=True, slots=True)
class Balance:
    """The weight of every leg for one query, where it came from, and what went wrong on the way."""

    weights: Mapping[str, float]
    note: str
    warning: str = ""


@dataclass(frozen=True, slots=True)
class Weighers:
    """Who can be asked for weights: trained models, a language model, and an embedder for those who need vectors."""

    models: AlphaModels | None
    llm: Callable[[], Llm]
    embed: Callable[[str], np.ndarray]
    profile: str


def balance(seen: Seen, config: SearchConfig, ask: Weighers) -> Balance:
    """The weights of the configured source."""
    return SOURCES[config.alpha_from](seen, config, ask)


def _learned(seen: Seen, config: SearchConfig, ask: Weighers) -> Balance:
    if ask.models is None:
        raise Unavailable("there is no place for alpha models here.")
    if not seen.dense and not seen.bm25:
        raise Unavailable("no leg found anything to predict from.")
    model = ask.models.model(config.alpha_model)
    check_purpose(model, config, ask.profile)
    alpha = ask.models.predictor(config.alpha_model)(seen, ask.embed)
    weights = {leg: alpha if leg == "dense" else 1.0 - alpha for leg in config.legs}
    return Balance(weights, f"alpha {alpha:.2f} from {model.name}")


def _asked(seen: Seen, config: SearchConfig, ask: Weighers) -> Balance:
    try:
        answer = ask.llm().complete(
            quoted("query", seen.query),
            purpose="weights",
            system=SYSTEM,
            max_tokens=250,
            temperature=0.0,
        )
        weights = shared(read(answer.text), config.legs)
        return Balance(weights, f"{_listed(weights)} from {answer.model}")
    except ConcordError as error:
        ruled = _ruled(seen, config, ask)
        return Balance(ruled.weights, ruled.note, f"The language model's weights were not used: {error}")


def _ruled(seen: Seen, config: SearchConfig, ask: Weighers) -> Balance:
    weights = shared(rule(seen.query), config.legs)
    return Balance(weights, f"{_listed(weights)} by rule")


SOURCES: Mapping[str, Callable[[Seen, SearchConfig, Weighers], Balance]] = {
    "learned": _learned,
    "llm": _asked,
    "rules": _ruled,
}


def rule(query: str) -> tuple[float, float, float]:
    """Dense, sparse and graph: exact words count more where the query is about money or holds a number.

    >>> rule("wire fee over $10,000"), rule("why do reviews matter")
    ((0.3, 0.55, 0.15), (0.55, 0.3, 0.15))
    """
    return NUMERIC if _NUMERIC.search(query) else OTHER


def read(text: str) -> tuple[float, float, float]:
    """Dense, sparse and graph from a model's answer; prose around the JSON is ignored, anything else refused.

    >>> read('Sure: {"dense": 0.5, "sparse": 0.25, "graph": 0.25}')
    (0.5, 0.25, 0.25)
    """
    found = _OBJECT.findall(text)
    if len(found) != 1:
        raise BadInput("the answer does not hold exactly one JSON object.")
    try:
        raw = json.loads(found[0])
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


def side(leg: str) -> str:
    """Which of the three a leg belongs to.

    >>> side("bm25"), side("dense"), side("graph")
    ('sparse', 'dense', 'graph')
    """
    if leg in ("bm25", "tfidf", "sparse"):
        return "sparse"
    return "dense" if leg.startswith("dense") or leg == "hyde" else "graph"


def shared(weights: Sequence[float], legs: Sequence[str]) -> dict[str, float]:
    """Weights of the three sides as weights of the legs there are: legs of one side share, absent sides are left out.

    >>> {leg: round(w, 4) for leg, w in shared((0.55, 0.30, 0.15), ("bm25", "dense")).items()}
    {'bm25': 0.3529, 'dense': 0.6471}
    """
    given = dict(zip(SIDES, weights, strict=True))
    sides = [side(leg) for leg in legs]
    parts = [given[one] / sides.count(one) for one in sides]
    total = sum(parts)
    if total <= 0:
        raise BadInput("none of the legs that search has a weight.")
    return {leg: part / total for leg, part in zip(legs, parts, strict=True)}


def _listed(weights: Mapping[str, float]) -> str:
    return "weights " + ", ".join(f"{leg} {weight:.2f}" for leg, weight in weights.items())
