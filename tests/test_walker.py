"""The app is walked by itself, as each role, and nothing that people would call broken is met."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests import walker
from tests.walker_bases import HANDBOOK, TITLES

pytestmark = pytest.mark.browser
SEED = 1


def test_a_short_walk_as_each_role_meets_nothing_broken(chromium: Any, tmp_path: Path) -> None:
    log = walker.Log()
    with walker.served("starter", tmp_path, len(TITLES)) as (url, server_log):
        for role in walker.ROLES:
            walker.walk(chromium, url, server_log, "starter", role, log, seed=SEED, steps=24, each=1, mirror=0.15)
    assert not log.findings, log.table()


@pytest.mark.slow
@pytest.mark.parametrize("base", list(walker.BASES))
def test_a_long_walk_as_each_role_meets_nothing_broken(chromium: Any, tmp_path: Path, base: str) -> None:
    if base == "handbook" and not HANDBOOK.is_dir():
        pytest.skip("NO HANDBOOK BESIDE THE CHECKOUT: the long walk on a real handbook needs shared/data/markdown")
    log = walker.Log()
    with walker.served(base, tmp_path) as (url, server_log):
        for role in walker.ROLES:
            walker.walk(chromium, url, server_log, base, role, log, seed=SEED, steps=400, each=12, mirror=0.3)
    print(log.table())
    assert not log.findings, log.table()


def test_an_address_names_its_view_by_page_parameters_and_tab() -> None:
    assert walker.view_of("http://127.0.0.1:1/reviews?change=7&side=Chunks") == "/reviews change side=Chunks"


class Page:
    """As much of a page as a walker asks about its controls."""

    url = "http://127.0.0.1:1/"


@pytest.mark.parametrize(
    ("name", "pressed"), [("Delete", False), ("delete Delete", False), ("Merge", False), ("Cancel", True), ("Edit", True)]
)  # fmt: skip
def test_what_destroys_is_spared(name: str, pressed: bool) -> None:
    one = {"name": name, "href": "", "download": False, "kind": "button"}
    assert walker.Walker.may(Page(), one) is pressed  # type: ignore[arg-type]
    assert walker.Walker.may(Page(), {**one, "kind": "tab"}), "a tab of that name is looked at"  # type: ignore[arg-type]
