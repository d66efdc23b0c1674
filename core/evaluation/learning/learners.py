"""Fitting of each kind of alpha model: the grid of the thesis, the best point by validation R2. The small network is
trained by torch (two hidden layers, dropout, AdamW, early stopping) and kept as plain numbers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

from core.cures import SETUP
from core.errors import Unavailable
from core.ports import Progress
from core.types import NOTHING

if TYPE_CHECKING:
    import numpy as np

    Part = tuple[np.ndarray, np.ndarray, np.ndarray]
    import torch

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


LAMBDAS = (0.01, 0.1, 1.0, 10.0, 100.0)
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


@dataclass(frozen=True, slots=True)
class Learned:
    """A fit: parameters to store, a predictor, the chosen point of the grid, and loss curves."""

    parameters: Mapping[str, Any]
    predict: Callable[[np.ndarray], np.ndarray]
    chosen: Mapping[str, Any]
    tried: tuple[tuple[Mapping[str, Any], float], ...]
    losses: Mapping[str, tuple[float, ...]] = field(default_factory=lambda: NOTHING)
    contributions: Callable[[np.ndarray], np.ndarray] | None = None


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
    tried = []
    for n, strength in enumerate(grid, 1):
        slope, intercept = solve(train[0], train[1], strength)
        tried.append(({"lambda": strength}, r2(validation[1], validation[0] @ slope + intercept)))
        progress(n, len(grid), "Fitting ridge regression")
    chosen = _best(tried)
    slope, intercept = solve(train[0], train[1], chosen["lambda"])
    parameters = {"coefficients": [float(weight) for weight in slope], "intercept": float(intercept)}
    return Learned(parameters, lambda x: x @ slope + intercept, chosen, tuple(tried))


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


def trees(train: Part, validation: Part, grid: Sequence[Mapping[str, Any]], seed: int, progress: Progress) -> Learned:
    """Boosted trees. Fewer rounds are the first trees of more rounds, so three sizes cost one training."""
    import xgboost

    data, check = (xgboost.DMatrix(x, label=y, weight=w) for x, y, w in (train, validation))
    tried, boosters, curves = [], [], []
    for n, point in enumerate(grid, 1):
        curve: dict[str, dict[str, list[float]]] = {}
        settings = {**point, "objective": "reg:squarederror", "seed": seed, "nthread": 1, "verbosity": 0}
        booster = xgboost.train(
            settings,
            data,
            max(ROUNDS),
            evals=[(data, "train"), (check, "validation")],
            evals_result=curve,
            verbose_eval=False,
        )
        for rounds in ROUNDS:
            tried.append(
                (
                    {**point, "n_estimators": rounds},
                    r2(validation[1], booster.predict(check, iteration_range=(0, rounds))),
                )
            )
            boosters.append(booster)
            curves.append({part: tuple(e * e for e in errors["rmse"][:rounds]) for part, errors in curve.items()})
        progress(n, len(grid), "Fitting boosted trees")
    chosen = _best(tried)
    at = next(n for n, (point, _) in enumerate(tried) if point is chosen)
    best = boosters[at][: chosen["n_estimators"]]
    return Learned(
        {"booster": json.loads(bytes(best.save_raw("json")))},
        lambda x: best.inplace_predict(x),
        chosen,
        tuple(tried),
        curves[at],
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
    chosen = _best(tried)
    best = fits[next(n for n, (point, _) in enumerate(tried) if point is chosen)]
    layers = [{"w": _short(w), "b": _short(b)} for w, b in best.layers]
    losses = {"train": best.train, "validation": best.validation}
    return Learned({"layers": layers}, lambda x: predict(best.layers, x), chosen, tuple(tried), losses)


def _short(values: np.ndarray) -> Any:
    """Seven digits: what single precision would keep."""
    return [_short(row) for row in values] if values.ndim > 1 else [float(f"{value:.7g}") for value in values]


def grid_point(kind: str, chosen: Mapping[str, Any]) -> Any:
    """The point of the grid that a fit chose, to fit it again; how many trees it takes is found anew.

    >>> grid_point("ridge", {"lambda": 10.0}), grid_point("xgboost", {**TREES[0], "n_estimators": 50}) == TREES[0]
    (10.0, True)
    """
    if kind == "ridge":
        return chosen["lambda"]
    if kind == "mlp":
        return NetworkSettings(**{**chosen, "hidden": tuple(chosen["hidden"])})
    return {name: value for name, value in chosen.items() if name != "n_estimators"}


def _best(tried: Sequence[tuple[Mapping[str, Any], float]]) -> Mapping[str, Any]:
    """The point with the highest validation R2; of equals the first."""
    return max(tried, key=lambda trial: trial[1])[0]


LEARNERS: Mapping[str, tuple[Callable[..., Learned], Sequence[Any]]] = {
    "ridge": (ridge, LAMBDAS),
    "xgboost": (trees, TREES),
    "mlp": (mlp, NETWORKS),
    "distribution": (trees, TREES),
}
