"""The room of the index, wired: the builder first, what it sets off after that."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from core.adapters.models import spacy_ner, weights
from core.adapters.models.ray_cluster import RayCluster
from core.adapters.system.files import exposed
from core.bulk import InlineBulk
from core.services.answers.answer_checks import AnswerChecks
from core.services.index.admin import IndexAdmin
from core.services.index.builder import IndexBuilder
from core.services.index.entity_extraction import EntityExtractor
from core.services.index.following import IndexSync
from core.services.index.index_jobs import IndexJobs
from core.services.index.verify import Verifier
from core.services.jobs.jobs import Jobs
from core.services.models.wiring import ModelRoom, estimator, offered_models
from core.services.people.accounts import Accounts
from core.services.platform.base import Base
from core.services.platform.workspace import WorkspaceGuard
from core.storage.cache.model_texts import TextCache
from core.storage.index.generations import Generations
from core.storage.object_store.shared_folders import SharedFolder
from core.types import STORE_MOVED


@dataclass(frozen=True, slots=True)
class IndexRoom:
    """Generations: built, verified, rolled back."""

    generations: Generations
    builder: IndexBuilder
    admin: IndexAdmin
    verifier: Verifier
    jobs: IndexJobs
    following: IndexSync


def wire_builder(base: Base, models: ModelRoom) -> IndexBuilder:
    extractor = EntityExtractor(models.registry, spacy_ner.entities, base.settings.llm_concurrency)
    return IndexBuilder(base, models.registry, extractor)


def wire(
    base: Base, jobs: Jobs, accounts: Accounts, models: ModelRoom, builder: IndexBuilder, answers: AnswerChecks
) -> IndexRoom:
    generations, team_settings = base.generations, base.team_settings
    verifier = _verifier(base)

    def cluster(address: str) -> RayCluster:
        return RayCluster(address, base.settings, InlineBulk(models.registry))

    index_jobs = IndexJobs(builder, generations, team_settings, verifier, jobs, answers, base.events, cluster)
    offered = partial(offered_models, base.settings, models.ledger.prices)
    admin = IndexAdmin(base, jobs, models, offered, estimator(base, models), spacy_ner.check_graph)
    following = IndexSync(base, _shared_folders(base), index_jobs.catch_up)
    base.events.moved.then(index_jobs.catch_up)
    base.events.written.then(following.share)
    base.events.written.then(partial(base.database.notify, STORE_MOVED))
    base.upkeep.daily.append(following.sweep)
    base.upkeep.works.update(index_jobs.works())
    return IndexRoom(generations, builder, admin, verifier, index_jobs, following)


def _verifier(base: Base) -> Verifier:
    """Everybody who keeps files can say which of them are damaged."""
    guard = WorkspaceGuard(base.repository, base.database, base.generations)
    looks = (
        ("who may read the workspace", partial(exposed, base.settings.home)),
        ("repository and database", guard.damaged),
        ("the index", base.generations.damaged),
        ("the vectors", base.vectors.damaged),
        ("the texts", base.texts.damaged),
        ("the answers", TextCache(base.settings.caches / "answers.db").damaged),
        ("the models", partial(weights.damaged, base.settings.models)),
    )
    return Verifier(base.repository, base.generations, base.team_settings, base.audit, looks)


def _shared_folders(base: Base) -> tuple[SharedFolder, ...]:
    """Models of the workspace, where machines share them."""
    if not base.generations.copies:
        return ()
    index, home = base.generations.copies.index, base.settings.home
    return (SharedFolder(index.objects, index.conformance, home / "models"),)
