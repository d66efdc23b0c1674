"""The room of tuning, wired."""

from __future__ import annotations

from dataclasses import dataclass

from core.adapters.models.finetune import LocalTrainer
from core.adapters.models.trained_files import TrainedFiles
from core.retrieval.method_values import AlphaModel, RankerModel
from core.services.evaluation.runs import Runs
from core.services.index.wiring import IndexRoom
from core.services.models.wiring import ModelRoom
from core.services.platform.base import Base
from core.services.search.wiring import LearnedFiles
from core.services.tuning.alpha import AlphaTraining
from core.services.tuning.confidence import ConfidenceTuning
from core.services.tuning.embedders import EmbedderTuning
from core.services.tuning.learning import JOB, Learning, OwnQuestions, Trainers
from core.services.tuning.production import ProductionSettings
from core.services.tuning.rankers import RankerTraining
from core.services.tuning.recommendation import Recommendation
from core.services.tuning.sweeps import Sweeps


@dataclass(frozen=True, slots=True)
class Tuning:
    """Alpha and tau over whole query sets, and what is in production."""

    sweeps: Sweeps
    training: AlphaTraining
    alphas: TrainedFiles[AlphaModel]
    production: ProductionSettings
    confidence: ConfidenceTuning
    recommendation: Recommendation
    rankers: RankerTraining
    ranker_files: TrainedFiles[RankerModel]
    embedders: EmbedderTuning
    learning: Learning


def wire(base: Base, models: ModelRoom, runs: Runs, index: IndexRoom, files: LearnedFiles) -> Tuning:
    settings = base.settings
    production = ProductionSettings(base.team_settings, runs, base.audit, models.probed)
    trainer = LocalTrainer(
        settings.home / "models" / "embedders",
        settings.models,
        settings.caches / "torch",
        settings.offline,
        settings.device,
        base.events.written,
    )
    base.events.served.then(production.follow)
    base.upkeep.works["drift"] = production.work
    alphas, rankers = AlphaTraining(runs, files.alphas), RankerTraining(runs, files.rankers)
    embedders = EmbedderTuning(runs, index.builder, index.admin, trainer)
    own = OwnQuestions(runs, lambda: base.rule_files.pins(base.repository.head()))
    learning = Learning(production, Trainers(alphas, rankers, embedders), own, settings.learn_every)
    base.events.served.then(learning.follow)
    base.upkeep.works[JOB] = learning.work
    return Tuning(
        Sweeps(runs),
        alphas,
        files.alphas,
        production,
        ConfidenceTuning(runs),
        Recommendation(production),
        rankers,
        files.rankers,
        embedders,
        learning,
    )
