"""Ranking measures against an independent implementation, span measures by hand, and what a stage moved."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import BadInput
from core.evaluation.measures import by_name, passages, rank_distance
from core.evaluation.measures.by_name import MEASURES, ranking_measure
from tests.conftest import SHARED

DOCS = [f"d{n}" for n in range(30)]
THEIRS = {"nDCG": "nDCG", "Recall": "R", "MRR": "RR", "MAP": "AP", "P": "P", "Judged": "Judged"}


def agree(runs: dict[str, list[str]], qrels: dict[str, dict[str, int]], *depths: int) -> None:
    """Every measure of every query, to 1e-9; their run is scored by place, so ours is the same order."""
    ir_measures = pytest.importorskip("ir_measures", reason="ir_measures is not installed on this machine")
    scored = {q: {doc: float(len(ranking) - n) for n, doc in enumerate(ranking)} for q, ranking in runs.items()}
    names = {getattr(ir_measures, theirs) @ k: f"{name}@{k}" for name, theirs in THEIRS.items() for k in depths}
    compared = 0
    for found in ir_measures.iter_calc(list(names), qrels, scored):
        if runs.get(found.query_id):
            ours = ranking_measure(names[found.measure])(runs[found.query_id], qrels[found.query_id])
            assert abs(ours - found.value) <= 1e-9, (found, ours)
            compared += 1
    assert compared == len(names) * len(runs), "every query was compared"


@given(
    st.dictionaries(
        st.sampled_from(["q1", "q2"]), st.lists(st.sampled_from(DOCS), min_size=1, unique=True), min_size=1
    ),
    st.dictionaries(st.sampled_from(DOCS), st.integers(0, 3), min_size=1),
    st.integers(1, 20),
)
def test_ranking_measures_agree_with_ir_measures(runs: dict[str, list[str]], gains: dict[str, int], k: int) -> None:
    agree(runs, {query: {**gains, "d0": 1} for query in runs}, k)


@pytest.mark.data
@pytest.mark.parametrize("name", ["scifact", "nfcorpus"])
def test_measures_of_a_real_run_agree_with_ir_measures(name: str) -> None:
    folder = SHARED / "beir" / name
    if not folder.is_dir():
        pytest.skip(f"THE AGREEMENT ON {name.upper()} WAS NOT TESTED: {folder} is missing; set CONCORD_SHARED.")
    from rank_bm25 import BM25Okapi

    qrels: dict[str, dict[str, int]] = {}
    for line in (folder / "qrels" / "test.tsv").read_text().splitlines()[1:]:
        query, doc, grade = line.split("\t")
        qrels.setdefault(query, {})[doc] = int(grade)
    qrels = {query: qrels[query] for query in list(qrels)[::6]}  # the peer is slow
    judged = {doc for gains in qrels.values() for doc in gains}
    records = [json.loads(line) for line in (folder / "corpus.jsonl").read_text().splitlines()]
    records = [record for n, record in enumerate(records) if n % 8 == 0 or record["_id"] in judged]
    peer = BM25Okapi([(record["title"] + " " + record["text"]).lower().split() for record in records])
    texts = {row["_id"]: row["text"] for row in map(json.loads, (folder / "queries.jsonl").read_text().splitlines())}
    runs = {}
    for query in qrels:
        best = peer.get_scores(texts[query].lower().split()).argsort()[::-1][:100]
        runs[query] = [records[n]["_id"] for n in best]
    agree(runs, qrels, 1, 5, 10, 100)


def test_every_measure_has_a_name_that_finds_it() -> None:
    ranking = {name for name, measure in MEASURES.items() if measure.kind == "ranking"}
    assert ranking == set(THEIRS), "name the measure of ir_measures that a new one agrees with in THEIRS"
    assert all(measure.about for measure in MEASURES.values())
    with pytest.raises(BadInput, match="nDCG@k, Recall@k"):
        ranking_measure("nDCG@x")
    with pytest.raises(BadInput, match="no measure 'T1EM@5'"):
        ranking_measure("T1EM@5")


def test_span_measures_of_a_small_answer_by_hand() -> None:
    texts, answer = (
        ["File it.", "Keep the form five years", "Keep the form for five years."],
        "Keep the form for five years",
    )
    values = {name: one.of(texts, answer) for name, one in MEASURES.items() if one.kind == "span"}
    assert values == pytest.approx(
        {"T1EM": 0, "T5EM": 1, "T1C": 0, "BC": 1, "AC": (0 + 5 / 6 + 1) / 3, "MC": 1, "SpanMRR": 1 / 3}
    )
    assert MEASURES["AT1S"].of([0.75, 0.5]) == 0.75


def test_nothing_found_measures_zero_everywhere() -> None:
    for measure in MEASURES.values():
        empty = {"ranking": ([], {"a": 1}, 10), "span": ([], "x"), "overlap": ([], ["x"]), "score": ([],)}
        assert measure.of(*empty[measure.kind]) == 0.0


def test_an_answer_across_a_line_break_is_found_but_another_case_is_not() -> None:
    assert passages.exact(["Form\n  112"], "Form 112", 1) == 1.0
    assert passages.exact(["form 112"], "Form 112", 1) == 0.0
    assert passages.exact(["anything"], "  ", 1) == 0.0


@given(st.permutations(DOCS[:8]))
def test_swaps_count_places_that_changed(after: list[str]) -> None:
    count = rank_distance.swaps(DOCS[:8], after, 8)
    assert count == sum(a != b for a, b in zip(DOCS[:8], after, strict=True)) != 1
    assert rank_distance.top_changed(DOCS[:8], after) == (after[0] != "d0")


def test_degraded_queries_come_worst_first_with_their_features() -> None:
    before, after = {"a": 1.0, "b": 0.8, "c": 0.5}, {"a": 0.9, "b": 0.2, "c": 0.7}
    found = rank_distance.degraded(before, after, {"a": "CTR fees", "b": "Form 112 within 30 days"})
    assert [(one.query, one.words, one.digits) for one in found] == [("b", 5, True), ("a", 2, False)]
    assert found[0].difference == pytest.approx(-0.6)


def test_the_mean_of_nothing_is_zero() -> None:
    assert by_name.mean([]) == 0.0
