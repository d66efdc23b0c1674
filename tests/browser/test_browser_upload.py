"""The Upload page in a real browser: bad, alike and hostile files, fixed and chosen, in light and dark."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.bootstrap import build
from tests.conftest import ROOT, kb_settings
from tests.support import browser, uploads
from tests.support.hostile import INSPECT, PAYLOADS, document

pytestmark = pytest.mark.browser

GOOD = (
    "---\nid: IT-SOP-900\ntitle: Replace a lost badge\ndoc_type: sop\nowner: Facilities\nreview_due: 2030-11-01\n"
    "answers:\n  - How do I replace a lost badge?\n---\n# Replace a lost badge\n\nReport the loss within **2 "
    "hours**.\n\n"
    "## Desks\n\n| Site | Hours |\n|---|---|\n| CMH2 | 06:00 to 22:00 |\n| RNO1 | 24 hours |\n"
)
BAD = (
    "---\ntitle: Badge printers\nreview_due: soon\n---\n# Badge printers\n\n### Ribbon\n\nOrder from "
    "[stores](stores.md).\n"
)


@pytest.fixture(scope="module")
def url(served_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with browser.server(served_home, tmp_path_factory.mktemp("log") / "server.log") as address:
        yield address


@pytest.fixture(autouse=True)
def empty_desk(served_home: Path) -> Iterator[None]:
    """What a test leaves on the page is kept as a draft; the next one starts without it."""
    yield
    build(kb_settings(served_home)).knowledge.drafts.rows.drop("admin", "upload")


def files() -> list[dict[str, Any]]:
    dock = (ROOT / "kb/supply-chain/safety/dock-safety-cmh2.md").read_text().replace("CMH2", "ATL4")
    texts = {
        "lost-badge.md": GOOD,
        "badge-printers.md": BAD,
        "dock-safety-atl4.md": dock.replace("\nid: ", "\nformer: "),
    }
    raw = {name: text.encode() for name, text in texts.items()} | {"Approval limits.xlsx": uploads.xlsx()}
    return [{"name": name, "mimeType": "text/markdown", "buffer": content} for name, content in raw.items()]


def side(screen: browser.Screen, name: str) -> None:
    screen.page.get_by_role("radio", name=re.compile(name)).click()
    screen.settle()


@pytest.mark.slow
def test_files_are_read_checked_compared_and_fixed(chromium: Any, url: str) -> None:
    from playwright.sync_api import expect

    with browser.screen(chromium, url, height=1000) as screen:
        screen.open("/upload")
        screen.page.locator("input[type=file]").set_input_files(files())
        lines = screen.page.locator("li:has(button.title)")
        expect(lines).to_have_count(4)
        expect(lines.nth(0)).to_contain_text("Ready")
        expect(lines.nth(1)).to_contain_text("review_due is 'soon'")
        expect(lines.nth(2)).to_contain_text("Dock safety at CMH2")
        expect(lines.nth(3)).to_contain_text("Excel")
        lines.nth(1).click()
        screen.settle()
        expect(screen.page.get_by_text("review_due is 'soon'").last).to_be_visible()
        screen.settle().page.wait_for_timeout(250)
        screen.shots("upload")
        screen.page.get_by_role("button", name="Start the fields fresh").click()
        expect(lines.nth(1)).to_contain_text("Look at it")
        expect(screen.page.get_by_label("Title", exact=True)).to_have_value("Badge printers")
        screen.settle()
        screen.page.get_by_role("button", name=re.compile(r"^Line \d+$")).last.click()
        expect(screen.page.locator(".cm-activeLine")).to_contain_text("stores.md")
        screen.settle().page.wait_for_timeout(250)
        screen.shots("upload-text")
        lines.nth(2).click()
        expect(screen.page.get_by_role("heading", name="Dock safety", exact=False).first).to_be_visible()
        screen.settle()
        side(screen, "Duplicates")
        expect(screen.page.get_by_text("This upload").first).to_be_visible()
        screen.settle().page.wait_for_timeout(250)
        screen.shots("upload-duplicates")
        screen.page.get_by_text("Keep both").click()
        expect(screen.page.get_by_text("3 documents ready · 1 to compare with the original")).to_be_visible()
        lines.nth(3).click()
        expect(screen.page.get_by_text("Converted from Excel.")).to_be_visible()
        screen.page.get_by_role("button", name="Looked at").click()
        expect(lines.nth(3)).to_contain_text("Ready")


@pytest.mark.slow
def test_hostile_files_do_not_run_or_load_anything_before_they_are_submitted(chromium: Any, url: str) -> None:
    from playwright.sync_api import expect

    all_of_them = "# Hostile\n\n" + "\n\n".join(PAYLOADS) + "\n"
    odd = "<img src=x onerror=window.__pwned=1>.md"
    hostile = [("hostile.md", all_of_them), ("one.md", document(1, PAYLOADS[0])), (odd, document(2, PAYLOADS[2]))]
    chosen = [{"name": name, "mimeType": "text/markdown", "buffer": text.encode()} for name, text in hostile]
    with browser.screen(chromium, url) as screen:
        screen.open("/upload")
        screen.page.locator("input[type=file]").set_input_files(chosen)
        lines = screen.page.locator("li:has(button.title)")
        expect(lines).to_have_count(3)
        for n in range(3):
            lines.nth(n).click()
            screen.settle()
            for name in ("Duplicates", "^Text"):
                side(screen, name)
                screen.page.wait_for_timeout(150)
                assert screen.page.evaluate("window.__pwned") is None, (n, name)
                assert screen.page.evaluate(INSPECT) == [], (n, name)
                assert screen.page.locator("[data-testid=stException]").count() == 0


@pytest.mark.slow
def test_pages_slides_and_sheets_stand_beside_their_text_and_a_choice_turns_to_its_page(
    chromium: Any, url: str
) -> None:
    from playwright.sync_api import expect

    raw = {"hours.pdf": uploads.mixed_pdf(), "dock.pptx": uploads.pptx(), "limits.xlsx": uploads.xlsx()}
    brought = [
        {"name": name, "mimeType": "application/octet-stream", "buffer": content} for name, content in raw.items()
    ]
    with browser.screen(chromium, url, height=1000) as screen:
        page = screen.open("/upload").page
        page.locator("input[type=file]").set_input_files(brought)
        lines = page.locator("li:has(button.title)")
        expect(lines).to_have_count(3)
        expect(page.get_by_text("1 table, 1 picture, 1 scanned page to check")).to_be_visible()
        parts = page.get_by_test_id("stButtonGroup")
        parts.get_by_text("Scanned page 2", exact=True).click()
        expect(page.get_by_role("img", name="Page 2 of the original")).to_be_visible()
        expect(page.get_by_text("nobody finds its words by searching")).to_be_visible()
        screen.shots("upload_scan")
        lines.nth(1).click()
        screen.settle()
        parts.get_by_text("Table: Door, Lock, slide 2").click()
        expect(page.locator(".st-key-original").get_by_text("chock")).to_be_visible()
        lines.nth(2).click()
        screen.settle()
        expect(page.locator(".st-key-original").get_by_text("25000")).to_be_visible()
