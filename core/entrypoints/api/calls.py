"""One request: who makes it, the thread it works in, and its answer with ETag, links and limits."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlencode

import anyio
import anyio.to_thread
import orjson
from fastapi import Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from core import strict
from core.access import ANYBODY, SCOPES, Actor, reading_as
from core.entrypoints.api import problems
from core.entrypoints.api.metrics import Meters
from core.entrypoints.front_desk import TOO_MANY, FrontDesk, NotOpen, bearer
from core.entrypoints.limits import MOST, Turns
from core.entrypoints.record import Rows
from core.entrypoints.refusals import refuse_unknown
from core.errors import Busy, ConcordError, Reached, TookEffect, Unauthenticated, UnderWay, storage_failure
from core.lru import LruCache
from core.services.people.replies import TOOK_EFFECT, Interrupted, KeptReply

if TYPE_CHECKING:
    from core.bootstrap import App

LOG = logging.getLogger("concord.api")
# Threads. Searches compute and wait for nothing, so that many at once gain nothing; what takes long has its own, so
# that
# nothing else waits for it.
LANES = {"search": 2, "quick": 8, "slow": 2, "knobs": 2, "model": 8}  # threads; those of models mostly wait
DOOR = "api"
KEY, REPEATED = "Idempotency-Key", "Idempotent-Replayed"
REVALIDATE = {"Cache-Control": "private, no-cache"}
OLD_PAGE = "This is for pages, and the token of this one does not count any more. Load the page again."
FAULT = "This is a fault of the server. Whoever runs it finds the request's id in its log."

Work = Callable[["App", Actor], Any]


@dataclass(frozen=True)
class Service:
    """What all requests share."""

    desk: FrontDesk
    meters: Meters
    metrics_token: str = ""
    visitor: Callable[[str, App], Actor | None] = lambda secret, app: None  # whose page a component's token is of
    lanes: Mapping[str, anyio.CapacityLimiter] = field(
        default_factory=lambda: {name: anyio.CapacityLimiter(threads) for name, threads in LANES.items()}
    )
    turns: Mapping[str, Turns] = field(
        default_factory=lambda: {name: Turns(threads // 2) for name, threads in LANES.items()}
    )  # half of a lane at most is one account's
    account_of: LruCache[str, str] = field(
        default_factory=lambda: LruCache(MOST)
    )  # of tokens that came before, so that all of one account's share


@dataclass(frozen=True, slots=True)
class Window:
    """Which part of a list is wanted."""

    limit: int
    offset: int


async def _window(
    limit: Annotated[int, Query(ge=1, le=1000, description="How many at most.")] = 100,
    offset: Annotated[int, Query(ge=0, le=10_000_000, description="How many to leave out first.")] = 0,
) -> Window:
    return Window(limit, offset)


Windowed = Annotated[Window, Depends(_window)]


class ApiCall:
    """A request on its way to an answer."""

    def __init__(self, request: Request) -> None:
        self.request, self.service = request, request.app.state.service
        self.headers: dict[str, str] = {}
        self.key = request.headers.get(KEY) if request.method == "POST" else None
        self.asked = ""  # the digest of what a key stands for
        self.again: Callable[[App, Actor, int], Any] | None = None  # the answer about a change, by its number or 0
        self.who: Actor = ANYBODY  # until the token was read
        self.own_page = False  # whether a component asks for what its page may

    @property
    def id(self) -> str:
        """The id under which the log and the audit know it."""
        return str(self.request.scope["concord.request"])

    async def answer(
        self,
        work: Work,
        *,
        tag: Callable[[App], object] | None = None,
        status: int = 200,
        lane: str = "quick",
        actor: Actor | None = None,
    ) -> Response:
        """The result of `work` as JSON; all of it in a thread. `tag` names the state it depends on, where that is
        cheap;
        `actor` is who asks where the token does not say it."""
        if self.key is not None:
            self.asked = self._digest(await self.request.body())
        task = partial(self._guarded, work, tag, status, actor)
        service: Service = self.service
        try:
            async with service.turns[lane].of(service.account_of.get(self.secret()) or self.secret() or self.id):
                return await anyio.to_thread.run_sync(task, limiter=service.lanes[lane])
        except Busy as error:
            return self._refused(error)

    async def page(self, work: Callable[[App, Actor], Rows], window: Window) -> Response:
        """A part of a list, with the whole count and links to the parts beside it."""

        def part(app: App, actor: Actor) -> Any:
            every = work(app, actor)
            total = len(every.items)
            self.headers |= {"X-Total-Count": str(total), **self._links(window, total)}
            return every.part(window.offset, window.limit)

        return await self.answer(part)

    def expected_head(self) -> str:
        """The head of a change that If-Match names; "" when there is none."""
        given = self.request.headers.get("if-match", "").strip()
        return "" if given == "*" else given.removeprefix("W/").strip('"').partition("-")[0]

    # ------------------------------------------------------------ in the thread

    def _guarded(self, work: Work, tag: Callable[[App], object] | None, status: int, known: Actor | None) -> Response:
        try:
            return self._worked(work, tag, status, known)
        except ConcordError as error:
            return self._refused(error)
        except Exception as error:
            failure = storage_failure(error)
            if failure is not None:
                return self._refused(failure)
            LOG.exception("Request %s failed.", self.id)
            return problems.answer(500, FAULT, self.id, self.headers)

    def _refused(self, error: ConcordError) -> Response:
        status = problems.status_of(error)
        if status >= 500 and not isinstance(error, NotOpen):
            LOG.error("Request %s: %s", self.id, error.at_terminal())
        if status == 401:
            self.headers["WWW-Authenticate"] = "Bearer"
        if isinstance(error, UnderWay):
            self.headers["Retry-After"] = "1"
        return problems.refused(error, self.id, self.who, self.headers)

    def _worked(self, work: Work, tag: Callable[[App], object] | None, status: int, known: Actor | None) -> Response:
        app = self.service.desk.app(self.id)
        actor = self.who = known or self.actor(app)
        if known is None and not self.own_page:
            self._count(actor)
        with reading_as(actor):
            etag = self._etag(f"{tag(app)}{app.knowledge.documents.audience()}") if tag else ""
            if etag and self._known(etag):
                return self._unchanged(etag)
            if self.key is not None:
                return self._once(app, actor, self.key, work, status)
            return self._json(work(app, actor), etag, status)

    def _once(self, app: App, actor: Actor, key: str, work: Work, status: int) -> Response:
        """The answer that the key had before, or a new one, which is kept. A refusal is not: it did nothing."""
        replies = app.people.replies
        known = replies.begin(actor, key, self.asked)
        if isinstance(known, KeptReply):
            self.headers |= {**known.headers, REPEATED: "true"}
            return Response(known.body, known.status, self.headers, "application/json")
        try:
            value = self._resumed(known, app, actor, work) if known else work(app, actor)
            answer = self._json(value, "", status)
        except TookEffect:
            raise
        except BaseException:
            with suppress(ConcordError):
                replies.drop(actor, key)
            raise
        told = {name: answer.headers[name] for name in ("ETag", "Location") if name in answer.headers}
        try:
            replies.keep(actor, key, KeptReply(answer.status_code, told, bytes(answer.body)))
        except ConcordError as error:  # it is done, so it is not refused
            LOG.error("Request %s: its answer was not kept. %s", self.id, error)
        return answer

    def _resumed(self, cut: Interrupted, app: App, actor: Actor, work: Work) -> Any:
        """What a request did whose server stopped before it answered; what it did not do is done now."""
        if cut.took_effect and not (self.again and cut.change):
            raise TookEffect(TOOK_EFFECT)
        try:
            return self.again(app, actor, cut.change) if self.again and cut.took_effect else work(app, actor)
        except Reached:
            if self.again is None:
                raise
            return self.again(app, actor, 0)

    def _digest(self, body: bytes) -> str:
        """Everything that makes this request another one."""
        scope, seen = self.request.scope, self.request.headers.get("if-match", "")
        address = [scope[part].decode("latin-1") for part in ("raw_path", "query_string")]
        return strict.digest([*address, seen, hashlib.sha256(body).hexdigest()], 64)

    def _count(self, actor: Actor) -> None:
        """One request more of this token."""
        if allowance := self.service.desk.allowance(actor):
            self.headers |= allowance.headers()
            if allowance.wait:
                raise Busy(TOO_MANY.format(allowance.wait))

    def secret(self) -> str:
        """The access token of the request; "" without one."""
        return bearer(self.request)

    def actor(self, app: App) -> Actor:
        """The account of the token, with its role of now."""
        secret = self.secret()
        visitor: Actor | None = self.service.visitor(secret, app) if secret else None
        if visitor:
            self.service.account_of[secret] = f"{visitor.id} at a page"
            self.request.scope["concord.who"] = visitor.id
            return replace(visitor, scope="" if self.own_page else SCOPES[0], request=self.id)
        if self.own_page and secret:
            raise Unauthenticated(OLD_PAGE)
        actor: Actor = self.service.desk.holder(secret, self.id)
        self.service.account_of[secret] = actor.id
        self.request.scope["concord.who"] = f"{actor.id} ({actor.token})"
        return actor

    def _json(self, value: Any, etag: str, status: int) -> Response:
        if isinstance(value, Response):
            value.headers.update(self.headers)
            return value
        body = encoded(value)
        if self.request.method == "GET":
            etag = self.headers.get("ETag") or etag or f'W/"{hashlib.sha256(body).hexdigest()[:24]}"'
            if self._known(etag):
                return self._unchanged(etag)
            self.headers |= {"ETag": etag, **REVALIDATE}
        return Response(body, status, self.headers, "application/json")

    def _unchanged(self, etag: str) -> Response:
        return Response(status_code=304, headers=self.headers | {"ETag": etag, **REVALIDATE})

    def _etag(self, state: object) -> str:
        """A tag for this address in a state of the workspace."""
        address = [self.request.scope[part].decode("latin-1") for part in ("raw_path", "query_string")]
        return f'W/"{strict.digest([state, address], 24)}"'

    def _known(self, etag: str) -> bool:
        given = self.request.headers.get("if-none-match", "")
        return bool(given) and etag.removeprefix("W/") in [part.strip().removeprefix("W/") for part in given.split(",")]

    def _links(self, window: Window, total: int) -> dict[str, str]:
        """The first, previous, next and last part, as RFC 8288 writes links."""
        last = max(0, (total - 1) // window.limit * window.limit)
        places = {"first": 0, "prev": window.offset - window.limit, "next": window.offset + window.limit, "last": last}
        kept = [pair for pair in self.request.query_params.multi_items() if pair[0] not in ("limit", "offset")]
        path = self.request.url.path
        links = [
            f'<{path}?{urlencode([*kept, ("limit", window.limit), ("offset", max(0, offset))])}>; rel="{name}"'
            for name, offset in places.items()
            if not (name == "prev" and window.offset == 0) and not (name == "next" and offset >= total)
        ]
        return {"Link": ", ".join(links)}


async def _call(request: Request) -> ApiCall:
    refuse_unknown(request.query_params, _parameters(request.scope["route"]))
    return ApiCall(request)


Calls = Annotated[ApiCall, Depends(_call)]


def _parameters(route: Any) -> frozenset[str]:
    """The query parameters of an operation, also those that several operations share."""
    found = getattr(route, "_concord_parameters", None)
    if found is None:
        dependants = [route.dependant]
        for dependant in dependants:
            dependants += dependant.dependencies
        found = frozenset(field.alias for dependant in dependants for field in dependant.query_params)
        route._concord_parameters = found
    return found


def encoded(value: Any) -> bytes:
    """JSON of dictionaries, lists and records; a number that JSON has no word for is null.

    >>> encoded({"a": [float("nan"), 1.5]})
    b'{"a":[null,1.5]}'
    """
    return orjson.dumps(value, default=_known_kinds, option=orjson.OPT_NON_STR_KEYS)


def _known_kinds(value: Any) -> Any:
    """What is not encoded as it is; a sequence of records as a tuple of them, which is."""
    return tuple(value) if isinstance(value, Sequence) else strict.plain(value)
