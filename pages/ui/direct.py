"""Tokens with which components call the server's own routes for the signed-in account.

A page signs a token with a key that lives as long as the process. It names an account, not its rights: those are
looked up per request, so that a lost role takes effect at once. Where a route fails (a proxy hides it, the token is
too old), the component falls back to a rerun of the page.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from starlette.responses import Response

from core.access import Actor
from core.errors import ConcordError
from core.services.people.accounts import Accounts

_KEY = secrets.token_bytes(32)
_LIFE = 12 * 3600  # seconds


def token(actor: Actor) -> str:
    """A signed token for an account, valid for twelve hours."""
    body = base64.urlsafe_b64encode(json.dumps([actor.id, int(time.time()) + _LIFE]).encode())
    return f"{body.decode()}.{_sign(body).decode()}"


def holder(text: str, accounts: Accounts, now: Callable[[], float] = time.time) -> Actor | None:
    """The account of a genuine token that is not too old, with its current role."""
    body, _, signature = text.rpartition(".")
    if not body or not hmac.compare_digest(_sign(body.encode()), signature.encode()):
        return None
    who, expires = json.loads(base64.urlsafe_b64decode(body))
    return _person(accounts, who, int(now())) if expires > now() else None


@lru_cache(maxsize=256)
def _person(accounts: Accounts, who: str, second: int) -> Actor | None:
    """An active account; cached for a second, since the search box calls at every key."""
    try:
        return accounts.actor(who)
    except ConcordError:
        return None


def _sign(body: bytes) -> bytes:
    return hmac.new(_KEY, body, hashlib.sha256).hexdigest().encode()


def packed(value: Any, zipped: bool) -> Response:
    """A JSON response, gzipped at level 1 where accepted: Streamlit's own compression takes twice the time."""
    body = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    headers = {"Vary": "Accept-Encoding"}
    if zipped:
        body, headers["Content-Encoding"] = gzip.compress(body, 1, mtime=0), "gzip"
    return Response(body, headers=headers, media_type="application/json")
