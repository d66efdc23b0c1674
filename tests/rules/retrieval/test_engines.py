"""Engines: DuckDB, rank-bm25 and LanceDB rank as the image does, under every filter and from several threads."""

from __future__ import annotations

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from core.adapters.system import sums
from core.bootstrap import App
from core.curation.document.frontmatter import read_document
from core.errors import BadInput, Unavailable
from core.evaluation.generators import known_items
from core.evaluation.querysets.import_querysets import from_frontmatter
from core.ports import Index
from core.retrieval.engines import ENGINES, IMAGE, TIE, engine_of, first_difference
from core.retrieval.legs import LEGS
from core.services.index import verify
from core.storage.index import library_engines as adapters
from core.storage.index.record import vectors
from tests.conftest import ROOT, SAMPLED, HashEmbedder, put, small_app

DEPTH = 10


@pytest.fixture(autouse=True)
def _as_for_users(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify, "MOST", SAMPLED)


@pytest.fixture(scope="module")
def starter(tmp_path_factory: pytest.TempPathFactory) -> Index:
    """The starter knowledge base, with miniature vectors."""
    app = small_app(tmp_path_factory.mktemp("starter"))
    files = sorted((ROOT / "kb").rglob("*.md"))
    put(app, {str(path.relative_to(ROOT / "kb")): path.read_text(encoding="utf-8") for path in files})
    app.index.builder.build(app.platform.settings.profile())
    return app.index.generations.open(app.platform.settings.profile())


@cache
def questions(every: int = 1) -> list[str]:
    """What the authors say their documents answer, and the known items: over 400 queries."""
    files = sorted((ROOT / "kb").rglob("*.md"))[::every]
    documents = [read_document(str(path), path.read_text(encoding="utf-8")) for path in files]
    sets = (from_frontmatter(documents), known_items.generate(documents))
    return [question.text for queryset in sets for question in queryset.questions]


def masks(size: int) -> list[np.ndarray | None]:
    rng = np.random.default_rng(3)
    return [None, rng.random(size) < 0.5, rng.random(size) < 0.02, np.zeros(size, dtype=bool)]


def engine_agrees(index: Index, query: str, vector: np.ndarray) -> None:
    for leg, asked in (("bm25", query), ("dense", vector)):
        expected = getattr(index, leg)(asked).search(DEPTH, None)
        for engine in ENGINES[leg]:
            other = getattr(index, leg)(asked, engine)
            assert first_difference(expected, other, DEPTH) is None, (engine, query)
            scores = list(other.search(DEPTH, None).values())
            assert scores == pytest.approx(list(expected.values()), rel=TIE, abs=TIE), (engine, query)


def test_every_engine_ranks_thirty_starter_queries_as_the_image_does(starter: Index) -> None:
    queries = questions(every=6)
    for query in queries[:: len(queries) // 30]:
        engine_agrees(starter, query, HashEmbedder().query(query))


@pytest.mark.slow
def test_every_engine_ranks_all_starter_queries_as_the_image_does(kb_app: App) -> None:
    index = kb_app.index.generations.open(kb_app.platform.settings.profile())
    embedder = kb_app.models.registry.of(index.profile)
    queries = questions()
    assert len(queries) > 400
    for query in queries:
        engine_agrees(index, query, embedder.query(query))


@pytest.mark.parametrize(("leg", "engine"), [(leg, name) for leg, names in ENGINES.items() for name in names])
def test_every_engine_obeys_every_filter_to_the_last_chunk(starter: Index, leg: str, engine: str) -> None:
    asked = {"bm25": "wire transfer report of a member", "dense": HashEmbedder().query("wire transfer report")}
    image, other = getattr(starter, leg)(asked[leg]), getattr(starter, leg)(asked[leg], engine)
    for allowed in masks(starter.size):
        for depth in (1, DEPTH, 2 * starter.size):
            ranking = other.search(depth, allowed)
            assert first_difference(image.search(depth, allowed), other, depth, allowed) is None
            assert allowed is None or all(allowed[chunk] for chunk in ranking)
            assert list(ranking.items()) == sorted(ranking.items(), key=lambda pair: (-pair[1], pair[0]))
            assert other.score(list(ranking)) == pytest.approx(list(ranking.values()))


def test_a_leg_that_votes_gives_the_same_scores_by_lancedb(starter: Index) -> None:
    """Rows of several embedders are longer than 1; the image multiplies, LanceDB divides by the length."""
    vector = 1.5 * HashEmbedder().query("wire transfer report")
    image, lancedb = starter.dense(vector), starter.dense(vector, "lancedb")
    assert list(lancedb.search(5, None).values()) == pytest.approx(list(image.search(5, None).values()), abs=1e-6)


@pytest.mark.parametrize(("leg", "asked"), [("bm25", "zzzz"), ("bm25", ""), ("dense", np.zeros(64, np.float32))])
def test_nothing_to_search_for_is_the_same_nothing_everywhere(starter: Index, leg: str, asked: object) -> None:
    image = getattr(starter, leg)(asked).search(DEPTH, None)
    for engine in ENGINES[leg]:
        assert getattr(starter, leg)(asked, engine).search(DEPTH, None) == image


def test_eight_threads_get_the_answers_that_one_gets(starter: Index) -> None:
    def ask(query: str) -> list[list[int]]:
        vector = HashEmbedder().query(query)
        legs = (starter.bm25(query, "duckdb"), starter.dense(vector, "lancedb"))
        return [list(leg.search(DEPTH, None)) for leg in legs]

    queries = questions(every=6)[::12][:16]
    alone = [ask(query) for query in queries]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, queries)) == alone


def test_duplicates_stand_in_the_order_of_ids_even_where_the_ranking_ends(app: App) -> None:
    put(app, {f"{n:02}.md": "# Cash\n\ncash report for members\n" for n in range(30)})
    app.index.builder.build(app.platform.settings.profile())
    index = app.index.generations.open(app.platform.settings.profile())
    vector = index.vector(0)
    for leg, asked in (("bm25", "cash report"), ("dense", vector)):
        for engine in ENGINES[leg]:
            assert list(getattr(index, leg)(asked, engine).search(3, None)) == [0, 1, 2], engine


def test_every_engine_that_a_configuration_may_name_answers() -> None:
    for name, leg in LEGS.items():
        assert set(leg.engines) <= set(ENGINES.get(name, ())), name


def test_an_unknown_engine_is_refused_with_those_there_are(starter: Index) -> None:
    with pytest.raises(BadInput, match="bm25 has no engine 'lucene'. Engines: image, duckdb, rank-bm25."):
        starter.bm25("cash", "lucene")
    with pytest.raises(BadInput, match="dense has no engine 'duckdb'. Engines: image, lancedb."):
        starter.dense(np.zeros(64), "duckdb")
    assert engine_of("dense", "") == engine_of("dense", IMAGE) == IMAGE


def test_rank_bm25_refuses_an_index_beyond_its_limit(starter: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapters, "RANK_BM25_LIMIT", 100)
    with pytest.raises(Unavailable, match="at most 100 chunks, this index has .* Choose the engine duckdb or image"):
        starter.bm25("cash", "rank-bm25")


def test_an_open_engine_leaves_the_file_to_other_readers(app: App) -> None:
    """A process has one database per file: a second reader meets one that is hardened already."""
    put(app, {"a.md": "# Cash\n\ncash report\n"})
    profile = app.platform.settings.profile()
    app.index.builder.build(profile)
    index = app.index.generations.open(profile)
    assert index.bm25("cash", "duckdb").search(1, None)
    assert app.index.generations.check(profile) == ()
    assert index.tfidf("cash").search(1, None)
    put(app, {"b.md": "# Cash\n\nmore cash\n"})
    app.index.builder.build(profile)
    assert len(app.index.generations.open(profile).bm25("cash", "duckdb").search(9, None)) == 2
    assert len(index.bm25("cash", "duckdb").search(9, None)) == 1


# ---------------------------------------------------------------- verify


def questioned(count: int) -> dict[str, str | None]:
    head = "---\ntitle: Procedure {n}\nanswers:\n- Who approves case{n}?\n---\n"
    return {f"{n:02}.md": head.format(n=n) + f"# Case {n}\n\ncase{n} is approved by role{n}\n" for n in range(count)}


def served(app: App, name: str) -> Path:
    """A file of arrays that searches map."""
    index = app.index.generations.open(app.platform.settings.profile())
    return index._cache.folder(index._folder, index.segments[0]) / name


def test_verify_names_the_engines_query_rank_and_chunks_where_a_posting_is_damaged(app: App) -> None:
    put(app, questioned(12))
    app.index.builder.build(app.platform.settings.profile())
    index = app.index.generations.open(app.platform.settings.profile())
    assert app.index.verifier.problems() == ()
    before = next(iter(index.bm25("case5").search(1, None)))
    start, where = np.load(served(app, "start.npy")), np.load(served(app, "where.npy"))
    where[start[index.vocabulary["case5"]]] = (before + 1) % index.size
    np.save(served(app, "where.npy"), where)
    problems = app.index.verifier.problems()
    wrong, right = (index.passage(chunk).id for chunk in ((before + 1) % index.size, before))
    for engine in ("duckdb", "rank-bm25"):
        assert (
            f"index local: {engine} and the image rank 1 of 24 queries differently, first 'Who approves case5?': "
            f"at rank 1 {engine} has chunk {right}, the image chunk {wrong}"
        ) in problems
    assert not any("lancedb" in problem for problem in problems)


def test_verify_names_lancedb_where_a_wrong_vector_was_served_from_the_start(app: App) -> None:
    put(app, questioned(12))
    app.index.builder.build(app.platform.settings.profile())
    index = app.index.generations.open(app.platform.settings.profile())
    place = index._folder / "vec" / vectors.PLACE
    said = json.loads(place.read_text())
    place.write_text(
        json.dumps({**said, "offset": said["offset"] - 64}, separators=(",", ":")).ljust(place.stat().st_size)
    )
    sums.write(index._folder)  # the file is whole, what it says is wrong
    app.index.generations._open.clear()
    problems = app.index.verifier.problems()
    assert any("lancedb and the image rank" in problem for problem in problems), problems


def test_verify_goes_on_where_the_image_cannot_be_opened(app: App) -> None:
    put(app, questioned(3))
    app.index.builder.build(app.platform.settings.profile())
    shutil.rmtree(app.settings.caches / "arrays")
    (path,) = app.settings.home.glob("index/local-*/gen-*/fts.duckdb")
    path.write_bytes(b"x" * path.stat().st_size)
    assert any("the image cannot be opened: " in problem for problem in app.index.verifier.problems())


def test_verify_says_in_its_progress_which_engine_it_skips(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapters, "RANK_BM25_LIMIT", 5)
    put(app, questioned(12))
    app.index.builder.build(app.platform.settings.profile())
    steps: list[str] = []
    assert app.index.verifier.problems(lambda done, total, what: steps.append(what)) == ()
    assert next(step for step in steps if "rank-bm25" in step).startswith("Skipped rank-bm25: ")


@pytest.mark.parametrize(("size", "sampled"), [(10, 12), (10_000, 20), (20_000, 10), (100_000, 3), (900_000, 3)])
def test_the_larger_the_index_the_fewer_queries_verify_asks(size: int, sampled: int) -> None:
    documents = range(12 if size == 10 else 5_000)
    sample = verify.documents(SimpleNamespace(size=size, documents=documents))
    assert len(sample) == len(set(sample)) == sampled
    assert set(sample) <= set(documents)


def test_a_very_large_index_is_compared_on_every_nth_chunk(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the exact limit the image searches approximately, and exactly under a narrow filter."""
    approximate = small_app(app.settings.home, exact_limit=10)
    put(approximate, questioned(40))
    approximate.index.builder.build(approximate.platform.settings.profile())
    monkeypatch.setattr(verify, "DENSE_LIMIT", 10)
    assert approximate.index.verifier.problems() == ()
