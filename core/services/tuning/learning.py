"""What the questions of a knowledge base teach its search: alpha, a ranker and an embedder, and the one that wins is
promoted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from core import strict
from core.access import UPKEEP, Actor, use_case
from core.curation.document.questions import same_form
from core.curation.words.pins import Pin
from core.cures import MAKE_QUERYSET
from core.errors import BadInput, ConcordError
from core.evaluation.querysets import import_querysets
from core.evaluation.querysets.queryset import Judgment, QuerySet, Question, once
from core.evaluation.statistics import PairedComparison
from core.ports import Progress, no_progress
from core.services.evaluation.querysets import from_grade
from core.services.evaluation.runs import RunPlan, Runs
from core.services.playground.grades import question_id
from core.services.tuning.alpha import AlphaTraining
from core.services.tuning.embedders import EmbedderTuning
from core.services.tuning.production import ProductionSettings, losses, proven
from core.services.tuning.rankers import RankerTraining

JOB = "learn-all"
ALPHA, RANKER, EMBEDDER = "Alpha per question", "Ranker", "Embedder"
OWN = "own-questions"  # the set of what people wrote, pinned, judged and opened, where no other set asks it
ENDED = 2  # searches for a question that ended at a document: it answers the question


class OwnQuestions:
    """Questions with what answers them, as people left them: `answers:` of documents, pins, grades given in the
    playground, and searches that ended at a document."""

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
    """One thing that was learned, against what searches without it, on questions that it has not seen. Where it could
    not be learned, `sentence` says why."""

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
    """What the questions of a knowledge base teach. `run` is that of the best part, where one wins."""

    querysets: tuple[str, ...]
    questions: int
    parts: tuple[LearnedPart, ...]
    best: str = ""
    run: str = ""
    judged: PairedComparison | None = None
    promoted: bool = False

    @property
    def more(self) -> int:
        """Judged questions that would settle the part which lacks fewest; 0 where one wins or none can be told."""
        return 0 if self.best else min((part.more for part in self.parts if part.more), default=0)

    @property
    def advice(self) -> str:
        if self.promoted and self.judged:
            return f"{self.best} wins and is in production now. {self.judged.sentence}"
        if self.judged:
            return f"{self.best} wins on questions it has not seen. Look before you promote it: {self.judged.sentence}"
        if not any(part.gain for part in self.parts):
            return "Production stays: there are too few questions to learn from."
        if self.more:
            return f"Nothing wins, so production stays. About {self.more:,} more judged questions would tell."
        return "Nothing wins, so production stays: it already searches as well as what was learned."

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
            "promoted": self.promoted,
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
    """Learns everything that can be learned from the questions of a knowledge base, in one step; and again in the
    background after every so many new questions, once somebody has learned from them."""

    def __init__(self, production: ProductionSettings, trainers: Trainers, own: OwnQuestions, every: int) -> None:
        self.production, self.runs = production, production.runs
        self.own, self.every = own, every
        self.alphas, self.rankers, self.embedders = trainers.alphas, trainers.rankers, trainers.embedders

    @use_case("change what is in production", whole=True)
    def learn(
        self, actor: Actor, querysets: Sequence[str] = (), promote: bool = True, progress: Progress = no_progress
    ) -> LearningReport:
        """Train alpha, a ranker and an embedder, each judged on questions it has not seen, and promote the best where
        it is proven beside production. Without query sets all that there are teach, with what people left besides.
        """
        names = tuple(querysets) or self._own(actor)
        trainers = {ALPHA: self._alpha, RANKER: self._ranker, EMBEDDER: self._embedder}
        parts = tuple(_learned(title, partial(train, actor, names, progress)) for title, train in trainers.items())
        report = LearningReport(names, _judged([self.runs.querysets.get(name) for name in names]), parts)
        winners = [part for part in parts if part.wins and part.gain and part.plan]
        if not winners:
            return report
        best = max(winners, key=lambda part: part.gain.difference.mean if part.gain else 0.0)
        return self._weighed(actor, report, best, promote, progress)

    def _weighed(
        self, actor: Actor, report: LearningReport, best: LearnedPart, promote: bool, progress: Progress
    ) -> LearningReport:
        """The best part beside production on the first set, and in its place where that and every guardrail allow
        it.
        """
        assert best.plan
        run = self.runs.evaluate(report.querysets[0], [best.plan], progress=progress)[0].id
        compared = self.production.evidence(actor, run, progress=progress)
        safe = proven(compared) and not losses(self.production.guardrails(actor, run, progress=progress))
        if promote and safe:
            self.production.promote(actor, run)
        return replace(report, best=best.title, run=run, judged=compared.overall, promoted=promote and safe)

    @use_case(UPKEEP)
    def follow(self, cause: Actor) -> None:
        """After a build: learn again where somebody has learned and enough questions are new. Nothing is promoted."""
        jobs = (job for job in self.runs.jobs.recent(500) if (job.kind, job.state) == (JOB, "done"))
        last = next(jobs, None) if self.every else None
        if last and not last.arguments.get("querysets"):
            sets = self._sets()
            if _judged(sets) - last.result["questions"] >= self.every:
                self.runs.jobs.start(JOB, {"querysets": [], "promote": False}, cause=cause)

    def work(self, arguments: Mapping[str, Any], progress: Progress) -> Any:
        """The job `learn-all`."""
        actor = self.runs.jobs.actor(arguments, "change what is in production")
        return self.learn(actor, arguments["querysets"], arguments.get("promote", False), progress).plain()

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

    def _alpha(self, actor: Actor, names: Sequence[str], progress: Progress) -> LearnedPart:
        made = self.alphas.train(actor, names[0], progress=progress)
        plan = RunPlan(self.runs.plan().profile, made.config)
        return LearnedPart("", made.advice, made.trained.model.name, made.wins, made.against_best_fixed, plan)

    def _ranker(self, actor: Actor, names: Sequence[str], progress: Progress) -> LearnedPart:
        made = self.rankers.train(actor, names, progress=progress)
        plan = RunPlan(self.runs.plan().profile, made.config)
        return LearnedPart("", made.advice, made.model.name, made.wins, made.unseen, plan)

    def _embedder(self, actor: Actor, names: Sequence[str], progress: Progress) -> LearnedPart:
        made = self.embedders.train(actor, names, progress=progress)
        plan = RunPlan(made.profile, self.runs.plan().config)
        return LearnedPart("", made.advice, made.name, made.wins, made.compared[0].overall, plan)


def _judged(sets: Sequence[QuerySet]) -> int:
    """How many questions have a judgment."""
    return sum(len({judgment.question for judgment in each.judgments}) for each in once(sets))


def _learned(title: str, train: Callable[[], LearnedPart]) -> LearnedPart:
    """A part, or why it could not be learned: too few questions, no torch, a fusion without alpha."""
    try:
        return replace(train(), title=title)
    except ConcordError as error:
        return LearnedPart(title, f"Not learned: {error}")
