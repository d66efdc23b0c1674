"""An admin gives a folder to a group on the pages, another one approves it; what others find then is in test_pages_readers."""

from __future__ import annotations

import re
from typing import Any

import pytest

from core.bootstrap import App
from tests import browser
from tests.browser import Journey, Screen, act_as
from tests.conftest import demo, put
from tests.test_pages_readers import FILES, FOLDER

pytestmark = [pytest.mark.browser, pytest.mark.slow]

GROUP, ADMIN, OTHER_ADMIN = "investigations", "Ada", "Petra"
MOST_CLICKS = 9  # until the change is proposed


@pytest.fixture(scope="module")
def prepared(own_app: App) -> App:
    put(own_app, dict(FILES))
    own_app.index.builder.build(own_app.platform.settings.profile())
    own_app.people.accounts.set_role(demo("admin"), "reviewer", "admin")
    return own_app


def give_group(screen: Screen, account: str, groups: str) -> None:
    """On Accounts, as an admin."""
    from playwright.sync_api import expect

    screen.open("/accounts")
    row = screen.key(f"account_{account}")
    row.get_by_role("button", name=re.compile("group")).click()
    field = screen.page.get_by_label(re.compile("^Groups of"))
    field.fill(groups)
    field.press("Tab")
    screen.page.get_by_role("button", name="Set groups").click()
    expect(screen.page.get_by_text(re.compile(f"is in {groups or 'no group'}"))).to_be_visible()
    screen.settle()


def go(screen: Screen, path: str, who: str) -> None:
    """An address, as somebody: a page that is opened anew begins as the admin of the demo."""
    act_as(screen.open(path), who)


def confirmed(journey: Journey, move: str) -> None:
    page = journey.screen.page
    journey.click(page.locator(f"[class*='st-key-open_{move}_'] button").first)
    journey.click(page.get_by_test_id("stPopoverBody").locator(f"[class*='st-key-do_{move}_'] button"))


def test_a_folder_becomes_a_groups_own(chromium: Any, url: str, prepared: App) -> None:
    from playwright.sync_api import expect

    with browser.screen(chromium, url, height=1000) as screen:
        page, journey = screen.page, Journey(screen, "readers")
        act_as(screen.open("/accounts"), ADMIN)
        give_group(screen, "author2", GROUP)
        journey.step("group")

        screen.open("/reviews")
        journey.click(page.get_by_text("Readers", exact=True))
        expect(page.get_by_text("Everybody who is signed in reads every document.")).to_be_visible()
        journey.click(page.get_by_role("button", name="Choose who reads a folder"))
        journey.click(screen.key("readers_folder").locator("input"))
        page.keyboard.type("investigations")
        journey.click(page.get_by_role("option", name=FOLDER, exact=True))
        journey.click(page.locator("[class*='st-key-readers_names_'] input"))
        journey.click(page.get_by_role("option", name=f"group {GROUP}", exact=True))
        page.keyboard.press("Escape")
        expect(page.get_by_text("2 documents will be hidden from")).to_be_visible()
        expect(page.get_by_text("Read by Jonas Mbeki, and by admins")).to_be_visible()
        journey.step("form")
        journey.click(page.get_by_role("button", name="Propose", exact=True))
        assert journey.clicks <= MOST_CLICKS, journey.clicks
        expect(page.get_by_text("2 documents will be hidden from")).to_be_visible()
        journey.step("proposed")

        act_as(screen, OTHER_ADMIN)
        confirmed(journey, "approve")
        confirmed(journey, "merge")
        go(screen, "/reviews", ADMIN)
        page.get_by_text("Readers", exact=True).click()
        expect(page.get_by_test_id("stDataFrame").last).to_be_visible()
        screen.settle()
        journey.step("readers")
