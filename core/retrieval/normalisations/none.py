"""`none`: the legs' own scales."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.retrieval.methods import Floor, Mask, Normalisation

if TYPE_CHECKING:
    import numpy as np


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
