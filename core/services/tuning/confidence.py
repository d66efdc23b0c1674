"""How well confidence tells answerable from unanswerable questions here, and the threshold that a team chooses by
it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from core.access import READS, Actor, reading_as, use_case
from core.errors import BadInput
from core.evaluation.querysets import anchoring
from core.evaluation.querysets.queryset import Question, choosing
from core.evaluation.statistics import LEAST, Interval
from core.evaluation.tuning import answerable
from core.evaluation.tuning.answerable import ThresholdPoint, without
from core.ports import Index, Progress, no_progress
from core.retrieval import config as configs
from core.services.evaluation.runs import Runs
from core.services.platform.settings import ConfidenceSettings
from core.types import SearchConfig


@dataclass(frozen=True, slots=True)
class AskedTwice:
    """A question with its confidence as it is, and with the documents that answer it taken away."""

    question: str
    text: str
    answerable: float
    unanswerable: float


@dataclass(frozen=True, slots=True)
class ConfidenceReport:
    """How far confidence can be trusted on one query set. `suggested` is the threshold chosen on the choosing half;
    both points say what a threshold does on the other half, or on all questions where there are too few to halve."""

    queryset: str
    profile: str
    questions: int
    held_out: int
    area: Interval
    now: ThresholdPoint
    suggested: ThresholdPoint
    curve: tuple[ThresholdPoint, ...]
    asked: tuple[AskedTwice, ...]
    alarms: float

    @property
    def sentence(self) -> str:
        """The suggestion and what it costs."""
        where = f"{self.held_out} questions that it was not chosen on" if self.held_out else "the questions themselves"
        return (
            f"Threshold {self.suggested.threshold:.2f}: doubts {self.suggested.false_alarms.mean:.0%} of answerable "
            "questions and "
            f"lets {self.suggested.misses.mean:.0%} of unanswerable ones pass, on {where}."
        )

    @property
    def proven(self) -> bool:
        """Whether questions that nothing was chosen on do not speak against the suggestion."""
        return self.held_out >= LEAST and self.suggested.false_alarms.low <= self.alarms


class ConfidenceTuning:
    """Measures confidence on a query set, and chooses its threshold with evidence."""

    def __init__(self, runs: Runs) -> None:
        self.runs, self.searcher, self.team_settings = runs, runs.searcher, runs.team_settings

    @use_case("run an evaluation", whole=True)
    def measure(
        self,
        actor: Actor,
        queryset: str,
        profile: str = "",
        alarms: float = answerable.ALARMS,
        progress: Progress = no_progress,
    ) -> ConfidenceReport:
        """Ask every judged question with and without the documents that answer it."""
        report = self._measure(queryset, profile, alarms, progress)
        self.runs.audit.note(actor, "measure confidence", queryset, detail=f"area {report.area.mean:.3f}")
        with reading_as(actor):
            known = {question.id for question in self.runs.querysets.show(actor, queryset).questions}
        return replace(report, asked=tuple(one for one in report.asked if one.question in known))

    @use_case("run an evaluation", READS)
    def current(self, actor: Actor) -> ConfidenceSettings:
        """The threshold of the team, and what it was chosen on."""
        return self.team_settings.confidence()

    @use_case("change what is in production", whole=True)
    def choose(
        self,
        actor: Actor,
        queryset: str = "",
        *,
        threshold: float | None = None,
        alarms: float = answerable.ALARMS,
        reason: str = "",
        progress: Progress = no_progress,
    ) -> ConfidenceSettings:
        """Make the suggested threshold that of the team, or another one with a reason."""
        seen, reason = self.team_settings.head(), " ".join(reason.split())[:500]
        report = self._measure(queryset, "", alarms, progress) if queryset else None
        if report is None and threshold is None:
            raise BadInput("Name a query set to choose the threshold on, or a threshold with a reason.")
        if not reason and (threshold is not None or report is None or not report.proven):
            said = f"{report.sentence} " if report else ""
            raise BadInput(f"{said}A threshold without evidence needs a reason: add --reason TEXT.")
        value = report.suggested.threshold if report and threshold is None else float(threshold or 0.0)
        settings = ConfidenceSettings(value, evidence(report, reason))
        message = f"Doubt answers below {value:.2f}\n\n{report.sentence if report else ''}\n{reason}".strip()
        self.team_settings.set_confidence(settings, actor.person, message, seen)
        self.runs.audit.note(actor, "choose the threshold of confidence", f"{value:.2f}", detail=reason or queryset)
        return settings

    def _measure(self, queryset: str, profile: str, alarms: float, progress: Progress) -> ConfidenceReport:
        plan = self.runs.plan(profile)
        index = self.searcher.generations.open(plan.profile)
        asked = self._asked(queryset, index, _measured(plan.config), progress)
        chosen_on = choosing([Question(each.question, each.text) for each in asked])
        rest = [each for each in asked if each.question not in chosen_on]
        first, judged = [each for each in asked if each.question in chosen_on], rest or asked
        suggested = answerable.threshold_for([each.answerable for each in first], alarms)
        high, low = _columns(asked)
        return ConfidenceReport(
            queryset,
            plan.profile.name,
            len(asked),
            len(rest),
            answerable.auc_interval(high, low),
            answerable.point_at(self.team_settings.confidence().threshold, *_columns(judged)),
            answerable.point_at(suggested, *_columns(judged)),
            answerable.threshold_curve(high, low),
            tuple(asked),
            alarms,
        )

    def _asked(self, queryset: str, index: Index, config: SearchConfig, progress: Progress) -> list[AskedTwice]:
        judged_set = self.runs.querysets.get(queryset)
        gains = anchoring.gains(judged_set.judgments, index, "document").gains
        asked = []
        for n, question in enumerate(judged_set.questions, 1):
            answers = [document for document, gain in gains.get(question.id, {}).items() if gain > 0]
            if answers:
                asked.append(self._twice(question.id, " ".join(question.text.split()), answers, index, config))
            progress(n, len(judged_set.questions), "Asking with and without the answer")
        if not asked:
            raise BadInput(f"No question of {queryset!r} has a judgment that this index knows.")
        return asked

    def _twice(self, ident: str, text: str, answers: Collection[int], index: Index, config: SearchConfig) -> AskedTwice:
        found = (self.searcher.search_in(each, text, config) for each in (index, without(index, answers)))
        return AskedTwice(ident, text, *(result.confidence for result in found))


def _measured(config: SearchConfig) -> SearchConfig:
    """What is searched with: a reranker does not change confidence, and the questions that documents list would find
    themselves in the field of their answers."""
    return replace(configs.without_answers(config), rerank="off")


def evidence(report: ConfidenceReport | None, reason: str) -> Mapping[str, Any]:
    """What a threshold was chosen on, for the settings file."""
    why: dict[str, Any] = {"reason": reason} if reason else {}
    if report is None:
        return why
    return {
        "queryset": report.queryset,
        "questions": report.questions,
        "held_out": report.held_out,
        "area": round(report.area.mean, 4),
        "false_alarms": round(report.suggested.false_alarms.mean, 4),
        "misses": round(report.suggested.misses.mean, 4),
        **why,
    }


def _columns(asked: Sequence[AskedTwice]) -> tuple[list[float], list[float]]:
    return [each.answerable for each in asked], [each.unanswerable for each in asked]
