"""Files on an S3 store: conditions of writes, generations that machines share, and what happens when the store does
not answer.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from core.bootstrap import App
from core.bootstrap import build as build_app
from core.entrypoints.cli import main
from core.errors import BadInput, Conflict, Corrupt, NotFound, Refused, Unavailable
from core.settings import load
from core.storage.object_store import objects
from core.storage.object_store.objects import ObjectStore
from core.storage.object_store.published import Pointer, PublishedIndex
from core.types import Profile
from tests.conftest import ROOT, NoProcesses, SmallModels, demo, forget_app, put, rounds, small_app
from tests.support.object_store import BUCKET, Line, SeaweedFS, careless_store, environment, seaweedfs

ADMIN = demo("admin")
FEES = {"fees.md": "# Fees\n\nThe fee is 12 dollars.\n", "cash.md": "# Cash\n\nCount the cash twice.\n"}


@pytest.fixture(scope="module")
def weed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SeaweedFS]:
    with seaweedfs(tmp_path_factory.mktemp("weed")) as server:
        yield server


@pytest.fixture
def store(weed: SeaweedFS, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """An empty place on a real store."""
    for name, value in weed.environment.items():
        monkeypatch.setenv(name, value)
    return f"s3://{BUCKET}/{tmp_path.name}"


def node(home: Path, store: str) -> App:
    """A machine that checked the store today: nothing but the store is shared."""
    home.mkdir(exist_ok=True)
    passed = {"store": store, "endpoint": os.environ["AWS_ENDPOINT_URL_S3"]}
    (home / "store.json").write_text(json.dumps(passed), encoding="utf-8")
    return small_app(home, processes=NoProcesses(), store=store)


def first(tmp_path: Path, store: str) -> App:
    """A machine that published one generation."""
    ann = node(tmp_path / "ann", store)
    put(ann, FEES)
    build(ann)
    return ann


def another(ann: App, home: Path) -> App:
    """Another machine of the same workspace, with its repository and database, and nothing of its index."""
    home.mkdir()
    shutil.copytree(ann.settings.home / "kb.git", home / "kb.git")
    with closing(sqlite3.connect(ann.settings.home / "app.db")) as source:
        source.execute("VACUUM INTO ?", [str(home / "app.db")])
    return node(home, ann.settings.store)


def learn(app: App, source: App) -> None:
    """Fetch main from another machine."""
    repository = str(app.settings.home / "kb.git")
    fetch = ["git", "--git-dir", repository, "fetch", "-q", str(source.settings.home / "kb.git"), "+main:main"]
    subprocess.run(fetch, check=True)


def profile(app: App) -> Profile:
    return app.platform.settings.profile()


def build(app: App) -> int:
    return app.index.builder.build(profile(app)).generation.number


def serving(app: App) -> int:
    current = app.index.generations.current(profile(app))
    return current.number if current else 0


def found(app: App, question: str) -> list[str]:
    return [hit.path for hit in app.search.searcher.search(question).hits]


def uploaded(store: str) -> set[str]:
    return {row.key for row in ObjectStore(store).list("files/")}


# ---------------------------------------------------------------- the store itself


def test_a_store_writes_on_conditions_lists_and_deletes(store: str, tmp_path: Path) -> None:
    objects = ObjectStore(store)
    etag = objects.put("a/one", b"1", if_none_match=True)
    with pytest.raises(Conflict):
        objects.put("a/one", b"2", if_none_match=True)
    with pytest.raises(Conflict):
        objects.put("a/one", b"2", if_match='"0123456789abcdef0123456789abcdef"')
    assert objects.put("a/one", b"2", if_match=etag) != etag
    (tmp_path / "up").write_bytes(b"x" * 9_000_000)
    objects.put_file("a/two", tmp_path / "up")
    assert len(objects.fetch("a/two", tmp_path / "down")) == 64
    assert (tmp_path / "down").read_bytes() == (tmp_path / "up").read_bytes()
    assert [(row.key, row.size) for row in objects.list("a/")] == [("a/one", 1), ("a/two", 9_000_000)]
    objects.delete(["a/one", "a/two", "a/three"])
    assert objects.get("a/one") is None
    assert list(objects.list("a/")) == []


def test_seaweedfs_passes_the_check_of_conditions(store: str) -> None:
    objects.check(ObjectStore(store))
    assert list(ObjectStore(store).list("conformance/")) == []


def test_a_store_that_ignores_conditions_is_refused_at_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with careless_store() as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL_S3", url)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "a")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "b")
        with pytest.raises(Refused, match="ignores conditions of writes: 6 of 6 writers of one object won"):
            small_app(tmp_path / "home", store="s3://careless/kb")


def test_a_download_goes_on_where_the_line_broke(
    weed: SeaweedFS, store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = bytes(range(256)) * 20_000
    ObjectStore(store).put("large", data)
    line = Line(weed.ports["s3"])
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", line.url)
    objects = ObjectStore(store)
    objects.get("nothing")
    line.budget, line.mends = 2_000_000, True
    objects.fetch("large", tmp_path / "large")
    assert line.breaks == 1
    assert (tmp_path / "large").read_bytes() == data
    assert line.answered < 1.5 * len(data), "what had arrived was not fetched again"
    line.server.close()


def test_a_store_of_another_workspace_is_refused(store: str, tmp_path: Path) -> None:
    node(tmp_path / "ann", store)
    with pytest.raises(Refused, match="another workspace"):
        node(tmp_path / "eve", store)


# ---------------------------------------------------------------- generations


def test_a_generation_built_on_one_machine_is_served_by_the_others(store: str, tmp_path: Path) -> None:
    ann = first(tmp_path, store)
    bob = another(ann, tmp_path / "bob")
    assert found(bob, "fee")[0] == "fees.md"
    put(ann, {"vpn.md": "# VPN\n\nError 809 means the port is closed.\n"})
    assert build(ann) == 2
    assert serving(bob) == 1
    bob.index.following.tick()
    assert serving(bob) == 2
    assert found(bob, "error 809")[0] == "vpn.md"
    assert not list(bob.index.generations.damaged())
    here = ann.index.generations.copies.index.read(ann.index.generations.folder(profile(ann)).name).serving
    published = ann.index.generations.copies.index.files(here)
    assert "fts.duckdb" in published
    assert not [name for name in published if name.endswith(".npy")], "each machine makes its arrays from the record"
    assert list(bob.settings.caches.glob("arrays/*/where.npy"))


@pytest.mark.slow
def test_a_build_starts_from_what_another_machine_published(store: str, tmp_path: Path) -> None:
    ann = first(tmp_path, store)
    bob = another(ann, tmp_path / "bob")
    put(ann, {"vpn.md": "# VPN\n\nError 809.\n"})
    build(ann)
    learn(bob, ann)
    put(bob, {"tax.md": "# Tax\n\nForm 1099.\n"})
    before = uploaded(store)
    built = bob.index.builder.build(profile(bob))
    assert (built.generation.number, built.changed) == (3, 1)
    names = bob.index.generations.copies.index
    newest = names.read(bob.index.generations.folder(profile(bob)).name).generations[0]
    assert {stored.key for stored in names.files(newest).values()} & before, "unchanged files are not uploaded again"
    ann.index.following.tick()
    assert serving(ann) == 3
    assert found(ann, "form 1099")[0] == "tax.md"


@pytest.mark.slow
def test_a_machine_that_knows_less_of_main_does_not_put_the_index_back(store: str, tmp_path: Path) -> None:
    ann = first(tmp_path, store)
    bob = another(ann, tmp_path / "bob")
    put(ann, {"vpn.md": "# VPN\n\nError 809.\n"})
    build(ann)
    with pytest.raises(Unavailable, match="not known here yet"):
        build(bob)
    learn(bob, ann)
    subprocess.run(
        ["git", "--git-dir", str(bob.settings.home / "kb.git"), "update-ref", "refs/heads/main", "main~1"], check=True
    )
    assert build(bob) == 2
    assert serving(bob) == 2


@pytest.mark.slow
def test_a_rollback_is_one_for_all_machines_until_the_next_build(store: str, tmp_path: Path) -> None:
    ann = first(tmp_path, store)
    put(ann, {"vpn.md": "# VPN\n\nError 809.\n"})
    build(ann)
    bob = another(ann, tmp_path / "bob")
    assert [row.number for row in bob.index.admin.generations_of(ADMIN)] == [2, 1]
    assert bob.index.admin.rollback(ADMIN, 1).number == 1
    ann.index.following.tick()
    assert serving(ann) == serving(bob) == 1
    assert ann.index.generations.pinned(profile(ann))
    assert "vpn.md" not in found(ann, "error 809")
    assert build(ann) == 2
    bob.index.following.tick()
    assert serving(ann) == serving(bob) == 2


@pytest.mark.slow
def test_an_index_that_was_there_before_the_store_is_published(store: str, tmp_path: Path) -> None:
    alone = small_app(tmp_path / "ann", processes=NoProcesses())
    put(alone, FEES)
    build(alone)
    ann = node(tmp_path / "ann", store)
    assert not ann.index.builder.build(profile(ann)).fresh
    bob = another(ann, tmp_path / "bob")
    assert found(bob, "fee")[0] == "fees.md"


@pytest.mark.slow
def test_of_two_builds_at_once_the_slower_one_starts_again_from_the_faster_one(store: str, tmp_path: Path) -> None:
    ann = first(tmp_path, store)
    bob = another(ann, tmp_path / "bob")
    put(ann, {"vpn.md": "# VPN\n\nError 809.\n"})
    learn(bob, ann)
    put(bob, {"tax.md": "# Tax\n\nForm 1099.\n"})
    index = bob.index.generations.copies.index
    publish, tries = index.publish, []

    def slower(*arguments: object) -> object:
        if not tries:
            build(ann)
        tries.append(arguments)
        return publish(*arguments)

    index.publish = slower
    built = bob.index.builder.build(profile(bob))
    assert (len(tries), built.generation.number) == (2, 3)
    assert built.changed == 1, "only what the faster build did not have"
    ann.index.following.tick()
    assert {*found(ann, "error 809 form 1099")} >= {"vpn.md", "tax.md"}


@pytest.mark.slow
def test_a_publication_whose_answer_got_lost_and_that_others_overwrote_keeps_its_files(
    store: str, tmp_path: Path
) -> None:
    """The store took CURRENT, the answer was lost, another machine wrote CURRENT, and the request was sent again."""
    ann = first(tmp_path, store)
    put(ann, {"vpn.md": "# VPN\n\nError 809.\n"})
    index = ann.index.generations.copies.index
    replaced, twice = index.replace, []

    def again(place: str, old: Pointer | None, new: Pointer) -> Pointer:
        if not twice:
            twice.append(replaced(place, old, new))
            PublishedIndex(index.objects, index.conformance).point(place, new.generations[1].folder, pinned=True)
        return replaced(place, old, new)

    index.replace = again
    build(ann)
    assert twice
    bob = another(ann, tmp_path / "bob")
    assert serving(bob) == 1, "where the other machine put it"
    bob.index.admin.rollback(ADMIN, 2)
    assert serving(bob) == 2
    assert not list(bob.index.generations.damaged())


@pytest.mark.slow
def test_a_builder_killed_before_it_published_leaves_nothing_behind_that_counts(
    store: str, tmp_path: Path, weed: SeaweedFS
) -> None:
    ann = first(tmp_path, store)
    bob = another(ann, tmp_path / "bob")
    put(ann, {"vpn.md": "# VPN\n\nError 809.\n"})
    before = uploaded(store)
    command = [sys.executable, "-m", "tests.programs.store_worker", str(ann.settings.home), store, "die"]
    assert subprocess.run(command, cwd=ROOT, env=environment(weed)).returncode == -signal.SIGKILL
    assert uploaded(store) > before
    bob.index.following.tick()
    assert serving(bob) == 1
    assert build(ann) == 2
    bob.index.following.tick()
    assert serving(bob) == 2


@pytest.mark.slow
def test_a_damaged_file_on_the_store_is_never_served(store: str, tmp_path: Path) -> None:
    ann = first(tmp_path, store)
    bob = another(ann, tmp_path / "bob")
    before = uploaded(store)
    put(ann, {"vpn.md": "# VPN\n\nError 809.\n"})
    build(ann)
    objects = ObjectStore(store)
    new = sorted((row for row in objects.list("files/") if row.key not in before), key=lambda row: -row.size)
    whole = objects.get(new[0].key).data
    objects.put(new[0].key, whole[: len(whole) // 2])
    bob.index.following.tick()
    assert serving(bob) == 1
    assert found(bob, "fee")[0] == "fees.md"
    assert "is damaged" in bob.index.following.state.error
    objects.put(new[0].key, whole)
    bob.index.following.tick()
    assert (serving(bob), bob.index.following.state.usable) == (2, True)


@pytest.mark.slow
def test_a_damaged_copy_is_fetched_again(store: str, tmp_path: Path) -> None:
    ann = first(tmp_path, store)
    bob = another(ann, tmp_path / "bob")
    folder = bob.index.generations.folder(profile(bob))
    file = max(
        (folder / bob.index.generations.current(profile(bob)).folder / "vec").rglob("*.lance"),
        key=lambda p: p.stat().st_size,
    )
    file.write_bytes(b"x" * file.stat().st_size)
    bob = node(bob.settings.home, store)
    with pytest.raises((Corrupt, Unavailable)):
        found(bob, "fee")
    bob.index.following.tick()
    assert found(bob, "fee")[0] == "fees.md"


def test_without_the_store_machines_serve_on_and_say_so(
    store: str, tmp_path: Path, weed: SeaweedFS, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = Line(weed.ports["s3"])
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", line.url)
    ann = first(tmp_path, store)
    put(ann, {"vpn.md": "# VPN\n\nError 809.\n"})
    line.cut()
    ann.index.following.tick()
    assert not ann.index.following.state.usable
    assert "cannot be used" in ann.index.following.state.error
    assert found(ann, "fee")[0] == "fees.md"
    with pytest.raises(Unavailable, match="cannot be used"):
        build(ann)
    again = node(ann.settings.home, store)
    assert found(again, "fee")[0] == "fees.md"
    line.mend()
    again.index.following.tick()
    assert again.index.following.state.usable
    assert [job.kind for job in again.platform.jobs.recent()] == ["reindex"]
    assert build(again) == 2
    line.server.close()


@pytest.mark.slow
def test_a_line_that_breaks_while_a_generation_is_fetched_leaves_no_half_of_it(
    store: str, tmp_path: Path, weed: SeaweedFS, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = first(tmp_path, store)
    line = Line(weed.ports["s3"])
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", line.url)
    bob = another(ann, tmp_path / "bob")
    put(ann, {"vpn.md": "# VPN\n\nError 809.\n"})
    build(ann)
    line.budget = 30_000
    bob.index.following.tick()
    assert not bob.index.following.state.usable
    assert serving(bob) == 1
    folder = bob.index.generations.folder(profile(bob))
    assert [path.name[:5] for path in folder.iterdir() if path.is_dir()] == ["gen-0"]
    line.mend()
    bob.index.following.tick()
    assert serving(bob) == 2
    line.server.close()


# ---------------------------------------------------------------- what is not needed any more


def edits(app: App, numbers: range) -> None:
    for number in numbers:
        put(app, {"fees.md": f"# Fees\n\nThe fee is {number} dollars.\n"})
        build(app)


def published(app: App) -> list[int]:
    pointer = app.index.generations.copies.index.read(app.index.generations.folder(profile(app)).name)
    return [row.generation.number for row in pointer.generations]


def command(app: App, word: str, capsys: pytest.CaptureFixture[str]) -> Any:
    """What a command about the store says."""
    capsys.readouterr()
    assert main(["--home", str(app.settings.home), "--json", "--quiet", "store", word]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.slow
def test_a_generation_leaves_the_store_when_it_is_neither_kept_nor_served(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ann = first(tmp_path, store)
    bob = another(ann, tmp_path / "bob")
    bob.index.following.tick()
    edits(ann, range(2, 6))
    assert published(ann) == [5, 4, 3, 1], "bob serves the first one"
    assert [(row.name, row.alive) for row in bob.index.following.nodes(ADMIN)] == [(bob.index.following.node, True)]
    bob.index.following.tick()
    before = uploaded(store)
    monkeypatch.setenv("CONCORD_STORE", store)
    status = command(ann, "status", capsys)
    assert status["usable"]
    assert [next(iter(row["serves"].values()))[0][:10] for row in status["nodes"]] == ["gen-000005"]
    assert command(ann, "check", capsys)["ok"]
    assert command(ann, "collect", capsys)["generations"] == 1
    assert published(ann) == [5, 4, 3]
    assert uploaded(store) < before
    assert build(node(tmp_path / "ann", store)) == 5
    bob.index.following.stop()
    assert bob.index.following.nodes(ADMIN) == ()


@pytest.mark.slow
def test_files_of_a_killed_build_are_deleted_a_day_later_and_never_those_of_a_running_one(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = first(tmp_path, store)
    index = ann.index.generations.copies.index
    needed = uploaded(store)
    current = ann.index.generations.current(profile(ann))
    index._upload(current, ann.index.generations.folder(profile(ann)) / current.folder, None)
    ann.index.following.collect(ADMIN)
    assert uploaded(store) > needed, "they may belong to a build that runs"
    monkeypatch.setattr("core.storage.object_store.collection.ORPHANED", -60)
    ann.index.following.collect(ADMIN)
    assert uploaded(store) == needed
    assert found(another(ann, tmp_path / "bob"), "fee")[0] == "fees.md"


@pytest.mark.slow
def test_a_build_that_counts_on_a_file_is_safe_from_whoever_collects_meanwhile(store: str, tmp_path: Path) -> None:
    """Between its upload and its publication others publish, and everything old is collected."""
    ann = first(tmp_path, store)
    bob = another(ann, tmp_path / "bob")
    put(ann, {"vpn.md": "# VPN\n\nError 809.\n"})
    learn(bob, ann)
    index, hurried = bob.index.generations.copies.index, []
    add = index._add

    def slow(*arguments: object) -> object:
        if not hurried:
            hurried.append(arguments)
            for _ in range(5):
                ann.index.builder.build(profile(ann), full=True)
            ann.index.following.collect(ADMIN)
        return add(*arguments)

    index._add = slow
    assert build(bob) == 6
    carl = another(ann, tmp_path / "carl")
    assert serving(carl) == 6
    assert not list(carl.index.generations.damaged())
    assert found(carl, "error 809")[0] == "vpn.md"


# ---------------------------------------------------------------- models and backups


def test_models_made_on_one_machine_are_on_all(store: str, tmp_path: Path) -> None:
    ann = node(tmp_path / "ann", store)
    bob = another(ann, tmp_path / "bob")
    model = ann.settings.home / "models" / "rankers" / "plain.json"
    model.parent.mkdir(parents=True)
    model.write_text("{}", encoding="utf-8")
    ann.index.following.share()
    bob.index.following.share()
    assert bob.tuning.ranker_files.names() == ("plain",)
    (bob.settings.home / "models" / "rankers" / "plain.json").write_text("[]", encoding="utf-8")
    bob.index.following.share()
    ann.index.following.share()
    assert model.read_text(encoding="utf-8") == "[]"
    before = uploaded(store)
    ann.index.following.share()
    assert uploaded(store) == before
    assert ann.index.following.state.usable


@pytest.mark.slow
def test_a_backup_goes_to_a_store_and_comes_back(store: str, tmp_path: Path) -> None:
    ann = small_app(tmp_path / "ann", processes=NoProcesses())
    put(ann, FEES)
    address = f"{store}/backups/monday"
    saved = ann.platform.backups.upload(ADMIN, address)
    assert (saved.folder, saved.commit) == (address, ann.knowledge.repository.head())
    with pytest.raises(BadInput, match="already is something"):
        ann.platform.backups.upload(ADMIN, address)
    bob = build_app(load({}, home=tmp_path / "bob"), models=SmallModels(), processes=NoProcesses())
    assert bob.platform.backups.download(ADMIN, address).commit == saved.commit
    assert found(bob, "fee")[0] == "fees.md"
    objects = ObjectStore(address)
    objects.put("app.db", objects.get("app.db").data[:1000])
    with pytest.raises(Corrupt, match=r"damaged: app\.db"):
        build_app(load({}, home=tmp_path / "carl")).platform.backups.download(ADMIN, address)
    ObjectStore(f"{store}/served").put("index/local-0/CURRENT", b"{}")
    with pytest.raises(BadInput, match="serves machines already"):
        build_app(load({}, home=tmp_path / "dora", store=f"{store}/served")).platform.backups.download(ADMIN, address)
    with pytest.raises(NotFound, match="no backup"):
        bob.platform.backups.download(ADMIN, f"{store}/backups/tuesday")


@pytest.mark.slow
def test_readers_on_two_other_machines_see_whole_generations_only_through_many_publications(
    store: str, tmp_path: Path, weed: SeaweedFS
) -> None:
    count, names = rounds(60), ("a", "b", "c")
    ann = node(tmp_path / "ann", store)
    put(ann, {f"{name}.md": f"# Round number of {name}\n\nRound 0.\n" for name in names})
    build(ann)
    readers = []
    for name in ("bob", "carl"):
        home = another(ann, tmp_path / name).settings.home
        command = [sys.executable, "-m", "tests.programs.store_worker", str(home), store, "read", str(count)]
        readers.append(
            subprocess.Popen(
                command, cwd=ROOT, env=environment(weed), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            )
        )
    for reader in readers:
        assert reader.stdout.readline() == "ready\n", reader.stderr.read()
    for number in range(1, count + 1):
        put(ann, {f"{name}.md": f"# Round number of {name}\n\nRound {number}.\n" for name in names})
        build(ann)
    for reader in readers:
        out, errors = reader.communicate(timeout=120)
        seen = json.loads(out)
        print(seen)
        assert (seen["mixed"], seen["errors"], seen["backwards"], seen["down"], errors) == (0, 0, 0, 0, ""), seen
        assert seen["generations"] > count / 10
        assert seen["searches"] > count
    assert published(ann)[0] == count + 1
    ann.index.following.collect(ADMIN)
    assert len(published(ann)) <= 5


@pytest.mark.slow
def test_the_page_index_says_what_each_machine_serves_and_that_the_store_is_silent(
    store: str, tmp_path: Path, weed: SeaweedFS, monkeypatch: pytest.MonkeyPatch, visit: Callable[..., Any]
) -> None:
    ann = first(tmp_path, store)
    bob = another(ann, tmp_path / "bob")
    bob.index.following.tick()
    monkeypatch.setenv("CONCORD_STORE", store)
    page = visit("index", ann.settings.home)
    rows = next(table.value for table in page.dataframe if "Machine" in table.value)
    assert rows.to_dict("records")[0] | {"Last heard of": ""} == {
        "Machine": bob.index.following.node,
        "Serves": f"{profile(bob).name}: generation 1",
        "Last heard of": "",
    }
    line = Line(weed.ports["s3"])
    line.cut()
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", line.url)
    forget_app()  # a server that started later
    page = visit("index", ann.settings.home)
    assert any("The store has not answered since" in warning.value for warning in page.warning)
    assert not any("Machine" in table.value for table in page.dataframe)
    line.server.close()


def test_a_merge_of_segments_that_another_machine_overtook_is_left_for_later(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    def overtaken(profile: Profile) -> None:
        raise Conflict("Another build published a generation first.")

    monkeypatch.setattr(app.index.generations, "merge", overtaken)
    work = app.index.jobs.works()["merge"]
    assert work({"profile": profile(app).name}, lambda *_: None) == {"generation": None}
