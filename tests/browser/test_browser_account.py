"""Access tokens in a real browser: made, copied, used, revoked; and those of an agent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from core.bootstrap import App
from core.errors import Unauthenticated
from core.services.people.accounts import NewAccount
from tests.conftest import NoProcesses, demo, small_app
from tests.support.browser import Journey, screen, server

pytestmark = pytest.mark.browser
ADMIN = demo("admin")


@pytest.fixture
def people_app(tmp_path: Path) -> App:
    app = small_app(tmp_path / "home", NoProcesses())
    app.people.accounts.add(ADMIN, NewAccount("helpdesk", "Helpdesk bot", "bot@example.org", "author", kind="agent"))
    app.people.tokens.make(ADMIN, "Nightly report", "read", 365)
    app.people.tokens.make(ADMIN, "Assistant", "propose", 90, "helpdesk")
    return app


@pytest.mark.slow
def test_somebody_makes_a_token_and_ends_it(chromium: Any, people_app: App, tmp_path: Path) -> None:
    tokens = people_app.people.tokens
    with server(people_app.settings.home, tmp_path / "log") as base, screen(chromium, base) as shown:
        journey = Journey(shown.open("/account"), "token")
        page = shown.page
        expect(page.get_by_text("Nightly report")).to_be_visible()
        journey.click(page.get_by_text("New token"))
        page.get_by_label("What will use it").fill("My assistant")
        journey.click(page.get_by_text("Propose: also report gaps"))
        shown.settle().shots("account-tokens")
        journey.click(page.get_by_role("button", name="Make token"))
        dialog = page.get_by_role("dialog")
        expect(dialog.get_by_text("it is not shown again")).to_be_visible()
        text = dialog.get_by_test_id("stCode").locator("code").inner_text().strip()
        actor = tokens.holder(text, "api")
        assert (actor.id, actor.scope, actor.token) == ("admin", "propose", "My assistant")
        journey.step("shown once")
        journey.click(dialog.get_by_role("button", name="Done"))
        expect(page.get_by_text(text)).to_have_count(0)
        (mine,) = [token for token in tokens.listed(ADMIN, "admin") if token.name == "My assistant"]
        journey.click(shown.key(f"revoke_{mine.id}").get_by_role("button"))
        journey.step("revoke")
        journey.click(shown.key("confirm_yes").get_by_role("button"))
        expect(page.get_by_text("My assistant is revoked.")).to_be_visible()
        with pytest.raises(Unauthenticated):
            tokens.holder(text, "api")
        shown.open("/accounts")
        page.get_by_role("button", name="1 token").click()
        expect(page.get_by_text("Assistant", exact=True)).to_be_visible()
        shown.settle().shots("accounts-service")
