"""Sources of alpha, the weight of the dense side. One record each; this dict names them all."""

from __future__ import annotations

from core.retrieval.alpha.learned import LEARNED
from core.retrieval.alpha.llm import LLM
from core.retrieval.alpha.rules import FIXED, RULES
from core.retrieval.methods import AlphaSource

ALPHAS: dict[str, AlphaSource] = {record.name: record for record in (FIXED, LEARNED, LLM, RULES)}
