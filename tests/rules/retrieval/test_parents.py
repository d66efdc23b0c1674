"""Hierarchical retrieval: children are searched, parents are returned, and too few parents are filled up."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core import profiles
from core.bootstrap import App
from core.retrieval import config as configs
from core.types import SearchConfig
from tests.conftest import put, small_app

FAMILY = profiles.from_mapping(
    {"name": "small-family", "chunker": {"name": "hierarchical", "params": {"parent": 60, "child": 12, "overlap": 2}}}
)
PARENTS = replace(configs.parse("bm25"), parents=True)


def paragraphs(topic: str, count: int) -> str:
    return "\n\n".join(
        f"The {topic} rule {n} says that a form must be filed within {n} days of the event, "
        f"and that the {topic} officer keeps a copy of it for five years in the archive of the branch."
        for n in range(1, count + 1)
    )


@pytest.fixture
def index(tmp_path):
    app = small_app(tmp_path)
    put(app, {f"{topic}.md": f"# {topic}\n\n{paragraphs(topic, 6)}\n" for topic in ("cash", "wire", "loan")})
    app.index.builder.build(FAMILY)
    return app, app.index.generations.open(FAMILY)


def search(index, query: str, config: SearchConfig):
    app, opened = index
    return app.search.searcher.search_in(opened, query, config)


def test_a_hit_is_the_parent_of_the_child_that_was_found(index) -> None:
    app, opened = index
    result = search(index, "cash rule 3", PARENTS)
    for hit in result.hits:
        passage = opened.passage(opened.number(hit.chunk))
        assert (hit.start, hit.end) == passage.parent
        assert hit.text == app.knowledge.documents.show(hit.path).text[hit.start : hit.end]
        assert hit.text.count("days of the event") >= 1
        assert hit.start <= passage.start < passage.end <= hit.end


def test_the_best_child_keeps_the_rank_and_no_parent_repeats(index) -> None:
    _, opened = index
    children = search(index, "wire officer archive", replace(PARENTS, parents=False, depth=200, k=200)).hits
    order = list(dict.fromkeys((hit.doc, *opened.passage(opened.number(hit.chunk)).parent) for hit in children))
    result = search(index, "wire officer archive", replace(PARENTS, depth=200, k=200))
    assert [(hit.doc, hit.start, hit.end) for hit in result.hits] == order
    assert [hit.rank for hit in result.hits] == list(range(1, len(order) + 1))
    assert result.stages[-1].note.endswith("there are no more")


@pytest.mark.parametrize("name", ["bm25", "dense", "convex-0.5", "rrf-60", "convex-0.5+rerank"])
def test_too_few_parents_are_filled_up_and_the_result_says_so(index, name: str) -> None:
    shallow = replace(configs.parse(name), parents=True, depth=3, k=6)
    result = search(index, "cash form days", shallow)
    assert len(result.hits) == 6
    assert len({(hit.doc, hit.start) for hit in result.hits}) == 6
    assert "filled up with" in result.stages[-1].note
    plain = search(index, "cash form days", replace(shallow, parents=False))
    first = plain.hits[0]
    assert first.start >= result.hits[0].start
    assert first.chunk == result.hits[0].chunk
    assert first.score == result.hits[0].score


def test_enough_parents_need_no_filling(index) -> None:
    result = search(index, "cash form days", replace(PARENTS, depth=50, k=2))
    assert len(result.hits) == 2
    assert result.stages[-1].note.startswith("2 parents of ")
    assert "filled" not in result.stages[-1].note


def test_chunks_without_a_parent_stand_for_themselves(app: App) -> None:
    put(app, {"a.md": "# A\n\nFile Form 112.\n", "b.md": "# B\n\nFile Form 111.\n"})
    app.index.builder.build(app.platform.settings.profile())
    plain = app.search.searcher.search("file form", config=configs.parse("bm25"))
    assert app.search.searcher.search("file form", config=PARENTS).hits == plain.hits


def test_nothing_found_stays_nothing(index) -> None:
    result = search(index, "zzzz", PARENTS)
    assert result.hits == ()
    assert result.stages[-1].note == "0 parents of 0 children; there are no more"
