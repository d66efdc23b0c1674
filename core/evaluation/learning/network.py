"""The small network of the thesis, trained by hand in numpy: two hidden layers, dropout, AdamW, early stopping."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    Layers = list[tuple[np.ndarray, np.ndarray]]

EPOCHS, PATIENCE = 100, 10
_BETAS, _TINY = (0.9, 0.999), 1e-8


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
    import numpy as np

    rng = np.random.default_rng(seed)
    layers = _start((x.shape[1], *settings.hidden, 1), rng)
    moments = [[np.zeros_like(part) for part in layer for _ in range(2)] for layer in layers]
    best, best_loss, since, step = layers, np.inf, 0, 0
    losses: list[tuple[float, float]] = []
    for _ in range(EPOCHS):
        for rows in _batches(len(x), settings.batch, rng):
            step += 1
            _update(layers, moments, _gradients(layers, x[rows], y[rows], settings.dropout, rng), settings, step)
        losses.append((_loss(layers, x, y), _loss(layers, *validation)))
        since += 1
        if losses[-1][1] < best_loss - 1e-6:
            best, best_loss, since = [(w.copy(), b.copy()) for w, b in layers], losses[-1][1], 0
        if since >= PATIENCE:
            break
    return Fitted(best, tuple(a for a, _ in losses), tuple(b for _, b in losses))


def predict(layers: Layers, x: np.ndarray) -> np.ndarray:
    """Alpha of every row."""
    return _forward(layers, x)[-1][:, 0]


def _start(sizes: tuple[int, ...], rng: np.random.Generator) -> Layers:
    """Uniform within one over the root of the inputs, as PyTorch starts a linear layer."""
    return [(rng.uniform(-(a**-0.5), a**-0.5, (a, b)), rng.uniform(-(a**-0.5), a**-0.5, b)) for a, b in pairwise(sizes)]


def _batches(count: int, size: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    order = rng.permutation(count)
    for at in range(0, count, size):
        yield order[at : at + size]


def _forward(layers: Layers, x: np.ndarray, masks: Any = None) -> list[np.ndarray]:
    """Every layer's output; masks drop hidden units while training."""
    import numpy as np

    values = [x]
    for n, (weights, bias) in enumerate(layers):
        value = values[-1] @ weights + bias
        if n < len(layers) - 1:
            value = np.maximum(value, 0.0)
            values.append(value * masks[n] if masks else value)
        else:
            values.append(1.0 / (1.0 + np.exp(-np.clip(value, -60, 60))))
    return values


def _gradients(layers: Layers, x: np.ndarray, y: np.ndarray, dropout: float, rng: np.random.Generator) -> Layers:
    """Backpropagation of the mean squared error."""
    masks = [(rng.random((len(x), len(b))) >= dropout) / (1.0 - dropout) for _, b in layers[:-1]]
    values = _forward(layers, x, masks)
    out = values[-1]
    delta = 2.0 * (out - y[:, None]) / len(x) * out * (1.0 - out)
    gradients: Layers = []
    for n in range(len(layers) - 1, -1, -1):
        gradients.append((values[n].T @ delta, delta.sum(axis=0)))
        if n:
            delta = (delta @ layers[n][0].T) * masks[n - 1] * (values[n] > 0)
    return gradients[::-1]


def _update(
    layers: Layers, moments: list[list[np.ndarray]], slopes: Layers, settings: NetworkSettings, step: int
) -> None:
    """AdamW: Adam with the decay of weights apart from the gradient (Loshchilov and Hutter 2019)."""
    import numpy as np

    for layer, averages, slope in zip(layers, moments, slopes, strict=True):
        for n, (value, change) in enumerate(zip(layer, slope, strict=True)):
            first, second = averages[2 * n], averages[2 * n + 1]
            first += (1 - _BETAS[0]) * (change - first)
            second += (1 - _BETAS[1]) * (change * change - second)
            size = np.sqrt(second / (1 - _BETAS[1] ** step)) + _TINY
            value *= 1.0 - settings.learning_rate * settings.weight_decay
            value -= settings.learning_rate * (first / (1 - _BETAS[0] ** step)) / size


def _loss(layers: Layers, x: np.ndarray, y: np.ndarray) -> float:
    return float(((predict(layers, x) - y) ** 2).mean()) if len(x) else 0.0
