"""The words that a team's other tools use for statuses, and which of ours each stands for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from core.access import ANYONE, Actor, use_case
from core.curation.document.statuses import checked
from core.services.platform.settings import TeamSettings

if TYPE_CHECKING:
    from core.services.people.audit import Audit


class StatusWords:
    """What a foreign `status:` is written as when files come in."""

    def __init__(self, team_settings: TeamSettings, audit: Audit) -> None:
        self.team_settings, self.audit = team_settings, audit

    @use_case(ANYONE)
    def all(self) -> Mapping[str, str]:
        """The team's own words; the built-in ones hold besides them."""
        return self.team_settings.statuses()

    @use_case("import documents")
    def decide(self, actor: Actor, words: Mapping[str, str]) -> Mapping[str, str]:
        """Replace the team's own words. Files that are here already stay as they are."""
        self.team_settings.set_statuses(checked(words), actor.person)
        listed = ", ".join(f"{word} = {status}" for word, status in self.all().items())
        self.audit.note(actor, "decide on status words", f"{len(self.all())} words", detail=listed)
        return self.all()
