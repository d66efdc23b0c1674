"""Tau from evidence: the smallest threshold that is safe, checked on queries it has not seen."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.evaluation.statistics import wilson_lower
from core.evaluation.tuning.calibration import Observed, TauRule, calibrate, choose, keeping, tau_curve

observations = st.lists(
    st.builds(
        Observed, st.uuids().map(str), st.floats(0, 1), st.booleans(), st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1)
    ),
    min_size=1,
    max_size=120,
    unique_by=lambda one: one.query,
)


def honest(n: int, seed: int = 5) -> list[Observed]:
    """Queries whose confidence says how likely the answer stands on top."""
    rng = random.Random(seed)
    made = []
    for number in range(n):
        confidence = rng.random()
        answered = rng.random() < confidence
        made.append(Observed(f"q{number}", confidence, answered, float(answered), max(float(answered), 0.8)))
    return made


@given(observations)
def test_every_point_of_the_curve_is_what_counting_says(observed: list[Observed]) -> None:
    for point in tau_curve(observed, 21):
        skipped = [one for one in observed if one.sureness >= point.tau]
        assert (point.skipped, point.answered) == (len(skipped), sum(one.answered for one in skipped))
        assert point.lower == wilson_lower(point.answered, point.skipped)
        measure = sum(one.fused if one.sureness >= point.tau else one.reranked for one in observed) / len(observed)
        assert point.measure == pytest.approx(measure)
        assert point.share == pytest.approx(1 - len(skipped) / len(observed))


@given(observations)
def test_uplifts_add_up_to_the_whole_gain(observed: list[Observed]) -> None:
    points = tau_curve(observed)
    assert sum(point.uplift for point in points) == pytest.approx(points[-1].measure - points[0].measure)


@given(observations, st.floats(0.1, 0.9), st.integers(1, 40))
def test_tau_is_the_smallest_that_is_safe(observed: list[Observed], beta: float, least: int) -> None:
    points = tau_curve(observed)
    chosen = choose(points, beta, least)
    safe = [point.tau for point in points if point.lower >= beta and point.skipped >= least]
    assert (chosen.tau if chosen else None) == (min(safe) if safe else None)


def test_an_honest_confidence_gives_a_tau_that_holds_on_held_out_queries() -> None:
    found = calibrate(honest(2000), TauRule("precision", beta=0.7))
    assert 0.3 <= found.tau <= 0.6
    assert found.holds
    assert found.held_out.precision >= 0.65
    assert 0.5 < found.kept < 1.0
    assert (found.curve[0].skipped, found.curve[0].share) == (2000, 0.0), "the curve is of all of them"
    assert found.verdict == "not contradicted", "the smallest safe tau is as precise as it must be, and no more"


def test_few_held_out_queries_that_fail_confirm_nothing() -> None:
    observed = [Observed(f"q{n:02d}", 0.9, True, 1.0, 1.0) for n in range(25)]
    kept_out = calibrate(observed, TauRule("precision", least=15)).held_out
    assert (kept_out.answered, kept_out.skipped) == (5, 5)
    order = sorted(observed, key=lambda one: one.query)
    random.Random(42).shuffle(order)
    missed = {one.query for one in order[:4]}
    found = calibrate(
        [replace(one, answered=one.query not in missed) for one in observed], TauRule("precision", least=15)
    )
    assert (found.verdict, found.holds) == ("not contradicted", True)
    assert found.sentence.endswith("1 of 5 skipped queries answered, which neither confirms nor contradicts 50%.")


def test_a_stricter_beta_never_skips_more() -> None:
    taus = [calibrate(honest(2000), TauRule("precision", beta=beta)).tau for beta in (0.5, 0.6, 0.7, 0.8, 0.9)]
    assert taus == sorted(taus)


def test_too_few_or_too_bad_queries_give_no_tau_and_a_sentence() -> None:
    assert "fewer than 30 judged queries" in calibrate(honest(20)).sentence
    bad = [Observed(str(n), 0.9, n % 5 == 0, 0.0, 1.0) for n in range(200)]
    found = calibrate(bad)
    assert found.tau is None
    assert "best lower bound is" in found.sentence


def test_where_reranking_gains_nothing_no_share_of_the_gain_is_claimed() -> None:
    flat = [Observed(str(n), 0.9, True, 1.0, 1.0) for n in range(200)]
    assert calibrate(flat).kept is None
    assert calibrate(flat).sentence.endswith("40 of 40 skipped queries answered, which confirms 50%.")


def test_calibrating_twice_gives_the_same_answer_whatever_the_order() -> None:
    observed = honest(300)
    assert calibrate(observed) == calibrate(observed[::-1])


def test_where_reranking_gains_nothing_it_is_left_off() -> None:
    seen = [Observed(str(n), n / 100, True, 0.5, 0.5) for n in range(100)]
    found = calibrate(seen, TauRule("gain"))
    assert (found.tau, found.verdict, found.holds) == (None, "no gain", False)
    assert found.sentence == "Reranking gains nothing here: leave it off."


def test_no_tau_is_recommended_on_thin_evidence_and_no_share_above_the_whole_is_claimed() -> None:
    def seen(count: int, gain: float) -> list[Observed]:
        return [Observed(str(n), n / count, True, 0.5, 0.5 + gain * (1 if n % 4 else -1)) for n in range(count)]

    better, unclear = calibrate(seen(40, 0.3), TauRule("gain")), calibrate(seen(20, 0.3), TauRule("gain"))
    assert (better.tau, better.verdict) == (unclear.tau, unclear.verdict) == (None, "thin")
    assert (
        better.sentence
        == "Reranking everything is better, but 40 questions are too few to choose a tau on: it takes 100."
    )
    assert unclear.sentence == "No tau is recommended: it is open whether reranking gains anything here."
    enough = calibrate(seen(100, 0.3), TauRule("gain"))
    assert enough.tau is not None
    assert "On the 20 held-out questions it gains +0." in enough.sentence


def test_the_smallest_tau_that_keeps_most_of_the_gain_is_chosen_and_not_the_one_that_never_reranks() -> None:
    seen = [Observed(str(n), n / 100, True, 1.0 if n > 60 else 0.2, 1.0) for n in range(100)]
    found = calibrate(seen, TauRule("gain", keep=0.9))
    assert found.tau is not None
    assert 0.5 <= found.tau <= 0.62
    assert found.chosen is not None
    assert found.chosen.measure > 0.9
    assert "keeps 90% of what reranking gains" in found.sentence
    assert calibrate(seen, TauRule("precision")).tau == 0.0, "precision alone would have reranked nothing"


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=30))
def test_a_chosen_tau_keeps_what_it_promises_on_the_queries_it_was_chosen_on(
    rows: list[tuple[float, float, float]],
) -> None:
    seen = [Observed(str(n), score, True, min(pair), max(pair)) for n, (score, *pair) in enumerate(rows)]
    points = tau_curve(seen)
    chosen = keeping(points, seen, 0.9)
    base = sum(each.fused for each in seen) / len(seen)
    gain = sum(each.reranked for each in seen) / len(seen) - base
    if chosen is None:
        assert all(point.measure < base + 0.9 * gain for point in points)
    else:
        assert chosen.measure >= base + 0.9 * gain - 1e-9
        assert all(point.measure < base + 0.9 * gain for point in points if point.tau < chosen.tau)
