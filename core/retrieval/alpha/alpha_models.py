"""The weight of the dense side, chosen per query: the optimum in hindsight, and models that predict it.

Models are trained in `core/evaluation/learning/training.py` and stored as JSON. Each names the setup that it was
trained for and refuses to serve another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import fsum

from core import strict
from core.retrieval.alpha.features import DISTRIBUTION, QUERY, SCORES
from core.types import SearchConfig

# ---------------------------------------------------------------- the optimum in hindsight


@dataclass(frozen=True, slots=True)
class Optimum:
    """The best alpha of one query, and how much it matters: what an error of one would add to the squared error."""

    alpha: float
    matters: float


def optimum(labels: Mapping[int, float], dense: Mapping[int, float], bm25: Mapping[int, float]) -> Optimum:
    """The alpha whose fused scores lie nearest to the labels, in closed form (thesis, equations 18 and 19).

    Labels say how much of the answer each candidate holds (LSS); scores are normalised. The error is a parabola in
    alpha, so the optimum within 0..1 is its clipped minimum. Where both legs say the same, any alpha is as good.

    >>> optimum({1: 1.0, 2: 0.0}, {1: 1.0, 2: 0.5}, {1: 0.0, 2: 1.0})
    Optimum(alpha=1.0, matters=1.25)
    >>> optimum({1: 0.5, 2: 0.5}, {1: 1.0, 2: 0.0}, {1: 0.0, 2: 1.0}).alpha
    0.5
    """
    chunks = sorted(labels)
    gaps = [(labels[c] - bm25.get(c, 0.0), dense.get(c, 0.0) - bm25.get(c, 0.0)) for c in chunks]
    matters = fsum(apart * apart for _, apart in gaps)
    if matters <= 1e-12:
        return Optimum(0.5, 0.0)
    return Optimum(clipped(fsum(short * apart for short, apart in gaps) / matters), matters)


def ranking_optimum(
    labels: Mapping[int, float], dense: Mapping[int, float], bm25: Mapping[int, float], k: int = 10, steps: int = 101
) -> Optimum:
    """The alpha whose order gains most (DCG of the labels at k), and what the worst alpha would lose of it.

    Beyond the thesis: the closed form also rewards a leg for having scores of the labels' size, whatever its order.
    Of several best alphas the middle one is taken.

    >>> ranking_optimum({1: 1.0, 2: 0.0}, {1: 0.9, 2: 0.8}, {1: 0.0, 2: 0.1})
    Optimum(alpha=0.75, matters=0.36907024642854247)
    """
    import numpy as np

    chunks = sorted(labels)
    gains, d, b = (np.array([part.get(c, 0.0) for c in chunks]) for part in (labels, dense, bm25))
    alphas = np.linspace(0.0, 1.0, steps)[:, None]
    order = np.argsort(-(alphas * d + (1 - alphas) * b), axis=1, kind="stable")[:, :k]
    discounts = 1.0 / np.log2(np.arange(2, order.shape[1] + 2))
    totals, ideal = gains[order] @ discounts, float(np.sort(gains)[::-1][:k] @ discounts)
    best = np.flatnonzero(totals >= totals.max(initial=0.0) - 1e-12)
    if ideal <= 0 or len(best) == steps:
        return Optimum(0.5, 0.0)
    return Optimum(float(alphas[best[len(best) // 2], 0]), float(totals.max() - totals.min()) / ideal)


def clipped(alpha: float) -> float:
    """Alpha within 0..1.

    >>> clipped(1.2), clipped(-3.0)
    (1.0, 0.0)
    """
    return min(1.0, max(0.0, float(alpha)))


# ---------------------------------------------------------------- models


INPUTS: Mapping[str, tuple[str, ...]] = {
    "ridge": QUERY,
    "xgboost": SCORES,
    "mlp": (),  # the query's vector
    "distribution": DISTRIBUTION,  # beyond the thesis: query text alone is known to fail
}

# ---------------------------------------------------------------- what a model was trained for


def purpose(config: SearchConfig, profile: str) -> str:
    """A digest of everything that shapes the scores that a model sees, and of the profile.

    How deep the legs look, how many hits are shown, and reranking do not: features come from each leg's ten best.
    """
    shape = (config.legs, config.normalisation, config.fusion, config.missing)
    return strict.digest({"shape": shape, "profile": profile})
