"""The direct way: components ask the server's own routes, with a token that says who they act for.

A token is made by a page for the person who looks at it, signed with a key that lives as long as the process.
It says who somebody is, never what they may: that is asked of the accounts, so a role that was taken away is gone.
Where a route cannot be reached (a proxy hides it, the token is too old), the component asks the page's script instead.
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
    """What a component shows to act for somebody."""
    body = base64.urlsafe_b64encode(json.dumps([actor.id, int(time.time()) + _LIFE]).encode())
    return f"{body.decode()}.{_sign(body).decode()}"


def holder(text: str, accounts: Accounts, now: Callable[[], float] = time.time) -> Actor | None:
    """Whoever a token was made for, if it is genuine and not too old, in the role that they have now."""
    body, _, signature = text.rpartition(".")
    if not body or not hmac.compare_digest(_sign(body.encode()), signature.encode()):
        return None
    who, expires = json.loads(base64.urlsafe_b64decode(body))
    return _person(accounts, who, int(now())) if expires > now() else None


@lru_cache(maxsize=256)
def _person(accounts: Accounts, who: str, second: int) -> Actor | None:
    """Somebody who may act; looked up once a second, since whoever types asks at every key."""
    try:
        return accounts.actor(who)
    except ConcordError:
        return None


def _sign(body: bytes) -> bytes:
    return hmac.new(_KEY, body, hashlib.sha256).hexdigest().encode()


def packed(value: Any, zipped: bool) -> Response:
    """An answer as JSON, zipped where the reader takes that: lightly, since Streamlit's own zip takes twice the time."""
    body = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    headers = {"Vary": "Accept-Encoding"}
    if zipped:
        body, headers["Content-Encoding"] = gzip.compress(body, 1, mtime=0), "gzip"
    return Response(body, headers=headers, media_type="application/json")
