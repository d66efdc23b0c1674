"""Queries that consist of stop words alone keep their words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.analysis import STOPWORDS, analyser, options_for
from core.bootstrap import App
from core.retrieval import config as configs
from core.storage.index.arrays.stopwords import features
from core.types import LexicalOptions
from tests.conftest import indexed

OPTIONS = LexicalOptions()
FILES = {
    "about/people.md": "---\ntitle: Who we are\n---\n# Who we are\n\nA small bank with forty people in two towns.\n",
    "about/fire.md": "---\ntitle: Fire drill\n---\n# Fire drill\n\nLeave the house. Here is what to do when the "
    "alarm rings: walk, do not run.\n",
    "about/tools.md": "---\ntitle: Tools\n---\n# Tools\n\nThe tools that we have are old, and some of them are who "
    "knows where.\n",
}
stops = st.lists(st.sampled_from(sorted(STOPWORDS["english"])), min_size=1, max_size=6)
others = st.lists(st.sampled_from(["bank", "fire", "alarm", "tools", "town"]), min_size=1, max_size=3)


@pytest.fixture
def stop_app(tmp_path: Path) -> App:
    return indexed(tmp_path / "home", FILES)


@given(stops)
def test_a_query_of_stop_words_keeps_them_all(words: list[str]) -> None:
    query = " ".join(words)
    assert len(analyser(options_for(query, OPTIONS))(query)) == len(words)


@given(stops, others)
def test_beside_another_word_stop_words_count_nothing(words: list[str], more: list[str]) -> None:
    query = " ".join([*words, *more])
    assert options_for(query, OPTIONS) == OPTIONS
    assert analyser(OPTIONS)(query) == analyser(OPTIONS)(" ".join(more))


@given(st.lists(st.sampled_from(["who", "we", "are", "bank"]), max_size=8))
def test_features_are_the_stop_words_and_their_neighbours(words: list[str]) -> None:
    found = list(features(words, {"who", "we", "are"}))
    assert [one for one in found if " " not in one] == [word for word in words if word != "bank"]
    assert all(one in " ".join(words) for one in found)


@pytest.mark.parametrize(
    ("query", "first"), [("who we are", "about/people.md"), ("what to do", "about/fire.md"), ("Who are we?", "about/")]
)
def test_stop_words_are_found_in_titles_and_texts(stop_app: App, query: str, first: str) -> None:
    result = stop_app.search.searcher.search(query, config=configs.parse("bm25"))
    assert result.hits[0].path.startswith(first)
    assert result.hits[0].legs["bm25"].score > 0
    assert "stop words alone" in result.stages[0].note


@pytest.mark.parametrize("engine", ["duckdb", "rank-bm25"])
def test_every_engine_finds_the_same_for_stop_words(stop_app: App, engine: str) -> None:
    search, config = stop_app.search.searcher.search, configs.parse("bm25")
    ours, theirs = (
        search("what to do", config=one).hits for one in (config, replace(config, engines={"bm25": engine}))
    )
    assert [hit.chunk for hit in ours] == [hit.chunk for hit in theirs] != []


def test_stop_words_of_a_title_count_where_titles_do(stop_app: App) -> None:
    search = stop_app.search.searcher.search
    config = configs.from_mapping({"base": "bm25", "fields": {"title": 2}})
    hit = search("who we are", config=config).hits[0]
    assert hit.path == "about/people.md"
    assert hit.legs["bm25"].fields["title"] == pytest.approx(20.0)


def test_stop_words_are_marked_where_they_were_asked_for(stop_app: App) -> None:
    snippet = stop_app.search.page.find("what to do").groups[0].passages[0].snippet
    assert {"what", "to", "do"} <= {part.text for part in snippet.segments if part.matched}


def test_postings_of_stop_words_are_made_once_and_only_when_asked_for(stop_app: App) -> None:
    search, config = stop_app.search.searcher.search, configs.parse("bm25")
    profile = stop_app.platform.settings.profile()
    folder = stop_app.index.generations.open(profile)._together
    before = [(hit.chunk, hit.score) for hit in search("the tools", config=config).hits]
    assert not (folder / "stopword-counts").exists()
    ours = [hit.chunk for hit in search("what to do", config=config).hits]
    made = (folder / "stopword-counts" / "counts.npy").stat().st_mtime_ns
    stop_app.index.generations._open.clear()
    assert [hit.chunk for hit in search("what to do", config=config).hits] == ours
    assert (folder / "stopword-counts" / "counts.npy").stat().st_mtime_ns == made
    assert [(hit.chunk, hit.score) for hit in search("the tools", config=config).hits] == before
    assert stop_app.index.verifier.problems() == ()
