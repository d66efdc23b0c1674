"""From a choice on Account to a letter that the running app sends by itself, its line in the log, and the click that
ends it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.conftest import put, until
from tests.services.team.test_deliveries import AUTHOR, PETRA, mailing
from tests.support import browser
from tests.support.browser import act_as
from tests.support.receivers import mail_server, receiver

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_a_reviewer_chooses_mail_gets_it_and_ends_it(chromium: Any, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    with mail_server() as server, receiver() as hook:
        app = mailing(tmp_path / "home", server.url, webhooks_private=True)
        put(app, {"a.md": "# Note\n\nA line.\n"})
        given = {
            "SMTP_URL": server.url,
            "SMTP_FROM": "Concord <concord@example.org>",
            "WEBHOOKS_PRIVATE": "yes",
            "URL": "https://concord.example.org",
        }
        environment = {f"CONCORD_{name}": value for name, value in given.items()}
        with (
            browser.server(app.settings.home, tmp_path / "server.log", **environment) as url,
            browser.screen(chromium, url) as screen,
        ):
            page, journey = screen.page, browser.Journey(screen, "messages")
            screen.open("/inbox")
            act_as(screen, "Petra")
            journey.click(page.get_by_role("link", name="Also by mail"))
            journey.click(screen.key("mail_all").get_by_text("At once"))
            journey.step("choice")
            assert set(app.deliveries.choices.chosen(PETRA).values()) == {"at once"}
            act_as(screen, "Ada")
            journey.click(page.get_by_role("link", name="Deliveries"))
            journey.click(page.get_by_text("Webhooks", exact=True))
            screen.key("add_webhook").locator("summary").click()
            page.get_by_label("Address").fill(hook.url)
            journey.click(page.get_by_role("button", name="Add", exact=True))
            expect(page.get_by_role("dialog")).to_contain_text("whsec_")
            journey.step("secret")
            journey.click(page.get_by_role("button", name="Done"))
            number = app.reviews.changes.propose(AUTHOR, "New hours", {"b.md": b"# B\n\nText.\n"}).id
            app.reviews.changes.submit(AUTHOR, number, ["reviewer"])
            until(lambda: server.letters and hook.taken)
            assert server.letters[0]["To"] == "Petra Voss <petra@meridale.example>"
            screen.open("/deliveries")
            expect(page.get_by_text("asks you to review New hours")).to_be_visible()
            expect(page.get_by_text("asks for a review of New hours")).to_be_visible()
            assert page.get_by_text("Sent", exact=True).count() == 2
            journey.step("log")
            page.goto(
                url + server.letters[0]["List-Unsubscribe"].strip("<>").removeprefix("https://concord.example.org")
            )
            screen.picture("stop-mail")
            page.get_by_role("button", name="Stop these mails").click()
            expect(page.get_by_role("status")).to_contain_text("no more mail about “Reviews”")
    assert app.deliveries.choices.chosen(PETRA)["reviews"] == "none"
