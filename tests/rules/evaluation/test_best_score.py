"""Where one query stands: on the curve of judged questions, and by the models that were trained."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from core.bootstrap import App
from core.evaluation.tuning.calibration import Observed, TauRule, tau_curve
from core.retrieval.alpha.alpha_models import purpose
from core.retrieval.config import parse
from core.retrieval.method_values import AlphaModel
from core.services.playground.best_score import BestScore, best_score, learned_alphas, place_on_curve
from core.services.playground.compare import Column
from tests.conftest import demo
from tests.support.evaluated import ADMIN, judged

CONDITIONAL = Column("local", parse('{"base": "convex-0.5", "rerank": "conditional", "tau": 0.9}'))
QUERY = "key3first apple river"


@pytest.fixture
def judged_app(tmp_path: Path) -> App:
    return judged(tmp_path / "home")


def test_a_score_stands_on_the_questions_that_score_at_least_as_high() -> None:
    seen = [Observed(str(n), n / 10, n >= 5, 0.0, 1.0) for n in range(10)]
    found = BestScore(0.7, 0.9, "set", 10, tau_curve(seen))
    assert found.at is not None
    assert (found.at.skipped, found.at.precision) == (3, 1.0)
    assert "3 score at least as high; 100% of them are answered" in found.sentence
    assert "None of the 10 judged questions" in replace(found, score=1.0).sentence
    assert replace(found, score=0.95).sentence.startswith(
        "The first hit answers with a chance of 0.95, not below tau 0.9: not reranked."
    )


@pytest.mark.parametrize(("rerank", "figure"), [("conditional", "best score"), ("unsure", "with a chance of")])
def test_without_runs_there_is_a_score_and_no_curve(judged_app: App, rerank: str, figure: str) -> None:
    column = replace(CONDITIONAL, config=replace(CONDITIONAL.config, rerank=rerank))
    search = judged_app.playground.comparer.cached_searches(demo("author"), [column])["local"]
    score = best_score(QUERY, column, search)
    found = place_on_curve(judged_app.evaluation.runs, demo("author"), column, score)
    assert 0 < found.score <= 1
    assert found.at is None
    result = judged_app.playground.comparer.run(demo("author"), QUERY, [column]).outcomes[0].result
    assert result is not None
    (note,) = [stage.note for stage in result.stages if stage.name == "rerank"]
    assert f"{figure} {score:.4g} " in note, "the same score that decides about reranking"


def test_the_curve_is_that_of_a_calibration_and_costs_nothing(judged_app: App) -> None:
    made = judged_app.tuning.sweeps.tau(ADMIN, "small", TauRule(least=5), config=CONDITIONAL.config)
    before = len(judged_app.evaluation.runs.all())
    found = place_on_curve(judged_app.evaluation.runs, demo("author"), CONDITIONAL, 0.5)
    assert found.questions == 48 == found.curve[0].skipped
    assert found.queryset == "small"
    assert len(found.curve) == len(made.curve)
    assert len(judged_app.evaluation.runs.all()) == before
    other = replace(CONDITIONAL, config=replace(CONDITIONAL.config, alpha=0.1))
    assert place_on_curve(judged_app.evaluation.runs, demo("author"), other, 0.5).curve == (), (
        "another alpha is another way of ranking"
    )


def test_learned_alphas_are_those_of_models_that_fit(judged_app: App) -> None:
    search = judged_app.playground.comparer.cached_searches(demo("author"), [CONDITIONAL])["local"]
    column = Column("local", parse("convex-0.5"))
    fits = purpose(column.config, search.index.generation.digest)
    for name, made_for in (("flat", fits), ("foreign", "another way")):
        judged_app.tuning.alphas.save(
            AlphaModel(name, "ridge", made_for, {"coefficients": [0.0] * 4, "intercept": 0.62})
        )
    assert learned_alphas(QUERY, column, search, judged_app.tuning.alphas.names()) == {"flat": pytest.approx(0.62)}
