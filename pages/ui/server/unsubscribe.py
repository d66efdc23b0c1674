"""Ending mail by a link in it, without signing in: looking changes nothing, posting does, once or again (RFC 8058)."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

import anyio
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from core.errors import ConcordError
from core.services.deliveries.choices import topic_title
from pages.ui.sign_in import html
from pages.ui.sign_in.cookies import at
from pages.ui.workspace import current_app

PATH = at("/unsubscribe")


async def ask(request: Request) -> Response:
    """What the link would end, and a button: mail scanners open links."""
    return await anyio.to_thread.run_sync(_answered, request, _ask)


async def end(request: Request) -> Response:
    """End it; mail programs post this themselves."""
    return await anyio.to_thread.run_sync(_answered, request, _end)


def _answered(request: Request, answer: Callable[[str], Response]) -> Response:
    try:
        return answer(request.query_params.get("token", "")[:1000])
    except ConcordError as error:
        return html.page("Mail from Concord", f'<p class="problem" role="alert">{escape(str(error))}</p>', 400)


def _ask(token: str) -> Response:
    _, topic = current_app().deliveries.choices.named(token)
    title = escape(topic_title(topic))
    return html.page(
        "Stop these mails?",
        f"""<p>You will get no more mail about “{title}”. Your inbox in Concord stays as it is.</p>
<form method="post" action="{PATH}?token={escape(token)}">
<button>Stop these mails</button>
</form>
{_elsewhere()}""",
    )


def _end(token: str) -> Response:
    topic = current_app().deliveries.choices.unsubscribe(token)
    done = f'<p class="note" role="status">You get no more mail about “{escape(topic)}”.</p>'
    return html.page("Done", f"{done}{_elsewhere()}")


def _elsewhere() -> str:
    return f'<p class="quiet"><a href="{at("/account")}?part=Messages">Choose what you get</a></p>'


ROUTES = [Route(PATH, ask), Route(PATH, end, methods=["POST"])]
