"""Addresses of pictures, and the route that serves them: by content, so that a browser may keep them for good.

An approved picture is for those who may read its document, one of a change for those who see the change. What an upload
holds is served to the
account that brought it, from memory, until others push it out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from urllib.parse import quote

import anyio
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from core.access import ANYBODY, ROLES, Actor, reader
from core.bootstrap import App
from core.curation.pictures import picture_files
from core.curation.upload.conversions import Picture
from core.errors import ConcordError, NotFound, Refused
from core.lru import LruCache
from pages.ui.sign_in import cookies
from pages.ui.workspace import app, current_app

PERSONA = "as"  # the parameter of a demo
MOST_BYTES = 128 * 1024 * 1024  # of uploads that wait for their submission, of all people
_HEADERS = {
    "Cache-Control": "private, max-age=31536000, immutable",
    "Vary": "Cookie",  # the next account at the same browser asks anew
    "Content-Security-Policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def address(blob: str, path: str) -> str:
    """Where a picture is; in a demo, which has no sessions, with the persona who looks."""
    persona = f"?{PERSONA}={quote(reader().id)}" if app().settings.sign_in == "demo" else ""
    return cookies.at(f"/pictures/{blob}/{quote(path.rsplit('/', 1)[-1])}") + persona


def at(commit: str, *held: dict[str, str]) -> Callable[[str], str]:
    """From a path to the address of the picture at a commit, or among those held by a draft; "" where there is none."""
    blobs = dict(app().knowledge.pictures.blobs(commit)) if commit else {}
    for more in held:
        blobs |= more
    return lambda path: address(blobs[path], path) if path in blobs else ""


# ---------------------------------------------------------------- pictures of an upload


class _Waiting:
    """Pictures and files that nobody submitted yet, by account and name; the ones used last."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._kept: LruCache[tuple[str, str], bytes] = LruCache(most, len)

    def put(self, account: str, raw: bytes, name: str = "") -> str:
        """The name under which the account finds it: that of its content if not given. One account has at most half."""
        name = name or hashlib.sha256(raw).hexdigest()[:40]
        self._kept[account, name] = raw
        self._kept.trim(self._kept.most // 2, lambda key: key[0] == account)
        return name

    def get(self, account: str, name: str) -> bytes | None:
        return self._kept.get((account, name))


WAITING = _Waiting()


def uploaded(actor: Actor, brought: Iterable[Picture]) -> Callable[[str], str]:
    """From a path to the address of a picture of an upload, else of the approved one."""
    approved = at(app().knowledge.repository.head())
    names = {picture.path: WAITING.put(actor.id, picture.raw) for picture in brought}
    return lambda path: address(names[path], path) if path in names else approved(path)


# ---------------------------------------------------------------- the route


async def show(request: Request) -> Response:
    """A picture, if the session may see it."""
    return await anyio.to_thread.run_sync(_show, request)


def _show(request: Request) -> Response:
    current = current_app()
    actor = _viewer(current, request)
    if actor is None:
        return PlainTextResponse("Sign in to see this picture.", 401)
    blob, name = request.path_params["blob"], request.path_params["name"]
    if request.headers.get("if-none-match") == f'"{blob}"' and _may_keep(current, actor, blob, name):
        return Response(status_code=304, headers={"ETag": f'"{blob}"'})
    try:
        raw = _raw(current, actor, blob, name)
    except Refused as error:
        return PlainTextResponse(str(error), 403)
    except NotFound as error:
        return PlainTextResponse(str(error), 404)
    disposition = f"inline; filename*=UTF-8''{quote(name, safe='')}"
    headers = {**_HEADERS, "ETag": f'"{blob}"', "Content-Disposition": disposition}
    return Response(raw, headers=headers, media_type=picture_files.content_type(name))


def _viewer(current: App, request: Request) -> Actor | None:
    """Who asks. A demo is on one machine and lets everybody be anybody; who says nothing sees what everybody may."""
    if current.settings.sign_in == "demo":
        with suppress(NotFound, Refused):
            return current.people.accounts.actor(request.query_params.get(PERSONA, ""))
        return replace(ANYBODY, role=ROLES[0])
    found = cookies.found(current.people.sessions, request.cookies)
    return found[1] if found else None


def _raw(current: App, actor: Actor, blob: str, name: str) -> bytes:
    waiting = WAITING.get(actor.id, blob)
    if waiting is not None and picture_files.is_picture(name) and picture_files.fits(name, waiting):
        return waiting
    return current.knowledge.pictures.read(actor, blob, name)


def _may_keep(current: App, actor: Actor, blob: str, name: str) -> bool:
    try:
        return bool(_raw(current, actor, blob, name))
    except ConcordError:
        return False


ROUTES = [Route(cookies.at("/pictures/{blob}/{name}"), show)]
