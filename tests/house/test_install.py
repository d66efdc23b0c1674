"""Installing packages (.ci/install.py): what was interrupted is not taken for whole, and a failure says its cause."""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from core.adapters.models.hub import HubEmbedder
from core.errors import Unavailable
from tests.conftest import ROOT

install: Any = runpy.run_path(str(ROOT / ".ci" / "install.py"))["install"]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "first.txt").touch()
    (tmp_path / "second.txt").touch()
    return tmp_path


def ended(place: Path, *commands: list[str], lists: Iterable[str] = ("first.txt",)) -> tuple[int, list[bool], set[str]]:
    """The exit code, whether everything was put in place again, and the files that are left beside the lists."""
    asked: list[bool] = []

    def ways(file: Path, again: bool) -> Iterable[list[str]]:
        asked.append(again)
        return [[word.format(file=file, place=place) for word in command] for command in commands]

    code = install(place / ".stamp", [place / name for name in lists], ways)
    return code, asked, {path.name for path in place.iterdir()} - {"first.txt", "second.txt", ".install.lock"}


def test_a_list_is_installed_once(place: Path) -> None:
    assert ended(place, ["test", "!", "-e", "{place}/.stamp"]) == (0, [True], {".stamp"})
    assert ended(place, ["false"]) == (0, [], {".stamp"})
    later = (place / ".stamp").stat().st_mtime + 1
    os.utime(place / "first.txt", (later, later))
    assert ended(place, ["test", "!", "-e", "{place}/.stamp"]) == (0, [False], {".stamp"})


def test_the_second_way_and_the_second_list_are_taken_where_the_first_fails(place: Path) -> None:
    assert ended(place, ["false"], ["true"]) == (0, [True], {".stamp"})
    (place / ".stamp").unlink()
    assert ended(
        place,
        ["grep", "-q", "second", "/dev/null"],
        ["test", "{file}", "=", str(place / "second.txt")],
        lists=("first.txt", "second.txt"),
    ) == (0, [True, True], {".stamp"})


def test_a_failure_leaves_no_stamp_and_says_its_cause(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ended(place, ["sh", "-c", "echo Found no such wheel.; exit 3"]) == (1, [True], {".stamp.failed"})
    assert "Found no such wheel. All of it: " in capsys.readouterr().err
    assert ended(place, ["true"]) == (0, [True], {".stamp"})


def test_a_model_of_a_hub_says_what_became_of_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(Unavailable, match=r"need torch, which is not here yet\. Install the missing packages"):
        HubEmbedder("any")
    (tmp_path / ".torch.failed").write_text("ERROR: No space left on device\n\n")
    with pytest.raises(
        Unavailable, match=r"Installing it failed: ERROR: No space left on device\. Install the missing packages"
    ):
        HubEmbedder("any")
    (tmp_path / ".torch.log").touch()
    with pytest.raises(Unavailable, match="It is being installed: try again in a minute"):
        HubEmbedder("any")
