"""The app is walked by itself, as each role, and nothing that people would call broken is met."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests import walker
from tests.conftest import rounds
from tests.walker_bases import HANDBOOK, TITLES
from tests.walker_controls import OUTSIDE, Families, spared, view_of
from tests.walker_coverage import PRESSED, TRIES, Log

pytestmark = pytest.mark.browser
SEED = 1


def test_a_short_walk_meets_nothing_broken(chromium: Any, tmp_path: Path) -> None:
    log = Log()
    with walker.served("odd", tmp_path, len(TITLES), CONCORD_WORKERS="0") as place:
        walker.walk(chromium, place, "admin", log, seed=SEED, steps=3)
    assert not log.findings, log.table()


@pytest.mark.slow(minutes=10)
@pytest.mark.parametrize("base", list(walker.BASES))
def test_a_long_walk_as_each_role_meets_nothing_broken(chromium: Any, tmp_path: Path, base: str) -> None:
    if base == "handbook" and not HANDBOOK.is_dir():
        pytest.skip("NO HANDBOOK BESIDE THE CHECKOUT: the long walk on a real handbook needs shared/data/markdown")
    log = Log()
    with walker.served(base, tmp_path) as place:
        for role in walker.ROLES:
            walker.walk(chromium, place, role, log, seed=SEED, steps=rounds(100))
    print(log.table())
    assert not log.findings, log.table()


def test_an_address_names_its_view_by_page_parameters_and_tab() -> None:
    assert view_of("http://127.0.0.1:1/reviews?change=7&side=Chunks") == "/reviews change side=Chunks"


HERE = "http://127.0.0.1:1"
BUTTON = {"name": "Edit", "href": "", "kind": "button", "where": "main", "chain": "BUTTON<DIV", "key": "", "off": False}


@pytest.mark.parametrize(
    ("name", "pressed"),
    [("Delete", False), ("delete Delete", False), ("Merge", False), ("Cancel", True), ("Edit", True), ("delete Delete expand_more", True)],
)  # fmt: skip
def test_what_destroys_is_spared(name: str, pressed: bool) -> None:
    assert (spared({**BUTTON, "name": name}, HERE) == "") is pressed
    assert not spared({**BUTTON, "name": name, "kind": "tab"}, HERE), "a tab of that name is looked at"


def test_what_leaves_the_app_is_spared_with_its_reason() -> None:
    assert spared({**BUTTON, "kind": "link", "href": "https://example.org"}, HERE) == OUTSIDE


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"kind": "link", "name": "Cash handling"}, {"kind": "link", "name": "Wire transfers"}),
        ({"name": "Fold Cash handling"}, {"name": "Fold Wire transfers"}),
        ({"name": "Show 3 more"}, {"name": "Show 12 more"}),
        ({"name": "history History expand_more"}, {"name": "history History expand_less"}),
        ({"key": "discard_17"}, {"key": "discard_4"}),
        ({"key": "role_admin"}, {"key": "role_author"}),
    ],
)
def test_controls_that_differ_by_data_alone_are_one(one: dict[str, str], other: dict[str, str]) -> None:
    families = Families(["Cash handling", "Wire transfers", "admin", "author"])
    assert families.of({**BUTTON, **one}, f"{HERE}/search?q=a") == families.of({**BUTTON, **other}, f"{HERE}/search")
    assert families.of({**BUTTON, **one}, f"{HERE}/graph") != families.of({**BUTTON, **one}, f"{HERE}/search")


def test_what_was_pressed_is_remembered_by_the_next_walk(tmp_path: Path) -> None:
    log = Log(kept=tmp_path / "coverage.json")
    coverage = log.of("starter", "author")
    for family, via, why, off in (("a", "", "", False), ("b", "a", "", False), ("c", "", "destroys", False), ("d", "", "", True)):  # fmt: skip
        coverage.meet(family, "/documents", via, why, off)
    coverage.known["a"].state = PRESSED
    log.save()
    again = Log(kept=tmp_path / "coverage.json").of("starter", "author")
    assert again.row() == (4, 1, 2, {"not reached yet": 1, "destroys": 1, "never enabled": 1})
    assert again.waiting() == ["b"]
    assert again.path("b") == ["a", "b"]
    for _ in range(TRIES):
        again.missed("b")
    assert again.waiting() == [], "what is not there twice is not looked for any more"
    assert again.row()[2] == 2, "and counts as what could have been pressed"


def test_what_one_role_has_pressed_counts_for_all_together() -> None:
    log = Log()
    for role, pressed in (("author", "a"), ("admin", "b")):
        for family in ("a", "b"):
            log.of("starter", role).meet(family, "/", "", "", False)
        log.of("starter", role).known[pressed].state = PRESSED
    assert log.pressed("starter") == {"a", "b"}
    assert log.together("starter").row() == (2, 2, 2, {})
    assert "| starter | together | 0 | 0 | 2 | 2 | 100% |" in log.table()
