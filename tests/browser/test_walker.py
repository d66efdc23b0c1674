"""The app is walked by itself, as each role, and nothing that people would call broken is met."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests import walker
from tests.conftest import rounds
from tests.support.bases import HANDBOOK, TITLES

pytestmark = pytest.mark.browser
HERE = "http://127.0.0.1:1"
BUTTON = {"name": "Edit", "href": "", "kind": "button", "where": "main", "chain": "BUTTON<DIV", "key": "", "off": False}


def test_a_short_walk_meets_nothing_broken(chromium: Any, tmp_path: Path) -> None:
    with walker.served("odd", tmp_path, len(TITLES), CONCORD_WORKERS="0") as place:
        assert walker.walk(chromium, place, "admin", seed=1, steps=3) == []


@pytest.mark.slow(minutes=10)
@pytest.mark.parametrize("base", list(walker.BASES))
def test_a_long_walk_as_each_role_meets_nothing_broken(chromium: Any, tmp_path: Path, base: str) -> None:
    if base == "handbook" and not HANDBOOK.is_dir():
        pytest.skip("NO HANDBOOK BESIDE THE CHECKOUT: the long walk on a real handbook needs shared/data/markdown")
    with walker.served(base, tmp_path) as place:
        found = [walker.walk(chromium, place, role, seed=1, steps=rounds(100)) for role in walker.ROLES]
    assert not any(found), found


@pytest.mark.parametrize(
    ("name", "pressed"),
    [
        ("Delete", False),
        ("delete Delete", False),
        ("Merge", False),
        ("Cancel", True),
        ("Edit", True),
        ("delete Delete expand_more", True),
    ],
)
def test_what_destroys_is_spared(name: str, pressed: bool) -> None:
    assert walker.spared({**BUTTON, "name": name}, HERE) is not pressed
    assert not walker.spared({**BUTTON, "name": name, "kind": "tab"}, HERE), "a tab of that name is looked at"


def test_what_leaves_the_app_is_spared() -> None:
    assert walker.spared({**BUTTON, "kind": "link", "href": "https://example.org"}, HERE)


def test_controls_that_differ_by_data_alone_are_one() -> None:
    for one, other in (("Show 3 more", "Show 12 more"), ("Page 1", "Page 2")):
        first, second = ({**BUTTON, "name": name} for name in (one, other))
        assert walker.family(first, f"{HERE}/search?q=a") == walker.family(second, f"{HERE}/search")
        assert walker.family(first, f"{HERE}/graph") != walker.family(first, f"{HERE}/search")
