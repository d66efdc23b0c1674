"""Three ways in: the demo on this machine alone, local accounts, and the organisation's own sign-in."""

from __future__ import annotations

import ast
import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from core.bootstrap import App
from core.errors import Refused
from core.services.people.accounts import DEMO, MIN_PASSWORD, NewAccount
from core.settings import Settings
from pages.ui.server import direct
from pages.ui.sign_in import cookies
from tests.conftest import PASSWORD, ROOT, demo, forget_app, put
from tests.support.apptest import PATIENCE, drawn


class Tab:
    """What Streamlit knows about the browser of a tab: the cookies that it came with."""

    headers: tuple[tuple[str, str], ...] = ()

    def __init__(self) -> None:
        self.cookies: dict[str, str] = {}


@pytest.fixture
def tab(monkeypatch: pytest.MonkeyPatch) -> Tab:
    made = Tab()
    monkeypatch.setattr("streamlit.runtime.context._get_client_context", lambda: made)
    return made


def sign_in(app: App, tab: Tab, who: str) -> int:
    """A new session for an account, in the cookies of the tab; its number."""
    tab.cookies = {cookies.SESSION: app.people.sessions.start(app.people.accounts.actor(who), cookies.SESSION)}
    found = cookies.found(app.people.sessions, tab.cookies)
    assert found
    return found[0].id


def opened(page: str = "") -> AppTest:
    script = ROOT / "pages" / f"{page}.py" if page else ROOT / "streamlit_app.py"
    app = AppTest.from_file(str(script), default_timeout=PATIENCE)
    app.run()
    assert not app.exception, app.exception
    return app


def titles(app: AppTest) -> list[str]:
    return [str(one.value) for one in app.title]


def said(app: AppTest) -> str:
    return "\n".join(str(one.value) for kind in ("title", "error", "info", "caption") for one in getattr(app, kind))


OUT = ["You are signed out"]


def test_without_a_session_a_page_shows_nothing_but_the_way_in(sign_in_app: App, tab: Tab) -> None:
    for cookie in ({}, {cookies.SESSION: "guess"}, {"_streamlit_user": "zoe"}):
        tab.cookies = cookie
        app = opened()
        assert titles(app) == OUT
        assert any('href="/sign-in?next=%2F"' in one.proto.body for one in app.get("html"))
        assert not app.get("bidi_component")


def test_a_new_tab_and_a_deep_link_are_signed_in_by_the_cookie(sign_in_app: App, tab: Tab) -> None:
    sign_in(sign_in_app, tab, "zoe")
    for _ in range(2):
        assert "Zoe Zahn · reviewer" in said(opened())
    assert titles(opened("reviews")) == ["Reviews"]


def test_a_role_that_was_taken_away_is_gone_on_the_next_run(sign_in_app: App, tab: Tab) -> None:
    sign_in(sign_in_app, tab, "zoe")
    app = opened("reviews")
    assert titles(app) == ["Reviews"]
    sign_in_app.people.accounts.set_role(demo("admin"), "zoe", "reader")
    app.run()
    assert "Zoe Zahn is signed in as reader" in said(app)


@pytest.mark.parametrize("what", ["sign out", "end", "switch off", "new password", "all others"])
def test_an_open_tab_is_out_on_its_next_run(sign_in_app: App, tab: Tab, what: str) -> None:
    number, people = sign_in(sign_in_app, tab, "zoe"), sign_in_app.people
    zoe = people.accounts.actor("zoe")
    app = opened()
    assert "Zoe Zahn" in said(app)
    if what == "sign out":
        people.sessions.sign_out(cookies.SESSION, tab.cookies[cookies.SESSION])
    elif what == "end":
        people.sessions.end(zoe, number)
    elif what == "switch off":
        people.accounts.set_active(demo("admin"), "zoe", False)
    elif what == "new password":
        people.accounts.set_password(zoe, "zoe", "another long password")
    else:
        other = people.sessions.find(cookies.SESSION, people.sessions.start(zoe, cookies.SESSION))
        assert other
        assert people.sessions.end_all(zoe, "zoe", keep=other[0].id) == 1
    app.session_state["upload_title"] = "Zoe's"
    app.run()
    assert titles(app) == OUT
    assert "upload_title" not in app.session_state


def test_an_invitation_is_a_whole_address_at_once_until_they_have_signed_in(
    sign_in_app: App, tab: Tab, monkeypatch: pytest.MonkeyPatch
) -> None:
    sign_in(sign_in_app, tab, "root")
    shown = "https://concord.example.org/team/accounts"
    monkeypatch.setattr("streamlit.runtime.context.ContextProxy.url", shown)
    app = opened("accounts")
    app.text_input(key="add_id").set_value("ava")
    app.text_input(key="add_email").set_value("ava@example.org")
    next(button for button in app.button if button.label == "Add").click().run()
    assert "ava · ava@example.org · Not signed in yet" in said(app)
    link = urlsplit(app.code[0].value)
    assert (link.scheme, link.netloc, link.path) == ("https", "concord.example.org", "/team/sign-in/password")
    held = {name: values[0] for name, values in parse_qs(link.query).items()}
    assert sign_in_app.people.accounts.linked("ava", held["until"], held["proof"]).id == "ava"
    sign_in_app.people.accounts.set_password(sign_in_app.people.accounts.actor("ava"), "ava", PASSWORD)
    app.run()
    assert (list(app.code), "ava@example.org · Not signed" in said(app)) == ([], False)


def test_a_tab_does_not_go_on_under_another_sign_in(sign_in_app: App, tab: Tab) -> None:
    sign_in(sign_in_app, tab, "zoe")
    app = opened()
    app.session_state["upload_title"] = "Zoe's"
    number = sign_in(sign_in_app, tab, "root")
    app.run()
    assert titles(app) == OUT, "the work of one is not shown to the next"
    app.run()
    assert titles(app) == ["What the team knows"]
    assert app.session_state["session"] == number
    assert "upload_title" not in app.session_state


def test_an_own_new_password_ends_the_other_sessions(sign_in_app: App, tab: Tab) -> None:
    people, root = sign_in_app.people, sign_in_app.people.accounts.actor("root")
    old = people.sessions.start(root, cookies.SESSION)
    number = sign_in(sign_in_app, tab, "root")
    app = opened("accounts")
    app.text_input(key="password_root").set_value("another long password").run()
    app.button(key="set_root").click().run()
    assert titles(app) == ["Accounts"]
    assert people.sessions.find(cookies.SESSION, old) is None
    assert [one.id for one in people.sessions.all(root, "root")] == [number]


def test_admins_see_and_end_everybodys_sessions_on_the_accounts_page(sign_in_app: App, tab: Tab) -> None:
    people = sign_in_app.people
    theirs = people.sessions.start(
        people.accounts.actor("zoe"), cookies.SESSION, "Mozilla/5.0 (X11; Linux) Firefox/140"
    )
    mine = sign_in(sign_in_app, tab, "root")
    app = opened("accounts")
    assert "**Firefox on Linux**" in [one.value for one in app.markdown]
    assert not [one for one in app.button if one.key == f"end_{mine}"], "one's own ends by signing out"
    found = people.sessions.find(cookies.SESSION, theirs)
    assert found
    app.button(key=f"end_{found[0].id}").click().run()
    assert people.sessions.find(cookies.SESSION, theirs) is None
    entry = people.audit.entries(demo("admin"), action="end session")[0]
    assert (entry.who, entry.what, entry.detail, entry.door) == ("root", "Zoe Zahn (zoe)", "Firefox on Linux", "app")


def test_a_page_token_ends_with_its_session(sign_in_app: App, tab: Tab) -> None:
    number, start = sign_in(sign_in_app, tab, "zoe"), time.time()
    zoe = sign_in_app.people.accounts.actor("zoe")
    held = direct.token(zoe, number)
    assert direct.holder(held, sign_in_app) == zoe
    assert direct.holder(held, sign_in_app, lambda: start + 13 * 3600) is None
    sign_in_app.people.accounts.set_role(demo("admin"), "zoe", "reader")
    assert direct.holder(held, sign_in_app).role == "reader"  # type: ignore[union-attr]
    sign_in_app.people.sessions.end(zoe, number)
    assert direct.holder(held, sign_in_app) is None
    assert direct.holder(direct.token(zoe, 0), sign_in_app) is None, "only a demo has tokens without a session"


@pytest.mark.parametrize("text", ["", "abc", "abc.", ".abc", "abc.é", "é.é", "a.b.c"])
def test_a_token_that_is_none_names_nobody(sign_in_app: App, text: str) -> None:
    assert direct.holder(text, sign_in_app) is None


def fragments() -> Iterator[tuple[str, ast.FunctionDef]]:
    for path in sorted((ROOT / "pages").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            marks = [ast.unparse(one) for one in getattr(node, "decorator_list", ())]
            if isinstance(node, ast.FunctionDef) and any(
                re.match(r"(st\.fragment|dialogs\.dialog)\b", one) for one in marks
            ):
                yield f"{path.relative_to(ROOT)}: {node.name}", node


def test_another_persona_finds_nothing_of_the_last_ones_work(sign_in_app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONCORD_SIGN_IN", "demo")
    app = opened()
    for key, value in {"upload_title": "Ada's", "upload_turn": 3, "upload_way": "Paste text"}.items():
        app.session_state[key] = value
    app.selectbox(key="persona").select_index(1).run()
    assert not app.exception
    assert "upload_title" not in app.session_state
    assert app.session_state["upload_turn"] == 4, "boxes start afresh"
    assert app.session_state["upload_way"] == "Paste text", "the page stays where it is"
    assert app.session_state["persona"] == "zoe"


def test_a_demo_opens_as_the_persona_that_the_browser_chose_last(
    sign_in_app: App, monkeypatch: pytest.MonkeyPatch, tab: Tab
) -> None:
    tab.cookies = {cookies.PERSONA: "zoe"}
    assert titles(opened()) == OUT, "where people sign in the cookie is no right"
    monkeypatch.setenv("CONCORD_SIGN_IN", "demo")
    forget_app()

    page = opened()
    assert page.selectbox(key="persona").value == "zoe"
    assert drawn(page, "shortcuts") == {"persona": "zoe", "remembered": "zoe"}, "the browser sends another choice"
    tab.cookies = {cookies.PERSONA: "someone"}
    assert opened().selectbox(key="persona").value != "someone"


def test_every_fragment_and_dialog_asks_who_is_there_before_anything_else() -> None:
    found = dict(fragments())
    assert len(found) >= 10
    for name, node in found.items():
        first = node.body[1] if ast.get_docstring(node) else node.body[0]
        assert re.search(r"identity\.(require|me)\(", ast.unparse(first)), name


def downloads(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], Any]]:
    """What is called when the files of a page are downloaded."""
    from streamlit.runtime.media_file_manager import MediaFileManager

    made: list[Callable[[], Any]] = []
    monkeypatch.setattr(MediaFileManager, "add_deferred", lambda self, data, *_, **__: made.append(data) or "file")
    return made


def test_a_document_is_downloaded_by_whoever_is_signed_in(
    sign_in_app: App, tab: Tab, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = downloads(monkeypatch)
    put(sign_in_app, {"a.md": "# Cash\n\nCount it.\n"})
    sign_in(sign_in_app, tab, "root")
    shown = AppTest.from_file(str(ROOT / "pages" / "documents.py"), default_timeout=PATIENCE)
    shown.query_params["doc"] = sign_in_app.knowledge.documents.all()[0].id
    assert not shown.run().exception
    tab.cookies = {}
    with ThreadPoolExecutor() as threads:  # a download runs where there is no session
        assert b"Count it." in threads.submit(made[0]).result()
        assert threads.submit(made[1]).result()[:2] == b"PK"


def test_the_audit_is_exported_for_whoever_is_signed_in(
    sign_in_app: App, tab: Tab, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = downloads(monkeypatch)
    sign_in(sign_in_app, tab, "root")
    sign_in_app.people.accounts.sign_in("root", PASSWORD)
    opened("audit")
    with ThreadPoolExecutor() as threads:  # a download runs where there is no session
        lines = threads.submit(made[-1]).result().splitlines()
        assert lines[0].startswith("id,at,who")
        assert any("Rita Root,admin,app,sign in" in line for line in lines)
        sign_in_app.people.accounts.add(demo("admin"), NewAccount("ben", "Ben", "ben@example.org", "admin"))
        sign_in_app.people.accounts.set_active(demo("admin"), "root", False)
        with pytest.raises(Refused, match="switched off"):
            threads.submit(made[-1]).result()


def test_words_of_an_error_are_shown_as_they_are() -> None:
    def page() -> None:
        from core.errors import BadInput
        from pages.ui.server import errors

        errors.show(BadInput("No document *a* at [here](https://example.org)."))

    shown = AppTest.from_function(page, default_timeout=PATIENCE).run().error[0].value
    assert shown == r"No document \*a\* at \[here\](https\://example.org)."


def test_the_page_on_sign_in_says_what_the_code_does(sign_in_app: App) -> None:
    text = (ROOT / "docs" / "accounts.md").read_text()
    assert f"{Settings().session_idle:.0f} hours" in text
    assert f"{Settings().session_life:.0f} days" in text
    assert f"at least {MIN_PASSWORD} characters" in text
    assert f"for one in {' '.join(one.id for one in DEMO)}; do" in text
    assert {one.id for one in sign_in_app.people.accounts.all()} == {"root", "zoe"}, "only a demo has personas"
