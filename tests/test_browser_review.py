"""The journey of a change in a real browser: written, discussed, mended, approved, merged, found."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from core.bootstrap import App, build
from tests import browser
from tests.conftest import kb_settings, put

pytestmark = pytest.mark.browser

PATH = "finance/compliance/sar-filing.md"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser.chromium() as made:
        yield made


@pytest.fixture
def own_kb(kb_home: Path, tmp_path: Path) -> App:
    shutil.copytree(kb_home, tmp_path / "kb")
    app = build(kb_settings(tmp_path / "kb"))
    app.create()
    return app


def act_as(screen: browser.Screen, name: str) -> None:
    """Choose a persona in the sidebar."""
    screen.key("persona").locator("input").click()
    screen.page.get_by_role("option", name=re.compile(name)).click()
    screen.settle()


def pressed(screen: browser.Screen, move: str, note: str = "") -> None:
    """Open what asks, say something if asked, and confirm."""
    screen.page.locator(f"[class*='st-key-open_{move}_'] button").first.click()
    inside = screen.page.get_by_test_id("stPopoverBody")
    if note:
        inside.locator("textarea").fill(note)
    inside.locator(f"[class*='st-key-do_{move}_'] button").click()
    screen.settle()


def test_from_the_first_word_to_the_search(chromium: Any, own_kb: App, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    with browser.server(own_kb.settings.home, tmp_path / "server.log") as url, browser.screen(chromium, url) as screen:
        page = screen.page
        screen.open("/")
        act_as(screen, "Avery")
        page.get_by_role("link", name="Documents").click()
        screen.settle()
        page.get_by_role("button", name="New document").click()
        screen.settle()
        page.get_by_label("Title", exact=True).fill("Booking the survey boat")
        page.get_by_label("Title", exact=True).press("Enter")
        screen.settle()
        page.get_by_label("Text of the document").fill(
            "Book the survey boat **nine days** ahead with the harbour desk.\n\n## Cancelling\n\nA booking is cancelled by quokkaform at no cost.\n"
        )
        expect(page.locator(".preview")).to_contain_text("quokkaform")
        expect(page.get_by_text("Your text is kept")).to_be_visible()
        screen.shot("editor")
        page.get_by_role("link", name="Search").click()  # leaving loses nothing
        screen.settle()
        page.get_by_role("link", name="Documents").click()
        screen.settle()
        page.get_by_role("button", name="New document").click()
        screen.settle()
        expect(page.get_by_text("This is what you typed and did not save")).to_be_visible()
        expect(page.get_by_label("Text of the document")).to_have_value(re.compile("quokkaform"))
        screen.key("save").locator("button").click()
        screen.settle()
        expect(page.get_by_role("heading", name="Add Booking the survey boat")).to_be_visible()
        expect(page).to_have_url(re.compile(r"/reviews\?change=1"))
        page.get_by_role("button", name="Submit for review").click()
        screen.settle()
        expect(page.get_by_text("It needs 1 more approval")).to_be_visible()

        act_as(screen, "Petra")
        page.get_by_role("button", name="Comment on line 9").click()
        page.get_by_role("button", name="Suggest a wording").click()
        typed = page.locator("textarea.write")
        typed.fill(typed.input_value().replace("quokkaform", "form HB-7") + "\nThat is its name since May.")
        screen.shot("change-comment")
        page.get_by_role("button", name="Comment", exact=True).last.click()
        screen.settle()
        expect(page.get_by_text("That is its name since May.")).to_be_visible()

        act_as(screen, "Avery")
        page.get_by_role("button", name="Apply suggestion").click()
        screen.settle()
        expect(page.locator(".badge", has_text="Resolved")).to_be_visible()
        act_as(screen, "Petra")
        pressed(screen, "approve", "Good.")
        expect(page.get_by_text("Nothing stands in the way of the merge")).to_be_visible()
        act_as(screen, "Avery")
        pressed(screen, "merge")
        expect(page.get_by_text("The new text can be found since")).to_be_visible(timeout=120_000)
        screen.shot("change-merged")
        page.get_by_role("link", name="Search").click()
        screen.settle()
        page.get_by_label("Search the knowledge base").fill("cancel the survey boat form HB-7")
        expect(page.locator("article").first).to_contain_text("Booking the survey boat")
        expect(page.locator("article").first).to_contain_text("form HB-7")
        page.get_by_label("Search the knowledge base").fill("quokkaform")
        expect(page.get_by_text("No document uses these words")).to_be_visible()
        expect(page.locator("article", has_text="quokkaform")).to_have_count(0)


def test_a_change_looks_right_in_light_and_dark(chromium: Any, own_kb: App, tmp_path: Path) -> None:
    number = furnished(own_kb)
    with browser.server(own_kb.settings.home, tmp_path / "server.log") as url:
        for name, path, height in (
            ("reviews", "/reviews?queue=open", 900),
            ("change", f"/reviews?change={number}", 1250),
            ("change-discussion", f"/reviews?change={number}&side=Discussion", 1000),
            ("change-chunks", f"/reviews?change={number}&side=Chunks", 900),
            ("change-conflict", f"/reviews?change={number + 1}&side=Conflicts", 1000),
            ("board", "/board", 900),
            ("audit", "/audit", 900),
            ("accounts", "/accounts", 900),
        ):
            for scheme in ("light", "dark"):
                if scheme == "dark" and name not in ("reviews", "change", "board"):
                    continue
                with browser.screen(chromium, url, scheme=scheme, height=height) as screen:
                    screen.open(path)
                    screen.page.wait_for_timeout(900)
                    assert screen.page.locator("[data-testid=stException]").count() == 0
                    screen.shot(name if scheme == "light" else f"{name}-dark")
        with browser.screen(chromium, url, width=390, height=844) as phone:
            phone.open(f"/reviews?change={number}")
            phone.page.wait_for_timeout(600)
            wide = phone.page.evaluate("document.scrollingElement.scrollWidth > window.innerWidth + 1")
            assert not wide, "nothing sticks out on a phone"


def furnished(app: App) -> int:
    """Changes as a busy week leaves them; returns the one with a discussion."""
    author, author2, reviewer = (app.accounts.actor(name) for name in ("author", "author2", "reviewer"))
    text = app.store.read("main", PATH).decode()
    other = "it/policies/access-control.md"
    access = app.store.read("main", other).decode()
    line = next(n for n, words in enumerate(text.split("\n"), 1) if "5 years" in words)
    edited = text.replace("5 years", "7 years").replace("owner: Mei-Lin Chao", "owner: Grant Sorensen")
    files = {
        PATH: edited.encode(),
        "finance/compliance/records.md": b"---\ntitle: Keeping records\nowner: Grant Sorensen\n---\n\n# Keeping records\n\nRecords are kept where the auditor finds them.\n",
    }
    change = app.changes.propose(
        author,
        "Keep SAR records for seven years",
        files,
        "The examiner asked for **seven years** in the letter of 3 November.\n\n- the retention table changes\n- a page on keeping records is new",
    )
    app.changes.submit(author, change.id)
    comment = app.reviewing.comment(
        reviewer,
        change.id,
        "Say from when the years count, please.\n\n```suggestion\n"
        + edited.split("\n")[line - 1].rstrip(".")
        + ", counted from the day of filing.\n```",
        path=PATH,
        line=line,
    )
    app.reviewing.comment(author, change.id, "Good point, I will take it.", thread=comment.id)
    app.reviewing.request_changes(reviewer, change.id, "The counting must be clear before this can go out.")
    clash = app.changes.propose(
        author2,
        "Shorter sessions for remote access",
        {
            other: access.replace(
                "# Access control", "# Access control\n\nRemote sessions end after **four** hours."
            ).encode()
        },
    )
    app.changes.submit(author2, clash.id)
    put(
        app,
        {other: access.replace("# Access control", "# Access control\n\nRemote sessions end after **eight** hours.")},
        "Limit remote sessions",
    )
    app.merging.repair()
    moved = app.changes.propose(author, "Tidy the glossary", {"reference/tidy.md": b"# Tidy\n\nWords.\n"})
    app.changes.submit(author, moved.id)
    app.reviewing.approve(reviewer, moved.id, "Fine.")
    closed = app.changes.propose(author2, "Remove the fax number", {"it/fax.md": b"# Fax\n\nNo.\n"})
    app.changes.close(author2, closed.id, "Somebody still faxes.")
    app.changes.propose(author, "Draft: travel in winter", {"people/winter.md": b"# Winter\n\nSlow.\n"})
    app.merging.confirm(reviewer, "finance/close/month-end-close.md", app.merging.clock.today() + timedelta(days=400))
    assert isinstance(app.merging.clock.today(), date)
    return change.id
