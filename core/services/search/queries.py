"""The questions people asked: kept without names and for a while, so that a team sees what is looked for and not
found.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from core.access import ANYONE, OWN_DATA, READS, UPKEEP, Actor, use_case
from core.curation.document.questions import one_line, same_form
from core.errors import ConcordError
from core.ports import Clock
from core.services.people.audit import Audit
from core.services.people.readership import PUBLIC
from core.services.platform.settings import QuestionSettings, TeamSettings
from core.services.search.searcher import PASSAGES, Searcher, judged
from core.storage.state.records import Asked, QueryTotals

if TYPE_CHECKING:
    from core.storage.state.database import Database

SHORTEST = 3  # characters that make a question
SAME_VISIT = timedelta(minutes=30)  # the same question of one person counts once
MOST_KEPT = 200  # questions of one person in that time; nobody asks more
TYPING = timedelta(minutes=2)  # a question that goes on is the end of the one before
PATIENCE = 1.0  # seconds that a search waits until its question is kept
_LOG = logging.getLogger(__name__)


class QueryLog:
    """Keeps questions, if the team and the person agree. Rows name nobody; who asked what lately is in memory alone."""

    def __init__(
        self, database: Database, searcher: Searcher, team_settings: TeamSettings, audit: Audit, clock: Clock
    ) -> None:
        self.database, self.searcher, self.team_settings = database, searcher, team_settings
        self.audit, self.clock, self.readership = audit, clock, audit.readership
        self._visits: dict[tuple[str, str], tuple[int, datetime]] = {}

    @use_case("keep asked questions", OWN_DATA)
    def keep(self, actor: Actor, question: str, *, opened: bool = False, document: str = "") -> bool:
        """Keep a question that somebody asked, or that one of its hits was opened, and of which document. It never
        fails a search."""
        words = one_line(question)
        try:
            with self.database.within(PATIENCE):
                return len(words) >= SHORTEST and self.consents(actor) and self._keep(actor.id, words, opened, document)
        except ConcordError as error:
            _LOG.warning("A question was not kept: %s", error)
            return False

    @use_case("search", OWN_DATA)
    def consents(self, actor: Actor) -> bool:
        """Whether the team keeps questions and this person's are among them."""
        return self.team_settings.questions().keep and not self.database.queries.opted_out(actor.id)

    @use_case("manage their own account", OWN_DATA)
    def consent(self, actor: Actor, yes: bool) -> None:
        """Let one's own questions be kept, or not."""
        (self.database.queries.opt_in if yes else self.database.queries.opt_out)(actor.id)

    # ------------------------------------------------------------ what was asked

    def most_asked(self, limit: int) -> tuple[Asked, ...]:
        """The questions asked most, each in the words of its last asking; the newest first where they tie."""
        return tuple(self.database.queries.most(limit))

    @use_case("see asked questions", READS)
    def listed(self, actor: Actor, limit: int = 100) -> tuple[Asked, ...]:
        """The same for those who write."""
        return self.most_asked(limit)

    @use_case(ANYONE)
    def totals(self) -> QueryTotals:
        """How often people asked, found something good, and went on to it."""
        return self.database.queries.totals()

    # ------------------------------------------------------------ what is kept

    @use_case("decide on asked questions")
    def decide(self, actor: Actor, settings: QuestionSettings) -> QuestionSettings:
        """What the team keeps, and for how long; what is older goes at once."""
        self.team_settings.set_questions(settings, actor.person)
        state = f"kept for {settings.days} days" if settings.keep else "not kept"
        self.audit.note(actor, "decide on asked questions", state, detail=f"answers among the first {settings.first}")
        self.sweep()
        return settings

    @use_case("decide on asked questions")
    def forget(self, actor: Actor, question: str = "") -> int:
        """Remove every asking of a question, or all of all questions; how many there were."""
        gone = self.database.queries.forget(same_form(question))
        self._visits.clear()
        self.audit.note(actor, "forget asked questions", "one question" if question else "all", detail=str(gone))
        return gone

    @use_case(UPKEEP)
    def sweep(self) -> int:
        """Remove what is older than the team keeps questions, or everything where it keeps none."""
        settings = self.team_settings.questions()
        now = datetime.fromisoformat(self.clock.stamp())
        oldest = now - timedelta(days=settings.days) if settings.keep else now + timedelta(days=1)
        return self.database.queries.older(oldest.isoformat())

    # ------------------------------------------------------------ one asking

    def _keep(self, account: str, words: str, opened: bool, document: str) -> bool:
        key, now = same_form(words), datetime.fromisoformat(self.clock.stamp())
        self._visits = {who: seen for who, seen in self._visits.items() if now - seen[1] < SAME_VISIT}
        if known := self._visits.get((account, key)):
            if opened:
                self.database.queries.set_opened(known[0], self._public(document))
            return True
        if sum(who == account for who, _ in self._visits) >= MOST_KEPT:
            return False
        outcome, best = self._outcome(words)
        if best and not self.readership.may_read(PUBLIC, best):
            return False  # its words belong to those who may read what answers it
        self._drop_beginning(account, key, now)
        hour = now.replace(minute=0, second=0, microsecond=0).isoformat()  # nobody is found again by the minute
        ended = {"opened": int(opened), "document": self._public(document)}
        number = self.database.queries.add(question=words, key=key, at=hour, **ended, **outcome)
        self._visits[account, key] = (number, now)
        return True

    def _public(self, document: str) -> str:
        """The id of a document, if there is one that everybody may read."""
        paths = (
            facts.path for facts in self.searcher.index(words=True).documents if document and facts.doc == document
        )
        path = next(paths, "")
        return document if path and self.readership.may_read(PUBLIC, path) else ""

    def _drop_beginning(self, account: str, key: str, now: datetime) -> None:
        """Somebody paused while typing: what stood there then was not the question."""
        for (who, earlier), (number, when) in tuple(self._visits.items()):
            if who == account and key.startswith(earlier) and now - when < TYPING:
                self.database.queries.drop(number)
                del self._visits[who, earlier]

    def _outcome(self, question: str) -> tuple[dict[str, Any], str]:
        """What a search finds without filters, and the path of the first; a reranker changes neither the number of
        hits nor the confidence."""
        production = self.team_settings.production()
        index = self.searcher.generations.open(production.profile, words=True)
        config = replace(production.config, rerank="off", k=PASSAGES, depth=max(PASSAGES, production.config.depth))
        result = judged(self.searcher.found_in(index, question, config), production.threshold)
        hits = result.hits
        outcome = {
            "hits": len(hits),
            "score": float(hits[0].score) if hits else 0.0,
            "doubtful": int(not result.fits),
            "commit_id": index.generation.commit,
        }
        return outcome, hits[0].path if hits else ""
