"""Sessions: the cookie over HTTP, what ends it, what it is not fooled by, and the command line."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from core.bootstrap import App
from core.entrypoints.api.application import ApiDoor
from core.entrypoints.cli import main
from core.errors import NotFound, Refused
from core.services.people.accounts import NewAccount
from core.services.people.sessions import device
from pages.ui.server import direct, routes, startup
from pages.ui.sign_in.cookies import KNOWN, SESSION, own_path
from pages.ui.sign_in.gate import SignInGate
from tests.conftest import PASSWORD, demo, forget_app, sql

HTML = {"accept": "text/html"}
LINUX = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36"


def visitor(base: str = "http://concord.test", **headers: str) -> TestClient:
    """A browser with a cookie jar of its own, in front of the routes and of a page behind them."""
    page = Route("/{path:path}", lambda request: PlainTextResponse("the app"))
    door = Middleware(ApiDoor, api=routes.API)
    app = Starlette(routes=[*routes.ROUTES, page], middleware=[door, Middleware(SignInGate)])
    made = TestClient(app, base, follow_redirects=False)
    made.headers = {"user-agent": LINUX, **HTML, **headers}
    return made


def sign_in(browser: TestClient, name: str = "zoe", password: str = PASSWORD, after: str = "/", **headers: str) -> Any:
    return browser.post("/sign-in", data={"name": name, "password": password, "next": after}, headers=headers)


def signed_in(**headers: str) -> TestClient:
    browser = visitor(**headers)
    assert sign_in(browser).status_code == 303
    return browser


def inside(browser: TestClient) -> bool:
    return browser.get("/").text == "the app"


def test_a_file_that_a_page_made_is_for_whoever_is_signed_in(sign_in_app: App) -> None:
    """Streamlit gives an export to whoever knows its address; outside a session nobody gets it."""
    name = "/media/0f343b0931126a20f133d67c2b018a3b.csv"
    for headers in ({}, {"accept": "*/*"}, {"sec-fetch-dest": "image"}):
        assert visitor(**headers).get(name).status_code == 401
        assert visitor(**headers).get("/static/media/font.woff2").text == "the app"
    browser = signed_in()
    assert browser.get(name).text == "the app"
    sign_in_app.people.accounts.set_active(demo("admin"), "zoe", False)
    assert browser.get(name).status_code == 401


def test_a_deep_link_leads_to_sign_in_and_back(sign_in_app: App) -> None:
    browser = visitor()
    sent = browser.get("/documents?doc=FIN-POL-001&tab=History")
    assert sent.status_code == 303
    form = browser.get(sent.headers["location"])
    assert 'name="next" value="/documents?doc=FIN-POL-001&amp;tab=History"' in form.text
    assert form.headers["cache-control"] == "no-store"
    done = sign_in(browser, after="/documents?doc=FIN-POL-001&tab=History")
    assert (done.status_code, done.headers["location"]) == (303, "/documents?doc=FIN-POL-001&tab=History")
    for _ in range(2):  # a reload, a second tab
        assert browser.get("/documents?doc=FIN-POL-001").text == "the app"
    assert browser.get("/sign-in?next=/search").headers["location"] == "/search", "whoever is in goes on"


def test_the_cookie_is_for_the_browser_alone_and_its_token_is_not_stored(sign_in_app: App) -> None:
    plain = sign_in(visitor()).headers["set-cookie"]
    assert plain.startswith(f"{SESSION}=")
    assert all(part in plain for part in ("HttpOnly", "SameSite=lax", "Path=/", f"Max-Age={30 * 86400}"))
    assert "Secure" not in plain
    for browser in (visitor("https://concord.test"), visitor(**{"x-forwarded-proto": "https"})):
        cookie = sign_in(browser).headers["set-cookie"]
        assert cookie.startswith(f"__Host-{SESSION}=")
        assert "Secure" in cookie
        assert "Domain" not in cookie
        name, _, token = cookie.partition(";")[0].partition("=")
        stored = str(sql(sign_in_app, "SELECT * FROM sessions"))
        assert token not in stored
        assert hashlib.sha256(f"{name}={token}".encode()).hexdigest() in stored
        planted = visitor("https://concord.test")
        planted.cookies.set(SESSION, token)
        assert not inside(planted), "a token of a prefixed cookie is worth nothing in a plain one"


def test_the_wrong_password_says_no_more_than_that(sign_in_app: App) -> None:
    browser = visitor()
    for name, password in (("zoe", "wrong horse"), ("nobody", PASSWORD), ("zoe", ""), ("", "")):
        answer = sign_in(browser, name, password, "/search")
        assert answer.status_code == 401
        assert "The name or the password is wrong." in answer.text
        assert "set-cookie" not in answer.headers
        assert 'value="/search"' in answer.text
    hostile = sign_in(browser, '"><script>alert(1)</script>', "x", '/"><script>')
    assert "<script>" not in hostile.text
    assert not inside(browser)
    assert sign_in(browser, "ZOE@example.org").status_code == 303


def test_after_five_wrong_passwords_the_account_rests(sign_in_app: App) -> None:
    browser = visitor()
    for _ in range(5):
        sign_in(browser, "zoe", "guess")
    assert "Too many wrong passwords. Wait five minutes, then try again." in sign_in(browser).text
    assert not inside(browser)
    assert sign_in(browser, "root").status_code == 303, "others are not kept out"


def test_a_browser_that_signed_in_before_comes_in_while_others_guess(sign_in_app: App) -> None:
    known, guesser, shared = signed_in(), visitor(), visitor()
    cookie = next(value for name, value in known.cookies.items() if name.startswith(KNOWN))
    known.post("/sign-out")
    for n in range(8):
        sign_in(guesser, "zoe", "guess", **{"x-forwarded-for": f"8.8.8.{n}"})
    assert "Too many wrong passwords" in sign_in(guesser).text, "nobody names his own address"
    assert sign_in(known).status_code == 303
    made_up = {name: value[:-1] + ("0" if value[-1] != "0" else "1") for name, value in known.cookies.items()}
    shared.cookies.update({name: value for name, value in made_up.items() if name.startswith(KNOWN)})
    assert "Too many wrong passwords" in sign_in(shared).text
    again = next(value for name, value in known.cookies.items() if name.startswith(KNOWN))
    assert again != cookie


def test_an_address_counts_as_a_trusted_proxy_names_it(sign_in_app: App) -> None:
    from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

    inner = visitor().app
    for trusted, looked in (("testclient", 10), ("10.1.1.1", 5)):
        sql(sign_in_app, "DELETE FROM attempts")
        browser = TestClient(ProxyHeadersMiddleware(inner, trusted), "http://concord.test", follow_redirects=False)  # type: ignore[arg-type]
        told = [
            sign_in(browser, "zoe", "guess", **{"x-forwarded-for": f"1.1.1.1, 8.8.8.{n}"}).text.count("is wrong")
            for n in range(10)
        ]
        assert sum(told) == looked


def test_an_admin_at_the_terminal_lets_somebody_in(sign_in_app: App, capsys: pytest.CaptureFixture[str]) -> None:
    browser = visitor()
    for _ in range(6):
        sign_in(browser, "zoe", "guess")
    assert main(["--home", str(sign_in_app.settings.home), "--json", "accounts", "unlock", "zoe"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["account"], said["tries"]) == ("zoe", 5)
    assert said["url"] == said["page"]
    for _ in range(6):
        sign_in(visitor(), "zoe", "guess")
    page = browser.get(said["page"])
    assert 'name="name" value="zoe"' in page.text
    assert sign_in(browser).status_code == 303
    other = visitor()
    assert "set-cookie" not in other.get(said["page"].replace("zoe", "root")).headers
    assert "set-cookie" not in other.get("/sign-in?account=%00&mark=9999999999-x.y").headers
    assert main(["--home", str(sign_in_app.settings.home), "accounts", "unlock", "nobody"]) == 1


def test_a_link_of_an_admin_lets_one_choose_a_password_once(
    sign_in_app: App, capsys: pytest.CaptureFixture[str]
) -> None:
    accounts = sign_in_app.people.accounts
    assert main(["--home", str(sign_in_app.settings.home), "--json", "accounts", "link", "zoe"]) == 0
    page = json.loads(capsys.readouterr().out)["page"]
    held = dict(parse_qsl(page.partition("?")[2]))
    browser = visitor()
    assert "Zoe Zahn" in browser.get(page).text
    assert "at least 10" in browser.post("/sign-in/password", data={**held, "password": "short"}).text
    for forged in ({"account": "root"}, {"until": "99999999999"}, {"until": "1"}, {"proof": "0" * 64}):
        assert (
            visitor().post("/sign-in/password", data={**held, **forged, "password": "another one 1"}).status_code == 403
        )
    assert browser.post("/sign-in/password", data={**held, "password": "chosen by zoe"}).status_code == 303
    assert inside(browser)
    assert visitor().get(page).status_code == 403, "it was used"
    assert accounts.sign_in("  zoe   ZAHN ", "chosen by zoe").id == "zoe", "the full name will do"
    accounts.add(demo("admin"), NewAccount("zoe2", "Zoe Zahn", "z2@example.org", "reader"), PASSWORD)
    with pytest.raises(Refused):
        accounts.sign_in("Zoe Zahn", "chosen by zoe")


def test_a_lost_password_is_chosen_anew_by_a_letter_that_works_once(
    sign_in_app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert visitor().get("/sign-in/lost").status_code == 303, "no letter leaves here: an admin has to help"
    assert "makes a link on Accounts" in visitor().get("/sign-in").text
    monkeypatch.setenv("CONCORD_SMTP_URL", "smtp://mail.example.org")
    monkeypatch.setenv("CONCORD_SMTP_FROM", "Concord <concord@example.org>")
    monkeypatch.setenv("CONCORD_URL", "https://concord.example.org")
    forget_app()
    browser = visitor()
    assert "/sign-in/lost" in browser.get("/sign-in").text
    said = [
        browser.post("/sign-in/lost", data={"name": name}).text for name in ("nobody", "Zoe Zahn", "zoe@example.org")
    ]
    assert len(set(said)) == 1, "the page says nothing of who has an account"
    (letter,) = sign_in_app.people.accounts.database.deliveries.newest(9)
    assert (letter.target, letter.kind, letter.state) == ("zoe", "password", "waiting"), (
        "one letter in a quarter of an hour"
    )
    page = json.loads(letter.content)["address"]
    held = dict(parse_qsl(page.partition("?")[2]))
    assert browser.post("/sign-in/password", data={**held, "password": "chosen by zoe"}).status_code == 303
    assert inside(browser)
    assert visitor().get(page).status_code == 403, "it was used"


def test_a_password_that_an_admin_typed_is_good_for_choosing_ones_own(sign_in_app: App) -> None:
    accounts = sign_in_app.people.accounts
    accounts.set_password(accounts.actor("root"), "zoe", "typed by rita")
    browser = visitor()
    answer = browser.post("/sign-in", data={"name": "zoe", "password": "typed by rita"})
    assert answer.headers["location"].startswith("/sign-in/password?account=zoe")
    assert not inside(browser)
    held = dict(parse_qsl(answer.headers["location"].partition("?")[2]))
    browser.post("/sign-in/password", data={**held, "password": "chosen by zoe"})
    assert inside(browser)
    again = visitor()
    again.post("/sign-in", data={"name": "zoe", "password": "chosen by zoe"})
    assert inside(again)


def test_the_link_of_the_server_makes_the_first_admin_and_no_second(
    sign_in_app: App, capsys: pytest.CaptureFixture[str]
) -> None:
    startup.welcome()
    assert capsys.readouterr().out == "", "there is an admin"
    sql(sign_in_app, "UPDATE accounts SET active = 0 WHERE id = 'root'")
    startup.welcome()
    said = capsys.readouterr().out
    assert "once: http://127.0.0.1:" in said, "a whole address, to click on"
    page = said[said.index("/sign-in/first") :].strip()
    browser = visitor()
    assert "it makes the first admin" in browser.get("/sign-in").text
    assert visitor().get("/sign-in/first?proof=guess").status_code == 403
    assert "Your name" in browser.get(page).text
    data = {
        "proof": page.partition("proof=")[2],
        "full_name": "Ada Énd",
        "email": "ada@example.org",
        "password": PASSWORD,
    }
    assert browser.post("/sign-in/first", data=data).status_code == 303
    assert inside(browser)
    made = sign_in_app.people.accounts.get("ada.end")
    assert (made.role, made.name) == ("admin", "Ada Énd")
    assert visitor().post("/sign-in/first", data=data | {"email": "eve@example.org"}).status_code == 403


def test_a_form_that_is_too_large_is_not_read(sign_in_app: App) -> None:
    assert sign_in(visitor(), "zoe", "x" * 100_000).status_code == 401


@pytest.mark.parametrize(
    "after",
    [
        "https://evil.example",
        "//evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "javascript:alert(1)",
        "evil",
        "/\t/evil.example",
        "/\n/evil.example",
        " //evil.example",
        "http:evil",
        "///evil.example",
        "/é",
        "/" + "a" * 3000,
        "",
    ],
)
def test_after_sign_in_nobody_is_led_elsewhere(sign_in_app: App, after: str) -> None:
    assert own_path(after) == "/"
    assert sign_in(visitor(), after=after).headers["location"] == "/"


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "https://evil.example"},
        {"origin": "null"},
    ],
)
def test_forms_of_other_sites_neither_sign_in_nor_out(sign_in_app: App, headers: dict[str, str]) -> None:
    assert sign_in(visitor(), **headers).status_code == 403
    browser = signed_in()
    assert browser.post("/sign-out", headers=headers).status_code == 403
    assert browser.get("/sign-out").headers["location"] == "/", "a link or a picture signs nobody out"
    assert inside(browser)
    assert sign_in(visitor(), origin="http://concord.test").status_code == 303
    assert sign_in(visitor(), **{"sec-fetch-site": "same-origin"}).status_code == 303


def test_signing_out_ends_the_session_for_everybody_who_holds_its_cookie(sign_in_app: App) -> None:
    browser, thief = signed_in(), visitor()
    thief.cookies.set(SESSION, browser.cookies[SESSION])
    assert inside(thief)
    out = browser.post("/sign-out")
    assert (out.status_code, out.headers["location"]) == (303, "/sign-in?signed_out")
    assert "Max-Age=0" in out.headers["set-cookie"]
    assert "You are signed out." in browser.get("/sign-in?signed_out").text
    assert not inside(browser)
    assert not inside(thief)
    entry = sign_in_app.people.audit.entries(demo("admin"), action="sign out")[0]
    assert (entry.who, entry.door, entry.detail) == ("zoe", "app", "Chromium on Linux")


def test_every_sign_in_has_a_token_of_its_own(sign_in_app: App) -> None:
    browser = visitor()
    browser.cookies.set(SESSION, "chosen-by-somebody-else")
    sign_in(browser)
    (first,) = {cookie.value for cookie in browser.cookies.jar if cookie.domain and cookie.name == SESSION} - {
        "chosen-by-somebody-else"
    }
    again = visitor()
    again.cookies.set(SESSION, first)
    second = sign_in(again).headers["set-cookie"].partition("=")[2].partition(";")[0]
    assert second != first
    assert sign_in_app.people.sessions.find(SESSION, first) is None, "the one before in this browser has ended"
    assert sign_in_app.people.sessions.find(SESSION, second)


def token_of(app: App, browser: TestClient) -> dict[str, str]:
    found = app.people.sessions.find(SESSION, browser.cookies[SESSION])
    assert found
    return {"authorization": f"Bearer {direct.token(found[1], found[0].id)}"}


@pytest.mark.parametrize("what", ["sign out", "new password", "switch off"])
def test_page_tokens_end_with_the_session(sign_in_app: App, what: str) -> None:
    browser = signed_in()
    held, accounts = token_of(sign_in_app, browser), sign_in_app.people.accounts
    calls = (("GET", "/api/v1/page/search?q="), ("GET", "/api/v1/page/pending"), ("POST", "/api/v1/page/playground"))

    def ask():
        return [browser.request(*call, headers=held, json={"setup": {}}).status_code for call in calls]

    before = ask()
    assert 401 not in before
    if what == "sign out":
        browser.post("/sign-out")
    elif what == "new password":
        accounts.set_password(demo("admin"), "zoe", "another long password")
    else:
        accounts.set_active(demo("admin"), "zoe", False)
    assert ask() == [401] * 3
    assert not inside(browser)


def test_an_account_that_is_switched_on_again_has_to_sign_in_again(sign_in_app: App) -> None:
    browser = signed_in()
    for active in (False, True):
        sign_in_app.people.accounts.set_active(demo("admin"), "zoe", active)
    assert not inside(browser)


def test_a_session_ends_after_hours_of_rest_and_after_days_in_any_case(sign_in_app: App) -> None:
    sessions, zoe = sign_in_app.people.sessions, sign_in_app.people.accounts.actor("zoe")
    clock = [1_800_000_000.0]
    sessions.now = lambda: clock[0]
    token = sessions.start(zoe, SESSION)
    clock[0] += 12 * 3600 - 1
    assert sessions.find(SESSION, token)
    clock[0] += 12 * 3600 + 1
    assert sessions.find(SESSION, token) is None, "twelve hours without a click"
    token = sessions.start(zoe, SESSION)
    assert len(sql(sign_in_app, "SELECT id FROM sessions")) == 1, "those that ended by themselves are dropped"
    for _ in range(30 * 4 - 1):
        clock[0] += 6 * 3600
        assert sessions.find(SESSION, token)
    clock[0] += 6 * 3600
    assert sessions.find(SESSION, token) is None, "thirty days"


def test_when_somebody_was_last_seen_is_written_once_a_minute(sign_in_app: App) -> None:
    sessions, clock = sign_in_app.people.sessions, [1_800_000_000.0]
    sessions.now = lambda: clock[0]
    token = sessions.start(sign_in_app.people.accounts.actor("zoe"), SESSION)
    seen = set()
    for _ in range(180):
        clock[0] += 1
        sessions.find(SESSION, token)
        seen.add(sql(sign_in_app, "SELECT seen FROM sessions")[0])
    assert len(seen) == 4, "at the start, and after each minute"


def test_people_end_their_own_sessions_and_admins_everybodys(sign_in_app: App) -> None:
    people = sign_in_app.people
    zoe, root = people.accounts.actor("zoe"), people.accounts.actor("root")
    numbers = {}
    for who in (zoe, root):
        found = people.sessions.find(SESSION, people.sessions.start(who, SESSION))
        assert found
        numbers[who.id] = found[0].id
    with pytest.raises(Refused, match="Only admins may manage accounts"):
        people.sessions.end(zoe, numbers["root"])
    with pytest.raises(Refused, match="Only admins"):
        people.sessions.all(zoe)
    with pytest.raises(Refused, match="Only admins"):
        people.sessions.end(zoe, 999)
    assert [one.account for one in people.sessions.all(zoe, "zoe")] == ["zoe"]
    assert {one.account for one in people.sessions.all(root)} == {"zoe", "root"}
    people.sessions.end(root, numbers["zoe"])
    with pytest.raises(NotFound, match="There is no session 999"):
        people.sessions.end(root, 999)
    assert people.sessions.all(zoe, "zoe") == ()


def test_people_change_their_own_password_if_they_know_the_one_of_now(sign_in_app: App) -> None:
    here, elsewhere, accounts = signed_in(), signed_in(), sign_in_app.people.accounts
    zoe = accounts.actor("zoe")
    kept = sign_in_app.people.sessions.find(SESSION, here.cookies[SESSION])
    with pytest.raises(Refused, match="wrong"):
        accounts.change_password(zoe, "not the password", "another long one", kept[0].id if kept else 0)
    accounts.change_password(zoe, PASSWORD, "another long one", kept[0].id if kept else 0)
    assert (inside(here), inside(elsewhere)) == (True, False)
    assert accounts.sign_in("zoe", "another long one").id == "zoe"


def test_the_demo_needs_no_sign_in(sign_in_app: App, monkeypatch: pytest.MonkeyPatch) -> None:

    monkeypatch.setenv("CONCORD_SIGN_IN", "demo")
    forget_app()
    assert inside(visitor())
    assert visitor().get("/sign-in?next=/search").headers["location"] == "/search"
    assert sign_in(visitor()).headers["location"] == "/sign-in"


def test_a_persona_is_remembered_in_a_demo_alone(sign_in_app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    browser, chosen = visitor(), {"persona": "zoe"}
    assert browser.post("/sign-in/persona", data=chosen).status_code == 404
    browser.cookies.set("concord_persona", "zoe")
    assert not inside(browser)
    monkeypatch.setenv("CONCORD_SIGN_IN", "demo")
    forget_app()
    answer = visitor().post("/sign-in/persona", data=chosen)
    assert answer.status_code == 204
    assert answer.headers["set-cookie"].startswith(
        "concord_persona=zoe; HttpOnly; Max-Age=2592000; Path=/; SameSite=lax"
    )
    assert visitor().post("/sign-in/persona", data={"persona": "someone"}).status_code == 404
    elsewhere = {"sec-fetch-site": "cross-site"}
    assert visitor().post("/sign-in/persona", data=chosen, headers=elsewhere).status_code == 404


def test_what_is_no_page_is_not_led_to_sign_in(sign_in_app: App) -> None:
    browser = visitor()
    assert browser.get("/api/v1/page/search?q=x").status_code == 401
    assert browser.get("/api/health").status_code == 200
    assert browser.get("/_stcore/health").text == "the app"
    assert "Source Sans" in browser.get("/sign-in/look.css").text
    assert browser.get("/sign-in/concord.svg").headers["content-type"].startswith("image/svg")


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        (LINUX, "Chromium on Linux"),
        (
            "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36 Edg/140.0",
            "Edge on Windows",
        ),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on macOS"),
        ("Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 Chrome/140.0 Mobile Safari/537.36", "Chromium on Android"),
        ("curl/8.5.0", "curl"),
        ("<script>alert(1)</script>", "Unknown device"),
    ],
)
def test_a_device_is_named_in_plain_words(agent: str, words: str) -> None:
    assert device(agent) == words


def test_sessions_on_the_command_line(sign_in_app: App, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    def run(*arguments: str) -> tuple[int, str]:
        code = main(["--home", str(sign_in_app.settings.home), *arguments])
        captured = capsys.readouterr()
        return code, captured.out + captured.err

    assert "Nobody is signed in." in run("sessions", "list")[1]
    browsers = [signed_in(), signed_in(), visitor()]
    sign_in(browsers[2], "root")
    listed = json.loads(run("sessions", "list", "--json")[1])
    assert (listed[0]["account"], listed[0]["device"]) == ("root", "Chromium on Linux")
    assert set(listed[0]) == {
        "id",
        "account",
        "name",
        "device",
        "issuer",
        "created",
        "seen",
        "expires",
        "provider_asked",
    }
    assert len(json.loads(run("sessions", "list", "--account", "zoe", "--json")[1])) == 2
    assert "Only admins" in run("sessions", "list", "--as", "zoe")[1]
    first = next(one["id"] for one in reversed(listed) if one["account"] == "zoe")
    assert run("sessions", "end", str(first), "--as", "zoe")[0] == 0
    assert not inside(browsers[0]), "from another process, at once"
    assert inside(browsers[1])
    assert run("sessions", "end")[0] == 1
    assert run("sessions", "end", "1", "--all")[0] == 1
    assert json.loads(run("sessions", "end", "--all", "--account", "zoe", "--json")[1]) == {"ended": 1}
    assert [inside(one) for one in browsers] == [False, False, True]
    assert run("sessions", "end", "--all")[1] == "Ended: 1\n"
    ends = sign_in_app.people.audit.entries(demo("admin"), action="end session")
    assert {one.door for one in ends} == {"command line"}
    assert len(ends) == 3
