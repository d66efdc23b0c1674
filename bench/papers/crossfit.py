"""Cross-fitting: every question is predicted by a model that has not seen it, and what moved each prediction."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.papers.learners import Explained
from core.errors import BadInput
from core.evaluation.learning.training import LEAST, SEED, Example, Learner, feature_table, r2
from core.ports import Progress, no_progress
from core.retrieval.alpha.alpha_models import INPUTS

if TYPE_CHECKING:
    import numpy as np

FOLDS = 5
VALIDATION = 0.2  # of what a fold learns from


@dataclass(frozen=True, slots=True)
class Prediction:
    """A test query: its best alpha and the predicted one."""

    query: str
    group: str
    optimal: float
    predicted: float


@dataclass(frozen=True, slots=True)
class CrossFit:
    """Predictions for queries that the model of their fold has not seen, and what moved each of them.

    `contributions` are SHAP values per query and feature, `values` the features themselves; both are empty for kinds
    that have none.
    """

    predictions: tuple[Prediction, ...]
    r2: float
    features: tuple[str, ...] = ()
    values: tuple[tuple[float, ...], ...] = ()
    contributions: tuple[tuple[float, ...], ...] = ()


def folds_of(queries: int, least: int = LEAST, wanted: int = FOLDS) -> int:
    """Into how many parts so many queries are divided, so that every model learns from enough.

    >>> folds_of(60), folds_of(24), folds_of(20), folds_of(60, wanted=10)
    (5, 6, 0, 10)
    """
    enough = (folds for folds in range(wanted, queries + 1) if queries - -(-queries // folds) >= least)
    return next(enough, 0)


def crossfit(
    learner: Learner,
    examples: Sequence[Example],
    *,
    seed: int = SEED,
    wanted: int = FOLDS,
    progress: Progress = no_progress,
) -> CrossFit:
    """Fit a model per fold on the other folds, and predict the alphas of the fold with it."""
    import numpy as np

    useful = sorted((sample for sample in examples if sample.matters > 0), key=lambda sample: sample.query)
    folds = folds_of(len(useful), wanted=wanted)
    if not folds:
        raise BadInput(f"Only {len(useful)} judged queries tell the legs apart; more than {LEAST} are needed to learn.")
    random.Random(seed).shuffle(useful)
    predictions: list[Prediction] = []
    values: list[tuple[float, ...]] = []
    shap: list[tuple[float, ...]] = []
    for n in range(folds):
        held, rest = useful[n::folds], [sample for at, sample in enumerate(useful) if at % folds != n]
        cut = max(1, round(VALIDATION * len(rest)))
        train, check = feature_table(learner, rest[cut:]), feature_table(learner, rest[:cut])
        learned = learner.fit(train, check, learner.grid, seed, progress)
        x = feature_table(learner, held)[0]
        alphas = np.clip(learned.predict(x), 0.0, 1.0)
        predictions += [Prediction(s.query, s.group, s.alpha, float(a)) for s, a in zip(held, alphas, strict=True)]
        values += rows_of(x) if INPUTS[learner.kind] else ()
        shap += rows_of(learned.contributions(x)[:, :-1]) if isinstance(learned, Explained) else ()
    optimal, predicted = (np.array([getattr(row, name) for row in predictions]) for name in ("optimal", "predicted"))
    inputs = INPUTS[learner.kind]
    return CrossFit(tuple(predictions), r2(optimal, predicted), inputs, tuple(values), tuple(shap))


def rows_of(table: np.ndarray) -> tuple[tuple[float, ...], ...]:
    """An array as plain rows."""
    return tuple(tuple(float(value) for value in row) for row in table)
