"""Pictures in a real browser: read, opened large, missing, uploaded with their document, and compared in a review."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.bootstrap import build
from core.settings import load
from tests.conftest import NoProcesses, demo
from tests.support import browser, uploads

pytestmark = [pytest.mark.browser, pytest.mark.slow]

TEXT = (
    b"# Dock doors\n\n![Chart of the doors](doors.assets/chart.png)\n\n![Photo of the chock](doors.assets/none.png)\n"
)
LOADED = "image => image.complete && image.naturalWidth > 0"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A document with a picture, and a change that replaces it."""
    app = build(load({}, home=tmp_path / "home"), processes=NoProcesses())
    app.platform.workspace.create()
    files = {"doors.md": TEXT, "doors.assets/chart.png": uploads.png(900, 400)}
    app.knowledge.repository.commit("main", files, demo("admin").person, "Start")
    app.reviews.merger.repair()
    app.reviews.changes.propose(demo("author"), "New chart", {"doors.assets/chart.png": uploads.png(900, 400, 90)})
    return tmp_path / "home"


def test_a_picture_is_read_opened_large_compared_and_previewed(chromium: Any, home: Path, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    with browser.server(home, tmp_path / "log") as url, browser.screen(chromium, url) as screen:
        page = screen.open("/documents?doc=doors").page
        shown = page.get_by_role("button", name="Show larger: Chart of the doors")
        expect(shown.locator("img")).to_have_js_property("complete", True)
        assert shown.locator("img").evaluate(LOADED)
        expect(page.get_by_text("Photo of the chock (picture is missing)")).to_be_visible()
        shown.click()
        large = page.get_by_role("dialog", name="Chart of the doors")
        expect(large).to_be_visible()
        page.keyboard.press("Escape")
        expect(large).to_have_count(0)
        screen.open("/reviews?change=1")
        for side in ("Before", "After"):
            picture = page.locator("figure").filter(has_text=side).locator("img")
            expect(picture).to_be_visible()
            assert picture.evaluate(LOADED)
        screen.open("/upload")
        raw = {"name": "Doors.docx", "mimeType": "application/octet-stream", "buffer": uploads.rich_docx()}
        page.locator("input[type=file]").first.set_input_files([raw])
        expect(
            page.get_by_role("button", name="Show larger: Dock door 14 with its chock").locator("img")
        ).to_be_visible()
