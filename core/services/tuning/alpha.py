"""Learned alpha: a model trained on a judged query set, against one fixed alpha on questions it has not seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from core.access import Actor, use_case
from core.curation.document.names import free_name
from core.errors import BadInput
from core.evaluation.learning.training import RIDGE, TARGETS, Example, Learner, Trained, train
from core.evaluation.measures.by_name import ndcg
from core.evaluation.measures.passages import coverage
from core.evaluation.querysets import anchoring
from core.evaluation.querysets.queryset import QuerySet, Question, by_question, choosing, settled
from core.evaluation.statistics import PairedComparison, compare
from core.evaluation.tuning.sweep import alphas
from core.ports import Index, Progress, no_progress
from core.retrieval.alpha.alpha_models import purpose
from core.retrieval.alpha.learned import ALPHA
from core.retrieval.candidates import Candidates, fuse
from core.retrieval.method_values import AlphaModel
from core.retrieval.pipeline import seen
from core.retrieval.trained import TrainedKind, TrainedModel
from core.services.evaluation.cached_candidates import CandidateCache
from core.services.evaluation.runs import Runs
from core.services.platform.settings import TeamSettings
from core.types import NOTHING, SearchConfig

if TYPE_CHECKING:
    from core.adapters.models.trained_files import TrainedFiles

M = TypeVar("M", bound=TrainedModel)
GRID = 21  # alphas among which the fixed one is chosen


@dataclass(frozen=True, slots=True)
class TrainedAlpha:
    """A trained model against one fixed alpha, which was chosen on the questions that the model learned from."""

    trained: Trained
    best_fixed: float
    against_best_fixed: PairedComparison
    config: SearchConfig

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


class AlphaTraining:
    """Trains and stores models of alpha."""

    def __init__(self, runs: Runs, store: TrainedFiles[AlphaModel]) -> None:
        self.runs, self.store = runs, store

    @use_case("change what is in production", whole=True)
    def train(
        self,
        actor: Actor,
        queryset: str,
        *,
        config: SearchConfig | None = None,
        learner: Learner = RIDGE,
        progress: Progress = no_progress,
    ) -> TrainedAlpha:
        """Learn alpha from a query set for one configuration, that of production unless another is named, and store the
        model."""
        plan = self.runs.plan()
        base = replace(config or plan.config, rerank="off", alpha_from="fixed", alpha_model="", weights=NOTHING)
        if base.fusion != "convex" or len(base.legs) != 2 or "dense" not in base.legs:
            raise BadInput("Learned alpha needs convex fusion of dense and one other leg, for example tm2c2-0.5.")
        index = self.runs.searcher.generations.open(plan.profile)
        examples = AlphaExamples(self.runs, index, base, self.runs.querysets.get(queryset))
        known = self._apart(examples, progress)
        trained = train(known, purpose(base, index.generation.digest), learner=learner, progress=progress)
        best = examples.best_fixed(trained)
        against = examples.compared(trained, best)
        name = unpromoted(ALPHA, self.runs.team_settings, f"{queryset}-{learner.kind}")
        model = replace(trained.model, name=name, evidence={**trained.model.evidence, "best_fixed_alpha": best})
        self.store.save(model)
        self.runs.audit.note(actor, "learn alpha", name, detail=f"{learner.kind} from {queryset}")
        served = replace(base, alpha_from="learned", alpha_model=name)
        return TrainedAlpha(replace(trained, model=model), best, against, served)

    def _apart(self, examples: AlphaExamples, progress: Progress) -> list[Example]:
        """Examples by the first target that tells the questions apart."""
        for target in TARGETS:
            known = examples.all(target, progress)
            if len({example.alpha for example in known}) != 1:
                return known
        raise BadInput("All questions have the same best alpha, whatever it should be best at.")


def unpromoted(kind: TrainedKind[M], team_settings: TeamSettings, name: str) -> str:
    """A name that may be written: what is or was in production must not change."""
    promoted = {getattr(promotion.production.config, kind.setting) for promotion in team_settings.promotions()}
    return free_name(name, promoted)


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
        self.legs = CandidateCache(runs.searcher, runs.database, index, config)

    def all(self, target: str, progress: Progress) -> list[Example]:
        """One example per judged question; `target` is what its best alpha maximises."""
        examples = []
        for n, question in enumerate(self.questions.values(), 1):
            examples.append(self._example(question, target))
            progress(n, len(self.questions), "Looking for the best alphas")
        self.legs.save()
        return examples

    def _candidates(self, question: Question) -> Candidates:
        return self.legs.of(" ".join(question.text.split())).candidates.only(self.config.legs)

    def _example(self, question: Question, target: str) -> Example:
        candidates = self._candidates(question)
        scaled = fuse(candidates, self.config).normalised
        other = next(leg for leg in self.config.legs if leg != "dense")
        best = TARGETS[target](self._labels(question, scaled("dense")), scaled("dense"), scaled(other))
        return Example(question.id, question.category, seen(candidates), best.alpha, best.matters)

    def _labels(self, question: Question, chunks: Mapping[int, float]) -> dict[int, float]:
        """How much of the quoted answer each candidate covers; without a quote, whether it was judged relevant."""
        answer = next(
            (judgment.quote for judgment in self.judged[question.id] if judgment.quote and judgment.grade > 0), ""
        )
        if answer:
            return {chunk: coverage(self.index.excerpt(chunk), answer) for chunk in chunks}
        relevant = self.passages.get(question.id, {})
        return {chunk: float(relevant.get(chunk, 0.0) > 0) for chunk in chunks}

    def best_fixed(self, trained: Trained) -> float:
        """The fixed alpha that does best on the questions that a model learned from; the smallest of equals."""
        learned = [self.questions[number] for number in trained.learned_from]
        totals = {alpha: sum(self._measure(question, alpha) for question in learned) for alpha in alphas(GRID)}
        return max(totals, key=lambda alpha: totals[alpha])

    def compared(self, trained: Trained, fixed: float) -> PairedComparison:
        """The model against one fixed alpha, on the questions that it has not seen."""
        before = [self._measure(self.questions[number], fixed) for number in trained.test]
        return compare(before, [self._measure(self.questions[number], alpha) for number, alpha in trained.test.items()])

    def _measure(self, question: Question, alpha: float) -> float:
        """nDCG@10 of a question at an alpha."""
        order = fuse(self._candidates(question), replace(self.config, alpha=alpha)).ranking
        documents = dict.fromkeys(str(self.index.document_of(chunk)) for chunk in order)
        return ndcg(list(documents), {str(unit): gain for unit, gain in self.documents[question.id].items()}, 10)
