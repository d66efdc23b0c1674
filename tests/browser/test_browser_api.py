"""The HTTP API in the real app: beside the pages, behind the same guard, with a page about it that works by itself."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any

import pytest

from core.bootstrap import App
from tests.conftest import demo
from tests.support import browser

pytestmark = pytest.mark.browser


def ask(address: str, token: str = "", **headers: str) -> tuple[int, dict[str, str], Any]:
    """Status, headers and JSON of an answer."""
    sent = {**({"Authorization": f"Bearer {token}"} if token else {}), **headers}
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=sent), timeout=browser.PATIENCE) as answer:
            return answer.status, dict(answer.headers), json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, dict(error.headers), json.load(error)


def test_the_app_lets_programs_through_by_token_alone(own_app: App, url: str) -> None:
    secret, token = own_app.people.tokens.make(demo("reader"), "program", "read")
    status, headers, found = ask(f"{url}/api/v1/search?q=vpn", secret)
    assert (status, bool(found["hits"])) == (200, True)
    assert headers["x-request-id"]
    assert "default-src 'self'" in headers["content-security-policy"]
    assert ask(f"{url}/api/v1/search?q=vpn")[0] == 401
    assert ask(f"{url}/api/v1/nothing", secret, Accept="text/html")[0] == 404
    assert ask(f"{url}/api/v1/search?q=vpn", secret, Host="evil.example")[0] == 421
    assert ask(f"{url}/api/v1/diff/a%0Ab", secret)[2]["status"] == 404
    own_app.people.tokens.revoke(demo("reader"), token.id)
    assert ask(f"{url}/api/v1/search?q=vpn", secret)[0] == 401


@pytest.mark.slow
def test_the_page_about_the_api_sends_a_request(own_app: App, url: str, chromium: Any) -> None:
    secret, _ = own_app.people.tokens.make(demo("reader"), "page", "read")
    page, heard = browser.new_page(chromium), []
    page.on("console", lambda message: heard.append(message.text))
    page.on("requestfailed", lambda request: heard.append(request.url))
    page.goto(f"{url}/api/v1/docs")
    page.fill("#token", secret)
    page.click("#search > summary")
    page.fill("#search input[name='q']", "vpn")
    page.click("#search button")
    page.wait_for_selector("#search output pre:has-text('\"hits\"')")
    assert page.inner_text("#search output pre").startswith("200")
    assert heard == []
    page.context.close()
