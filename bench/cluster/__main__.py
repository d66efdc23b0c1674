"""python -m bench.cluster up | down | status | roll | people | load."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from bench.cluster import boot, load, running
from bench.cluster.faults import Happened
from bench.cluster.plan import Plan, ports
from bench.cluster.report import clean, markdown
from bench.cluster.rolling import roll
from bench.cluster.walk import Walk, run
from core.errors import ConcordError


def main(given: list[str] | None = None) -> int:
    options = _parser().parse_args(given)
    try:
        plan = Plan(options.folder.resolve(), options.port, options.nodes, options.workers, options.pause)
        return int(options.run(plan, options))
    except ConcordError as error:
        print(error, file=sys.stderr)
        return 1


def _parser() -> ArgumentParser:
    usual = Plan()
    parser = ArgumentParser(prog="python -m bench.cluster", description="A whole cluster on this machine.")
    parser.add_argument("--folder", type=Path, default=usual.folder, help="where everything of it lies")
    parser.add_argument("--port", type=int, default=usual.port, help="where people come; other ports follow")
    parser.add_argument("--nodes", type=int, default=usual.nodes)
    parser.add_argument("--workers", type=int, default=usual.workers)
    parser.add_argument("--pause", type=float, default=usual.pause, help="seconds until what ended is started again")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    start = commands.add_parser("up", help="start it, and end it with Ctrl-C")
    start.add_argument("--detach", action="store_true", help="go on by itself; end it with down")
    start.set_defaults(run=_up)
    commands.add_parser("down", help="end it, wherever it was started").set_defaults(run=_down)
    commands.add_parser("status", help="which programs run").set_defaults(run=_status)
    rolling = commands.add_parser("roll", help="restart nodes and workers one after the other, while people work on")
    rolling.add_argument("--code", type=Path, help="the checkout with which they come back: an upgrade")
    rolling.set_defaults(run=_roll)
    _walking(commands)
    return parser


def _walking(commands: Any) -> None:
    usual = Walk()
    walking = commands.add_parser(
        "people", help="let people work on it while parts of it are killed, and count what was lost"
    )
    walking.add_argument("--minutes", type=float, default=usual.minutes)
    walking.add_argument("--people", type=int, default=usual.people, help="accounts; every third one reviews")
    walking.add_argument("--rate", type=float, default=usual.rate, help="searches a second in all")
    walking.add_argument("--think", type=float, default=usual.pause, help="seconds before a click, on average")
    walking.add_argument("--browsers", type=int, default=usual.browsers, help="tabs of chromium beside them")
    walking.add_argument("--no-faults", action="store_true", help="kill nothing")
    walking.add_argument("--rolling", action="store_true", help="restart nodes and workers in turn instead of killing")
    walking.add_argument("--code", type=Path, help="with --rolling: the checkout with which they come back")
    walking.add_argument("--report", type=Path, help="where the report goes: NAME.json and NAME.md")
    walking.set_defaults(run=_people)
    loading = commands.add_parser("load", help="how many searches 1, 2, 3 nodes answer")
    loading.add_argument("--seconds", type=float, default=20.0, help="of load for each number of nodes")
    loading.set_defaults(run=_load)


def _say(line: str) -> None:
    print(line, flush=True)


def _up(plan: Plan, options: Namespace) -> int:
    if options.detach:
        flags = {
            "--folder": plan.folder,
            "--port": plan.port,
            "--nodes": plan.nodes,
            "--workers": plan.workers,
            "--pause": plan.pause,
        }
        boot.detached(plan, [part for name, value in flags.items() for part in (name, str(value))], _say)
    else:
        boot.up(plan, _say)
    return 0


def _down(plan: Plan, options: Namespace) -> int:
    boot.down(plan, _say)
    return 0


def _roll(plan: Plan, options: Namespace) -> int:
    done = list[Happened]()
    asyncio.run(roll(plan, options.code, done, time.monotonic))
    for one in done:
        _say(f"{one.words} took {one.again - one.at:.1f} s.")
    return 0


def _people(plan: Plan, options: Namespace) -> int:
    """0 only if nothing was lost, doubled or mixed, and every node answers as a fresh build."""
    faults = "rolling" if options.rolling else "faults"
    if options.no_faults:
        faults = ""
    walk = Walk(options.minutes, options.people, options.rate, options.think, faults, options.browsers, options.code)
    report = run(plan, walk)
    table = markdown(report)
    place = options.report or plan.folder / "people"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.with_suffix(".json").write_text(json.dumps(report, indent=2))
    place.with_suffix(".md").write_text(table)
    _say(table)
    return 0 if clean(report) else 1


def _load(plan: Plan, options: Namespace) -> int:
    rows = load.run(plan, options.seconds)
    (plan.folder / "load.json").write_text(json.dumps(rows, indent=2))
    _say(load.markdown(rows))
    return 0


def _status(plan: Plan, options: Namespace) -> int:
    """One line for each program; 0 only if all of them run."""
    found, at = running.read(plan.folder), ports(plan)
    if found is None:
        _say(f"No cluster runs in {plan.folder}.")
        return 1
    everything = {"supervisor": found.supervisor, **found.programs}
    for name, one in everything.items():
        port = f":{at[name]}" if name in at else ""
        _say(f"{name:<12} {'runs' if one.alive else 'ended':<6} {one.pid:>8} {port:<7} started {one.starts} times")
    return 0 if all(one.alive for one in everything.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
