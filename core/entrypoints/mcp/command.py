"""`python -m core mcp`: the server for assistants on this machine, over standard input and output."""

from __future__ import annotations

import getpass
import os
from argparse import Namespace
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from core.access import Actor
from core.entrypoints.session import open_app
from core.entrypoints.terminal import Terminal
from core.settings import Settings

if TYPE_CHECKING:
    from core.bootstrap import App

DOOR, TOKEN = "mcp", "CONCORD_TOKEN"  # the environment, not an argument: others can list those
HERE = "http://localhost:8501"  # where the app is unless CONCORD_URL says it


def register(add: Any) -> None:
    command = add("mcp", serve)
    command.add_argument("--check", action="store_true", help="say who would act and with which tools, and stop")


def serve(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Nothing but the protocol goes to standard output."""
    from core.entrypoints.mcp.server import build_server
    from core.entrypoints.mcp.visits import ToolSession

    app, token = open_app(settings), os.environ.get(TOKEN, "")
    actor = caller(app, token, options.user)  # refuse at once, not at the first call
    if options.check:
        return _check(actor, terminal)
    build_server(lambda ctx: ToolSession(app, caller(app, token, options.user), settings.url or HERE)).run("stdio")
    return 0


def _check(actor: Actor, terminal: Terminal) -> int:
    from core.entrypoints.mcp.tools import offered

    tools = [tool.__name__ for tool in offered(actor)]
    value = {"account": actor.id, "role": actor.role, "scope": actor.scope, "token": actor.token, "tools": tools}
    rights = f"{actor.role}, with the scope {actor.scope} of {actor.token!r}" if actor.token else actor.role
    terminal.show(value, [f"Assistants act as {actor.name} ({rights}).", f"Tools: {', '.join(tools)}."])
    return 0


def caller(app: App, token: str, user: str) -> Actor:
    """Whoever the token or --as names, with the rights of this moment; else somebody who reads."""
    if token:
        return app.people.tokens.holder(token, DOOR)
    if user:
        return replace(app.people.accounts.actor(user), door=DOOR)
    name = getpass.getuser()
    return Actor(f"{name}@localhost", name, f"{name}@localhost", "reader", DOOR)
