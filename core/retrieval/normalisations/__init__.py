"""Normalisations: from each leg's own scores to one scale. One record each; this dict names them all."""

from __future__ import annotations

from core.retrieval.methods import Normalisation
from core.retrieval.normalisations.ranges import MAX, MINMAX, TM2C2
from core.retrieval.normalisations.zscore import NONE, ZSCORE

NORMALISATIONS: dict[str, Normalisation] = {record.name: record for record in (MINMAX, TM2C2, ZSCORE, MAX, NONE)}
