"""Pools for judges: what one of them adds is there for all, whole answers are rated, and a set says how good they
are.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from core.bootstrap import App, build
from core.errors import BadInput, NotFound
from core.evaluation.querysets.queryset import Judgment, QuerySet, Question
from core.evaluation.querysets.ratings import FIRST, WRITTEN
from core.evaluation.runs import pooling
from core.retrieval import config as configs
from core.services.playground.grades import anchor
from core.services.playground.pools import NOTHING, ShownAnswer
from tests.conftest import ScriptedLlm, SmallModels, demo, kb_settings, put, small_app
from tests.support.small_kb import FILES

ANN, BEN = demo("author"), demo("reviewer")
QUERY = "file form 111"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = small_app(tmp_path_factory.mktemp("pools") / "home")
    put(made, dict(FILES))
    made.index.builder.build(made.platform.settings.profile())
    return made.settings.home


@pytest.fixture
def app(home: Path) -> App:
    """Its pools and ratings are for all tests of this file: each asks its own questions."""
    return build(kb_settings(home), models=SmallModels(ScriptedLlm("Form 111 is filed within a day [1].")))


def found(app: App, query: str = QUERY) -> list:
    return [app.search.searcher.search(query, config=configs.parse("bm25"), k=2).hits]


def test_what_one_judge_adds_stands_in_the_pool_of_every_judge_and_nothing_says_who_added_it(app: App) -> None:
    pools, index = app.playground.pools, app.search.searcher.index()
    before = pools.pool(ANN, QUERY, found(app), index)
    offered = pools.find(ANN, "error 809", index)
    assert [hit.title for hit in offered] == sorted(hit.title for hit in offered), "no order tells what ranked first"
    new = next(hit for hit in offered if anchor(hit) not in map(anchor, before))
    assert pools.add(ANN, f"  {QUERY}", new, before).new_document
    after = pools.pool(BEN, QUERY, found(app), index)
    assert {hit.chunk for hit in after} == {hit.chunk for hit in before} | {new.chunk}
    entry = next(hit for hit in after if hit.chunk == new.chunk)
    assert (entry.rank, entry.score, entry.legs) == (0, 0.0, {})
    assert (pools.own(ANN, QUERY, after), pools.own(BEN, QUERY, after)) == ({new.chunk}, frozenset())
    with pytest.raises(BadInput, match="in the list already"):
        pools.add(BEN, QUERY, new, after)
    with pytest.raises(NotFound, match="You did not add"):
        pools.remove(BEN, QUERY, new)
    pools.remove(ANN, QUERY, new)
    assert pools.pool(BEN, QUERY, found(app), index) == before
    assert pools.find(ANN, "  ", index) == ()


def test_a_language_model_that_judges_gets_what_people_added(app: App) -> None:
    asked = Question("q1", "who signs a wire")
    app.evaluation.querysets.keep(demo("admin"), QuerySet("pooled", (asked,), (Judgment("q1", "it/vpn.md"),)))
    pools, index = app.playground.pools, app.search.searcher.index()
    (run,) = app.evaluation.runs.measure(demo("admin"), "pooled", [("", "bm25")])
    plain = pooling.pool([run], index, 2)
    shown = {item.text for item in plain}
    new = next(hit for hit in pools.find(ANN, "error 809 fatigue", index) if hit.text not in shown)
    pools.add(ANN, asked.text, new, ())
    wider = pooling.pool([run], index, 2, added=pools.added_chunks(ANN, [asked], index))
    assert {item.text for item in wider} == shown | {new.text}


def test_a_judge_rates_the_first_result_or_a_written_answer_and_may_change_their_mind(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    pools, query = app.playground.pools, "error 809"
    first = pools.answer(ANN, query)
    assert (first.kind, first.title) == (FIRST, app.search.page.find(query).groups[0].facts.title)
    pools.rate(ANN, query, first, "no", "  another system ")
    pools.rate(ANN, "error  809", first, "partly")
    pools.rate(BEN, query, first, "yes")
    assert [(given.judge, given.rating, given.note) for given in pools.ratings(ANN, query)] == [
        (ANN.id, "partly", ""),
        (BEN.id, "yes", ""),
    ]
    written = pools.answer(ANN, query, WRITTEN)
    assert written.text
    assert written.kind == WRITTEN
    monkeypatch.setattr(pools, "first", lambda query: [])
    assert pools.answer(ANN, query) == ShownAnswer(FIRST, NOTHING)
    for act in (
        lambda: pools.rate(ANN, query, first, "perhaps"),
        lambda: pools.rate(ANN, query, first, "yes", "x" * 1001),
        lambda: pools.answer(ANN, query, "a poem"),
    ):
        with pytest.raises(BadInput):
            act()


@pytest.fixture(scope="module")
def rated(home: Path) -> str:
    """A set of five questions, of which two judges rated the answers to four; one of them added a passage."""
    app = build(kb_settings(home), models=SmallModels())
    texts = ("garden hose", "night shift", "lost badge", "fire drill", "spare keys")
    asked = tuple(Question(f"q{n}", text) for n, text in enumerate(texts))
    app.evaluation.querysets.keep(demo("admin"), QuerySet("rated", asked))
    pools, shown = app.playground.pools, ShownAnswer(FIRST, "An answer.")
    for judge, said in ((ANN, ("yes", "yes", "no", "partly")), (BEN, ("yes", "no", "no", "partly"))):
        for text, rating in zip(texts, said, strict=False):
            pools.rate(judge, text, shown, rating)
    index = app.search.searcher.index()
    new = pools.find(ANN, "error 809", index)[0]
    pools.add(ANN, texts[0], new, ())
    return "rated"


def test_a_set_says_how_many_answers_are_good_how_far_judges_agree_and_how_often_they_added(
    app: App, rated: str
) -> None:
    summary = app.evaluation.querysets.pool_summary(ANN, rated)
    (quality,) = summary.answers
    assert (quality.good.count, quality.good.of, quality.partly) == (1, 4, 1), "a tie is not good"
    assert quality.good.interval == pytest.approx((0.0456, 0.6994), abs=1e-3)
    assert [(pair.places, round(pair.kappa, 3)) for pair in quality.judges] == [(4, 0.5)]
    assert (str(summary.added), summary.new_documents.count) == ("1 of 4 (25 %, 5 to 70 %)", 1)
