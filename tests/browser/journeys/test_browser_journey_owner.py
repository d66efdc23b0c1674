"""An owner with a Word file: brought in, filled in, compared, reviewed, merged and found, without typing any markup."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest

from core.bootstrap import App
from core.curation.document.frontmatter import read_document
from tests.support import browser, uploads
from tests.support.browser import act_as

pytestmark = [pytest.mark.browser, pytest.mark.slow]

MOST_CLICKS, ALL_CLICKS = 10, 15  # until it is submitted, and until it is merged and found
RULES = (
    "Chock the wheels before the door opens, and hang the key on the chock board.",
    "A broken seal is reported to the yard marshal within 25 minutes.",
)


def drawing() -> bytes:
    """A dock door and its chock."""
    from PIL import Image, ImageDraw

    picture = Image.new("RGB", (480, 200), "#dfe8f0")
    pen = ImageDraw.Draw(picture)
    pen.rectangle((60, 30, 300, 180), fill="#1f5f99")
    pen.polygon(((330, 180), (430, 180), (330, 120)), fill="#d55e00")
    box = io.BytesIO()
    picture.save(box, "PNG")
    return box.getvalue()


def choose(journey: browser.Journey, field: str, option: str, filtered: str = "") -> None:
    """Two clicks: open a field of the form, take an option, in a long list after a few letters of it."""
    journey.click(journey.screen.page.locator(f"[class*='{field}'] input").first)
    journey.screen.page.keyboard.type(filtered)
    journey.click(journey.screen.page.get_by_role("option", name=re.compile(option)).first)


def confirmed(journey: browser.Journey, move: str) -> None:
    page = journey.screen.page
    journey.click(page.locator(f"[class*='st-key-open_{move}_'] button").first)
    journey.click(page.get_by_test_id("stPopoverBody").locator(f"[class*='st-key-do_{move}_'] button"))


def test_a_word_file_becomes_a_document_that_is_found(chromium: Any, url: str, own_app: App) -> None:
    from playwright.sync_api import expect

    raw = uploads.rich_docx(rules=RULES, image=drawing())
    with browser.screen(chromium, url, height=1000) as screen:
        page, journey = screen.page, browser.Journey(screen, "owner")
        screen.open("/")
        act_as(screen, "Avery")
        journey.click(page.get_by_role("link", name="Upload"))
        journey.step("upload")
        journey.clicks += 1  # the file dialog
        page.locator("input[type=file]").set_input_files(
            [{"name": "Dock doors (Rev C FINAL v2).docx", "mimeType": "application/octet-stream", "buffer": raw}]
        )
        line = page.locator("li:has(button.title)")
        expect(line).to_contain_text("Look at it")
        expect(line).to_contain_text("Dock doors")
        expect(page.get_by_text("1 table, 1 picture to check")).to_be_visible()
        expect(page.get_by_text("all doors are locked at night").first).to_be_visible()
        screen.settle()
        journey.step("beside-the-original")

        choose(journey, "_0_type", "SOP")
        choose(journey, "_0_folder", "^supply-chain.safety$", "safety")
        journey.step("filled-in")
        journey.click(page.get_by_role("button", name="Looked at"))
        expect(line).to_contain_text("Ready")
        screen.settle()
        choose(journey, "st-key-upload_ask", "Petra")
        page.keyboard.press("Escape")
        journey.step("looked-at")
        journey.click(page.get_by_role("button", name="Submit for review"))
        expect(page).to_have_url(re.compile(r"/reviews\?change=1"))
        expect(page.get_by_text("It needs 1 more approval")).to_be_visible()
        print(f"clicks until it was submitted: {journey.clicks}")
        assert journey.clicks <= MOST_CLICKS, journey.clicks
        journey.step("submitted")

        change = own_app.reviews.changes.get(1)
        assert [asked.name.split()[0] for asked in change.asked] == ["Petra"]
        path = "supply-chain/safety/dock-doors-rev-c-final-v2.md"
        document = read_document(path, own_app.knowledge.repository.read(change.head, path).decode())
        assert (document.title, document.meta.doc_type, bool(document.meta.owner)) == ("Dock doors", "sop", True), (
            "Avery's"
        )
        assert "dock-doors-rev-c-final-v2.assets/" in document.text, "the picture came along"

        act_as(screen, "Petra")
        confirmed(journey, "approve")
        expect(page.get_by_text("Ready to merge")).to_be_visible()
        act_as(screen, "Avery")
        confirmed(journey, "merge")
        expect(page.get_by_text("The new text can be found since")).to_be_visible()
        journey.step("merged")
        journey.click(page.get_by_role("link", name="Search"))
        page.get_by_label("Search the knowledge base").fill("who hears about a broken seal at the yard")
        expect(page.locator("article", has_text="Dock doors").first).to_contain_text("yard marshal")
        assert journey.clicks <= ALL_CLICKS, journey.clicks
        journey.step("found")
