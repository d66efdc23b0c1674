"""Knowing when not to answer: one confidence for every way of searching, and one threshold for page, command and
gaps.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.bootstrap import App
from core.errors import BadInput, Refused
from core.evaluation.tuning.answerable import auc_interval, fit, point_at, threshold_curve, threshold_for, without
from core.retrieval.confidence import BOTH, THRESHOLD, WORDS, Signs
from core.retrieval.config import parse
from core.types import Filters
from pages.ui.components.search_view import _notice
from tests.conftest import demo, small_app
from tests.support.evaluated import ADMIN, AUTHOR, evaluated

SCORES = st.lists(st.floats(0, 1), min_size=1, max_size=12)
SHARES = st.floats(0, 1)
SIGNS = st.builds(Signs, SHARES, SHARES, SHARES, st.floats(-8, 8), st.floats(0, 8), SHARES)


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> App:
    """For tests that change nothing."""
    return evaluated(small_app(tmp_path_factory.mktemp("confidence")))


# ---------------------------------------------------------------- the arithmetic


@given(SCORES, SCORES)
def test_the_area_is_what_is_left_when_both_sides_change_places(high: list[float], low: list[float]) -> None:
    area = auc_interval(high, low, resamples=50)
    assert area.mean == pytest.approx(1.0 - auc_interval(low, high, resamples=50).mean)
    assert area.low <= area.high
    assert 0.0 <= area.low <= 1.0


@given(SCORES, SCORES)
def test_a_higher_threshold_doubts_more_and_misses_less(high: list[float], low: list[float]) -> None:
    points = threshold_curve(high, low)
    assert [point.false_alarms.mean for point in points] == sorted(point.false_alarms.mean for point in points)
    assert [point.misses.mean for point in points] == sorted((point.misses.mean for point in points), reverse=True)
    assert points[0].false_alarms.mean == 0.0


@given(SCORES, st.floats(0, 0.9))
def test_a_threshold_doubts_no_more_answerable_questions_than_it_may(high: list[float], most: float) -> None:
    assert point_at(threshold_for(high, most), high, high).false_alarms.mean <= most + 1e-9


@given(SIGNS, st.sampled_from([BOTH, WORDS]), st.sampled_from(["covered", "title", "near", "margin", "agreed"]))
def test_a_better_sign_never_lowers_confidence(signs: Signs, model: Any, better: str) -> None:
    assert 0.0 <= model(signs) <= model(signs._replace(**{better: getattr(signs, better) + 0.1})) <= 1.0
    assert model(signs._replace(unknown=1.0)) <= model(signs._replace(unknown=0.0))


def test_a_fit_finds_the_coefficients_that_made_the_labels() -> None:
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(20_000, 2))
    labels = (rng.random(20_000) < 1 / (1 + np.exp(-(0.5 + rows @ [2.0, -1.0])))).astype(float)
    assert fit(rows, labels) == pytest.approx([0.5, 2.0, -1.0], abs=0.1)


# ---------------------------------------------------------------- what is left without some documents


def test_an_index_without_documents_finds_nothing_of_them_and_counts_words_anew(judged: App) -> None:
    index, searcher = judged.search.searcher.index(), judged.search.searcher
    found = searcher.search_in(index, "key3first", parse("convex-0.5"))
    gone = [n for n, facts in enumerate(index.documents) if facts.doc == found.hits[0].doc]
    rest = without(index, gone)
    left = searcher.search_in(rest, "key3first", parse("convex-0.5"))
    assert found.hits[0].doc not in {hit.doc for hit in left.hits}
    assert left.confidence < found.confidence
    assert (rest.rarity("key3first"), index.rarity("key3first") > 0) == (0.0, True), "the word is gone with it"
    chunks = len(rest.allowed(Filters(), searcher.clock.today()).nonzero()[0])
    held = sum(index.holding("appl", [n])[0] for n in range(index.size) if index.document_of(n) not in gone)
    assert rest.rarity("appl") == pytest.approx(np.log((chunks + 1) / (held + 0.5)))
    assert without(index, ()).rarity("appl") == pytest.approx(index.rarity("appl"))


# ---------------------------------------------------------------- every way of searching


@pytest.mark.parametrize(
    "text",
    ["bm25", "dense", "convex-0.5", "rrf-60", "trimodal-graph", '{"documents": true, "fields": {"title": 1}}', "tfidf"],
)
def test_every_way_of_searching_tells_what_it_knows_from_what_it_does_not(judged: App, text: str) -> None:
    def ask(query):
        return judged.search.searcher.search(query, config=parse(text))

    known, unknown = ask("key3first apple river"), ask("zeppelin harbour timetable")
    assert 0.0 <= unknown.confidence < known.confidence <= 1.0
    assert (known.fits, unknown.fits) == (True, False)
    assert ask("key3first apple river").confidence == known.confidence


def test_doubt_names_what_no_document_mentions_but_not_what_is_misspelt(judged: App) -> None:
    found = judged.search.page.find("zeppelin applle timetable")
    assert not found.result.fits
    assert found.result.missing == ("zeppelin", "timetable"), "applle is apple, misspelt"
    assert "No document mentions “zeppelin” or “timetable”." in _notice(found)
    assert judged.search.page.find("key3first apple river").result.missing == (), "what fits misses nothing"


def test_a_slip_is_no_doubt_where_its_right_spelling_finds_the_same_document(judged: App) -> None:
    page = judged.search.page
    meant, typed = page.find("key3first apple river").result, "key3first applle rivver"
    assert not judged.search.searcher.search(typed).fits, "two unknown words"
    found = page.find(typed).result
    assert (found.hits[0].doc, found.confidence, found.fits) == (meant.hits[0].doc, meant.confidence, True)
    assert page.find("zeppelin applle timetable").result.confidence < 0.25, "a right spelling makes nothing of nothing"


def test_confidence_depends_neither_on_how_many_hits_are_shown_nor_on_a_reranker(judged: App) -> None:
    def ask(k, text):
        return judged.search.searcher.search("key3first apple river", config=parse(text), k=k).confidence

    assert ask(1, "convex-0.5") == ask(10, "convex-0.5") == ask(3, "convex-0.5+rerank")


def test_nothing_found_is_no_confidence(judged: App) -> None:
    nothing = judged.search.searcher.search("apple", filters=Filters(tags=("no such tag",)))
    assert (nothing.hits, nothing.confidence, nothing.fits) == ((), 0.0, False)


# ---------------------------------------------------------------- the threshold


def test_a_team_measures_confidence_on_its_own_questions(judged: App) -> None:
    report = judged.tuning.confidence.measure(AUTHOR, "small")
    assert report.questions == len(report.asked) == 48
    assert report.area.low > 0.5
    assert (report.now.threshold, report.held_out) == (THRESHOLD, 0)
    assert "on the questions themselves" in report.sentence
    assert not report.proven, "too few questions to keep some for judging"
    assert report.suggested.false_alarms.mean <= 0.1


def test_one_threshold_decides_for_page_command_and_kept_questions(app: App) -> None:
    evaluated(app)
    query, tuning = "key3first apple river", app.tuning.confidence
    assert app.search.page.find(query).result.fits
    with pytest.raises(BadInput, match="add --reason TEXT"):
        tuning.choose(ADMIN, threshold=0.99)
    with pytest.raises(BadInput, match="between 0 and 1"):
        tuning.choose(ADMIN, threshold=1.5, reason="strict")
    with pytest.raises(BadInput, match="Name a query set"):
        tuning.choose(ADMIN)
    with pytest.raises(Refused):
        tuning.choose(AUTHOR, threshold=0.99, reason="strict")
    assert tuning.choose(ADMIN, threshold=0.999, reason="to  see it").evidence == {"reason": "to see it"}
    assert tuning.current(AUTHOR).threshold == 0.999
    assert not app.search.page.find(query).result.fits
    assert not app.search.searcher.search(query).fits
    assert app.search.queries.keep(demo("reader"), query)
    assert app.search.queries.totals().found == 0, "what is kept is doubted, too"


def test_a_threshold_that_held_out_questions_support_needs_no_reason(app: App) -> None:
    evaluated(app, each=2)
    report = app.tuning.confidence.measure(ADMIN, "small", alarms=0.5)
    assert report.held_out >= 30
    assert "that it was not chosen on" in report.sentence
    chosen = app.tuning.confidence.choose(ADMIN, "small", alarms=0.5)
    assert chosen.threshold == report.suggested.threshold == app.platform.settings.confidence().threshold
    assert chosen.evidence["questions"] == report.questions
