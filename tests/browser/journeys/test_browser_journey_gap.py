"""A question without an answer, in a real browser: asked, reported, seen by its owner, written and tried, reviewed,
merged, found, closed by itself; whoever asked hears of it, and Home shows how it went."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from core.bootstrap import App, build
from tests.browser.test_browser_reviews import pressed
from tests.conftest import demo, kb_settings, put, until
from tests.support import browser
from tests.support.browser import act_as

pytestmark = [pytest.mark.browser, pytest.mark.slow]

QUESTION = "how do guests get on the wifi"
PATH = "it/guest-notes.md"
NOTES = (
    "---\ntitle: Guests in the office\ndoc_type: faq\nowner: Avery Lindqvist\n---\n# Guests in the "
    "office\n\nGuests sign the book at the desk. Wifi for guests is not described yet.\n"
)


@pytest.fixture(scope="module")
def own_app(kb_template: Path, tmp_path_factory: pytest.TempPathFactory) -> App:
    home = tmp_path_factory.mktemp("gap") / "kb"
    shutil.copytree(kb_template, home)
    app = build(kb_settings(home))
    app.platform.workspace.create()
    put(app, {PATH: NOTES})
    app.index.builder.build(app.platform.settings.profile())
    return app


def menu(screen: browser.Screen, word: str) -> Any:
    return screen.page.get_by_test_id("stSidebarNav").get_by_role("link", name=re.compile(word))


def test_a_gap_is_closed_by_an_owner_and_the_reader_hears_of_it(chromium: Any, url: str, own_app: App) -> None:
    from playwright.sync_api import expect

    with browser.screen(chromium, url, height=1000) as screen:
        page, journey = screen.page, browser.Journey(screen, "gap")
        screen.open("/search")
        act_as(screen, "Robin")
        page.get_by_label("Search the knowledge base").fill(QUESTION)
        expect(page.locator("article").first).to_be_visible()
        screen.settle()
        journey.step("asked")
        page.get_by_role("button", name=re.compile("Not what you were looking for|what is missing")).first.click()
        page.get_by_label("What did you expect to find?").first.fill("A card at the desk?")
        journey.click(page.get_by_role("button", name="Tell the owners", exact=True).first)
        expect(page.get_by_text("Thank you.", exact=False).first).to_be_visible()

        act_as(screen, "Avery")
        journey.click(menu(screen, "Home"))
        expect(page.get_by_role("heading", name="Waiting for you")).to_be_visible()
        journey.step("home")
        journey.click(menu(screen, r"Inbox.*\(1\)"))
        expect(page.get_by_role("link", name=f"Robin Falk found no answer: {QUESTION}")).to_be_visible()
        journey.step("inbox")
        journey.click(page.get_by_role("button", name="Write it"))
        page.get_by_label("Title", exact=True).fill("Wifi for guests")
        page.get_by_label("Title", exact=True).press("Enter")
        page.locator(".cm-content").fill("Guests get on the wifi with a card from the desk. It holds for one day.\n")
        expect(page.locator(".preview")).to_contain_text("card from the desk")
        expect(page.get_by_text("Draft saved")).to_be_visible()
        screen.settle()
        journey.click(page.get_by_text("Questions it answers, and what it supersedes"))
        expect(page.get_by_label("Question 1")).to_have_value(QUESTION)
        expect(page.get_by_text("Found at 1", exact=True)).to_be_visible()
        journey.step("written")
        journey.click(page.get_by_role("button", name="Save as a new change"))
        expect(page).to_have_url(re.compile(r"/reviews\?change="))
        screen.settle()
        (change,) = own_app.reviews.changes.all(state="open")
        number = change.id
        screen.key(f"whom_submit_{number}").locator("input").fill("Petra")
        page.get_by_role("option", name="Petra Voss").click()
        page.keyboard.press("Escape")  # an open list hides the rest of the page from roles
        screen.settle()
        journey.step("ask")
        journey.click(page.get_by_role("button", name="Submit for review"))
        expect(page.get_by_text("Asked: Petra Voss (no answer yet)")).to_be_visible()

        journey.click(menu(screen, "Inbox"))
        act_as(screen, "Petra")
        journey.click(page.get_by_role("link", name=re.compile("asks you to review")))
        expect(page).to_have_url(re.compile(rf"/reviews\?change={number}"))
        expect(menu(screen, "^.*Inbox$")).to_be_visible()
        pressed(screen, "approve", "Good.")
        journey.step("approved")

        act_as(screen, "Avery")
        pressed(screen, "merge")
        expect(page.get_by_text("The new text can be found since")).to_be_visible()
        journey.click(menu(screen, "Search"))
        page.get_by_label("Search the knowledge base").fill(QUESTION)
        expect(page.locator("article").first).to_contain_text("Wifi for guests")
        journey.step("found")
        until(lambda: not own_app.knowledge.gaps.open(demo("admin")))  # it closes by itself
        until(lambda: own_app.answers.checks.last_asked() != "")  # what documents answer
        journey.click(menu(screen, "Home"))
        screen.key("tiles_loop").scroll_into_view_if_needed()
        expect(screen.key("tiles_loop")).to_contain_text(re.compile(r"Gaps open\s*0\s*Gaps closed\s*1"))
        expect(page.get_by_text("Each point is a merge")).to_be_visible()
        point = page.locator(".scatterlayer .points path").last
        point.scroll_into_view_if_needed()
        journey.step("loop")
        place = point.bounding_box()
        page.mouse.click(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)
        expect(page).to_have_url(re.compile(rf"/reviews\?change={number}"))
        screen.settle()

        act_as(screen, "Robin")
        journey.click(menu(screen, r"Inbox.*\(1\)"))
        line = page.get_by_role("link", name=re.compile("answered you: Wifi for guests"))
        expect(line).to_be_visible()
        journey.step("told")
        journey.click(line)
        expect(page.get_by_role("heading", name="Wifi for guests").first).to_be_visible()
        expect(menu(screen, "Inbox$")).to_be_visible()
        assert journey.clicks <= 14
        assert QUESTION in {asked.question for asked in own_app.search.queries.most_asked(9)}
