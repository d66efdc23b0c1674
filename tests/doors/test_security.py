"""Strangers at the server: foreign hosts and origins, closed routes, bodies that are too large, too deep or
nonsense.
"""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
import random
import socket
import urllib.request
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from core import strict
from core.bootstrap import App
from core.entrypoints.api.application import ApiDoor
from core.entrypoints.api.gateway import MAX_BYTES
from core.retrieval.presets import presets
from core.services.playground.compare import Column
from core.services.playground.notebook import Setup
from core.settings import Settings
from pages.ui.server import direct, routes
from pages.ui.server.security import Guard, policy
from tests.conftest import NoProcesses, demo, put, small_app
from tests.support import browser
from tests.support.small_kb import FILES

DEMO, OWN = Settings(), "localhost:8501"
NAMED = Settings(sign_in="local", hosts="concord.example.org", metrics_token="a-long-token")


def status(
    settings: Settings,
    host: str,
    *,
    origin: str = "",
    kind: str = "http",
    method: str = "GET",
    path: str = "/",
    **more: str,
) -> int:
    """What a request gets: 200 where it reaches the app; a websocket that is closed before it is accepted, 403."""
    headers = {
        "host": host,
        **({"origin": origin} if origin else {}),
        **{k.replace("_", "-"): v for k, v in more.items()},
    }
    scope = {
        "type": kind,
        "path": path,
        "method": method,
        "query_string": b"",
        "server": ("127.0.0.1", 8501),
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers.items()],
    }
    sent: list[dict[str, Any]] = []

    async def inner(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(Guard(inner, settings)(scope, None, send))
    return 403 if sent[0]["type"] == "websocket.close" else int(sent[0]["status"])


@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_a_demo_answers_only_to_this_machines_own_names(kind: str) -> None:
    refused = {"http": 421, "websocket": 403}[kind]
    for host in ("localhost:8501", "127.0.0.1:8501", "[::1]:8501", "LOCALHOST:8501"):
        assert status(DEMO, host, kind=kind) == 200
    for host in (
        "evil.example:8501",
        "evil.example",
        "localhost",
        "localhost:8502",
        "127.0.0.2:8501",
        "localhost.evil.example:8501",
    ):
        assert status(DEMO, host, kind=kind) == refused, host
    for host in ("", "a b", "localhost:8501/x", "x@localhost:8501", "localhost:999999", "localhost:8501\r\nx: y"):
        assert status(DEMO, host, kind=kind) in (400, 403), host


def test_only_a_page_of_the_same_host_opens_a_websocket_or_writes() -> None:
    for origin in ("http://localhost:8501", "http://LOCALHOST:8501"):
        assert status(DEMO, OWN, origin=origin, kind="websocket") == 200
        assert status(DEMO, OWN, origin=origin, method="POST") == 200
    foreign = (
        "http://localhost:3000",
        "http://127.0.0.1:8501",
        "http://evil.example",
        "null",
        "https://localhost",
        "x",
        "http://[",
    )
    for origin in foreign:
        assert status(DEMO, OWN, origin=origin, kind="websocket") == 403, origin
        for method in ("POST", "PUT", "DELETE", "PATCH"):
            assert status(DEMO, OWN, origin=origin, method=method) == 403, origin
        assert status(DEMO, OWN, origin=origin) == 200, "reading is no danger: browsers show the answer to nobody else"
    assert status(DEMO, OWN, method="POST", sec_fetch_site="cross-site") == 403
    assert status(DEMO, OWN, method="POST", sec_fetch_site="same-origin") == 200
    assert status(NAMED, "concord.example.org", origin="https://concord.example.org", kind="websocket") == 200
    assert status(NAMED, "concord.example.org", origin="https://concord.example.org:8443", kind="websocket") == 403


def test_a_balancer_asks_for_health_by_any_name_and_gets_nothing_else() -> None:
    assert status(NAMED, "10.0.0.7:8501", path="/api/health") == 200
    assert status(NAMED, "10.0.0.7:8501", path="/api/v1/page/search") == 421


def test_metrics_are_closed_without_their_token() -> None:
    for path in ("/_stcore/metrics", "/base/_stcore/metrics", "/_stcore/agent/interact", "/_stcore/agent/openapi.json"):
        assert status(DEMO, OWN, path=path) == 404

    def ask(token):
        return status(NAMED, "concord.example.org", path="/_stcore/metrics", authorization=token)

    assert [ask(""), ask("Bearer no"), ask("Bearer a-long-token"), ask("Bearer ÿ")] == [401, 401, 200, 401]


def test_a_page_may_connect_to_its_own_server_alone() -> None:
    connect = next(part for part in policy("", OWN).split("; ") if part.startswith("connect-src")).split()
    assert connect == ["connect-src", "'self'", f"ws://{OWN}", f"wss://{OWN}", "data:", "blob:"]


# ---------------------------------------------------------------- bodies


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[TestClient, App]]:
    """The routes on a small workspace with an index."""
    app = small_app(tmp_path_factory.mktemp("served") / "home", processes=NoProcesses())
    put(app, FILES)
    app.index.builder.build(app.platform.settings.profile())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(routes, "current_app", lambda: app)
        patch.setattr("pages.ui.playground.view_data.app", lambda: app)
        patch.setattr("pages.ui.workspace.app", lambda: app)
        yield TestClient(ApiDoor(Starlette(routes=routes.ROUTES), routes.API), raise_server_exceptions=True), app


def post(client: TestClient, body: bytes, **headers: str) -> tuple[int, str]:
    usual = {"Authorization": f"Bearer {direct.token(demo('author'), 0)}", "Content-Type": "application/json"}
    answer = client.post(
        "/api/v1/page/playground", content=body, headers=usual | {k.replace("_", "-"): v for k, v in headers.items()}
    )
    return answer.status_code, answer.json().get("detail", "")


DEEP = [b"[" * 200_000, b'{"a":' * 100_000, b'{"turns": ' + b"[" * 40 + b"]" * 40 + b"}", b'["' + b'\\"' * 300_000]


@pytest.mark.parametrize("body", [*DEEP, b"", b"{", b"\xff\xfe", b"[]", b"3", b"null", b'{"run": NaN}', b'"' * 99_999])
def test_a_body_that_is_no_small_object_is_refused_with_a_sentence(served: Any, body: bytes) -> None:
    code, sentence = post(served[0], body)
    assert code in (400, 422)
    assert sentence.startswith(("body", "There was an error parsing the body")), sentence


def test_a_body_that_is_too_long_or_of_another_kind_is_refused(served: Any) -> None:
    client, _ = served
    assert post(client, b" " * (MAX_BYTES + 1))[0] == 413
    assert post(client, b"{}", Content_Type="text/plain")[0] == 422
    assert post(client, gzip.compress(b"{}"), Content_Encoding="gzip")[0] == 400
    assert post(client, gzip.compress(b"{}"))[0] == 400
    assert client.get("/api/v1/page/playground").status_code == 405


ODD = [None, 1, -1, 1.5, True, "", "x", [], [1], {}, {"a": 1}, "9" * 400, 10**400]


def test_no_shape_of_a_request_makes_the_server_speak_python(served: Any) -> None:
    client, _ = served
    column = {"profile": "local", "config": {}}
    bodies: list[Any] = [{key: odd} for key in ("setup", "turns", "looked", "run", "else") for odd in ODD]
    bodies += [
        {"setup": {key: odd}} for key in ("query", "columns", "filters", "blind", "tool", "document") for odd in ODD
    ]
    bodies += [{"setup": {"query": "form", "columns": [odd]}} for odd in ODD]
    bodies += [{"setup": {"query": "form", "columns": [{**column, "config": odd}]}} for odd in ODD]
    bodies += [{"setup": {"query": "form", "columns": [column]}, "turns": [odd]} for odd in ODD]
    for key in ("column", "knob", "value"):
        turn = {"column": 0, "knob": "alpha", "value": 0.5}
        bodies += [{"setup": {"query": "form", "columns": [column]}, "turns": [{**turn, key: odd}]} for odd in ODD]
    for body in bodies:
        code, sentence = post(client, json.dumps(body).encode())
        assert code in (200, 422), body
        for word in ("object has no", "NoneType", "argument", "unhashable", "Error", "__", "<class", "must be str"):
            assert word not in sentence, (body, sentence)


def test_a_knob_that_a_component_turns_is_turned(served: Any) -> None:
    setup = strict.plain(Setup("form", (Column("local", presets()["Convex 0.3"], "Convex 0.3"),)))
    body = {"setup": setup, "run": "r", "looked": [], "turns": [{"column": 0, "knob": "alpha", "value": 0.5}]}
    token = {"Authorization": f"Bearer {direct.token(demo('author'), 0)}"}
    moved = served[0].post("/api/v1/page/playground", json=body, headers=token).json()
    assert (moved["setup"]["columns"][0]["config"]["alpha"], bool(moved["columns"][0]["hits"])) == (0.5, True)


def test_strangers_learn_only_whether_the_app_is_up(served: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    client, app = served

    def said(token):
        return client.get("/api/health", headers={"Authorization": f"Bearer {token}"} if token else {}).json()

    assert said("") == said("x.y") == said(direct.token(demo("reviewer"), 0)) == {"status": "ok"}
    assert said(direct.token(demo("admin"), 0))["commit"] == app.knowledge.repository.head()

    def broken() -> App:
        raise OSError("/srv/secret/place is gone")

    monkeypatch.setattr(routes, "current_app", broken)
    down = client.get("/api/health")
    assert (down.status_code, down.json()) == (503, {"status": "down"})


# ---------------------------------------------------------------- a real server


def raw(url: str, request: bytes, wait: float = 5.0) -> bytes:
    """What a server says to bytes on a socket."""
    host, _, port = url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=wait) as connection:
        said = b""
        try:
            connection.sendall(request)
            while part := connection.recv(65536):
                said += part
                if len(said) > 100_000 or said.startswith(b"HTTP/1.1 101"):
                    break
        except OSError:  # it closed, or says nothing more
            pass
        return said


def code_of(said: bytes) -> int:
    return int(said.split(b" ", 2)[1]) if said.startswith(b"HTTP/") else 0


def lines(first: str, *headers: str, body: bytes = b"") -> bytes:
    return "\r\n".join([first, *headers, "Connection: close", "", ""]).encode("latin-1") + body


def handshake(host: str, origin: str = "") -> bytes:
    key = base64.b64encode(b"0123456789abcdef").decode()
    headers = [f"Host: {host}", "Upgrade: websocket", f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13"]
    headers += [f"Origin: {origin}"] if origin else []
    return "\r\n".join(["GET /_stcore/stream HTTP/1.1", *headers, "Connection: Upgrade", "", ""]).encode()


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The app, really started; a traceback in its log fails the test."""
    folder = tmp_path_factory.mktemp("started")
    small_app(folder / "home")
    with browser.server(folder / "home", folder / "log") as url:
        yield url, folder / "log"


@pytest.mark.slow
def test_a_foreign_page_reaches_nothing_of_a_running_demo(started: Any) -> None:
    url, _ = started
    own, port = url.removeprefix("http://"), url.rpartition(":")[2]
    evil = f"evil.example:{port}"
    assert code_of(raw(url, handshake(own, url))) == 101
    assert code_of(raw(url, handshake(f"localhost:{port}", f"http://localhost:{port}"))) == 101
    for host, origin in (
        (evil, f"http://{evil}"),
        (own, f"http://{evil}"),
        (own, "http://localhost:1"),
        (own, "null"),
        (evil, ""),
    ):
        assert code_of(raw(url, handshake(host, origin))) == 403, (host, origin)
    for path in ("/", "/api/v1/page/search", "/_stcore/host-config", "/_stcore/upload_file/a/b", "/search"):
        assert code_of(raw(url, lines(f"GET {path} HTTP/1.1", f"Host: {evil}"))) == 421, path
    assert (
        code_of(raw(url, lines("POST /api/v1/page/playground HTTP/1.1", f"Host: {own}", f"Origin: http://{evil}")))
        == 403
    )
    assert code_of(raw(url, lines("GET /_stcore/metrics HTTP/1.1", f"Host: {own}"))) == 404
    page = raw(url, lines("GET / HTTP/1.1", f"Host: {own}"))
    assert code_of(page) == 200
    assert f"connect-src 'self' ws://{own} wss://{own} data: blob:;".encode() in page


def hostile(own: str) -> Iterator[bytes]:
    """Requests that no browser sends."""
    token = f"Authorization: Bearer {'x' * 40}.y"
    host, kind = f"Host: {own}", "Content-Type: application/json"
    for method in (
        "TRACE",
        "CONNECT",
        "PROPFIND",
        "FOO",
        "get",
        "OPTIONS",
        "PUT",
        "DELETE",
        "PATCH",
        "HEAD",
        "G\x01T",
        "A" * 9000,
    ):
        for path in (
            "/",
            "/api/v1/page/search",
            "/api/v1/page/playground",
            "/_stcore/health",
            "/_stcore/upload_file/a/b",
        ):
            yield lines(f"{method} {path} HTTP/1.1", host)
    for path in (
        "/../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/static/../../../core/settings.py",
        "/static/%2e%2e/x",
        "//etc/passwd",
        "/app/static/..%2f..%2fREADME.md",
        "/_stcore/upload_file/../../x/..",
        "/media/..%5c..%5cx",
        "/component/x/../../y",
        "/%00",
        "/%ff%fe",
        "/%",
        "/%zz",
        "/" + "a" * 20_000,
        "/" + "../" * 4000,
        "/api/v1/page/search?" + "q=a&" * 4000,
        "/api/v1/page/search?q=%ff%00",
        "/api/v1/page/search?" + "&" * 15_000,
        "/api/v1/compare?q=" + "%27" * 400,
        "/_stcore/stream",
        "/_stcore/bidi-components/..%2f..%2fx",
        "/api/health?" + "x" * 16_300,
        "http://evil.example/",
        "*",
        "",
        "/\u00e9",
        "/a\x00b",
        "/_stcore/metrics",
        "/_stcore/agent/mcp",
        "/oauth2callback?code=x",
        "/auth/logout",
        "/auth/login",
    ):
        yield lines(f"GET {path} HTTP/1.1", host, token)
    for headers in (
        ("Host: a", "Host: b"),
        ("Host: ",),
        (),
        ("Host: [::",),
        (host, "X: " + "y" * 70_000),
        (host, *(f"X-{n}: y" for n in range(500))),
        (host, "X: \xff\xfe"),
        (host, "Cookie: _streamlit_user=" + "A" * 3000),
        (host, "Cookie: " + "a=b;" * 900),
        (host, "Authorization: Bearer \xff"),
        (host, "Authorization: " + "." * 5000),
        (host, "Range: bytes=9-1"),
        (host, "Range: bytes=" + "0-1," * 500),
        (host, "Accept-Encoding: gzip;q=x"),
        (host, "If-None-Match: " + '"' * 900),
        (host, "Transfer-Encoding: chunked", "Content-Length: 4"),
        (host, "Content-Length: -1"),
        (host, "Content-Length: 4, 5"),
        (host, "Expect: 200-maybe"),
        (host, "Upgrade: h2c"),
    ):
        yield lines("GET /api/v1/page/search?q=a HTTP/1.1", *headers)
        yield lines("GET /search HTTP/1.1", *headers)
    for body in (
        *DEEP,
        b"{",
        b"",
        b"\xff" * 500,
        b"[]",
        b"3",
        gzip.compress(b"x"),
        b"\x00" * 1000,
        b'"' * 5000,
        b'{"setup": 1}',
        b"9" * 9000,
        b" " * 1_100_000,
        b'{"a": 1e999}',
    ):
        for extra in (kind, "Content-Type: text/xml", f"{kind}\r\nContent-Encoding: gzip"):
            yield lines(
                "POST /api/v1/page/playground HTTP/1.1", host, token, extra, f"Content-Length: {len(body)}", body=body
            )
    for version in ("HTTP/0.9", "HTTP/2.0", "HTTP/9", "", "HTTP/1.1 x"):
        yield lines(f"GET / {version}", host)
    chance = random.Random(7)
    for size in (1, 10, 100, 1000, 10_000):
        yield bytes(chance.randrange(256) for _ in range(size))
    for frame in (
        b"\xff" * 100,
        b"\x82\xff" + b"\xff" * 8,
        b"\x82\x80\x00\x00\x00\x00",
        b"\x81\x85\x00\x00\x00\x00\xff\xff\xff\xff\xff",
        b"\x82\xfe\xff\xff\x00\x00\x00\x00" + b"\x00" * 65535,
        b"\x82\xff\x00\x00\x00\x00\x08\x00\x00\x00\x00\x00\x00\x00" + b"\x08" * 100_000,
        b"\x88\x80\x00\x00\x00\x00",
        b"\x89\xfe\x01\x00\x00\x00\x00\x00" + b"x" * 256,
        b"\x00\x80abcd",
        b"",
        *(
            bytes((0x82, 0x80 | size, 0, 0, 0, 0)) + bytes(chance.randrange(256) for _ in range(size))
            for size in (1, 5, 40, 100, 125)
        ),
    ):
        yield handshake(own, f"http://{own}") + frame


@pytest.mark.slow
def test_two_hundred_hostile_requests_leave_the_server_as_it_was(started: Any) -> None:
    url, log = started
    own, codes = url.removeprefix("http://"), Counter()  # type: tuple[str, Counter[int]]
    for request in hostile(own):
        code = code_of(raw(url, request, wait=3.0))
        assert code < 500, request[:200]
        codes[code] += 1
    assert json.load(urllib.request.urlopen(f"{url}/api/health", timeout=browser.PATIENCE)) == {"status": "ok"}
    assert code_of(raw(url, handshake(own, url))) == 101
    text = log.read_text()
    assert "Traceback" not in text, text[-3000:]
    assert sum(codes.values()) >= 200
    print(f"{sum(codes.values())} hostile requests: {dict(sorted(codes.items()))}, uncaught 0, 5xx 0")
