"""The tours of the sample, walked in a real browser: every step opens its page and says what to look at; and the way
out of it.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from core.bootstrap import build
from pages.ui.home.tour import TOURS
from tests.conftest import NoProcesses, demo, kb_settings
from tests.services.operation.test_sample import words_left
from tests.support.browser import act_as, screen, server

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def sample_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("tours") / "home"
    app = build(kb_settings(home), processes=NoProcesses())
    app.platform.workspace.create()
    app.platform.sample.begin(demo("admin"))
    app.index.builder.build(app.platform.settings.profile())
    app.platform.sample.work({}, lambda *_: None)
    app.reviews.impacts.work({}, lambda *_: None)
    return home


@pytest.fixture(scope="module")
def sample_url(sample_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    with server(sample_home, tmp_path_factory.mktemp("log") / "log") as url:
        yield url


@pytest.mark.parametrize("name", TOURS)
def test_a_tour_leads_from_step_to_step_and_can_be_left(chromium: Any, sample_url: str, name: str) -> None:
    tour = TOURS[name]
    with screen(chromium, sample_url) as shown:
        shown.open("/")
        shown.key(f"tour_{name}").get_by_role("button").click()
        for n, step in enumerate(tour.steps):
            expect(shown.page.get_by_text(f"{tour.title}, {n + 1} of 5.")).to_be_visible()
            shown.page.wait_for_url(lambda url, page=step.page: page == "home" or f"/{page}" in url)
            shown.settle().shots(f"tour-{name}-{n + 1}")
            assert all(f"{key}={value.partition(' ')[0]}" in shown.page.url for key, value in step.at.items())
            if n < 4:
                shown.key("tour_next").get_by_role("button").click()
        shown.key("tour_leave").get_by_role("button").click()
        expect(shown.page.get_by_text(f"{tour.title}, 5 of 5.")).to_have_count(0)
        assert not shown.outside


def test_two_clicks_remove_the_sample_and_leave_nothing_of_it(chromium: Any, sample_home: Path, tmp_path: Path) -> None:
    home = shutil.copytree(sample_home, tmp_path / "home")
    with server(home, tmp_path / "log", CONCORD_CACHE=str(home / "cache")) as url, screen(chromium, url) as shown:
        act_as(shown.open("/search?q=mileage+rate"), "Ada Brandt")
        shown.open("/search?q=mileage+rate").shots("removal-1")
        shown.key("sample_own").get_by_role("button").click()
        expect(shown.page.get_by_text("There is no way back.")).to_be_visible()
        shown.shots("removal-2")
        shown.key("confirm_yes").get_by_role("button").click()
        expect(shown.page.get_by_text("The sample is gone.")).to_be_visible()
        shown.settle().shots("removal-3")
        expect(shown.key("sample_line")).to_have_count(0)
        expect(shown.open("/").page.get_by_text("There are no documents yet")).to_be_visible()
        shown.shots("removal-4")
        assert not words_left(home)
