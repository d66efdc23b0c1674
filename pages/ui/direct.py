"""The direct way: components ask the server's own routes, with a token that says who they act for.

A token is made by a page for the person who looks at it, signed with a key that lives as long as the process.
Where the app runs without its own routes (plain `streamlit run`), there are no tokens and Python answers instead.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import hmac
import json
import secrets
import time
from typing import Any

from starlette.responses import Response

from core.access import Actor

_KEY = secrets.token_bytes(32)
_LIFE = 12 * 3600  # seconds
routes_exist = False  # the launcher says so


def token(actor: Actor) -> str | None:
    """What a component shows to act for somebody; None where nobody listens."""
    if not routes_exist:
        return None
    body = base64.urlsafe_b64encode(
        json.dumps([actor.id, actor.name, actor.email, actor.role, int(time.time()) + _LIFE]).encode()
    )
    return f"{body.decode()}.{_sign(body)}"


def holder(text: str) -> Actor | None:
    """Whoever a token was made for, if it is genuine and not too old."""
    body, _, signature = text.rpartition(".")
    if not body or not hmac.compare_digest(_sign(body.encode()), signature):
        return None
    *person, expires = json.loads(base64.urlsafe_b64decode(body))
    return Actor(*person) if expires > time.time() else None


def _sign(body: bytes) -> str:
    return hmac.new(_KEY, body, hashlib.sha256).hexdigest()


def packed(value: Any, zipped: bool) -> Response:
    """An answer as JSON, zipped where the reader takes that: lightly, since Streamlit's own zip takes twice the time."""
    body = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    headers = {"Vary": "Accept-Encoding"}
    if zipped:
        body, headers["Content-Encoding"] = gzip.compress(body, 1, mtime=0), "gzip"
    return Response(body, headers=headers, media_type="application/json")
