"""`fixed`: the alpha of the configuration; `rules`: exact words count more where the query is about money or holds a
number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from core.errors import BadInput
from core.retrieval.legs import LEGS
from core.retrieval.method_values import LegScores
from core.retrieval.methods import AlphaSource, AlphaTools, LegWeights
from core.types import SearchConfig

SIDES = ("dense", "sparse", "graph")


def shared(weights: Sequence[float], legs: Sequence[str]) -> dict[str, float]:
    """Weights of the three sides as weights of the legs there are: legs of one side share, absent sides are left out.

    >>> {leg: round(w, 4) for leg, w in shared((0.55, 0.30, 0.15), ("bm25", "dense")).items()}
    {'bm25': 0.3529, 'dense': 0.6471}
    """
    by_side = dict(zip(SIDES, weights, strict=True))
    sides = [LEGS[leg].side for leg in legs]
    parts = [by_side[side] / sides.count(side) for side in sides]
    total = sum(parts)
    if total <= 0:
        raise BadInput("none of the legs that search has a weight.")
    return {leg: part / total for leg, part in zip(legs, parts, strict=True)}


def listed(weights: Mapping[str, float]) -> str:
    """Weights as a note shows them."""
    return "weights " + ", ".join(f"{leg} {weight:.2f}" for leg, weight in weights.items())


NUMERIC = (0.30, 0.55, 0.15)  # dense, sparse, graph: exact terms decide
OTHER = (0.55, 0.30, 0.15)

_NUMERIC = re.compile(
    r"\d|[$€£%§]|\b(?:accounts?|apr|apy|assets?|balances?|banks?|bonds?|budgets?|cash|credit|currency|debit|debts?|"
    r"deposits?|dividends?|dollars?|equity|fees?|finance|financial|funds?|interest|invest\w*|invoices?|ira|loans?|"
    r"mortgages?|pay|payments?|payroll|prices?|profits?|revenues?|salary|shares?|stocks?|tax|taxes|wires?)\b",
    re.IGNORECASE,
)


def rule(query: str) -> tuple[float, float, float]:
    """Dense, sparse and graph: exact words count more where the query is about money or holds a number.

    >>> rule("wire fee over $10,000"), rule("why do reviews matter")
    ((0.3, 0.55, 0.15), (0.55, 0.3, 0.15))
    """
    return NUMERIC if _NUMERIC.search(query) else OTHER


def weigh(seen: LegScores, config: SearchConfig, ask: AlphaTools) -> LegWeights:
    """Weights by rule."""
    weights = shared(rule(seen.query), config.legs)
    return LegWeights(weights, f"{listed(weights)} by rule")


RULES = AlphaSource(
    name="rules",
    title="By rule",
    about="Exact words count more where the query is about money or holds a number.",
    source="the cascade study, stage 1",
    weigh=weigh,
)


FIXED = AlphaSource(
    name="fixed",
    title="Fixed",
    about="The same alpha for every query.",
    source="Bruch et al. 2023",
    weigh=None,
)
