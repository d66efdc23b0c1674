"""Laws of normalisation and fusion, and hand-computed numbers."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import BadInput
from core.retrieval import config as configs
from core.retrieval.fusion import FUSIONS, NORMALISATIONS, Legs, rank
from core.retrieval.pipeline import Candidates, fuse
from core.types import SearchConfig

SCORES = st.dictionaries(st.integers(0, 30), st.floats(-1.0, 50.0, allow_nan=False), max_size=12)
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
    return Candidates(
        {"bm25": rank(bm25), "dense": rank(dense)}, {"bm25": bm25, "dense": dense}, {"bm25": 0.0, "dense": -1.0}
    )


@pytest.mark.parametrize("name", [name for name in NORMALISATIONS if name != "none"])
@given(scores=SCORES)
def test_normalised_scores_stay_between_zero_and_one_and_keep_the_order(name: str, scores: dict[int, float]) -> None:
    out = NORMALISATIONS[name](scores, -1.0)
    assert set(out) == set(scores)
    assert all(0.0 <= value <= 1.0 for value in out.values())
    for a in scores:
        for b in scores:
            if scores[a] > scores[b]:
                assert out[a] >= out[b]


@pytest.mark.parametrize("name", list(NORMALISATIONS))
def test_an_empty_a_constant_and_a_single_leg_are_defined(name: str) -> None:
    normalise = NORMALISATIONS[name]
    assert normalise({}, 0.0) == {}
    assert len(set(normalise({1: 2.0, 2: 2.0}, 0.0).values())) == 1
    assert normalise({1: 0.0, 2: 0.0}, 0.0) == {1: 0.0, 2: 0.0}
    assert normalise({7: 3.0}, 0.0)[7] == {"minmax": 1.0, "tm2c2": 1.0, "zscore": 0.5, "max": 1.0, "none": 3.0}[name]


@pytest.mark.parametrize("name", NAMED[2:])
@given(bm25=POSITIVE, dense=COSINES)
def test_fusion_ignores_the_order_of_its_inputs(name: str, bm25: dict[int, float], dense: dict[int, float]) -> None:
    config = configs.parse(name)
    one = fuse(candidates(bm25, dense), config)
    two = fuse(
        Candidates(
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
            scores = found.scores[leg]
            assert all(scores[a] >= scores[b] - 1e-9 for a, b in itertools.pairwise(ranking))


@given(bm25=POSITIVE, dense=COSINES, pick=st.sampled_from(NAMED))
def test_confidence_lies_between_zero_and_one(bm25: dict[int, float], dense: dict[int, float], pick: str) -> None:
    config = configs.parse(pick)
    legs = candidates(bm25, dense)
    if config.fusion == "single":
        legs = Candidates(
            {config.legs[0]: legs.retrieved[config.legs[0]]}, {config.legs[0]: legs.scores[config.legs[0]]}, legs.floors
        )
    assert 0.0 <= fuse(legs, config).confidence <= 1.0 + 1e-9


@given(bm25=POSITIVE, dense=COSINES)
def test_ranked_scores_fall_and_ties_go_by_id(bm25: dict[int, float], dense: dict[int, float]) -> None:
    items = list(fuse(candidates(bm25, dense), configs.DEFAULT).ranking.items())
    assert items == sorted(items, key=lambda item: (-item[1], item[0]))


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
    legs = Legs({"bm25": {1: 9.0, 2: 8.0}, "dense": {2: 0.9}}, {}, {"bm25": 1.0, "dense": 2.0}, 60)
    assert FUSIONS["rrf"](legs) == {1: 1 / 61, 2: 1 / 62 + 2 / 61}


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
