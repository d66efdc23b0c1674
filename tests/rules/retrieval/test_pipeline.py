"""The search pipeline on a small real index: order, explanation, failure, filters, reranking."""

from __future__ import annotations

import gc
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from core.bootstrap import App
from core.errors import BadInput, Unavailable
from core.retrieval import config as configs
from core.retrieval.filters import admits
from core.retrieval.pipeline import MAX_QUERY, check_query
from core.types import DocumentFacts, Filters
from tests.conftest import indexed, put
from tests.support.small_kb import FILES


@pytest.fixture
def indexed_app(tmp_path: Path) -> App:
    return indexed(tmp_path / "home", FILES)


def paths(app: App, query: str, filters: Filters = Filters(), config: str = "convex-0.5") -> set[str]:
    return {
        hit.path
        for hit in app.search.searcher.search(
            query, config=replace(configs.parse(config), depth=50, k=50), filters=filters
        ).hits
    }


def test_a_hit_carries_document_version_status_heading_position_and_text(indexed_app: App) -> None:
    hit = indexed_app.search.searcher.search("error 809", config=configs.parse("bm25")).hits[0]
    document = indexed_app.knowledge.documents.show("IT-1")
    assert (hit.rank, hit.doc, hit.path, hit.title, hit.status, hit.version) == (
        1,
        "IT-1",
        "it/vpn.md",
        "VPN",
        "approved",
        1,
    )
    assert hit.text == document.text[hit.start : hit.end]
    assert "Error 809" in hit.text


def test_drafts_are_never_found_and_history_only_when_asked_for(indexed_app: App) -> None:
    assert paths(indexed_app, "file form") == {"fin/ctr.md", "fin/sar.md", "it/vpn.md"}
    assert paths(indexed_app, "file form", Filters(history=True)) == set(FILES) - {"hr/draft.md"}
    assert paths(indexed_app, "file form", Filters(statuses=("retired",))) == {"it/fob.md"}
    assert paths(indexed_app, "file form", Filters(statuses=("draft",), history=True)) == set()


def test_a_filter_ends_where_it_says() -> None:
    facts = DocumentFacts("F", "fin/ctr.md", "F", "sop", "approved", "", (), "2026-11-15", "", 1, "", 0)
    assert admits(Filters(), facts, date(2026, 11, 15)), "on the day itself it is in force"
    assert not admits(Filters(), facts, date(2026, 11, 14))
    assert admits(Filters(folders=("/fin/",)), facts, date(2026, 11, 15))
    assert not admits(Filters(folders=("fi",)), facts, date(2026, 11, 15)), "a folder is no beginning of a name"


def test_a_query_may_be_as_long_as_its_limit() -> None:
    assert len(check_query("x" * MAX_QUERY)) == MAX_QUERY
    with pytest.raises(BadInput, match="10,001 characters"):
        check_query("x" * (MAX_QUERY + 1))


@pytest.mark.parametrize("config", ["bm25", "dense", "convex-0.5", "rrf-60"])
def test_filters_hold_in_every_leg(indexed_app: App, config: str) -> None:
    assert paths(indexed_app, "file form", Filters(types=("sop",)), config) <= {"fin/ctr.md", "fin/sar.md"}
    assert paths(indexed_app, "file form", Filters(tags=("cash",)), config) == {"fin/ctr.md"}
    assert paths(indexed_app, "file form connect", Filters(owners=("Farid",)), config) == {"it/vpn.md"}
    assert paths(indexed_app, "file form", Filters(folders=("fin",)), config) == {"fin/ctr.md", "fin/sar.md"}
    assert paths(indexed_app, "file form", Filters(docs=("BSA-2",)), config) == {"fin/sar.md"}


def test_every_stage_is_timed_and_every_score_adds_up(indexed_app: App) -> None:
    result = indexed_app.search.searcher.search("file form 111", config=configs.parse("convex-0.4"))
    assert [stage.name for stage in result.stages] == ["bm25", "embed", "dense", "fuse", "cut"]
    assert all(stage.ms >= 0 for stage in result.stages)
    for hit in result.hits:
        assert hit.score == pytest.approx(sum(leg.weight * leg.normalised for leg in hit.legs.values()))
    assert [hit.rank for hit in result.hits] == list(range(1, len(result.hits) + 1))


def test_a_chunk_that_a_leg_missed_gets_its_exact_score(indexed_app: App) -> None:
    shallow = indexed_app.search.searcher.search(
        "file form 111", config=replace(configs.parse("convex-0.5"), depth=1, k=10)
    )
    deep = indexed_app.search.searcher.search(
        "file form 111", config=replace(configs.parse("convex-0.5"), depth=50, k=10)
    )
    known = {hit.chunk: hit.legs for hit in deep.hits}
    filled = [(hit, name) for hit in shallow.hits for name, leg in hit.legs.items() if leg.rank == 0]
    for hit, name in filled:
        assert hit.legs[name].score == pytest.approx(known[hit.chunk][name].score, abs=1e-6)


def test_searching_twice_gives_the_same_answer(indexed_app: App) -> None:
    one, two = (indexed_app.search.searcher.search("form", config=configs.parse("rrf-60")).hits for _ in range(2))
    assert one == two


@pytest.mark.parametrize("config", ["bm25", "convex-0.5", "trimodal"])
def test_a_search_leaves_nothing_for_the_garbage_collector(indexed_app: App, config: str) -> None:
    """What a search leaves, it leaves every time; what threads of other tests leave meanwhile, they do not."""
    wanted, left = configs.parse(config), []
    gc.disable()
    gc.freeze()  # what other tests left need not be looked through ten times
    try:
        for _ in range(5):
            gc.collect()
            indexed_app.search.searcher.search("form", config=wanted)
            left.append(gc.collect())
    finally:
        gc.enable()
    assert min(left) == 0, left


def test_a_search_reads_the_settings_branch_and_the_readers_once(
    indexed_app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = indexed_app.knowledge.repository
    head, asked = store.head, []
    monkeypatch.setattr(store, "head", lambda branch="main": asked.append(branch) or head(branch))
    indexed_app.search.searcher.search("form")
    indexed_app.search.page.find("form")
    assert asked == ["settings", "main"] * 2 + ["main"], "the page also says what was only imported"


def test_a_failed_leg_is_named_and_the_others_answer(indexed_app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(profile: object) -> object:
        raise Unavailable("The model is not on this machine.")

    monkeypatch.setattr(indexed_app.search.searcher, "models", type("Broken", (), {"of": staticmethod(broken)})())
    indexed_app.search.searcher.query_vector.cache_clear()
    result = indexed_app.search.searcher.search("file form 111", config=configs.parse("convex-0.5"))
    assert result.hits
    assert result.warnings == ("The dense leg failed: The model is not on this machine.",)
    assert set(result.hits[0].legs) == {"bm25"}
    with pytest.raises(Unavailable, match="No leg could answer"):
        indexed_app.search.searcher.search("file form 111", config=configs.parse("dense"))


def test_no_hits_is_not_a_failure(indexed_app: App) -> None:
    result = indexed_app.search.searcher.search("zzzz", config=configs.parse("bm25"))
    assert (result.hits, result.warnings) == ((), ())


@pytest.mark.parametrize(
    ("query", "sentence"), [("", "empty"), ("  \n ", "empty"), ("x" * 10_001, "10,001 characters")]
)
def test_empty_and_endless_queries_are_refused(indexed_app: App, query: str, sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        indexed_app.search.searcher.search(query)


@pytest.mark.parametrize(
    "query", ["'; DROP TABLE chunks; --", "\0", "%_%", "\"'`", "(((", "a" * 9000, "🙂 漢字", "--help", "{{7*7}}"]
)
def test_odd_queries_are_just_words(indexed_app: App, query: str) -> None:
    assert isinstance(indexed_app.search.searcher.search(query).hits, tuple)


def test_reranking_orders_the_top_by_the_cross_encoder(indexed_app: App) -> None:
    result = indexed_app.search.searcher.search("how to connect from home", config=configs.parse("rrf-60+rerank"))
    assert result.hits[0].path == "it/vpn.md"
    scores = [hit.rerank_score for hit in result.hits]
    assert scores == sorted(scores, reverse=True)
    assert result.stages[-2].name == "rerank"
    assert {hit.fused_rank for hit in result.hits} == set(range(1, len(result.hits) + 1))


def test_tau_decides_whether_to_rerank(indexed_app: App) -> None:
    base = replace(configs.parse("convex-0.5"), rerank="conditional")
    sure = indexed_app.search.searcher.search("file form 111", config=replace(base, tau=0.0))
    assert "not reranked because best score" in sure.stages[-2].note
    assert all(hit.rerank_score is None for hit in sure.hits)
    unsure = indexed_app.search.searcher.search("file form 111", config=replace(base, tau=1.0, legs=("bm25", "dense")))
    best = max(hit.score for hit in sure.hits)
    assert ("< tau 1" in unsure.stages[-2].note) == (best < 1.0)


def test_depth_one_beyond_the_rerank_depth_keeps_the_fused_order(indexed_app: App) -> None:
    config = replace(configs.parse("convex-0.5+rerank"), rerank_depth=1, depth=50, k=50)
    plain = indexed_app.search.searcher.search("file form", config=replace(config, rerank="off"))
    again = indexed_app.search.searcher.search("file form", config=config)
    assert [hit.chunk for hit in again.hits] == [hit.chunk for hit in plain.hits]


def test_an_index_that_was_never_built_says_how_to_build_it(app: App) -> None:
    with pytest.raises(Unavailable, match="Build the index on the Index page"):
        app.search.searcher.search("anything")


def test_an_empty_knowledge_base_can_be_searched(app: App) -> None:
    put(app, {"only.md": "---\nstatus: draft\n---\nnothing approved\n"})
    app.index.builder.build(app.platform.settings.profile())
    assert app.search.searcher.search("anything").hits == ()
