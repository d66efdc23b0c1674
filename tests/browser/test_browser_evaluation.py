"""Evaluation and Tuning in a real browser: questions, runs, a comparison, sliders, promotion and the way back."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from core.bootstrap import App, build
from core.evaluation.generators.known_items import KnownItemSettings
from tests.conftest import demo, kb_settings
from tests.support import browser

pytestmark = pytest.mark.browser

BARS = "() => document.querySelector('.st-key-tune_bars .js-plotly-plot')?.data?.at(-1).y.join()"


@pytest.fixture
def judged_app(kb_template: Path, tmp_path: Path) -> App:
    """The starter knowledge base with known items and two runs."""
    shutil.copytree(kb_template, tmp_path / "kb")
    made = build(kb_settings(tmp_path / "kb"))
    made.platform.workspace.create()
    admin = demo("admin")
    made.evaluation.generator.known_items(admin, KnownItemSettings(per_category=8))
    run(made, "", "bm25")
    return made


def run(app: App, *configs: str) -> None:
    for config in configs:
        plan = app.evaluation.runs.plan("", f'{{"base": "{config}", "depth": 30}}' if config else "")
        app.evaluation.runs.evaluate("known-items", [plan])


def shots(screen: browser.Screen, name: str, scheme: str) -> None:
    screen.page.wait_for_timeout(700)
    assert screen.page.locator("[data-testid=stException]").count() == 0
    assert not screen.page.evaluate("document.scrollingElement.scrollWidth > window.innerWidth + 1"), name
    screen.shot(name if scheme == "light" else f"{name}-dark")


@pytest.mark.slow
def test_from_questions_to_a_promotion_and_back(chromium: Any, judged_app: App, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    with (
        browser.server(judged_app.settings.home, tmp_path / "server.log") as url,
        browser.screen(chromium, url) as screen,
    ):
        screen.open("/evaluation")
        screen.page.get_by_role("tab", name="Query sets").click()
        expect(screen.page.get_by_text("Every judgment finds its place")).to_be_visible()
        shots(screen, "evaluation-sets", "light")
        screen.page.get_by_role("tab", name="Runs").click()
        expect(screen.page.get_by_text("has the highest nDCG@10")).to_be_visible()
        screen.settle()
        shots(screen, "evaluation", "light")
        screen.page.get_by_text("Compare two runs").scroll_into_view_if_needed()
        expect(screen.page.get_by_text("Wins · ties · losses")).to_be_visible()
        screen.key("versus_one").scroll_into_view_if_needed()
        shots(screen, "evaluation-compare", "light")
        screen.key("versus_open").get_by_role("button").click()
        screen.settle()
        expect(screen.page.locator(".column")).to_have_count(2)

        screen.open("/tuning")
        screen.page.wait_for_function(BARS)
        before = screen.page.evaluate(BARS)
        slider = screen.key("tune_alpha").get_by_role("slider")
        slider.focus()
        for _ in range(20):
            slider.press("ArrowLeft")
        screen.page.wait_for_function(f"(was) => ({BARS})() !== was", arg=before)
        screen.settle()
        expect(screen.key("tune_alpha")).to_contain_text("0.30")
        shots(screen, "tuning", "light")

        screen.page.get_by_role("tab", name="Production").click()
        expect(screen.page.get_by_text("Against production:").last).to_be_visible()
        reason = screen.page.get_by_label("Reason")
        reason.fill("The team agreed on it")
        reason.press("Enter")
        screen.settle()
        screen.key("promote").get_by_role("button").click()
        expect(screen.page.get_by_role("dialog")).to_contain_text("against production")
        shots(screen, "tuning-promote", "light")
        screen.key("confirm_yes").get_by_role("button").click()
        expect(screen.page.get_by_text("is in production now")).to_be_visible()
        assert len(judged_app.tuning.production.history(demo("author"))) == 1
        screen.key("unpromote").get_by_role("button").click()
        screen.key("confirm_yes").get_by_role("button").click()
        expect(screen.page.get_by_text("is in production again")).to_be_visible()
        assert "rolled_back" in judged_app.tuning.production.history(demo("author"))[0].evidence


@pytest.mark.slow
def test_every_view_in_dark(chromium: Any, judged_app: App, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    judged_app.evaluation.generator.known_items(demo("admin"), KnownItemSettings(per_category=25))
    run(judged_app, "", "bm25", "dense", "convex-0.3", "rrf-60", "tm2c2-0.5")
    job = judged_app.evaluation.jobs.learn(demo("admin"), ["known-items"])
    judged_app.platform.jobs.run(job.id, judged_app.platform.workspace.works)
    with (
        browser.server(judged_app.settings.home, tmp_path / "server.log") as url,
        browser.screen(chromium, url, scheme="dark") as screen,
    ):
        screen.open("/evaluation?evaluation_tab=Runs")
        expect(screen.page.get_by_text(re.compile("has the highest nDCG@10"))).to_be_visible()
        shots(screen, "evaluation", "dark")
        screen.open("/tuning")
        screen.page.wait_for_function(BARS)
        shots(screen, "tuning", "dark")
        screen.open("/tuning?tuning_tab=Learn")
        expect(screen.key("learning_parts")).to_be_visible()
        shots(screen, "tuning-learn", "dark")
