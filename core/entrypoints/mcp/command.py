"""`python -m core mcp`: the server for assistants on this machine, over standard input and output."""

from __future__ import annotations

import getpass
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from core.access import SCOPES, Actor
from core.entrypoints.record import CommandCall, Option, Shown, command, form

if TYPE_CHECKING:
    from core.bootstrap import App

DOOR, TOKEN = "mcp", "CONCORD_TOKEN"  # the environment, not an argument: others can list those
HERE = "http://localhost:8501"  # where the app is unless CONCORD_URL says it


@form
class ServeOptions:
    check: Annotated[bool, Option("say who would act and with which tools, and stop")] = False


@command(
    "mcp",
    "serve assistants on this machine: the Model Context Protocol on standard input and output",
    example="mcp --check",
)
def serve(call: CommandCall, form: ServeOptions) -> Shown | None:
    """Nothing but the protocol goes to standard output."""
    from core.entrypoints.mcp.server import build_server
    from core.entrypoints.mcp.visits import ToolSession

    app, token = call.app, os.environ.get(TOKEN, "")
    actor = caller(app, token, call.user)  # refuse at once, not at the first call
    if form.check:
        return _check(actor)
    build_server(lambda ctx: ToolSession(app, caller(app, token, call.user), call.settings.url or HERE)).run("stdio")
    return None


def _check(actor: Actor) -> Shown:
    from core.entrypoints.mcp.tools import offered

    tools = [tool.name for tool in offered(actor)]
    value = {"account": actor.id, "role": actor.role, "scope": actor.scope, "token": actor.token, "tools": tools}
    rights = f"{actor.role}, with the scope {actor.scope} of {actor.token!r}" if actor.token else actor.role
    return Shown(value, [f"Assistants act as {actor.name} ({rights}).", f"Tools: {', '.join(tools)}."])


def caller(app: App, token: str, user: str) -> Actor:
    """The account that the token or --as names, with the rights of this moment; without both a reader that writes
    nothing.
    """
    if token:
        return app.people.tokens.holder(token, DOOR)
    if user:
        return replace(app.people.accounts.actor(user), door=DOOR)
    name = getpass.getuser()
    return Actor(f"{name}@localhost", name, f"{name}@localhost", "reader", DOOR, scope=SCOPES[0])
