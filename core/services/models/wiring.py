"""The room of models, wired; and the models that are fetched before there is a workspace."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from core.access import Actor, require
from core.adapters.models import weights
from core.adapters.models.registry import ModelRegistry
from core.adapters.web import endpoints
from core.evaluation.learning.triplets import TUNED
from core.ports import Models, Progress
from core.services.jobs.jobs import Jobs
from core.services.models.call_estimates import CallEstimator
from core.services.models.checker import ModelChecker
from core.services.models.fitness import Fitness
from core.services.models.ledger import Ledger
from core.services.models.metered import MeteredModels
from core.services.models.prices import OfferedModels, Prices, offered, read_prices
from core.services.platform.base import Base
from core.settings import Settings
from core.storage.cache.model_texts import TextCache


@dataclass(frozen=True, slots=True)
class ModelRoom:
    """Models by name, what they cost, and what they are fit for."""

    registry: Models
    ledger: Ledger
    fitness: Fitness
    checker: ModelChecker

    @property
    def probed(self) -> Fitness | None:
        """What models are fit for; None of a test's, which nobody probes."""
        return self.fitness if isinstance(self.registry, MeteredModels) else None


def wire(base: Base, jobs: Jobs, given: Models | None = None) -> ModelRoom:
    settings = base.settings
    prices = read_prices(settings.prices, endpoints.free(settings))
    ledger = Ledger(base.database, base.clock, prices, settings.monthly_budget)
    fitness = Fitness(base.database, base.clock, base.audit)
    models = given or _metered(settings, ledger, fitness)
    checker = ModelChecker(models.probed if isinstance(models, MeteredModels) else models.llm, fitness, jobs)
    base.upkeep.works["check-model"] = checker.work
    return ModelRoom(models, ledger, fitness, checker)


def estimator(base: Base, models: ModelRoom) -> CallEstimator:
    return CallEstimator(models.registry, models.ledger, base.settings.llm_concurrency, models.probed)


def _metered(settings: Settings, ledger: Ledger, fitness: Fitness) -> MeteredModels:
    """Models on this machine and behind configured endpoints; paid calls go through the ledger."""
    ends, tuned = endpoints.Endpoints(settings, ledger), settings.home / "models" / "embedders"
    registry = ModelRegistry(settings.models, settings.threads, settings.offline, ends, tuned)
    return MeteredModels(registry, ledger, TextCache(settings.caches / "answers.db"), fitness)


def offered_models(settings: Settings, prices: Prices) -> OfferedModels:
    """What a form can choose from: fetched models, folders beside them, and models with a price."""
    here = [model for model in weights.BUNDLED if weights.present(settings.models, model)]
    bundled = {model.name for model in weights.BUNDLED}
    folders = [path.parent for path in sorted(Path(settings.models).glob("*/modules.json"))]
    embedders = [model.name for model in here if model.kind != "reranker"]
    embedders += [str(folder) for folder in folders if folder.name not in bundled]
    cards = sorted((settings.home / "models" / "embedders").glob("*/card.json"))
    embedders += [f"{TUNED}{card.parent.name}" for card in cards]
    rerankers = [model.name for model in here if model.kind == "reranker"]
    others = bool(settings.openai_url or settings.bedrock_region or not settings.offline)
    absent = tuple(model.name for model in weights.BUNDLED if model not in here)
    return replace(offered(embedders, rerankers, prices, settings.llm, others), absent=absent)


def fetch_models(settings: Settings, actor: Actor, names: list[str], progress: Progress) -> list[str]:
    """Fetch bundled models; without names, the default ones."""
    require(actor, "fetch models")
    chosen = [weights.bundled(name) for name in names] or [model for model in weights.BUNDLED if model.default]
    return weights.fetch(settings.models, chosen, progress)


def list_models(settings: Settings) -> list[dict[str, Any]]:
    """Every bundled model, and whether it was fetched."""
    return [
        {
            "name": model.name,
            "kind": "embedder" if model.kind == "static" else model.kind,
            "dimension": model.dimension or None,
            "limit": model.limit,
            "default": model.default,
            "present": weights.present(settings.models, model),
            "about": model.about,
            "place": str(Path(settings.models) / model.name),
        }
        for model in weights.BUNDLED
    ]
