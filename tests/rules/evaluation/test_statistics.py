"""Intervals that mean something: paired, seeded, honest about too little evidence."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import product
from math import erfc, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import BadInput
from core.evaluation.statistics import (
    DIFFER,
    bootstrap,
    compare,
    holm,
    needed,
    percentile,
    randomisation,
    wilson_lower,
    wilson_upper,
)

scores = st.lists(st.floats(0, 1), min_size=2, max_size=40)


@given(scores)
def test_an_interval_holds_its_mean_and_stays_within_the_scores(values: list[float]) -> None:
    found = bootstrap(np.array(values)[:, None], resamples=200)[0]
    assert min(values) - 1e-9 <= found.low <= found.mean <= found.high <= max(values) + 1e-9
    assert found.mean == pytest.approx(np.mean(values))


@given(scores)
def test_comparing_the_other_way_round_mirrors_the_answer(values: list[float]) -> None:
    there, back = compare(values, values[::-1]), compare(values[::-1], values)
    assert there.difference.mean == pytest.approx(-back.difference.mean)
    assert (there.wins, there.ties, there.losses) == (back.losses, back.ties, back.wins)
    assert there.wins + there.ties + there.losses == there.queries == len(values)


def test_the_same_seed_gives_the_same_interval_and_columns_do_not_touch_each_other() -> None:
    table = np.random.default_rng(1).random((60, 3))
    assert bootstrap(table) == bootstrap(table)
    alone = bootstrap(table[:, 1:2])[0]
    assert bootstrap(table)[1].low == pytest.approx(alone.low, abs=1e-12)


def test_the_interval_covers_the_true_mean_about_95_times_of_100() -> None:
    rng = np.random.default_rng(7)
    inside = 0
    for _ in range(200):
        found = bootstrap(rng.normal(0.3, 0.2, (80, 1)), resamples=400)[0]
        inside += found.low <= 0.3 <= found.high
    assert 180 <= inside <= 199


def test_a_clear_difference_is_better_and_a_small_sample_is_never_enough() -> None:
    rng = np.random.default_rng(3)
    before = rng.random(200)
    found = compare(before, before + rng.normal(0.1, 0.1, 200))
    assert (found.verdict, found.needed) == ("better", 0)
    assert found.sentence.startswith("Better by 0.1")
    few = compare([0.0] * 5, [1.0] * 5)
    assert (few.verdict, few.needed) == ("open", 25)
    assert "About 25 more judged questions" in few.sentence


@pytest.mark.parametrize(("comparisons", "more"), [(14, 113), (105, 170)])
def test_the_judgments_still_needed_would_in_fact_be_enough_after_the_correction_too(
    comparisons: int, more: int
) -> None:
    spread = np.random.default_rng(11).normal(0.0, 0.1, 60)
    gaps = 0.033 + 0.1154 * (spread - spread.mean()) / spread.std(ddof=1)
    (single,) = holm([compare(np.zeros(60), gaps)], of=comparisons)
    assert needed(0.033, 0.1154, 60) == 36, "what one comparison alone would need"
    assert (single.verdict, single.needed) == ("open", more)
    rng = np.random.default_rng(12)
    again = [compare(np.zeros(60 + more), rng.normal(0.033, 0.1154, 60 + more), resamples=300) for _ in range(60)]
    shown = sum(holm([each], of=comparisons)[0].verdict == "better" for each in again)
    assert 40 <= shown <= 57, "80 % power, as promised"


def test_an_interval_and_the_p_beside_it_never_contradict_each_other() -> None:
    rng = np.random.default_rng(2)
    pairs = [compare(np.zeros(60), rng.normal(0.02 * (n % 4), 0.1, 60), resamples=200) for n in range(40)]
    for each in [*pairs, *holm(pairs), *holm(pairs, of=105)]:
        excludes = each.difference.low > 0 or each.difference.high < 0
        assert not (excludes and each.p > 0.05), each.sentence
        assert (each.verdict in ("better", "worse")) == (excludes and each.p <= 0.05)
        assert ("(above 0.05)" in each.sentence) == (each.p > 0.05)
    wider = [one.difference.high - one.difference.low for one in holm(pairs)]
    assert all(
        wide >= pair.difference.high - pair.difference.low - 1e-12 for wide, pair in zip(wider, pairs, strict=True)
    )


def test_equal_runs_say_that_there_is_nothing_to_see() -> None:
    found = compare([0.5] * 50, [0.5] * 50)
    assert (found.wins, found.ties, found.losses, found.needed) == (0, 50, 0, 0)
    assert found.sentence == "No question changed: all 50 score the same."


def test_no_difference_names_the_largest_that_there_can_be() -> None:
    found = compare([0.0] * 100, [0.006 + 0.034, 0.006 - 0.034] * 50)
    assert (found.verdict, found.word) == ("no difference", "no difference larger than 0.013")
    assert found.difference.high == pytest.approx(0.013, abs=5e-4)
    assert found.sentence.startswith("No difference larger than 0.013: +0.006 (")
    assert holm([found], of=105)[0].word == "no difference larger than 0.018", "the interval among 105 is wider"


def test_too_few_queries_are_named_as_the_reason() -> None:
    found = compare([0.0] * 15, [0.5] * 15)
    assert found.p < 0.001, "the test alone would have called it better"
    assert found.sentence.startswith("Open: a verdict needs at least 30 judged questions, and these are 15; ")


def test_four_wins_among_sixty_are_chance_whatever_the_interval_says() -> None:
    found = compare([0.5] * 60, [0.875] * 4 + [0.5] * 56)
    assert found.difference.low == 0, "the bootstrap alone would have called it better"
    assert (found.verdict, found.differ, found.p) == ("open", 4, 0.125)
    assert found.sentence.startswith("Open: only 4 of 60 questions differ, and a verdict needs 10; ")
    assert found.needed == 90, "ten of 150 questions would differ"


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=9))
def test_the_randomisation_test_tries_every_sign(gaps: list[float]) -> None:
    table = np.array([gap for gap in gaps if abs(gap) > 1e-9])
    seen = abs(table.sum())
    patterns = [np.array(signs) @ np.abs(table) for signs in product((-1, 1), repeat=len(table))]
    brute = np.mean([abs(total) >= seen * (1 - 1e-6) - 1e-9 for total in patterns])
    assert randomisation(np.array(gaps)) == pytest.approx(brute, abs=0.02)
    assert randomisation(-np.array(gaps)) == randomisation(np.array(gaps))


def test_many_gaps_are_tested_by_random_signs_and_far_ones_by_a_bound() -> None:
    gaps = np.random.default_rng(5).normal(0.0, 0.2, 400)
    normal = erfc(abs(gaps.sum()) / sqrt(2 * (gaps**2).sum()))  # what the sum of many signs tends to
    assert randomisation(gaps) == pytest.approx(normal, abs=0.02)
    assert 0 < randomisation(np.full(200, 0.1)) < 1e-30


@pytest.mark.parametrize(
    ("size", "shift", "found"), [(40, 0.0, 0.0), (100, 0.0, 0.0), (100, 0.05, 0.4), (300, 0.02, 0.4)]
)
def test_a_verdict_is_rarely_wrong_and_mostly_found_where_something_differs(
    size: int, shift: float, found: float
) -> None:
    rng = np.random.default_rng([9, size])
    gaps = [np.where(rng.random(size) < 0.3, rng.normal(shift / 0.3, 0.2, size), 0.0) for _ in range(150)]
    words = Counter(compare(np.zeros(size), each, resamples=300).verdict for each in gaps)
    wrong = words["worse"] + (words["better"] if not shift else words["no difference"] if shift > 0.02 else 0)
    assert wrong <= 0.08 * 150
    assert words["better"] >= found * 150


@given(st.lists(st.lists(st.sampled_from((-0.5, 0.0, 0.25, 0.5)), min_size=40, max_size=40), min_size=1, max_size=6))
def test_correcting_for_many_comparisons_never_makes_one_surer_and_keeps_their_order(table: list[list[float]]) -> None:
    singles = [compare([0.0] * 40, gaps, resamples=50) for gaps in table]
    together = holm(singles)
    for single, corrected in zip(singles, together, strict=True):
        assert single.p <= corrected.p <= min(1.0, single.p * len(singles) + 1e-12)
        assert corrected.verdict in (single.verdict, "open")
    ordered = sorted(range(len(singles)), key=lambda n: singles[n].p)
    assert [together[n].p for n in ordered] == sorted(one.p for one in together)


def test_holm_by_hand() -> None:
    single = compare([0.0] * 50, [1.0] * DIFFER + [0.0] * (50 - DIFFER))
    assert single.p == 2 / 2**DIFFER
    first, second, third = holm([replace(single, p=0.01), replace(single, p=0.04), replace(single, p=0.03)])
    assert (first.p, second.p, third.p) == pytest.approx((0.03, 0.06, 0.06))
    assert "p = 0.030 after Holm over 3 comparisons" in first.sentence


def test_unpaired_and_empty_scores_are_refused() -> None:
    with pytest.raises(BadInput, match="3 before, 2 after"):
        compare([1, 2, 3], [1, 2])
    with pytest.raises(BadInput, match="nothing to resample"):
        compare([], [])


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_bounds_hold_the_share_and_mirror_each_other(trial: tuple[int, int]) -> None:
    hits, n = trial
    assert 0.0 <= wilson_lower(hits, n) <= hits / n + 1e-12
    assert hits / n - 1e-12 <= wilson_upper(hits, n) <= 1.0
    assert wilson_lower(hits, n) == pytest.approx(1.0 - wilson_upper(n - hits, n))


@given(scores, st.floats(0, 1))
def test_percentiles_agree_with_numpy(values: list[float], share: float) -> None:
    assert percentile(values, share) == pytest.approx(float(np.quantile(values, share)))
