"""`learned`: boosted trees over readable features, trained on judged questions (LambdaMART, Burges 2010).

The trees start from the fused order and learn what to correct in it, so a ranker that learned nothing changes nothing.
Models are JSON, trained in `core/evaluation/learning/lambdamart.py`; each names the way of searching that it was
trained for and serves no other.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from core import strict
from core.errors import Corrupt, Refused, Unavailable
from core.lru import LruCache
from core.retrieval.method_values import RANKER_FORMAT, CandidateFeatures, RankerModel
from core.retrieval.methods import Outcome, RerankMethod, Task
from core.retrieval.ordering import rank
from core.retrieval.rerankers.features import FUSED
from core.retrieval.trained import TrainedKind
from core.types import SearchConfig

if TYPE_CHECKING:
    import numpy as np

ORDER = "order before"  # the contribution of that start
DEPTH = 30


def purpose(config: SearchConfig, profile: str) -> str:
    """A digest of the profile and of everything before reranking that shapes what a ranker sees."""
    plain, usual = strict.plain(config), strict.plain(SearchConfig())
    before = {key: value for key, value in plain.items() if not key.startswith("rerank") and key not in ("k", "tau")}
    changed = {key: value for key, value in before.items() if value != usual[key]}
    return strict.digest({"search": changed, "profile": profile})


_BOOSTERS: LruCache[int, tuple[RankerModel, Any]] = LruCache(
    8
)  # by the id of a model, which lives as long as its entry


def _booster(model: RankerModel) -> Any:
    """Read once for each model at hand: to write its trees as text takes longer than a search."""
    return _BOOSTERS.find(id(model), lambda: (model, _read(strict.canonical(model.booster))))[1]


def _read(trees: str) -> Any:
    import xgboost

    try:
        return xgboost.Booster(model_file=bytearray(trees.encode()))
    except xgboost.core.XGBoostError as error:
        raise Corrupt(
            f"The trees of the ranker cannot be read ({str(error).splitlines()[0]}). Train it again."
        ) from None


def scored(model: RankerModel, table: CandidateFeatures) -> tuple[np.ndarray, np.ndarray]:
    """The score of every candidate, and what each feature adds to it; the first column is the order before."""
    import numpy as np
    import xgboost

    if table.names != model.features:
        raise Refused(f"The ranker {model.name!r} reads other features than this search has. Train it again.")
    start = model.start * table.values[:, table.names.index(FUSED)]
    if not model.booster:
        return start, np.concatenate([start[:, None], np.zeros_like(table.values)], axis=1)
    data = xgboost.DMatrix(table.values, base_margin=start)
    parts = _booster(model).predict(data, pred_contribs=True)
    return parts.sum(axis=1), np.concatenate([parts[:, -1:], parts[:, :-1]], axis=1)


def learned(task: Task) -> Outcome:
    """Score the top passages by their features; every score comes with what each feature adds."""
    if not task.config.rerank_model:
        raise Unavailable("the configuration names no ranker. Set rerank_model to one that was trained on Tuning.")
    model = task.ranker(task.config)
    table = task.features(task.head())
    scores, parts = scored(model, table)
    values = dict(zip(table.chunks, scores.astype(float).tolist(), strict=True))
    names = (ORDER, *table.names)
    reasons = {
        chunk: {name: round(float(part), 4) for name, part in zip(names, row, strict=True) if abs(part) >= 0.0005}
        for chunk, row in zip(table.chunks, parts, strict=True)
    }
    order = rank(values)
    return Outcome(order, order, f"{model.name} scored the top {len(table.chunks)}", reasons=reasons)


def without(config: SearchConfig) -> SearchConfig:
    """The configuration before reranking, as a ranker is trained for it."""
    usual = SearchConfig()
    return replace(config, rerank="off", reranker=usual.reranker, rerank_model="", rerank_blend=0.0, tau=usual.tau)


RANKER = TrainedKind(
    model=RankerModel,
    title="ranker",
    word="ranker",
    folder="rankers",
    setting="rerank_model",
    purpose=purpose,
    readable=lambda model: model.format == RANKER_FORMAT,
)

LEARNED = RerankMethod(
    name="learned",
    title="Learned ranker",
    about="Boosted trees over scores, places, matches in fields, length, links and dates, trained on judged questions.",
    source="Burges 2010, LambdaMART",
    run=learned,
    asks=("ranker",),
    suffix="learned",
    settings={"rerank_depth": DEPTH},
)
