"""`streamlit run streamlit_app.py` is the whole app: address, routes, headers, frame and error page."""

from __future__ import annotations

import http.client
import json
import re
import shutil
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from core.bootstrap import build
from pages.ui.menu import PAGES
from pages.ui.server import listening
from tests.conftest import ROOT, kb_settings
from tests.support import browser

EVERYWHERE = "0.0.0.0"
BROKEN = {  # what is put into a page -> what people read
    'raise ValueError("a secret")': r"Something went wrong here\. It was logged under the number [0-9a-f]{8}; ",
    'from core.errors import NotFound; raise NotFound("No *such* thing.")': r"^No \*such\* thing\.$",
}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A workspace with nothing in it."""
    build(kb_settings(tmp_path / "kb")).platform.workspace.create()
    return tmp_path / "kb"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The app in a folder of its own, where a test may change its pages and its config.toml."""
    made = tmp_path / "app"
    shutil.copytree(ROOT / ".streamlit", made / ".streamlit")
    shutil.copytree(ROOT / "pages", made / "pages")
    for name in ("core", "streamlit_app.py"):
        (made / name).symlink_to(ROOT / name)
    return made


def refused(address: str) -> Any:
    return pytest.raises(RuntimeError, match=f"only runs on this machine's own address, not on {address}")


@pytest.mark.parametrize(
    ("value", "address"), [(EVERYWHERE, EVERYWHERE), pytest.param("", "all addresses", marks=pytest.mark.slow)]
)
def test_a_demo_refuses_an_address_given_as_a_flag(home: Path, tmp_path: Path, value: str, address: str) -> None:
    with refused(address), browser.server(home, tmp_path / "log", "--server.address", value):
        pass


def test_a_demo_refuses_an_address_given_in_the_environment(home: Path, tmp_path: Path) -> None:
    with refused(EVERYWHERE), browser.server(home, tmp_path / "log", STREAMLIT_SERVER_ADDRESS=EVERYWHERE):
        pass


@pytest.mark.parametrize(
    ("text", "address"),
    [
        pytest.param(f'[server]\naddress = "{EVERYWHERE}"', EVERYWHERE, marks=pytest.mark.slow),
        ("", "all addresses"),
    ],
)
def test_a_demo_refuses_an_address_given_by_config_toml_or_by_nobody(
    home: Path, folder: Path, tmp_path: Path, text: str, address: str
) -> None:
    (folder / ".streamlit" / "config.toml").write_text(text)
    with refused(address), browser.server(home, tmp_path / "log", folder=folder):
        pass


def test_people_with_accounts_may_come_from_other_machines(home: Path, tmp_path: Path) -> None:
    flags = ("--server.address", EVERYWHERE)
    with browser.server(home, tmp_path / "log", *flags, CONCORD_SIGN_IN="local") as url:
        assert urllib.request.urlopen(f"{url}/api/health", timeout=browser.PATIENCE).status == 200


@pytest.mark.slow
def test_a_connection_that_was_idle_for_a_while_takes_the_next_request(home: Path, tmp_path: Path) -> None:
    """A client thinks longer than uvicorn's own 5 seconds; the connection is the same, so nothing can be dropped."""
    with browser.server(home, tmp_path / "log") as url:
        connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=browser.PATIENCE)
        connection.connect()
        opened = connection.sock
        for thinks in (0.0, 5.0, 7.0):
            time.sleep(thinks)
            assert opened is connection.sock
            connection.request("GET", "/api/health")
            assert connection.getresponse().read()
        connection.close()


def test_the_server_keeps_an_idle_connection_longer_than_proxies_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uvicorn.Config, "timeout_keep_alive", 5, raising=False)
    made_before = uvicorn.Config("app:app")
    listening.keep_connections()
    assert {made_before.timeout_keep_alive, uvicorn.Config("app:app").timeout_keep_alive} == {listening.KEPT}
    assert listening.KEPT > 120


def test_routes_answer_and_every_answer_has_the_security_headers(home: Path, tmp_path: Path) -> None:
    with browser.server(home, tmp_path / "log") as url:
        health, page = (
            urllib.request.urlopen(url + path, timeout=browser.PATIENCE) for path in ("/api/health", "/search")
        )
        assert json.load(health) == {"status": "ok"}
        for answer in (health, page):
            assert "default-src 'self'" in answer.headers["content-security-policy"]
            assert answer.headers["x-content-type-options"] == "nosniff"
        for path in ("/api/v1/page/search?q=a", "/api/v1/page/pending"):
            with pytest.raises(urllib.error.HTTPError, match="401"):
                urllib.request.urlopen(url + path, timeout=browser.PATIENCE)


@pytest.mark.browser
def test_the_first_session_finds_the_frame_around_a_deep_link(chromium: Any, home: Path, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    with browser.server(home, tmp_path / "log") as url, browser.screen(chromium, url) as screen:
        screen.open("/audit")
        links = screen.page.get_by_test_id("stSidebarNavLink")
        expect(links).to_have_count(sum(len(pages) for pages in PAGES.values()))
        expect(screen.page.get_by_role("heading", name="Audit")).to_be_visible()


@pytest.mark.browser
def test_a_page_that_fails_says_so_without_a_stack_trace(
    chromium: Any, home: Path, folder: Path, tmp_path: Path
) -> None:
    from playwright.sync_api import expect

    pages = dict(zip(("documents", "audit"), BROKEN.items(), strict=True))
    for name, (code, _) in pages.items():
        (folder / "pages" / f"{name}.py").write_text(code)
    shown = {}
    start = browser.server(home, tmp_path / "log", folder=folder)
    with pytest.raises(AssertionError) as log, start as url, browser.screen(chromium, url) as screen:  # noqa: PT012
        for name, (_, expected) in pages.items():
            alert = screen.open(f"/{name}").page.get_by_test_id("stAlert")
            expect(alert).to_have_text(re.compile(expected))
            shown[name] = alert.inner_text()
            expect(screen.page.get_by_text("a secret")).to_have_count(0)
    number = re.findall("number ([0-9a-f]{8})", shown["documents"])[0]
    assert f"error {number}" in str(log.value), "the server's log has the stack trace under that number"
    assert "ValueError: a secret" in str(log.value)
