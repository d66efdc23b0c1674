"""Predictors of trained alpha models: ridge, boosted trees (xgboost) and a small network (numpy)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from math import exp, fsum, isfinite
from typing import TYPE_CHECKING, Any

from core.cures import install
from core.errors import Corrupt, Refused, Unavailable
from core.retrieval.alpha.alpha_models import INPUTS, clipped
from core.retrieval.alpha.features import QUERY, distribution_features, query_features, score_features
from core.retrieval.method_values import AlphaModel, LegScores, Predict

if TYPE_CHECKING:
    import numpy as np

FEATURES: Mapping[str, Callable[[LegScores], tuple[float, ...]]] = {
    "ridge": lambda seen: query_features(seen.query),
    "xgboost": score_features,
    "distribution": distribution_features,
}


def predictor(model: AlphaModel) -> Predict:
    """A function that predicts alpha with the parameters of a model."""
    try:
        return PREDICTORS[model.kind](model.parameters)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Corrupt(f"The alpha model {model.name!r} cannot be used ({error!r}). Train it again.") from None


def _ridge(parameters: Mapping[str, Any]) -> Predict:
    slope, intercept = [float(weight) for weight in parameters["coefficients"]], float(parameters["intercept"])
    if len(slope) != len(QUERY) or not all(map(isfinite, [*slope, intercept])):
        raise ValueError("four finite coefficients are needed")
    return lambda seen, embed: clipped(
        intercept + fsum(w * x for w, x in zip(slope, query_features(seen.query), strict=True))
    )


def _trees(kind: str) -> Callable[[Mapping[str, Any]], Predict]:
    def load(parameters: Mapping[str, Any]) -> Predict:
        xgboost = _xgboost()
        booster = xgboost.Booster({"nthread": 1})
        try:
            booster.load_model(bytearray(json.dumps(parameters["booster"]).encode()))
        except xgboost.core.XGBoostError as error:
            raise ValueError(str(error).splitlines()[0]) from None
        if booster.num_features() != len(INPUTS[kind]):
            raise ValueError(f"{len(INPUTS[kind])} features are needed")
        return lambda seen, embed: clipped(booster.inplace_predict(_row(FEATURES[kind](seen)))[0])

    return load


def _xgboost() -> Any:
    try:
        import xgboost
    except ImportError:
        raise Unavailable("Learned alpha needs xgboost.", install("xgboost", "-r", "requirements.txt")) from None
    return xgboost


def _row(values: Sequence[float]) -> np.ndarray:
    import numpy as np

    return np.array([values], dtype=np.float32)


def _mlp(parameters: Mapping[str, Any]) -> Predict:
    import numpy as np

    layers = [(np.array(layer["w"], np.float64), np.array(layer["b"], np.float64)) for layer in parameters["layers"]]
    if any(w.ndim != 2 or b.shape != w.shape[1:] for w, b in layers) or len(layers) != 3:
        raise ValueError("three layers of weights are needed")
    return lambda seen, embed: forward(layers, embed(seen.query))


def forward(layers: Sequence[tuple[np.ndarray, np.ndarray]], vector: np.ndarray) -> float:
    """Two hidden layers with ReLU, then a sigmoid (thesis, equations 24 to 26).

    >>> import numpy as np
    >>> identity = (np.eye(2), np.zeros(2))
    >>> round(forward([identity, identity, (np.array([[1.0], [1.0]]), np.zeros(1))], np.array([2.0, -5.0])), 4)
    0.8808
    """
    import numpy as np

    value = np.asarray(vector, dtype=np.float64)
    if value.shape != layers[0][0].shape[:1]:
        raise Refused(f"The model reads vectors of {layers[0][0].shape[0]} numbers, the query's has {value.size}.")
    for weights, bias in layers[:-1]:
        value = np.maximum(value @ weights + bias, 0.0)
    logit = float((value @ layers[-1][0] + layers[-1][1])[0])
    return 1.0 / (1.0 + exp(-logit)) if logit > -700 else 0.0


PREDICTORS: Mapping[str, Callable[[Mapping[str, Any]], Predict]] = {
    "ridge": _ridge,
    "xgboost": _trees("xgboost"),
    "mlp": _mlp,
    "distribution": _trees("distribution"),
}
