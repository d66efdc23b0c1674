"""Prompts for reranking, tuned on what goes wrong (the support study, 4.7).

The best fifty are retrieved for a sample of questions. Where they hold what is relevant and the reranked ten do not,
the
model is shown its failure, says what went wrong, and rewrites its task. The best task of all rounds is kept.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bench.papers.own_runs import Asking
from core import strict
from core.access import SYSTEM, Actor, reading_as
from core.bootstrap import App
from core.errors import BadInput, Unusable
from core.evaluation.measures.by_name import mean, recall
from core.evaluation.querysets import anchoring
from core.evaluation.querysets.queryset import QuerySet, Question, choosing
from core.evaluation.statistics import PairedComparison, compare
from core.llm.asking import ModelTask, ask, together
from core.llm.prompt import RULE, cut, quoted
from core.llm.usable import json_value, schema_of
from core.ports import Index, Llm, Progress, no_progress
from core.retrieval.prompts import RerankPrompt
from core.services.evaluation.cached_candidates import CandidateCache, RankedQuestion
from core.services.evaluation.runs import Runs
from core.services.models.ledger import stopping
from core.services.platform.settings import TunedPrompt
from core.types import SearchConfig

FAR, NEAR = 50, 10  # places of the list that is reranked, and of what must hold the relevant documents
FOUND, GAP = 0.5, 0.3  # the least recall at 50 that makes a question worth reranking; the loss that is a failure
SAMPLES, ROUNDS = 1000, 5
UNHELD = "There were no other questions to score it on."
SHORT, LONG = 40, 4000  # characters of a task
SHOWN = 600  # characters of a passage that a failure shows
INSTRUCTIONS = (
    "You improve the instructions of another model, which ranks passages of a knowledge base for a query. Its ranking "
    "failed. First say what went wrong; then write its instructions anew, so that this and similar failures do not "
    "happen again. Keep them general: never name this query, its passages or their words. " + RULE
)


@dataclass(frozen=True, slots=True)
class Reranked:
    """One question: recall of the fifty, recall of the ten after reranking, and the order."""

    question: Question
    before: float
    after: float
    ranked: RankedQuestion

    @property
    def failed(self) -> bool:
        """Whether the ten lost what the fifty had."""
        return self.before - self.after > GAP


@dataclass(frozen=True, slots=True)
class PromptRound:
    """One task that was tried: mean recall at 10, how many questions failed, and why the model changed it."""

    task: str
    recall: float
    failures: int
    analysis: str = ""


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Recall at 10 of the first task and of the one that was kept, on questions that no task was written for."""

    questions: int
    before: float
    after: float
    compared: PairedComparison

    @property
    def sentence(self) -> str:
        """What the kept task is worth elsewhere."""
        found = (
            f"On {self.questions} questions that it was not tuned on: {self.before:.3f} before and {self.after:.3f}"
            " with it"
        )
        return f"{found}. {self.compared.sentence}"


@dataclass(frozen=True, slots=True)
class PromptTuningResult:
    """The rounds; the prompt that was kept, where one was better than the task it started from, and what
    it is worth.
    """

    questions: int
    rounds: tuple[PromptRound, ...]
    kept: TunedPrompt | None
    unusable: tuple[str, ...] = ()  # why answers were no new task
    held_out: HeldOut | None = None

    @property
    def sentence(self) -> str:
        first, best = self.rounds[0], max(self.rounds, key=lambda tried: tried.recall)
        found = f"{self.questions} questions whose fifty hold what is relevant: recall at 10 was {first.recall:.3f}"
        if len(self.rounds) == 1:
            why = self.unusable[-1] if self.unusable else "No question failed."
            return f"{found}; no other task was written. {why}"
        if self.kept is None:
            return f"{found}; none of {len(self.rounds) - 1} rewritten tasks was better, so none was kept."
        said = f"{found} and is {best.recall:.3f} with {self.kept.title}, on the questions it was tuned on."
        return f"{said} {self.held_out.sentence}" if self.held_out else f"{said} {UNHELD}"


@dataclass(frozen=True, slots=True)
class PromptSettings:
    """How a prompt is tuned."""

    start: str = "one-shot"  # the prompt whose task is rewritten
    config: str = ""
    model: str = ""
    samples: int = SAMPLES
    rounds: int = ROUNDS
    seed: int = 42


@reading_as(SYSTEM)
def tune(
    app: App,
    actor: Actor,
    queryset: str,
    settings: PromptSettings = PromptSettings(),
    *,
    name: str = "",
    progress: Progress = no_progress,
) -> PromptTuningResult:
    """Rewrite the task of a prompt round by round, and keep the best as the next version of its name."""
    runs = app.evaluation.runs
    trial = _Trial(runs, _config(runs, settings), queryset, settings.samples, settings.seed)
    first = runs.team_settings.prompt(settings.start)
    tried = trial.rounds(first, settings.rounds, progress)
    best = max(tried, key=lambda round_: round_.recall)
    if best is tried[0]:
        return PromptTuningResult(len(trial.worth), tuple(tried), None, tuple(trial.unusable))
    held = trial.held_out(first, replace(first, task=best.task), progress)
    kept = _keep(actor, name or queryset, first, tried, trial, held)
    return PromptTuningResult(len(trial.worth), tuple(tried), kept, tuple(trial.unusable), held)


def _config(runs: Runs, settings: PromptSettings) -> SearchConfig:
    if settings.samples < 1 or not 1 <= settings.rounds <= 100:
        raise BadInput("At least one question and 1 to 100 rounds are needed.")
    plan, model = runs.plan(config=settings.config or "dense"), settings.model
    asked = replace(plan.config, rerank="always", reranker="listwise", rerank_model=model, rerank_orders=1)
    return replace(asked, depth=2 * FAR, rerank_depth=FAR)


def _keep(
    actor: Actor, name: str, first: RerankPrompt, tried: Sequence[PromptRound], trial: _Trial, held: HeldOut | None
) -> TunedPrompt:
    best = max(tried, key=lambda round_: round_.recall)
    gain = f"recall at 10 from {tried[0].recall:.3f} to {best.recall:.3f} on {len(trial.worth)} questions"
    evidence: Mapping[str, Any] = {
        "sentence": f"{gain} of {trial.queryset.name}, from {first.name}. {held.sentence if held else UNHELD}",
        "queryset": trial.queryset.name,
        "digest": trial.queryset.digest,
        "model": trial.llm().name,
        "start": first.name,
        "recall": [tried[0].recall, best.recall],
        "analysis": best.analysis,
        "held_out": strict.plain(held) if held else None,
    }
    return trial.runs.team_settings.add_prompt(name, best.task, first.example, evidence, actor.person)


class _Trial:
    """Reranks the questions of a sample with one task after the other."""

    def __init__(self, runs: Runs, config: SearchConfig, queryset: str, samples: int, seed: int) -> None:
        self.runs, self.config, self.queryset = runs, config, runs.querysets.get(queryset)
        self.unusable: list[str] = []
        self.index: Index = runs.searcher.generations.open(runs.team_settings.production().profile)
        self.prompt: RerankPrompt | None = None  # the one that is tried
        searcher: Any = Asking(runs.searcher, self._prompted)
        self.cache = CandidateCache(searcher, runs.database, self.index, config)
        self.gains = anchoring.gains(self.queryset.judgments, self.index).gains
        self.sample, self.held = parted(self.queryset, self.gains, samples, seed)
        self.worth = self._worth(self.sample)
        if not self.worth:
            raise BadInput(f"No question of {queryset!r} finds half of what is relevant among the first {FAR}.")

    def _prompted(self, asked: Any) -> Any:
        return asked._replace(prompt=lambda name: self.prompt or asked.prompt(name))

    def _worth(self, questions: Sequence[Question]) -> list[Question]:
        """Those whose fifty hold at least half of what is relevant."""
        return [asked for asked in questions if self._recall(asked, self._plain(asked), FAR) >= FOUND]

    def held_out(self, first: RerankPrompt, best: RerankPrompt, progress: Progress) -> HeldOut | None:
        """Both tasks on questions that no task was written for; None where there are none."""
        questions = self._worth(self.held)
        if not questions:
            return None
        recalls = [[result.after for result in self._rerank(task, progress, questions)] for task in (first, best)]
        return HeldOut(len(questions), mean(recalls[0]), mean(recalls[1]), compare(*recalls))

    def llm(self) -> Llm:
        return self.runs.searcher.llm(self.config)

    def rounds(self, first: RerankPrompt, most: int, progress: Progress) -> list[PromptRound]:
        """Tasks that were tried, the first as it was; each next one is written for a failure of the best so far."""
        reranked = self._rerank(first, progress)
        tried, seen = [_round(first.task, reranked)], set[str]()
        best, failures = first, _failures(reranked)
        for _ in range(most):
            failure = next((failed for failed in failures if failed.question.id not in seen), None)
            if failure is None:
                break
            seen.add(failure.question.id)
            try:
                analysis, task = self._rewritten(best, failure)
            except Unusable as error:
                self.unusable.append(str(error))
                continue
            candidate = replace(best, task=task)
            reranked = self._rerank(candidate, progress)
            tried.append(_round(task, reranked, analysis))
            if tried[-1].recall > max(known.recall for known in tried[:-1]):
                best, failures = candidate, _failures(reranked)
        return tried

    def _rerank(self, prompt: RerankPrompt, progress: Progress, questions: Sequence[Question] = ()) -> list[Reranked]:
        questions, self.prompt = questions or self.worth, prompt

        def one(question: Question) -> Reranked:
            text = " ".join(question.text.split())
            with stopping():
                ranked = self.cache.rank(text, self.config)
            before = self._recall(question, self._plain(question), FAR)
            return Reranked(question, before, self._recall(question, ranked, NEAR), ranked)

        reranked = []
        with together(one, questions, self.runs.at_once) as results:
            for n, result in enumerate(results, 1):
                reranked.append(result)
                progress(n, len(questions), "Reranking")
        return reranked

    def _plain(self, question: Question) -> RankedQuestion:
        return self.cache.rank(" ".join(question.text.split()), replace(self.config, rerank="off"))

    def _recall(self, question: Question, ranked: RankedQuestion, k: int) -> float:
        documents = list(dict.fromkeys(str(self.index.document_of(chunk)) for chunk in ranked.chunks))
        return recall(documents, {str(unit): gain for unit, gain in self.gains[question.id].items()}, k)

    def _rewritten(self, prompt: RerankPrompt, failure: Reranked) -> tuple[str, str]:
        """What the model says went wrong, and its new task."""
        relevant = {document for document, gain in self.gains[failure.question.id].items() if gain > 0}
        fifty = self._plain(failure.question).chunks[:FAR]
        missed = [chunk for chunk in fifty if self.index.document_of(chunk) in relevant][:3]
        ten = failure.ranked.chunks[:NEAR]
        parts = (
            f"The instructions:\n{quoted('material', prompt.task)}",
            quoted("query", failure.question.text),
            "The ten passages that were put first:\n" + self._passages(ten),
            "Relevant passages that belonged among them:\n" + self._passages(missed),
            'Answer only with JSON: {"analysis": "what went wrong", "prompt": "the new instructions"}',
        )
        schema = schema_of(analysis={"type": "string"}, prompt={"type": "string"})
        return ask(self.llm(), ModelTask("prompt", "\n\n".join(parts), read_task, INSTRUCTIONS, 1200, 0.2, schema))[0]

    def _passages(self, chunks: Sequence[int]) -> str:
        texts = (cut(self.index.excerpt(chunk), SHOWN) for chunk in chunks)
        return "\n".join(quoted("passage", text, n) for n, text in enumerate(texts, 1))


def parted(
    queryset: QuerySet, gains: Mapping[str, Mapping[int, float]], samples: int, seed: int
) -> tuple[list[Question], list[Question]]:
    """The questions that a prompt is tuned on, and those that it is scored on afterwards.

    Held out is the half that nothing is chosen on; in a set too small for halves, a fifth.
    """
    judged = [question for question in queryset.questions if any(gains.get(question.id, {}).values())]
    chosen, draw = choosing(judged), random.Random(seed)
    pool = [question for question in judged if question.id in chosen]
    held = [question for question in judged if question.id not in chosen]
    if not held:
        held = draw.sample(pool, len(pool) // 5)
        pool = [question for question in pool if question not in held]
    return draw.sample(pool, min(samples, len(pool))), draw.sample(held, min(samples, len(held)))


def _round(task: str, reranked: Sequence[Reranked], analysis: str = "") -> PromptRound:
    failures = sum(result.failed for result in reranked)
    return PromptRound(task, round(mean([result.after for result in reranked]), 6), failures, analysis)


def _failures(reranked: Sequence[Reranked]) -> list[Reranked]:
    """What failed, the largest loss first."""
    failed = [result for result in reranked if result.failed]
    return sorted(failed, key=lambda result: (result.after - result.before, result.question.id))


def read_task(answer: str) -> tuple[str, str]:
    """The analysis and the new task of an answer.

    >>> read_task('{"analysis": "Too broad.", "prompt": "Put the passage that states the fact first, always."}')
    ('Too broad.', 'Put the passage that states the fact first, always.')
    """
    raw = json_value(answer, dict)
    analysis, task = (" ".join(str(raw.get(key, "")).split()) for key in ("analysis", "prompt"))
    if not SHORT <= len(task) <= LONG:
        raise BadInput(f"its instructions have {len(task)} characters, not {SHORT} to {LONG:,}")
    return analysis, task
