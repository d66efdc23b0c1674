"""Training of alpha per question: judged questions as examples, a seeded split, ridge regression, and a model with its
evidence (thesis, 4.2).
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.errors import BadInput
from core.ports import Progress, no_progress
from core.retrieval.alpha.alpha_models import Optimum, optimum, ranking_optimum
from core.retrieval.alpha.predictors import FEATURES
from core.retrieval.method_values import AlphaModel, LegScores

if TYPE_CHECKING:
    import numpy as np

    Part = tuple[np.ndarray, np.ndarray, np.ndarray]  # features, targets, weights


SEED = 42
PARTS = (0.70, 0.15, 0.15)  # train, validation, test
ENOUGH = 200  # judged queries; below this the evidence is thin
LEAST = 20
SMALLEST = 6  # queries of a group that reaches every part
LAMBDAS = (0.01, 0.1, 1.0, 10.0, 100.0)
TARGETS: Mapping[str, Callable[..., Optimum]] = {"lss": optimum, "ranking": ranking_optimum}


@dataclass(frozen=True, slots=True)
class Example:
    """One judged query: what a predictor sees of it, its best alpha, and how much that alpha matters."""

    query: str
    group: str
    seen: LegScores
    alpha: float
    matters: float


@dataclass(frozen=True)
class Learned:
    """A fit: parameters to store, a predictor, and the chosen point of the grid."""

    parameters: Mapping[str, Any]
    predict: Callable[[np.ndarray], np.ndarray]
    chosen: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Learner:
    """A kind of model: what it reads of an example, and how it is fitted over a grid."""

    kind: str
    features: Callable[[Example], Iterable[float]]
    fit: Callable[[Part, Part, Sequence[Any], int, Progress], Learned]
    grid: Sequence[Any]
    weighted: bool = False  # by how much alpha matters: the error of alpha is then that of the fused scores


@dataclass(frozen=True, slots=True)
class Trained:
    """A model with its evidence: R² of each part, the alphas predicted for the test part, and the questions."""

    model: AlphaModel
    r2: Mapping[str, float]
    learned_from: tuple[str, ...]
    test: Mapping[str, float]
    warning: str


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


def feature_table(learner: Learner, part: Sequence[Example]) -> Part:
    """Features, targets and sample weights."""
    import numpy as np

    rows = [[*learner.features(sample)] for sample in part]
    alphas, matters = np.array([sample.alpha for sample in part]), np.array([sample.matters for sample in part])
    weights = matters / matters.mean() if learner.weighted else np.ones(len(part))
    return np.array(rows, dtype=np.float64), alphas, weights


def r2(optimal: np.ndarray, predicted: np.ndarray) -> float:
    """The share of the variance that is explained; 0 is what the mean would explain, below it is worse than that.

    >>> import numpy as np
    >>> r2(np.array([0.0, 1.0]), np.array([0.25, 0.75]))
    0.75
    """
    spread = float(((optimal - optimal.mean()) ** 2).sum()) if len(optimal) else 0.0
    return 1.0 - float(((optimal - predicted) ** 2).sum()) / spread if spread > 0 else 0.0


def ridge(train: Part, validation: Part, grid: Sequence[float], seed: int, progress: Progress) -> Learned:
    """w = (X'X + lambda I)^-1 X'y on centred values; the intercept is not penalised (thesis, equations 20 to 22)."""
    scores: dict[float, float] = {}
    for n, strength in enumerate(grid, 1):
        slope, intercept = solve(train[0], train[1], strength)
        scores[strength] = r2(validation[1], validation[0] @ slope + intercept)
        progress(n, len(grid), "Fitting ridge regression")
    best = max(scores, key=lambda strength: scores[strength])
    slope, intercept = solve(train[0], train[1], best)
    parameters = {"coefficients": [float(weight) for weight in slope], "intercept": float(intercept)}
    return Learned(parameters, lambda x: x @ slope + intercept, {"lambda": best})


def solve(x: np.ndarray, y: np.ndarray, strength: float) -> tuple[np.ndarray, float]:
    """The coefficients and the intercept of a ridge regression.

    >>> import numpy as np
    >>> solve(np.array([[0.0], [2.0]]), np.array([0.0, 4.0]), 2.0)
    (array([1.]), 1.0)
    """
    import numpy as np

    centre, middle = x.mean(axis=0), float(y.mean())
    apart = x - centre
    slope = np.linalg.solve(apart.T @ apart + strength * np.eye(x.shape[1]), apart.T @ (y - middle))
    return slope, middle - float(centre @ slope)


RIDGE = Learner("ridge", lambda sample: FEATURES["ridge"](sample.seen), ridge, LAMBDAS)


def train(
    examples: Sequence[Example],
    trained_for: str,
    *,
    name: str = "",
    learner: Learner = RIDGE,
    progress: Progress = no_progress,
) -> Trained:
    """Fit every point of the grid on the train part, keep the best on validation, and report on the test part."""
    import numpy as np

    useful = [sample for sample in examples if sample.matters > 0]
    if len(useful) < LEAST:
        raise BadInput(f"Only {len(useful)} judged queries tell the legs apart; at least {LEAST} are needed to learn.")
    parts = split(useful)
    tables = [feature_table(learner, part) for part in parts]
    learned = learner.fit(tables[0], tables[1], learner.grid, SEED, progress)
    predicted = [np.clip(learned.predict(x), 0.0, 1.0) for x, _, _ in tables]
    shown = zip(("train", "validation", "test"), tables, predicted, strict=True)
    scores = {part: r2(best, alphas) for part, (_, best, _), alphas in shown}
    middle = np.full(len(parts[2]), _mean_optimum(parts[0]))
    regrets = {"model": _regret(parts[2], predicted[2]), "fixed": _regret(parts[2], middle)}
    evidence = {"r2": scores, "regret": regrets, "queries": len(useful), "chosen": learned.chosen}
    return Trained(
        model=AlphaModel(name or learner.kind, learner.kind, trained_for, learned.parameters, evidence),
        r2=scores,
        learned_from=tuple(sample.query for part in parts[:2] for sample in part),
        test={sample.query: float(alpha) for sample, alpha in zip(parts[2], predicted[2], strict=True)},
        warning=_warning(len(useful), regrets),
    )


def _mean_optimum(part: Sequence[Example]) -> float:
    """The mean of the optima, weighted by how much each matters."""
    return sum(sample.alpha * sample.matters for sample in part) / sum(sample.matters for sample in part)


def _regret(part: Sequence[Example], alphas: np.ndarray) -> float:
    """What a choice of alpha adds to the squared error of the optimum, on average."""
    losses = [sample.matters * (sample.alpha - float(a)) ** 2 for sample, a in zip(part, alphas, strict=True)]
    return sum(losses) / len(losses) if losses else 0.0


def _warning(count: int, regrets: Mapping[str, float]) -> str:
    if count < ENOUGH:
        return f"The evidence is thin: {count} judged queries, {ENOUGH} are wanted."
    if regrets["model"] >= regrets["fixed"]:
        return "The model's alphas are no nearer to the best ones than the same alpha for every query."
    return ""
