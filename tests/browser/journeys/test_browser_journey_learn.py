"""An admin's way from a base without a question to a promotion: take what documents answer, and learn."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.bootstrap import App, build
from tests.adapters.test_hub import tiny
from tests.conftest import demo, kb_settings
from tests.support import browser

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ADMIN = demo("admin")


def weak_app(kb_template: Path, tmp_path: Path) -> App:
    """The starter knowledge base on vectors that know nothing: what its questions teach is plain to see, in seconds."""
    app = build(kb_settings(Path(shutil.copytree(kb_template, tmp_path / "kb"))))
    app.platform.workspace.create()
    profile = replace(app.platform.settings.profile(), name="weak", embedder=tiny(tmp_path / "weak"))
    app.index.builder.build(app.index.admin.add_profile(ADMIN, profile))
    app.tuning.production.promote(ADMIN, profile="weak", config="documents-0.9", reason="to begin with")
    return app


def test_from_no_question_to_a_promotion(chromium: Any, kb_template: Path, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    app = weak_app(kb_template, tmp_path)
    before = app.platform.settings.production()
    with browser.server(app.settings.home, tmp_path / "server.log") as url, browser.screen(chromium, url) as screen:
        screen.page.set_default_timeout(600_000)
        journey = browser.Journey(screen, "learn")
        screen.open("/tuning")
        journey.step("nothing")
        journey.click(screen.key("take_answers").get_by_role("button"))
        screen.open("/tuning?tuning_tab=Learn")
        expect(screen.page.get_by_text("Nothing was learned yet")).to_be_visible()
        journey.step("before")
        journey.click(screen.key("learning_go").get_by_role("button"))
        journey.step("confirm")
        journey.click(screen.page.get_by_role("dialog").get_by_role("button", name="Learn"))
        journey.step("learning")
        expect(screen.page.get_by_text("wins and is in production now")).to_be_visible(timeout=600_000)
        journey.step("learned")
        assert app.platform.settings.production() != before
        assert journey.clicks == 3
