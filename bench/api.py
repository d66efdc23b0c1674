"""The HTTP API under load: as many programs as people are measured elsewhere, each asking as soon as it has its answer.

Three ways take the same questions: `search()` alone in a process of its own (bench/bare.py), `GET /api/v1/search`, and
`GET /api/v1/page/search`, which the Search page calls. Vectors of the questions are cached on all sides: every way asks
all of them once
before it is measured. The server's CPU is all that its process used, less what it uses while nobody asks.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import statistics
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from bench.sessions import WORDS, Bare, Tab, cpu_of, serving, starter
from core.access import SYSTEM
from core.bootstrap import App, build
from core.services.people.accounts import DEMO
from core.settings import load

CLIENTS, REQUESTS = 50, 10_000
QUESTIONS = 400  # fewer than the server keeps vectors of
IDLE = 3.0  # seconds of watching the server while nobody asks


def questions() -> list[str]:
    """Three words each, drawn once."""
    rng = random.Random("questions of programs")
    return [" ".join(rng.sample(WORDS, 3)) for _ in range(QUESTIONS)]


class KeptConnection:
    """One connection that is kept open, with as little between it and the server as possible."""

    def __init__(self, url: str, path: str, token: str, wanted: str) -> None:
        self.host, self.path = url.removeprefix("http://"), path
        self.token, self.wanted = token, wanted

    async def __aenter__(self) -> KeptConnection:
        host, _, port = self.host.partition(":")
        self.reader, self.writer = await asyncio.open_connection(host, int(port), limit=1 << 20)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.writer.close()

    async def ask(self, question: str) -> int:
        """Send a question and read the whole answer; its length."""
        target = f"{self.path}?{urlencode({'q': question})}"
        self.writer.write(
            f"GET {target} HTTP/1.1\r\nHost: {self.host}\r\nAuthorization: Bearer {self.token}\r\n\r\n".encode()
        )
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = int(head.partition("content-length:")[2].partition("\r\n")[0])
        body = await self.reader.readexactly(length)
        if " 200 " not in head[:16] or self.wanted.encode() not in body:
            raise RuntimeError(head.partition("\r\n")[0] + body[:200].decode("utf-8", "replace"))
        return length


async def _load(url: str, path: str, token: str, wanted: str, requests: int) -> dict[str, Any]:
    asked = iter(range(requests))
    took, sizes, errors = [], [], []
    every = questions()

    async def client() -> None:
        async with KeptConnection(url, path, token, wanted) as line:
            for number in asked:
                started = time.perf_counter()
                try:
                    sizes.append(await line.ask(every[number % len(every)]))
                except Exception as error:
                    errors.append(repr(error))
                    return
                took.append(1000 * (time.perf_counter() - started))

    await asyncio.gather(*(client() for _ in range(CLIENTS)))
    return {"took": sorted(took), "kb": statistics.mean(sizes) / 1000 if sizes else 0.0, "errors": errors}


def _measured(url: str, server: int, path: str, token: str, wanted: str, requests: int) -> dict[str, Any]:
    asyncio.run(_load(url, path, token, wanted, QUESTIONS))
    before = cpu_of(server)
    time.sleep(IDLE)
    idle = (cpu_of(server) - before) / IDLE
    before, started = cpu_of(server), time.perf_counter()
    out = asyncio.run(_load(url, path, token, wanted, requests))
    seconds = time.perf_counter() - started
    took = out["took"]
    return {
        "path": path,
        "requests": len(took),
        "errors": len(out["errors"]),
        "why": out["errors"][:1],
        "p50_ms": statistics.median(took),
        "p95_ms": took[int(0.95 * len(took))],
        "per_s": len(took) / seconds,
        "cpu_ms": 1000 * (cpu_of(server) - before - idle * seconds) / max(1, len(took)),
        "kb": out["kb"],
    }


def _bare(home: Path) -> float:
    """The mean CPU milliseconds of `search()`, when all questions were asked before."""
    bare = Bare(home)
    for _ in range(2):
        spent = [float(bare._ask(question)) for question in questions()]
    bare.process.communicate()
    return statistics.mean(spent)


def _bare_at_once(home: Path) -> float:
    """The same where as many threads ask at once as there are clients."""
    bare = Bare(home, str(CLIENTS))
    printed, _ = bare.process.communicate("\n".join(questions()))
    return float(printed)


async def _page_token(url: str) -> str:
    async with Tab(url) as tab:
        await tab.start()
        return tab.token


def token_of(app: App) -> str:
    """An access token of a reader, as somebody makes one on their page."""
    reader = next(actor for actor in DEMO if actor.role == "reader")
    return app.people.tokens.make(reader, f"bench {time.time():.0f}", "read", 1)[0]


def _new(home: Path) -> App:
    """The starter knowledge base in a workspace as `init` makes it, with the configuration that new ones
    search with.
    """
    app = build(load(home=home))
    app.platform.workspace.create()
    app.platform.settings.start(SYSTEM.person)
    return starter(home)


def measure(home: Path, requests: int = REQUESTS) -> dict[str, Any]:
    """All three ways, one after the other."""
    app = _new(home / "api")
    os.environ["CONCORD_API_RATE"] = "0"
    token = token_of(app)
    with serving(home / "api") as (url, server):
        page = asyncio.run(_page_token(url))
        ways = (("/api/v1/search", token, '"hits":[{'), ("/api/v1/page/search", page, '"groups":'))
        rows = [_measured(url, server, *way, requests) for way in ways]
    return {"bare_ms": _bare(home / "api"), "crowd_ms": _bare_at_once(home / "api"), "rows": rows}


if __name__ == "__main__":
    import sys

    from bench.corpus import ROOT

    print(json.dumps(measure(ROOT / "bench" / "out", int(sys.argv[1]) if sys.argv[1:] else REQUESTS), indent=2))
