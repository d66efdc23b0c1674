"""Learned alpha: examples from a judged query set, a model with its evidence, and what it does to retrieval."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from core.access import Actor, require
from core.curation.names import free_name
from core.errors import BadInput
from core.evaluation import anchoring
from core.evaluation.curves import alphas
from core.evaluation.lcs import coverage
from core.evaluation.learning import Example, Trained, example, train
from core.evaluation.measures import ranked
from core.evaluation.querysets import Question, of_question, settled
from core.evaluation.statistics import Interval, PairedComparison, bootstrap, compare
from core.ports import Index, Progress, no_progress
from core.retrieval.alpha.models import AlphaModel, purpose
from core.retrieval.candidates import Candidates, fuse
from core.retrieval.pipeline import seen
from core.services.evaluation.candidates import CandidateCache
from core.services.evaluation.runs import Runs
from core.types import NOTHING, SearchConfig

FIXED = 11  # fixed alphas that a model is compared with


class AlphaStore(Protocol):
    """Where trained models are kept."""

    def save(self, model: AlphaModel) -> Path:
        """Keep a model."""
        ...


@dataclass(frozen=True, slots=True)
class Learnt:
    """A trained model, and the retrieval quality on its test questions beside every fixed alpha and the oracle."""

    trained: Trained
    measure: str
    quality: Mapping[str, Interval]
    best_fixed: float
    against_best_fixed: PairedComparison
    config: SearchConfig
    path: str

    @property
    def advice(self) -> str:
        """Whether to use the model."""
        if self.against_best_fixed.verdict == "better":
            return f"Use the model: it beats the best fixed alpha ({self.best_fixed:g}) on questions it has not seen."
        return f"Use the fixed alpha {self.best_fixed:g}: the model does not beat it on questions it has not seen."


class AlphaTraining:
    """Trains and keeps models of alpha."""

    def __init__(self, runs: Runs, store: AlphaStore) -> None:
        self.runs, self.store = runs, store

    def train(
        self,
        actor: Actor,
        queryset: str,
        kind: str = "ridge",
        *,
        name: str = "",
        profile: str = "",
        config: SearchConfig | None = None,
        measure: str = "nDCG@10",
        target: str = "lss",
        progress: Progress = no_progress,
    ) -> Learnt:
        """Learn alpha from a query set for one way of searching, and keep the model under a name."""
        require(actor, "change what is in production")
        plan = self.runs.plan(profile)
        base = replace(config or plan.config, rerank="off", alpha_from="fixed", alpha_model="", weights=NOTHING)
        if base.fusion != "convex" or len(base.legs) != 2 or "dense" not in base.legs:
            raise BadInput(
                "Learned alpha needs convex fusion of dense and one other leg, for example --config tm2c2-0.5."
            )
        name = self._named(name, f"{queryset}-{kind}")
        index = self.runs.searcher.generations.open(plan.profile)
        examples = _Examples(self.runs, index, base, queryset)
        made = train(
            kind,
            examples.all(kind == "mlp", target, progress),
            purpose(base, index.generation.digest),
            name=name,
            progress=progress,
        )
        quality, best, against = examples.quality(made, measure)
        self._named(name, "")  # somebody may have promoted it meanwhile
        path = self.store.save(made.model)
        served = replace(base, alpha_from="learned", alpha_model=name)
        return Learnt(made, measure, quality, best, against, served, str(path))

    def _named(self, name: str, otherwise: str) -> str:
        """A name that may be written: a model that is or was in production stays as it was when it was promoted."""
        served = {one.production.config.alpha_model for one in self.runs.team_settings.promotions()}
        if name and name in served:
            raise BadInput(f"The model {name!r} is or was in production, so it stays as it is. Choose another --name.")
        return name or free_name(otherwise, served)


class _Examples:
    """A judged query set as examples of the best alpha."""

    def __init__(self, runs: Runs, index: Index, config: SearchConfig, queryset: str) -> None:
        self.runs, self.index, self.config = runs, index, config
        found = runs.querysets.get(queryset)
        self.judged = of_question(settled(found.judgments))
        self.documents = anchoring.gains(found.judgments, index).gains
        self.passages = anchoring.gains(found.judgments, index, "passage").gains
        self.questions = {one.id: one for one in found.questions if any(self.documents.get(one.id, {}).values())}
        self.legs = CandidateCache(runs.searcher, runs.database, index, config)

    def all(self, vectors: bool, target: str, progress: Progress) -> list[Example]:
        """One example per judged question; the target says what its best alpha is best at."""
        made = []
        for n, question in enumerate(self.questions.values(), 1):
            made.append(self._example(question, vectors, target))
            progress(n, len(self.questions), "Looking for the best alphas")
        self.legs.kept.save()
        return made

    def _found(self, question: Question) -> Candidates:
        return self.legs.of(" ".join(question.text.split())).candidates.only(self.config.legs)

    def _example(self, question: Question, vectors: bool, target: str) -> Example:
        found = self._found(question)
        scaled = fuse(found, self.config).normalised
        other = next(leg for leg in self.config.legs if leg != "dense")
        vector = self.runs.searcher.weighers(self.index).embed(question.text) if vectors else ()
        return example(
            question.id,
            seen(found),
            self._labels(question, scaled("dense")),
            scaled("dense"),
            scaled(other),
            target=target,
            group=question.category,
            vector=[float(value) for value in vector],
        )

    def _labels(self, question: Question, chunks: Mapping[int, float]) -> dict[int, float]:
        """How much of the answer each candidate holds; where no words were quoted, whether it was judged relevant."""
        answer = next((one.quote for one in self.judged[question.id] if one.quote and one.grade > 0), "")
        if answer:
            return {chunk: coverage(self.index.excerpt(chunk), answer) for chunk in chunks}
        relevant = self.passages.get(question.id, {})
        return {chunk: float(relevant.get(chunk, 0.0) > 0) for chunk in chunks}

    def quality(self, made: Trained, measure: str) -> tuple[dict[str, Interval], float, PairedComparison]:
        """The measure on the test questions: every fixed alpha, the model, and the alphas that the target says are best."""
        import numpy as np

        test = [(self.questions[one.query], one) for one in made.test]
        ways: dict[str, Callable[[int], float]] = {f"fixed {alpha:g}": _always(alpha) for alpha in alphas(FIXED)}
        ways["model"] = lambda n: test[n][1].predicted
        ways["oracle"] = lambda n: test[n][1].optimal
        table = {
            name: [self._measure(question, alpha(n), measure) for n, (question, _) in enumerate(test)]
            for name, alpha in ways.items()
        }
        columns = bootstrap(np.array(list(table.values())).T)
        best = _best_fixed(table)
        fixed = float(best.removeprefix("fixed "))
        return dict(zip(table, columns, strict=True)), fixed, compare(table[best], table["model"])

    def _measure(self, question: Question, alpha: float, measure: str) -> float:
        order = fuse(self._found(question), replace(self.config, alpha=alpha)).ranking
        documents = dict.fromkeys(str(self.index.document_of(chunk)) for chunk in order)
        gains = {str(number): gain for number, gain in self.documents[question.id].items()}
        return ranked(measure)(list(documents), gains)


def _always(alpha: float) -> Callable[[int], float]:
    return lambda _: alpha


def _best_fixed(table: Mapping[str, Sequence[float]]) -> str:
    """The fixed alpha that hindsight would choose on the test part: a harder rival than the one of the train part."""
    return max((name for name in table if name.startswith("fixed")), key=lambda name: sum(table[name]))
