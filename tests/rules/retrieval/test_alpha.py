"""Alpha per query: the optimum in hindsight, features, three kinds of models and one more, and how they serve."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.papers import learners
from bench.papers.crossfit import crossfit
from core.bootstrap import App
from core.errors import BadInput, Corrupt, NotFound, Refused
from core.evaluation.learning import training
from core.evaluation.learning.training import Example, Learner, split, train
from core.retrieval import config as configs
from core.retrieval.alpha import rules
from core.retrieval.alpha.alpha_models import optimum, purpose, ranking_optimum
from core.retrieval.alpha.features import DISTRIBUTION, SCORES, distribution_features, query_features, score_features
from core.retrieval.alpha.learned import ALPHA
from core.retrieval.alpha.predictors import predictor
from core.retrieval.method_values import AlphaModel, LegScores
from core.types import SearchConfig
from tests.conftest import ScriptedLlm, SmallModels, indexed

share = st.floats(0, 1)
triples = st.lists(st.tuples(share, share, share), min_size=1, max_size=20)
POINT = {"max_depth": 3, "learning_rate": 0.1, "subsample": 1.0}
KINDS: dict[str, Learner] = {
    "ridge": training.RIDGE,
    "xgboost": replace(learners.LEARNERS["xgboost"], grid=[POINT]),
    "distribution": replace(learners.LEARNERS["distribution"], grid=[POINT]),
    "mlp": learners.network(lambda text: vector(text), [learners.NetworkSettings((16, 8), 0.01, 32, 0.1, 0.01)]),
}


def vector(text: str) -> np.ndarray:
    """The vector of a query, which ends with its best alpha."""
    rng = random.Random(text)
    return np.array([rng.gauss(0, 0.1) + (float(text.split()[-1]) if n == 0 else 0.0) for n in range(8)])


def examples(n: int = 400, seed: int = 1) -> list[Example]:
    """Queries whose best alpha follows from how sure BM25 is: learnable from scores, and not from words alone."""
    rng = random.Random(seed)
    made = []
    for number in range(n):
        sure = rng.random()
        bm25 = {chunk: 10 * sure * (1 - chunk / 10) + 1 for chunk in range(10)}
        dense = {chunk + 5: 0.8 - chunk * 0.02 * (1 - sure) for chunk in range(10)}
        alpha = min(1.0, max(0.0, 1 - sure + rng.gauss(0, 0.05)))
        text = f"{' '.join(['word'] * rng.randint(2, 9))} {alpha:.4f}"
        made.append(Example(f"q{number}", "ab"[number % 2], LegScores(text, dense, bm25), alpha, 0.5 + sure))
    return made


# ---------------------------------------------------------------- the optimum


@given(triples)
def test_no_alpha_on_a_fine_grid_beats_the_closed_form(rows: list[tuple[float, float, float]]) -> None:
    labels, dense, bm25 = ({n: row[part] for n, row in enumerate(rows)} for part in range(3))

    def error(a):
        return sum((labels[n] - a * dense[n] - (1 - a) * bm25[n]) ** 2 for n in labels)

    best = optimum(labels, dense, bm25)
    assert 0.0 <= best.alpha <= 1.0
    assert error(best.alpha) <= min(error(a / 200) for a in range(201)) + 1e-9


@given(triples)
def test_swapping_the_legs_mirrors_alpha(rows: list[tuple[float, float, float]]) -> None:
    labels, dense, bm25 = ({n: row[part] for n, row in enumerate(rows)} for part in range(3))
    there, back = optimum(labels, dense, bm25), optimum(labels, bm25, dense)
    assert there.alpha == pytest.approx(1 - back.alpha, abs=1e-6)


def test_the_leg_that_equals_the_labels_gets_all_the_weight() -> None:
    labels, other = {1: 1.0, 2: 0.25, 3: 0.0}, {1: 0.0, 2: 1.0, 3: 0.5}
    assert optimum(labels, labels, other).alpha == 1.0
    assert optimum(labels, other, labels).alpha == 0.0
    assert optimum(labels, other, other) == optimum({}, {}, {})


@given(triples)
def test_no_alpha_gains_more_than_the_ranking_optimum(rows: list[tuple[float, float, float]]) -> None:
    labels, dense, bm25 = ({n: row[part] for n, row in enumerate(rows)} for part in range(3))

    def gain(alpha: float) -> float:
        order = sorted(labels, key=lambda n: (-(alpha * dense[n] + (1 - alpha) * bm25[n]), n))
        return sum(labels[n] / np.log2(place + 1) for place, n in enumerate(order[:10], 1))

    best = ranking_optimum(labels, dense, bm25)
    assert gain(best.alpha) >= max(gain(float(a)) for a in np.linspace(0, 1, 101)) - 1e-9
    assert 0.0 <= best.matters <= 1.0


def test_the_closed_form_may_prefer_a_leg_for_its_scale_and_the_ranking_optimum_does_not() -> None:
    labels = {1: 0.2, 2: 0.1, 3: 0.0}
    dense = {1: 1.0, 2: 0.95, 3: 0.9}  # the right order, far from the labels
    bm25 = {1: 0.0, 2: 0.1, 3: 0.2}  # the wrong order, near the labels
    assert optimum(labels, dense, bm25).alpha < 0.1
    assert ranking_optimum(labels, dense, bm25).alpha > 0.6


# ---------------------------------------------------------------- features


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("how do I file a CTR", (6, 0, 1, 1)),
        ("31 CFR 1020.320(d)", (3, 1, 0, 1)),
        ("show whatever somehow", (3, 0, 0, 0)),
        ("I am", (2, 0, 0, 0)),
        ("U.S. rules", (2, 0, 0, 1)),
        ("", (0, 0, 0, 0)),
    ],
)
def test_query_features_by_hand(query: str, expected: tuple[float, ...]) -> None:
    assert query_features(query) == expected


def test_there_are_25_score_features_and_each_has_a_name() -> None:
    seen = LegScores("when", {n: 0.9 - n / 50 for n in range(30)}, {n: 9.0 - n for n in range(5, 9)})
    assert len(score_features(seen)) == len(SCORES) == 25
    assert len(distribution_features(seen)) == len(DISTRIBUTION) == 44
    named = dict(zip(SCORES, score_features(seen), strict=True))
    assert (named["overlap"], named["bm25 1"], named["bm25 5"]) == (4.0, 1.0, 0.0)
    assert named["dense 10"] == pytest.approx((0.9 - 9 / 50 + 1) / 1.9)


@given(st.integers(10, 60))
def test_features_do_not_depend_on_how_deep_the_legs_looked(depth: int) -> None:
    deep = LegScores("x", {n: 1 - n / 100 for n in range(60)}, {n: 60.0 - n for n in range(60)})
    cut = replace(deep, dense=dict(list(deep.dense.items())[:depth]), bm25=dict(list(deep.bm25.items())[:depth]))
    assert distribution_features(cut) == distribution_features(deep)


# ---------------------------------------------------------------- learning


def test_the_split_is_70_15_15_within_groups_and_ignores_the_order() -> None:
    made = examples(200)
    parts = split(made)
    assert [len(part) for part in parts] == [140, 30, 30]
    assert [sum(one.group == "a" for one in part) for part in parts] == [70, 15, 15]
    assert sorted(one.query for part in parts for one in part) == sorted(one.query for one in made)
    assert split(made[::-1]) == parts
    assert split(made, seed=7) != parts


def test_groups_that_are_too_small_to_divide_are_divided_together() -> None:
    alone = [replace(one, group=f"g{n}") for n, one in enumerate(examples(40))]
    assert [len(part) for part in split(alone)] == [28, 6, 6]
    assert len(train(alone, "test").test) == 6


def test_the_grids_are_those_of_the_thesis() -> None:
    assert len(training.LAMBDAS) == 5
    assert len(learners.TREES) * len(learners.ROUNDS) == 54
    assert len(learners.NETWORKS) == 108  # the thesis says 90, its own lists multiply to 108


def test_ridge_equals_scikit_learn() -> None:
    from sklearn.linear_model import Ridge

    rng = np.random.default_rng(5)
    x, y = rng.random((50, 4)), rng.random(50)
    for strength in training.LAMBDAS:
        slope, intercept = training.solve(x, y, strength)
        theirs = Ridge(alpha=strength).fit(x, y)
        np.testing.assert_allclose(slope, theirs.coef_, atol=1e-10)
        assert intercept == pytest.approx(theirs.intercept_)


def test_the_network_learns_what_is_there_and_keeps_its_best_layers() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=(240, 3))
    y = 1 / (1 + np.exp(-2 * x[:, 0] * x[:, 1]))  # no line through the inputs says it
    settings = learners.NetworkSettings((16, 8), 0.01, 32, 0.0, 0.01)
    fitted = learners.fit(x[:200], y[:200], (x[200:], y[200:]), settings)
    errors = (learners.predict(fitted.layers, x[200:]) - y[200:]) ** 2
    assert float(errors.mean()) == pytest.approx(min(fitted.validation), abs=1e-5)
    assert min(fitted.validation) < 0.2 * float(((y[200:] - y[:200].mean()) ** 2).mean())
    assert [weights.shape for weights, _ in fitted.layers] == [(3, 16), (16, 8), (8, 1)]


@pytest.fixture(scope="module")
def trained() -> dict[str, training.Trained]:
    return {kind: train(examples(), "purpose", learner=learner) for kind, learner in KINDS.items()}


def test_models_that_see_scores_explain_what_words_cannot(trained: dict[str, training.Trained]) -> None:
    assert trained["ridge"].r2["test"] < 0.1
    assert trained["xgboost"].r2["test"] > 0.9
    assert trained["distribution"].r2["test"] > 0.9
    assert trained["mlp"].r2["test"] > 0.5
    for kind in ("xgboost", "mlp", "distribution"):
        regret = trained[kind].model.evidence["regret"]
        assert regret["model"] < regret["fixed"] / 2
        assert trained[kind].warning == ""
    regret = trained["ridge"].model.evidence["regret"]
    assert regret["model"] > 0.9 * regret["fixed"]


def test_shap_values_add_up_to_the_prediction() -> None:
    fitted = crossfit(KINDS["xgboost"], examples(100))
    sums = np.array([sum(row) for row in fitted.contributions])
    predicted = np.array([one.predicted for one in fitted.predictions])
    inside = (predicted > 0.01) & (predicted < 0.99)  # the others were clipped
    assert {len(row) for row in fitted.contributions} == {25}
    for fold in range(5):  # each with a bias of its own
        own = np.arange(len(sums)) // 20 == fold
        assert np.ptp((predicted - sums)[own & inside]) < 1e-4


@pytest.mark.parametrize("kind", list(KINDS))
def test_a_model_read_back_from_json_predicts_the_same(trained: dict[str, training.Trained], kind: str) -> None:
    model = trained[kind].model
    again = ALPHA.from_json(ALPHA.to_json(model), "model")
    assert ALPHA.to_json(again) == ALPHA.to_json(model)
    by_query = {one.query: one for one in examples()}
    predict = predictor(again)
    for number, predicted in trained[kind].test.items():
        assert predict(by_query[number].seen, vector) == pytest.approx(predicted, abs=1e-5)


def test_training_twice_gives_the_same_model() -> None:
    for kind in ("ridge", "xgboost", "mlp"):
        one, two = (train(examples(100), "p", learner=KINDS[kind]).model for _ in range(2))
        assert ALPHA.to_json(one) == ALPHA.to_json(two)


def test_few_queries_are_called_thin_and_very_few_refused() -> None:
    assert "The evidence is thin: 60 judged queries" in train(examples(60), "p").warning
    with pytest.raises(BadInput, match="Only 10 judged queries tell the legs apart"):
        train(examples(10), "p")


# ---------------------------------------------------------------- serving

FILES = {
    "a.md": "---\ntitle: Currency reports\n---\nFile Form 112 for cash over $10,000.\n",
    "b.md": "---\ntitle: Suspicious activity\n---\nFile Form 111 within 30 days of detection.\n",
    "c.md": "---\ntitle: VPN\n---\nHow to connect from home.\n",
}
LEARNED = replace(configs.parse("tm2c2-0.5"), alpha_from="learned", alpha_model="flat")


@pytest.fixture
def indexed_app(tmp_path) -> App:
    return indexed(tmp_path / "home", FILES)


def save(app: App, config: SearchConfig = LEARNED, **changes: object) -> AlphaModel:
    """A model that says 0.62 to everything."""
    made_for = purpose(config, app.search.searcher.index().generation.digest)
    model = AlphaModel("flat", "ridge", made_for, {"coefficients": [0.0] * 4, "intercept": 0.62})
    app.tuning.alphas.save(replace(model, **changes))
    return model


def test_a_learned_alpha_weighs_the_legs_and_says_so(indexed_app: App) -> None:
    save(indexed_app)
    result = indexed_app.search.searcher.search("file form 111", config=LEARNED)
    assert [stage.name for stage in result.stages] == ["bm25", "embed", "dense", "alpha", "fuse", "cut"]
    assert result.stages[-2].note == "alpha 0.62 from flat"
    assert {leg: round(one.weight, 2) for leg, one in result.hits[0].legs.items()} == {"bm25": 0.38, "dense": 0.62}
    fixed = indexed_app.search.searcher.search("file form 111", config=configs.parse("tm2c2-0.62"))
    assert [(hit.chunk, hit.score) for hit in fixed.hits] == [
        (hit.chunk, pytest.approx(hit.score)) for hit in result.hits
    ]
    assert result.warnings == ()


def test_another_depth_or_k_is_served_and_another_normalisation_refused(indexed_app: App) -> None:
    save(indexed_app)
    assert not indexed_app.search.searcher.search("form", config=replace(LEARNED, depth=50, k=3, tau=0.2)).warnings
    result = indexed_app.search.searcher.search("form", config=replace(LEARNED, normalisation="minmax"))
    assert "Alpha stays at 0.5: The alpha model 'flat' was trained for another way of searching" in result.warnings[0]
    assert result.hits[0].legs["dense"].weight == 0.5


def test_a_missing_model_leaves_alpha_fixed_with_a_warning(indexed_app: App) -> None:
    result = indexed_app.search.searcher.search("form", config=LEARNED)
    assert "There is no alpha model 'flat'. Models: none yet" in result.warnings[0]
    assert next(stage for stage in result.stages if stage.name == "fuse").note == "alpha 0.5, fixed"


def test_a_model_that_was_replaced_serves_at_once(indexed_app: App) -> None:
    save(indexed_app)
    indexed_app.search.searcher.search("form", config=LEARNED)
    save(indexed_app, parameters={"coefficients": [0.0] * 4, "intercept": 7.0})
    note = next(
        one.note for one in indexed_app.search.searcher.search("form", config=LEARNED).stages if one.name == "fuse"
    )
    assert note == "alpha 1.00 from flat"
    assert indexed_app.tuning.alphas.names() == ("flat",)
    indexed_app.tuning.alphas._path("flat").unlink()
    with pytest.raises(NotFound):
        indexed_app.tuning.alphas.model("flat")


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"coefficients": [1.0], "intercept": 0.0},
        {"coefficients": [float("nan")] * 4, "intercept": 0.0},
        {"coefficients": "abcd", "intercept": 0.0},
    ],
)
def test_a_damaged_model_is_not_kept(indexed_app: App, parameters: dict) -> None:
    with pytest.raises(Corrupt, match="cannot be used"):
        save(indexed_app, parameters=parameters)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"name": 3}', '{"name":"x","kind":"pickle","trained_for":"","parameters":{}}']
)
def test_odd_files_are_named(text: str) -> None:
    with pytest.raises(Corrupt, match="x.json"):
        ALPHA.from_json(text, "x.json")


def test_names_cannot_leave_the_folder(indexed_app: App) -> None:
    for name in ("../x", "A", "", "a/b", "."):
        with pytest.raises(BadInput, match="may hold only"):
            indexed_app.tuning.alphas.model(name)


def test_a_network_refuses_vectors_of_another_model(trained: dict[str, training.Trained]) -> None:
    with pytest.raises(Refused, match="vectors of 8 numbers, the query's has 3"):
        predictor(trained["mlp"].model)(LegScores("x", {}, {}), lambda text: np.zeros(3))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"alpha_from": "magic"}, "Known: fixed, learned, llm, rules"),
        ({"alpha_from": "learned"}, "name the model"),
        ({"alpha_from": "rules", "fusion": "combsum"}, "a fusion that weighs"),
        ({"alpha_from": "learned", "alpha_model": "m", "weights": {"dense": 1.0}}, "no weights by hand"),
        ({"alpha_from": "learned", "alpha_model": "m", "legs": ["bm25", "dense", "tfidf"]}, "one other leg"),
    ],
)
def test_configurations_that_make_no_sense_are_refused(changes: dict, sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        configs.from_mapping(changes)


# ---------------------------------------------------------------- weights by rule and by language model


def test_the_language_model_weighs_the_legs(tmp_path) -> None:
    llm = ScriptedLlm('{"dense": 0.2, "sparse": 0.6, "graph": 0.2}')
    app = searchable(tmp_path, llm)
    result = app.search.searcher.search("file form </query>", config=configs.from_mapping({"alpha_from": "llm"}))
    assert result.hits[0].legs["bm25"].weight == pytest.approx(0.75)
    assert (
        next(one.note for one in result.stages if one.name == "fuse") == "weights bm25 0.75, dense 0.25 from scripted"
    )
    assert llm.asked == ["<query>\nfile form ‹/query>\n</query>"]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("", "it is empty"),
        ("I would say dense.", "no JSON of the form"),
        ('{"dense": 0.5, "sparse": 0.5}', "must have the keys"),
        ('{"dense": 0.5, "sparse": 0.5, "graph": 0.5}', "sum to 1.5"),
        ('{"dense": -1, "sparse": 1, "graph": 1}', "from 0 to 1"),
        ('{"dense": 3, "sparse": 3, "graph": 3}', "sum to 9"),
        ('{"dense": 0.33, "sparse": 0.33, "graph": 0.34}', "equal weights say nothing"),
        ('{"dense": true, "sparse": 0, "graph": 0}', "from 0 to 1"),
        ('{"dense": NaN, "sparse": 0.5, "graph": 0.5}', "from 0 to 1"),
        ('{"dense": 0, "sparse": 0, "graph": 1}', "none of the legs"),
        ('{"dense": 1, "sparse"', "no JSON of the form"),
    ],
)
def test_an_answer_that_breaks_the_contract_falls_back_to_the_rule(tmp_path, answer: str, why: str) -> None:
    app = searchable(tmp_path, ScriptedLlm(answer))
    result = app.search.searcher.search("file form", config=configs.from_mapping({"alpha_from": "llm"}))
    assert why in result.warnings[0]
    assert result.hits[0].legs["dense"].weight == pytest.approx(0.55 / 0.85)
    assert next(one.note for one in result.stages if one.name == "fuse").endswith("by rule")


def test_without_a_language_model_the_rule_decides(indexed_app: App) -> None:
    result = indexed_app.search.searcher.search("form 112 fee", config=configs.from_mapping({"alpha_from": "llm"}))
    assert "No language model is configured." in result.warnings[0]
    assert result.hits[0].legs["bm25"].weight == pytest.approx(0.55 / 0.85)


@given(st.lists(st.sampled_from(["bm25", "tfidf", "sparse", "dense", "graph"]), min_size=1, unique=True), st.booleans())
def test_shared_weights_sum_to_one_over_any_legs(legs: list[str], numeric: bool) -> None:
    weights = rules.shared(rules.rule("10 days" if numeric else "why"), legs)
    assert sum(weights.values()) == pytest.approx(1.0)
    assert set(weights) == set(legs)


def searchable(home, llm: ScriptedLlm) -> App:
    app = indexed(home, FILES)
    app.search.searcher.models = SmallModels(llm)
    return app
