"""The three sides of a search, and their weights spread over the legs there are (cascade study, stage 1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.errors import BadInput
from core.retrieval.legs import LEGS

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
