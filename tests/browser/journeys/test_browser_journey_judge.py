"""A judge's way through a query set: grade what was found, add what is missing, say whether the answer was good."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from core.bootstrap import build
from core.evaluation.querysets.queryset import QuerySet, Question
from tests.conftest import demo, kb_settings
from tests.support import browser

pytestmark = [pytest.mark.browser, pytest.mark.slow]

QUERY = "how long do we keep SAR records"


def test_a_judge_grades_adds_what_is_missing_and_rates_the_answer(
    chromium: Any, kb_template: Path, tmp_path: Path
) -> None:
    from playwright.sync_api import expect

    shutil.copytree(kb_template, tmp_path / "kb")
    app = build(kb_settings(tmp_path / "kb"))
    app.platform.workspace.create()
    app.evaluation.querysets.keep(demo("admin"), QuerySet("to-judge", (Question("q1", QUERY),)))
    with (
        browser.server(app.settings.home, tmp_path / "server.log") as url,
        browser.screen(chromium, url) as screen,
    ):
        journey = browser.Journey(screen, "judge")
        screen.open("/evaluation?queryset=to-judge")
        screen.page.get_by_role("tab", name="Query sets").click()
        screen.settle()
        journey.click(screen.key("set_judge").get_by_role("button"))
        expect(screen.page.get_by_text("passages, shuffled")).to_be_visible()
        expect(screen.page.get_by_text("nDCG@10")).to_have_count(0)
        journey.step("pool")
        before = screen.page.locator("article").count()
        box = screen.key("playground_missing").locator("input")
        box.fill("how a customer asks for a hold to be lifted")
        box.press("Enter")
        screen.settle()
        offered = screen.page.locator("[class*=st-key-offer_]")
        expect(offered.first).to_be_visible()
        journey.click(offered.first.locator("summary"))
        screen.key("pool_missing").scroll_into_view_if_needed()
        journey.step("found")
        journey.click(offered.first.get_by_text("2 relevant"))
        expect(screen.page.locator("article")).to_have_count(before + 1)
        expect(screen.page.get_by_text("You added")).to_be_visible()
        journey.click(screen.key("show_first").get_by_role("button"))
        journey.click(screen.key("rating").get_by_text("Yes"))
        screen.key("pool_answer").scroll_into_view_if_needed()
        journey.step("answer")
        journey.click(screen.key("pool_answer").get_by_role("button", name="Keep"))
        assert [given.rating for given in app.playground.pools.ratings(demo("admin"), QUERY)] == ["yes"]
        screen.open("/evaluation?queryset=to-judge")
        screen.page.get_by_role("tab", name="Query sets").click()
        screen.settle()
        expect(screen.page.get_by_text("was good for 1 of 1")).to_be_visible()
        expect(screen.page.get_by_text("added a passage for 1 of 1")).to_be_visible()
        journey.step("summary")
