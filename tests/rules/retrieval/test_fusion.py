"""Laws of normalisation and fusion, and hand-computed numbers."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import BadInput
from core.retrieval import config as configs
from core.retrieval.candidates import Candidates, fuse, stacked, stored
from core.retrieval.fusions import FUSIONS
from core.retrieval.normalisations import NORMALISATIONS
from core.retrieval.ordering import best_first, rank
from core.retrieval.scaling import leg_weights
from core.types import SearchConfig

LISTS = st.lists(st.floats(-1.0, 50.0), max_size=12)
POSITIVE = st.dictionaries(st.integers(0, 30), st.floats(0.0, 50.0, allow_nan=False), max_size=12)
COSINES = st.dictionaries(st.integers(0, 30), st.floats(-1.0, 1.0, allow_nan=False), max_size=12)
NAMED = [
    "bm25",
    "dense",
    "convex-0",
    "convex-0.3",
    "convex-1",
    "tm2c2-0.5",
    "rrf-60",
    "rsf",
    "dbsn",
    "combsum",
    "combmnz",
]


def candidates(bm25: dict[int, float], dense: dict[int, float]) -> Candidates:
    return stored(
        {"bm25": rank(bm25), "dense": rank(dense)}, {"bm25": bm25, "dense": dense}, {"bm25": 0.0, "dense": -1.0}
    )


@pytest.mark.parametrize("name", [name for name in NORMALISATIONS if name != "none"])
@given(scores=LISTS)
def test_normalised_scores_stay_between_zero_and_one_and_keep_the_order(name: str, scores: list[float]) -> None:
    out = NORMALISATIONS[name].scale(np.array(scores), True, -1.0).tolist()
    assert len(out) == len(scores)
    assert all(0.0 <= value <= 1.0 for value in out)
    for a, b in itertools.permutations(range(len(scores)), 2):
        if scores[a] > scores[b]:
            assert out[a] >= out[b]


@pytest.mark.parametrize("name", list(NORMALISATIONS))
@given(scores=st.lists(st.tuples(st.floats(-1.0, 50.0), st.booleans()), max_size=12))
def test_what_a_leg_does_not_say_moves_nothing(name: str, scores: list[tuple[float, bool]]) -> None:
    normalise, here = NORMALISATIONS[name].scale, np.array([said for _, said in scores], bool)
    given_ = np.array([score for score, _ in scores])
    assert normalise(given_, here, -1.0)[here].tolist() == normalise(given_[here], True, -1.0).tolist()


@pytest.mark.parametrize("name", list(NORMALISATIONS))
@given(rows=st.lists(st.lists(st.floats(-1.0, 50.0), min_size=4, max_size=4), min_size=1, max_size=5))
def test_many_questions_at_once_are_each_of_them_alone(name: str, rows: list[list[float]]) -> None:
    normalise, floors = NORMALISATIONS[name].scale, np.array([0.0, -1.0]).reshape(2, 1, 1)
    both = np.array([rows, rows[::-1]])
    together = normalise(both, np.ones(both.shape, bool), floors)
    for leg, floor in enumerate((0.0, -1.0)):
        for question in range(len(rows)):
            assert together[leg, question].tolist() == normalise(both[leg, question], True, floor).tolist()


def test_scores_are_divided_by_a_tiny_one_without_overflow() -> None:
    with np.errstate(over="raise"):
        assert NORMALISATIONS["max"].scale(np.array([5e-324, -1.0]), True, 0.0).tolist() == [1.0, 0.0]


@pytest.mark.parametrize("name", list(NORMALISATIONS))
def test_an_empty_a_constant_and_a_single_leg_are_defined(name: str) -> None:
    def normalise(*scores):
        return NORMALISATIONS[name].scale(np.array(scores), True, 0.0).tolist()

    assert normalise() == []
    assert len(set(normalise(2.0, 2.0))) == 1
    assert normalise(0.0, 0.0) == [0.0, 0.0]
    assert normalise(3.0) == [{"minmax": 1.0, "tm2c2": 1.0, "zscore": 0.5, "max": 1.0, "none": 3.0}[name]]


@pytest.mark.parametrize("name", NAMED[2:])
@given(bm25=POSITIVE, dense=COSINES)
def test_fusion_ignores_the_order_of_its_inputs(name: str, bm25: dict[int, float], dense: dict[int, float]) -> None:
    config = configs.parse(name)
    one = fuse(candidates(bm25, dense), config)
    two = fuse(
        stored(
            {"dense": rank(dense), "bm25": rank(bm25)},
            {"dense": dict(reversed(dense.items())), "bm25": dict(reversed(bm25.items()))},
            {"dense": -1.0, "bm25": 0.0},
        ),
        config,
    )
    assert list(one.ranking.items()) == list(two.ranking.items())


@given(bm25=POSITIVE, dense=COSINES)
def test_alpha_zero_keeps_the_bm25_order_and_alpha_one_the_vector_order(
    bm25: dict[int, float], dense: dict[int, float]
) -> None:
    both = set(bm25) & set(dense)
    found = candidates({c: bm25[c] for c in both}, {c: dense[c] for c in both})
    for name in ("convex", "tm2c2"):
        for alpha, leg in ((0, "bm25"), (1, "dense")):
            ranking = list(fuse(found, configs.parse(f"{name}-{alpha}")).ranking)
            scores = found.retrieved[leg]
            assert all(scores[a] >= scores[b] - 1e-9 for a, b in itertools.pairwise(ranking))


@given(bm25=POSITIVE, dense=COSINES, pick=st.sampled_from(NAMED))
def test_confidence_lies_between_zero_and_one(bm25: dict[int, float], dense: dict[int, float], pick: str) -> None:
    config = configs.parse(pick)
    legs = candidates(bm25, dense)
    if config.fusion == "single":
        legs = legs.only(config.legs)
    assert 0.0 <= fuse(legs, config).confidence <= 1.0


@pytest.mark.parametrize("name", ["convex-0.3", "tm2c2-0.5", "rrf-60", "rsf", "combsum", "combmnz"])
def test_what_every_leg_has_first_reaches_the_ceiling_and_no_more(name: str) -> None:
    config = configs.parse(name)
    best = fuse(candidates({1: 9.0, 2: 3.0}, {1: 0.9, 2: 0.1}), config).ranking[1]
    ceiling = FUSIONS[config.fusion].ceiling
    assert ceiling is not None
    assert best == pytest.approx(ceiling(list(leg_weights(config).values()), config))


@given(bm25=POSITIVE, dense=COSINES)
def test_ranked_scores_fall_and_ties_go_by_id(bm25: dict[int, float], dense: dict[int, float]) -> None:
    items = list(fuse(candidates(bm25, dense), configs.DEFAULT).ranking.items())
    assert items == sorted(items, key=lambda item: (-item[1], item[0]))


@given(st.lists(st.integers(0, 5).map(float), max_size=300))
def test_equal_scores_stay_in_the_order_of_ids_however_many_there_are(scores: list[float]) -> None:
    assert best_first(np.array(scores)).tolist() == sorted(range(len(scores)), key=lambda n: (-scores[n], n))


@given(bm25=POSITIVE, dense=COSINES, extra=POSITIVE)
def test_few_and_many_candidates_are_laid_out_alike(
    bm25: dict[int, float], dense: dict[int, float], extra: dict[int, float]
) -> None:
    found = {"bm25": rank(bm25), "dense": rank(dense)}
    said = {"bm25": bm25, "dense": {**extra, **dense}}
    few = stacked(found, said)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("core.retrieval.candidates.FEW", -1)
        many = stacked(found, said)
    for name in ("chunks", "scores", "places"):
        assert getattr(few, name).tolist() == getattr(many, name).tolist()
        assert getattr(few, name).dtype == getattr(many, name).dtype


def test_a_hand_computed_convex_fusion() -> None:
    found = candidates({1: 10.0, 2: 5.0, 3: 0.0}, {1: 0.2, 2: 0.8, 3: 0.5})
    assert {c: round(s, 6) for c, s in fuse(found, configs.parse("convex-0.4")).ranking.items()} == {
        2: 0.7,
        1: 0.6,
        3: 0.2,
    }
    tm = fuse(found, configs.parse("tm2c2-0.5")).ranking
    assert round(tm[1], 6) == round(0.5 * 1.0 + 0.5 * 1.2 / 1.8, 6)


def test_a_hand_computed_weighted_rrf() -> None:
    config = configs.parse('{"base": "rrf-60", "weights": {"bm25": 1, "dense": 2}}')
    assert fuse(candidates({1: 9.0, 2: 8.0}, {2: 0.9}), config).ranking == {2: 1 / 62 + 2 / 61, 1: 1 / 61}


def test_a_hand_computed_combmnz_counts_the_legs_that_retrieved() -> None:
    fused = fuse(candidates({1: 4.0, 2: 2.0, 3: 0.0}, {2: 0.5, 4: -0.5}), configs.parse("combmnz"))
    assert fused.ranking == {2: (0.5 + 1.0) * 2, 1: 1.0, 3: 0.0, 4: 0.0}
    assert fused.normalised("dense") == {2: 1.0, 4: 0.0}


@pytest.mark.parametrize("name", [*NAMED, "rrf-20", "convex-0.75", *(f"{name}+rerank" for name in NAMED)])
def test_names_round_trip(name: str) -> None:
    assert configs.name(configs.parse(name)) == name


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("magic", "There is no configuration 'magic'"),
        ("convex-1.5", "alpha"),
        ("bm25+boost", "only .rerank"),
        ('{"aplha": 1}', "unknown key 'aplha'"),
        ('{"legs": "bm25"}', "expected a list"),
        ('{"legs": []}', "at least one leg"),
        ('{"legs": ["bm25", "bm25"]}', "each only once"),
        ('{"legs": ["tarot"]}', "unknown"),
        ('{"fusion": "single"}', "exactly one leg"),
        ('{"depth": 0}', "depth"),
        ('{"depth": 1001}', "depth"),
        ('{"k": true}', "expected int"),
        ('{"weights": {"bm25": -1}}', "negative"),
        ('{"weights": {"bm25": NaN}}', "finite"),
        ('{"weights": {"graph": 1}}', "one of bm25, dense must weigh more than zero"),
        ("{nope", "not valid JSON"),
        ('{"tau": 2}', "tau"),
    ],
)
def test_bad_configurations_are_refused_with_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        configs.parse(text)


def test_json_starts_from_a_name_and_any_value_can_be_changed() -> None:
    assert configs.parse('{"base": "rrf-60", "weights": {"dense": 2, "bm25": 1}}').weights == {
        "bm25": 1.0,
        "dense": 2.0,
    }
    assert configs.parse('{"base": "bm25", "k": 3}') == replace(configs.parse("bm25"), k=3)
    assert isinstance(configs.parse("{}"), SearchConfig)
