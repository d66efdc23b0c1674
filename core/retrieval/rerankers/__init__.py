"""Rerankers: a model that reads the query with the passages has the last word. One record each.

Every method gets the same task and gives an outcome. None of them raises: what fails leaves the given order as it was,
with a warning.
"""

from __future__ import annotations

from core.retrieval.methods import RerankMethod
from core.retrieval.rerankers.cascade import CASCADE, CROSS_ENCODER
from core.retrieval.rerankers.learned import LEARNED
from core.retrieval.rerankers.listwise import LISTWISE
from core.retrieval.rerankers.sliding import SLIDEGAR
from core.retrieval.rerankers.yes_no import YES_NO

RERANKERS: dict[str, RerankMethod] = {
    record.name: record for record in (CROSS_ENCODER, LISTWISE, SLIDEGAR, CASCADE, YES_NO, LEARNED)
}
