"""A workspace is its owner's alone: what is written, what was there before, and what `verify` says."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.adapters.system.files import exposed
from core.bootstrap import App
from tests.conftest import NoProcesses, put, small_app


@pytest.fixture
def usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.fixture
def app(tmp_path: Path, usual_umask: None) -> App:
    made = small_app(tmp_path / "home", NoProcesses())
    put(made, {"a.md": "# Note\n\nA line.\n"})
    return made


def others_may(home: Path) -> list[str]:
    paths = (home, *home.rglob("*"))
    return [str(path.relative_to(home)) for path in paths if not path.is_symlink() and path.stat().st_mode & 0o077]


def test_what_a_workspace_writes_nobody_else_reads(app: App) -> None:
    home = app.settings.home
    assert len(list(home.rglob("*"))) > 20
    assert others_may(home) == []
    assert list(exposed(home)) == []
    if (home / "app.db").exists():
        assert (home / "app.db").stat().st_mode & 0o777 == 0o600


def test_an_open_workspace_is_named_and_closed_at_the_next_start(app: App, tmp_path: Path) -> None:
    home, outside = app.settings.home, tmp_path / "outside"
    (home / "notes").mkdir()
    outside.mkdir()
    (outside / "readme").write_text("for everybody")
    (home / "index" / "linked").symlink_to(outside)
    os.link(home / "kb.git" / "HEAD", outside / "HEAD")
    for path in (home, outside, *home.rglob("*"), *outside.rglob("*")):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode | (0o055 if path.is_dir() else 0o044))
    (problem,) = [line for line in app.index.verifier.problems() if "open to other users" in line]
    assert problem.startswith("the workspace is open to other users: the folder itself, ")
    assert problem.endswith(f"chmod -R go= {home}")
    again = small_app(home, NoProcesses())
    assert others_may(home) == ["notes"], "what is not Concord's stays as it is"
    assert (outside / "readme").stat().st_mode & 0o044
    assert list(exposed(home)) == []
    assert again.knowledge.documents.all()
    assert (home / "kb.git" / "HEAD").read_bytes() == (outside / "HEAD").read_bytes()
