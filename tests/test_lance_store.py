"""Tables on a store: two nodes that write the same document at once, and nodes that read while others write."""

from __future__ import annotations

import multiprocessing
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from core.access import reading_as
from core.errors import Unavailable
from core.storage.lance import rows, table
from tests import lance_worker
from tests.conftest import ME, demo, put, rounds
from tests.lance_worker import chunks_of, rows_at
from tests.object_store import BUCKET, SeaweedFS, seaweedfs
from tests.small_kb import FILES
from tests.test_lance import DEPTH, lance_profile
from tests.test_store import another, node


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SeaweedFS]:
    with seaweedfs(tmp_path_factory.mktemp("weed")) as server, pytest.MonkeyPatch.context() as patch:
        for name, value in server.environment.items():
            patch.setenv(name, value)
        yield server


def test_every_node_searches_a_table_on_the_store_in_the_version_that_is_published(
    store: SeaweedFS, tmp_path: Path
) -> None:
    ann = node(tmp_path / "ann", f"s3://{BUCKET}/nodes")
    profile = ann.platform.settings.add_profile(lance_profile(ann), ME)
    put(ann, FILES)
    ann.index.builder.build(profile)
    bob = another(ann, tmp_path / "bob")
    bob.index.following.tick()
    assert not list(bob.index.generations.folder(profile).glob("*.lance")), "nothing of the table is copied"
    mine, theirs = (app.index.generations.open(profile) for app in (ann, bob))
    assert theirs.bm25("Form 112").search(DEPTH, None) == mine.bm25("Form 112").search(DEPTH, None) != {}
    put(ann, {"review-rules.yaml": "readers:\n  fin/: [author2]\n"})
    ann.index.builder.build(ann.platform.settings.profile())
    with reading_as(demo("reader")):  # who may not read fin/ finds the same on the store as in a file
        here = ann.index.generations.open(ann.platform.settings.profile())
        there = ann.index.generations.open(profile)
        for words in ("file form", "Form 112", "fob"):
            found = [here.passage(chunk).id for chunk in here.bm25(words).search(DEPTH, None)]
            assert found == [there.passage(chunk).id for chunk in there.bm25(words).search(DEPTH, None)]
            assert not any(
                here.documents[here.document_of(here.number(one) or 0)].path.startswith("fin/") for one in found
            )
        assert not there.bm25("112").search(DEPTH, None)
    changed = put(bob, {"fin/ctr.md": FILES["fin/ctr.md"].replace("112", "999")})
    bob.index.builder.build(profile)
    assert bob.index.generations.open(profile).bm25("999").search(DEPTH, None)
    assert not mine.bm25("999").search(DEPTH, None), "a reader stays with its version"
    assert mine.bm25("112").search(DEPTH, None)
    ann.index.following.tick()
    serving = ann.index.generations.open(profile)
    assert serving.generation.commit == changed
    assert serving.bm25("999").search(DEPTH, None)
    assert not ann.index.generations.check(profile)


def test_a_table_on_the_store_goes_with_its_profile_and_says_that_no_state_is_built_aside_of_it(
    store: SeaweedFS, tmp_path: Path
) -> None:
    ann = node(tmp_path / "ann", f"s3://{BUCKET}/past")
    profile = ann.platform.settings.add_profile(lance_profile(ann), ME)
    put(ann, FILES)
    ann.index.builder.build(profile)
    between = put(ann, {"it/vpn.md": None})
    put(ann, {"it/vpn.md": FILES["it/vpn.md"]})
    ann.index.builder.build(profile)
    with pytest.raises(Unavailable, match="where no state is built aside"):
        ann.search.as_of.open(between, profile)
    place = f"s3://{BUCKET}/past/tables/{ann.index.generations.folder(profile).name}"
    assert table.newest(place).count_rows()
    ann.index.generations.remove(profile)
    with pytest.raises(ValueError, match="not found"):
        table.newest(place)


def in_processes(place: str, rounds: int) -> None:
    spawn = multiprocessing.get_context("spawn")
    together = spawn.Barrier(2)
    writers = [
        spawn.Process(target=lance_worker.write_rounds, args=(place, 0, rounds, ahead, together)) for ahead in (0, 1)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60 + 10 * rounds)
        assert writer.exitcode == 0


def in_threads(place: str, rounds: int) -> None:
    """The same without the twelve CPU seconds of two interpreters: each opens the table for itself."""
    together = threading.Barrier(2)
    with ThreadPoolExecutor(2) as both:
        list(both.map(lambda ahead: lance_worker.write_rounds(place, 0, rounds, ahead, together), (0, 1)))


def raced(place: str, rounds: int, race: Callable[[str, int], None] = in_processes) -> tuple[int, int]:
    """Let two nodes write every document at once. Documents with a chunk that is there twice, and with wrong chunks."""
    race(place, rounds)
    found = table.newest(place).search().select(["id", "doc"]).to_arrow().to_pylist()
    doubled = {row["doc"] for row, count in Counter(map(_frozen, found)).items() if count > 1 for row in [dict(row)]}
    ids = {doc: {row["id"] for row in found if row["doc"] == doc} for doc in {row["doc"] for row in found}}
    wanted = {f"D-{n}": {chunk.id for chunk in chunks_of(n, 1 + n % 2)[1]} for n in range(rounds)}
    return len(doubled), sum(ids.get(doc) != own for doc, own in wanted.items())


def _frozen(row: dict[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(row.items()))


def made(place: str, *, keyed: bool) -> str:
    """A table with one document; without its key, it is one as LanceDB makes it by itself."""
    if keyed:
        opened = table.created(place, rows.schema(lance_worker.WIDTH))
    else:
        opened = table.connect(place).create_table(table.NAME, schema=rows.schema(lance_worker.WIDTH))
    table.upsert(opened, rows_at(10_000, 1))
    return place


@pytest.mark.parametrize(
    ("rounds", "race"), [(6, in_threads), pytest.param(rounds(60), in_processes, marks=pytest.mark.slow)]
)
def test_two_nodes_that_index_a_document_at_once_leave_every_chunk_once(
    store: SeaweedFS, rounds: int, race: Callable[[str, int], None]
) -> None:
    assert raced(made(f"s3://{BUCKET}/keyed-{rounds}", keyed=True), rounds, race) == (0, 0)


@pytest.mark.slow
def test_without_the_key_two_nodes_leave_duplicates(store: SeaweedFS) -> None:
    doubled, _ = raced(made(f"s3://{BUCKET}/plain", keyed=False), 40)
    assert doubled > 0


@pytest.mark.slow
def test_with_an_index_on_the_key_two_nodes_leave_duplicates(store: SeaweedFS) -> None:
    """Why there is none: LanceDB then looks for the key in the index, where what the other node writes is not yet."""
    place = made(f"s3://{BUCKET}/indexed", keyed=True)
    table.newest(place).create_scalar_index("id")
    doubled, _ = raced(place, 40)
    assert doubled > 0
