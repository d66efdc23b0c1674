"""The HTTP API in the test's own process: a small workspace, one access token per role, requests as a program makes
them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.testclient import TestClient

from core.bootstrap import App
from core.entrypoints.api import application
from tests.conftest import NoProcesses, demo, put, small_app, until
from tests.support.small_kb import FILES

SCOPES = {"reader": "read", "author": "propose", "reviewer": "review", "admin": "review"}


class ApiServer:
    """An API on a workspace, with a token of the widest scope for each role."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.api = application.create(lambda: app, app.settings)
        self.client = TestClient(self.api, raise_server_exceptions=True)
        self.tokens = {role: app.people.tokens.make(demo(role), "tests", scope)[0] for role, scope in SCOPES.items()}

    def ask(self, role: str, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """A request as a role; headers are written with underscores."""
        sent = {"Authorization": f"Bearer {self.tokens[role]}"} if role in self.tokens else {}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        return self.client.request(method, path, json=body, headers=sent)

    def get(self, path: str, role: str = "author", **headers: str) -> Any:
        return self.ask(role, "GET", path, **headers)

    def post(self, path: str, body: Any = None, role: str = "author", **headers: str) -> Any:
        return self.ask(role, "POST", path, body, **headers)


def served(home: Path, **settings: object) -> ApiServer:
    """The small knowledge base, indexed, behind an API without a limit on requests."""
    app = small_app(home, NoProcesses(), **{"api_rate": 0, **settings})
    put(app, FILES)
    app.index.builder.build(app.platform.settings.profile())
    return ApiServer(app)


@contextmanager
def listening(server: ApiServer) -> Iterator[str]:
    """The same API on a port of the loopback: its address."""
    mounted = Starlette(routes=[application.mounted(server.api)])
    real = uvicorn.Server(uvicorn.Config(mounted, port=0, log_level="error", lifespan="off"))
    thread = threading.Thread(target=real.run, daemon=True)
    thread.start()
    try:
        until(lambda: real.started)
        yield f"http://127.0.0.1:{real.servers[0].sockets[0].getsockname()[1]}"
    finally:
        real.should_exit = True
        thread.join(300)
