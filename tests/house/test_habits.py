"""What the project promises about itself: one version, packages by hash, a list of commands that is complete."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from core import __version__

ROOT = Path(__file__).resolve().parents[2]
LOCKS = (
    "requirements.txt",
    ".ci/uv.txt",
    ".ci/torch-cpu.txt",
    ".ci/torch-cuda.txt",
    "tests/requirements.txt",
    "bench/requirements.txt",
)


def pins(path: str) -> dict[str, str]:
    """Package to version, under the normalised name."""
    found = re.findall(r"^([\w.-]+)(?:\[[\w,]+\])?==([^\s;]+)", (ROOT / path).read_text(), re.MULTILINE)
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in found}


def test_the_version_is_the_newest_one_of_the_changelog() -> None:
    assert re.findall(r"^## \[([\d.]+)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[0] == __version__
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dynamic"] == ["version"]


@pytest.mark.parametrize("path", LOCKS)
def test_every_package_has_a_hash_and_no_file_names_a_place(path: str) -> None:
    text = (ROOT / path).read_text()
    entries = re.split(r"^(?=\w)", text, flags=re.MULTILINE)[1:]
    assert entries
    assert all("--hash=sha256:" in entry for entry in entries)
    assert not re.search(r"://|index-url|find-links", text)


@pytest.mark.parametrize("folder", ["", "tests/", "bench/"])
def test_what_is_asked_for_is_what_is_locked(folder: str) -> None:
    locked = pins(f"{folder}requirements.txt")
    if not folder:
        locked |= pins(".ci/torch-cuda.txt") | pins(".ci/uv.txt")
    assert pins(f"{folder or '.ci/'}requirements.in").items() <= locked.items()


def test_both_builds_of_torch_have_one_version() -> None:
    assert pins(".ci/torch-cpu.txt")["torch"] == pins(".ci/torch-cuda.txt")["torch"] + "+cpu"


def test_make_help_lists_every_command() -> None:
    text = (ROOT / "Makefile").read_text()
    quiet = ["make", "--no-print-directory", "help"]  # under `make test` it would say which folder it enters
    listed = subprocess.run(quiet, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    (commands,) = re.findall(r"^\.PHONY: (.+)$", text, re.MULTILINE)
    assert set(commands.split()) == {line.split()[1] for line in listed.splitlines()}
