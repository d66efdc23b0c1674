"""Training of alpha models: examples from judged queries, a seeded split, cross-fitting, and a model with its evidence
(thesis, 4.2).
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.errors import BadInput, one_of
from core.evaluation.learning.learners import LEARNERS, Learned, r2
from core.ports import Progress, no_progress
from core.retrieval.alpha.alpha_models import INPUTS, Optimum, optimum, ranking_optimum
from core.retrieval.alpha.predictors import FEATURES
from core.retrieval.method_values import AlphaModel, LegScores

if TYPE_CHECKING:
    import numpy as np


SEED = 42
PARTS = (0.70, 0.15, 0.15)  # train, validation, test
ENOUGH = 200  # judged queries; below this the evidence is thin
LEAST = 20
SMALLEST = 6  # queries of a group that reaches every part
TARGETS = {"lss": optimum, "ranking": ranking_optimum}


@dataclass(frozen=True, slots=True)
class Example:
    """One judged query: what a predictor sees of it, its best alpha, and how much that alpha matters."""

    query: str
    group: str
    seen: LegScores
    alpha: float
    matters: float
    vector: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Prediction:
    """A test query: its best alpha and the predicted one."""

    query: str
    group: str
    optimal: float
    predicted: float


@dataclass(frozen=True, slots=True)
class Trained:
    """A model with everything that a report shows.

    `regret` is what a choice of alpha adds to the squared error of the optimum, averaged over test queries: of the
    model, and of the mean optimum of the training part. `contributions` are SHAP values per test query and feature;
    `learned_from` are the queries of the other two parts.
    """

    model: AlphaModel
    r2: Mapping[str, float]
    regret: Mapping[str, float]
    learned_from: tuple[str, ...]
    chosen: Mapping[str, Any]
    tried: tuple[tuple[Mapping[str, Any], float], ...]
    test: tuple[Prediction, ...]
    features: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]
    coefficients: Mapping[str, float]
    contributions: tuple[tuple[float, ...], ...]
    losses: Mapping[str, tuple[float, ...]]
    warning: str


def best_alpha(
    target: str, labels: Mapping[int, float], dense: Mapping[int, float], other: Mapping[int, float]
) -> Optimum:
    """The best alpha of a question. `labels` are LSS of each candidate; `dense` and `other` normalised scores."""
    one_of(target, TARGETS, "target")
    return TARGETS[target](labels, dense, other)


def split(examples: Sequence[Example], seed: int = SEED) -> tuple[list[Example], list[Example], list[Example]]:
    """Train, validation and test, 70/15/15 within every group; the same for the same queries in any order.

    Groups that are too small to reach every part are divided together.

    >>> parts = split([Example(str(n), "ab"[n % 2], LegScores("", {}, {}), 0.5, 1.0) for n in range(40)])
    >>> [len(part) for part in parts], [sum(sample.group == "a" for sample in part) for part in parts]
    ([28, 6, 6], [14, 3, 3])
    """
    sizes = Counter(sample.group for sample in examples)
    groups: dict[str, list[Example]] = {}
    for sample in sorted(examples, key=lambda sample: sample.query):
        groups.setdefault(sample.group if sizes[sample.group] >= SMALLEST else "", []).append(sample)
    parts: tuple[list[Example], list[Example], list[Example]] = ([], [], [])
    rng = random.Random(seed)
    for _, members in sorted(groups.items()):
        rng.shuffle(members)
        first, second = round(len(members) * PARTS[0]), round(len(members) * (PARTS[0] + PARTS[1]))
        for part, share in zip(parts, (members[:first], members[first:second], members[second:]), strict=True):
            part += share
    return parts


def train(
    kind: str,
    examples: Sequence[Example],
    trained_for: str,
    *,
    name: str = "",
    grid: Sequence[Any] | None = None,
    progress: Progress = no_progress,
) -> Trained:
    """Fit every point of the grid on the train part, keep the best on validation, and report on the test part."""
    one_of(kind, LEARNERS, "alpha model of kind", "Kinds")
    useful = [sample for sample in examples if sample.matters > 0]
    if len(useful) < LEAST:
        raise BadInput(f"Only {len(useful)} judged queries tell the legs apart; at least {LEAST} are needed to learn.")
    parts = split(useful)
    tables = [feature_table(kind, part) for part in parts]
    fit, points = LEARNERS[kind]
    learned = fit(tables[0], tables[1], points if grid is None else grid, SEED, progress)
    return _reported(kind, name or kind, trained_for, learned, parts, tables)


def feature_table(kind: str, part: Sequence[Example]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features, targets and sample weights.

    Beyond the thesis, `distribution` weighs each query by how much its alpha matters: the weighted error of alpha is
    then, up to clipping, the squared error that the fused scores gain.
    """
    import numpy as np

    if kind == "mlp" and any(not sample.vector for sample in part):
        raise BadInput("The network reads the query's vector, and some examples have none.")
    rows = [sample.vector if kind == "mlp" else FEATURES[kind](sample.seen) for sample in part]
    alphas, matters = np.array([sample.alpha for sample in part]), np.array([sample.matters for sample in part])
    weights = matters / matters.mean() if kind == "distribution" else np.ones(len(part))
    return np.array(rows, dtype=np.float64), alphas, weights


def _reported(
    kind: str,
    name: str,
    trained_for: str,
    learned: Learned,
    parts: Sequence[Sequence[Example]],
    tables: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]],
) -> Trained:
    import numpy as np

    predicted = [np.clip(learned.predict(x), 0.0, 1.0) for x, _, _ in tables]
    scores = {
        part: r2(y, p) for part, (_, y, _), p in zip(("train", "validation", "test"), tables, predicted, strict=True)
    }
    middle = np.full(len(parts[2]), _mean_optimum(parts[0]))
    regrets = {"model": _regret(parts[2], predicted[2]), "fixed": _regret(parts[2], middle)}
    count = sum(map(len, parts))
    evidence = {"r2": scores, "regret": regrets, "queries": count, "chosen": learned.chosen}
    inputs = INPUTS[kind]
    shap = learned.contributions(tables[2][0])[:, :-1] if learned.contributions else np.empty((0, 0))
    return Trained(
        model=AlphaModel(name, kind, trained_for, learned.parameters, evidence),
        r2=scores,
        regret=regrets,
        learned_from=tuple(sample.query for part in parts[:2] for sample in part),
        chosen=learned.chosen,
        tried=learned.tried,
        test=tuple(
            Prediction(sample.query, sample.group, sample.alpha, float(p))
            for sample, p in zip(parts[2], predicted[2], strict=True)
        ),
        features=inputs,
        values=rows_of(tables[2][0]) if inputs else (),
        coefficients=dict(zip(inputs, learned.parameters["coefficients"], strict=True)) if kind == "ridge" else {},
        contributions=rows_of(shap),
        losses=learned.losses,
        warning=_warning(count, regrets),
    )


def _mean_optimum(part: Sequence[Example]) -> float:
    """The mean of the optima, weighted by how much each matters."""
    return sum(sample.alpha * sample.matters for sample in part) / sum(sample.matters for sample in part)


def _regret(part: Sequence[Example], alphas: np.ndarray) -> float:
    losses = [sample.matters * (sample.alpha - float(a)) ** 2 for sample, a in zip(part, alphas, strict=True)]
    return sum(losses) / len(losses) if losses else 0.0


def rows_of(table: np.ndarray) -> tuple[tuple[float, ...], ...]:
    """An array as plain rows."""
    return tuple(tuple(float(value) for value in row) for row in table)


def _warning(count: int, regrets: Mapping[str, float]) -> str:
    if count < ENOUGH:
        return f"The evidence is thin: {count} judged queries, {ENOUGH} are wanted."
    if regrets["model"] >= regrets["fixed"]:
        return "The model's alphas are no nearer to the best ones than the same alpha for every query."
    return ""


FOLDS = 5
VALIDATION = 0.2  # of what a fold learns from


@dataclass(frozen=True, slots=True)
class CrossFit:
    """Predictions for queries that the model of their fold has not seen, and what moved each of them.

    `contributions` are SHAP values per query and feature, `values` the features themselves; both are empty for kinds
    that have none.
    """

    kind: str
    predictions: tuple[Prediction, ...]
    r2: float
    sizes: tuple[int, ...] = ()  # of the folds, in the order of the predictions
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
    kind: str,
    examples: Sequence[Example],
    *,
    seed: int = SEED,
    grid: Sequence[Any] | None = None,
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
    fit, points = LEARNERS[kind]
    predictions: list[Prediction] = []
    values: list[tuple[float, ...]] = []
    shap: list[tuple[float, ...]] = []
    for n in range(folds):
        held, rest = useful[n::folds], [sample for at, sample in enumerate(useful) if at % folds != n]
        cut = max(1, round(VALIDATION * len(rest)))
        learned = fit(feature_table(kind, rest[cut:]), feature_table(kind, rest[:cut]), grid or points, seed, progress)
        x = feature_table(kind, held)[0]
        alphas = np.clip(learned.predict(x), 0.0, 1.0)
        predictions += [Prediction(s.query, s.group, s.alpha, float(a)) for s, a in zip(held, alphas, strict=True)]
        values += rows_of(x) if INPUTS[kind] else ()
        shap += rows_of(learned.contributions(x)[:, :-1]) if learned.contributions else ()
    optimal, predicted = (np.array([getattr(row, name) for row in predictions]) for name in ("optimal", "predicted"))
    sizes = tuple(len(useful[n::folds]) for n in range(folds))
    return CrossFit(kind, tuple(predictions), r2(optimal, predicted), sizes, INPUTS[kind], tuple(values), tuple(shap))
