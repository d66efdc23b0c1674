"""The tours of the sample, walked in a real browser: every step opens its page and says what to look at."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from core.bootstrap import build
from pages.ui.tour import TOURS
from tests.browser import screen, server
from tests.conftest import NoProcesses, demo, kb_settings

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def sample_url(tmp_path_factory: pytest.TempPathFactory) -> Any:
    place = tmp_path_factory.mktemp("tours")
    app = build(kb_settings(place / "home"), processes=NoProcesses())
    app.platform.workspace.create()
    app.platform.sample.begin(demo("admin"))
    app.index.builder.build(app.platform.settings.profile())
    app.platform.sample.work({}, lambda *_: None)
    app.reviews.impacts.work({}, lambda *_: None)
    with server(place / "home", place / "log") as url:
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
