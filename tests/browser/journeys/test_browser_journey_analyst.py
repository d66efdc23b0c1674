"""The journey of an analyst: a document is not found, the reason is a word, the document gets it, and it is found."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from core.bootstrap import build
from core.retrieval.presets import presets
from core.services.playground.compare import Column
from core.services.playground.notebook import Setup
from tests.conftest import demo, kb_settings
from tests.support import browser
from tests.support.browser import act_as

pytestmark = [pytest.mark.browser, pytest.mark.slow]

DOCUMENT, TITLE = "IT-POL-002", "Acceptable use"
QUERY = "may visitors wear bodycams"
RULE = "\n\n3.9 Wearing a bodycam. Visitors may wear bodycams only with the written consent of the site manager.\n"


def pressed(journey: browser.Journey, move: str) -> None:
    """Open what asks, and confirm."""
    page = journey.screen.page
    journey.click(page.locator(f"[class*='st-key-open_{move}_'] button").first)
    journey.click(page.get_by_test_id("stPopoverBody").locator(f"[class*='st-key-do_{move}_'] button"))


def test_an_analyst_finds_out_why_a_document_is_missing_and_fixes_it(
    chromium: Any, kb_template: Path, tmp_path: Path
) -> None:
    from playwright.sync_api import expect

    shutil.copytree(kb_template, tmp_path / "kb")
    app = build(kb_settings(tmp_path / "kb"))
    app.platform.workspace.create()
    columns = tuple(Column("local", presets()[name], name) for name in ("BM25", "Convex 0.3"))
    link = app.playground.notebook.keep(demo("author"), Setup(QUERY, columns))
    with (
        browser.server(app.settings.home, tmp_path / "server.log") as url,
        browser.screen(chromium, url, height=1100) as screen,
    ):
        page, journey = screen.page, browser.Journey(screen, "analyst")
        screen.open(f"/playground?link={link}")
        act_as(screen, "Avery")
        expect(page.locator(".column")).to_have_count(2)
        expect(page.locator(".column").first.locator("article", has_text="bodycam")).to_have_count(0)
        journey.step("told")

        journey.click(page.get_by_text("Where is my document?"))
        box = screen.key("playground_expected").locator("input")
        box.fill(TITLE)
        journey.click(page.get_by_role("option", name=re.compile(DOCUMENT)))
        tool = screen.key("playground_tool_box")
        expect(tool).to_contain_text("Lacks")
        expect(tool).to_contain_text("bodycams in no document")
        expect(tool).to_contain_text(re.compile(r"Meaning \(vectors\): \d+ of \d+"))
        journey.step("why")

        journey.click(screen.key("where_edit").locator("button"))
        expect(page).to_have_url(re.compile(rf"doc={DOCUMENT}&do=edit"))
        text = page.locator(".cm-content")
        text.click()
        page.keyboard.press("Control+End")
        page.keyboard.insert_text(RULE)
        expect(page.locator(".preview")).to_contain_text("Wearing a bodycam")
        screen.settle()
        journey.step("edited")
        journey.click(screen.key("save").locator("button"))
        expect(page).to_have_url(re.compile(r"/reviews\?change=\d+"))
        journey.click(page.get_by_role("button", name="Submit for review"))
        act_as(screen, "Petra")
        pressed(journey, "approve")
        expect(page.get_by_text("Ready to merge")).to_be_visible()
        act_as(screen, "Avery")
        pressed(journey, "merge")
        expect(page.get_by_text("The new text can be found since")).to_be_visible()
        journey.step("merged")

        screen.open(f"/playground?link={link}")
        act_as(screen, "Avery")
        expect(page.locator(".column").first.locator("article").first).to_contain_text("bodycam")
        expect(page.locator(".column").first.locator("article").first).to_contain_text(TITLE)
        journey.step("found")
        screen.open(f"/search?q={QUERY.replace(' ', '+')}")
        expect(page.locator("article").first).to_contain_text("written consent of the site manager")
        journey.step("searched")
        assert journey.clicks <= 12
