"""Fusions: from scaled legs to one score per candidate. One record per file; this dict names them all."""

from __future__ import annotations

from core.retrieval.fusions.combmnz import COMBMNZ
from core.retrieval.fusions.combsum import COMBSUM
from core.retrieval.fusions.convex import CONVEX
from core.retrieval.fusions.dbsn import DBSN
from core.retrieval.fusions.rrf import RRF
from core.retrieval.fusions.rsf import RSF
from core.retrieval.fusions.single import SINGLE
from core.retrieval.methods import Fusion

FUSIONS: dict[str, Fusion] = {record.name: record for record in (SINGLE, CONVEX, RRF, RSF, DBSN, COMBSUM, COMBMNZ)}
