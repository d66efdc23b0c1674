"""The small network of the thesis: two hidden layers, dropout, AdamW, early stopping. Trained by torch, kept as plain numbers."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from core.errors import Unavailable

if TYPE_CHECKING:
    import numpy as np
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
        raise Unavailable("Training a network needs torch. Run: make setup") from None
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
