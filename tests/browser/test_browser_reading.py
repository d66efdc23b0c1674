"""Reading and finding in a real browser: cards that answer, doubt that comes first, a document to take along."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from tests.support import browser

pytestmark = pytest.mark.browser


def test_a_reader_finds_reads_and_takes_along(chromium: Any, served_url: str) -> None:
    from playwright.sync_api import expect

    with browser.screen(chromium, served_url) as screen:
        page = screen.page
        journey = browser.Journey(screen, "reader")
        screen.open("/search?q=where+can+I+park+a+bicycle")
        doubt = page.get_by_text("Nothing here answers this well")
        expect(doubt).to_be_visible()
        assert doubt.bounding_box()["y"] < page.locator("article").first.bounding_box()["y"]
        expect(page.get_by_role("button", name="Tell the owners what is missing")).to_be_visible()
        journey.step("nothing-fits")

        screen.open("/search?q=who+approves+a+contract+of+$60,000")
        first = page.locator("article").first
        expect(first.locator("th").first).to_contain_text("Role")
        expect(first.get_by_role("cell", name="$150,000")).to_be_visible()
        assert "|" not in first.inner_text()
        expect(first).to_contain_text("kept by Helen Okafor")
        whole = page.get_by_role("button", name="Show whole passage").first
        whole.click()
        expect(page.get_by_role("button", name="Show less").first).to_be_visible()
        journey.step("found")

        journey.click(first.get_by_role("link", name="Open here"))
        page.get_by_role("button", name="Copy link", exact=True).click()
        expect(page.get_by_role("button", name="Copied")).to_be_visible()
        section = page.get_by_role("button", name="Copy link to “2. Approval limits”")
        section.click()
        expect(page.get_by_text("What links here")).to_be_visible()
        journey.step("read")
        opener = page.get_by_role("button", name="This is wrong")
        opener.focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("textbox", name="What is wrong about")).to_be_focused()
        page.keyboard.type("The limit is older.")
        page.keyboard.press("Escape")
        expect(opener).to_be_focused()
        journey.click(page.get_by_role("button", name="More", exact=True))
        with page.expect_download() as download:
            page.get_by_role("button", name="Download as Word").click()
        assert Path(download.value.path()).read_bytes()[:2] == b"PK"
        assert download.value.suggested_filename == "delegation-of-authority.docx"


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_a_printed_document_is_the_text_with_its_facts_and_page_numbers(
    chromium: Any, served_url: str, scheme: str
) -> None:
    import pdfplumber

    with browser.screen(chromium, served_url, scheme=scheme) as screen:
        screen.open("/documents?doc=FIN-POL-001").page.get_by_text("Approval climbs").wait_for()
        raw = screen.page.pdf(prefer_css_page_size=True)
    with pdfplumber.open(io.BytesIO(raw)) as pdf:
        pages = [page.extract_text() for page in pdf.pages]
        colours = {str(char["non_stroking_color"]) for char in pdf.pages[0].chars if char["text"] in "Approval"}
    assert len(pages) >= 2
    for fact in ("Delegation of authority", "Approved", "Helen Okafor", "31 Jan 2027", f"Page 1 of {len(pages)}"):
        assert fact in pages[0]
    text = "\n".join(pages)
    for control in ("All documents", "Copy link", "Download", "History", "Playground", "This is wrong"):
        assert control not in text
    assert "(1.0, 1.0, 1.0)" not in colours, "ink, not the white letters of the dark theme"
