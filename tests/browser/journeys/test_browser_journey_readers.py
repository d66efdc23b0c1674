"""An admin gives a folder to a group; a colleague finds nothing, a member finds it, and a change of the group counts
at the next click.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from core.bootstrap import App
from tests.conftest import demo, put
from tests.pages.test_pages_readers import ASKED, DOCUMENT, FILES, FOLDER, TITLE
from tests.support import browser
from tests.support.browser import Journey, Screen, act_as

pytestmark = [pytest.mark.browser, pytest.mark.slow]

GROUP, MEMBER, COLLEAGUE, ADMIN, OTHER_ADMIN = "investigations", "Jonas", "Avery", "Ada", "Petra"
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

        search = f"/search?q={ASKED.replace(' ', '+')}"
        go(screen, search, COLLEAGUE)
        expect(page.locator("article").first).to_be_visible()
        expect(page.get_by_text(TITLE)).to_have_count(0)
        journey.step("colleague-searches")
        for path in ("/documents", "/", "/graph?view=Links"):
            go(screen, path, COLLEAGUE)
            expect(page.get_by_text(re.compile(f"{TITLE}|{DOCUMENT}|{FOLDER}"))).to_have_count(0)
        go(screen, f"/documents?doc={DOCUMENT}", COLLEAGUE)
        expect(page.get_by_text(re.compile("There is no document"))).to_be_visible()
        journey.step("colleague-opens")

        go(screen, search, MEMBER)
        expect(page.locator("article", has_text=TITLE).first).to_contain_text("seven years")
        journey.step("member-searches")
        go(screen, f"/documents?doc={DOCUMENT}", MEMBER)
        expect(page.get_by_text(f"group {GROUP}").first).to_be_visible()
        journey.step("member-reads")
        number = moved_out(journey)
        go(screen, f"/reviews?change={number}", COLLEAGUE)
        expect(page.get_by_text(f"There is no change {number}.")).to_be_visible()

        go(screen, "/documents", MEMBER)
        expect(page.get_by_text(TITLE).first).to_be_visible()
        prepared.people.accounts.set_groups(demo("admin"), "author2", [])  # as an admin elsewhere does
        journey.click(page.get_by_role("link", name="Search"))
        page.get_by_label("Search the knowledge base").fill(ASKED)
        expect(page.locator("article").first).to_be_visible()
        expect(page.get_by_text(TITLE)).to_have_count(0)
        journey.step("next-click")


def moved_out(journey: Journey) -> str:
    """A member moves a document out of the folder: the form and the change say what becomes of its history."""
    from playwright.sync_api import expect

    screen, page = journey.screen, journey.screen.page
    journey.click(page.get_by_role("button", name="More", exact=True))
    journey.click(page.get_by_text("Rename or move"))
    field = page.get_by_label("New path")
    field.fill("people/policies/interview-notes.md")
    field.press("Tab")
    expect(page.get_by_text("its earlier versions stay with those of now")).to_be_visible()
    journey.step("move")
    journey.click(screen.key("move").get_by_role("button"))
    expect(page).to_have_url(re.compile(r"/reviews\?change=\d+"))
    expect(page.get_by_text(re.compile("Earlier versions of .* stay with the readers of"))).to_be_visible()
    expect(page.get_by_text(re.compile("1 document will be shown to"))).to_be_visible()
    journey.step("moved")
    return str(re.findall(r"change=(\d+)", page.url)[0])
