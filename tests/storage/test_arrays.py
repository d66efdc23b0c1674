"""What searches map is a cache: it follows from the record, outside of the generations, and may go at any time."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from core.adapters.system import sums
from core.bootstrap import App, build
from core.retrieval import config as configs
from core.settings import load
from core.storage.index.arrays import cache as array_cache
from core.storage.index.record import duckdb, lance, segments, vectors
from core.types import Profile
from tests.conftest import ROOT, NoProcesses, SmallModels, demo, put, small_app

TEXTS = {
    "a.md": "---\nid: D-1\ntitle: Cash reports\nanswers:\n- Who files cash reports?\n---\n# Cash\n\nTellers file "
    "cash reports.\n",
    "b.md": "---\nid: D-2\ntitle: Trucks\n---\n# Trucks\n\nDrivers park cold trucks. Who we are.\n",
    "c.md": "---\nid: D-3\ntitle: Bills\n---\n# Bills\n\nClerks pay late bills, and tellers count cash.\n",
}
WAYS = ("bm25", "dense", "convex-0.5", "tfidf", "two-hops")


@pytest.fixture
def built(app: App) -> App:
    put(app, TEXTS)
    app.index.builder.build(profile(app))
    return app


def profile(app: App) -> Profile:
    return app.platform.settings.profile()


def arrays(app: App) -> Path:
    return app.settings.caches / "arrays"


def folder(app: App) -> Path:
    return app.index.generations.folder(profile(app)) / app.index.generations.current(profile(app)).folder


def found(app: App) -> list[tuple[str, float]]:
    queries = ("cash reports", "who we are", "late bills")
    return [
        (hit.chunk, hit.score)
        for query in queries
        for way in WAYS
        for hit in app.search.searcher.search(query, config=configs.parse(way)).hits
    ]


def made(app: App) -> list[str]:
    return sorted(path.name for path in arrays(app).glob("*-*"))


def old(app: App) -> None:
    """As if every folder of arrays had been made an hour ago."""
    for path in arrays(app).glob("*-*"):
        os.utime(path, (0, 0))


def test_a_generation_holds_the_record_alone_and_lists_nothing_else(built: App) -> None:
    listed = sums.read(folder(built))
    assert listed is not None
    assert {name.partition("/")[0] for name in listed} == {
        "fts.duckdb",
        "graph",
        "vec",
        "MANIFEST.json",
        "PIN",
        "SEGMENTS.json",
    }
    manifest = json.loads((folder(built) / "MANIFEST.json").read_text())
    assert not [name for name in manifest["files"] if name.endswith(".npy")]
    assert len(made(built)) == 1


def test_vectors_stand_once_on_the_disk_and_are_mapped_from_the_file_of_lancedb(built: App) -> None:
    ids, rows = lance.read(folder(built) / "vec")
    mapped = vectors.mapped(folder(built))
    assert mapped is not None
    assert np.array_equal(mapped, rows)
    assert ids == sorted(ids)
    assert not list(arrays(built).rglob("*.npy.*")) + list(arrays(built).rglob("vectors*"))


def test_words_keep_their_order_in_the_index_of_duckdb(tmp_path: Path, built: App) -> None:
    with duckdb.open_file(folder(built) / "fts.duckdb") as connection:
        documents, chunks = duckdb.tables(connection)
    chunks = chunks.set_column(chunks.schema.get_field_index("doc"), "doc", documents["doc"].take(chunks["doc"]))
    terms = ["b a b", "", "c a a b"][: len(chunks)]
    with duckdb.written(tmp_path / "fts.duckdb", documents, chunks, terms) as connection:
        assert duckdb.analysed(duckdb.occurrences(connection)) == terms


def test_arrays_that_are_missing_or_damaged_are_made_again_without_a_word(built: App) -> None:
    before, names = found(built), made(built)
    for damage in (shutil.rmtree, _flip, _empty, _unlink):
        damage(arrays(built) / names[0])
        again = small_app(built.settings.home)
        assert found(again) == before
        assert set(names) <= set(made(again))
        assert again.index.verifier.problems() == ()


def _flip(place: Path) -> None:
    content = bytearray((place / "where.npy").read_bytes())
    content[-1] ^= 1
    (place / "where.npy").write_bytes(content)


def _empty(place: Path) -> None:
    (place / "chunks.arrow").write_bytes(b"")


def _unlink(place: Path) -> None:
    (place / "sketches.npy").unlink()


def test_a_record_that_is_damaged_makes_no_arrays(built: App) -> None:
    shutil.rmtree(arrays(built))
    with (folder(built) / "fts.duckdb").open("r+b") as file:
        file.write(b"\xff" * 4096)
    again = small_app(built.settings.home)
    with pytest.raises(Exception, match="is damaged|no index"):
        found(again)
    assert made(again) == []


def test_searches_go_on_while_their_arrays_are_deleted(built: App) -> None:
    before, wrong, stopped = found(built), list[object](), threading.Event()

    def searching() -> None:
        while not stopped.is_set():
            try:
                if found(built) != before:
                    wrong.append("other hits")
            except Exception as error:
                wrong.append(error)

    threads = [threading.Thread(target=searching) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(5):
        shutil.rmtree(arrays(built), ignore_errors=True)
        built.index.generations._open.clear()
        assert found(built) == before
    stopped.set()
    for thread in threads:
        thread.join()
    assert wrong == []


PROGRAM = """
import sys
from pathlib import Path
from core.retrieval import config as configs
from tests.conftest import small_app
app = small_app(Path(sys.argv[1]))
print([hit.chunk for hit in app.search.searcher.search("cash reports", config=configs.parse("convex-0.5")).hits])
"""


def test_other_processes_make_deleted_arrays_at_once_and_answer_alike(built: App) -> None:
    hits = built.search.searcher.search("cash reports", config=configs.parse("convex-0.5")).hits
    shutil.rmtree(arrays(built))
    command = [sys.executable, "-c", PROGRAM, str(built.settings.home)]
    running = [
        subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)
    ]
    for process in running:
        out, error = process.communicate()
        assert process.returncode == 0, error[-2000:]
        assert out.splitlines()[-1] == str([hit.chunk for hit in hits])
    assert len(made(built)) == 1
    assert not list(arrays(built).glob(".making-*"))
    again = built.search.searcher.search("cash reports", config=configs.parse("convex-0.5")).hits
    assert [hit.chunk for hit in again] == [hit.chunk for hit in hits]


def test_generations_share_arrays_and_those_that_no_generation_needs_go(
    built: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segments, "FOLDED", 0)
    (first,) = made(built)
    for n in range(2 + built.settings.keep_generations):
        put(built, {"b.md": TEXTS["b.md"] + f"\nOne more {n}.\n"})
        built.index.builder.build(profile(built))
        found(built)
        old(built)
    built.index.generations.sweep()
    left = made(built)
    assert first in left, "its first segment is in every generation"
    listed = {name for one in built.index.generations.root.glob("*/gen-*") for name in array_cache._names(one)}
    assert {name.partition("-")[0] for name in left} <= listed
    built.index.generations.remove(profile(built))
    built.index.generations.sweep()
    assert made(built) == []


def test_a_backup_with_the_index_holds_no_arrays_and_answers(built: App, tmp_path: Path) -> None:
    before = found(built)
    built.platform.backups.take(demo("admin"), tmp_path / "saved", with_index=True)
    saved = list((tmp_path / "saved" / "index").rglob("*"))
    assert [path for path in saved if path.name == "fts.duckdb"]
    assert not [path for path in saved if path.suffix == ".npy" or path.name in ("terms.arrow", "documents.arrow")]
    unopened = build(load({}, home=tmp_path / "new"), models=SmallModels(), processes=NoProcesses())
    unopened.platform.backups.restore(demo("admin"), tmp_path / "saved")
    again = small_app(tmp_path / "new")
    assert found(again) == before
    assert again.index.verifier.problems() == ()


def made_older(generation: Path) -> None:
    """A generation as the version before wrote it: arrays inside, vectors in the order of documents."""
    ids, rows = lance.read(generation / "vec")
    order = np.random.default_rng(1).permutation(len(ids))
    shutil.rmtree(generation / "vec")
    (generation / "vec").mkdir()
    lance.write(generation / "vec", [ids[n] for n in order.tolist()], rows[order])
    (generation / "SEGMENTS.json").unlink()
    (generation / "served").mkdir()
    (generation / "served" / "vectors.npy").write_bytes(b"what this version never reads")
    manifest = json.loads((generation / "MANIFEST.json").read_text())
    names = [str(path.relative_to(generation)) for path in generation.rglob("*") if path.is_file()]
    files = {name: (generation / name).stat().st_size for name in names if name not in ("MANIFEST.json", sums.NAME)}
    del manifest["written"]
    (generation / "MANIFEST.json").write_text(json.dumps({**manifest, "files": files, "format": 3}))
    sums.write(generation)


def test_a_generation_with_its_arrays_inside_opens_and_the_next_build_leaves_them(built: App) -> None:
    before = found(built)
    made_older(folder(built))
    shutil.rmtree(arrays(built))
    again = small_app(built.settings.home)
    assert found(again) == before
    assert again.index.verifier.problems() == ()
    assert len(list(arrays(again).glob("*/vectors-*.npy"))) == 1, "its vectors do not stand in the order of ids"
    put(again, {"d.md": "# Dates\n\nDried ones.\n"})
    done = again.index.builder.build(profile(again))
    assert (done.changed, done.embedded) == (1, 1)
    assert not (folder(again) / "served").exists()
    assert again.search.searcher.search("dried dates").hits[0].path == "d.md"
    assert again.index.verifier.problems() == ()
