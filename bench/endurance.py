"""Ten minutes of everyday use: hundreds of open tabs that ask now and then, authors who merge, and a full rebuild in
between.

Prints, for the start and the end, what the server holds (memory, threads, open files) and the size of the workspace,
and in
between every error that anybody met. `python -m bench endurance`; SESSIONS, MINUTES and THINKING below are the whole
load.
"""

from __future__ import annotations

import asyncio
import random
import statistics
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from bench.sessions import WORDS, Tab, serving, starter
from core.bootstrap import App
from core.errors import ConcordError
from core.services.people.accounts import DEMO

SESSIONS, MINUTES, THINKING = 300, 10.0, 10.0  # tabs, how long, seconds between two questions of one
AUTHORS, PAUSE = 5, 15.0  # people who merge, and seconds between two merges of one
_, AUTHOR, AUTHOR2, REVIEWER, REVIEWER2, ADMIN = DEMO


def measure(home: Path, sessions: int = SESSIONS, minutes: float = MINUTES) -> dict[str, Any]:
    """Run the load; returns what was asked, merged and met."""
    app = starter(home / "endurance")
    out: dict[str, list[Any]] = {"asked": [], "merged": [], "errors": []}
    with serving(home / "endurance", home / "endurance.log") as (url, server):
        asyncio.run(_tabs(url, sessions, 0.3, {"asked": [], "errors": []}))  # everything is warm
        before = held(server, home / "endurance")
        end = time.monotonic() + 60 * minutes
        others = [threading.Thread(target=_author, args=(app, n, end, out)) for n in range(AUTHORS)] + [
            threading.Thread(target=_rebuild, args=(app, 30 * minutes, out))
        ]
        for thread in others:
            thread.start()
        asyncio.run(_tabs(url, sessions, minutes, out))
        for thread in others:
            thread.join()
        time.sleep(5)
        after = held(server, home / "endurance")
    problems = (home / "endurance.log").read_text().count("Traceback")
    times = sorted(seconds for seconds in out["asked"])
    return {
        "sessions": sessions,
        "minutes": minutes,
        "questions": len(times),
        "p50_ms": 1000 * statistics.median(times),
        "p95_ms": 1000 * times[int(0.95 * len(times))],
        "merges": len(out["merged"]),
        "errors": len(out["errors"]),
        "tracebacks": problems,
        "why": out["errors"][:5],
        "before": before,
        "after": after,
    }


async def _tabs(url: str, sessions: int, minutes: float, out: dict[str, list[Any]]) -> None:
    """All tabs at once; they open over the first ten seconds, as people do."""
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(32))
    end = time.monotonic() + 60 * minutes
    await asyncio.gather(*(_tab(url, n, end, out) for n in range(sessions)))


async def _tab(url: str, n: int, end: float, out: dict[str, list[Any]]) -> None:
    rng = random.Random(n)
    await asyncio.sleep(rng.random() * 10)
    try:
        async with Tab(url) as session:
            await session.start()
            while time.monotonic() < end:
                await asyncio.sleep(rng.expovariate(1 / THINKING))
                out["asked"].append(await session.ask(" ".join(rng.sample(WORDS, 3))))
    except Exception as error:
        out["errors"].append(f"tab {n}: {error!r}")


def _author(app: App, n: int, end: float, out: dict[str, list[Any]]) -> None:
    """Propose, approve and merge an edit of a document of one's own, again and again."""
    rng, round_ = random.Random(f"author {n}"), 0
    while time.monotonic() < end:
        time.sleep(rng.expovariate(1 / PAUSE))
        round_ += 1
        text = f"# Notes {n}\n\nRound {round_}: {' '.join(rng.sample(WORDS, 8))}.\n".encode()
        try:
            change = app.reviews.changes.propose(AUTHOR, f"Notes {n}, round {round_}", {f"notes/{n}.md": text})
            app.reviews.changes.submit(AUTHOR, change.id)
            app.reviews.discussion.approve(REVIEWER, change.id)
            out["merged"].append(app.reviews.merger.merge(AUTHOR, change.id).merged)
        except ConcordError as error:
            out["errors"].append(f"author {n}: {error}")


def _rebuild(app: App, seconds: float, out: dict[str, list[Any]]) -> None:
    """One full rebuild half-way."""
    time.sleep(seconds)
    try:
        app.index.admin.rebuild(ADMIN, full=True)
    except ConcordError as error:
        out["errors"].append(f"rebuild: {error}")


def held(process: int, home: Path) -> dict[str, float]:
    """What a process holds, and what lies on disk."""
    status = dict(
        line.split(":", 1) for line in Path(f"/proc/{process}/status").read_text().splitlines() if ":" in line
    )
    return {
        "memory_mb": int(status["VmRSS"].split()[0]) / 1000,
        "threads": int(status["Threads"]),
        "files": len(list(Path(f"/proc/{process}/fd").iterdir())),
        "disk_mb": sum(file.stat().st_size for file in home.rglob("*") if file.is_file()) / 1e6,
    }
