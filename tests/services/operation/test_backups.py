"""Backups: taken while people work, whole or not there at all, and restored into nothing but an empty workspace."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import sqlite3
import tempfile
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from core import strict
from core.adapters.system.files import scratch_folder
from core.bootstrap import App, build
from core.entrypoints.cli import main
from core.errors import BadInput, Cancelled, Conflict, Corrupt, NotFound, Refused, StorageFailed, Unavailable
from core.retrieval import config as configs
from core.services.people.accounts import NewAccount, local_admin
from core.settings import load
from core.storage.git.repository import Repository
from tests.conftest import FixedClock, NoProcesses, SmallModels, demo, put, small_app, sql, write
from tests.long.test_merges import merged_ids, started

ADMIN = local_admin("ann")


def filled(home: Path) -> App:
    """A workspace with a document, an open change, an account, a promotion and an alpha model's file."""
    app = small_app(home, NoProcesses())
    put(app, {"a.md": "# A\n\nalpha words\n"})
    app.reviews.changes.propose(demo("author"), "Draft B", {"b.md": b"# B\n"})
    app.people.accounts.add(demo("admin"), NewAccount("mei", "Mei", "mei@example.org", "reviewer"), "long enough 1")
    settings = app.platform.settings
    settings.promote("local", configs.parse("rrf-60"), {}, demo("admin").person, "Promote rrf-60", settings.head())
    write(home, {"models/alpha/linear.json": "{}"})
    return app


def parts(home: Path) -> App:
    """The parts of a workspace that is not there yet."""
    return build(load({}, home=home), clock=FixedClock(), models=SmallModels(), processes=NoProcesses())


def restored(folder: Path, home: Path) -> App:
    parts(home).platform.backups.restore(ADMIN, folder)
    return small_app(home, NoProcesses())


def test_a_backup_goes_to_another_disk(tmp_path: Path) -> None:
    """git renames a pack from beside its own objects: between two disks that failed, and with it every backup."""
    app = small_app(tmp_path / "home")
    head = put(app, {"a.md": "# A\n\nText.\n"})
    places = [Path(name) for name in ("/dev/shm", "/var/tmp", "/tmp") if os.path.isdir(name)]
    other = next((place for place in places if place.stat().st_dev != tmp_path.stat().st_dev), None)
    if other is None:
        pytest.skip("no second disk at hand")
    with tempfile.TemporaryDirectory(dir=other) as disk:
        kept = Path(disk) / "kb.git"
        app.knowledge.repository.copy(kept, {"refs/heads/main": head})
        assert Repository(kept).read(head, "a.md") == b"# A\n\nText.\n"


@pytest.mark.sqlite
def test_a_restored_backup_holds_all_that_was_there_and_verifies(tmp_path: Path) -> None:
    app, copy = filled(tmp_path / "home"), tmp_path / "saved" / "one"
    token = app.people.sessions.start(app.people.accounts.actor("mei"), "cookie")
    taken = app.platform.backups.take(ADMIN, copy)
    assert json.loads((copy / "MANIFEST.json").read_text())["workspace"] == app.knowledge.repository.workspace() != ""
    assert sorted(path.name for path in copy.iterdir()) == ["MANIFEST.json", "app.db", "kb.git", "models"]
    again = restored(copy, tmp_path / "again")
    assert again.index.verifier.problems() == ()
    assert again.people.sessions.find("cookie", token) is None, "who signed out since stays out"
    assert again.knowledge.repository.heads() == app.knowledge.repository.heads()
    assert len(app.knowledge.repository.heads()) == taken.branches == 3
    assert again.reviews.changes.get(1).documents == app.reviews.changes.get(1).documents
    assert again.people.accounts.sign_in("mei", "long enough 1").role == "reviewer"
    assert again.platform.settings.production() == app.platform.settings.production()
    assert (tmp_path / "again" / "models" / "alpha" / "linear.json").read_text() == "{}"
    assert again.search.searcher.search("alpha").hits[0].path == "a.md"
    assert [entry.action for entry in app.people.audit.entries(ADMIN, limit=1)] == ["back up"]
    assert "restore" in [entry.action for entry in again.people.audit.entries(ADMIN, limit=3)]


@pytest.mark.sqlite
def test_a_backup_with_the_index_is_searched_without_a_build(tmp_path: Path) -> None:
    app = filled(tmp_path / "home")
    profile = app.platform.settings.profile()
    app.index.builder.build(profile)
    app.platform.backups.take(ADMIN, tmp_path / "saved", with_index=True)
    again = restored(tmp_path / "saved", tmp_path / "again")
    assert again.index.generations.all(profile) == app.index.generations.all(profile)


def test_a_copy_of_the_database_is_of_one_moment_and_later_writers_do_not_wait_for_it(tmp_path: Path) -> None:
    app = filled(tmp_path / "home")
    backups, before = app.platform.backups, app.knowledge.repository.head()
    with backups.database.frozen(backups.repository.heads) as (heads, copy):
        put(app, {"late.md": "# Late\n"})
        app.people.accounts.add(demo("admin"), NewAccount("late", "Late", "late@example.org", "reader"))
        copy(tmp_path / "copy.db")
    assert heads["refs/heads/main"] == before
    with closing(sqlite3.connect(tmp_path / "copy.db")) as connection:
        ids = {row[0] for row in connection.execute("SELECT id FROM accounts")}
        commits = {row[0] for row in connection.execute("SELECT commit_id FROM audit")}
    assert "mei" in ids
    assert "late" not in ids
    assert app.knowledge.repository.head() not in commits


class Blind(Repository):
    """git sees no branch where Concord sees documents."""

    def heads(self) -> dict[str, str]:
        return {}


def test_a_backup_that_lacks_documents_fails_and_saves_nothing(tmp_path: Path) -> None:
    backups = filled(tmp_path / "home").platform.backups
    with pytest.raises(Corrupt, match="hold 0 of 1 files of the knowledge base: 'a.md' is missing"):
        replace(backups, repository=Blind(backups.repository.path)).take(ADMIN, tmp_path / "saved")
    assert [path.name for path in tmp_path.iterdir()] == ["home"]


def test_a_backup_replaces_nothing_and_lies_outside_the_workspace(tmp_path: Path) -> None:
    app = filled(tmp_path / "home")
    backups = app.platform.backups
    backups.take(ADMIN, tmp_path / "saved")
    with pytest.raises(BadInput, match="already is something"):
        backups.take(ADMIN, tmp_path / "saved")
    with pytest.raises(BadInput, match="inside the workspace"):
        backups.take(ADMIN, tmp_path / "home" / "saved")
    with pytest.raises(Refused, match="Only admins may back up"):
        backups.take(demo("reviewer"), tmp_path / "other")
    with pytest.raises(Refused, match="Only admins may restore"):
        backups.restore(demo("reviewer"), tmp_path / "saved")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "saved"]


def test_a_backup_that_fails_leaves_nothing_and_a_killed_one_is_swept_by_the_next(tmp_path: Path) -> None:
    app, place = filled(tmp_path / "home"), tmp_path / "saved"

    def stop(done: int, total: int, what: str) -> None:
        if what == "Writing the manifest":
            raise Cancelled("Stopped.")

    with pytest.raises(Cancelled):
        app.platform.backups.take(ADMIN, place / "one", progress=stop)
    assert list(place.iterdir()) == []
    (place / ".concord-backup-killed" / "kb.git").mkdir(parents=True)
    with scratch_folder(place, ".concord-backup-") as living:
        app.platform.backups.take(ADMIN, place / "one")
        assert sorted(path.name for path in place.iterdir()) == [living.name, "one"]


@pytest.mark.sqlite
@pytest.mark.parametrize("name", ["app.db", "kb.git/HEAD", "models/alpha/linear.json", "MANIFEST.json"])
@pytest.mark.parametrize("damage", ["gone", "changed", "cut"])
def test_a_damaged_backup_is_refused_by_the_name_of_the_file(
    saved: Path, tmp_path: Path, name: str, damage: str
) -> None:
    folder = shutil.copytree(saved, tmp_path / "saved")
    whole = (folder / name).read_bytes()
    if damage == "gone":
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(whole[:-1] if damage == "cut" else whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises((Corrupt, NotFound), match=name):
        parts(tmp_path / "again").platform.backups.restore(ADMIN, folder)
    assert not (tmp_path / "again").exists()


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("backups")
    filled(folder / "home").platform.backups.take(ADMIN, folder / "saved")
    return folder / "saved"


def sealed(folder: Path, *paths: str) -> None:
    """The manifest of a backup as somebody would write it who changed files and added some."""
    manifest = json.loads((folder / "MANIFEST.json").read_text())
    del manifest["sha256"]
    names = [*(row["path"] for row in manifest["files"]), *paths]

    def size(file):
        return {"size": file.stat().st_size, "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}

    manifest["files"] = [{"path": name, **size(folder / name)} for name in names]
    seal = {**manifest, "sha256": hashlib.sha256(strict.canonical(manifest).encode()).hexdigest()}
    (folder / "MANIFEST.json").write_text(strict.canonical(seal))


@pytest.mark.parametrize(
    "path",
    ["kb.git/../../saved/app.db", "/etc/hostname", "kb.git/hooks/reference-transaction", "kb.git/info/attributes"],
)
def test_a_backup_writes_only_where_a_backup_does(saved: Path, tmp_path: Path, path: str) -> None:
    folder = shutil.copytree(saved, tmp_path / "saved")
    if path.startswith("kb.git/") and ".." not in path:
        write(folder, {path: "#!/bin/sh\n"})
    sealed(folder, path)
    with pytest.raises(Corrupt, match=f"is damaged: {path}. Nothing was restored"):
        parts(tmp_path / "again").platform.backups.restore(ADMIN, folder)
    assert not (tmp_path / "again" / "kb.git").exists()


def test_settings_of_git_that_name_programs_are_not_restored(saved: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(saved, tmp_path / "saved")
    with open(folder / "kb.git" / "config", "a", encoding="utf-8") as config:
        config.write(f'[log]\n\tshowSignature = true\n[gpg]\n\tprogram = "touch {tmp_path}/ran"\n')
    sealed(folder)
    with pytest.raises(
        Corrupt, match=r"kb\.git/config sets gpg\.program, log\.showsignature, which Concord never does"
    ):
        parts(tmp_path / "again").platform.backups.restore(ADMIN, folder)
    assert not (tmp_path / "ran").exists()


def test_a_backup_of_another_format_is_refused(saved: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(saved, tmp_path / "saved")
    manifest = {**json.loads((folder / "MANIFEST.json").read_text()), "format": 2}
    del manifest["sha256"]
    sealed = {**manifest, "sha256": hashlib.sha256(strict.canonical(manifest).encode()).hexdigest()}
    (folder / "MANIFEST.json").write_text(strict.canonical(sealed))
    with pytest.raises(BadInput, match="format 2"):
        parts(tmp_path / "again").platform.backups.restore(ADMIN, folder)


@pytest.mark.sqlite
def test_a_restore_replaces_nothing(saved: Path, tmp_path: Path) -> None:
    home = write(tmp_path / "home", {"mine.txt": "mine"})
    with pytest.raises(BadInput, match="is not empty"):
        parts(home).platform.backups.restore(ADMIN, saved)
    assert [path.name for path in home.iterdir()] == ["mine.txt"]


@pytest.mark.sqlite
def test_an_interrupted_restore_says_how_to_go_on_and_goes_on(saved: Path, tmp_path: Path) -> None:
    home = tmp_path / "again"

    def stop(done: int, total: int, what: str) -> None:
        if what == "Checking repository and database":
            raise Cancelled("Stopped.")

    with pytest.raises(Cancelled):
        parts(home).platform.backups.restore(ADMIN, saved, stop)
    with pytest.raises(Unavailable, match="half restored. Finish restoring it") as raised:
        small_app(home, NoProcesses())
    assert raised.value.at_terminal().endswith(f"python -m core restore {saved}")
    assert restored(saved, home).index.verifier.problems() == ()


@pytest.mark.sqlite
def test_a_restore_that_fills_the_disk_says_so(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the check at its end is the first to notice, and where not even the folder fits."""
    restoring = parts(tmp_path / "again")

    def full(*_):
        return ("index local: the graph cannot be read: [Errno 28] No space left on device",)

    with pytest.raises(StorageFailed, match="The disk is full"):
        replace(restoring.platform.backups, ready=full).restore(ADMIN, saved)

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "mkdir", refuse)
        with pytest.raises(StorageFailed, match="The disk is full"):
            restoring.platform.backups.restore(ADMIN, saved)
    restoring.platform.backups.restore(ADMIN, saved)


def test_two_restores_into_one_workspace_do_not_meet(saved: Path, tmp_path: Path) -> None:
    home = tmp_path / "again"

    def second(done: int, total: int, what: str) -> None:
        if what == "Copying files":
            with pytest.raises(Conflict, match="Another process is restoring"):
                parts(home).platform.backups.restore(ADMIN, saved)

    parts(home).platform.backups.restore(ADMIN, saved, second)
    assert small_app(home, NoProcesses()).knowledge.repository.head()


@pytest.mark.sqlite
def test_a_restore_that_does_not_verify_says_what_disagrees(tmp_path: Path) -> None:
    app = filled(tmp_path / "home")
    sql(
        app,
        "INSERT INTO audit (id, at, who, name, role, door, action, what, commit_id) VALUES (-1, '', '', '', '', '', "
        "'', '', 'abc')",
    )
    app.platform.backups.take(ADMIN, tmp_path / "saved")
    with pytest.raises(Corrupt, match="app.db holds other rows than were written, in audit"):
        restored(tmp_path / "saved", tmp_path / "again")


@pytest.mark.sqlite
def test_backup_and_restore_are_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home, again, copy = tmp_path / "home", tmp_path / "again", tmp_path / "saved"
    small_app(home, NoProcesses())
    assert main(["--home", str(home), "backup", str(copy), "--quiet", "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert set(value) == {"folder", "created", "version", "commit", "branches", "files", "bytes"}
    assert main(["--home", str(home), "backup", str(tmp_path / "no"), "--as", "author"]) == 1
    assert "Only admins may back up the workspace" in capsys.readouterr().err
    assert main(["--home", str(again), "restore", str(copy), "--as", "admin"]) == 1
    assert "without --as" in capsys.readouterr().err
    assert main(["--home", str(again), "restore", str(copy), "--quiet"]) == 0
    assert f"Restored {again} from {copy}" in capsys.readouterr().out


@pytest.mark.slow
def test_backups_taken_while_many_merge_hold_exactly_what_was_acknowledged(tmp_path: Path) -> None:
    """Before a backup begins, everything acknowledged is in it; nothing that began after it ended is."""
    home = tmp_path / "home"
    app = small_app(home, NoProcesses())
    put(app, {"a.md": "# A\n"})
    crews = [started(home, f"crew{n}", 3, 5) for n in range(3)]
    heads: list[tuple[str, str]] = []
    while any(crew.poll() is None for crew, _ in crews):
        before = app.knowledge.repository.head()
        app.platform.backups.take(ADMIN, tmp_path / "saved" / str(len(heads)))
        heads.append((before, app.knowledge.repository.head()))
        time.sleep(1.0)
    said = [line.split() for _, log in crews for line in log.read_text().splitlines()]
    assert len([line for line in said if line[0] == "merged"]) == 3 * 3 * 5
    assert len(heads) >= 3
    for n, (before, after) in enumerate(heads):
        again = restored(tmp_path / "saved" / str(n), tmp_path / "again" / str(n))
        main = again.knowledge.repository.head()
        assert again.knowledge.repository.contains(main, before)
        assert app.knowledge.repository.contains(after, main)
        assert set(merged_ids(again)) == {change.id for change in again.reviews.changes.all(state="merged")}
        for change in again.reviews.changes.all(state="open"):
            assert again.knowledge.repository.entries(change.head), "its text is there"
        assert again.index.verifier.problems() == ()
    print(f"{len(heads)} backups during {len(said)} lines of work, all restored and verified")
