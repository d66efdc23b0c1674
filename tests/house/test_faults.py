"""The list of faults stays true to the code; what the suite makes of them is told by `make faults`."""

from __future__ import annotations

import ast
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from tests import faults
from tests.conftest import ROOT
from tests.faults import FAULTS


def test_every_fault_can_be_made_and_leaves_python() -> None:
    texts = {fault.file: (ROOT / fault.file).read_text(encoding="utf-8") for fault in FAULTS}
    assert [fault for fault in FAULTS if texts[fault.file].count(fault.old) != 1] == []
    for fault in FAULTS:
        ast.parse(fault.wrong(texts[fault.file]))


def test_there_are_sixty_over_six_rooms_each_with_tests_that_exist() -> None:
    rooms = Counter(fault.room for fault in FAULTS)
    assert len(FAULTS) >= 60
    assert len(rooms) == 6
    assert min(rooms.values()) >= 6
    named = {name.partition("::")[::2] for fault in FAULTS for name in fault.tests.split()}
    texts = {file: (ROOT / faults.test_file(file)).read_text(encoding="utf-8") for file, _ in named}
    assert [
        pair for pair in sorted(named) if pair[1] and f"def {pair[1].partition('[')[0]}(" not in texts[pair[0]]
    ] == []


def test_a_clone_in_which_nothing_was_compiled_is_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clone, copy = tmp_path / "clone", tmp_path / "copy"
    subprocess.run(["git", "init", "--quiet", clone], check=True)
    (clone / "tests").mkdir()
    (clone / "tests" / "right.py").write_text("right = True\n")
    monkeypatch.setattr(faults, "ROOT", clone)
    assert (faults.scratch(copy) / "tests" / "right.py").read_text() == "right = True\n"
    assert (copy / ".models").is_symlink()
