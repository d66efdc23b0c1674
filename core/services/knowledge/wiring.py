"""The room of knowledge, wired."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from core.adapters.conversion.word_export import WordWriter
from core.services.answers.answer_checks import AnswerChecks
from core.services.disagreements.finder import ClaimBase, Disagreements, SecondOpinion
from core.services.inbox.owners import Owners
from core.services.knowledge.documents import Documents
from core.services.knowledge.drafts import Drafts, Pictures
from core.services.knowledge.exports import Exports
from core.services.knowledge.feedback import FeedbackBoard
from core.services.knowledge.freshness import FreshnessBoard
from core.services.knowledge.gaps import Gaps
from core.services.knowledge.home import Home
from core.services.models.wiring import ModelRoom
from core.services.platform.base import Base
from core.services.reviews.changes import Changes
from core.services.reviews.merge import Merger
from core.services.search.searcher import Searcher
from core.storage.git.repository import Repository
from core.types import Document

NEAR = 20  # passages that are looked at to find the documents nearest to a question


@dataclass(frozen=True, slots=True)
class Knowledge:
    """Documents at any version, and questions that none answers."""

    repository: Repository
    documents: Documents
    home: Home
    freshness: FreshnessBoard
    drafts: Drafts
    gaps: Gaps
    feedback: FeedbackBoard
    pictures: Pictures
    exports: Exports
    disagreements: Disagreements


def wire(
    base: Base, models: ModelRoom, searcher: Searcher, merger: Merger, answers: AnswerChecks, owners: Owners
) -> Knowledge:
    documents, repository, changes = base.documents, base.repository, merger.changes
    gaps = Gaps(base, owners, partial(_nearest, searcher, documents), answers.answered)
    freshness = FreshnessBoard(documents, repository, merger.moving_main, base.audit, base.clock, base.events.moved)
    drafts = Drafts(base.database, base.clock)
    base.events.built.then(gaps.served)
    base.upkeep.daily.append(gaps.look)
    return Knowledge(
        repository,
        documents,
        Home(documents, freshness, repository, base.generations, base.team_settings),
        freshness,
        drafts,
        gaps,
        FeedbackBoard(base.database, documents, owners, changes.news, base.audit, base.clock),
        Pictures(documents, drafts, base.database.changes.all),
        Exports(documents, WordWriter().write),
        _disagreements(base, models, changes),
    )


def _disagreements(base: Base, models: ModelRoom, changes: Changes) -> Disagreements:
    claims = ClaimBase(base.documents, base.clock, base.settings.caches)
    opinion = SecondOpinion(models.registry.llm, base.texts, base.settings.llm)
    return Disagreements(claims, base.repository, changes, base.database, base.audit, opinion)


def _nearest(searcher: Searcher, documents: Documents, question: str) -> list[Document]:
    """The documents that a search finds first."""
    paths = dict.fromkeys(hit.path for hit in searcher.search(question, k=NEAR).hits)
    known = {document.path: document for document in documents.all()}
    return [known[path] for path in list(paths)[:3] if path in known]
