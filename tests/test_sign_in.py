"""Three ways in: the demo on this machine alone, local accounts, and the organisation's own sign-in."""

from __future__ import annotations

import ast
import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.access import NEEDS, ROLES
from core.bootstrap import App, build
from core.errors import Refused
from core.services.people.accounts import DEMO, MIN_PASSWORD
from core.settings import load
from pages.ui import direct
from tests.conftest import ROOT, demo, sql

PASSWORD = "correct horse battery"


@pytest.fixture
def sign_in_app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> App:
    """A workspace with one admin and one author who sign in, and nothing in it."""
    import streamlit as st

    from core.adapters.system.processes import Processes

    made = build(load({}, home=tmp_path / "kb", sign_in="local"))
    made.platform.workspace.create()
    made.people.accounts.add(demo("admin"), "root", "Rita Root", "rita@example.org", "admin", PASSWORD)
    made.people.accounts.add(demo("admin"), "zoe", "Zoe Zahn", "zoe@example.org", "reviewer", PASSWORD)
    monkeypatch.setattr(Processes, "spawn", lambda self, job: None)
    monkeypatch.setenv("CONCORD_HOME", str(tmp_path / "kb"))
    monkeypatch.setenv("CONCORD_SIGN_IN", "local")
    st.cache_resource.clear()
    st.cache_data.clear()
    return made


def opened(page: str = "", **user: Any) -> AppTest:
    script = ROOT / "pages" / f"{page}.py" if page else ROOT / "streamlit_app.py"
    app = AppTest.from_file(str(script), default_timeout=60)
    if user:
        app.user = user
    app.run()
    assert not app.exception, app.exception
    return app


def sign_in(app: AppTest, name: str, password: str) -> AppTest:
    app.text_input(key="sign_in_name").set_value(name)
    app.text_input(key="sign_in_password").set_value(password)
    next(button for button in app.button if button.label == "Sign in").click().run()
    return app


def said(app: AppTest) -> str:
    return "\n".join(str(one.value) for kind in ("title", "error", "info", "caption") for one in getattr(app, kind))


def test_nothing_is_shown_before_the_right_password(sign_in_app: App) -> None:
    app = opened()
    assert [one.value for one in app.title] == ["Sign in"]
    assert not app.get("bidi_component")
    sign_in(app, "zoe", "wrong horse")
    assert "The name or the password is wrong." in said(app)
    sign_in(app, "nobody", PASSWORD)
    assert "The name or the password is wrong." in said(app), "which of the two is not told"
    sign_in(app, "ZOE@example.org", PASSWORD)
    assert "Zoe Zahn · reviewer" in said(app)
    app.button(key="sign_out").click().run()
    assert [one.value for one in app.title] == ["Sign in"]
    actions = [entry.action for entry in sign_in_app.people.audit.entries(demo("admin"))]
    assert actions.count("refuse sign-in") == 2
    assert actions.count("sign in") == 1


def test_after_five_wrong_passwords_the_account_rests(sign_in_app: App) -> None:
    app = opened("search")
    for _ in range(5):
        sign_in(app, "zoe", "guess")
    sign_in(app, "zoe", PASSWORD)
    assert "Too many wrong passwords. Wait five minutes, then try again." in said(app)
    sign_in(app, "root", PASSWORD)
    assert not app.text_input or app.text_input[0].key != "sign_in_name", "others are not kept out"
    noted = [one.detail for one in sign_in_app.people.audit.entries(demo("admin"), who="zoe", action="refuse sign-in")]
    assert noted == ["too many wrong passwords", *["wrong name or password"] * 5], "each try has its line"


def test_a_role_that_was_taken_away_is_gone_on_the_next_run(sign_in_app: App) -> None:
    app = sign_in(opened("reviews"), "zoe", PASSWORD)
    assert [one.value for one in app.title] == ["Reviews"]
    sign_in_app.people.accounts.set_role(demo("admin"), "zoe", "reader")
    app.run()
    assert "Zoe Zahn is signed in as reader" in said(app)
    sign_in_app.people.accounts.set_active(demo("admin"), "zoe", False)
    app.run()
    assert [one.value for one in app.title] == ["Sign in"]


def test_accounts_that_share_an_address_are_named_on_their_page(sign_in_app: App) -> None:
    sql(sign_in_app, "UPDATE accounts SET address = 'rita@example.org zoe' WHERE id = 'zoe'")
    page = sign_in(opened("accounts"), "root", PASSWORD)
    assert "Switch off the one that is not needed" in page.warning[0].value


def test_a_token_says_who_and_the_accounts_say_what_they_may(sign_in_app: App) -> None:
    zoe, start = sign_in_app.people.accounts.actor("zoe"), time.time()
    held = direct.token(zoe)
    assert held
    assert direct.holder(held, sign_in_app.people.accounts, lambda: start) == zoe
    sign_in_app.people.accounts.set_role(demo("admin"), "zoe", "reader")
    assert direct.holder(held, sign_in_app.people.accounts, lambda: start + 1).role == "reader"  # type: ignore[union-attr]
    sign_in_app.people.accounts.set_active(demo("admin"), "zoe", False)
    assert direct.holder(held, sign_in_app.people.accounts, lambda: start + 2) is None
    assert (
        direct.holder(
            direct.token(sign_in_app.people.accounts.actor("root")),
            sign_in_app.people.accounts,
            lambda: start + 13 * 3600,
        )
        is None
    )


@pytest.mark.parametrize("text", ["", "abc", "abc.", ".abc", "abc.é", "é.é", "a.b.c"])
def test_a_token_that_is_none_names_nobody(sign_in_app: App, text: str) -> None:
    assert direct.holder(text, sign_in_app.people.accounts) is None


def fragments() -> Iterator[tuple[str, ast.FunctionDef]]:
    for path in sorted((ROOT / "pages").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            marks = [ast.unparse(one) for one in getattr(node, "decorator_list", ())]
            if isinstance(node, ast.FunctionDef) and any(re.match(r"st\.(fragment|dialog)\b", one) for one in marks):
                yield f"{path.relative_to(ROOT)}: {node.name}", node


def test_nothing_of_one_persons_work_is_left_for_the_next(sign_in_app: App) -> None:
    zoe = sign_in_app.people.accounts.actor("zoe")
    sign_in_app.knowledge.drafts.keep(zoe, "new", "a draft")
    app = sign_in(opened(), "zoe", PASSWORD)
    for key in ("upload_title", "playground", "tune_alpha"):
        app.session_state[key] = "Zoe's"
    app.query_params["doc"] = "zoe.md"
    app.button(key="sign_out").click().run()
    assert not [key for key in ("account", "upload_title", "playground", "tune_alpha") if key in app.session_state]
    assert not app.query_params
    sign_in(app, "root", PASSWORD)
    assert not app.exception
    assert sign_in_app.knowledge.drafts.find(zoe, "new"), "a draft is kept for its writer"


def test_whoever_signs_in_after_an_account_was_switched_off_finds_an_empty_desk(sign_in_app: App) -> None:
    app = sign_in(opened(), "zoe", PASSWORD)
    app.session_state["upload_title"] = "Zoe's"
    sign_in_app.people.accounts.set_active(demo("admin"), "zoe", False)
    sign_in(app.run(), "root", PASSWORD)
    assert app.session_state["account"] == "root"
    assert "upload_title" not in app.session_state


def test_another_persona_finds_nothing_of_the_last_ones_work(sign_in_app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONCORD_SIGN_IN", "demo")
    app = opened()
    for key, value in {"upload_title": "Ada's", "upload_turn": 3, "upload_way": "paste"}.items():
        app.session_state[key] = value
    app.selectbox(key="persona").select_index(1).run()
    assert not app.exception
    assert "upload_title" not in app.session_state
    assert app.session_state["upload_turn"] == 4, "boxes start afresh"
    assert app.session_state["upload_way"] == "paste", "the page stays where it is"
    assert app.session_state["persona"] == "zoe"


def test_every_fragment_and_dialog_asks_who_is_there_before_anything_else() -> None:
    found = dict(fragments())
    assert len(found) >= 10
    for name, node in found.items():
        first = node.body[1] if ast.get_docstring(node) else node.body[0]
        assert re.search(r"identity\.(require|me)\(", ast.unparse(first)), name


def test_the_audit_is_exported_for_whoever_is_signed_in(sign_in_app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    from streamlit.runtime.media_file_manager import MediaFileManager

    made: list[Callable[[], str]] = []
    monkeypatch.setattr(MediaFileManager, "add_deferred", lambda self, data, *_, **__: made.append(data) or "file")
    sign_in(opened("audit"), "root", PASSWORD)
    with ThreadPoolExecutor() as threads:  # a download runs where there is no session
        lines = threads.submit(made[-1]).result().splitlines()
        assert lines[0].startswith("id,at,who")
        assert any("Rita Root,admin,app,sign in" in line for line in lines)
        sign_in_app.people.accounts.add(demo("admin"), "ben", "Ben", "ben@example.org", "admin")
        sign_in_app.people.accounts.set_active(demo("admin"), "root", False)
        with pytest.raises(Refused, match="switched off"):
            threads.submit(made[-1]).result()


def test_without_a_provider_oidc_says_what_is_missing(sign_in_app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONCORD_SIGN_IN", "oidc")
    app = opened()
    assert "no sign-in provider is configured" in said(app)
    assert "docs/sign-in.md" in said(app)
    assert not app.get("bidi_component")


@pytest.mark.parametrize(
    ("user", "expected"),
    [
        ({"is_logged_in": False}, "Sign in"),
        ({"is_logged_in": True, "email": "eve@example.org"}, "There is no account for eve@example.org."),
        ({"is_logged_in": True, "email": "zoe@example.org", "email_verified": False}, "There is no account for"),
        ({"is_logged_in": True}, "There is no account for you."),
        ({"is_logged_in": True, "email": "Zoe@example.org", "email_verified": True}, "Zoe Zahn · reviewer"),
    ],
)
def test_a_provider_lets_in_whom_an_account_names(
    sign_in_app: App, monkeypatch: pytest.MonkeyPatch, user: dict[str, Any], expected: str
) -> None:
    monkeypatch.setenv("CONCORD_SIGN_IN", "oidc")
    app = opened(**user)
    assert expected in said(app).replace("\\", "")
    inside = expected.startswith("Zoe")
    assert bool([one for one in sign_in_app.people.audit.entries(demo("admin")) if one.action == "sign in"]) == inside
    assert any(one.key == "sign_out" for one in app.button) == inside
    app.run()
    refused = [one for one in sign_in_app.people.audit.entries(demo("admin")) if one.action == "refuse sign-in"]
    assert len(refused) == (user["is_logged_in"] and not inside), "once, however often the page is drawn"
    sign_in_app.people.accounts.set_active(demo("admin"), "zoe", False)
    app.run()
    assert "Zoe Zahn" not in said(app)
    if inside:
        last = sign_in_app.people.audit.entries(demo("admin"), action="refuse sign-in")[0]
        assert (last.who, last.detail) == ("zoe@example.org", "no account that is on")


def test_words_of_an_error_are_shown_as_they_are() -> None:
    def page() -> None:
        from core.errors import BadInput
        from pages.ui import errors

        errors.show(BadInput("No document *a* at [here](https://example.org)."))

    shown = AppTest.from_function(page, default_timeout=60).run().error[0].value
    assert shown == r"No document \*a\* at \[here\](https\://example.org)."


def test_the_page_on_sign_in_says_what_the_code_does(sign_in_app: App) -> None:
    text = (ROOT / "docs" / "sign-in.md").read_text()
    pinned = re.search(r"^streamlit(==\S+)", (ROOT / "requirements.txt").read_text(), re.MULTILINE)
    assert pinned
    assert f"streamlit[auth]{pinned[1]}" in text
    assert f"at least {MIN_PASSWORD} characters" in text
    assert f"for one in {' '.join(one.id for one in DEMO)}; do" in text
    assert {one.id for one in sign_in_app.people.accounts.all()} == {"root", "zoe"}, "only a demo has personas"


def test_the_page_on_roles_lists_every_action() -> None:
    text = (ROOT / "docs" / "sign-in.md").read_text()
    rows = dict(re.findall(r"^\| ([a-z ]+?) \| ((?:yes)? ?\|.*)$", text, re.MULTILINE))
    for action, role in NEEDS.items():
        cells = [cell.strip() for cell in rows[action].split("|")][:4]
        assert cells == ["yes" if ROLES.index(one) >= ROLES.index(role) else "" for one in ROLES], action
    assert set(rows) == set(NEEDS)
