"""Generations: incremental equals full, BM25 equals DuckDB's own, publishing is atomic, rollback works."""

from __future__ import annotations

import json
import os
import random
import shutil
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from core.adapters.system import sums
from core.bootstrap import App, build
from core.errors import BadInput, NotFound, Unavailable
from core.ports import ByDocument, Progress
from core.profiles import from_mapping, identity
from core.retrieval import config as configs
from core.services.index.embedding import in_background
from core.settings import load
from core.storage.index import assembled_graph
from core.storage.index.arrays import compiled, kernels
from core.storage.index.record import duckdb, vectors
from core.types import Filters
from tests.conftest import HashEmbedder, demo, put, small_app, until, write

WORDS = [
    "cash",
    "report",
    "form",
    "file",
    "member",
    "account",
    "limit",
    "review",
    "approve",
    "invoice",
    "vendor",
    "tax",
    "close",
    "month",
    "audit",
    "claim",
    "carrier",
    "dock",
    "wave",
    "pick",
]


def text_of(seed: int, version: int = 1) -> str:
    rng = random.Random(f"{seed}-{version}")
    body = "\n\n".join(
        f"## Part {n}\n\n" + " ".join(rng.choices(WORDS, k=rng.randint(20, 60))) + "." for n in range(rng.randint(1, 4))
    )
    return f"---\nid: D-{seed}\ntitle: Document {seed}\n---\n# Document {seed}\n\n{body}\n"


def corpus(count: int) -> dict[str, str | None]:
    return {f"f{n % 3}/{n}.md": text_of(n) for n in range(count)}


def edits(step: int) -> dict[str, str | None]:
    """Edit, add, delete and move, a little at each step."""
    moved = text_of(step + 20)
    return {
        f"f{step % 3}/{step}.md": text_of(step, version=2),
        f"new/{step}.md": text_of(100 + step),
        f"f{(step + 10) % 3}/{step + 10}.md": None,
        f"f{(step + 20) % 3}/{step + 20}.md": None,
        f"moved/{step + 20}.md": moved,
    }


def contents(app: App) -> tuple[list, list]:
    folder = (
        app.index.generations.folder(app.platform.settings.profile())
        / app.index.generations.current(app.platform.settings.profile()).folder
    )
    with duckdb.open_file(folder / "fts.duckdb") as connection:
        documents, chunks = duckdb.tables(connection)
    return documents.to_pylist(), chunks.to_pylist()


def answers(app: App) -> list:
    out = []
    for query in ("cash report", "invoice tax audit", "Document 3", "wave pick dock"):
        for config in ("bm25", "dense", "convex-0.3", "rrf-60"):
            hits = app.search.searcher.search(
                query, config=configs.parse(config), filters=Filters(history=True), k=20
            ).hits
            out.append([(hit.chunk, hit.score, hit.version, hit.path, hit.legs) for hit in hits])
    return out


def test_a_profile_that_names_the_engine_lance_opens_and_its_tables_go(app: App) -> None:
    """An earlier version had a second engine. Its profiles are read as any other; nothing of its index is."""
    raw = {"name": "large", "engine": "lance", "graph": "none", "embedder": "hash"}
    app.platform.settings._write("profiles.yaml", {"profiles": [raw]}, demo("admin").person, "Add profile large")
    large = app.platform.settings.profile("large")
    old = app.index.generations.root / "large-0123456789" / "gen-000001-0123456789ab"
    old.mkdir(parents=True)
    (old / "MANIFEST.json").write_text('{"files": {}, "table": {"version": 1}}')
    assert large == from_mapping({"name": "large", "graph": "none", "embedder": "hash"})
    assert app.index.generations.current(large) is None
    app.index.generations.sweep()
    assert not old.parent.exists()
    put(app, {"a.md": text_of(1)})
    assert app.index.builder.build(large).generation.chunks
    with pytest.raises(BadInput, match="unknown"):
        from_mapping({"name": "large", "engine": "duckdb"})


@pytest.mark.sqlite
def test_incremental_equals_full_chunk_by_chunk_and_score_by_score(tmp_path: Path) -> None:
    incremental = small_app(tmp_path / "incremental")
    put(incremental, corpus(25))
    incremental.index.builder.build(incremental.platform.settings.profile())
    for step in range(3):
        put(incremental, edits(step), f"step {step}")
        built = incremental.index.builder.build(incremental.platform.settings.profile())
        assert built.changed <= 4
    shutil.copytree(tmp_path / "incremental" / "kb.git", tmp_path / "full" / "kb.git")
    build(load({}, home=tmp_path / "full")).platform.workspace.guard.new_database()
    full = small_app(tmp_path / "full")
    full.index.builder.build(full.platform.settings.profile(), full=True)
    assert contents(incremental) == contents(full)
    assert answers(incremental) == answers(full)
    assert incremental.index.verifier.problems() == ()
    assert full.index.verifier.problems() == ()


def test_match_bm25_agrees_before_and_after_incremental_builds(app: App) -> None:
    put(app, corpus(25))
    profile = app.platform.settings.profile()
    app.index.builder.build(profile)
    for step in range(3):
        check_bm25_agreement(app)
        put(app, edits(step), f"step {step}")
        app.index.builder.build(profile)
    check_bm25_agreement(app)


def check_bm25_agreement(app: App) -> None:
    index = app.index.generations.open(app.platform.settings.profile())
    for query in ("cash report", "invoice tax audit claim", "month", "D-7 document", "nothing-like-it"):
        image, duckdb_fts = (index.bm25(query, engine).search(1000, None) for engine in ("image", "duckdb"))
        assert list(image) == list(duckdb_fts), query
        assert list(image.values()) == pytest.approx(list(duckdb_fts.values()), rel=1e-6)


def test_bm25_is_the_textbook_formula(app: App) -> None:
    put(
        app,
        {"a.md": "---\ntitle: Ark\n---\nzebra zebra lion\n", "b.md": "---\ntitle: Zoo\n---\nlion tiger bear wolf\n"},
    )
    app.index.builder.build(app.platform.settings.profile())
    index = app.index.generations.open(app.platform.settings.profile())
    lengths = {"a": 4, "b": 5}  # the title is indexed with the text
    average = sum(lengths.values()) / 2
    idf = np.log((2 - 1 + 0.5) / (1 + 0.5) + 1)
    expected = idf * 2 * 2.5 / (2 + 1.5 * (0.25 + 0.75 * lengths["a"] / average))
    assert list(index.bm25("zebra").search(5, None).values()) == pytest.approx([expected], rel=1e-6)


def test_only_changed_documents_are_chunked_and_only_new_texts_embedded(app: App) -> None:
    put(app, corpus(30))
    profile = app.platform.settings.profile()
    first = app.index.builder.build(profile)
    assert (first.changed, first.chunked) == (30, first.generation.chunks)
    put(app, {"f0/3.md": text_of(3).replace("## Part 0", "## Part zero")})
    second = app.index.builder.build(profile)
    assert second.changed == 1
    assert 0 < second.embedded <= second.chunked < 6
    assert app.index.builder.build(profile, full=True).embedded == 0, "nothing is embedded twice"
    assert not app.index.builder.build(profile).fresh


def test_indexing_twice_equals_indexing_once(app: App) -> None:
    put(app, corpus(10))
    app.index.builder.build(app.platform.settings.profile())
    before = answers(app)
    app.index.builder.build(app.platform.settings.profile(), full=True)
    assert answers(app) == before


def test_versions_count_the_changes_of_a_document_through_renames(app: App) -> None:
    long = "---\nid: L\n---\n# L\n\n" + "\n".join(f"line {n}" for n in range(30))
    put(app, {"a.md": long})
    app.index.builder.build(app.platform.settings.profile())
    put(app, {"a.md": long + "\nmore"})
    put(app, {"a.md": None, "b/c.md": long + "\nmore"})
    app.index.builder.build(app.platform.settings.profile())
    hit = app.search.searcher.search("line").hits[0]
    assert (hit.path, hit.version) == ("b/c.md", 3)
    assert [version.number for version in app.knowledge.documents.history("L")] == [3, 2, 1]


def test_a_document_edited_and_restored_between_builds_still_counts(app: App) -> None:
    put(app, {"a.md": "# A\n\none\n", "b.md": "# B\n\ntwo\n"})
    app.index.builder.build(app.platform.settings.profile())
    put(app, {"a.md": "# A\n\nother\n"})
    put(app, {"a.md": "# A\n\none\n"})
    app.index.builder.build(app.platform.settings.profile())
    assert {hit.path: hit.version for hit in app.search.searcher.search("one two").hits} == {"a.md": 3, "b.md": 1}


def test_two_documents_with_one_id_are_both_found_and_the_id_moves_when_it_is_free(app: App) -> None:
    put(
        app,
        {"a.md": "---\nid: X-1\n---\n# Alpha\n\nshared words\n", "b.md": "---\nid: X-1\n---\n# Beta\n\nshared words\n"},
    )
    app.index.builder.build(app.platform.settings.profile())
    assert {hit.path: hit.doc for hit in app.search.searcher.search("shared words").hits} == {
        "a.md": "X-1",
        "b.md": "b",
    }
    put(app, {"a.md": None})
    app.index.builder.build(app.platform.settings.profile())
    assert {hit.path: hit.doc for hit in app.search.searcher.search("shared words").hits} == {"b.md": "X-1"}
    assert app.index.verifier.problems() == ()


def test_a_broken_document_is_left_out_and_named_and_found_again_when_fixed(app: App) -> None:
    put(app, {"good.md": "# Good\n\nfine words\n", "bad.md": "---\nreview_due: soon\n---\nbad words\n"})
    built = app.index.builder.build(app.platform.settings.profile())
    assert [path for path, _ in built.skipped] == ["bad.md"]
    assert "review_due is 'soon'" in built.skipped[0][1]
    assert app.index.verifier.problems() == ()
    put(app, {"bad.md": "---\nstatus: approved\n---\nbad words\n"})
    app.index.builder.build(app.platform.settings.profile())
    assert {hit.path: hit.version for hit in app.search.searcher.search("words").hits} == {"good.md": 1, "bad.md": 2}


def test_rollback_serves_the_older_generation_until_the_next_build(app: App) -> None:
    profile = app.platform.settings.profile()
    for n in range(3):
        put(app, {"a.md": f"# A\n\nversion{n}\n"})
        app.index.builder.build(profile)
    app.index.generations.rollback(profile, 1)
    assert app.search.searcher.search("version0", config=configs.parse("bm25")).hits
    assert app.index.generations.pinned(profile)
    assert app.platform.workspace.catch_up() is None, "a rollback is not undone behind somebody's back"
    assert app.index.verifier.problems() == ()
    app.index.builder.build(profile)
    assert app.search.searcher.search("version2", config=configs.parse("bm25")).hits
    with pytest.raises(NotFound, match="no generation 99"):
        app.index.generations.rollback(profile, 99)


def test_only_the_last_generations_are_kept_but_never_one_that_is_read(tmp_path: Path) -> None:
    app, reader = small_app(tmp_path / "home", keep_generations=2), small_app(tmp_path / "home")
    profile = app.platform.settings.profile()
    put(app, {"a.md": "# A\n\nfirst\n"})
    app.index.builder.build(profile)
    index = reader.index.generations.open(profile)
    for n in range(4):
        put(app, {"a.md": f"# A\n\nword{n}\n"})
        app.index.builder.build(profile)
    assert [generation.number for generation in app.index.generations.all(profile)] == [5, 4, 1]
    assert reader.search.searcher.search_in(index, "first", configs.parse("bm25")).hits, (
        "a search in flight keeps its generation"
    )
    assert reader.search.searcher.search("word3", config=configs.parse("bm25")).hits, "the next one sees the new"


def test_a_damaged_generation_is_passed_over_for_the_newest_whole_one(app: App) -> None:
    profile = app.platform.settings.profile()
    for n in range(3):
        put(app, {"a.md": f"# A\n\nword{n}\n"})
        app.index.builder.build(profile)
    folder = app.index.generations.folder(profile) / app.index.generations.current(profile).folder
    with vectors.data_file(folder).open("ab") as file:
        file.write(b"x")
    assert app.index.generations.current(profile).number == 2
    app.index.builder.build(profile)
    assert app.index.generations.current(profile).number == 4
    assert app.index.verifier.problems() == ()


def test_what_a_killed_builder_left_is_swept_and_a_finished_build_is_adopted(app: App) -> None:
    profile = app.platform.settings.profile()
    put(app, {"a.md": "# A\n\nword\n"})
    app.index.builder.build(profile)
    folder = app.index.generations.folder(profile)
    (folder / "building-1-1").mkdir()
    (folder / "CURRENT").unlink()
    assert app.index.generations.current(profile).number == 1, "whole, so it serves"
    built = app.index.builder.build(profile)
    assert (built.fresh, built.generation.number) == (False, 1), "finished, not built again"
    assert not list(folder.glob("building-*"))


def test_searches_during_builds_see_one_commit_each(app: App) -> None:
    """Every generation holds one marker in all documents: a mixture would show two."""
    profile = app.platform.settings.profile()

    def publish(n: int) -> None:
        put(app, {f"{d}.md": f"# Doc {d}\n\nmarker{n} common words here\n" for d in range(5)}, f"{n}")
        app.index.builder.build(profile)

    publish(0)
    stop, seen, mixed = threading.Event(), set(), []

    def read() -> None:
        while not stop.wait(0.01):
            result = app.search.searcher.search("common words", k=5)
            markers = {word for hit in result.hits for word in hit.text.split() if word.startswith("marker")}
            seen.update(markers)
            if len(markers) != 1 or len(result.hits) != 5:
                mixed.append((result.generation, markers))

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for n in range(1, 6):
        publish(n)
        until(lambda n=n: mixed or f"marker{n}" in seen)
    stop.set()
    for thread in threads:
        thread.join()
    assert mixed == []


def test_the_ann_path_finds_what_exact_search_finds(tmp_path: Path) -> None:
    exact, ann = small_app(tmp_path / "home"), small_app(tmp_path / "home", exact_limit=50)
    put(exact, corpus(90))
    profile = exact.platform.settings.profile()
    built = ann.index.builder.build(profile)
    assert built.generation.notes
    assert built.generation.notes[0].startswith("ANN index: recall@10")
    agreed = 0
    for query in ("cash report", "invoice tax audit", "wave pick dock"):
        exactly = exact.index.generations.open(profile).dense(HashEmbedder().query(query)).search(10, None)
        nearly = ann.index.generations.open(profile).dense(HashEmbedder().query(query)).search(10, None)
        agreed += len(set(exactly) & set(nearly))
    assert agreed >= 27


def test_numpy_and_compiled_kernels_give_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(7)
    chunk, term = rng.integers(0, 400, 20_000).astype(np.uint32), rng.integers(0, 300, 20_000).astype(np.uint32)
    start, where, counts, lengths = kernels.postings(chunk, term, 400, 300)
    gains = kernels.impacts(start, where, counts, lengths * 0.01 + 1.0, np.linspace(0.1, 3, 300))
    worths = gains.astype(np.float64)  # each loop with the types that a search gives it: for others it is compiled anew
    allowed, owner_of = rng.random(400) < 0.5, rng.integers(0, 400, 400).astype(np.int32)
    order, edges = rng.permutation(400), np.concatenate([[0], np.sort(rng.integers(0, 400, 399)), [400]])
    for depth in (1, 10, 1000):
        for mask in (None, allowed):
            terms = np.sort(rng.choice(300, 8, replace=False)).astype(np.int64)
            monkeypatch.delitem(sys.modules, compiled.__name__)
            summed = kernels.accumulated(start, where, gains, terms, 400)
            plain = kernels.top(summed, mask, depth)
            looked = kernels.lookup(start, where, gains, terms, np.arange(400, dtype=np.uint32))
            fits = kernels.fitted(start, where, worths, terms, lengths + 1.0, 2.5)
            owned = summed.copy()
            kernels.spread(fits, owner_of, owned)
            every, starts = kernels.families(owner_of[terms], order, edges)
            monkeypatch.setitem(sys.modules, compiled.__name__, compiled)
            assert kernels.lookup(start, where, gains, terms, np.arange(400, dtype=np.uint32)) == looked
            fast = kernels.accumulated(start, where, gains, terms, 400)
            assert fast.tolist() == summed.tolist()
            assert kernels.fitted(start, where, worths, terms, lengths + 1.0, 2.5).tolist() == fits.tolist()
            spread = fast.copy()
            kernels.spread(fits, owner_of, spread)
            assert spread.tolist() == owned.tolist()
            again = kernels.families(owner_of[terms], order, edges)
            assert [part.tolist() for part in again] == [every.tolist(), starts.tolist()]
            assert list(kernels.top(fast, mask, depth).items()) == list(plain.items())
            legs = [plain, dict.fromkeys(rng.permutation(400)[:90].tolist(), 0.5), {}]
            by_document = kernels.by_document(legs, owner_of // 20, depth)
            rows, vector = rng.normal(size=(depth, 384)).astype(np.float32), rng.normal(size=384).astype(np.float32)
            cosines, near = kernels.cosines(rows, vector), rng.integers(0, 9, 400).astype(np.float32) * 5e-6
            families = (rng.permutation(400), np.arange(0, 400, 7))
            close = [part.tolist() for part in kernels.closest(near, *families, 1e-5)]
            monkeypatch.delitem(sys.modules, compiled.__name__)
            assert _spelled(kernels.by_document(legs, owner_of // 20, depth)) == _spelled(by_document)
            assert kernels.cosines(rows, vector).tolist() == cosines.tolist()
            assert [part.tolist() for part in kernels.closest(near, *families, 1e-5)] == close
            monkeypatch.setitem(sys.modules, compiled.__name__, compiled)
            wanted = np.array(sorted(plain), dtype=np.uint32)
            assert kernels.lookup(start, where, gains, terms, wanted) == pytest.approx(
                [plain[n] for n in wanted.tolist()]
            )


def _spelled(by_document: ByDocument) -> object:
    """With the order of what is in it."""
    return [list(ranking.items()) for ranking in by_document[0]], sorted(by_document[1].items())


def test_profiles_are_named_by_what_they_do() -> None:
    profile = from_mapping({"name": "one"})
    assert identity(profile) == identity(from_mapping({"name": "two"}))
    assert identity(profile) == identity(
        from_mapping({"name": "one", "chunker": {"name": "markdown", "params": {"max_tokens": 400}}})
    )
    assert identity(profile) != identity(from_mapping({"name": "one", "lexical": {"k1": 1.2}}))


def test_another_profile_has_an_index_of_its_own(app: App) -> None:
    put(app, corpus(5))
    app.index.builder.build(app.platform.settings.profile())
    with pytest.raises(Unavailable, match="windows.*has no index yet. Build the index"):
        app.search.searcher.search("cash", profile="windows")
    app.index.builder.build(app.platform.settings.profile("windows"))
    assert app.search.searcher.search("cash", profile="windows").profile == "windows"


def test_verify_names_what_disagrees(app: App) -> None:
    put(app, corpus(5))
    profile = app.platform.settings.profile()
    assert "the production profile has no index" in app.index.verifier.problems()[0]
    app.index.builder.build(profile)
    folder = app.index.generations.folder(profile) / app.index.generations.current(profile).folder
    place = folder / "vec" / vectors.PLACE
    said = json.loads(place.read_text())
    place.write_text(
        json.dumps({**said, "offset": said["offset"] - 64}, separators=(",", ":")).ljust(place.stat().st_size)
    )
    sums.write(folder)  # the file is whole, what it says is wrong
    put(app, {"later.md": "# Later\n\ntext\n"})
    problems = " ".join(app.index.verifier.problems())
    assert "the vectors that searches map are not those that LanceDB reads" in problems
    assert "Build the index with: python -m core reindex" in problems


def test_verify_sees_damaged_files_and_accepts_an_empty_index(app: App) -> None:
    put(app, corpus(5))
    profile = app.platform.settings.profile()
    app.index.builder.build(profile)
    folder = app.index.generations.folder(profile) / app.index.generations.current(profile).folder
    assert app.index.generations.check(profile) == ()
    with open(folder / "fts.duckdb", "r+b") as file:
        file.write(b"\xff" * 20_000)
    assert any(problem.startswith("DuckDB cannot be read: ") for problem in app.index.generations.check(profile))
    put(app, dict.fromkeys(corpus(5)))
    app.index.builder.build(profile, full=True)
    assert app.index.generations.check(profile) == ()


def test_a_damaged_graph_is_assembled_anew(app: App) -> None:
    put(app, {"a.md": "# Wires\n\nThe Bank Secrecy Act (BSA) names Form 112.\n"})
    profile = app.platform.settings.profile()
    app.index.builder.build(profile)
    index = app.index.generations.open(profile)
    whole = index.graph().keys
    place = (
        app.index.generations.folder(profile)
        / "assembled"
        / app.index.generations.current(profile).folder
        / "entities.arrow"
    )
    place.write_bytes(b"")
    folder = place.parents[2] / place.parent.name
    assert assembled_graph.load(folder, index.graph().document_of, index._cache).keys == whole
    assert place.stat().st_size


def test_an_empty_knowledge_base_says_what_to_do(app: App) -> None:
    for _ in range(2):
        with pytest.raises(BadInput, match="nothing to index yet. Add documents on the Upload page"):
            app.index.builder.build(app.platform.settings.profile())


def test_a_path_that_is_another_documents_id_gives_way(app: App) -> None:
    put(app, {"a.md": "---\nid: b\n---\n# A\n\ncash\n", "b.md": "# B\n\ninvoice\n", "c.md": "# C\n\naudit\n"})
    app.index.builder.build(app.platform.settings.profile())
    assert {hit.path: hit.doc for hit in app.search.searcher.search("cash invoice audit").hits} == {
        "a.md": "b",
        "b.md": "b-2",
        "c.md": "c",
    }
    assert app.index.verifier.problems() == ()


def test_an_import_refuses_one_of_two_names_that_differ_in_case_and_takes_the_rest(app: App, tmp_path: Path) -> None:
    texts = ("Note.MD", "Note.md", "sub/README.md", "sub/Readme.md", "good.md")
    folder = write(tmp_path / "in", {name: f"# {name}\n\ntext\n" for name in texts})
    imported = app.knowledge.documents.import_folder(demo("admin"), folder)
    assert imported.added == ("Note.md", "good.md", "sub/README.md")
    assert [path for path, _ in imported.refused] == ["Note.md", "sub/Readme.md"]
    other = write(tmp_path / "more", {"GOOD.md": "# Good\n\ntext\n", "new.md": "# New\n\ntext\n"})
    again = app.knowledge.documents.import_folder(demo("admin"), other)
    assert (again.added, [path for path, _ in again.refused]) == (("new.md",), ["GOOD.md"])


# ---------------------------------------------------------------- two things at once


def test_work_beside_is_given_up_when_nobody_waits_for_it_any_more() -> None:
    steps: list[int] = []

    def endless(step: Progress) -> None:
        while True:
            step(len(steps), 0, "Counting")
            steps.append(1)
            time.sleep(0.001)

    def begun_and_left() -> None:
        with in_background(endless):
            while not steps:
                time.sleep(0.001)
            raise Unavailable("The model is gone.")

    with pytest.raises(Unavailable, match="model is gone"):
        begun_and_left()
    counted = len(steps)
    time.sleep(0.02)
    assert len(steps) == counted


def test_a_build_whose_entities_fail_says_so_and_publishes_nothing(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    profile = app.platform.settings.profile()
    before = app.index.generations.current(profile)
    put(app, {"finance/new.md": "# New\n\nThe Bank Secrecy Act asks for a form.\n"})

    def broken(*_: object, **__: object) -> None:
        raise Unavailable("The rules are out.")

    monkeypatch.setattr(app.index.builder.extracting, "extracts", broken)
    with pytest.raises(Unavailable, match="rules are out"):
        app.index.builder.build(profile)
    assert app.index.generations.current(profile) == before


def test_a_start_removes_what_killed_builders_left_but_nothing_of_one_that_builds(app: App) -> None:
    put(app, {"a.md": "# A\n\nwords\n"})
    profile = app.platform.settings.profile()
    app.index.builder.build(profile)
    folder, objects = app.index.generations.folder(profile), app.knowledge.repository.path / "objects" / "ab"
    objects.mkdir(exist_ok=True)

    def leave() -> list[Path]:
        left = [folder / "building-1-2", folder / "leaving-gen", folder / ".CURRENT.abc", objects / "tmp_obj_old"]
        for path in left[:2]:
            path.mkdir(exist_ok=True)
        for path in left[2:]:
            path.touch()
        os.utime(left[3], (0, 0))
        return left

    young = objects / "tmp_obj_young"
    young.touch()
    left = leave()
    with app.index.generations.building(profile):
        leave()
        app.platform.workspace.catch_up()
        assert [path.exists() for path in left] == [True, True, True, False]
    app.platform.workspace.catch_up()
    assert [path.exists() for path in left] == [False] * 4
    assert young.exists(), "somebody's own git may still write it"


def test_a_workspace_without_an_index_is_caught_up_with(app: App) -> None:
    """The folder of the index holds the name of its workspace before it holds a profile."""
    app.platform.workspace.catch_up()
    assert app.platform.jobs.recent() == ()


# ---------------------------------------------------------------- profiles


def test_a_profile_is_deleted_with_its_generations_unless_it_serves(app: App) -> None:
    put(app, {"a.md": "# A\n\nOne.\n"})
    admin, settings = demo("admin"), app.platform.settings
    profile = app.index.admin.add_profile(admin, from_mapping({"name": "mine", "context": "none"}))
    app.index.builder.build(profile)
    folder = app.index.generations.folder(profile)
    assert folder.is_dir()
    app.index.admin.make_default(admin, "mine")
    with pytest.raises(BadInput, match="'mine' is in production"):
        app.index.admin.delete_profile(admin, "mine")
    app.index.builder.build(settings.profile("local"))
    app.index.admin.make_default(admin, "local")
    app.index.admin.delete_profile(admin, "mine")
    assert not folder.exists()
    assert "mine" not in [known.name for known in settings.profiles()]
    with pytest.raises(BadInput, match="'quick' is built in"):
        app.index.admin.delete_profile(admin, "quick")
    with pytest.raises(NotFound, match="no profile 'mine'"):
        app.index.admin.delete_profile(admin, "mine")


def test_a_model_that_cannot_be_loaded_is_refused_before_anything_is_built(tmp_path: Path) -> None:
    real = build(load({}, home=tmp_path / "home"))
    real.platform.workspace.create()
    with pytest.raises(BadInput, match="The model 'openai:some-embedder' cannot be used: .*CONCORD_OPENAI_URL"):
        real.index.admin.add_profile(demo("admin"), from_mapping({"name": "x", "embedder": "openai:some-embedder"}))
    with pytest.raises(BadInput, match="The model 'ms-marco-minilm-l12-int8' cannot be used: .* is a reranker"):
        real.index.admin.add_profile(demo("admin"), from_mapping({"name": "x", "embedder": "ms-marco-minilm-l12-int8"}))
    with pytest.raises(BadInput, match="choose at least one embedder"):
        from_mapping({"name": "x", "embedder": ""})
    assert [profile.name for profile in real.platform.settings.profiles()] == ["local", "quick", "windows", "family"]
    offered = real.index.admin.models_offered(demo("author"))
    assert set(offered.rerankers) <= {"ms-marco-minilm-l12-int8"}
    assert not offered.others, "nothing outside of this machine is configured"
