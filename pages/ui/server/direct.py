"""Tokens with which components call the API for the signed-in account.

A page signs a token with a key that lives as long as the process. It names the session of the page, not its rights:
both are looked up per request, so that a sign-out and a lost role take effect at once. Where a token is too old, a
rerun of the page
brings another one.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Callable

from core.access import Actor
from core.bootstrap import App
from core.errors import ConcordError

_KEY = secrets.token_bytes(32)
_LIFE = 12 * 3600  # seconds


def token(actor: Actor, session: int) -> str:
    """A signed token for an account, valid for twelve hours at most; in the demo, which has no sessions, the number is
    0.
    """
    body = base64.urlsafe_b64encode(json.dumps([actor.id, session, int(time.time()) + _LIFE]).encode())
    return f"{body.decode()}.{_sign(body).decode()}"


def holder(text: str, app: App, now: Callable[[], float] = time.time) -> Actor | None:
    """The account of a genuine token, with its current role, while the session of the page lasts."""
    body, _, signature = text.rpartition(".")
    if not body or not hmac.compare_digest(_sign(body.encode()), signature.encode()):
        return None
    who, session, expires = json.loads(base64.urlsafe_b64decode(body))
    if expires <= now():
        return None
    if session:
        found = app.people.sessions.get(session)
        return found[1] if found else None
    return _persona(app, who) if app.settings.sign_in == "demo" else None


def _persona(app: App, who: str) -> Actor | None:
    try:
        return app.people.accounts.actor(who)
    except ConcordError:
        return None


def _sign(body: bytes) -> bytes:
    return hmac.new(_KEY, body, hashlib.sha256).hexdigest().encode()
