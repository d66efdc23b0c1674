"""The journey of a change in a real browser: brought in, fixed, discussed, approved, merged, found."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

import pytest

from core.bootstrap import App
from core.services.reviews.discussion import CommentPlace
from tests.conftest import put
from tests.support import browser
from tests.support.browser import act_as

pytestmark = pytest.mark.browser

PATH = "finance/compliance/sar-filing.md"
BOAT = (
    "---\ntitle: Booking the survey boat\nstatus: approved\nowner: Harbour desk\n---\n# Booking the survey boat\n\n"
    "Book the survey boat **nine days** ahead with the harbour desk.\n\n## Cancelling\n\n"
    "A booking is cancelled by berthslip at no cost.\n"
)
RADIO = "# Radio on the survey boat\n\nKeep channel 16 open whenever the boat has left the harbour.\n"


@pytest.fixture(scope="module")
def url(own_app: App, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """With one worker: another one would start to index beside the first, which measures the impact of the change."""
    log = tmp_path_factory.mktemp("log") / "server.log"
    with browser.server(own_app.settings.home, log, CONCORD_WORKERS="1") as address:
        yield address


def pressed(screen: browser.Screen, move: str, note: str = "") -> None:
    """Open what asks, say something if asked, and confirm."""
    screen.page.locator(f"[class*='st-key-open_{move}_'] button").first.click()
    inside = screen.page.get_by_test_id("stPopoverBody")
    if note:
        inside.locator("textarea").fill(note)
    inside.locator(f"[class*='st-key-do_{move}_'] button").click()
    screen.settle()


def test_from_two_files_to_the_search(chromium: Any, url: str) -> None:
    from playwright.sync_api import expect

    with browser.screen(chromium, url, height=1000) as screen:
        page = screen.page
        screen.open("/upload")
        act_as(screen, "Avery")
        files = {"survey-boat.md": BOAT.replace("status: approved", "review_due: soon"), "survey-radio.md": RADIO}
        page.locator("input[type=file]").set_input_files(
            [{"name": name, "mimeType": "text/markdown", "buffer": text.encode()} for name, text in files.items()]
        )
        lines = page.locator("li:has(button.title)")
        expect(lines.nth(0)).to_contain_text("review_due is 'soon'")
        expect(page.get_by_text("1 document ready · 1 refused")).to_be_visible()
        screen.settle().shot("journey-1-upload")
        page.get_by_role("button", name="Start the fields fresh").click()
        expect(page.get_by_text("2 documents ready")).to_be_visible()
        screen.settle().shot("journey-2-fixed")
        page.get_by_label("Title of the change").fill("Booking the survey boat")
        page.get_by_label("Title of the change").press("Tab")
        page.get_by_role("button", name="Keep as a draft").click()
        screen.settle()
        expect(page.get_by_role("heading", name="Booking the survey boat").first).to_be_visible()
        expect(page).to_have_url(re.compile(r"/reviews\?change=\d+$"))
        page.get_by_role("button", name="Submit for review").click()
        expect(page.get_by_text("It needs 1 more approval")).to_be_visible()

        act_as(screen, "Petra")
        page.get_by_role("button", name="Comment on line 11").first.click()
        page.get_by_role("button", name="Suggest a wording").click()
        typed = page.locator("textarea.write")
        typed.fill(typed.input_value().replace("berthslip", "form HB-7") + "\nThat is its name since May.")
        screen.shot("journey-3-comment")
        page.locator(".composer").get_by_role("button", name="Comment", exact=True).click()
        screen.settle()
        expect(page.get_by_text("That is its name since May.")).to_be_visible()

        act_as(screen, "Avery")
        screen.shot("journey-4-suggestion")
        page.get_by_role("button", name="Apply suggestion").click()
        screen.settle()
        expect(page.locator(".badge", has_text="Resolved")).to_be_visible()
        act_as(screen, "Petra")
        pressed(screen, "approve", "Good.")
        expect(page.get_by_text("Ready to merge")).to_be_visible()
        screen.shot("journey-5-approved")
        act_as(screen, "Avery")
        pressed(screen, "merge")
        expect(
            page.get_by_text("Indexing", exact=False).or_(page.get_by_text("can be found since")).first
        ).to_be_visible()
        screen.shot("journey-6-indexing")
        expect(page.get_by_text("The new text can be found since")).to_be_visible()
        screen.shot("journey-7-merged")
        page.get_by_role("link", name="Search").click()
        screen.settle()
        page.get_by_label("Search the knowledge base").fill("cancel the survey boat form HB-7")
        expect(page.locator("article").first).to_contain_text("Booking the survey boat")
        expect(page.locator("article").first).to_contain_text("form HB-7")
        screen.shot("journey-8-found")
        page.get_by_label("Search the knowledge base").fill("berthslip")
        expect(page.get_by_text("No document mentions “berthslip”")).to_be_visible()
        expect(page.locator("article", has_text="berthslip")).to_have_count(0)


@pytest.mark.slow
def test_leaving_the_editor_loses_nothing(chromium: Any, url: str) -> None:
    from playwright.sync_api import expect

    with browser.screen(chromium, url, height=1250) as screen:
        page = screen.page
        screen.open("/documents?do=new")
        page.get_by_role("radio", name="SOP").click()
        screen.settle()
        page.get_by_label("Title", exact=True).fill("Towing the survey boat")
        page.get_by_label("Title", exact=True).press("Enter")
        page.locator(".cm-content").fill("Tow it slowly.\n\n#### Ropes\n\nUse the towline.\n")
        expect(page.locator(".preview")).to_contain_text("towline")
        expect(page.get_by_text("Draft saved")).to_be_visible()
        expect(page.locator(".checks")).to_contain_text("skips from level 1 to 4")
        screen.settle().shots("editor")
        page.get_by_role("link", name="Search").click()
        screen.settle()
        page.get_by_role("link", name="Documents").click()
        screen.settle()
        page.get_by_role("button", name="New document").click()
        expect(page.get_by_text("This is what you typed and did not save")).to_be_visible()
        expect(page.get_by_label("Text of the document")).to_contain_text("towline")
        expect(page.get_by_label("Title", exact=True)).to_have_value("Towing the survey boat")


@pytest.mark.slow
def test_a_change_looks_right_in_light_and_dark(chromium: Any, own_app: App, url: str) -> None:
    number = furnished(own_app)
    with browser.screen(chromium, url) as screen:
        for name, path, height in (
            ("reviews", "/reviews?queue=open", 900),
            ("change", f"/reviews?change={number}", 1250),
            ("change-discussion", f"/reviews?change={number}&side=Discussion", 1000),
            ("change-chunks", f"/reviews?change={number}&side=Chunks", 900),
            ("change-conflict", f"/reviews?change={number + 1}&side=Conflicts", 1000),
            ("freshness", "/freshness", 900),
            ("audit", "/audit", 900),
            ("accounts", "/accounts", 900),
        ):
            screen.look(height=height).open(path)
            screen.page.wait_for_timeout(500)
            assert screen.page.locator("[data-testid=stException]").count() == 0
            (screen.shots if name in ("reviews", "change", "freshness") else screen.shot)(name)
        screen.page.set_viewport_size({"width": 390, "height": 844})
        screen.open(f"/reviews?change={number}")
        screen.page.wait_for_timeout(400)
        wide = screen.page.evaluate("document.scrollingElement.scrollWidth > window.innerWidth + 1")
        assert not wide, "nothing sticks out on a phone"
        boxes = [column.bounding_box() for column in screen.page.get_by_test_id("stColumn").all()[:2]]
        assert boxes[1]["y"] - boxes[0]["y"] - boxes[0]["height"] <= 24, "no gap above the panel"


def furnished(app: App) -> int:
    """Changes as a busy week leaves them; returns the one with a discussion."""
    author, author2, reviewer = (app.people.accounts.actor(name) for name in ("author", "author2", "reviewer"))
    text = app.knowledge.repository.read("main", PATH).decode()
    other = "it/policies/access-control.md"
    access = app.knowledge.repository.read("main", other).decode()
    line = next(n for n, words in enumerate(text.split("\n"), 1) if "5 years" in words)
    edited = text.replace("5 years", "7 years").replace("owner: Mei-Lin Chao", "owner: Grant Sorensen")
    files = {
        PATH: edited.encode(),
        "finance/compliance/records.md": b"---\ntitle: Keeping records\nowner: Grant Sorensen\n---\n\n# Keeping "
        b"records\n\nRecords are kept where the auditor finds them, for as long as "
        b"the [retention table](retention.md) says.\n",
    }
    change = app.reviews.changes.propose(
        author,
        "Keep SAR records for seven years",
        files,
        "The examiner asked for **seven years** in the letter of 3 November.\n\n- the retention table changes\n- a "
        "page on keeping records is new",
    )
    app.reviews.changes.submit(author, change.id)
    comment = app.reviews.discussion.comment(
        reviewer,
        change.id,
        "Say from when the years count, please.\n\n```suggestion\n"
        + edited.split("\n")[line - 1].rstrip(".")
        + ", counted from the day of filing.\n```",
        CommentPlace(PATH, line),
    )
    app.reviews.discussion.comment(author, change.id, "Good point, I will take it.", thread=comment.id)
    app.reviews.discussion.request_changes(reviewer, change.id, "The counting must be clear before this can go out.")
    clash = app.reviews.changes.propose(
        author2,
        "Shorter sessions for remote access",
        {
            other: access.replace(
                "# Access control", "# Access control\n\nRemote sessions end after **four** hours."
            ).encode()
        },
    )
    app.reviews.changes.submit(author2, clash.id)
    put(
        app,
        {other: access.replace("# Access control", "# Access control\n\nRemote sessions end after **eight** hours.")},
        "Limit remote sessions",
    )
    app.reviews.merger.repair()
    moved = app.reviews.changes.propose(author, "Tidy the glossary", {"reference/tidy.md": b"# Tidy\n\nWords.\n"})
    app.reviews.changes.submit(author, moved.id)
    app.reviews.discussion.approve(reviewer, moved.id, "Fine.")
    closed = app.reviews.changes.propose(author2, "Remove the fax number", {"it/fax.md": b"# Fax\n\nNo.\n"})
    app.reviews.changes.close(author2, closed.id, "Somebody still faxes.")
    app.reviews.changes.propose(author, "Draft: travel in winter", {"people/winter.md": b"# Winter\n\nSlow.\n"})
    app.knowledge.freshness.confirm(
        reviewer, "finance/close/month-end-close.md", app.reviews.merger.clock.today() + timedelta(days=400)
    )
    assert isinstance(app.reviews.merger.clock.today(), date)
    return change.id
