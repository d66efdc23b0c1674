"""`learned`: a trained model predicts alpha for each query."""

from __future__ import annotations

from core.errors import Unavailable
from core.retrieval.alpha.alpha_models import INPUTS, purpose
from core.retrieval.alpha.predictors import predictor
from core.retrieval.method_values import ALPHA_FORMAT, AlphaModel, LegScores
from core.retrieval.methods import AlphaSource, AlphaTools, LegWeights
from core.retrieval.trained import TrainedKind
from core.types import SearchConfig


def weigh(seen: LegScores, config: SearchConfig, ask: AlphaTools) -> LegWeights:
    """Weights from the alpha that the configured model predicts."""
    if ask.models is None:
        raise Unavailable("no alpha models are kept here.")
    if not seen.dense and not seen.bm25:
        raise Unavailable("no leg found anything to predict from.")
    model = ask.models.model(config.alpha_model)
    ALPHA.check_purpose(model, config, ask.profile)
    alpha = ask.models.serving(config.alpha_model)(seen, ask.embed)
    weights = {leg: alpha if leg == "dense" else 1.0 - alpha for leg in config.legs}
    return LegWeights(weights, f"alpha {alpha:.2f} from {model.name}")


ALPHA = TrainedKind(
    model=AlphaModel,
    title="alpha model",
    word="model",
    folder="alpha",
    setting="alpha_model",
    purpose=purpose,
    readable=lambda model: model.format == ALPHA_FORMAT and model.kind in INPUTS,
    serving=predictor,
)

LEARNED = AlphaSource(
    name="learned",
    title="Learned",
    about="A model trained on a judged query set predicts alpha for each query.",
    source="the thesis, 3.3.3",
    weigh=weigh,
    two_sided=True,
)
