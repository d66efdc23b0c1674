"""Reviewers in a real browser: three rounds until a merge, a change of forty documents, and a conflict."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest

from core.access import Actor
from core.bootstrap import App
from core.services.reviews.discussion import CommentPlace
from tests.conftest import put
from tests.support import browser
from tests.support.browser import act_as

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PATH = "finance/compliance/sar-filing.md"
FORTY = [f"{folder}/checklist-{n}.md" for folder in ("it/desk", "hr/desk", "finance/desk", "ops") for n in range(10)]


def who(app: App, name: str) -> Actor:
    return app.people.accounts.actor(name)


def press(journey: browser.Journey, move: str, note: str = "") -> None:
    """Open what asks, say something if asked, and confirm."""
    page = journey.screen.page
    journey.click(page.locator(f"[class*='st-key-open_{move}_'] button").first)
    inside = page.get_by_test_id("stPopoverBody")
    if note:
        inside.locator("textarea").fill(note)
    journey.click(inside.locator(f"[class*='st-key-do_{move}_'] button"))


def test_a_reviewer_comes_back_twice_and_then_merges(chromium: Any, own_app: App, url: str) -> None:
    from playwright.sync_api import expect

    author, text = who(own_app, "author"), own_app.knowledge.repository.read("main", PATH).decode()
    seven = text.replace("5 years", "7 years")
    number = own_app.reviews.changes.propose(author, "Keep SAR records for seven years", {PATH: seven.encode()}).id
    own_app.reviews.changes.submit(author, number)
    line = next(n for n, words in enumerate(seven.split("\n"), 1) if "7 years" in words)
    with browser.screen(chromium, url, height=1000) as screen:
        page, journey = screen.page, browser.Journey(screen, "review-rounds")
        screen.open("/reviews")
        act_as(screen, "Petra")
        expect(page.locator(".item", has_text="Keep SAR records")).to_contain_text("New to you")
        journey.step("queue")
        journey.click(page.get_by_role("link", name="Keep SAR records"))
        number_button = page.get_by_role("button", name=f"Comment on line {line}", exact=True).first
        expect(number_button, "what was changed stands on the first screen").to_be_in_viewport()
        number_button.hover()
        journey.step("first-look")
        journey.click(number_button)
        page.locator("textarea.write").fill("From when do the years cuont?")
        journey.click(page.locator(".composer").get_by_role("button", name="Comment", exact=True))
        talk = page.locator(".conversation", has_text="From when")
        journey.click(talk.get_by_role("button", name="Edit", exact=True))
        page.locator("textarea.write").fill("From when do the years count?")
        journey.click(page.get_by_role("button", name="Save", exact=True))
        expect(page.get_by_text("· edited")).to_be_visible()
        press(journey, "request_changes", "Say from when the years count.")
        journey.step("requested")

        clear = seven.replace("7 years", "7 years after filing")
        own_app.reviews.changes.edit(author, number, {PATH: clear.encode()}, "Say from when")
        own_app.reviews.discussion.comment(author, number, "Done, please look again.")
        journey.click(page.get_by_role("button", name="All changes"))
        expect(page.locator(".item", has_text="Keep SAR records")).to_contain_text("1 new edit")
        expect(page.locator(".item", has_text="Keep SAR records")).to_contain_text("1 new comment")
        journey.step("second-round-in-the-queue")
        journey.click(page.get_by_role("link", name="Keep SAR records"))
        expect(page.get_by_text("1 edit since you looked on")).to_be_visible()
        expect(page.get_by_text("Requests changes")).to_be_visible()
        expect(page.locator(".lines .plus b").first).to_have_text(re.compile("after filing"))
        journey.step("since-the-last-look")
        journey.click(page.get_by_role("radio", name="Whole change"))
        expect(page.locator(".lines .minus b").first).to_have_text("5")
        journey.click(page.get_by_role("link", name="See it in the discussion"))
        expect(page.get_by_text("Say from when the years count.").last).to_be_in_viewport()
        journey.step("the-request-in-the-discussion")

        final = clear.replace("after filing", "after the day of filing")
        own_app.reviews.changes.edit(author, number, {PATH: final.encode()}, "Name the day")
        journey.click(page.get_by_role("radio", name="Documents"))
        expect(page.get_by_text("1 edit since you looked on")).to_be_visible()
        press(journey, "approve", "Good.")
        expect(page.get_by_text("You approved this text")).to_be_visible()
        expect(page.locator("[class*='st-key-open_approve_']")).to_have_count(0)
        journey.step("approved")
        journey.click(page.locator("[class*='st-key-open_merge_'] button").first)
        expect(page.get_by_text("2 conversations still open")).to_be_visible()
        journey.step("merge-names-open-conversations")
        journey.click(page.get_by_test_id("stPopoverBody").get_by_role("button", name=re.compile("From when")))
        expect(page.locator(".conversation", has_text="From when do the years count?")).to_be_in_viewport()
        expect(page.get_by_test_id("stPopoverBody")).to_have_count(0)
        press(journey, "merge")
        expect(page.get_by_text("Part of the knowledge base", exact=True)).to_be_visible()
        journey.step("merged")
        print(f"three rounds: {journey.clicks} clicks")
    assert "7 years after the day of filing" in own_app.knowledge.repository.read("main", PATH).decode()


def test_forty_documents_are_read_without_pages(chromium: Any, own_app: App, url: str) -> None:
    from playwright.sync_api import expect

    author = who(own_app, "author")
    steps = "\n".join(f"{n}. Step number {n} of the list.\n" for n in range(1, 30))
    files = {path: f"---\ntitle: Checklist {path}\nowner: Ann\n---\n# Checklist\n\n{steps}".encode() for path in FORTY}
    files[FORTY[37]] += b"\n#### Too deep\n\nSee [it](nowhere.md).\n"
    number = own_app.reviews.changes.propose(author, "Forty checklists", files).id
    own_app.reviews.changes.submit(author, number)
    own_app.reviews.discussion.comment(who(own_app, "reviewer2"), number, "Is that all?", CommentPlace(FORTY[20], 12))
    with browser.screen(chromium, url, height=1000) as screen:
        page, journey = screen.page, browser.Journey(screen, "review-forty")
        screen.open("/reviews")
        act_as(screen, "Petra")
        began = time.monotonic()
        page.get_by_role("link", name="Forty checklists").click()
        expect(page.locator(".file")).to_have_count(40)
        print(f"forty documents open in {time.monotonic() - began:.1f} s")
        expect(page.get_by_text("40 documents · 0 viewed")).to_be_visible()
        journey.step("tree")
        files_drawn = page.locator(".file")
        journey.click(files_drawn.nth(0).get_by_label("Viewed"))
        expect(files_drawn.nth(0)).to_have_class(re.compile("closed"))
        expect(page.get_by_text("40 documents · 1 viewed")).to_be_visible()
        fix = page.get_by_role("button", name="Next open point (3)")
        journey.click(fix)
        expect(page.locator(".conversation", has_text="Is that all?")).to_be_in_viewport()
        journey.step("next-to-fix-is-a-conversation")
        journey.click(fix)
        expect(page.get_by_text("Too deep").last).to_be_in_viewport()
        journey.step("next-to-fix-is-a-finding")
        page.get_by_label("Filter documents by name").fill("hr/desk checklist-3")
        expect(page.locator(".file")).to_have_count(1)
        page.get_by_label("Filter documents by name").fill("")
        journey.click(page.get_by_role("button", name="Fold all", exact=True))
        expect(page.locator(".file.closed")).to_have_count(40)
        journey.step("folded")
        journey.click(page.get_by_role("link", name=re.compile("checklist-9")).last)
        expect(page.locator(".file:not(.closed) .lines")).to_have_count(1)
        own_app.reviews.changes.edit(author, number, {FORTY[20]: files[FORTY[20]] + b"\nMore.\n"})
        journey.click(page.get_by_role("radio", name="Discussion"))
        journey.click(page.get_by_role("radio", name="Documents"))
        journey.click(page.get_by_role("radio", name="Whole change"))
        expect(page.get_by_text("40 documents · 0 viewed")).to_be_visible()
        wide = page.evaluate("document.scrollingElement.scrollWidth > window.innerWidth + 1")
        assert not wide


def test_a_conflict_is_decided_with_both_edits_in_sight(chromium: Any, own_app: App, url: str) -> None:
    from playwright.sync_api import expect

    path, author = "it/sessions.md", who(own_app, "author2")
    base = "# Sessions\n\nTell the duty manager at once.\nThe report is due in 4 hours.\n\nKeep the log 5 days.\n"
    put(own_app, {path: base}, "Sessions")
    mine = base.replace("duty manager", "duty manager and the owner").replace("5 days", "7 days")
    number = own_app.reviews.changes.propose(author, "Tell the owner too", {path: mine.encode()}).id
    own_app.reviews.changes.submit(author, number)
    put(own_app, {path: base.replace("4 hours", "6 hours").replace("5 days", "9 days")}, "Six hours")
    with browser.screen(chromium, url, height=1100) as screen:
        page, journey = screen.page, browser.Journey(screen, "review-conflict")
        screen.open(f"/reviews?change={number}&side=Conflicts")
        act_as(screen, "Jonas")
        save = page.get_by_role("button", name="Save as a new edit")
        expect(save).to_be_disabled()
        expect(page.get_by_text("0 of 2 places decided")).to_be_visible()
        expect(page.locator(".both")).to_contain_text("The report is due in 6 hours.")
        journey.step("nothing-chosen")
        journey.click(page.get_by_role("radio", name="Both edits"))
        expect(save).to_be_disabled()
        journey.click(page.get_by_role("radio", name="A text of your own").last)
        page.get_by_label("Text that should stand here").fill("Keep the log 8 days.")
        page.get_by_label("Text that should stand here").press("Tab")
        screen.settle()
        journey.step("decided")
        journey.click(save)
        expect(page.get_by_text("Conflicts solved with a new edit").first).to_be_visible()
        journey.step("solved")
    text = own_app.knowledge.repository.read(own_app.reviews.changes.get(number).head, path).decode()
    assert text == (
        "# Sessions\n\nTell the duty manager and the owner at once.\nThe report is due in 6 hours.\n\nKeep the log 8 "
        "days.\n"
    )
