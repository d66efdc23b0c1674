"""The sparse legs: BM25 beside rank-bm25, TF-IDF beside scikit-learn, and their average."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.bootstrap import App
from core.retrieval import config as configs
from core.storage.index.arrays import tfidf
from core.storage.index.arrays.image import inverse_frequencies
from core.storage.index.record import duckdb
from core.types import Filters
from tests.conftest import ROOT, examples, put, small_app

words = st.lists(st.sampled_from(["a", "b", "c", "d", "e"]), max_size=12).map(" ".join)
QUERIES = (
    "how long do we keep a currency transaction report",
    "wire transfer limit",
    "31 CFR 1020.320",
    "report report deadline",
    "member account closing",
    "zzzz",
)


def sklearn_scores(texts: list[str], query: str, limit: int | None = None) -> np.ndarray:
    from sklearn.feature_extraction.text import TfidfVectorizer

    peer = TfidfVectorizer(
        ngram_range=(1, 2), max_features=limit, tokenizer=str.split, token_pattern=None, lowercase=False
    )
    matrix = peer.fit_transform(texts)
    return np.asarray((matrix @ peer.transform([query]).T).todense())[:, 0]


def matrix_of(texts: list[str], limit: int = tfidf.FEATURES) -> tfidf.TfidfMatrix:
    vocabulary = {term: n for n, term in enumerate(sorted({word for text in texts for word in text.split()}))}
    return tfidf.build(texts, vocabulary, limit)


@examples(30)
@given(st.lists(words, min_size=1, max_size=8).filter(lambda texts: any(texts)), words)
def test_tf_idf_equals_scikit_learn(texts: list[str], query: str) -> None:
    np.testing.assert_allclose(matrix_of(texts).scores(query.split()), sklearn_scores(texts, query), atol=1e-6)


def test_only_the_most_frequent_features_are_kept() -> None:
    texts = ["x x x y y", "x y z"]
    matrix = matrix_of(texts, limit=2)
    assert len(matrix.features) == 2  # x and y: four and three times
    np.testing.assert_allclose(matrix.scores(["x", "z"]), sklearn_scores(texts, "x z", 2), atol=1e-6)


def test_an_empty_collection_and_unknown_words_score_nothing() -> None:
    assert matrix_of([]).scores(["a"]).tolist() == []
    assert matrix_of(["a b", ""]).scores(["q"]).tolist() == [0.0, 0.0]
    assert matrix_of(["", ""]).scores(["a"]).tolist() == [0.0, 0.0]


@pytest.fixture(scope="module")
def starter_terms(tmp_path_factory) -> tuple[App, list[list[str]]]:
    """The starter knowledge base with miniature models, and the very terms that were indexed."""
    app = small_app(tmp_path_factory.mktemp("golden"))
    put(app, {f"{n}.md": path.read_text() for n, path in enumerate(sorted((ROOT / "kb").rglob("*.md"))[:25])})
    profile = app.platform.settings.profile()
    app.index.builder.build(profile)
    folder = app.index.generations.folder(profile) / app.index.generations.current(profile).folder
    with duckdb.open_file(folder / "fts.duckdb") as connection:
        return app, [terms.split() for terms in duckdb.analysed(duckdb.occurrences(connection))]


def test_bm25_equals_rank_bm25_with_the_same_inverse_frequencies(starter_terms) -> None:
    """rank-bm25 takes ln((N - n + 0.5) / (n + 0.5)) and lifts what is below zero; ours adds 1 inside the logarithm, as
    the thesis and Lucene do, so no term counts against a chunk. With our IDF put in, all scores are equal."""
    from rank_bm25 import BM25Okapi

    app, texts = starter_terms
    index = app.search.searcher.index()
    peer = BM25Okapi(texts, k1=1.5, b=0.75)
    frequencies = Counter(term for text in texts for term in set(text))
    peer.idf = {term: float(inverse_frequencies(np.array(n), len(texts))) for term, n in frequencies.items()}
    for query in QUERIES:
        theirs = peer.get_scores(sorted(set(index.analyse(query))))
        ours = index.bm25(query).search(20, None)
        np.testing.assert_allclose(list(ours.values()), theirs[list(ours)], rtol=1e-5)
        np.testing.assert_allclose(list(ours.values()), np.sort(theirs[theirs > 0])[::-1][:20], rtol=1e-5)


def test_bm25_ranks_as_rank_bm25_does_where_its_own_frequencies_agree_in_order(starter_terms) -> None:
    from rank_bm25 import BM25Okapi

    app, texts = starter_terms
    index = app.search.searcher.index()
    peer = BM25Okapi(texts, k1=1.5, b=0.75)
    shared = total = 0
    for query in QUERIES[:-1]:
        ours = list(index.bm25(query).search(10, None))
        theirs = np.argsort(-peer.get_scores(sorted(set(index.analyse(query)))), kind="stable")[: len(ours)]
        shared, total = shared + len(set(ours) & set(theirs.tolist())), total + len(ours)
    assert shared / total > 0.9


@pytest.mark.parametrize("query", QUERIES)
def test_the_tf_idf_leg_ranks_as_scikit_learn_on_a_real_index(starter_terms, query: str) -> None:
    app, texts = starter_terms
    index = app.search.searcher.index()
    theirs = sklearn_scores([" ".join(text) for text in texts], " ".join(index.analyse(query)), 50_000)
    ours = index.tfidf(query).search(10, None)
    np.testing.assert_allclose(list(ours.values()), theirs[list(ours)], atol=1e-6)
    np.testing.assert_allclose(list(ours.values()), np.sort(theirs[theirs > 0])[::-1][:10], atol=1e-6)
    assert index.tfidf(query).score(list(ours)) == list(ours.values())


def test_the_sparse_leg_is_the_average_of_both_as_shares_of_their_best(starter_terms) -> None:
    index = starter_terms[0].search.searcher.index()
    query = QUERIES[0]
    bm25, other = index.bm25(query).search(1000, None), index.tfidf(query).search(1000, None)
    best = max(bm25.values()), max(other.values())
    for chunk, score in index.sparse(query).search(10, None).items():
        assert score == pytest.approx(bm25.get(chunk, 0) / best[0] / 2 + other.get(chunk, 0) / best[1] / 2, abs=1e-6)


@pytest.mark.parametrize("leg", ["tfidf", "sparse"])
def test_filters_hold_and_scores_stay_between_zero_and_one(starter_terms, leg: str) -> None:
    app = starter_terms[0]
    everything = app.search.searcher.search("report", config=replace(configs.parse(leg), k=1000, depth=1000))
    best = everything.hits[0].doc
    only = app.search.searcher.search("report", config=configs.parse(leg), filters=Filters(docs=(best,)))
    assert {hit.doc for hit in only.hits} == {best}
    assert all(0.0 < hit.score <= 1.0 + 1e-9 for hit in everything.hits)
    assert configs.name(configs.parse(leg)) == leg


def test_alpha_weighs_dense_against_the_sparse_leg(starter_terms) -> None:
    app = starter_terms[0]
    config = configs.from_mapping({"legs": ["sparse", "dense"], "alpha": 0.3})
    hit = app.search.searcher.search("wire transfer limit", config=config).hits[0]
    assert {leg: share.weight for leg, share in hit.legs.items()} == {"sparse": 0.7, "dense": 0.3}
    only = app.search.searcher.search("wire transfer limit", config=replace(config, alpha=0.0, depth=50))
    alone = app.search.searcher.search("wire transfer limit", config=configs.parse("sparse"))
    assert [hit.chunk for hit in only.hits] == [hit.chunk for hit in alone.hits]


def test_the_matrix_is_kept_beside_its_generation_and_read_back_the_same(starter_terms) -> None:
    app = starter_terms[0]
    profile = app.platform.settings.profile()
    index = app.search.searcher.index()
    before = index.tfidf(QUERIES[0]).search(10, None)
    folder = index._together
    assert sorted(path.name for path in (folder / "tfidf").iterdir()) == sorted(f"{name}.npy" for name in tfidf._ARRAYS)
    again = tfidf.load(folder, index.vocabulary, index.size)
    assert tfidf.FullLeg(lambda: again.scores(index.analyse(QUERIES[0]))).search(10, None) == before
    assert app.index.generations.check(profile) == ()


def test_smooth_inverse_frequency_by_hand() -> None:
    matrix = matrix_of(["a", "a b"])
    assert matrix.idf.tolist() == pytest.approx([log(3 / 3) + 1, log(3 / 2) + 1, log(3 / 2) + 1])
