"""`zscore`: distance from the mean in standard deviations; and `none`: scores as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.retrieval.methods import Floor, Mask, Normalisation

if TYPE_CHECKING:
    import numpy as np


SIGMAS = 3.0  # where z-scores are clipped


def zscore(scores: np.ndarray, here: Mask = True, floor: Floor = 0.0) -> np.ndarray:
    """Distance from the mean in standard deviations, clipped at three, moved to 0..1.

    >>> import numpy as np
    >>> zscore(np.array([1.0, 2.0, 3.0])).round(3).tolist()
    [0.296, 0.5, 0.704]
    """
    import numpy as np

    counted = np.broadcast_to(here, scores.shape)
    moments = [_moments(scores[row][counted[row]]) for row in np.ndindex(scores.shape[:-1])]
    mean, sigma = np.reshape(moments, (-1, 2)).T.reshape(2, *scores.shape[:-1], 1)
    flat = sigma <= 1e-12 * np.maximum(1.0, np.abs(mean))
    distance = np.clip((scores - mean) / np.where(flat, 1.0, sigma), -SIGMAS, SIGMAS)
    return np.where(flat, np.where(scores > floor, 0.5, 0.0), (distance + SIGMAS) / (2 * SIGMAS))


def _moments(scores: np.ndarray) -> tuple[float, float]:
    """Mean and standard deviation of one row: row by row, one search and a sweep add up in the same order."""
    mean = float(scores.sum()) / max(1, len(scores))
    return mean, (float(((scores - mean) ** 2).sum()) / max(1, len(scores))) ** 0.5


ZSCORE = Normalisation(
    name="zscore",
    title="Z-score",
    about="Distance from the leg's mean in standard deviations, clipped at three and moved to 0..1.",
    source="the compliance benchmark (DBSN)",
    scale=zscore,
)


def unscaled(scores: np.ndarray, here: Mask = True, floor: Floor = 0.0) -> np.ndarray:
    """The scores as they are."""
    return scores


NONE = Normalisation(
    name="none",
    title="None",
    about="Each leg keeps its own scale: for a single leg, and for fusions that look at ranks only.",
    source="",
    scale=unscaled,
)
