"""Messages on Account and the page Deliveries, under AppTest, with a real mail server and a real receiver behind
them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.bootstrap import App
from pages.ui.server import routes
from pages.ui.sign_in.gate import OPEN
from tests.conftest import ROOT, forget_app
from tests.services.team.test_deliveries import ADMIN, AUTHOR, PETRA, URL, mailing, tell
from tests.support.apptest import PATIENCE, Open, page_of, words
from tests.support.receivers import MailServer, Receiver, mail_server, receiver


@pytest.fixture
def server() -> Iterator[MailServer]:
    with mail_server() as made:
        yield made


@pytest.fixture
def hook() -> Iterator[Receiver]:
    with receiver() as made:
        yield made


@pytest.fixture
def app(tmp_path: Path, server: MailServer, monkeypatch: pytest.MonkeyPatch) -> App:
    """A workspace as the pages open it: by its environment."""
    made = mailing(tmp_path / "home", server.url, webhooks_private=True)
    forget_app()
    given = {
        "HOME": str(made.settings.home),
        "SMTP_URL": server.url,
        "SMTP_FROM": "Concord <concord@example.org>",
        "URL": URL,
        "WEBHOOKS_PRIVATE": "yes",
    }
    for name, value in given.items():
        monkeypatch.setenv(f"CONCORD_{name}", value)
    return made


@pytest.fixture
def visit(app: App) -> Open:
    def go(page: str = "deliveries", persona: str = "admin", **query: str) -> AppTest:
        return page_of(page, persona, framed=False, **query)

    return go


def test_everybody_chooses_mail_for_everything_or_by_topic(app: App, visit: Open) -> None:
    shown = visit("account", "reviewer", part="Messages")
    assert "petra@meridale.example" in words(shown)
    shown.button_group(key="mail_all").set_value("daily").run()
    assert set(app.deliveries.choices.chosen(PETRA).values()) == {"daily"}
    shown.button_group(key="mail_reviews").set_value("at once").run()
    chosen = app.deliveries.choices.chosen(PETRA)
    assert (chosen["reviews"], chosen["watched"]) == ("at once", "daily")
    assert not shown.button_group(key="mail_all").value, "they differ now"
    shown.button_group(key="mail_reviews").set_value(None).run()
    assert app.deliveries.choices.chosen(PETRA)["reviews"] == "none"


def test_where_mail_is_not_set_up_the_pages_say_so(visit: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CONCORD_SMTP_URL")
    forget_app()
    assert "Mail is not set up here" in words(visit("account", "reader", part="Messages"))
    assert "CONCORD_SMTP_URL" in words(visit(deliveries="Mail"))


def test_the_log_shows_what_left_and_why_not_and_sends_it_again(app: App, visit: Open, server: MailServer) -> None:
    assert "Nothing has left yet." in words(visit())
    app.deliveries.choices.choose(PETRA, "at once")
    server.faults = ["554 no *such* letter"]
    tell(app)
    app.deliveries.sender.run()
    shown = visit()
    (line,) = shown.expander
    assert ":red-badge[Failed]" in line.label
    assert "**Petra Voss** · Avery Lindqvist asks you to review New hours" in line.label
    assert "554 · no \\*such\\* letter" in words(shown)
    shown.button(key="again_1").click().run()
    assert ":green-badge[Sent]" in shown.expander[0].label
    assert "1 sent" in words(shown)
    assert "Nothing matches" in words(visit(delivery_state="For the digest"))
    assert "Nothing matches" in words(visit(delivery_by="Webhooks"))


def test_more_than_a_page_of_deliveries_is_shown_on_request(app: App, visit: Open) -> None:
    app.deliveries.choices.choose(PETRA, "daily")
    for number in range(30):
        tell(app, ref=str(number))
    shown = visit()
    assert len(shown.expander) == 25
    shown.button(key="deliveries_more").click().run()
    assert len(shown.expander) == 30


def test_an_admin_adds_tries_switches_and_removes_a_webhook(app: App, visit: Open, hook: Receiver) -> None:
    shown = visit(deliveries="Webhooks")
    assert "No webhooks yet." in words(shown)
    shown.text_input(key="webhook_url").input(hook.url)
    shown.text_input(key="webhook_name").input("Our [bot](x)")
    shown.multiselect(key="webhook_events").set_value(["change.merged"])
    shown.button(key="FormSubmitter:webhook_form-Add").click().run()
    (secret,) = [code.value for code in shown.code]
    assert secret.startswith("whsec_")
    shown = visit(deliveries="Webhooks")
    assert not shown.code, "once"
    assert "Our \\[bot\\](x)** :green-badge[on]" in words(shown)
    assert "1 event ·" in words(shown)
    shown.button(key="test_1").click().run()
    assert len(hook.taken) == 1
    shown.button(key="switch_1").click().run()
    assert ":gray-badge[off]" in words(shown)
    assert shown.button(key="test_1").disabled
    assert not app.deliveries.webhooks.listed(ADMIN)[0].active


def test_a_bad_address_is_refused_in_a_sentence(visit: Open) -> None:
    shown = visit(deliveries="Webhooks")
    shown.text_input(key="webhook_url").input("nothing")
    shown.button(key="FormSubmitter:webhook_form-Add").click().run()
    assert "No webhooks yet." in words(shown)
    assert shown.text_input(key="webhook_url").value == "nothing", "what was typed stays"


def test_an_admin_tries_out_mail(visit: Open, server: MailServer) -> None:
    shown = visit(deliveries="Mail")
    assert "127.0.0.1" in words(shown)
    shown.button(key="test_mail").click().run()
    assert server.letters[0]["To"] == "Ada Brandt <ada@meridale.example>"


def test_the_link_of_a_mail_opens_without_signing_in() -> None:
    assert "/unsubscribe" in OPEN
    assert "/unsubscribe" in {getattr(route, "path", "") for route in routes.ROUTES}


def test_the_inbox_leads_to_the_choice_of_mail(app: App, visit: Open) -> None:

    app.inbox.messages.read(AUTHOR)
    shown = AppTest.from_file(str(ROOT / "streamlit_app.py"), default_timeout=PATIENCE)
    shown.session_state["persona"] = "author"
    shown.run()
    shown.switch_page("pages/inbox.py").run()
    assert not shown.exception, shown.exception
    labels = [link.proto.label for link in shown.get("page_link")]
    assert "Also by mail" in labels
    forget_app()
