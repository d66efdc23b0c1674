"""The kinds of alpha model that the thesis compares, each over its grid, the best point by validation R2.

The small network is trained by torch (two hidden layers, dropout, AdamW, early stopping) and kept as plain numbers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

from core.cures import SETUP
from core.errors import Unavailable
from core.evaluation.learning.training import RIDGE, Learned, Learner, r2
from core.ports import Progress
from core.retrieval.alpha.predictors import FEATURES

if TYPE_CHECKING:
    import numpy as np
    import torch

    from core.evaluation.learning.training import Part

    Layers = list[tuple[np.ndarray, np.ndarray]]


EPOCHS, PATIENCE = 100, 10


@dataclass(frozen=True, slots=True)
class NetworkSettings:
    """One point of the grid."""

    hidden: tuple[int, int] = (128, 64)
    learning_rate: float = 0.001
    batch: int = 128
    dropout: float = 0.5
    weight_decay: float = 0.01


@dataclass(frozen=True, slots=True)
class Fitted:
    """The best layers seen, and the mean squared error of every epoch on both parts."""

    layers: Layers
    train: tuple[float, ...]
    validation: tuple[float, ...]


def fit(
    x: np.ndarray, y: np.ndarray, validation: tuple[np.ndarray, np.ndarray], settings: NetworkSettings, seed: int = 42
) -> Fitted:
    """Train until the validation error has not fallen for ten epochs; the best layers are kept."""
    try:
        import torch
    except ImportError:
        raise Unavailable("Training a network needs torch.", SETUP) from None
    inputs, targets = torch.from_numpy(x).double(), torch.from_numpy(y).double()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = _network(x.shape[1], settings)
        optimizer = torch.optim.AdamW(model.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay)
        best, best_loss, since = _layers(model), float("inf"), 0
        losses: list[tuple[float, float]] = []
        while len(losses) < EPOCHS and since < PATIENCE:
            model.train()
            for rows in torch.randperm(len(x)).split(settings.batch):
                optimizer.zero_grad()
                error = torch.nn.functional.mse_loss(model(inputs[rows])[:, 0], targets[rows])
                torch.autograd.backward(error)
                optimizer.step()
            now, since = _layers(model), since + 1
            losses.append((_loss(now, x, y), _loss(now, *validation)))
            if losses[-1][1] < best_loss - 1e-6:
                best, best_loss, since = now, losses[-1][1], 0
    return Fitted(best, tuple(a for a, _ in losses), tuple(b for _, b in losses))


def predict(layers: Layers, x: np.ndarray) -> np.ndarray:
    """Alpha of every row."""
    import numpy as np

    for weights, bias in layers[:-1]:
        x = np.maximum(x @ weights + bias, 0.0)
    weights, bias = layers[-1]
    alphas: np.ndarray = 1.0 / (1.0 + np.exp(-np.clip(x @ weights + bias, -60, 60)))
    return alphas[:, 0]


def _network(inputs: int, settings: NetworkSettings) -> torch.nn.Sequential:
    from torch import nn

    hidden = [
        part
        for a, b in pairwise((inputs, *settings.hidden))
        for part in (nn.Linear(a, b), nn.ReLU(), nn.Dropout(settings.dropout))
    ]
    return nn.Sequential(*hidden, nn.Linear(settings.hidden[-1], 1), nn.Sigmoid()).double()


def _layers(model: torch.nn.Sequential) -> Layers:
    """Weights and bias of every layer, as they are now."""
    linear = [part for part in model if hasattr(part, "bias")]
    return [(part.weight.detach().numpy().T.copy(), part.bias.detach().numpy().copy()) for part in linear]


def _loss(layers: Layers, x: np.ndarray, y: np.ndarray) -> float:
    return float(((predict(layers, x) - y) ** 2).mean()) if len(x) else 0.0


ROUNDS = (50, 100, 200)
TREES: tuple[Mapping[str, Any], ...] = tuple(
    {"max_depth": depth, "learning_rate": rate, "subsample": share}
    for depth, rate, share in product((3, 5, 7), (0.01, 0.1, 0.3), (0.8, 1.0))
)
NETWORKS: tuple[NetworkSettings, ...] = tuple(
    NetworkSettings(hidden, rate, batch, dropout, decay)
    for hidden, rate, batch, dropout, decay in product(
        ((32, 16), (64, 32), (128, 64)), (0.001, 0.0001), (32, 64, 128), (0.5, 0.7, 0.8), (0.01, 0.001)
    )
)


@dataclass(frozen=True)
class Explained(Learned):
    """A fit that says how each feature moved each prediction."""

    contributions: Callable[[np.ndarray], np.ndarray]


def trees(train: Part, validation: Part, grid: Sequence[Mapping[str, Any]], seed: int, progress: Progress) -> Learned:
    """Boosted trees. Fewer rounds are the first trees of more rounds, so three sizes cost one training."""
    import xgboost

    data, check = (xgboost.DMatrix(x, label=y, weight=w) for x, y, w in (train, validation))
    tried, boosters = [], []
    for n, point in enumerate(grid, 1):
        settings = {**point, "objective": "reg:squarederror", "seed": seed, "nthread": 1, "verbosity": 0}
        booster = xgboost.train(settings, data, max(ROUNDS))
        for rounds in ROUNDS:
            predicted = booster.predict(check, iteration_range=(0, rounds))
            tried.append(({**point, "n_estimators": rounds}, r2(validation[1], predicted)))
            boosters.append(booster)
        progress(n, len(grid), "Fitting boosted trees")
    at, chosen = _best(tried)
    best = boosters[at][: chosen["n_estimators"]]
    return Explained(
        {"booster": json.loads(bytes(best.save_raw("json")))},
        lambda x: best.inplace_predict(x),
        chosen,
        lambda x: best.predict(xgboost.DMatrix(x), pred_contribs=True),
    )


def mlp(train: Part, validation: Part, grid: Sequence[NetworkSettings], seed: int, progress: Progress) -> Learned:
    """The small network on the query's vector."""
    from core import strict

    tried, fits = [], []
    for n, settings in enumerate(grid, 1):
        fits.append(fit(train[0], train[1], validation[:2], settings, seed))
        tried.append((strict.plain(settings), r2(validation[1], predict(fits[-1].layers, validation[0]))))
        progress(n, len(grid), "Training networks")
    at, chosen = _best(tried)
    layers = [{"w": _short(w), "b": _short(b)} for w, b in fits[at].layers]
    return Learned({"layers": layers}, lambda x: predict(fits[at].layers, x), chosen)


def _short(values: np.ndarray) -> Any:
    """Seven digits: what single precision would keep."""
    return [_short(row) for row in values] if values.ndim > 1 else [float(f"{value:.7g}") for value in values]


def _best(tried: Sequence[tuple[Mapping[str, Any], float]]) -> tuple[int, Mapping[str, Any]]:
    """The point with the highest validation R2, and its place; of equals the first."""
    at = max(range(len(tried)), key=lambda n: tried[n][1])
    return at, tried[at][0]


LEARNERS: Mapping[str, Learner] = {
    learner.kind: learner
    for learner in (
        RIDGE,
        Learner("xgboost", lambda sample: FEATURES["xgboost"](sample.seen), trees, TREES),
        Learner("distribution", lambda sample: FEATURES["distribution"](sample.seen), trees, TREES, weighted=True),
    )
}


def network(embed: Callable[[str], np.ndarray], grid: Sequence[NetworkSettings] = NETWORKS) -> Learner:
    """The learner of the small network, which reads the vector of the query."""
    vectors = cache(embed)
    return Learner("mlp", lambda sample: vectors(sample.seen.query), mlp, grid)
