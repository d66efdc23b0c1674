"""The longest common subsequence against a naive oracle, and its laws."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.evaluation.measures import passages

texts = st.lists(st.sampled_from(["a", "b", "c", "day", "days", "112"]), max_size=90)


def naive(one: list[str], other: list[str]) -> int:
    rows = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i, x in enumerate(one, 1):
        for j, y in enumerate(other, 1):
            rows[i][j] = rows[i - 1][j - 1] + 1 if x == y else max(rows[i - 1][j], rows[i][j - 1])
    return rows[-1][-1]


@given(texts, texts)
def test_the_length_equals_the_plain_dynamic_programme(one: list[str], other: list[str]) -> None:
    assert passages.length(one, other) == naive(one, other) == passages.length(other, one)


@given(texts, texts, texts)
def test_more_text_never_covers_less(one: list[str], other: list[str], answer: list[str]) -> None:
    assert passages.length(one + other, answer) >= max(passages.length(one, answer), passages.length(other, answer))


@given(texts, texts)
def test_coverage_and_overlap_stay_between_zero_and_one(one: list[str], other: list[str]) -> None:
    a, b = " ".join(one), " ".join(other)
    assert 0.0 <= passages.coverage(a, b) <= 1.0
    assert 0.0 <= passages.overlap(a, b) == passages.overlap(b, a) <= 1.0


@given(texts.filter(bool), texts, texts)
def test_a_text_that_holds_the_answer_covers_all_of_it(answer: list[str], before: list[str], after: list[str]) -> None:
    text, wanted = " ".join(before + answer + after), " ".join(answer)
    assert passages.holds(text, wanted)
    assert passages.coverage(text, wanted) == 1.0


def test_a_word_beyond_a_machine_word_still_counts() -> None:
    long = [str(n) for n in range(1000)]
    assert passages.length(long, long[::-1]) == 1
    assert passages.length(long, long[::7]) == len(long[::7])


def test_order_matters_and_case_accents_and_punctuation_do_not() -> None:
    assert passages.coverage("DAYS, thirty", "thirty days") == 0.5
    assert passages.coverage("The café's “Rule”: 30 days!", "cafe rule 30 Days") == 1.0
    assert passages.coverage("anything", "") == 0.0
