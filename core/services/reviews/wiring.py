"""The room of reviews, wired: changes and merges before anything can be searched, what they do to search after that."""

from __future__ import annotations

from dataclasses import dataclass

from core.services.impact.impacts import Impacts
from core.services.inbox.news import ChangeNews
from core.services.people.accounts import Accounts
from core.services.platform.base import Base
from core.services.reviews.changes import Changes
from core.services.reviews.diff import ReviewerViews
from core.services.reviews.discussion import Discussion
from core.services.reviews.merge import Merger


@dataclass(frozen=True, slots=True)
class Reviews:
    """From a proposed change to a merge."""

    changes: Changes
    discussion: Discussion
    merger: Merger
    looks: ReviewerViews
    impacts: Impacts


def wire_changes(base: Base, accounts: Accounts) -> Merger:
    """Changes and their merges, which reach people and the index as events."""
    merger = Merger(Changes(base, accounts, ChangeNews(base.messages, accounts)))
    base.upkeep.repairs.append(merger.repair)
    base.upkeep.sweeps.extend([merger.repair, merger.sweep])
    return merger


def wire(merger: Merger, impacts: Impacts) -> Reviews:
    changes = merger.changes
    return Reviews(changes, Discussion(changes), merger, ReviewerViews(changes), impacts)
