"""The routes in front of the app: sign in with a password or with a provider, and sign out."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qs

import anyio
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.routing import Route

from core.access import Actor
from core.errors import ConcordError
from core.services.people.accounts import Accounts
from core.settings import CALLBACK
from pages.ui.sign_in import cookies, html, provider
from pages.ui.style import ASSETS
from pages.ui.workspace import current_app

LARGEST = 16_384  # bytes of a form
REMEMBERED = 30 * 86400  # seconds that a demo remembers whom a browser acted as
_SIGN_INS = anyio.CapacityLimiter(4)  # passwords take long to check: nobody else's request waits for a thread meanwhile
SIGNED_OUT = "You are signed out."
MAILED = "If there is such an account, a letter is on its way to its address. The link in it works once, for a day."
ELSEWHERE = "This form was sent from another site, so it was not used. Sign in here."


async def show(request: Request) -> Response:
    """The way in; whoever is signed in goes on."""
    return await anyio.to_thread.run_sync(_show, request)


def _show(request: Request) -> Response:
    app, after = current_app(), cookies.own_path(request.query_params.get("next", "/"))
    if app.settings.sign_in == "demo" or cookies.found(app.people.sessions, request.cookies):
        return RedirectResponse(after, 303)
    note = SIGNED_OUT if "signed_out" in request.query_params else ""
    if app.settings.sign_in == "oidc":
        return provider.show(after, note)
    account, mark = (request.query_params.get(name, "")[:200] for name in ("account", "mark"))
    response = html.form(after, account, note=note, lost=_without_password())
    if mark and app.people.accounts.tries.marked(account, mark):  # from accounts unlock, at the terminal
        cookies.remember(response, request, account, mark)
    return response


def _without_password() -> str:
    """Which way leads in without a password."""
    app = current_app()
    mailed = "mail" if app.deliveries.lost_passwords.offered() else "admin"
    return "first" if app.people.accounts.first_page() else mailed


async def sign_in(request: Request) -> Response:
    form = await _form(request)
    return await anyio.to_thread.run_sync(_sign_in, request, form, limiter=_SIGN_INS)


def _sign_in(request: Request, form: Mapping[str, str]) -> Response:
    app, after, name = current_app(), cookies.own_path(form.get("next", "/")), form.get("name", "")
    if app.settings.sign_in != "local":
        return RedirectResponse(cookies.at("/sign-in"), 303)
    if not cookies.same_site(request):
        return html.form(after, problem=ELSEWHERE, status=403)
    try:
        actor = app.people.accounts.sign_in(name, form.get("password", ""), cookies.source(request))
    except ConcordError as error:
        return html.form(after, name, str(error), status=401, lost=_without_password())
    if page := app.people.accounts.renewing(actor):  # somebody else set this password: it lets in to choose another
        return RedirectResponse(cookies.at(page), 303)
    response = cookies.welcome(app, request, actor, after)
    cookies.remember(response, request, actor.id, app.people.accounts.tries.mark(actor.id))
    return response


async def by_link(request: Request) -> Response:
    """Choose a password by a link: one's own, or that of the first admin. Opening it uses up nothing."""
    form = await _form(request) if request.method == "POST" else {}
    return await anyio.to_thread.run_sync(_by_link, request, form, limiter=_SIGN_INS)


def _by_link(request: Request, form: Mapping[str, str]) -> Response:
    app, first = current_app(), request.url.path.endswith("/first")
    if app.settings.sign_in != "local":
        return RedirectResponse(cookies.at("/sign-in"), 303)
    if form and not cookies.same_site(request):
        return html.refused(ELSEWHERE, "/")
    given = form or request.query_params
    held = {name: str(given.get(name, ""))[:300] for name in (("proof",) if first else ("account", "until", "proof"))}
    action, title = ("/sign-in/first", "The first admin") if first else ("/sign-in/password", "Choose a password")
    try:
        person = _linked(app.people.accounts, held)
    except ConcordError as error:
        return html.refused(str(error), "/")
    if not form:
        return html.new_password(action, held, title, person)
    try:
        actor = _chosen(app.people.accounts, held, form)
    except ConcordError as error:
        return html.new_password(action, held, title, person, str(error))
    return cookies.welcome(app, request, actor, "/")


async def lost(request: Request) -> Response:
    """Ask for a link by mail. The answer is the same whether there is such an account or not."""
    form = await _form(request) if request.method == "POST" else {}
    return await anyio.to_thread.run_sync(_lost, request, form, limiter=_SIGN_INS)


def _lost(request: Request, form: Mapping[str, str]) -> Response:
    app = current_app()
    if app.settings.sign_in != "local" or not app.deliveries.lost_passwords.offered():
        return RedirectResponse(cookies.at("/sign-in"), 303)
    if not form:
        return html.lost_password()
    if not cookies.same_site(request):
        return html.refused(ELSEWHERE, "/")
    app.deliveries.lost_passwords.mail(form.get("name", ""))
    return html.lost_password(MAILED)


def _linked(accounts: Accounts, held: Mapping[str, str]) -> str:
    """Whose link it is; "" for that of the first admin."""
    if "account" in held:
        return accounts.linked(held["account"], held["until"], held["proof"]).name
    accounts.check_first(held["proof"])
    return ""


def _chosen(accounts: Accounts, held: Mapping[str, str], form: Mapping[str, str]) -> Actor:
    password = form.get("password", "")
    if "account" in held:
        return accounts.choose_password(held["account"], held["until"], held["proof"], password)
    return accounts.make_first(held["proof"], form.get("full_name", ""), form.get("email", ""), password)


async def sign_out(request: Request) -> Response:
    """End the session; every tab and token of it is out at once."""
    if not cookies.same_site(request):
        return html.refused("Another site asked to sign you out, so nothing was done.", "/")
    return await anyio.to_thread.run_sync(_sign_out, request)


def _sign_out(request: Request) -> Response:
    for cookie, token in cookies.held(request.cookies):
        current_app().people.sessions.sign_out(cookie, token)
    response = RedirectResponse(f"{cookies.at('/sign-in')}?signed_out", 303)
    cookies.put(response, request, cookies.SESSION, "", 0)
    return response


async def stay(request: Request) -> Response:
    """A link signs nobody out: any site could hold one."""
    return RedirectResponse(cookies.at("/"), 303)


async def _form(request: Request) -> dict[str, str]:
    """The fields of a small form; a large one counts as empty."""
    raw = b""
    async for part in request.stream():
        raw += part
        if len(raw) > LARGEST:
            return {}
    return {key: values[-1] for key, values in parse_qs(raw.decode("utf-8", "replace"), max_num_fields=10).items()}


async def persona(request: Request) -> Response:
    """Remember whom a demo is seen as, for reloads, links and new tabs."""
    form = await _form(request)
    return await anyio.to_thread.run_sync(_persona, request, form.get("persona", ""))


def _persona(request: Request, name: str) -> Response:
    app = current_app()
    if app.settings.sign_in != "demo" or not cookies.same_site(request):
        return Response(status_code=404)
    try:
        known = app.people.accounts.actor(name)
    except ConcordError:
        return Response(status_code=404)
    response = Response(status_code=204)
    cookies.put(response, request, cookies.PERSONA, known.id, REMEMBERED)
    return response


async def look(request: Request) -> Response:
    return Response(html.stylesheet(), media_type="text/css", headers={"Cache-Control": "max-age=3600"})


async def mark(request: Request) -> Response:
    return FileResponse(ASSETS / "concord.svg", headers={"Cache-Control": "max-age=3600"})


ROUTES = [
    Route(cookies.at("/sign-in"), show),
    Route(cookies.at("/sign-in"), sign_in, methods=["POST"]),
    Route(cookies.at("/sign-in/password"), by_link, methods=["GET", "POST"]),
    Route(cookies.at("/sign-in/first"), by_link, methods=["GET", "POST"]),
    Route(cookies.at("/sign-in/lost"), lost, methods=["GET", "POST"]),
    Route(cookies.at("/sign-out"), sign_out, methods=["POST"]),
    Route(cookies.at("/sign-out"), stay),
    Route(cookies.at("/sign-in/persona"), persona, methods=["POST"]),
    Route(cookies.at("/sign-in/look.css"), look),
    Route(cookies.at("/sign-in/concord.svg"), mark),
    Route(cookies.at("/sign-in/provider"), provider.begin),
    Route(cookies.at(CALLBACK), provider.finish),
]
