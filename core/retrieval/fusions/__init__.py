"""Fusions: from scaled legs to one score per candidate. One record each; this dict names them all."""

from __future__ import annotations

from core.retrieval.fusions.combsum import COMBMNZ, COMBSUM
from core.retrieval.fusions.rrf import RRF
from core.retrieval.fusions.shares import CONVEX, DBSN, RSF
from core.retrieval.fusions.single import SINGLE
from core.retrieval.methods import Fusion

FUSIONS: dict[str, Fusion] = {record.name: record for record in (SINGLE, CONVEX, RRF, RSF, DBSN, COMBSUM, COMBMNZ)}
