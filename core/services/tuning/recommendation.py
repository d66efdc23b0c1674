"""What a knowledge base is offered, with evidence of its own: the recommended configuration, and what its questions teach."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

from core import profiles, strict
from core.access import READS, UPKEEP, Actor, reading_as, use_case
from core.curation.document.questions import same_form
from core.curation.words.pins import Pin
from core.cures import MAKE_QUERYSET
from core.errors import BadInput, ConcordError
from core.evaluation.learning.training import TARGETS
from core.evaluation.querysets import import_querysets
from core.evaluation.querysets.queryset import Judgment, QuerySet, Question, for_choosing, once
from core.evaluation.runs import comparisons
from core.evaluation.runs.comparisons import RunComparison
from core.evaluation.statistics import PairedComparison, compare
from core.ports import Progress, no_progress
from core.retrieval import config as configs
from core.retrieval.presets import advice, titled
from core.services.evaluation.querysets import from_grade
from core.services.evaluation.runs import RunPlan, Runs
from core.services.playground.grades import question_id
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


# ---------------------------------------------------------------- what questions teach

JOB = "learn-all"
ALPHA = "Alpha per question"
RANKER = "Ranker"
EMBEDDER = "Embedder"
TOGETHER = "All together"
OWN = "own-questions"  # the set of what people wrote, pinned, judged and opened, where no other set asks it
ENDED = 2  # searches for a question that ended at a document: it answers the question


class OwnQuestions:
    """Questions with what answers them, as people left them: `answers:` of documents, pins, grades given in the playground,
    and searches that ended at a document."""

    def __init__(self, runs: Runs, pins: Callable[[], Sequence[Pin]]) -> None:
        self.runs, self.pins, self.documents = runs, pins, runs.querysets.documents

    def besides(self, others: Sequence[QuerySet]) -> QuerySet:
        """Those that no other set asks."""
        taken = {same_form(question.text) for queryset in others for question in queryset.questions}
        questions: dict[str, Question] = {}
        judgments = []
        for question, judgment in self._all():
            if (form := same_form(question.text)) not in taken:
                asked = questions.setdefault(form, question)
                judgments.append(replace(judgment, question=asked.id))
        about = "what documents say they answer, pins, judgments, and searches that ended at a document"
        return QuerySet(OWN, tuple(questions.values()), tuple(judgments), about)

    def _all(self) -> Iterator[tuple[Question, Judgment]]:
        listed = import_querysets.from_frontmatter(self.documents.all(), OWN)
        yield from zip(listed.questions, listed.judgments, strict=True)
        for pin in self.pins():
            for text in pin.questions:
                yield _answered(text, pin.document, "pin")
        for grade in self.runs.database.grades.of(""):
            question = Question(question_id(grade.query), grade.query, "playground")
            yield question, from_grade(question.id, grade)
        paths = {document.id: document.path for document in self.documents.all()}
        for ended in self.runs.database.queries.ended(ENDED):
            if ended.document in paths:
                yield _answered(ended.question, paths[ended.document], "search")


def _answered(text: str, path: str, source: str) -> tuple[Question, Judgment]:
    question = Question(question_id(text), text, source)
    return question, Judgment(question.id, path, source=source)


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

    @property
    def more(self) -> int:
        """Judged questions that would probably show the gain; 0 where it is settled, or where there is none to show."""
        return self.gain.needed if self.gain and self.gain.difference.mean > 0 else 0


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
        return 0 if self.best else min((part.more for part in self.parts if part.more), default=0)

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
                    **{key: getattr(part, key) for key in ("title", "sentence", "name", "wins", "more")},
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


@dataclass(frozen=True, slots=True)
class Trainers:
    """What trains the parts."""

    alphas: AlphaTraining
    rankers: RankerTraining
    embedders: EmbedderTuning


class Learning:
    """Learns everything that can be learned from the questions of a knowledge base, in one step; and again in the background
    after every so many new questions, once somebody has learned from them."""

    def __init__(self, production: ProductionSettings, trainers: Trainers, own: OwnQuestions, every: int) -> None:
        self.production = production
        self.runs = production.runs
        self.own = own
        self.every = every
        self.alphas, self.rankers, self.embedders = trainers.alphas, trainers.rankers, trainers.embedders

    @use_case("change what is in production", whole=True)
    def learn(self, actor: Actor, querysets: Sequence[str] = (), progress: Progress = no_progress) -> LearningReport:
        """Train alpha, a ranker and an embedder, then all together, each judged on questions it has not seen, and run the best
        beside production. Nothing is promoted. Without query sets all that there are teach, with what people left besides.
        """
        names = tuple(querysets) or self._own(actor)
        trainers = {ALPHA: self._alpha, RANKER: self._ranker, EMBEDDER: self._embedder}
        parts = tuple(_learned(title, partial(train, actor, names, progress)) for title, train in trainers.items())
        parts = (*parts, _learned(TOGETHER, partial(self._together, actor, names, parts, progress)))
        judged = _judged([self.runs.querysets.get(name) for name in names])
        winners = [part for part in parts if part.wins and part.gain and part.plan]
        best = max(winners, key=lambda part: part.gain.difference.mean if part.gain else 0.0, default=None)
        report = LearningReport(names, judged, parts)
        return self._measured(report, best, progress) if best and best.plan else report

    @use_case(UPKEEP)
    def follow(self, cause: Actor) -> None:
        """After a build: learn again where somebody has learned and enough questions are new. Nothing is promoted."""
        jobs = (job for job in self.runs.jobs.recent(500) if (job.kind, job.state) == (JOB, "done"))
        last = next(jobs, None) if self.every else None
        if last and not last.arguments.get("querysets"):
            sets = self._sets()
            if _judged(sets) - last.result["questions"] >= self.every:
                self.runs.jobs.start(JOB, {"querysets": []}, cause=cause)

    def _sets(self) -> list[QuerySet]:
        """Every query set, the one with most judged questions first, with what people left besides."""
        known = {summary.name: self.runs.querysets.get(summary.name) for summary in self.runs.querysets.all()}
        known.pop(OWN, None)
        every = [*known.values(), self.own.besides(list(known.values()))]
        every.sort(key=lambda each: _judged([each]), reverse=True)
        return [queryset for queryset, rest in zip(every, once(every), strict=True) if _judged([rest])]

    def _own(self, actor: Actor) -> tuple[str, ...]:
        sets = self._sets()
        for own in (each for each in sets if each.name == OWN):
            self.runs.querysets.keep(actor, own)
        if not sets:
            raise BadInput(
                "There is no question to learn from. List some under `answers:` of documents, or pin or judge some.",
                MAKE_QUERYSET,
            )
        return tuple(each.name for each in sets)

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

    def _alpha_by(
        self, targets: Sequence[str], actor: Actor, name: str, progress: Progress, profile: str = ""
    ) -> TrainedAlpha:
        """By the first target that tells the questions apart: in one step nobody can choose another."""
        for target in targets:
            with suppress(SameAlpha):
                settings = AlphaSettings(target=target, folds=0, profile=profile)
                return self.alphas.train(actor, name, settings, progress=progress)
        raise BadInput("All questions have the same best alpha, whatever it should be best at.")

    def _ranker(self, actor: Actor, names: Sequence[str], progress: Progress) -> LearnedPart:
        made = self.rankers.train(actor, names, progress=progress)
        plan = RunPlan(self.runs.plan().profile, made.config)
        return LearnedPart("", made.advice, made.model.name, made.wins, made.unseen, plan)

    def _embedder(self, actor: Actor, names: Sequence[str], progress: Progress) -> LearnedPart:
        made = self.embedders.train(actor, names, progress=progress)
        plan = RunPlan(made.profile, self.runs.plan().config)
        return LearnedPart("", made.advice, made.name, made.wins, made.compared[0].overall, plan)

    def _together(
        self, actor: Actor, names: Sequence[str], parts: Sequence[LearnedPart], progress: Progress
    ) -> LearnedPart:
        """The learned embedder with a ranker that learned on it; alpha per question where no ranker was learned, since a
        ranker reads what both legs give. Judged on the half of every set that no part has learned from."""
        learned = {part.title: part for part in parts if part.plan}
        if len(learned) < 2:
            raise BadInput("fewer than two parts could be learned, so there is nothing to put together.")
        embedder = learned[EMBEDDER].plan if EMBEDDER in learned else None
        profile = embedder.profile if embedder else self.runs.plan().profile
        if RANKER in learned:
            ranker = self.rankers.train(actor, names, profile=profile.name, progress=progress)
            name, plan = ranker.model.name, RunPlan(profile, ranker.config)
        else:
            alpha = self._alpha_by(tuple(TARGETS), actor, names[0], progress, profile.name)
            name, plan = alpha.trained.model.name, RunPlan(profile, alpha.config)
        runs = [self.runs.evaluate(name, [self.runs.plan(), plan], progress=progress) for name in names]
        compared = [comparisons.compare(before, after).rows for before, after in runs]
        every = {same_form(row.text): row for each in reversed(compared) for row in each}  # of copies the first set's
        rows = [row for row in every.values() if not for_choosing(row.text)]
        if not rows:
            raise BadInput("no judged question is left that no part has learned from.")
        gain = compare([row.before for row in rows], [row.after for row in rows])
        title = " and ".join(title.lower() for title in learned if title != ALPHA or RANKER not in learned)
        name = f"{learned[EMBEDDER].name}, {name}" if embedder else name
        return LearnedPart("", f"{title}: {gain.sentence}", name, gain.verdict == "better", gain, plan)

    @property
    def trainable(self) -> Trainable:
        return Trainable(JOB, lambda arguments: None, self._as_job)

    def _as_job(self, actor: Actor, arguments: Mapping[str, Any], progress: Progress) -> LearningReport:
        return self.learn(actor, arguments["querysets"], progress)


def _judged(sets: Sequence[QuerySet]) -> int:
    """How many questions have a judgment."""
    return sum(len({judgment.question for judgment in each.judgments}) for each in once(sets))


def _learned(title: str, train: Callable[[], LearnedPart]) -> LearnedPart:
    """A part, or why it could not be learned: too few questions, no torch, a fusion without alpha."""
    try:
        return replace(train(), title=title)
    except ConcordError as error:
        return LearnedPart(title, f"Not learned: {error}")
