"""The cookie of a session, and what else a request says about where it comes from."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from urllib.parse import urlsplit

import streamlit as st
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from core.access import Actor
from core.bootstrap import App
from core.services.people.sessions import Session, Sessions
from core.services.people.tries import MARK_LIFE, Source

SESSION = "concord_session"
PERSONA = "concord_persona"  # who a demo is seen as; where people sign in it means nothing
KNOWN = "concord_known_"  # begins the names of the marks of browsers that signed in before
_HOST = "__Host-"  # a browser lets no other host and no plain HTTP set a cookie whose name starts like this


def at(path: str) -> str:
    """A path of this app, below the folder that `server.baseUrlPath` names."""
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{base}{path}" if base else path


def secure(request: Request) -> bool:
    """Whether the browser came by HTTPS, also where a proxy ends it."""
    proto = request.headers.get("x-forwarded-proto", request.url.scheme).split(",")[0].strip().lower()
    return proto == "https"


def name(request: Request, base: str = SESSION) -> str:
    """What a cookie is called: by HTTPS it gets a prefix."""
    return f"{_HOST}{base}" if secure(request) else base


def put(response: Response, request: Request, base: str, value: str, seconds: int) -> None:
    """Set a cookie that scripts cannot read and other sites cannot use; without a value it is removed."""
    response.set_cookie(
        name(request, base),
        value,
        max_age=seconds if value else 0,
        path="/",
        secure=secure(request),
        httponly=True,
        samesite="lax",
    )


def remember(response: Response, request: Request, account: str, mark: str) -> None:
    """Let the browser be known to an account, beside others that signed in with it."""
    base = f"{KNOWN}{hashlib.sha256(account.encode()).hexdigest()[:12]}"
    put(response, request, base, mark, int(MARK_LIFE))


def source(request: Request) -> Source:
    """Where a try to sign in comes from; a proxy's word for it counts where FORWARDED_ALLOW_IPS of the
    server names it.
    """
    marks = tuple(mark for cookie, mark in request.cookies.items() if cookie.removeprefix(_HOST).startswith(KNOWN))
    return Source(request.client.host if request.client else "", marks)


def held(cookies: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Names and tokens that a browser sent."""
    for cookie in (f"{_HOST}{SESSION}", SESSION):
        if token := cookies.get(cookie):
            yield cookie, token


def persona(cookies: Mapping[str, str]) -> str:
    """Whom the browser last acted as in a demo; "" where it has not chosen."""
    return cookies.get(f"{_HOST}{PERSONA}") or cookies.get(PERSONA, "")


def found(sessions: Sessions, cookies: Mapping[str, str]) -> tuple[Session, Actor] | None:
    """The session that a browser's cookies name, with its account as it is now."""
    return next((match for _, match in matched(sessions, cookies)), None)


def matched(sessions: Sessions, cookies: Mapping[str, str]) -> Iterator[tuple[str, tuple[Session, Actor]]]:
    """The same with the secret that the cookie holds."""
    return ((token, match) for cookie, token in held(cookies) if (match := sessions.find(cookie, token)))


def welcome(
    app: App,
    request: Request,
    actor: Actor,
    after: str,
    provider: tuple[str, str] = ("", ""),
    *,
    seal: Callable[[str], str] = lambda secret: "",
) -> Response:
    """A session of its own for every sign-in, and on to the page that was asked for; `provider` is issuer
    and subject.
    """
    response = RedirectResponse(after, 303)
    for cookie, token in held(request.cookies):
        app.people.sessions.sign_out(cookie, token)
    agent = request.headers.get("user-agent", "")
    token = app.people.sessions.start(actor, name(request), agent, *provider, seal=seal)
    put(response, request, SESSION, token, int(app.settings.session_life * 86400))
    return response


def own_path(text: str) -> str:
    """A path of this app to go on to; whatever leads elsewhere becomes the start page.

    >>> own_path("/documents?doc=FIN-POL-001"), own_path("//evil.example"), own_path("https://evil.example")
    ('/documents?doc=FIN-POL-001', '/', '/')
    """
    parts = urlsplit(text) if text.startswith("/") and text.isprintable() and "\\" not in text else None
    inside = parts and not parts.netloc and not text.startswith("//")
    return text if inside and text.isascii() and " " not in text and len(text) < 2000 else at("/")


def same_site(request: Request) -> bool:
    """Whether a form was sent from a page of this app; programs that say nothing about it are no browsers."""
    if fetched := request.headers.get("sec-fetch-site"):
        return fetched in ("same-origin", "none")
    origin = request.headers.get("origin")
    hosts = {request.headers.get("host"), request.headers.get("x-forwarded-host")}
    return origin is None or urlsplit(origin).netloc in hosts
