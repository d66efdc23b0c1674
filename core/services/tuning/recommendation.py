"""What a knowledge base is offered, with evidence of its own: the recommended configuration, and what its questions teach."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from core import profiles, strict
from core.access import READS, Actor, use_case
from core.errors import BadInput, ConcordError
from core.evaluation.learning.training import TARGETS
from core.evaluation.runs.comparisons import RunComparison
from core.evaluation.statistics import PairedComparison
from core.ports import Progress, no_progress
from core.retrieval import config as configs
from core.retrieval.presets import advice, titled
from core.services.evaluation.runs import RunPlan
from core.services.tuning.alpha import AlphaSettings, AlphaTraining, SameAlpha, TrainedAlpha
from core.services.tuning.embedders import EmbedderTuning
from core.services.tuning.production import ProductionSettings
from core.services.tuning.rankers import RankerTraining
from core.services.tuning.trainable import Trainable
from core.types import SearchConfig


@dataclass(frozen=True, slots=True)
class Offer:
    """A configuration that production does not have. `run` is its newest on the query set; "" before it was measured."""

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
        """What is offered; None when it serves already or was declined."""
        now = self.team_settings.production()
        config = replace(configs.RECOMMENDED, k=now.config.k)
        if config == now.config or self.team_settings.declined() == configs.identity(configs.RECOMMENDED):
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
            raise BadInput("There is no query set to measure on. Make one with: python -m core eval generate")
        now = self.team_settings.production()
        plans = [RunPlan(now.profile, now.config), RunPlan(now.profile, offered.config)]
        pairs = [self.runs.evaluate(name, plans, progress=progress) for name in dict.fromkeys(names)]
        self.audit.note(actor, "measure the recommendation", ", ".join(dict.fromkeys(names)))
        return tuple(self.production.judged(before, after) for before, after in pairs)

    @use_case("change what is in production")
    def decline(self, actor: Actor, reason: str) -> None:
        """Do not offer this configuration again; the next recommendation is offered."""
        reason = " ".join(reason.split())[:500]
        if not reason:
            raise BadInput("Say why what is recommended does not suit you: the next admin will ask.")
        self.team_settings.decline(configs.identity(configs.RECOMMENDED), reason, actor.person)
        self.audit.note(actor, "decline the recommendation", titled(configs.RECOMMENDED), detail=reason)


# ---------------------------------------------------------------- what questions teach

FROM_DOCUMENTS = "answers"  # the set of the questions that documents list, where there is none


@dataclass(frozen=True, slots=True)
class LearnedPart:
    """One thing that was learned, against what searches without it, on questions that it has not seen. Where it could not
    be learned, `sentence` says why."""

    title: str
    sentence: str
    name: str = ""
    wins: bool = False
    gain: PairedComparison | None = None
    plan: RunPlan | None = None


@dataclass(frozen=True, slots=True)
class LearningReport:
    """What the questions of a knowledge base teach. `run` is that of the best part, where one wins: it can be promoted."""

    querysets: tuple[str, ...]
    questions: int
    parts: tuple[LearnedPart, ...]
    best: str = ""
    run: str = ""
    judged: PairedComparison | None = None

    @property
    def more(self) -> int:
        """Judged questions that would settle the part which lacks fewest; 0 where one wins or none can be told."""
        lacking = [part.gain.needed for part in self.parts if part.gain and part.gain.needed]
        return 0 if self.best else min(lacking, default=0)

    @property
    def advice(self) -> str:
        if self.run and self.judged:
            settled = "Promote it" if self.judged.verdict == "better" else "Look before you promote it"
            return f"{self.best} is better on questions it has not seen. {settled}: {self.judged.sentence}"
        if self.more:
            return f"Keep production: nothing is shown to be better yet. About {self.more:,} more judged questions would tell."
        return "Keep production: nothing that was learned is better."

    def plain(self) -> dict[str, Any]:
        """With its evidence, as plain values."""
        return {
            "querysets": list(self.querysets),
            "questions": self.questions,
            "parts": [
                {
                    **{key: getattr(part, key) for key in ("title", "sentence", "name", "wins")},
                    "gain": strict.plain(part.gain) if part.gain else None,
                }
                for part in self.parts
            ],
            "best": self.best,
            "run": self.run,
            "judged": strict.plain(self.judged) if self.judged else None,
            "more": self.more,
            "advice": self.advice,
        }


class Learning:
    """Learns everything that can be learned from the questions of a knowledge base, in one step."""

    def __init__(
        self,
        production: ProductionSettings,
        alphas: AlphaTraining,
        rankers: RankerTraining,
        embedders: EmbedderTuning,
    ) -> None:
        self.production, self.runs = production, production.runs
        self.alphas, self.rankers, self.embedders = alphas, rankers, embedders

    @use_case("change what is in production", whole=True)
    def learn(self, actor: Actor, querysets: Sequence[str] = (), progress: Progress = no_progress) -> LearningReport:
        """Train alpha, a ranker and an embedder, each judged on questions it has not seen, and run the best beside
        production. Nothing is promoted. Without query sets those that there are teach, or what documents say they answer.
        """
        names = tuple(querysets) or self._own(actor)
        trainers = {"Alpha per question": self._alpha, "Ranker": self._ranker, "Embedder": self._embedder}
        parts = tuple(_learned(title, partial(train, actor, names, progress)) for title, train in trainers.items())
        sets = [self.runs.querysets.get(name) for name in names]
        judged = sum(len({judgment.question for judgment in each.judgments}) for each in sets)
        winners = [part for part in parts if part.wins and part.gain and part.plan]
        best = max(winners, key=lambda part: part.gain.difference.mean if part.gain else 0.0, default=None)
        report = LearningReport(names, judged, parts)
        return self._measured(report, best, progress) if best and best.plan else report

    def _own(self, actor: Actor) -> tuple[str, ...]:
        known = tuple(summary.name for summary in self.runs.querysets.all())
        return known or (self.runs.querysets.from_frontmatter(actor, FROM_DOCUMENTS).name,)

    def _measured(self, report: LearningReport, best: LearnedPart, progress: Progress) -> LearningReport:
        """The best part and production as runs on the first set."""
        assert best.plan
        plans = [self.runs.plan(), best.plan]
        before, after = self.runs.evaluate(report.querysets[0], plans, progress=progress)
        compared = self.production.judged(before, after)
        return replace(report, best=best.title, run=after.id, judged=compared.overall)

    def _alpha(self, actor: Actor, names: Sequence[str], progress: Progress) -> LearnedPart:
        made = self._alpha_by(tuple(TARGETS), actor, names[0], progress)
        plan = RunPlan(self.runs.plan().profile, made.config)
        return LearnedPart("", made.advice, made.trained.model.name, made.wins, made.against_best_fixed, plan)

    def _alpha_by(self, targets: Sequence[str], actor: Actor, name: str, progress: Progress) -> TrainedAlpha:
        """By the first target that tells the questions apart: in one step nobody can choose another."""
        for target in targets:
            with suppress(SameAlpha):
                return self.alphas.train(actor, name, AlphaSettings(target=target, folds=0), progress=progress)
        raise BadInput("All questions have the same best alpha, whatever it should be best at.")

    def _ranker(self, actor: Actor, names: Sequence[str], progress: Progress) -> LearnedPart:
        made = self.rankers.train(actor, names, progress=progress)
        plan = RunPlan(self.runs.plan().profile, made.config)
        return LearnedPart("", made.advice, made.model.name, made.wins, made.unseen, plan)

    def _embedder(self, actor: Actor, names: Sequence[str], progress: Progress) -> LearnedPart:
        made = self.embedders.train(actor, names, progress=progress)
        plan = RunPlan(made.profile, self.runs.plan().config)
        return LearnedPart("", made.advice, made.name, made.wins, made.compared[0].overall, plan)

    @property
    def trainable(self) -> Trainable:
        return Trainable("learn-all", lambda arguments: None, self._as_job)

    def _as_job(self, actor: Actor, arguments: Mapping[str, Any], progress: Progress) -> LearningReport:
        return self.learn(actor, arguments["querysets"], progress)


def _learned(title: str, train: Callable[[], LearnedPart]) -> LearnedPart:
    """A part, or why it could not be learned: too few questions, no torch, a fusion without alpha."""
    try:
        return replace(train(), title=title)
    except ConcordError as error:
        return LearnedPart(title, f"Not learned: {error}")
