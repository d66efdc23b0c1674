"""The worst minute of a busy day: busy cores, twenty open pages, a merge and an impact on the command line, fifty jobs
at once.

`python -m bench.storm HOME OUT.json` runs it in this checkout, `python -m bench.storm --draw PICTURE.svg NAME=OUT.json
...` draws runs
below each other. It samples the workers' processes and memory, the load, and the jobs that ended, and stops by itself:
when all
ended, after `--minutes`, or when workers outgrow the machine. `--kills` workers that have a job are killed (-9) while
it goes on.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from bench.corpus import ROOT
from bench.sessions import Tab, serving
from core.bootstrap import App, build
from core.services.people.accounts import DEMO
from core.settings import load

PAGES, JOBS = 20, 50
BETWEEN = 2.0  # seconds from a kill to the next
KILLS_OF_ONE = 2  # at most: a job that cost five workers their lives is given up
TOO_MANY, TOO_LARGE = 120, 12_000  # processes, megabytes: a storm that goes on like this ends the machine
AUTHOR, REVIEWER, ADMIN = (
    next(actor for actor in DEMO if actor.role == role) for role in ("author", "reviewer", "admin")
)


def workspace(home: Path) -> tuple[App, int, int]:
    """A small base with a change that is ready to merge and one in review."""
    app = build(load(home=home))
    app.platform.workspace.create()
    files = {
        f"d{n}.md": f"# Document {n}\n\nWhat number {n} says about cash and carriers.\n".encode() for n in range(30)
    }
    app.knowledge.documents.save(ADMIN, files, [], "Start")
    app.index.builder.build(app.platform.settings.profile())
    ready, asked = (
        app.reviews.changes.propose(AUTHOR, title, {name: b"# New\n\nA new rule about leave.\n"}).id
        for title, name in (("Ready", "ready.md"), ("Asked", "asked.md"))
    )
    for number in (ready, asked):
        app.reviews.changes.submit(AUTHOR, number)
    app.reviews.discussion.approve(REVIEWER, ready)
    return app, ready, asked


class Samples:
    """What the machine does, every half second."""

    def __init__(self, home: Path) -> None:
        self.home, self.rows = home, list[dict[str, float]]()
        self.ended, self.why = threading.Event(), ""
        self.began, self.typed = time.monotonic(), list[subprocess.Popen[bytes]]()

    def run(self, until: float) -> None:
        with suppress(OSError):  # where it may, it looks before everybody else
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), -15)
        while not self.ended.wait(0.5):
            workers = [
                size
                for words, size in processes()
                if self.home.name in words and ("worker" in words or "work" in words)
            ]
            states = job_states(self.home)
            row = {
                "t": round(time.monotonic() - self.began, 1),
                "workers": len(workers),
                "megabytes": sum(workers),
                "load": os.getloadavg()[0],
                "done": states.get("done", 0),
                "open": states.get("queued", 0) + states.get("running", 0),
            }
            self.rows.append(row)
            if row["workers"] > TOO_MANY or row["megabytes"] > TOO_LARGE or row["t"] > until:
                self.why = "out of time" if row["t"] > until else "ended by hand: too many processes"
                self.ended.set()
            elif row["done"] > JOBS and not row["open"] and all(each.poll() is not None for each in self.typed):
                self.ended.set()


def processes() -> list[tuple[list[str], float]]:
    """Command line, by its last parts, and resident megabytes of every process."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, IndexError):
            words = [Path(word).name for word in (folder / "cmdline").read_text().split("\0")]
            found.append((words, int((folder / "statm").read_text().split()[1]) * 4096 / 1e6))
    return found


def job_states(home: Path) -> dict[str, int]:
    """How many jobs are in each state."""
    with suppress(sqlite3.Error), closing(sqlite3.connect(home / "app.db", timeout=5)) as rows:
        return dict(rows.execute("SELECT state, count(*) FROM jobs GROUP BY state"))
    return {}


def workers(home: Path) -> dict[str, int]:
    """The workers that have a place, and their processes."""
    places = [file.read_text().split() for file in (home / "jobs").glob("worker-*.lock")]
    return {place[0]: int(place[1]) for place in places if len(place) == 2}


def endings(home: Path) -> dict[str, int]:
    """How often the audit says of each job that it ended."""
    with closing(sqlite3.connect(home / "app.db", timeout=5)) as rows:
        counts = {f"{kind} {number}": 0 for number, kind in rows.execute("SELECT id, kind FROM jobs")}
        ended = rows.execute("SELECT what, count(*) FROM audit WHERE action LIKE 'job %' GROUP BY what")
        return counts | dict(ended.fetchall())


class Killer:
    """Kills a worker that is in the middle of a job, again and again, and says whose job it was."""

    def __init__(self, home: Path, kills: int) -> None:
        self.home, self.left, self.killed = home, kills, list[int]()
        self._dead = set[int]()

    def run(self, ended: threading.Event) -> None:
        while self.left and not ended.wait(BETWEEN):
            busy = self._busy()
            if not busy:
                continue
            job, process = busy[0]
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
                self._dead.add(process)
                self.killed.append(job)  # it may have ended a moment before; its attempts say so
                self.left -= 1

    def _busy(self) -> list[tuple[int, int]]:
        """Jobs that run, those killed least often first, and the processes that have them."""
        processes = workers(self.home)
        with suppress(sqlite3.Error), closing(sqlite3.connect(self.home / "app.db", timeout=5)) as rows:
            running = rows.execute("SELECT id, worker FROM jobs WHERE state = 'running'").fetchall()
            found = [(job, processes[name]) for job, name in running if processes.get(name, 0) not in {0, *self._dead}]
            spared = [each for each in found if self.killed.count(each[0]) < KILLS_OF_ONE]
            return sorted(spared, key=lambda each: (self.killed.count(each[0]), each[0]))
        return []


class Page(Tab):
    """A page that stays open and asks again as often as it is told to."""

    async def stay(self, name: str, query: str, ended: threading.Event) -> None:
        from streamlit.proto.BackMsg_pb2 import BackMsg
        from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

        first = BackMsg()
        first.rerun_script.page_name, first.rerun_script.query_string = name, query
        await self.socket.send(first.SerializeToString())
        fragments: dict[str, float] = {}
        while not ended.is_set():
            with suppress(asyncio.TimeoutError):
                message = ForwardMsg()
                message.ParseFromString(await asyncio.wait_for(self.socket.recv(), 1.0))
                if message.WhichOneof("type") == "auto_rerun":
                    fragments[message.auto_rerun.fragment_id] = message.auto_rerun.interval
                continue
            for fragment in fragments:  # nothing came for a second: what looks every second looks again
                again = BackMsg()
                again.rerun_script.fragment_id, again.rerun_script.is_auto_rerun = fragment, True
                again.rerun_script.page_name, again.rerun_script.query_string = name, query
                await self.socket.send(again.SerializeToString())


async def open_pages(url: str, change: int, ended: threading.Event) -> None:
    """Ten pages of the change that is merged, ten of the jobs."""

    async def one(n: int) -> None:
        with suppress(Exception):  # a page that cannot be served is one fewer; the samples go on
            async with Page(url) as page:
                await page.stay(*(("reviews", f"change={change}") if n % 2 else ("index", "")), ended)

    await asyncio.gather(*(one(n) for n in range(PAGES)))


def command(home: Path, *words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "core", "--home", str(home), *words], cwd=ROOT, stdout=subprocess.DEVNULL
    )


def storm(home: Path, minutes: float, busy: int, kills: int) -> dict[str, Any]:
    """Run it, and say what was seen."""
    app, ready, asked = workspace(home)
    samples, killer = Samples(home), Killer(home, kills)
    with serving(home) as (url, _):
        loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(busy)]
        pages = threading.Thread(target=lambda: asyncio.run(open_pages(url, ready, samples.ended)))
        sampler = threading.Thread(target=samples.run, args=(60 * minutes,))
        try:
            pages.start()
            sampler.start()
            time.sleep(5)
            samples.typed += [
                command(home, "change", "merge", str(ready)),
                command(home, "change", "impact", str(asked)),
            ]
            for n in range(JOBS):
                app.evaluation.jobs.generate(ADMIN, "known-items", f"set-{n}", n, 3)
            threading.Thread(target=killer.run, args=(samples.ended,), daemon=True).start()
            sampler.join()
        finally:
            samples.ended.set()
            for process in (*loops, *samples.typed):
                process.kill()
                process.wait()
            pages.join(30)
    for process in workers(home).values():
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    jobs = app.platform.jobs.recent(1000)
    return {
        "rows": samples.rows,
        "why": samples.why,
        "jobs": len(jobs),
        "done": sum(job.state == "done" for job in jobs),
        "attempts": max(job.attempts for job in jobs),
        "kills": len(killer.killed),
        "resumed": sum(job.attempts - 1 for job in jobs),
        "ended more or less than once": sum(count != 1 for count in endings(home).values()),
        "most workers": max(row["workers"] for row in samples.rows),
        "most megabytes": max(row["megabytes"] for row in samples.rows),
        "highest load": max(row["load"] for row in samples.rows),
        "seconds": samples.rows[-1]["t"],
    }


# ---------------------------------------------------------------- the picture

PANELS = (
    ("workers", "worker processes"),
    ("megabytes", "their megabytes"),
    ("load", "load"),
    ("done", "jobs done"),
)
WIDTH, HEIGHT, GAP = 230, 130, 40


def draw(runs: dict[str, dict[str, Any]]) -> str:
    """The runs as rows of four charts, every column on one scale."""
    tallest = {name: max(1.0, *(row[name] for run in runs.values() for row in run["rows"])) for name, _ in PANELS}
    longest = max(run["rows"][-1]["t"] for run in runs.values())
    parts = []
    for y, (name, run) in enumerate(runs.items()):
        for x, (key, title) in enumerate(PANELS):
            left, top = GAP + x * (WIDTH + GAP), 2 * GAP + y * (HEIGHT + 2 * GAP)
            points = " ".join(
                f"{left + WIDTH * row['t'] / longest:.1f},{top + HEIGHT * (1 - row[key] / tallest[key]):.1f}"
                for row in run["rows"]
            )
            most = max(row[key] for row in run["rows"])
            parts.append(
                f'<text x="{left}" y="{top - 10}">{name}: {title}, at most {most:,.0f}</text>'
                f'<rect x="{left}" y="{top}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#ccc"/>'
                f'<polyline points="{points}" fill="none" stroke="#b3402a" stroke-width="1.5"/>'
                f'<text x="{left + WIDTH}" y="{top + HEIGHT + 16}" text-anchor="end" fill="#666">{longest:.0f} s</text>'
            )
    size = f'width="{GAP + len(PANELS) * (WIDTH + GAP)}" height="{GAP + len(runs) * (HEIGHT + 2 * GAP)}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">'
        f'<rect width="100%" height="100%" fill="white"/>{"".join(parts)}</svg>'
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("what", nargs="+", help="HOME OUT.json, or with --draw NAME=RUN.json ...")
    parser.add_argument("--draw", type=Path)
    parser.add_argument("--minutes", type=float, default=6.0)
    parser.add_argument("--busy", type=int, default=2, help="busy loops, one per core")
    parser.add_argument("--kills", type=int, default=10, help="workers that are killed in the middle of a job")
    options = parser.parse_args()
    if options.draw:
        runs = {
            name: json.loads(Path(file).read_text()) for name, _, file in (each.partition("=") for each in options.what)
        }
        options.draw.write_text(draw(runs))
        return
    seen = storm(Path(options.what[0]).resolve(), options.minutes, options.busy, options.kills)
    Path(options.what[1]).write_text(json.dumps(seen))
    print(json.dumps({name: value for name, value in seen.items() if name != "rows"}))


if __name__ == "__main__":
    main()
