"""A sign-in provider on loopback that says what a test tells it to: right tokens, wrong ones, or nothing at all."""

from __future__ import annotations

import base64
import json
import threading
import time
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey

CLIENT, SECRET = "concord", "a secret of thirty-two characters"
ZOE = {"sub": "zoe-1", "email": "zoe@example.org", "email_verified": True}


@dataclass
class ScriptedProvider:
    """Use it as a context manager; `url` is its issuer."""

    claims: dict[str, Any] = field(default_factory=lambda: dict(ZOE))  # in the token; None takes one away
    userinfo: dict[str, Any] | None = None
    algorithm: str = "RS256"
    another_key: bool = False  # sign with a key that is not published
    metadata: dict[str, Any] = field(default_factory=dict)
    refresh: str = ""  # a refresh token beside the others
    refuse: str = ""  # what the token endpoint says instead of a token
    status: int = 200
    asked: list[tuple[str, dict[str, str], dict[str, str]]] = field(default_factory=list)

    def __enter__(self) -> ScriptedProvider:
        self.key, self.other, self.nonce = new_key("one"), new_key("one", "unpublished"), ""
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def auth(self, **more: Any) -> dict[str, Any]:
        """The section [auth] that names this provider."""
        return {
            "redirect_uri": "http://concord.test/oauth2callback",
            "client_id": CLIENT,
            "client_secret": SECRET,
            "server_metadata_url": f"{self.url}/.well-known/openid-configuration",
            **more,
        }

    def answer(self, path: str) -> dict[str, Any] | None:
        """The body for a path."""
        if path == "/.well-known/openid-configuration":
            return {**self._metadata(), **self.metadata}
        if path == "/keys":
            return {"keys": [self.key.as_dict(private=False)]}
        if path == "/token":
            if self.refuse:
                return {"error": "invalid_grant", "error_description": self.refuse}
            more = {"refresh_token": self.refresh} if self.refresh else {}
            return {"access_token": "access", "token_type": "Bearer", "id_token": self.token(), **more}
        return self.userinfo if path == "/userinfo" else None

    def _metadata(self) -> dict[str, Any]:
        endpoints = {"authorization": "/authorize", "token": "/token", "userinfo": "/userinfo", "end_session": "/end"}
        named = {f"{name}_endpoint": self.url + path for name, path in endpoints.items()}
        return {"issuer": self.url, "jwks_uri": f"{self.url}/keys", **named}

    def token(self) -> str:
        """A token with the scripted claims, signed in the scripted way."""
        now = int(time.time())
        right = {"iss": self.url, "aud": CLIENT, "iat": now, "exp": now + 300, "nonce": self.nonce}
        claims = {name: value for name, value in {**right, **self.claims}.items() if value is not None}
        if self.algorithm == "none":
            return f"{_part({'alg': 'none'})}.{_part(claims)}."
        if self.algorithm == "HS256":
            return jwt.encode({"alg": "HS256"}, claims, OctKey.import_key(SECRET))
        return jwt.encode({"alg": "RS256", "kid": self.key.kid}, claims, self.other if self.another_key else self.key)


@cache
def new_key(name: str, _: str = "") -> RSAKey:
    """A key to sign with; making one costs a tenth of a second."""
    return RSAKey.generate_key(2048, {"kid": name, "use": "sig"})


def _part(value: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def _handler(provider: ScriptedProvider) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._reply("")

        def do_POST(self) -> None:
            self._reply(self.rfile.read(int(self.headers["Content-Length"])).decode())

        def _reply(self, body: str) -> None:
            path = urlsplit(self.path).path
            provider.asked.append((path, {k: v[0] for k, v in parse_qs(body).items()}, dict(self.headers)))
            answer = provider.answer(path)
            refused = path == "/token" and provider.refuse
            self.send_response(provider.status if answer is not None and not refused else 400 if refused else 404)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(answer).encode())

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing on standard error."""

    return Handler
