"""Learned rankers: trained on half of the judged questions, measured against production on questions they have not
seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Any

from core import strict
from core.access import Actor, use_case
from core.curation.document.questions import same_form
from core.errors import BadInput
from core.evaluation.learning.lambdamart import LEAST, FittedRanker, RankingExample, fit, measured
from core.evaluation.measures.by_name import ndcg
from core.evaluation.querysets import anchoring
from core.evaluation.querysets.queryset import QuerySet, for_choosing, once
from core.evaluation.statistics import PairedComparison, compare
from core.ports import Index, Progress, no_progress
from core.retrieval.candidates import fuse
from core.retrieval.method_values import CandidateFeatures, RankerModel
from core.retrieval.rerankers.features import features
from core.retrieval.rerankers.learned import DEPTH, RANKER, purpose, without
from core.services.evaluation.cached_candidates import CandidateCache
from core.services.evaluation.runs import RunPlan, Runs
from core.services.tuning.alpha import unpromoted
from core.types import SearchConfig

if TYPE_CHECKING:
    from core.adapters.models.trained_files import TrainedFiles

Measured = Sequence[tuple[RankingExample, float]]  # each with the figure of production


@dataclass(frozen=True, slots=True)
class TrainedRanker:
    """A trained ranker, and nDCG@10 with it against production on questions that it has not seen.

    `held_out` is the half that nothing was chosen on; `unseen` adds the other half, each question by trees of other
    folds.
    """

    model: RankerModel
    config: SearchConfig
    learned_from: int
    rounds: int
    held_out: PairedComparison
    unseen: PairedComparison

    @property
    def wins(self) -> bool:
        """Whether it is worth having: better where nothing was chosen, or over all unseen questions and not worse
        there.
        """
        return self.rounds > 0 and self.unseen.verdict == "better" and self.held_out.difference.mean > 0

    @property
    def advice(self) -> str:
        gap = self.unseen.difference
        found = (
            f"nDCG@10 {gap.mean:+.3f} ({gap.low:+.3f} to {gap.high:+.3f}) on {self.unseen.queries} questions it "
            "has not seen"
        )
        if self.rounds == 0:
            return "Keep production: in folds no tree improved the order, so the ranker learned nothing."
        if not self.wins:
            return f"Keep production: the ranker is not shown to be better ({found})."
        return f"The ranker beats production ({found})."


class RankerTraining:
    """Trains and stores rankers."""

    def __init__(self, runs: Runs, store: TrainedFiles[RankerModel]) -> None:
        self.runs, self.store = runs, store

    @use_case("change what is in production", whole=True)
    def train(
        self,
        actor: Actor,
        querysets: Sequence[str],
        *,
        config: SearchConfig | None = None,
        progress: Progress = no_progress,
    ) -> TrainedRanker:
        """Learn an order from query sets for one way of searching, that of production unless another is named, and
        store the ranker."""
        plan = self.runs.plan()
        base = without(config or plan.config)
        index = self.runs.searcher.generations.open(plan.profile)
        examples = RankingExamples(self.runs, index, base, plan, self.runs.searcher.clock.today(), progress)
        learn, judge = _halves(examples.all([self.runs.querysets.get(queryset) for queryset in querysets]))
        fitted = fit([example for example, _ in learn], progress)
        held_out, unseen = _compared(fitted, learn, judge)
        name = unpromoted(RANKER, self.runs.team_settings, f"{querysets[0]}-ranker")
        evidence: dict[str, Any] = {
            "querysets": list(querysets),
            "learned_from": len(learn),
            "rounds": fitted.rounds,
            "held_out": strict.plain(held_out),
            "unseen": strict.plain(unseen),
            "commit": index.generation.commit,
        }
        trained_for, features_read = purpose(base, index.generation.digest), learn[0][0].table.names
        model = RankerModel(name, trained_for, features_read, fitted.plain, evidence)
        self.store.save(model)
        self.runs.audit.note(actor, "learn a ranker", name, detail=", ".join(querysets))
        served = replace(base, rerank="always", reranker="learned", rerank_model=name, rerank_depth=DEPTH)
        return TrainedRanker(model, served, len(learn), fitted.rounds, held_out, unseen)


def _compared(fitted: FittedRanker, learn: Measured, judge: Measured) -> tuple[PairedComparison, PairedComparison]:
    """Against production on the half that nothing was chosen on; and with the other half, by trees of other folds."""
    before, after = [value for _, value in judge], [measured(each, fitted.scores(each)) for each, _ in judge]
    inside = [measured(each, fitted.crossfit[each.question]) for each, _ in learn]
    return compare(before, after), compare([*before, *(value for _, value in learn)], [*after, *inside])


def _halves(found: Measured) -> tuple[Measured, Measured]:
    """The half to learn from and the half that promotions are judged on; BadInput where either is too small."""
    learn = [pair for pair in found if for_choosing(pair[0].question)]
    judge = [pair for pair in found if not for_choosing(pair[0].question)]
    if min(len(learn), len(judge)) < LEAST:
        raise BadInput(
            f"A ranker needs at least {LEAST} judged questions to learn from and as many that it has not seen; here "
            "are "
            f"{len(learn)} and {len(judge)}. Judge more, or generate a query set, and name both."
        )
    return learn, judge


def is_listed(text: str, gains: Mapping[int, float], index: Index) -> bool:
    """Whether a document that answers a question lists that very question under `answers:`."""
    answers = (answer for document, gain in gains.items() if gain > 0 for answer in index.answers(document))
    return same_form(text) in map(same_form, answers)


def unlisted(table: CandidateFeatures) -> CandidateFeatures:
    """The features without what `answers:` gave. A question that stands there would be found by itself, teach nothing
    but that, and be judged better for it."""
    values = table.values.copy()
    values[:, table.names.index("answers match")] = 0.0
    return replace(table, values=values)


class RankingExamples:
    """Judged questions as candidates with features, beside nDCG@10 of production."""

    def __init__(
        self, runs: Runs, index: Index, config: SearchConfig, production: RunPlan, today: date, progress: Progress
    ) -> None:
        self.runs = runs
        self.index = index
        self.config = config
        self.today = today
        self.progress = progress
        self.production = production.config
        self.cache = CandidateCache(runs.searcher, runs.database, index, config)
        serves = self.cache.serves(self.production)
        self.before = self.cache if serves else CandidateCache(runs.searcher, runs.database, index, self.production)

    def all(self, querysets: Sequence[QuerySet]) -> list[tuple[RankingExample, float]]:
        """Every judged question whose candidates hold something relevant or not, with production's figure."""
        if not querysets:
            raise BadInput("Name at least one query set to learn from.")
        questions = [
            (" ".join(question.text.split()), gains[question.id])
            for queryset in once(querysets)
            for gains in [anchoring.gains(queryset.judgments, self.index).gains]
            for question in queryset.questions
            if any(gains.get(question.id, {}).values())
        ]
        found = []
        for n, (text, gains) in enumerate(questions, 1):
            found.append((self.example(text, gains), self.production_value(text, gains)))
            self.progress(n, len(questions), "Reading the candidates of every question")
        self.cache.save()
        self.before.save()
        return found

    def example(self, text: str, gains: Mapping[int, float]) -> RankingExample:
        candidates = self.cache.of(text).candidates.only(self.config.legs)
        fused = fuse(candidates, self.config)
        table = features(list(fused.ranking)[:DEPTH], candidates, fused, self.index, self.today)
        table = unlisted(table) if is_listed(text, gains, self.index) else table
        return RankingExample(text, table, tuple(self.index.document_of(chunk) for chunk in table.chunks), gains)

    def production_value(self, text: str, gains: Mapping[int, float]) -> float:
        ranked = self.before.rank(text, self.production)
        documents = dict.fromkeys(str(self.index.document_of(chunk)) for chunk in ranked.chunks)
        return ndcg(list(documents), {str(document): gain for document, gain in gains.items()}, 10)
