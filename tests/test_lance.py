"""Profiles that are searched in LanceDB: the same pipeline and explanations, a version of a table per generation."""

from __future__ import annotations

import gc
import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from weakref import ref

import numpy as np
import pytest

from core import profiles
from core.access import Actor
from core.analysis import analyser
from core.bootstrap import App
from core.curation.review.readers import Readable, Readers
from core.errors import BadInput, Unavailable
from core.lru import LruCache
from core.ports import Index
from core.retrieval import config as configs
from core.retrieval.engines import approximate
from core.retrieval.filters import admits
from core.retrieval.reader_index import seen_by
from core.storage.index.generations import Generations, IndexLimits
from core.storage.lance import legs, rows, rows_written, table
from core.storage.object_store import objects
from core.types import Filters, Profile, SearchConfig
from tests import lance_worker
from tests.conftest import ROOT, put, small_app
from tests.lance_worker import chunks_of, rows_at
from tests.small_kb import FILES

DEPTH = 10
TODAY = date(2026, 11, 16)


def lance_profile(app: App) -> Profile:
    return replace(app.platform.settings.profile(), name="beyond", engine="lance", graph="none")


def built(app: App) -> tuple[Index, Index]:
    """The exact index and the one in LanceDB, of the same commit."""
    exact, beyond = app.platform.settings.profile(), lance_profile(app)
    for profile in (exact, beyond):
        app.index.builder.build(profile)
    return app.index.generations.open(exact), app.index.generations.open(beyond)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[App, Index, Index]]:
    """The starter knowledge base, with miniature vectors, in both kinds of index."""
    app = small_app(tmp_path_factory.mktemp("lance"))
    files = sorted((ROOT / "kb").rglob("*.md"))[::5]
    put(app, {str(path.relative_to(ROOT / "kb")): path.read_text(encoding="utf-8") for path in files})
    return app, *built(app)


def questions(index: Index) -> list[str]:
    return [facts.title for facts in index.documents] + ["Who approves a wire over 10,000 dollars?", "password rules"]


def test_what_is_in_it_is_what_the_image_holds(both: tuple[App, Index, Index]) -> None:
    _, exact, beyond = both
    assert list(beyond.documents) == list(exact.documents)
    assert beyond.size == exact.size
    assert beyond.spread == pytest.approx(exact.spread)
    assert list(beyond.vocabulary) == list(exact.vocabulary)
    for chunk in range(0, exact.size, 7):
        assert beyond.passage(chunk) == exact.passage(chunk)
        assert beyond.number(exact.passage(chunk).id) == chunk
        assert (beyond.excerpt(chunk), beyond.context(chunk)) == (exact.excerpt(chunk), exact.context(chunk))
        assert beyond.vector(chunk).tolist() == exact.vector(chunk).tolist()
    for document in range(len(exact.documents)):
        assert beyond.text(document) == exact.text(document)
        assert beyond.chunks_of(document) == exact.chunks_of(document)
        assert beyond.answers(document) == exact.answers(document)
    for term in list(exact.vocabulary)[::50]:
        assert beyond.rarity(term) == pytest.approx(exact.rarity(term))
        assert beyond.holding(term, range(20)) == exact.holding(term, range(20))


def test_what_is_kept_in_memory_may_be_less_than_a_search_needs(
    both: tuple[App, Index, Index], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, exact, beyond = both
    monkeypatch.setattr(beyond, "_vectors", LruCache(3))
    monkeypatch.setattr(beyond, "_rows", LruCache(3))
    chunks = [0, 1, 2, 9, 3, 4, 1]
    for _ in range(2):
        assert beyond.dense(exact.vector(0)).score(chunks) == exact.dense(exact.vector(0)).score(chunks)
    asked = exact.documents[0].title
    assert beyond.bm25(asked).score(chunks) == pytest.approx(exact.bm25(asked).score(chunks), rel=1e-5)


def test_legs_rank_and_score_as_the_image_does_where_every_vector_is_compared(both: tuple[App, Index, Index]) -> None:
    app, exact, beyond = both
    embedder = app.models.registry.of(exact.profile)
    for query in questions(exact):
        fields = {"title": 1.5, "path": 0.5, "headings": 1.0, "tags": 0.5}
        for asked in ({}, fields):
            ours, theirs = (index.bm25(query, fields=asked).search(DEPTH, None) for index in (exact, beyond))
            assert list(theirs) == list(ours), query
            assert list(theirs.values()) == pytest.approx(list(ours.values()), rel=1e-5)
        ours, theirs = (index.dense(embedder.query(query)).search(DEPTH, None) for index in (exact, beyond))
        assert list(theirs) == list(ours), query
        assert list(theirs.values()) == pytest.approx(list(ours.values()))


def test_a_search_gives_the_same_hits_with_the_same_explanations(both: tuple[App, Index, Index]) -> None:
    app, exact, beyond = both
    searcher = app.search.searcher
    for query in questions(exact)[::5]:
        for config in (configs.RECOMMENDED, SearchConfig(), configs.parse("rrf-60")):
            ours, theirs = (searcher.search_in(index, query, config) for index in (exact, beyond))
            assert [(hit.chunk, hit.text, hit.heading) for hit in theirs.hits] == [
                (hit.chunk, hit.text, hit.heading) for hit in ours.hits
            ], query
            assert [hit.score for hit in theirs.hits] == pytest.approx([hit.score for hit in ours.hits], rel=1e-4)
            assert theirs.confidence == pytest.approx(ours.confidence, rel=1e-4)
            for mine, other in zip(ours.hits, theirs.hits, strict=True):
                assert {name: leg.rank for name, leg in other.legs.items()} == {
                    name: leg.rank for name, leg in mine.legs.items()
                }
                for name, leg in mine.legs.items():
                    assert other.legs[name].fields == pytest.approx(dict(leg.fields), rel=1e-4)


def test_a_clause_admits_what_the_filters_admit(tmp_path: Path) -> None:
    app = small_app(tmp_path)
    odd = "---\nid: ODD\ntitle: O'Brien's \\ % list\nowner: O'Brien\ntags: ['it''s', \"100%\"]\nreview_due: 2026-12-01\n---\n# Odd\n\nFile the odd form.\n"
    due = "---\nid: DUE\ntitle: Due\nreview_due: 2026-01-01\n---\n# Due\n\nFile the due form.\n"
    put(app, {**FILES, "o'dd/odd.md": odd, "fin/due.md": due})
    _exact, beyond = built(app)
    choices = {
        "types": ((), ("SOP",), ("faq", "sop")),
        "statuses": ((), ("retired", "superseded"), ("draft",)),
        "tags": ((), ("bsa",), ("it's", "100%")),
        "owners": ((), ("O'Brien", "Mei")),
        "folders": ((), ("o'dd",), ("/fin/", "it")),
        "docs": ((), ("BSA-1", "x' OR true --")),
        "freshness": ((), ("overdue", "upcoming"), ("current", "due soon"), ("undated",)),
        "history": (False, True),
    }
    stored = table.at(str(app.index.generations.folder(beyond.profile)), beyond._facts["version"])
    for values in list(product(*choices.values()))[::29]:
        filters = Filters(**dict(zip(choices, values, strict=True)))
        found = stored.search().where(legs.clause(filters, TODAY)).select(["doc"]).to_arrow()["doc"].to_pylist()
        admitted = {facts.doc for facts in beyond.documents if admits(filters, facts, TODAY)}
        assert set(found) == admitted, filters


def test_beyond_a_number_of_passages_vectors_are_indexed_and_their_recall_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table, "FLAT", 20)
    monkeypatch.setattr(table, "PARTITION", 20)
    app = small_app(tmp_path)
    files = sorted((ROOT / "kb").rglob("*.md"))[::8]
    put(app, {path.name: path.read_text(encoding="utf-8") for path in files})
    exact, beyond = built(app)
    assert "so results are approximate" in beyond.generation.notes[-1]
    vectors = [exact.vector(chunk) for chunk in range(0, exact.size, 5)]
    found = [(exact.dense(one).search(DEPTH, None), beyond.dense(one).search(DEPTH, None)) for one in vectors]
    assert sum(len(mine.keys() & theirs.keys()) for mine, theirs in found) >= 0.9 * sum(len(mine) for mine, _ in found)
    result = app.search.searcher.search_in(beyond, "password", SearchConfig())
    assert approximate(result.stages)
    put(app, {"new.md": "# New\n\nFile the new form.\n"})
    app.index.builder.build(beyond.profile)
    later = app.index.generations.open(beyond.profile)
    assert later.generation.notes[-1] == beyond.generation.notes[-1]
    assert later.dense(app.models.registry.of(exact.profile).query("File the new form.")).search(DEPTH, None)


def test_filters_reach_the_table_and_a_changed_mask_is_kept_to(both: tuple[App, Index, Index]) -> None:
    app, exact, beyond = both
    embedder = app.models.registry.of(exact.profile)
    filters = Filters(folders=(exact.documents[0].path.split("/")[0],))
    masks = [index.allowed(filters, TODAY) for index in (exact, beyond)]
    assert masks[0] is not None
    assert masks[1] is not None
    assert masks[1].tolist() == masks[0].tolist()
    narrower = [mask.copy() for mask in masks]
    for mask in narrower:
        mask[::2] = False
    for query in questions(exact)[::3]:
        for first, second in (masks, narrower):
            assert list(beyond.bm25(query).search(DEPTH, second)) == list(exact.bm25(query).search(DEPTH, first))
            vector = embedder.query(query)
            assert list(beyond.dense(vector).search(DEPTH, second)) == list(exact.dense(vector).search(DEPTH, first))


def test_what_needs_the_whole_collection_is_refused_in_a_sentence(both: tuple[App, Index, Index]) -> None:
    app, _, beyond = both
    for ask in (
        lambda: beyond.tfidf("x"),
        lambda: beyond.sparse("x"),
        beyond.graph,
        lambda: beyond.bm25("x", "duckdb"),
    ):
        with pytest.raises(Unavailable, match="searched in LanceDB"):
            ask()
    result = app.search.searcher.search_in(beyond, "wire transfer", SearchConfig(legs=("tfidf", "dense")))
    assert result.hits
    assert "tfidf" in result.warnings[0]
    assert beyond.bm25("what is it").search(DEPTH, None) == {}


@pytest.mark.parametrize("joined", [False, True])
def test_an_edit_makes_a_version_that_equals_a_full_build_and_readers_stay_where_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, joined: bool
) -> None:
    app = small_app(tmp_path)
    put(app, FILES)
    _, before = built(app)
    if joined:
        monkeypatch.setattr(table, "LOOSE", 0)
    else:  # no row is read but those of the edit, and no file is joined
        monkeypatch.setattr(rows_written, "_number", None)
        monkeypatch.setattr(table, "_optimize", None)
    text, ids = before.text(0), [before.passage(chunk).id for chunk in range(before.size)]
    put(
        app,
        {
            "fin/ctr.md": FILES["fin/ctr.md"].replace("$10,000", "$12,000"),
            "it/vpn.md": None,
            "it/new.md": "# New\n\nFile the new form.\n",
        },
    )
    exact, after = built(app)
    assert [after.passage(chunk) for chunk in range(after.size)] == [
        exact.passage(chunk) for chunk in range(exact.size)
    ]
    assert list(after.documents) == list(exact.documents)
    assert list(after.vocabulary) == list(exact.vocabulary)
    assert [after.rarity(term) for term in exact.vocabulary] == pytest.approx(list(map(exact.rarity, exact.vocabulary)))
    for query in ("File form 112", "Error 809", "new form"):
        for fields in ({}, {"title": 1.0, "path": 1.0, "headings": 1.0}):
            ours = exact.bm25(query, fields=fields).search(DEPTH, None)
            assert dict(after.bm25(query, fields=fields).search(DEPTH, None)) == pytest.approx(dict(ours), rel=1e-5)
    assert (before.text(0), [before.passage(chunk).id for chunk in range(before.size)]) == (text, ids)
    assert before.bm25("Error 809").search(DEPTH, None), "the old version still answers"


@pytest.mark.parametrize("engine", ["image", "lance"])
def test_a_generation_goes_with_its_last_reader_and_not_with_the_next_garbage_collection(
    engine: str, tmp_path: Path
) -> None:
    """It keeps files open and its folder from being removed: sixty merges once left 360 files open."""
    app = small_app(tmp_path)
    profile = replace(app.platform.settings.profile(), engine=engine, graph="none")
    files = {f"{number}.md": f"# Title {number}\n\nmarker words of document {number}\n" for number in range(8)}
    gc.disable()
    try:
        gone = list[Any]()
        for n in range(3):  # the second and the third have more than one segment
            put(app, files | {"0.md": f"# Title\n\nmarker words, edition {n}\n"})
            app.index.builder.build(profile)
            index = app.index.generations.open(profile)
            for query, filters in product(("marker edition", "words"), (Filters(), Filters(docs=("0",)))):
                assert app.search.searcher.search_in(index, query, SearchConfig(), filters)
            gone.append(ref(index))
            del index
        assert [was() is None for was in gone] == [True, True, False]
    finally:
        gc.enable()


def test_versions_that_no_generation_needs_are_removed_and_needed_ones_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table, "MARGIN", timedelta(milliseconds=200))
    monkeypatch.setattr(table, "LOOSE", 0)
    app = small_app(tmp_path, keep_generations=2)
    profile = lance_profile(app)
    generations, place = app.index.generations, str(app.index.generations.folder(profile))

    def left() -> set[int]:
        return {entry["version"] for entry in table.newest(place).list_versions()}

    for n in range(40):  # a version goes by its age: how many builds that takes depends on how slow the machine is
        put(app, {"fin/ctr.md": FILES["fin/ctr.md"].replace("112", f"3 {n}")})
        app.index.builder.build(profile)
        if n > 3 and min(left()) > 5:
            break
    kept = {
        folder.name: json.loads((folder / "MANIFEST.json").read_text())["table"]["version"]
        for folder in Path(place).glob("gen-*")
    }
    assert len(kept) == 2
    assert set(kept.values()) <= left()
    assert min(left()) > 5, "those of the first generations are gone"
    assert set(kept) <= set(table.newest(place).tags.list())
    assert not generations.check(profile)
    rolled = generations.rollback(profile, min(generation.number for generation in generations.all(profile)))
    assert generations.open(profile).generation.number == rolled.number
    assert generations.open(profile).bm25("3").search(DEPTH, None)


def test_rows_of_a_killed_build_are_not_in_the_next_generation(tmp_path: Path) -> None:
    app = small_app(tmp_path)
    put(app, FILES)
    _, before = built(app)
    place = str(app.index.generations.folder(before.profile))
    stored = table.newest(place)
    stored.delete("doc = 'BSA-1'")
    put(app, {"it/new.md": "# New\n\nFile the new form.\n"})
    exact, after = built(app)
    assert [after.passage(n).id for n in range(after.size)] == [exact.passage(n).id for n in range(exact.size)]
    assert not app.index.generations.check(after.profile)


def test_a_profile_in_lancedb_has_no_graph_and_keeps_the_names_of_older_indexes(app: App) -> None:
    local = app.platform.settings.profile()
    with pytest.raises(BadInput, match="Choose the graph none"):
        profiles.check(replace(local, engine="lance"))
    with pytest.raises(BadInput, match="Known: image, lance"):
        profiles.check(replace(local, engine="memory"))
    assert profiles.identity(profiles.DEFAULT) == "f69357354e"
    assert profiles.identity(lance_profile(app)) != profiles.identity(local)


def test_an_older_commit_never_overwrites_a_newer_one(tmp_path: Path) -> None:
    place = str(tmp_path)
    table.upsert(table.created(place, rows.schema(lance_worker.WIDTH)), rows_at(1, 1))
    for position in (3, 2, 3, 1):
        lance_worker.replace_document(place, 7, position)
    found = table.newest(place).search().where("doc = 'D-7'").select(["id", "rev"]).to_arrow()
    assert sorted(found["id"].to_pylist()) == sorted(chunk.id for chunk in chunks_of(7, 3)[1])
    assert set(found["rev"].to_pylist()) == {3}


def test_an_earlier_state_and_a_change_have_tables_of_their_own(tmp_path: Path) -> None:
    app = small_app(tmp_path)
    profile = lance_profile(app)
    put(app, FILES)
    app.index.builder.build(profile)
    between = put(app, {"it/new.md": "# New\n\nFile the new form.\n"})
    put(app, {"it/new.md": None})
    app.index.builder.build(profile)
    past = app.search.as_of.open(between, profile).index
    assert [past.documents[past.document_of(chunk)].path for chunk in past.bm25("new").search(1, None)] == ["it/new.md"]
    serving = app.index.generations.open(profile)
    assert (past.size, serving.size) == (serving.size + 1, past.size - 1)
    assert not app.index.generations.check(profile)
    app.index.generations.remove(profile)
    assert not app.index.generations.folder(profile).exists()


def test_a_backup_holds_the_table_and_a_copy_answers(tmp_path: Path) -> None:
    app = small_app(tmp_path / "kb")
    profile = lance_profile(app)
    put(app, FILES)
    app.index.builder.build(profile)
    app.index.generations.copy(profile, tmp_path / "copy")
    copied = Generations(tmp_path / "copy", IndexLimits(1, 100), lambda one: analyser(one.lexical))
    assert copied.open(profile).bm25("Form 112").search(1, None)


def test_every_problem_of_a_table_is_named(tmp_path: Path) -> None:
    app = small_app(tmp_path)
    profile = lance_profile(app)
    put(app, FILES)
    app.index.builder.build(profile)
    place = app.index.generations.folder(profile)
    ids = next(place.glob("gen-*")) / "served" / "ids.npy"
    np.save(ids, np.load(ids) ^ np.uint64(1))
    assert "the table holds" in app.index.generations.check(profile)[0]
    shutil.rmtree(place / "chunks.lance")
    assert "cannot be read" in app.index.generations.check(profile)[0]


class GrownTable:
    """Knows the names of its indexes, as a Lance table does."""

    def __init__(self, name: str) -> None:
        self.names = {"terms": "terms_idx", "around": "around_idx", "vector": name}

    def list_indices(self) -> list[Any]:
        return [SimpleNamespace(name=name, columns=[column]) for column, name in self.names.items()]

    def create_index(self, column: str, *, config: Any, name: str = "") -> None:
        self.made = config.num_partitions
        self.names[column] = name

    def drop_index(self, name: str) -> None:
        self.dropped = name


@pytest.mark.parametrize(
    ("name", "rows", "partitions"),
    [("vector_18", 71_000, 0), ("vector_18", 72_000, 72), ("vector_18", 246_000, 246), ("vector_idx", 246_000, 246)],
)
def test_a_table_that_grew_fourfold_learns_its_partitions_anew(name: str, rows: int, partitions: int) -> None:
    grown = GrownTable(name)
    assert table.index(grown, rows) is bool(partitions)
    if partitions:
        assert (grown.made, grown.dropped, grown.names["vector"]) == (partitions, name, f"vector_{partitions}")


def test_keys_that_expire_are_left_to_lancedb_and_others_are_given(monkeypatch: pytest.MonkeyPatch) -> None:
    from botocore.credentials import Credentials, RefreshableCredentials

    lasting = Credentials("id", "secret")
    expiring = RefreshableCredentials("id", "secret", "token", None, lambda: {}, "a role")
    for found, names in ((lasting, {"aws_access_key_id", "aws_secret_access_key"}), (expiring, set())):
        session = SimpleNamespace(get_credentials=lambda found=found: found, region_name="us-east-1")
        monkeypatch.setattr(objects, "_session", lambda session=session: session)
        assert {name for name in objects.lance_options() if "key" in name or "token" in name} == names


def test_a_reader_of_half_of_the_folders_finds_the_same_by_every_engine(both: tuple[App, Index, Index]) -> None:
    """And only what they may read: with the numbers and statistics of what is left, in the image, in DuckDB and in the table."""
    _, exact, beyond = both
    folders = sorted({facts.path.split("/")[0] for facts in exact.documents})
    policy = Readers({f"{folder}/": ("nobody",) for folder in folders[::2]}, named=True)
    seen = Readable(Actor("ann", "Ann", "", "reader"), policy, {}, frozenset(), frozenset(), frozenset(), "half")
    ours, theirs = (seen_by(index, seen) for index in (exact, beyond))
    mask, clause = (index.allowed(Filters(), TODAY) for index in (ours, theirs))
    assert (mask, clause) == (None, None)
    assert 0 < ours.size < exact.size
    assert (theirs.size, list(theirs.documents)) == (ours.size, list(ours.documents))
    assert list(theirs.vocabulary) == list(ours.vocabulary)
    assert theirs.spread == pytest.approx(ours.spread)
    for question in questions(exact)[:25]:
        found = ours.bm25(question).search(DEPTH, mask)
        assert all(ours.documents[ours.document_of(chunk)].path.split("/")[0] in folders[1::2] for chunk in found)
        assert list(found) == list(theirs.bm25(question).search(DEPTH, clause)), question
        assert list(found) == list(ours.bm25(question, "duckdb").search(DEPTH, mask)), question
        assert list(found) == list(ours.bm25(question).search(DEPTH, None)), "also where nobody gives a mask"
