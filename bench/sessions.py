"""The app under load: many browsers' worth of websockets, each typing questions, against a real server.

A session opens the page as a browser does, over Streamlit's websocket. A step is one search interaction: the
question changes, the box asks the server, the results arrive, ready to draw.

The same people then type the same questions, with the same pauses, to a process that does `search()` and nothing
else (bench/bare.py). The server's CPU is all that its process used, less what it uses while nobody asks (Streamlit
looks at its settings files five times a second), which is measured with the sessions open and shown by itself.
"""

from __future__ import annotations

import asyncio
import gzip
import http.client
import json
import os
import random
import socket
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from bench.corpus import ROOT
from core.access import SYSTEM
from core.bootstrap import App, build
from core.settings import load

WORDS = [
    "retention",
    "vendor",
    "bank",
    "change",
    "forklift",
    "hazmat",
    "label",
    "queue",
    "invoice",
    "month",
    "close",
    "leave",
    "injury",
    "vpn",
    "password",
    "restore",
    "claim",
    "carrier",
    "cash",
    "report",
    "audit",
    "shift",
    "overtime",
    "customs",
    "recall",
]


BROWSER = {"Accept-Encoding": "gzip, deflate"}
STEPS = 30  # questions of a session
IDLE = 3.0  # seconds of watching the server while nobody asks


class Tab:
    """One browser tab on the Search page."""

    def __init__(self, url: str) -> None:
        self.url, self.token, self.bytes = url, "", 0
        self.line = http.client.HTTPConnection(url.removeprefix("http://"), timeout=120)

    async def __aenter__(self) -> Tab:
        import websockets

        self.socket = await websockets.connect(
            self.url.replace("http", "ws") + "/_stcore/stream",
            origin=self.url,
            subprotocols=["streamlit"],
            max_size=None,
            open_timeout=60,
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.socket.close()

    async def start(self) -> float:
        """Open the page."""
        from streamlit.proto.BackMsg_pb2 import BackMsg

        message = BackMsg()
        message.rerun_script.page_name = "search"
        return await self._send(message)

    async def ask(self, text: str) -> float:
        """Type a question and wait for the results, the way the search box does."""
        started = time.perf_counter()
        self.bytes += await asyncio.to_thread(self._fetch, text)
        return time.perf_counter() - started

    def _fetch(self, text: str) -> int:
        for last in (False, True):
            try:
                self.line.request(
                    "GET",
                    f"/api/v1/page/search?{urlencode({'q': text})}",
                    headers={**BROWSER, "Authorization": f"Bearer {self.token}"},
                )
                answer = self.line.getresponse()
                break
            except ConnectionError:  # idle lines are closed, as browsers know
                self.line.close()
                if last:
                    raise
        body = answer.read()
        size = len(body)
        if answer.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        results = json.loads(body) if answer.status == 200 else {}
        if not results.get("groups") or results["warnings"]:  # a search without one of its legs would look cheap
            raise RuntimeError(results.get("warnings") or body[:200])
        return size

    async def _send(self, message: Any) -> float:
        started = time.perf_counter()
        await self.socket.send(message.SerializeToString())
        await self._finished()
        return time.perf_counter() - started

    async def _finished(self) -> None:
        from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

        while True:
            raw = await asyncio.wait_for(self.socket.recv(), 120)
            self.bytes += len(raw)
            message = ForwardMsg()
            message.ParseFromString(raw)
            kind = message.WhichOneof("type")
            if kind == "delta" and message.delta.WhichOneof("type") == "new_element":
                element = message.delta.new_element
                if (
                    element.WhichOneof("type") == "bidi_component"
                    and element.bidi_component.component_name == "concord_search"
                ):
                    self.token = json.loads(element.bidi_component.json)["direct"]
            elif kind == "script_finished" and message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                return


class Bare:
    """`search()` alone, in a process of its own."""

    def __init__(self, home: Path, *threads: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "bench.bare", *threads],
            cwd=ROOT,
            env={**os.environ, "CONCORD_HOME": str(home)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._answer()

    def load(self, sessions: int, steps: int = STEPS) -> float:
        """The mean CPU milliseconds of a search while as many people type as in a load of the server."""
        spent: list[float] = []

        async def everybody() -> None:
            turn = asyncio.Lock()

            async def ask(text: str) -> None:
                async with turn:
                    spent.append(float(await asyncio.to_thread(self._ask, text)))

            await asyncio.gather(*(_type(ask, sessions, n, steps) for n in range(sessions)))

        asyncio.run(everybody())
        return statistics.mean(spent)

    def _ask(self, text: str) -> str:
        assert self.process.stdin
        self.process.stdin.write(f"{text}\n")
        self.process.stdin.flush()
        return self._answer()

    def _answer(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline()


async def _type(ask: Callable[[str], Awaitable[Any]], sessions: int, n: int, steps: int) -> None:
    """One of several people: think, ask, and again. Every load has questions of its own."""
    rng = random.Random(f"{sessions} {steps} {n}")
    for _ in range(steps):
        await asyncio.sleep(rng.expovariate(1 / (0.2 if sessions == 1 else 2.0)))
        await ask(" ".join(rng.sample(WORDS, 3)))


async def _user(url: str, sessions: int, n: int, steps: int, out: dict[str, list[Any]], ready: asyncio.Barrier) -> None:
    async def ask(text: str) -> None:
        before = session.bytes
        out["steps"].append(await session.ask(text))
        out["bytes"].append(session.bytes - before)

    try:
        async with Tab(url) as session:
            out["first"].append(await session.start())
            await ready.wait()  # everybody is here
            await ready.wait()  # and the idle server was watched
            await _type(ask, sessions, n, steps)
    except Exception as error:
        out["errors"].append(repr(error))
        await ready.abort()


def cpu_of(process: int) -> float:
    """CPU seconds that a process has used, also those of threads that ended: its clock, as
    clock_getcpuclockid(3) names it.
    """
    return time.clock_gettime((~process << 3) | 2)


def measure(home: Path) -> dict[str, Any]:
    """Start the app on the starter knowledge base and load it with 1, 10 and 50 sessions."""
    starter(home / "app")
    started = time.perf_counter()
    with serving(home / "app") as (url, server):
        _load(url, server, 1, steps=3, watch=0)
        interactive = time.perf_counter() - started
        bare = Bare(home / "app")
        rows = [{**_load(url, server, sessions), "bare_ms": bare.load(sessions)} for sessions in (1, 10, 50)]
        bare.process.communicate()
        return {"interactive_s": interactive, "rows": rows}


def starter(home: Path) -> App:
    """A workspace with the starter knowledge base, indexed."""
    app = build(load(home=home))
    app.platform.workspace.create()
    if not app.knowledge.repository.head():
        app.knowledge.documents.import_folder(SYSTEM, ROOT / "kb")
    app.index.builder.build(app.platform.settings.profile())
    return app


@contextmanager
def serving(home: Path, log: Path | None = None) -> Iterator[tuple[str, int]]:
    """The app on a free port: its address and its process."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    flags = ["--server.port", str(port), "--server.headless", "true"]
    with log.open("w") if log else open(os.devnull, "w") as output:
        server = subprocess.Popen(
            [sys.executable, "-m", "streamlit", "run", "streamlit_app.py", *flags],
            cwd=ROOT,
            env={**os.environ, "CONCORD_HOME": str(home)},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        _wait(url)
        yield url, server.pid
    finally:
        server.terminate()
        server.wait(20)


def _wait(url: str) -> None:
    for _ in range(600):
        try:
            urllib.request.urlopen(f"{url}/api/health", timeout=1)
            return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError("the app did not start")


def _load(url: str, server: int, sessions: int, steps: int = STEPS, watch: float = IDLE) -> dict[str, Any]:
    out: dict[str, list[Any]] = {"first": [], "steps": [], "bytes": [], "errors": []}
    spent = {"idle": 0.0, "cpu": 0.0}

    async def everybody() -> None:
        ready = asyncio.Barrier(sessions + 1)
        users = [asyncio.create_task(_user(url, sessions, n, steps, out, ready)) for n in range(sessions)]
        await ready.wait()
        before = cpu_of(server)
        await asyncio.sleep(watch)
        spent["idle"] = (cpu_of(server) - before) / watch if watch else 0.0
        await ready.wait()
        before, started = cpu_of(server), time.perf_counter()
        await asyncio.gather(*users)
        spent["cpu"] = cpu_of(server) - before - spent["idle"] * (time.perf_counter() - started)

    asyncio.run(everybody())
    ordered = sorted(out["steps"])
    return {
        "sessions": sessions,
        "interactions": len(ordered),
        "errors": len(out["errors"]),
        "open_ms": 1000 * statistics.median(out["first"]),
        "p50_ms": 1000 * statistics.median(ordered),
        "p95_ms": 1000 * ordered[int(0.95 * len(ordered))],
        "cpu_ms": 1000 * spent["cpu"] / max(1, len(ordered)),
        "idle_ms": 1000 * spent["idle"],
        "kb": statistics.mean(out["bytes"]) / 1000,
        "why": out["errors"][:1],
    }


if __name__ == "__main__":
    print(json.dumps(measure(ROOT / "bench" / "out"), indent=2))
