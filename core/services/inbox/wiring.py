"""The inbox, wired."""

from __future__ import annotations

from dataclasses import dataclass

from core.services.inbox.landings import MergeNotifier
from core.services.inbox.messages import Messages
from core.services.inbox.news import ChangeNews, Reminders
from core.services.inbox.owners import Owners
from core.services.inbox.watches import Watches
from core.services.knowledge.wiring import NEAR, Knowledge
from core.services.platform.base import Base
from core.services.search.searcher import Searcher


@dataclass(frozen=True, slots=True)
class Inbox:
    """What reaches people."""

    messages: Messages
    watches: Watches
    reminders: Reminders
    owners: Owners


def wire(base: Base, news: ChangeNews, searcher: Searcher, knowledge: Knowledge, owners: Owners) -> Inbox:
    watches = Watches(base.database, base.messages, base.clock, lambda question: searcher.search(question, k=NEAR).hits)
    reminders = Reminders(knowledge.freshness, owners, base.messages)
    base.events.landed.then(MergeNotifier(base.repository, news, watches, knowledge.gaps, knowledge.feedback).landed)
    base.events.built.then(watches.evaluate)
    base.upkeep.daily.append(reminders.remind)
    return Inbox(base.messages, watches, reminders, owners)
