"""Facts that disagree, in a real browser: seen while typing, beside the edited line, and in the list; settled with a
reason.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from core.bootstrap import App
from tests.conftest import NoProcesses, demo, put, small_app
from tests.services.knowledge.test_disagreements import FAQ, POLICY
from tests.support import browser
from tests.support.browser import act_as

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SAYS = "Record retention says 7 years, this says 5 years."


@pytest.fixture(scope="module")
def own_app(tmp_path_factory: pytest.TempPathFactory) -> App:
    app = small_app(tmp_path_factory.mktemp("differs") / "kb", processes=NoProcesses())
    put(app, {"finance/retention.md": POLICY, "finance/faq.md": FAQ.replace("5 years", "84 months")})
    return app


@pytest.fixture(scope="module")
def url(own_app: App, tmp_path_factory: pytest.TempPathFactory) -> Any:
    log: Path = tmp_path_factory.mktemp("log") / "server.log"
    with browser.server(own_app.settings.home, log) as base:
        yield base


def test_another_period_is_seen_while_typing_beside_the_line_and_in_the_list(
    chromium: Any, url: str, own_app: App
) -> None:
    from playwright.sync_api import expect

    with browser.screen(chromium, url, height=1000) as screen:
        page, journey = screen.page, browser.Journey(screen, "disagreement")
        screen.open("/documents?doc=FAQ-1&do=edit")
        act_as(screen, "Avery")
        body = page.locator(".cm-content")
        expect(body).to_contain_text("84 months")
        body.fill("# Payables FAQ\n\nWe keep vendor invoices for 5 years after payment.\n")
        expect(page.get_by_role("region", name="Checks")).to_contain_text(SAYS)
        journey.step("typed")
        journey.click(page.get_by_role("button", name="Save as a new change"))
        expect(page).to_have_url(re.compile(r"/reviews\?change="))
        screen.settle()
        note = page.get_by_role("note").first
        expect(note).to_contain_text(SAYS)
        expect(note).to_contain_text("Helen")
        journey.step("beside")

        act_as(screen, "Petra")
        journey.click(page.get_by_role("button", name="Both are right").first)
        page.get_by_label("Why both are right").fill("The FAQ speaks of copies.")
        page.get_by_label("Why both are right").press("Tab")
        screen.settle()
        journey.click(page.get_by_role("dialog").get_by_role("button", name="Both are right"))
        expect(page.get_by_role("note").first).to_contain_text("The FAQ speaks of copies.")
        journey.step("settled")

        put(own_app, {"finance/faq.md": FAQ.replace("5 years", "6 years")})
        screen.open("/freshness")
        act_as(screen, "Petra")
        journey.click(page.get_by_text("Disagreements", exact=True))
        expect(page.get_by_text("We keep vendor invoices for 6 years after payment.")).to_be_visible()
        expect(page.locator("mark").first).to_have_text("6 years")
        journey.step("list")
        journey.click(page.get_by_role("button", name="Both are right").first)
        page.get_by_label("Why both are right").fill("Copies again.")
        page.get_by_label("Why both are right").press("Tab")
        screen.settle()
        journey.click(page.get_by_role("dialog").get_by_role("button", name="Both are right"))
        journey.click(page.get_by_role("button", name="Settled 1"))
        expect(page.get_by_text("Copies again.")).to_be_visible()
        journey.click(page.get_by_role("button", name="Reopen"))
        journey.click(page.get_by_role("button", name="Open 1"))
        expect(page.get_by_role("button", name="Both are right")).to_be_visible()
        assert [one.state for one in own_app.knowledge.disagreements.everywhere(demo("author"))] == ["open"]
        assert screen.outside == []
