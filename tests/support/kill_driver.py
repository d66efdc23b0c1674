"""kill -9 at random points of everything people do; after each, a new start compares what was acknowledged with what
is there.

python -m tests.support.kill_driver PLACE KILLS [MERGES]      with MERGES: only merges, until so many were acknowledged
too
"""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.bootstrap import App
from core.errors import ConcordError, Unavailable
from tests.conftest import ROOT, NoProcesses, put, small_app
from tests.programs.kill_server import ADMIN, parts

_CREW = 4  # workers at a time


@dataclass
class Killed:
    """What a run saw: kills by operation, acknowledgements by operation, and whatever was lost or needed a hand."""

    place: Path
    kills: Counter[str] = field(default_factory=Counter)
    groups: int = 0
    acknowledged: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)  # changes that main holds more than once
    repairs: list[str] = field(default_factory=list)
    facts: list[dict[str, Any]] = field(default_factory=list)
    restored: int = 0
    heads: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        def count(counter):
            return ", ".join(f"{name} {n}" for name, n in sorted(counter.items()))

        return (
            f"{self.kills.total()} kills ({self.groups} with all children) in {count(self.kills)}; "
            f"acknowledged {self.acknowledged.total()}: {count(self.acknowledged)}; refused "
            f"{count(self.refused) or 0}; "
            f"backups restored and verified {self.restored}; lost {len(self.lost)}, doubled {len(self.doubled)}, "
            f"repairs by hand {len(self.repairs)}"
        )


def kill(place: Path, kills: int, seed: int, log: Any = None, merges: int = 0) -> Killed:
    """Some workers at a time, until so many were killed; with `merges` they do nothing else, and so many are
    acknowledged.
    """
    for name in ("journals", "backups", "restored", "import"):
        (place / name).mkdir(parents=True)
    put(small_app(place / "home", NoProcesses()), {"a.md": "# A\n\nFirst words.\n"})
    killed, dice = Killed(place), random.Random(seed)
    command = [sys.executable, "-m", "tests.programs.kill_server", str(place), *(["merge"] if merges else [])]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:

        def ask(line):
            return _ask(server, line)

        number = 0
        while killed.kills.total() < kills or killed.acknowledged["merge"] < merges:
            crew = {ask(f"start {number + n}"): number + n for n in range(_CREW)}
            number += _CREW
            known = len(killed.facts)
            time.sleep(dice.uniform(0.0, dice.choice((0.4, 1.0, 3.0, 6.0))) * (5 if merges else 1))
            for pid, one in crew.items():
                how = dice.choice(("alone", "group"))
                ask(f"kill {pid} {how}")
                killed.groups += how == "group"
                read_journal(killed, one)
            compare(killed, killed.facts[known:])
            if number % 100 == 0:
                whole(killed)
            if log and number % 20 == 0:
                print(
                    f"{time.strftime('%H:%M:%S')} {killed}",
                    *killed.lost[-3:],
                    *killed.repairs[-3:],
                    file=log,
                    flush=True,
                )
        assert server.stdin
        server.stdin.close()
    whole(killed)
    return killed


def _ask(server: subprocess.Popen[str], line: str) -> str:
    assert server.stdin
    assert server.stdout
    server.stdin.write(f"{line}\n")
    server.stdin.flush()
    return server.stdout.readline().strip()


def read_journal(killed: Killed, seed: int) -> None:
    """What a dead worker had acknowledged, and what it was doing."""
    path = killed.place / "journals" / f"{seed}.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    killed.kills[lines[-1].get("begin", "between") if lines else "fork"] += 1
    for line in lines:
        if "done" in line:
            killed.acknowledged[line["done"]] += 1
            killed.facts.append(line)
        elif "refused" in line:
            killed.refused[line["refused"]] += 1
        elif "failed" in line:
            killed.repairs.append(f"{line['failed']}: {line['why']}")


def compare(killed: Killed, new: list[dict[str, Any]]) -> None:
    """A new start, and what was acknowledged since the last one."""
    try:
        app = small_app(killed.place / "home", NoProcesses())
        killed.repairs += [f"audit: {problem}" for problem in app.people.audit.problems()]
    except Exception as error:
        killed.repairs.append(f"start: {type(error).__name__}: {error}")
        return
    _branches_only_grow(killed, app)
    for fact in new:
        if "change" in fact and not _change_is_there(app, fact):
            killed.lost.append(str(fact))
        if "commit" in fact and not app.knowledge.repository.contains("main", fact["commit"]):
            killed.lost.append(str(fact))
        if "settings" in fact and not app.knowledge.repository.contains("settings", fact["settings"]):
            killed.lost.append(str(fact))
    _accounts(killed, app)
    _generations(killed, app)
    _restores(killed, {fact["restored"] for fact in new if fact.get("restored")})
    left = [
        path.name
        for path in (killed.place / "home" / "kb.git").iterdir()
        if path.name.startswith(("index-", "concord-own"))
    ]
    locks = [path.name for path in (killed.place / "home" / "kb.git").rglob("*.lock") if path.name != "concord.lock"]
    killed.repairs += [f"left behind: {name}" for name in left + locks]


def _branches_only_grow(killed: Killed, app: App) -> None:
    for branch in ("main", "settings"):
        head, before = app.knowledge.repository.head(branch), killed.heads.get(branch, "")
        if before and not (head and app.knowledge.repository.contains(head, before)):
            killed.lost.append(f"{branch} was at {before} and is at {head}")
        killed.heads[branch] = head


def _accounts(killed: Killed, app: App) -> None:
    roles = {account.id: account.role for account in app.people.accounts.all()}
    wanted = {fact["account"]: fact["role"] for fact in killed.facts if "account" in fact}
    killed.lost += [f"account {name}" for name, role in wanted.items() if roles.get(name) != role]


def _change_is_there(app: App, fact: dict[str, Any]) -> bool:
    row = app.reviews.changes.database.changes.get(fact["change"])
    if row is None:
        return False
    if "commit" in fact:
        return bool(row.stage == "merged" and row.merged == fact["commit"])
    return bool(row.title == fact["title"] and app.knowledge.repository.head(f"change/{fact['change']}"))


def _generations(killed: Killed, app: App) -> None:
    serving = app.index.generations.current(app.platform.settings.profile())
    newest = max((fact["generation"] for fact in killed.facts if "generation" in fact), default=0)
    if newest and (serving is None or serving.number < newest):
        killed.lost.append(f"generation {newest} was acknowledged, {serving} serves")


def _restores(killed: Killed, finished: set[str]) -> None:
    """A restore is finished, not begun, or says that it is half done and goes on."""
    for home in (killed.place / "restored").iterdir():
        try:
            app = small_app(home, NoProcesses())
            if home.name in finished and not app.knowledge.repository.head():
                killed.lost.append(f"restored {home.name}")
        except Unavailable as error:
            if "half restored" not in str(error) or home.name in finished:
                killed.repairs.append(f"restore {home.name}: {error}")
            elif home.name.endswith(("1-0", "5-0")):
                _restore(killed, Path(str(error).rsplit(" ", 1)[1]), home)
        except Exception as error:
            killed.repairs.append(f"restore {home.name}: {type(error).__name__}: {error}")
        shutil.rmtree(home)


def _restore(killed: Killed, saved: Path, home: Path) -> None:
    try:
        parts(home).platform.backups.restore(ADMIN, saved)
        killed.restored += 1
    except ConcordError as error:
        killed.repairs.append(f"restore of {saved.name}: {error}")


def whole(killed: Killed) -> None:
    """Everything that was ever acknowledged, `verify`, and the newest backup restored; older backups go."""
    app = small_app(killed.place / "home", NoProcesses())
    history = {step.id for step, _ in app.knowledge.repository.log(app.knowledge.repository.head())}
    settings = {step.id for step, _ in app.knowledge.repository.log(app.knowledge.repository.head("settings"))}
    paths = {entry.path for entry in app.knowledge.repository.entries(app.knowledge.repository.head())}
    for fact in killed.facts:
        merged = fact.get("commit") is None or "generation" in fact or fact["commit"] in history
        there = fact.get("path") is None or fact["path"] in paths
        promoted = fact.get("settings") is None or fact["settings"] in settings
        known = fact.get("change") is None or _change_is_there(app, fact)
        if not (merged and there and promoted and known):
            killed.lost.append(f"later: {fact}")
    numbers = Counter(
        n for step, _ in app.knowledge.repository.log(app.knowledge.repository.head()) for n in _merged(step.message)
    )
    killed.doubled = [number for number, times in numbers.items() if times > 1]
    app.index.builder.build(app.platform.settings.profile())
    killed.repairs += list(app.index.verifier.problems())
    _backups(killed, app)
    folder = app.index.generations.folder(app.platform.settings.profile())
    left = [*folder.glob("building-*"), *(killed.place / "home").glob(".concord-*")]
    killed.repairs += [f"left behind: {path.name}" for path in left]


def _merged(message: str) -> list[str]:
    return re.findall(r"^Change: (\d+)$", message, re.MULTILINE)


def _backups(killed: Killed, app: App) -> None:
    """Every acknowledged backup is whole and holds what was acknowledged before it began."""
    facts = {fact["backup"]: fact for fact in killed.facts if "backup" in fact}
    saved = sorted((killed.place / "backups").glob("w*"), key=lambda path: path.stat().st_mtime_ns)
    for folder in saved:
        main = app.platform.backups.archives.checked(folder)["branches"]["refs/heads/main"]
        wanted = facts.get(folder.name, {}).get("contains", main)
        if not app.knowledge.repository.contains(main, wanted) or not app.knowledge.repository.contains("main", main):
            killed.lost.append(f"backup {folder.name} is at {main}, {wanted} was there before")
    for folder in saved[-2:]:
        _restore(killed, folder, killed.place / "restored" / folder.name)
        shutil.rmtree(killed.place / "restored" / folder.name)
    for folder in saved[:-2]:
        shutil.rmtree(folder)


if __name__ == "__main__":
    where, number = Path(sys.argv[1]), int(sys.argv[2])
    outcome = kill(where, number, seed=number, log=sys.stdout, merges=int((sys.argv[3:] or ["0"])[0]))
    print(outcome, *outcome.lost[:20], *outcome.repairs[:20], sep="\n")
    sys.exit(bool(outcome.lost or outcome.doubled or outcome.repairs))
