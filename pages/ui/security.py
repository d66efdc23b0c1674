"""Security headers: nothing is loaded from other hosts, and no inline script runs but Streamlit's own."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path
from typing import Any

import streamlit


def _inline_scripts() -> str:
    """The hashes of the inline scripts in Streamlit's page."""
    page = (Path(streamlit.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    return " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'" for script in scripts
    )


def policy() -> str:
    """The content security policy. `blob:` is how Streamlit loads components, inline styles how it draws."""
    return (
        "default-src 'self'; "
        f"script-src 'self' blob: 'wasm-unsafe-eval' {_inline_scripts()}; "
        "worker-src 'self' blob:; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; "
        "connect-src 'self' ws: wss: data: blob:; frame-src 'self'; frame-ancestors 'self'; object-src 'none'; "
        "base-uri 'self'; form-action 'self'"
    )


class SecurityHeaders:
    """ASGI middleware that adds the headers to every response."""

    def __init__(self, app: Any) -> None:
        self.app = app
        self.headers = [
            (b"content-security-policy", policy().encode()),
            (b"x-content-type-options", b"nosniff"),
            (b"referrer-policy", b"same-origin"),
            (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
        ]

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:

        async def send_with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *self.headers]
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)
