"""Disks that are full or read-only: one sentence, nothing half-written, and everything goes on when there is space
again.
"""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path

import pytest
from sqlalchemy import event

from core.adapters.system.files import write_atomic
from core.bootstrap import App
from core.entrypoints.cli import main
from core.errors import BadInput, Conflict, StorageFailed, Unavailable, storage_failure
from core.services.people.accounts import DEMO, NewAccount, local_admin
from tests.conftest import NoProcesses, demo, put, small_app
from tests.programs.kill_server import parts

ADMIN = local_admin("ann")
_, AUTHOR, _, REVIEWER, _, _ = DEMO


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small disk of its own."""
    place = tmp_path / "disk"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", str(place)], capture_output=True).returncode:
        pytest.skip("mounting a small disk needs more rights than this user has")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def test_a_small_file_is_replaced_in_one_step_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "CURRENT"
    path.write_text("old")
    with path.open() as reading:
        write_atomic(path, "new")
        assert reading.read() == "old", "whoever reads it goes on in the old one"
    assert path.read_text() == "new"
    assert [file.name for file in tmp_path.iterdir()] == ["CURRENT"]


def remount(disk: Path, mode: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{mode}", str(disk)], check=True)


def fill(disk: Path, leave: int) -> Path:
    """Take the space of a disk, but for some bytes."""
    ballast = disk / "ballast"
    free = os.statvfs(disk)
    with open(ballast, "wb") as file:
        os.posix_fallocate(file.fileno(), 0, max(1, free.f_bavail * free.f_bsize - leave))
    return ballast


def merge(app: App, name: str) -> str:
    change = app.reviews.changes.propose(AUTHOR, name, {f"{name}.md": f"# {name}\n\n{'words ' * 2000}\n".encode()})
    app.reviews.changes.submit(AUTHOR, change.id)
    app.reviews.discussion.approve(REVIEWER, change.id)
    return app.reviews.merger.merge(AUTHOR, change.id).merged


ACTS = ("merge", "build", "account", "backup")


def managed(app: App, act: str, disk: Path, leave: int, merged: list[str]) -> bool:
    """Whether there was space enough for it; any other error is one too many."""
    try:
        if act == "merge":
            merged.append(merge(app, f"m{leave}"))
        elif act == "build":
            app.index.builder.build(app.platform.settings.profile(), full=True)
        elif act == "account":
            app.people.accounts.add(demo("admin"), NewAccount(f"a{leave}", "A", f"a{leave}@example.org", "reader"))
        else:
            app.platform.backups.take(ADMIN, disk / f"saved{leave}")
    except StorageFailed as error:
        assert "free space" in str(error).lower()
        return False
    return True


def test_a_full_disk_is_one_sentence_and_nothing_acknowledged_is_lost(disk: Path) -> None:
    app = small_app(disk / "home", NoProcesses())
    put(app, {"a.md": "# A\n\nalpha words\n"})
    profile = app.platform.settings.profile()
    app.index.builder.build(profile)
    merged: list[str] = []
    refused: set[str] = set()
    for leave in (0, 10_000, 60_000, 400_000):
        ballast = fill(disk, leave)
        refused |= {name for name in ACTS if not managed(app, name, disk, leave, merged)}
        assert not list(app.index.generations.folder(profile).glob("building-*"))
        assert not list(disk.glob(".concord-*"))
        assert app.search.searcher.search("alpha").hits[0].path == "a.md"
        ballast.unlink()
    assert {"merge", "build"} <= refused
    merged.append(merge(app, "after"))
    app.index.builder.build(profile)
    assert small_app(disk / "home", NoProcesses()).index.verifier.problems() == ()
    assert all(app.knowledge.repository.contains("main", commit) for commit in merged)


def leave_free(disk: Path, what: str, free: int) -> None:
    """Have so many pages, or names of files, left on a disk."""
    have = os.statvfs(disk)
    used = (have.f_blocks - have.f_bfree + free) * have.f_bsize
    remount(disk, f"size={used}" if what == "pages" else f"nr_inodes={have.f_files - have.f_ffree + free}")


@pytest.mark.slow
@pytest.mark.parametrize(("what", "most"), [("pages", 60), ("files", 40)])
def test_a_disk_that_is_full_at_any_step_of_a_merge_a_build_or_a_backup_loses_nothing(
    disk: Path, what: str, most: int
) -> None:
    app = small_app(disk / "home", NoProcesses())
    put(app, {"a.md": "# A\n\nalpha words\n"})
    profile, merged, refused = app.platform.settings.profile(), [], 0
    app.index.builder.build(profile)
    for free in range(most):
        leave_free(disk, what, free)
        for act in (
            lambda free=free: merged.append(merge(app, f"m{free}")),
            lambda: app.index.builder.build(profile, full=True),
            lambda free=free: app.platform.backups.take(ADMIN, disk / f"saved{free}"),
        ):
            try:
                act()
            except StorageFailed:
                refused += 1
        assert app.search.searcher.search("alpha").hits[0].path == "a.md"
        remount(disk, "size=64m,nr_inodes=50000")
        for saved in disk.glob("saved*"):
            app.platform.backups.archives.checked(saved)
            shutil.rmtree(saved)
    assert refused >= most
    merged.append(merge(app, "after"))
    app.index.builder.build(profile)
    again = small_app(disk / "home", NoProcesses())
    assert again.index.verifier.problems() == ()
    assert all(again.knowledge.repository.contains("main", commit) for commit in merged)


@contextmanager
def full(app: App) -> Iterator[None]:
    """The disk is full whenever the database commits."""

    def refuse(_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    event.listen(app.reviews.changes.database.engine, "commit", refuse)
    try:
        yield
    finally:
        event.remove(app.reviews.changes.database.engine, "commit", refuse)


def test_a_merge_on_main_is_never_reported_as_failed_and_is_recorded_once_there_is_space(app: App) -> None:
    put(app, {"a.md": "# A\n"})
    change = app.reviews.changes.propose(AUTHOR, "B", {"b.md": b"# B\n"})
    app.reviews.changes.submit(AUTHOR, change.id)
    app.reviews.discussion.approve(REVIEWER, change.id)
    with full(app):
        for _ in range(2):
            merged = app.reviews.merger.merge(AUTHOR, change.id)
            assert (merged.state, merged.merged) == ("merged", app.knowledge.repository.head())
            assert "do not need to merge it again" in merged.warnings[0]
    app.platform.workspace.catch_up()
    assert app.reviews.changes.get(change.id).merged == merged.merged
    assert list(app.people.audit.problems()) == []
    with pytest.raises(Conflict, match="This change is already merged"):
        app.reviews.merger.merge(AUTHOR, change.id)


def test_what_git_has_is_reported_as_done_and_what_it_lacks_as_failed(app: App) -> None:
    put(app, {"a.md": "# A\n"})
    repository, changes = app.knowledge.repository, app.reviews.changes
    change, tuning = changes.propose(AUTHOR, "B", {"b.md": b"# B\n"}), app.tuning.production
    folder, main = {"c.md": b"# C\n"}, repository.head()
    with full(app):
        assert changes.edit(AUTHOR, change.id, {"b.md": b"# B2\n"}).head != change.head
        for done in (
            lambda: app.knowledge.freshness.confirm(REVIEWER, "a.md", date(2999, 1, 1)),
            lambda: app.reviews.merger.importing(
                ADMIN, "C", lambda: app.knowledge.documents.save(ADMIN, folder, [], "C")
            ),
        ):
            done()
            assert main != (main := repository.head())
        tuning.promote(ADMIN, config="bm25", reason="Fewer models")
        assert tuning.team_settings.production().config.legs == ("bm25",)
        with pytest.raises(StorageFailed):
            changes.propose(AUTHOR, "D", {"d.md": b"# D\n"})
        with pytest.raises(StorageFailed):
            changes.submit(AUTHOR, change.id)
    assert [known.title for known in changes.all()] == ["B"]
    assert changes.get(change.id).state == "draft"
    app.platform.workspace.catch_up()
    assert list(app.people.audit.problems()) == []


def test_a_branch_that_did_not_fit_on_the_disk_leaves_no_trace(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its log is written first, and a log without its branch means a loss."""
    put(app, {"a.md": "# A\n"})
    logs = app.knowledge.repository.path / "logs" / "refs" / "heads"
    before = (logs / "main").read_bytes()

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("core.storage.git.plumbing.replace", full)
        with pytest.raises(StorageFailed):
            app.reviews.changes.propose(AUTHOR, "B", {"b.md": b"# B\n"})
        with pytest.raises(StorageFailed):
            put(app, {"a.md": "# A again\n"})
    assert (logs / "main").read_bytes() == before
    assert list(logs.rglob("1")) == []
    assert app.reviews.changes.propose(AUTHOR, "B", {"b.md": b"# B\n"}).state == "draft"


def test_a_backup_and_a_restore_name_the_file_that_did_not_fit_and_the_restore_goes_on_with_space(
    app: App, disk: Path, tmp_path: Path
) -> None:
    put(app, {"a.md": "# A\n\nalpha words\n"})
    app.platform.backups.take(ADMIN, tmp_path / "saved")
    home = disk / "home"
    ballast = fill(disk, 200_000)
    with pytest.raises(StorageFailed, match=f"The disk is full: {disk}/.concord-.*/app.db could not be written"):
        app.platform.backups.take(ADMIN, disk / "saved")
    with pytest.raises(StorageFailed, match=f"The disk is full: {home}/app.db could not be written"):
        parts(home).platform.backups.restore(ADMIN, tmp_path / "saved")
    with pytest.raises(Unavailable, match="half restored. Finish restoring it"):
        small_app(home, NoProcesses())
    ballast.unlink()
    parts(home).platform.backups.restore(ADMIN, tmp_path / "saved")
    again = small_app(home, NoProcesses())
    assert (again.knowledge.documents.all()[0].path, again.index.verifier.problems()) == ("a.md", ())


def test_a_read_only_workspace_is_searched_and_read(disk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = disk / "home"
    app = small_app(home, NoProcesses())
    put(app, {"a.md": "# A\n\nalpha words\n"})
    app.index.builder.build(app.platform.settings.profile())
    app.platform.backups.database.engine.dispose()
    remount(disk, "ro")
    again = small_app(home, NoProcesses())
    assert again.search.searcher.search("alpha").hits[0].path == "a.md"
    assert again.knowledge.documents.all()[0].path == "a.md"
    assert again.people.accounts.all()
    assert again.platform.workspace.catch_up() is None
    assert main(["--home", str(home), "documents", "show", "a.md"]) == 0
    assert main(["--home", str(home), "reindex", "--full"]) == 1
    assert "The disk is read-only" in capsys.readouterr().err
    for act in (
        lambda: merge(again, "b"),
        lambda: again.index.builder.build(again.platform.settings.profile(), full=True),
        lambda: again.people.accounts.add(demo("admin"), NewAccount("x", "X", "x@example.org", "reader")),
        lambda: again.platform.settings.add_profile(again.platform.settings.profile("quick"), ADMIN.person),
    ):
        with pytest.raises((StorageFailed, BadInput)):
            act()
    remount(disk, "rw")
    merge(again, "b")
    assert again.people.accounts.get("author").role == "author"
    assert again.index.verifier.problems()[0].startswith("index local: generation 1 is at")


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO])
def test_a_build_that_a_disk_refuses_leaves_no_folder_and_is_built_later(
    app: App, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    put(app, {"a.md": "# A\n\nalpha words\n"})
    profile = app.platform.settings.profile()

    def refuse(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        patch.setattr("core.storage.index.generations.fsync_tree", refuse)
        with pytest.raises(StorageFailed, match="The disk"):
            app.index.builder.build(profile)
    assert not list(app.index.generations.folder(profile).glob("building-*"))
    assert app.index.builder.build(profile).fresh


def test_a_job_that_a_disk_refuses_ends_with_the_sentence(app: App) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    job = app.platform.jobs.start("reindex", {})
    ended = app.platform.jobs.run(job.id, {"reindex": refuse})
    assert (ended.state, ended.error.split(":")[0]) == ("failed", "The disk is full")


def test_a_page_says_the_same_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    from pages.ui.server import errors

    shown: list[str] = []
    monkeypatch.setattr(errors.st, "error", shown.append)
    assert errors.show(OSError(errno.EDQUOT, os.strerror(errno.EDQUOT), "data/app.db"))
    assert shown[0].replace("\\", "").startswith("The disk is full: data/app.db could not be written.")


def test_an_error_of_a_disk_without_a_free_block_or_name_is_called_full(disk: Path) -> None:
    fill(disk, 0)
    assert str(storage_failure("disk I/O error", disk / "app.db")).startswith("The disk is full: ")
    remount(disk, f"size=64m,nr_inodes={os.statvfs(disk).f_files - os.statvfs(disk).f_ffree}")
    assert str(storage_failure("unable to open database file", disk / "app.db")).startswith("The disk is full: ")


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (RuntimeError("IO Error: No space left on device"), "The disk is full"),
        ("error: insufficient permission for adding an object to repository database", "The disk is read-only"),
        (RuntimeError("disk I/O error"), "The disk reports an error"),
        ("fatal: unable to create temporary object directory", "The disk reports an error"),
    ],
)
def test_whatever_a_library_says_about_a_disk_becomes_one_sentence(error: Exception | str, sentence: str) -> None:
    outer = ValueError("could not write")
    outer.__cause__ = error if isinstance(error, Exception) else None
    for reported in (error, outer) if isinstance(error, Exception) else (error,):
        assert str(storage_failure(reported, "data")).startswith(f"{sentence}: data")
    assert storage_failure(ValueError("something else")) is None
