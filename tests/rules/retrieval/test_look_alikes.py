"""Hidden documents weigh nothing: for those who may not read them, every answer is that of a base without them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.access import SYSTEM, Actor, reading_as
from core.bootstrap import App
from core.curation.review import policy
from core.retrieval import config as configs
from core.types import Filters, Frozen, SearchConfig
from tests.conftest import NoProcesses, demo, put, small_app
from tests.support.small_kb import FILES

HIDDEN = {
    f"cases/case-{n}.md": f"---\nid: CASE-{n}\ntitle: Currency case {n}\ntags: [cash]\n---\n# Currency case {n}\n\n"
    f"File the cash report and the VPN error of branch {n}. Form 112 was late in case {n}.\n"
    for n in range(6)
}
READERS = "readers:\n  cases/: [author2]\n"
OUTSIDE, INSIDE = demo("reader"), demo("author2")
ASKED = ("cash report", "file form 112", "vpn error 809", "how to", "currency", "branch late", "currencys cse")
BM25 = configs.parse("bm25")
WAYS = {
    "bm25": BM25,
    "fields": replace(BM25, fields=Frozen({"title": 1.0, "tags": 0.5, "headings": 0.5})),
    **{
        name: configs.parse(name)
        for name in (
            *("bm25@duckdb", "bm25@rank-bm25", "dense", "dense@lancedb", "tfidf", "sparse"),
            *("convex-0.5", "graph", "pagerank", "trimodal-graph", "two-hops"),
        )
    },
}


def made(home: Path, files: dict[str, str]) -> App:
    app = small_app(home, processes=NoProcesses())
    put(app, files)
    app.index.builder.build(app.platform.settings.profile())
    return app


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[App, App]:
    """The base with the folder, and the same without it."""
    homes = tmp_path_factory.mktemp("hidden")
    return made(homes / "with", {**FILES, **HIDDEN, "review-rules.yaml": READERS}), made(homes / "bare", dict(FILES))


def found(app: App, actor: Actor, query: str, config: SearchConfig, profile: str = "") -> list[Any]:
    with reading_as(actor):
        result = app.search.searcher.search(query, config=config, filters=Filters(history=True), profile=profile)
    return [(hit.doc, hit.heading, hit.score) for hit in result.hits] + [("confidence", result.confidence)]


@pytest.mark.parametrize("way", WAYS)
def test_scores_of_those_outside_are_those_of_a_base_without_the_folder(both: tuple[App, App], way: str) -> None:
    app, bare = both
    for query in ASKED:
        assert found(app, OUTSIDE, query, WAYS[way]) == found(bare, SYSTEM, query, WAYS[way]), query


def test_readers_of_the_folder_find_it_among_all_with_the_words_of_all(both: tuple[App, App]) -> None:
    app, _ = both
    assert found(app, INSIDE, "cash report", BM25) == found(app, SYSTEM, "cash report", BM25)
    assert any(row[0].startswith("CASE-") for row in found(app, INSIDE, "cash report", BM25))


def test_words_spread_and_graph_know_nothing_of_the_folder(both: tuple[App, App]) -> None:
    app, bare = both
    with reading_as(OUTSIDE):
        seen = app.search.searcher.index()
    with reading_as(SYSTEM):
        alone = bare.search.searcher.index()
    assert (seen.size, seen.spread, len(seen.documents)) == (alone.size, alone.spread, len(alone.documents))
    assert [seen.rarity(term) for term in ("cash", "vpn", "branch")] == [
        alone.rarity(term) for term in ("cash", "vpn", "branch")
    ]
    graphs = seen.graph(), alone.graph()
    assert graphs[0].keys == graphs[1].keys
    assert np.array_equal(graphs[0].chunks, graphs[1].chunks)


def test_an_edit_and_another_policy_count_at_once(tmp_path: Path) -> None:
    """Also over several segments, and once the folder is open to all."""
    app, bare = (
        made(tmp_path / "with", {**FILES, **HIDDEN, "review-rules.yaml": READERS}),
        made(tmp_path / "bare", dict(FILES)),
    )
    late = {"it/late.md": "---\nid: IT-9\ntitle: Cash box\n---\n# Cash box\n\nThe cash report lies in the box.\n"}
    for one, more in ((app, {"cases/case-1.md": HIDDEN["cases/case-1.md"] + "\nCash again.\n"}), (bare, {})):
        put(one, {**late, **more})
        one.index.builder.build(one.platform.settings.profile())
    assert found(app, OUTSIDE, "cash report", BM25) == found(bare, SYSTEM, "cash report", BM25)
    put(app, {"review-rules.yaml": "readers: {}\n"})
    assert found(app, OUTSIDE, "cash report", BM25) == found(app, SYSTEM, "cash report", BM25)


def test_a_policy_that_names_an_own_index_opens_and_hides_the_same() -> None:
    assert policy.read_all(f"{READERS}own_index: [cases/]\n".encode()) == policy.read_all(READERS.encode())
