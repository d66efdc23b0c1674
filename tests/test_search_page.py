"""Search for people: what is remembered between searches is never older than what it was made from."""

from __future__ import annotations

import gc
import gzip
import json
import weakref
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.analysis import analyser
from core.bootstrap import App
from core.retrieval.snippets import _sentences, snippet
from core.services.search.page import readable
from core.types import LexicalOptions
from pages.ui.direct import packed
from tests.conftest import FixedClock, put

WORDS = ["filing", "files", "CTR", "e-mail", "C++", "31", "the", "Then", "bank", "Banks"]
ENDS = [" ", " ", ", ", ". ", "\n", "? "]
TEXTS = st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(ENDS)), max_size=120).map(
    lambda pairs: "".join(word + end for word, end in pairs).strip()
)
QUERIES = st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join)
OPTIONS = st.sampled_from([LexicalOptions(), LexicalOptions(stemmer="none", stopwords="none")])


def rarity(term: str) -> float:
    return len(term) / 7


@given(TEXTS, QUERIES, OPTIONS)
def test_a_snippet_marks_exactly_the_words_of_the_query(text: str, query: str, options: LexicalOptions) -> None:
    made = snippet(text, query, options, rarity)
    shown, analyse = "".join(segment.text for segment in made.segments), analyser(options)
    wanted = set(analyse(query))
    at = text.index(shown)
    assert made.cut_before or at == 0
    assert made.cut_after == (at + len(shown) < len(text)) or text.count(shown) > 1
    marked = Counter(segment.text for segment in made.segments if segment.matched)
    assert marked == Counter(shown[a:b] for a, b, terms in analyse.words(shown) if wanted.intersection(terms))


@given(TEXTS, QUERIES, OPTIONS)
def test_the_best_sentence_holds_the_rarest_words_of_the_query(text: str, query: str, options: LexicalOptions) -> None:
    analyse = analyser(options)
    wanted = set(analyse(query))
    found = [text[a:b] for a, b in _sentences(text)]
    worth = [sum(map(rarity, sorted(wanted.intersection(analyse(sentence))))) for sentence in found]
    best = "".join(segment.text for segment in snippet(text, query, options, rarity).segments if segment.best)
    assert found[worth.index(max(worth))].startswith(best) if wanted.intersection(analyse(text)) else not best


def test_one_text_is_laid_out_once_for_each_way_of_analysing() -> None:
    marks = lambda options: [
        part.text for part in snippet("Filing it.", "files", options, rarity).segments if part.matched
    ]
    assert marks(LexicalOptions()) == ["Filing"]
    assert marks(LexicalOptions(stemmer="none")) == []


def policy(owner: str, due: str) -> str:
    return f"---\nid: a\ntype: policy\nowner: {owner}\ntags: [bank, cash]\nreview_due: {due}\n---\n# A\n\nKeep bank records.\n"


@pytest.fixture
def indexed_app(app: App) -> App:
    put(app, {"fin/a.md": policy("ann", "2026-12-20"), "it/b.md": "# B\n\nThe bank of batteries.\n"})
    app.index.builder.build(app.platform.settings.profile())
    return app


def test_facets_count_the_documents_near_the_query(indexed_app: App) -> None:
    facets = indexed_app.search.page.find("bank").facets
    assert facets["folders"] == (("fin", 1), ("it", 1))
    assert facets["owners"] == (("ann", 1),)
    assert facets["tags"] == (("bank", 1), ("cash", 1))
    assert facets["freshness"] == (("due soon", 1), ("undated", 1))


def test_titles_and_headings_of_hits_are_plain_text(indexed_app: App) -> None:
    put(indexed_app, {"it/d.md": "# **Vault** [rules](b.md)\n\n## ![New](n.png) `door`\n\nThe vault closes at six.\n"})
    indexed_app.index.builder.build(indexed_app.platform.settings.profile())
    hit = indexed_app.search.page.find("vault closes").groups[0].passages[0].hit
    assert (hit.title, hit.heading) == ("Vault rules", ("New door",))


def test_badges_and_facets_move_on_with_the_day(indexed_app: App) -> None:
    assert indexed_app.search.page.find("records").groups[0].freshness.state == "due soon"
    assert isinstance(indexed_app.search.page.clock, FixedClock)
    indexed_app.search.page.clock.day = "2026-12-21"
    found = indexed_app.search.page.find("records")
    assert found.groups[0].freshness.state == "overdue"
    assert dict(found.facets["freshness"])["overdue"] == 1


def test_badges_and_facets_move_on_with_the_index(indexed_app: App) -> None:
    assert indexed_app.search.page.find("records").groups[0].facts.owner == "ann"
    put(indexed_app, {"fin/a.md": policy("ben", "2027-12-20")})
    indexed_app.index.builder.build(indexed_app.platform.settings.profile())
    found = indexed_app.search.page.find("records")
    assert (found.groups[0].facts.owner, found.groups[0].freshness.state) == ("ben", "current")
    assert found.facets["owners"] == (("ben", 1),)


def test_after_warming_up_no_search_reads_a_passage_for_the_first_time(indexed_app: App) -> None:
    indexed_app.platform.workspace.warm()
    before = readable.cache_info().misses
    assert indexed_app.search.page.find("bank").groups
    assert readable.cache_info().misses == before
    put(indexed_app, {"it/c.md": "# C\n\nA new bank opens.\n"})
    indexed_app.index.builder.build(indexed_app.platform.settings.profile())
    assert any(
        "A new bank opens." in found.hit.text
        for group in indexed_app.search.page.find("bank").groups
        for found in group.passages
    )
    assert readable.cache_info().misses == before + 1


def test_an_empty_workspace_has_nothing_to_warm(app: App) -> None:
    app.platform.workspace.warm()
    assert app.index.generations.current(app.platform.settings.profile()) is None


def test_an_answer_is_the_same_zipped_or_not() -> None:
    value = {"title": "Café", "shares": [0.5, None], "many": ["bank"] * 500}
    plain, zipped = packed(value, False), packed(value, True)
    assert json.loads(plain.body) == json.loads(gzip.decompress(zipped.body)) == value
    assert len(zipped.body) < len(plain.body) / 10
    assert (plain.headers.get("content-encoding"), zipped.headers["content-encoding"]) == (None, "gzip")
    assert plain.headers["vary"] == zipped.headers["vary"] == "Accept-Encoding"


def test_a_replaced_generation_is_forgotten(indexed_app: App) -> None:
    for query in ("bank", "bakn"):
        indexed_app.search.page.find(query)
    old = weakref.ref(indexed_app.search.searcher.index())
    put(indexed_app, {"fin/c.md": "# C\n\nAnother bank.\n"})
    indexed_app.index.builder.build(indexed_app.platform.settings.profile())
    indexed_app.search.page.find("bank")
    gc.collect()
    assert old() is None
