"""A reviewer in a real browser: an edit that breaks another document's answer is stopped, fixed with what the tab
says, and merged.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from core.bootstrap import App
from tests.conftest import put
from tests.support import browser
from tests.support.browser import act_as

pytestmark = [pytest.mark.browser, pytest.mark.slow]

QUESTION = "How many months do we have before a freight claim is too old?"
PATH = "supply-chain/receiving/freight-claims.md"
GREEDY = (
    f"# Freight claims\n\n## How many months before a freight claim is too old\n\n{QUESTION} Months before a "
    "freight claim is too old: ask. A freight claim is too old after some months.\n"
)
MODEST = (
    "# Freight claims\n\n## Whom to write to\n\nThe carrier's claims desk takes letters and mail. Put the pro "
    "number on every page.\n"
)
HEAD = (
    "---\ntitle: Freight claims\nowner: Dana Okafor\ndoc_type: sop\nanswers:\n  - Whom do I write to about a "
    "freight claim?\n---\n"
)
RULES = "rules:\n  - match: supply-chain/\n    found: block\n    first: 1\n"


def test_an_edit_that_breaks_another_answer_is_stopped_fixed_and_merged(chromium: Any, own_app: App, url: str) -> None:
    from playwright.sync_api import expect

    author, reviewer = (own_app.people.accounts.actor(name) for name in ("author", "reviewer"))
    put(own_app, {"review-rules.yaml": RULES})
    own_app.reviews.merger.repair()
    own_app.index.builder.build(own_app.platform.settings.profile())
    number = own_app.reviews.changes.propose(author, "Freight claims in short", {PATH: (HEAD + GREEDY).encode()}).id
    own_app.reviews.changes.submit(author, number)
    own_app.reviews.discussion.approve(reviewer, number, "Reads well.")
    with browser.screen(chromium, url, height=1000) as screen:
        page, journey = screen.page, browser.Journey(screen, "impact")
        screen.open("/reviews")
        act_as(screen, "Petra")
        journey.click(page.get_by_role("link", name="Freight claims in short"))
        expect(page.get_by_text("must be found among the first 1").first).to_be_visible()
        journey.step("stopped")
        journey.click(page.get_by_role("radio", name="Search"))
        expect(page.get_by_text("Its own questions")).to_be_visible()
        journey.step("what-it-does-to-search")
        journey.click(page.get_by_text(QUESTION).last)
        expect(page.get_by_text("With this change").last).to_be_visible()
        page.get_by_role("button", name="Compare both in the playground").last.scroll_into_view_if_needed()
        journey.step("both-states")
        journey.click(page.get_by_role("button", name="Compare both in the playground").last)
        expect(page.locator("option", has_text=f"With change {number}").first).to_be_attached()
        expect(page.get_by_text("Freight claims", exact=True).first).to_be_visible()
        journey.step("in-the-playground")

        own_app.reviews.changes.edit(author, number, {PATH: (HEAD + MODEST).encode()}, "Say only what is new")
        own_app.reviews.discussion.approve(reviewer, number, "Now it says one thing.")
        screen.open(f"/reviews?change={number}&side=Search")
        expect(page.get_by_text(re.compile("Results? changes? for|No result changes")).first).to_be_visible()
        expect(page.get_by_text("Ready to merge")).to_be_visible()
        journey.step("fixed")
        journey.click(page.locator("[class*='st-key-open_merge_'] button").first)
        journey.click(page.get_by_test_id("stPopoverBody").locator("[class*='st-key-do_merge_'] button"))
        expect(page.get_by_text("Part of the knowledge base", exact=True)).to_be_visible()
        journey.click(page.get_by_role("radio", name="Search"))
        expect(page.get_by_text("Its own questions")).to_be_visible()
        journey.step("its-effect-stays-with-it")
        print(f"impact: {journey.clicks} clicks")
    assert own_app.reviews.changes.get(number).state == "merged"
