"""What every request passes: only known hosts, only the app's own pages, headers that let nothing be loaded from
elsewhere.

A web page of somebody else can make a browser call this server by a name of its own that leads here (DNS rebinding), or
from its own origin. Streamlit checks names for its websocket alone and takes every origin on this machine; so all of it
is
checked here, before Streamlit and the routes.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import streamlit

from core import logs
from core.services.people.accounts import LOOPBACK
from core.settings import Settings, load
from pages.ui.server import listening

MAX_TARGET = 16_384  # bytes of a path with its query
ALIVE = ("/api/health", "/api/v1/health", "/_stcore/health")  # ask for up or down by any name: balancers use addresses
SAFE = ("GET", "HEAD", "OPTIONS")
_HOST = re.compile(r"(\[[0-9a-f:.]{2,45}\]|[a-z0-9](?:[a-z0-9._-]{0,251}[a-z0-9])?)\.?(?::([0-9]{1,5}))?")
_PORTS = {"http": "80", "https": "443"}


def split_host(host: str) -> tuple[str, str] | None:
    """A Host header as name and port; None if it is none.

    >>> split_host("Localhost:8501"), split_host("[::1]"), split_host("a b"), split_host("x@y")
    (('localhost', '8501'), ('::1', ''), None, None)
    """
    match = _HOST.fullmatch(host.lower())
    return (match[1].strip("[]"), match[2] or "") if match else None


def known_host(host: str, port: int, settings: Settings) -> bool:
    """Whether the app answers to a name: a demo to this machine's own with its port, others to CONCORD_HOSTS.

    >>> demo, named = Settings(), Settings(sign_in="local", hosts="concord.example.org, *.corp.example")
    >>> [known_host(name, 8501, demo) for name in ("localhost:8501", "[::1]:8501", "localhost:80", "evil.example:8501")]
    [True, True, False, False]
    >>> [known_host(name, 8501, named) for name in ("concord.example.org", "a.corp.example:443", "evil.example")]
    [True, True, False]
    """
    parts = split_host(host)
    if parts is None:
        return False
    if settings.sign_in == "demo":
        return parts[0] in LOOPBACK and (parts[1] or "80") == str(port)
    names = [name.strip().lower() for name in settings.hosts.split(",") if name.strip()]
    return not names or any(
        parts[0] == name or (name.startswith("*.") and parts[0].endswith(name[1:])) for name in names
    )


def same_origin(origin: str, host: str) -> bool:
    """Whether a page of this origin was served by this host.

    >>> same_origin("http://localhost:8501", "localhost:8501"), same_origin("http://localhost:3000", "localhost:8501")
    (True, False)
    >>> same_origin("https://concord.example.org", "concord.example.org"), same_origin("null", "localhost:8501")
    (True, False)
    """
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    mine, theirs, usual = split_host(host), split_host(parts.netloc), _PORTS.get(parts.scheme)
    if mine is None or theirs is None or usual is None:
        return False
    return (mine[0], mine[1] or usual) == (theirs[0], theirs[1] or usual)


def _inline_scripts() -> str:
    """The hashes of the inline scripts in Streamlit's page."""
    page = (Path(streamlit.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    return " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'" for script in scripts
    )


def policy(scripts: str, host: str) -> str:
    """The content security policy. `blob:` is how Streamlit loads components, inline styles how it draws.

    >>> "connect-src 'self' ws://localhost:8501 wss://localhost:8501 data: blob:;" in policy("", "localhost:8501")
    True
    """
    return (
        "default-src 'self'; "
        f"script-src 'self' blob: 'wasm-unsafe-eval' {scripts}; "
        "worker-src 'self' blob:; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; "
        f"connect-src 'self' ws://{host} wss://{host} data: blob:; frame-src 'self'; frame-ancestors 'self'; "
        "object-src 'none'; base-uri 'self'; form-action 'self'"
    )


class Guard:
    """ASGI middleware that refuses foreign hosts and origins, closes Streamlit's inner routes and adds the headers."""

    def __init__(self, app: Any, settings: Settings | None = None) -> None:
        self.app, self.settings, self.scripts = app, settings or load(), _inline_scripts()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = [(name.lower(), value.decode("latin-1")) for name, value in scope["headers"]]
        logs.begin(scope)
        if refusal := self.refusal(scope, headers):
            await _refuse(scope, logs.answering(scope, send), *refusal)
            return
        extra = self._headers(next((value for name, value in headers if name == b"host"), ""))

        async def send_with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *extra, *listening.farewell()]
            await send(message)

        if scope["type"] == "websocket":
            await self.app(scope, receive, send)
            return
        with listening.under_way():
            await self.app(scope, receive, logs.answering(scope, send_with_headers))

    def refusal(self, scope: Any, headers: Iterable[tuple[bytes, str]]) -> tuple[int, str] | None:
        """Status and sentence for a request that goes no further."""
        given: dict[bytes, list[str]] = {}
        for name, value in headers:
            given.setdefault(name, []).append(value)
        path, hosts, origins = scope["path"], given.get(b"host", []), given.get(b"origin", [])
        if len(path) + len(scope.get("query_string", b"")) > MAX_TARGET:
            return 414, f"The address is longer than {MAX_TARGET:,} bytes."
        if len(hosts) != 1 or split_host(hosts[0]) is None or len(origins) > 1:
            return 400, "The request names no host, or several."
        if path in ALIVE and listening.LEAVING.is_set():
            return 404, "This node is leaving."
        if path not in ALIVE and not known_host(hosts[0], _port(scope), self.settings):
            return 421, "This server does not answer to that name. Whoever runs it sets CONCORD_HOSTS."
        changes = scope["type"] == "websocket" or scope["method"] not in SAFE
        foreign = [origin for origin in origins if not same_origin(origin, hosts[0])]
        if changes and (foreign or given.get(b"sec-fetch-site", ["none"])[0] in ("cross-site", "same-site")):
            return 403, "The request comes from a page of another site."
        return self._closed(path, given.get(b"authorization", [""])[0])

    def _closed(self, path: str, authorization: str) -> tuple[int, str] | None:
        """Streamlit's metrics and agent API, wherever its base path puts them; metrics open with their own token."""
        token = self.settings.metrics_token
        if path.endswith("_stcore/metrics") and token:
            given = authorization.removeprefix("Bearer ").strip()
            return (
                None if hmac.compare_digest(given.encode(), token.encode()) else (401, "The token is missing or wrong.")
            )
        return (404, "There is nothing here.") if re.search(r"_stcore/(metrics|agent)\b", path) else None

    def _headers(self, host: str) -> list[tuple[bytes, bytes]]:
        return [
            (b"content-security-policy", policy(self.scripts, host.lower()).encode()),
            (b"x-content-type-options", b"nosniff"),
            (b"referrer-policy", b"same-origin"),
            (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
        ]


def _port(scope: Any) -> int:
    """The port on which the request arrived."""
    server = scope.get("server")
    return int(server[1] or 0) if server else 0


async def _refuse(scope: Any, send: Any, status: int, sentence: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": sentence[:120]})  # before accepting: a 403
        return
    body = json.dumps({"error": sentence}).encode()
    length = (b"content-length", str(len(body)).encode())
    plain = [(b"content-type", b"application/json"), length, (b"x-content-type-options", b"nosniff")]
    await send({"type": "http.response.start", "status": status, "headers": plain})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})
