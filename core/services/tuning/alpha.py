"""Learned alpha: a model trained on a judged query set, and how it ranks on questions it has not seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from statistics import mean, stdev
from typing import TYPE_CHECKING, Any

from core import strict
from core.access import Actor, use_case
from core.errors import BadInput
from core.evaluation.learning.learners import grid_point, r2
from core.evaluation.learning.training import (
    TARGETS,
    Example,
    Prediction,
    Trained,
    best_alpha,
    crossfit,
    folds_of,
    train,
)
from core.evaluation.measures.by_name import READ, Gold, value
from core.evaluation.measures.by_name import known as known_measure
from core.evaluation.measures.passages import coverage
from core.evaluation.querysets import anchoring
from core.evaluation.querysets.queryset import QuerySet, Question, by_question, choosing, settled
from core.evaluation.statistics import Interval, PairedComparison, bootstrap, compare
from core.evaluation.tuning.sweep import alphas
from core.ports import Index, Progress, no_progress
from core.retrieval import config as configs
from core.retrieval.alpha.alpha_models import purpose
from core.retrieval.alpha.learned import ALPHA
from core.retrieval.candidates import Candidates, fuse
from core.retrieval.method_values import AlphaModel
from core.retrieval.pipeline import seen
from core.services.evaluation.cached_candidates import CandidateCache
from core.services.evaluation.runs import Runs, gold
from core.services.tuning.trainable import Trainable, writable_name
from core.types import NOTHING, SearchConfig

if TYPE_CHECKING:
    from core.adapters.models.trained_files import TrainedFiles

FOLDS = 5  # of cross-validation, as in the thesis
SWARM = 12  # features whose values are drawn question by question
GRID = 21  # alphas among which the fixed one and those of the oracle are chosen


@dataclass(frozen=True, slots=True)
class Fold:
    """One fold of cross-validation: questions that its model has not seen, R², and the measure with its alphas."""

    questions: int
    r2: float
    model: float
    fixed: float


@dataclass(frozen=True, slots=True)
class TrainedAlpha:
    """A trained model, and its retrieval quality on questions it has not seen beside one fixed alpha and the oracle.

    The fixed alpha was chosen on the questions that the model learned from, as the model was.
    """

    trained: Trained
    measure: str
    quality: Mapping[str, Interval]
    best_fixed: float
    against_best_fixed: PairedComparison
    config: SearchConfig
    path: str
    folds: tuple[Fold, ...] = ()

    @property
    def spread(self) -> str:
        """What cross-validation says, or nothing where there were too few questions for it."""
        if not self.folds:
            return ""
        scores = [fold.r2 for fold in self.folds]
        ahead = sum(fold.model > fold.fixed for fold in self.folds)
        return (
            f"Cross-validation on the questions it learned from: R² {mean(scores):.3f} ± {stdev(scores):.3f} over "
            f"{len(scores)} folds, {min(scores):.3f} to {max(scores):.3f}; ahead of the fixed alpha in {ahead} of them."
        )

    @property
    def wins(self) -> bool:
        """Whether the model is worth having."""
        return self.against_best_fixed.verdict == "better" and not self.trained.warning

    @property
    def advice(self) -> str:
        """Whether to use the model, or the one alpha to use instead."""
        learned, unseen = len(self.trained.learned_from), self.against_best_fixed.queries
        fixed = f"the fixed alpha {self.best_fixed:g}, chosen on the {learned} questions that the model learned from"
        if self.wins:
            return f"Use the model: on {unseen} questions it has not seen it beats {fixed}."
        why = "does not beat" if self.against_best_fixed.verdict != "better" else "is not shown well enough to beat"
        return f"Use {fixed}: the model {why} it on {unseen} questions it has not seen."

    def plain(self) -> dict[str, Any]:
        """A learned alpha with its evidence, as plain values."""
        trained = self.trained
        return {
            "model": trained.model.name,
            "kind": trained.model.kind,
            "queries": trained.model.evidence["queries"],
            "r2": dict(trained.r2),
            "coefficients": dict(trained.coefficients),
            "contributions": _strengths(trained),
            "swarm": _swarm(trained),
            "losses": {part: list(values) for part, values in trained.losses.items()},
            "test": strict.plain(trained.test),
            "measure": self.measure,
            "quality": strict.plain(self.quality),
            "best_fixed": self.best_fixed,
            "against_best_fixed": strict.plain(self.against_best_fixed),
            "folds": strict.plain(self.folds),
            "spread": self.spread,
            "warning": trained.warning,
            "wins": self.wins,
            "advice": self.advice,
            "config": strict.plain(self.config),
        }


@dataclass(frozen=True, slots=True)
class AlphaSettings:
    """What is learned, for which way of searching, and how it is measured."""

    kind: str = "ridge"
    profile: str = ""  # that of production if not set, as is the configuration
    config: SearchConfig | None = None
    measure: str = "nDCG@10"
    target: str = "lss"  # what the best alpha of a question maximises
    folds: int = FOLDS


class AlphaTraining:
    """Trains and stores models of alpha."""

    def __init__(self, runs: Runs, store: TrainedFiles[AlphaModel]) -> None:
        self.runs, self.store = runs, store

    @use_case("change what is in production", whole=True)
    def train(
        self,
        actor: Actor,
        queryset: str,
        settings: AlphaSettings = AlphaSettings(),
        *,
        name: str = "",
        progress: Progress = no_progress,
    ) -> TrainedAlpha:
        """Learn alpha from a query set for one configuration, and store the model under a name.

        The chosen settings are cross-validated on the questions that the model learned from; 0 folds leave that out.
        """
        kind, measure, folds = settings.kind, settings.measure, settings.folds
        if folds != 0 and not 2 <= folds <= 20:
            raise BadInput("Cross-validation has 2 to 20 folds; 0 leaves it out.")
        known_measure(measure)
        plan = self.runs.plan(settings.profile)
        base = replace(
            settings.config or plan.config, rerank="off", alpha_from="fixed", alpha_model="", weights=NOTHING
        )
        if base.fusion != "convex" or len(base.legs) != 2 or "dense" not in base.legs:
            raise BadInput(
                "Learned alpha needs convex fusion of dense and one other leg, for example --config tm2c2-0.5."
            )
        name = writable_name(ALPHA, self.runs.team_settings, name, f"{queryset}-{kind}")
        index = self.runs.searcher.generations.open(plan.profile)
        examples = AlphaExamples(self.runs, index, base, self.runs.querysets.get(queryset))
        known = examples.all(kind == "mlp", settings.target, progress)
        _require_spread(known, settings.target)
        trained = train(
            kind,
            known,
            purpose(base, index.generation.digest),
            name=name,
            progress=progress,
        )
        best = examples.best_fixed(trained, measure)
        quality, against = examples.quality(trained, best, measure)
        writable_name(ALPHA, self.runs.team_settings, name)  # it may have been promoted during the training
        model = replace(trained.model, evidence={**trained.model.evidence, "best_fixed_alpha": best})
        path = self.store.save(model)
        self.runs.audit.note(actor, "learn alpha", name, detail=f"{kind} from {queryset}")
        served = replace(base, alpha_from="learned", alpha_model=name)
        validated = examples.folds(trained, known, best, measure, folds, progress)
        final = replace(trained, model=model)
        return TrainedAlpha(final, measure, quality, best, against, served, str(path), validated)

    @property
    def trainable(self) -> Trainable:
        return Trainable("learn", lambda arguments: configs.parse(arguments["config"]), self._as_job)

    def _as_job(self, actor: Actor, arguments: Mapping[str, Any], progress: Progress) -> TrainedAlpha:
        asked = {name: arguments[name] for name in ("kind", "measure", "target")}
        config = configs.parse(arguments["config"])
        return self.train(actor, arguments["queryset"], AlphaSettings(config=config, **asked), progress=progress)


class SameAlpha(BadInput):
    """All questions have one best alpha by a target; by another they may differ."""


def _require_spread(known: Sequence[Example], target: str) -> None:
    """SameAlpha where all questions have one best alpha: a model of it would say what a fixed alpha says."""
    best = {example.alpha for example in known}
    if len(best) == 1:
        others = ", ".join(name for name in TARGETS if name != target)
        raise SameAlpha(
            f"By the target {target} all {len(known):,} questions have the same best alpha, {best.pop():g}: there is nothing to learn. Choose the target {others}."
        )


class AlphaExamples:
    """A judged query set as examples of the best alpha: the half that things are chosen on, or the whole."""

    def __init__(
        self, runs: Runs, index: Index, config: SearchConfig, judged_set: QuerySet, whole: bool = False
    ) -> None:
        self.runs, self.index, self.config = runs, index, config
        self.judged = by_question(settled(judged_set.judgments))
        self.documents = anchoring.gains(judged_set.judgments, index).gains
        self.passages = anchoring.gains(judged_set.judgments, index, "passage").gains
        judged = {each.id: each for each in judged_set.questions if any(self.documents.get(each.id, {}).values())}
        used = set(judged) if whole else choosing(list(judged.values()))
        self.questions = {number: question for number, question in judged.items() if number in used}
        self._golds: dict[str, Gold] = {}
        self.legs = CandidateCache(runs.searcher, runs.database, index, config)

    def all(self, vectors: bool, target: str, progress: Progress) -> list[Example]:
        """One example per judged question; `target` is what its best alpha maximises."""
        examples = []
        for n, question in enumerate(self.questions.values(), 1):
            examples.append(self._example(question, vectors, target))
            progress(n, len(self.questions), "Looking for the best alphas")
        self.legs.save()
        return examples

    def _candidates(self, question: Question) -> Candidates:
        return self.legs.of(" ".join(question.text.split())).candidates.only(self.config.legs)

    def _example(self, question: Question, vectors: bool, target: str) -> Example:
        candidates = self._candidates(question)
        scaled = fuse(candidates, self.config).normalised
        other = next(leg for leg in self.config.legs if leg != "dense")
        vector = self.runs.searcher.weighers(self.index).embed(question.text) if vectors else ()
        best = best_alpha(target, self._labels(question, scaled("dense")), scaled("dense"), scaled(other))
        numbers = tuple(float(value) for value in vector)
        return Example(question.id, question.category, seen(candidates), best.alpha, best.matters, numbers)

    def _labels(self, question: Question, chunks: Mapping[int, float]) -> dict[int, float]:
        """How much of the quoted answer each candidate covers; without a quote, whether it was judged relevant."""
        answer = next(
            (judgment.quote for judgment in self.judged[question.id] if judgment.quote and judgment.grade > 0), ""
        )
        if answer:
            return {chunk: coverage(self.index.excerpt(chunk), answer) for chunk in chunks}
        relevant = self.passages.get(question.id, {})
        return {chunk: float(relevant.get(chunk, 0.0) > 0) for chunk in chunks}

    def best_fixed(self, trained: Trained, measure: str) -> float:
        """The fixed alpha that does best on the questions that a model learned from; the smallest of equals."""
        learned = [self.questions[number] for number in trained.learned_from]
        totals = {
            alpha: sum(self._measure(question, alpha, measure) or 0.0 for question in learned) for alpha in alphas(GRID)
        }
        return max(totals, key=lambda alpha: totals[alpha])

    def folds(
        self, trained: Trained, known: Sequence[Example], fixed: float, measure: str, folds: int, progress: Progress
    ) -> tuple[Fold, ...]:
        """The settings that were chosen, fitted once per fold of the questions that a model learned from."""
        learned = [sample for sample in known if sample.query in set(trained.learned_from)]
        if not folds or not folds_of(len(learned), wanted=folds):
            return ()
        kind = trained.model.kind
        point = grid_point(kind, trained.chosen)
        fit = crossfit(kind, learned, grid=[point], wanted=folds, progress=progress)
        ends = list(accumulate(fit.sizes, initial=0))
        return tuple(self._fold(fit.predictions[a:b], fixed, measure) for a, b in pairwise(ends))

    def _fold(self, rows: Sequence[Prediction], fixed: float, measure: str) -> Fold:
        import numpy as np

        optimal, predicted = (np.array([getattr(row, name) for row in rows]) for name in ("optimal", "predicted"))
        means = [
            [
                self._measure(self.questions[row.query], alpha, measure) or 0.0
                for row, alpha in zip(rows, alphas, strict=True)
            ]
            for alphas in (predicted.tolist(), [fixed] * len(rows))
        ]
        return Fold(len(rows), r2(optimal, predicted), *(mean(values) for values in means))

    def quality(self, trained: Trained, fixed: float, measure: str) -> tuple[dict[str, Interval], PairedComparison]:
        """The measure on test questions of a fixed alpha, the model and the oracle; the model against the fixed one.

        The oracle has the best alpha of each question by this very measure, so nothing beats it.
        """
        import numpy as np

        test = [
            (self.questions[prediction.query], prediction)
            for prediction in trained.test
            if self._measure(self.questions[prediction.query], fixed, measure) is not None
        ]
        if not test:
            raise BadInput(f"No question that training kept apart quotes its answer, so there is no {measure} of it.")
        alpha_of: dict[str, Callable[[Prediction], float]] = {
            f"fixed {fixed:g}": lambda _: fixed,
            "model": lambda prediction: prediction.predicted,
        }
        table = {
            name: [self._measure(question, alpha(prediction), measure) or 0.0 for question, prediction in test]
            for name, alpha in alpha_of.items()
        }
        table["oracle"] = [
            max(*reached, *(self._measure(question, alpha, measure) or 0.0 for alpha in alphas(GRID)))
            for (question, _), *reached in zip(test, *table.values(), strict=True)
        ]
        intervals = bootstrap(np.array(list(table.values())).T)
        compared = compare(table[f"fixed {fixed:g}"], table["model"])
        return dict(zip(table, intervals, strict=True)), compared

    def _measure(self, question: Question, alpha: float, measure: str) -> float | None:
        """A measure of a question at an alpha; None where it quotes no answer that passages could hold."""
        order = fuse(self._candidates(question), replace(self.config, alpha=alpha)).ranking
        documents = dict.fromkeys(self.index.document_of(chunk) for chunk in order)
        passages = [self.index.excerpt(chunk) for chunk in list(order)[:READ]]
        if question.id not in self._golds:
            self._golds[question.id] = gold(self.judged[question.id], self.documents[question.id], self.index)
        return value(measure, list(documents), passages, self._golds[question.id])


def _strengths(trained: Trained) -> dict[str, float]:
    """How much each feature moves the prediction on average: the mean of the absolute SHAP values."""
    rows = trained.contributions
    return {
        name: sum(abs(row[n]) for row in rows) / len(rows)
        for n, name in enumerate(trained.features)
        if rows and rows[0]
    }


def _swarm(trained: Trained) -> dict[str, Any]:
    """The strongest features, and for each test question their values and how they push alpha; empty without SHAP."""
    order = sorted(_strengths(trained).items(), key=lambda pair: -pair[1])[:SWARM]
    at = [trained.features.index(name) for name, _ in order]
    tables = {"values": trained.values, "pushes": trained.contributions}
    rows = {what: [[round(row[n], 6) for n in at] for row in table] for what, table in tables.items()}
    return {"features": [name for name, _ in order], **rows} if order else {}
