"""The page Account and the service accounts on Accounts, under AppTest."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.bootstrap import App
from core.services.people.accounts import NewAccount
from tests.conftest import ROOT, NoProcesses, demo, put, serve, small_app
from tests.support.apptest import PATIENCE, Open, page_of, words

ADMIN, AUTHOR = demo("admin"), demo("author")


@pytest.fixture
def people_app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> App:
    made = small_app(tmp_path / "home", NoProcesses())
    made.people.accounts.add(ADMIN, NewAccount("bot", "Helpdesk bot", "bot@example.org", "author", kind="agent"))
    serve(made, monkeypatch)
    return made


@pytest.fixture
def visit(people_app: App) -> Open:
    def go(page: str = "account", persona: str = "author", **query: str) -> AppTest:
        return page_of(page, persona, framed=False, **query)

    return go


def make(page: AppTest, owner: str, name: str, scope: str) -> str:
    """Fill in the form; the token that the page shows."""
    page.text_input(key=f"token_name_{owner}").set_value(name)
    page.radio(key=f"token_scope_{owner}").set_value(scope)
    next(button for button in page.button if button.label == "Make token").click().run()
    assert not page.exception, page.exception
    return next((str(code.value) for code in page.code), "")


def test_a_token_is_made_shown_once_and_asked_about_before_it_ends(visit: Open, people_app: App) -> None:
    page = visit()
    assert "No access tokens yet." in words(page)
    text = make(page, "author", "Nightly report", "read")
    assert people_app.people.tokens.holder(text, "api").token == "Nightly report"
    assert "token_made" not in page.session_state
    page.run()
    assert not page.code, "it is not shown again"
    assert "**Nightly report** :gray-badge[read]" in words(page)
    (token,) = people_app.people.tokens.listed(AUTHOR, "author")
    page.button(key=f"revoke_{token.id}").click().run()
    assert people_app.people.tokens.holder(text, "api"), "not before the answer"
    assert "Revoke Nightly report?" in words(page)
    people_app.people.tokens.revoke(AUTHOR, token.id)
    page.run()
    assert "**Nightly report** · read · revoked" in words(page)


@pytest.mark.parametrize(("persona", "scopes"), [("reader", 2), ("author", 3), ("reviewer", 3)])
def test_scopes_are_offered_as_far_as_the_role_can_use_them(visit: Open, persona: str, scopes: int) -> None:
    assert len(visit(persona=persona).radio(key=f"token_scope_{persona}").options) == scopes


def test_a_token_without_a_name_is_refused_in_a_sentence(visit: Open) -> None:
    page = visit()
    assert make(page, "author", " ", "read") == ""
    from pages.ui import keys

    assert "Give the access token a name" in str(page.session_state[keys.FLASH])


def test_the_demo_says_that_it_has_no_sign_in(visit: Open) -> None:
    assert "The demo has no sign-in" in words(visit(part="Sign-in"))


def test_admins_make_tokens_for_agents_and_people_are_listed_apart(visit: Open, people_app: App) -> None:
    page = visit("accounts", "admin")
    shown = words(page)
    assert "**Helpdesk bot** :blue-badge[agent]" in shown
    assert page.selectbox(key="role_bot").options == ["reader", "author", "reviewer"]
    assert not [box for box in page.text_input if box.key == "password_bot"]
    text = make(page, "bot", "Assistant", "propose")
    actor = people_app.people.tokens.holder(text, "mcp")
    assert (actor.id, actor.kind, actor.scope) == ("bot", "agent", "propose")


def test_an_admin_adds_a_service_without_an_address(visit: Open, people_app: App) -> None:
    page = visit("accounts", "admin")
    for name, value in (("id", "pipeline"), ("name", "Pipeline")):
        page.text_input(key=f"add_{name}").set_value(value)
    page.selectbox(key="add_kind").set_value("service")
    next(button for button in page.button if button.label == "Add").click().run()
    account = people_app.people.accounts.get("pipeline")
    assert (account.kind, account.email) == ("service", "pipeline@localhost")


def test_nobody_becomes_a_service_or_an_agent_in_the_demo(people_app: App) -> None:
    shown = AppTest.from_file(str(ROOT / "streamlit_app.py"), default_timeout=PATIENCE).run()
    assert not [name for name in shown.selectbox(key="persona").options if "bot" in name]


def test_the_audit_shows_door_and_token(visit: Open, people_app: App) -> None:
    text, _ = people_app.people.tokens.make(AUTHOR, "Script", "propose")
    actor = people_app.people.tokens.holder(text, "api", "r-7")
    people_app.reviews.changes.propose(actor, "New", {"a.md": b"# A\n\nText.\n"})
    table = visit("audit", "admin").dataframe[0].value
    row = table[table["Action"] == "propose"].iloc[0]
    assert (row["Door"], row["Token"], row["Request"]) == ("api", "Script", "r-7")


def test_whoever_does_not_analyse_chooses_so_once(visit: Open, people_app: App) -> None:
    from pages.ui import frame

    put(people_app, {"it/vpn.md": "# VPN\n\nUse it.\n"})

    def shown():
        return [page.visibility for page in frame.menu(AUTHOR)["Analysis"]]

    def tabs(persona):
        return visit("documents", persona, doc="it/vpn").segmented_control(key="tab").options

    assert (set(shown()), tabs("author")) == ({"visible"}, ["Read", "History", "Links", "Chunks"])
    page = visit()
    page.toggle(key="analysis").set_value(False).run()
    assert not page.exception
    assert (set(shown()), tabs("author")) == ({"hidden"}, ["Read", "History", "Links"])
    assert visit().toggle(key="analysis").value is False, "for every browser"
    assert tabs("reader") == ["Read", "History", "Links"]


@pytest.mark.parametrize("persona", ["reader", "admin"])
def test_a_document_has_five_buttons_and_a_menu(visit: Open, people_app: App, persona: str) -> None:
    put(people_app, {"it/vpn.md": "# VPN\n\nUse it.\n"})
    page = visit("documents", persona, doc="it/vpn")
    row = next(block for block in page.main.children.values() if "document_tools" in str(block.proto))
    assert len(row.children) == 5
