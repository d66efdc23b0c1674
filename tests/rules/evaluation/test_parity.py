"""One pipeline: evaluation and playground rank every question of the starter knowledge base exactly as `search`
does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from core.bootstrap import App
from core.profiles import from_mapping
from core.retrieval import config as configs
from core.retrieval.presets import presets
from core.services.evaluation.cached_candidates import CandidateCache
from core.services.playground.compare import Column
from core.types import Filters, SearchConfig
from tests.conftest import ROOT, ScriptedLlm, SmallModels, demo, small_app

HIERARCHICAL = {
    "name": "families",
    "chunker": {"name": "hierarchical", "params": {"parent": 300, "child": 60, "overlap": 10}},
}
FILTERS = (Filters(types=("sop",)), Filters(folders=("finance",), history=True), Filters(tags=("no such tag",)))
MORE = {
    "HyDE": configs.parse("convex-0.5+hyde"),
    "Listwise": configs.parse("rrf-60+listwise"),
    "SlideGAR": replace(configs.parse("dense+slidegar"), rerank_depth=8),
    "Cascade": configs.parse("tm2c2-0.5+cascade"),
    "Weights by rule": configs.from_mapping({"alpha_from": "rules"}),
    "Weights by a model": configs.from_mapping({"base": "trimodal", "alpha_from": "llm"}),
    "Floor": configs.from_mapping({"missing": "floor", "normalisation": "zscore"}),
    "Blend": configs.from_mapping({"base": "convex-0.7+rerank", "rerank_blend": 0.5}),
    "Fields": configs.from_mapping({"base": "tm2c2-0.9", "fields": {"title": 1.5, "headings": 0.5}}),
    "Documents": configs.from_mapping({"base": "tm2c2-0.9", "fields": {"title": 1.5}, "documents": True}),
    "Documents, reranked": configs.from_mapping({"base": "convex-0.5+rerank", "documents": True}),
    "Copies": configs.from_mapping({"base": "convex-0.5", "collapse": True, "depth": 20}),
    "PageRank": configs.from_mapping({"legs": ["bm25", "dense", "pagerank"], "fusion": "combsum"}),
}
CONFIGURATIONS = {**presets(), **MORE}
SAMPLES = [pytest.param(48, id="sample"), pytest.param(1, id="all", marks=pytest.mark.slow)]  # every how many questions


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    app = small_app(tmp_path_factory.mktemp("parity") / "home")
    app.search.searcher.models = SmallModels(ScriptedLlm("[2, 1, 3]"))
    app.knowledge.documents.import_folder(demo("admin"), ROOT / "kb", "Start")
    app.index.builder.build(app.platform.settings.profile())
    family = app.index.admin.add_profile(demo("admin"), from_mapping(HIERARCHICAL))
    app.index.builder.build(family)
    return app


def questions(app: App) -> list[str]:
    return [question for document in app.knowledge.documents.all() for question in document.meta.answers]


def evaluated(app: App, profile: str, config: SearchConfig) -> CandidateCache:
    runs = app.evaluation.runs
    return CandidateCache(app.search.searcher, runs.database, app.search.searcher.index(profile), config)


@pytest.mark.parametrize("every", SAMPLES)
@pytest.mark.parametrize("name", list(CONFIGURATIONS))
def test_evaluation_ranks_every_question_as_search_does(kb: App, name: str, every: int) -> None:
    config, index = CONFIGURATIONS[name], kb.search.searcher.index()
    cache, searched = evaluated(kb, "", config), configs.without_answers(config)  # they stand under `answers:`
    assert len(questions(kb)) > 100
    for question in questions(kb)[:: every * (3 if config.engines else 1)]:  # DuckDB takes 25 ms a question
        result, ranked = kb.search.searcher.search_in(index, question, searched), cache.rank(question, config)
        assert [index.number(hit.chunk) for hit in result.hits] == list(ranked.chunks[: config.k]), question
        assert set(result.warnings) == set(ranked.warnings)


@pytest.mark.parametrize("every", SAMPLES)
@pytest.mark.parametrize("text", ["convex-0.5", "bm25+rerank", "dense+hyde", "rrf-60+listwise"])
def test_parents_are_the_same_too(kb: App, text: str, every: int) -> None:
    config, index = replace(configs.parse(text), parents=True, depth=10), kb.search.searcher.index("families")
    cache = evaluated(kb, "families", config)
    for question in questions(kb)[::every]:
        result, ranked = kb.search.searcher.search_in(index, question, config), cache.rank(question, config)
        assert [index.number(hit.chunk) for hit in result.hits] == list(ranked.chunks)
        assert tuple(hit.text for hit in result.hits[: len(ranked.texts)]) == ranked.texts


@pytest.mark.parametrize("every", SAMPLES)
@pytest.mark.parametrize("name", list(CONFIGURATIONS))
def test_the_playground_shows_the_hits_of_a_search_with_any_filters(kb: App, name: str, every: int) -> None:
    config, index = CONFIGURATIONS[name], kb.search.searcher.index()
    for n, filters in enumerate(FILTERS):
        cached = kb.playground.comparer.cached_searches(demo("author"), [Column("local", config)], filters)["local"]
        for question in questions(kb)[n * every :: every * (8 if config.engines else 4)]:
            for moved in (config, replace(config, depth=5), replace(config, k=3)):
                assert (
                    cached.search(question, moved).hits
                    == kb.search.searcher.search_in(index, question, moved, filters).hits
                )


@pytest.mark.parametrize(
    "engines", [{"bm25": "duckdb"}, {"dense": "lancedb"}, {"bm25": "duckdb", "dense": "lancedb"}, {"bm25": "rank-bm25"}]
)
def test_another_engine_gives_the_same_ranks(kb: App, engines: dict[str, str]) -> None:
    config = configs.parse("convex-0.5")
    asked = configs.from_mapping({"base": "convex-0.5", "engines": engines})
    for question in questions(kb)[::20]:
        hits = kb.search.searcher.search(question, config=config).hits
        same = kb.search.searcher.search(question, config=asked).hits
        assert {hit.chunk for hit in same} == {hit.chunk for hit in hits}
        assert [hit.score for hit in same] == pytest.approx([hit.score for hit in hits], abs=1e-4)
