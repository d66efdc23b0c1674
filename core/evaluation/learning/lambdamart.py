"""Training of a ranker: LambdaMART on judged questions, its size chosen in folds, every question judged by trees that
have not seen it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.errors import BadInput
from core.evaluation.measures.by_name import ndcg
from core.ports import Progress, no_progress
from core.retrieval.method_values import RANKER_START, CandidateFeatures
from core.retrieval.rerankers.features import FUSED

if TYPE_CHECKING:
    import numpy as np

SEED = 42
FOLDS = 5
LEAST = 30  # questions to learn from, and as many to judge on
ROUNDS = (0, 25, 50, 100, 200)  # trees; none is the order as it was
TREES: Mapping[str, Any] = {
    "objective": "rank:ndcg",
    "eta": 0.05,
    "max_depth": 4,
    "min_child_weight": 0.1,
    "subsample": 0.8,
    "colsample_bytree": 0.8,
    "lambda": 5.0,
    "lambdarank_pair_method": "topk",
    "lambdarank_num_pair_per_sample": 10,
    "seed": SEED,
    "nthread": 1,
    "verbosity": 0,
}


@dataclass(frozen=True, slots=True, eq=False)
class RankingExample:
    """One judged question: the features of its candidates, the document and the grade of each, and all its grades."""

    question: str
    table: CandidateFeatures
    documents: tuple[int, ...]
    gains: Mapping[int, float]


@dataclass(frozen=True, slots=True, eq=False)
class FittedRanker:
    """Trees with the number of rounds that folds chose, what each number gave, and scores for questions in folds."""

    booster: Any
    rounds: int
    tried: Mapping[int, float]
    crossfit: Mapping[str, np.ndarray]
    importances: Mapping[str, float]

    def scores(self, example: RankingExample) -> np.ndarray:
        """The score of every candidate of a question that training has not seen."""
        return predicted(self.booster, [example], self.rounds)[0]

    @property
    def plain(self) -> dict[str, Any]:
        """The trees in xgboost's own JSON; nothing where no tree helps."""
        return json.loads(bytes(self.booster[: self.rounds].save_raw("json"))) if self.rounds else {}


def fold_of(place: int) -> int:
    """Which fold a question is in, by its place among the sorted ones."""
    return place % FOLDS


def fit(examples: Sequence[RankingExample], progress: Progress = no_progress) -> FittedRanker:
    """Choose the number of trees by folds, then train on all; `crossfit` has each question by trees without it.

    The number for a fold's own questions is chosen on the other folds, so that nothing is judged on what chose it.
    """
    ordered = sorted(examples, key=lambda example: example.question)
    if len(ordered) < LEAST:
        raise BadInput(f"Only {len(ordered)} judged questions to learn from; at least {LEAST} are needed.")
    values: dict[int, dict[str, float]] = {rounds: {} for rounds in ROUNDS}
    scores: dict[str, dict[int, np.ndarray]] = {}
    for number in range(FOLDS):
        held = [example for n, example in enumerate(ordered) if fold_of(n) == number]
        booster = _train([example for n, example in enumerate(ordered) if fold_of(n) != number])
        for rounds in ROUNDS:
            for example, predictions in zip(held, predicted(booster, held, rounds), strict=True):
                scores.setdefault(example.question, {})[rounds] = predictions
                values[rounds][example.question] = measured(example, predictions)
        progress(number + 1, FOLDS + 1, "Training the ranker in folds")
    apart = [_best(values, [e.question for n, e in enumerate(ordered) if fold_of(n) != k]) for k in range(FOLDS)]
    crossfit = {e.question: scores[e.question][apart[fold_of(n)]] for n, e in enumerate(ordered)}
    questions = [example.question for example in ordered]
    rounds, booster = _best(values, questions), _train(ordered)
    progress(FOLDS + 1, FOLDS + 1, "Training the ranker")
    tried = {n: sum(found.values()) / len(found) for n, found in values.items()}
    return FittedRanker(booster, rounds, tried, crossfit, _importances(booster, rounds, ordered[0].table.names))


def _best(values: Mapping[int, Mapping[str, float]], questions: Sequence[str]) -> int:
    """The number of trees with the best mean; the smallest of equals."""
    return max(values, key=lambda rounds: (round(sum(values[rounds][q] for q in questions), 9), -rounds))


def _train(examples: Sequence[RankingExample]) -> Any:
    import numpy as np
    import xgboost

    labels = [label(example.gains.get(document, 0.0)) for example in examples for document in example.documents]
    data = xgboost.DMatrix(
        np.concatenate([example.table.values for example in examples]),
        label=np.array(labels),
        base_margin=np.concatenate([_start(example) for example in examples]),
        feature_names=None,
    )
    data.set_group([len(example.documents) for example in examples])
    return xgboost.train(dict(TREES), data, max(ROUNDS))


def label(grade: float) -> int:
    """A grade as the whole number that the loss needs; whatever is relevant is at least one.

    >>> label(0.0), label(0.4), label(2.0)
    (0, 1, 2)
    """
    return max(1, min(31, round(grade))) if grade > 0 else 0


def _start(example: RankingExample) -> np.ndarray:
    start: np.ndarray = RANKER_START * example.table.values[:, example.table.names.index(FUSED)]
    return start


def predicted(booster: Any, examples: Sequence[RankingExample], rounds: int) -> list[np.ndarray]:
    """Scores of the candidates of each question by the first so many trees."""
    import numpy as np
    import xgboost

    starts = [_start(example) for example in examples]
    if not rounds or not examples:
        return starts
    data = xgboost.DMatrix(np.concatenate([e.table.values for e in examples]), base_margin=np.concatenate(starts))
    found = booster.predict(data, output_margin=True, iteration_range=(0, rounds))
    return np.split(found, np.cumsum([len(start) for start in starts])[:-1])


def ordered_documents(example: RankingExample, scores: np.ndarray) -> list[int]:
    """Documents by their best candidate; ties go to the lower number, as in a search."""
    order = sorted(range(len(scores)), key=lambda n: (-float(scores[n]), example.table.chunks[n]))
    return list(dict.fromkeys(example.documents[n] for n in order))


def measured(example: RankingExample, scores: np.ndarray) -> float:
    """nDCG@10 of a question."""
    gains = {str(document): gain for document, gain in example.gains.items()}
    return ndcg([str(document) for document in ordered_documents(example, scores)], gains, 10)


def _importances(booster: Any, rounds: int, names: Sequence[str]) -> dict[str, float]:
    """The share of the trees' gain that each feature brings, the largest first."""
    gains = booster[:rounds].get_score(importance_type="total_gain") if rounds else {}
    total = sum(gains.values()) or 1.0
    shares = {names[int(key[1:])]: float(gain) / total for key, gain in gains.items()}
    return dict(sorted(shares.items(), key=lambda pair: -pair[1]))
