"""A walk of people over a running cluster, with faults on the way and a count at the end."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bench.cluster import checks, running
from bench.cluster.checks import RepositoryOnDisk
from bench.cluster.faults import Happened, disturb
from bench.cluster.line import Line, Lost
from bench.cluster.people import Diary, Visitor
from bench.cluster.plan import HERE, Plan, environment, kept_secrets, ports
from bench.cluster.report import counted, latency, longest_gap, percentile
from bench.cluster.rolling import roll
from bench.cluster.searches import Answers, crowd, questions
from core.errors import Unavailable
from core.settings import PROJECT

ASKED_AT_THE_END = 60
_SETTLED = 180.0  # seconds that all nodes have to serve the last merge


@dataclass(frozen=True, slots=True)
class Walk:
    """How many people, for how long, beside how many searches a second, and how long they think before a click."""

    minutes: float = 10.0
    people: int = 30
    rate: float = 50.0
    pause: float = 5.0
    faults: str = "faults"  # or "rolling": restarts in turn; "" for neither
    browsers: int = 0  # tabs of a real browser beside them
    code: Path | None = None  # with which nodes come back, where they are restarted in turn


@dataclass
class Serving:
    """Which commit each node served when, by the wall clock."""

    seen: dict[str, list[tuple[float, str]]] = field(default_factory=dict)

    def delays(self, merges: Mapping[str, float], main_line: Sequence[str]) -> list[float]:
        """Seconds from each merge until each node served it or a later one."""
        place = {commit: number for number, commit in enumerate(reversed(main_line))}
        found = []
        for sightings in self.seen.values():
            for commit, at in merges.items():
                later = (
                    when
                    for when, other in sightings
                    if when >= at and place.get(other, -1) >= place.get(commit, 1 << 60)
                )
                if (first := next(later, None)) is not None:
                    found.append(first - at)
        return found


def accounts(plan: Plan, number: int) -> list[dict[str, str]]:
    """The people with their tokens, made as a process of the first worker or node would be."""
    command = [sys.executable, "-m", "cluster.accounts", str(number)]
    variables = environment(plan, kept_secrets(plan.folder), plan.node_names[0])
    done = subprocess.run(command, cwd=PROJECT, env=variables, capture_output=True, text=True)
    if done.returncode:
        raise Unavailable(f"The accounts could not be made: {done.stderr[-1500:]}")
    made: list[dict[str, str]] = json.loads(done.stdout.splitlines()[-1])
    return made


def run(plan: Plan, walk: Walk) -> dict[str, Any]:
    """The whole walk: people, faults, and what is true at the end."""
    census = running.read(plan.folder)
    if census is None or not census.ready:
        raise Unavailable(f"No cluster runs in {plan.folder}. Start one with: make cluster")
    return asyncio.run(_walk(plan, walk, accounts(plan, walk.people)))


async def _walk(plan: Plan, walk: Walk, who: list[dict[str, str]]) -> dict[str, Any]:
    diary, answers = Diary(), Answers()
    serving, happened = Serving(), list[Happened]()
    cpu = _cpu(plan)
    diary.started = time.monotonic()
    until = diary.started + 60 * walk.minutes
    tokens, marks = [one["token"] for one in who], list[str]()
    watching = asyncio.create_task(_watch(plan, tokens[0], serving))
    everybody = [Visitor(account, plan.address, diary, walk.pause, int(time.time())).live(until) for account in who]
    tasks = [crowd(plan.address, tokens, walk.rate, until, diary, answers, marks), _newest(diary, marks, until)]
    if walk.faults == "rolling":
        tasks.append(roll(plan, walk.code, happened, lambda: time.monotonic() - diary.started))
    elif walk.faults:
        tasks.append(disturb(plan.folder, walk.minutes, diary, happened))
    tabs = asyncio.create_task(_browsers(plan, walk))
    await asyncio.gather(*everybody, *tasks)
    seconds, spent = time.monotonic() - diary.started, _difference(cpu, _cpu(plan))
    browsed = await tabs
    settled = await _settle(plan, tokens[0])
    watching.cancel()
    end = await _end(plan, tokens[0], diary)
    repository = RepositoryOnDisk(plan)
    database = await _database(plan, tokens[0], [merge.change for merge in diary.merges])
    stayed = checks.kept(repository, diary.merges, database)
    mixed = checks.mixed(repository, answers.passages)
    delays = serving.delays({merge.commit: merge.at for merge in diary.merges}, repository.main_line())
    took, answered = [each for _, each in answers.took], [asked + each for asked, each in answers.took]
    found = diary.troubles
    searched = [one for one in found if one.doing == "search"]
    return {
        **{**asdict(walk), "faults": [], "browsers": [], "code": str(walk.code or "")},
        "seconds": round(seconds, 1),
        "merges": {
            "acknowledged": stayed.acknowledged,
            "after_a_lost_answer": diary.unknown,
            "lost": stayed.lost,
            "not_in_main": len(stayed.not_in_main),
            "not_in_database": len(stayed.not_in_database),
            "without_text": len(stayed.without_text),
            "twice": len(stayed.twice),
            "by_node": dict(Counter(merge.node for merge in diary.merges)),
        },
        "searches": {
            "answered": len(took),
            "per_second": len(took) / seconds,
            "late": answers.late,
            "gave_up": answers.gave_up,
            "ms": latency(took),
            "passages": len(answers.passages),
            "mixed": len(mixed),
            "mixed_examples": [asdict(one) for one in mixed[:3]],
            "commits": len({passage.commit for passage in answers.passages}),
            "generations_of_two_commits": sum(len(commits) > 1 for commits in answers.commits.values()),
            "by_node": answers.nodes,
            "warnings": answers.warnings,
        },
        "doings": {what: {"times": len(each), "ms": latency(each)} for what, each in sorted(diary.doings.items())},
        "freshness": {
            name: round(percentile(delays, share), 2) for name, share in (("p50", 0.5), ("p95", 0.95), ("max", 1.0))
        },
        "refusals": counted(diary.refusals, ()),
        "errors": {
            "people": len(found) - len(searched),
            "searches": len(searched),
            "listed": counted(found, happened),
        },
        "browsers": browsed,
        "faults": [
            {
                **asdict(one),
                "no_search": round(longest_gap(answered, one), 1),
                "no_write": round(longest_gap(diary.wrote, one), 1),
            }
            for one in happened
        ],
        "no_search": round(longest_gap(answered), 1),
        "no_write": round(longest_gap(diary.wrote), 1),
        "stale": diary.stale,
        "settled_after": settled,
        "end": end,
        "cpu_seconds": spent,
    }


async def _browsers(plan: Plan, walk: Walk) -> list[dict[str, Any]]:
    """What people saw in real browsers; nothing where none was asked for."""
    if not walk.browsers:
        return []
    command = [sys.executable, "-m", "cluster.browsers", plan.address, str(walk.minutes), str(walk.browsers)]
    process = await asyncio.create_subprocess_exec(*command, cwd=PROJECT, stdout=-1, stderr=-1)
    out, errors = await process.communicate()
    if process.returncode:
        return [{"who": "everybody", "did": 0, "failed": [errors.decode()[-500:]], "nodes": []}]
    found: list[dict[str, Any]] = json.loads(out)
    return found


async def _newest(diary: Diary, marks: list[str], until: float) -> None:
    """What was merged last, for those who search for it."""
    while time.monotonic() < until:
        marks[:] = [merge.mark for merge in diary.merges[-5:]]
        await asyncio.sleep(1)


def _lines(plan: Plan, token: str) -> dict[str, Line]:
    """A line to each node, past the proxy."""
    return {name: Line(f"{HERE}:{ports(plan)[name]}", token) for name in plan.node_names}


async def _commit(line: Line) -> str:
    try:
        reply = await line.get("/search", {"q": "drawer", "k": 1})
    except Lost:
        return ""
    return str(reply.json["commit"]) if reply.status == 200 else ""


async def _watch(plan: Plan, token: str, serving: Serving) -> None:
    """Look every second what each node serves."""
    lines = _lines(plan, token)
    while True:
        for name, line in lines.items():
            if commit := await _commit(line):
                serving.seen.setdefault(name, []).append((time.time(), commit))
        await asyncio.sleep(1)


async def _settle(plan: Plan, token: str) -> float:
    """Seconds until every node serves the newest commit of main; -1 if that does not happen."""
    started, lines = time.monotonic(), _lines(plan, token)
    while time.monotonic() < started + _SETTLED:
        newest = RepositoryOnDisk(plan).main_line()[0]
        if {await _commit(line) for line in lines.values()} == {newest}:
            return round(time.monotonic() - started, 1)
        await asyncio.sleep(1)
    return -1.0


async def _end(plan: Plan, token: str, diary: Diary) -> dict[str, Any]:
    """What every node answers to the same questions, beside a fresh build."""
    asked = [*questions(ASKED_AT_THE_END), *(merge.mark for merge in diary.merges[-20:])]
    fresh = await asyncio.to_thread(checks.fresh_build, plan, asked)
    differing, doubled, wrong = {}, 0, {}
    for name, line in _lines(plan, token).items():
        given = {text: (await line.get("/search", {"q": text})).json for text in asked}
        wrong[name] = checks.differing(fresh, given)
        differing[name] = len(wrong[name])
        doubled += checks.doubled_chunks(given)
    return {
        "questions": len(asked),
        "chunks": fresh["chunks"],
        "commit": fresh["commit"],
        "differing": differing,
        "differing_questions": sorted({text for each in wrong.values() for text in each})[:5],
        "doubled_chunks": doubled,
    }


async def _database(plan: Plan, token: str, changes: Sequence[int]) -> dict[int, str]:
    """What the database says each change was merged as."""
    line = Line(plan.address, token)
    found = {}
    for number in changes:
        reply = await line.get(f"/changes/{number}")
        found[number] = reply.json["merged"] if reply.status == 200 else ""
    return found


def _cpu(plan: Plan) -> dict[str, tuple[int, float]]:
    """CPU seconds of every program so far, with its process."""
    census = running.read(plan.folder)
    return {name: (one.pid, running.cpu_seconds(one.pid)) for name, one in census.programs.items()} if census else {}


def _difference(before: Mapping[str, tuple[int, float]], after: Mapping[str, tuple[int, float]]) -> dict[str, float]:
    """What each spent between two looks; a program that was started again counts from its start."""
    return {
        name: round(spent - (before[name][1] if name in before and before[name][0] == pid else 0.0), 1)
        for name, (pid, spent) in after.items()
    }
