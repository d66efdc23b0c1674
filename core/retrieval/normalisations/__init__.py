"""Normalisations: from each leg's own scores to one scale. One record per file; this dict names them all."""

from __future__ import annotations

from core.retrieval.methods import Normalisation
from core.retrieval.normalisations.max import MAX
from core.retrieval.normalisations.minmax import MINMAX
from core.retrieval.normalisations.none import NONE
from core.retrieval.normalisations.tm2c2 import TM2C2
from core.retrieval.normalisations.zscore import ZSCORE

NORMALISATIONS: dict[str, Normalisation] = {record.name: record for record in (MINMAX, TM2C2, ZSCORE, MAX, NONE)}
