"""Sign-in with the organisation's provider: away with a fresh state, nonce and PKCE verifier, back with a code."""

from __future__ import annotations

import base64
import json
import logging
import secrets
from collections.abc import Callable
from functools import cache
from typing import Any

import anyio
import streamlit as st
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from core.access import Actor
from core.errors import BadInput, ConcordError, NotFound, Refused, Unavailable
from core.services.people.sessions import Session
from core.services.people.wiring import sign_in_provider
from core.settings import CALLBACK
from pages.ui.sign_in import cookies, html
from pages.ui.workspace import current_app

LOG = logging.getLogger("concord")
FLOW, MINUTES = "concord_flow_", 10  # the cookie of a sign-in that is under way, and how long it may take
NOT_CONFIGURED = (
    "CONCORD_SIGN_IN is oidc, and no sign-in provider is configured. "
    "Whoever runs this app adds an [auth] section to .streamlit/secrets.toml; docs/accounts.md shows one."
)
UNUSABLE = "The section [auth] of .streamlit/secrets.toml cannot be used: {why}. docs/accounts.md shows one that works."
STALE = "This sign-in was begun in another browser, or more than ten minutes ago. Start again."


@cache
def configured() -> Any:
    """The provider of the section [auth]."""
    if not st.secrets.load_if_toml_exists() or "auth" not in st.secrets:
        raise NotFound(NOT_CONFIGURED)
    try:
        return sign_in_provider(st.secrets["auth"].to_dict())
    except BadInput as error:
        raise BadInput(UNUSABLE.format(why=str(error).split(", got ")[0].rstrip("."))) from None


def show(after: str, note: str) -> Response:
    """The button that leads to the provider, and out of it for whoever just left."""
    try:
        provider = configured()
        leave = provider.end_session_url(_address("/sign-in?signed_out")) if note else ""
    except Unavailable:
        leave = ""
    except ConcordError as error:
        return html.unconfigured(str(error))
    return html.organisation(after, note, leave)


async def begin(request: Request) -> Response:
    return await _answered(request, _begin)


def _begin(request: Request) -> Response:
    after = cookies.own_path(request.query_params.get("next", "/"))
    state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
    response = RedirectResponse(configured().authorization_url(state, nonce, verifier), 303)
    cookies.put(response, request, _flow_name(state), _packed([state, nonce, verifier, after]), MINUTES * 60)
    return response


async def finish(request: Request) -> Response:
    return await _answered(request, _finish)


def _finish(request: Request) -> Response:
    state = request.query_params.get("state", "")
    kept = _unpacked(request.cookies.get(cookies.name(request, _flow_name(state)), ""))
    actor, (claims, tokens), after = _recorded(lambda: _checked(request, state, kept))
    names = (str(claims["iss"]), str(claims["sub"]))

    def seal(secret: str) -> str:
        return configured().sealed(secret, tokens) if configured().settings.renew else ""

    response = cookies.welcome(current_app(), request, actor, after, names, seal=seal)
    cookies.put(response, request, _flow_name(state), "", 0)
    return response


def renewed(session: Session, secret: str) -> bool:
    """Ask the provider again who somebody is, where it is time; whether it was asked. A session that it does not vouch
    for any more
    ends. While it cannot be reached, people stay as they were."""
    people, provider = current_app().people, configured()
    kept, subject = people.sessions.to_renew(session, provider.settings.renew)
    if not kept:
        return False
    try:
        claims, tokens = provider.renewed(provider.unsealed(secret, kept), subject)
        if claims:
            people.provider.renew(session.account, claims, provider.settings)
        people.sessions.renew(session, provider.sealed(secret, tokens))
    except Refused as error:
        people.sessions.disown(session, str(error))
    except Unavailable as error:
        LOG.warning("%s", error)
    return True


def _checked(request: Request, state: str, kept: list[str]) -> tuple[Actor, tuple[dict[str, Any], Any], str]:
    """Who came back, and where they wanted to go."""
    if len(kept) != 4 or not secrets.compare_digest(kept[0].encode(), state.encode()):
        raise Unexpected(STALE)
    provider = configured()
    try:
        provider.check_issuer(request.query_params.get("iss"))
    except Refused as error:
        raise Unexpected(str(error)) from None
    if problem := request.query_params.get("error"):
        detail = request.query_params.get("error_description", "")
        raise Unexpected(
            f"The provider did not let you in: {' '.join(f'{problem} {detail}'.split())[:300]}. Try again, or tell an"
            " admin."
        )
    _, nonce, verifier, after = kept
    try:
        claims, tokens = provider.claims(request.query_params.get("code", ""), verifier, nonce)
    except Refused as error:
        raise Unexpected(str(error)) from None
    actor = current_app().people.provider.sign_in(claims, provider.settings)
    return actor, (claims, tokens), cookies.own_path(after)


class Unexpected(Refused):
    """A sign-in that failed before anybody was named."""


def _recorded(work: Callable[[], Any]) -> Any:
    """Failures before anybody was named get their line in the audit here, the others where the account is looked up."""
    try:
        return work()
    except (Unexpected, Unavailable, BadInput) as error:
        current_app().people.accounts.refuse("somebody at the provider", str(error))
        raise


async def _answered(request: Request, work: Callable[[Request], Response]) -> Response:
    """The response, or a page that says why there is none and what to do."""
    if current_app().settings.sign_in != "oidc":
        return RedirectResponse(cookies.at("/sign-in"), 303)
    try:
        return await anyio.to_thread.run_sync(work, request)
    except ConcordError as error:
        status = 503 if isinstance(error, Unavailable | NotFound | BadInput) else 403
        return html.refused(str(error), "/", status)
    except Exception:
        LOG.exception("a sign-in failed")
        return html.refused("Something went wrong at the sign-in. The app's log says what; tell an admin.", "/", 500)


def _address(path: str) -> str:
    """A whole address of this app, as the provider knows it."""
    return str(configured().settings.redirect_uri).removesuffix(CALLBACK) + path


def _flow_name(state: str) -> str:
    """One cookie for each sign-in that is under way, so that two tabs do not meet."""
    return FLOW + "".join(sign for sign in state[:16] if sign.isalnum() and sign.isascii())


def _packed(values: list[str]) -> str:
    return base64.urlsafe_b64encode(json.dumps(values).encode()).decode().rstrip("=")


def _unpacked(text: str) -> list[str]:
    try:
        values = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except ValueError:
        return []
    return [str(value) for value in values] if isinstance(values, list) else []
