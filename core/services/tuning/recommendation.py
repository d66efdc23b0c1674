"""What a knowledge base is offered, with evidence of its own: the recommended configuration."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from core import profiles
from core.access import READS, Actor, reading_as, use_case
from core.cures import MAKE_QUERYSET
from core.errors import BadInput
from core.evaluation.runs.comparisons import RunComparison
from core.ports import Progress, no_progress
from core.retrieval import config as configs
from core.retrieval.presets import advice, titled
from core.services.evaluation.runs import RunPlan
from core.services.tuning.production import ProductionSettings
from core.types import SearchConfig


@dataclass(frozen=True, slots=True)
class Offer:
    """A configuration that production does not have. `run` is its newest on the query set; "" before it was
    measured.
    """

    title: str
    about: str
    config: SearchConfig
    profile: str
    queryset: str
    run: str = ""


class Recommendation:
    """Offers it, measures it beside production, and remembers that it was declined."""

    def __init__(self, production: ProductionSettings) -> None:
        self.production = production
        self.team_settings, self.runs, self.audit = production.team_settings, production.runs, production.audit

    @use_case("run an evaluation", READS)
    def offer(self, actor: Actor) -> Offer | None:
        """What is offered; None when it serves already, with or without a reranker upon it, or was declined."""
        now = self.team_settings.production()
        config = replace(configs.RECOMMENDED, k=now.config.k)
        if _fuses_alike(now.config, config) or self.team_settings.declined() == configs.identity(configs.RECOMMENDED):
            return None
        title = titled(configs.RECOMMENDED)
        queryset, _ = self.production.default_queryset(actor)
        offered = Offer(title, advice(title), config, now.profile.name, queryset)
        return replace(offered, run=self._newest(offered, profiles.identity(now.profile))) if queryset else offered

    def _newest(self, offered: Offer, profile: str) -> str:
        wanted, digest = configs.identity(offered.config), self.runs.querysets.get(offered.queryset).digest
        for run in self.runs.all(offered.queryset):
            if (run.config_digest, run.profile_digest, run.queryset_digest) == (wanted, profile, digest):
                return run.id
        return ""

    @use_case("run an evaluation", whole=True)
    def measure(self, actor: Actor, progress: Progress = no_progress) -> tuple[RunComparison, ...]:
        """Production and what is offered on the team's own query sets: the usual one, then those it was measured on."""
        offered = self.offer(actor)
        if offered is None:
            raise BadInput("Nothing is offered: production is what is recommended, or the offer was declined.")
        names = [offered.queryset, *self.production.watched(actor)]
        if not offered.queryset:
            raise BadInput("There is no query set to measure on.", MAKE_QUERYSET)
        now = self.team_settings.production()
        plans = [RunPlan(now.profile, now.config), RunPlan(now.profile, offered.config)]
        pairs = [self.runs.evaluate(name, plans, progress=progress) for name in dict.fromkeys(names)]
        self.audit.note(actor, "measure the recommendation", ", ".join(dict.fromkeys(names)))
        compared = [self.production.judged(before, after) for before, after in pairs]
        with reading_as(actor):
            return tuple(map(self.runs.shown_comparison, compared))

    @use_case("change what is in production")
    def decline(self, actor: Actor, reason: str) -> None:
        """Do not offer this configuration again; the next recommendation is offered."""
        reason = " ".join(reason.split())[:500]
        if not reason:
            raise BadInput("Say why what is recommended does not suit you: the next admin will ask.")
        self.team_settings.decline(configs.identity(configs.RECOMMENDED), reason, actor.person)
        self.audit.note(actor, "decline the recommendation", titled(configs.RECOMMENDED), detail=reason)


def _fuses_alike(one: SearchConfig, other: SearchConfig) -> bool:
    """Whether two differ in nothing but reranking."""
    reranking = ("tau", *(each.name for each in fields(SearchConfig) if each.name.startswith("rerank")))
    return replace(one, **{name: getattr(other, name) for name in reranking}) == other
