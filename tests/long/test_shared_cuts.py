"""Three nodes and their shared repository, with nodes killed, and the host killed and started again."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter, deque
from pathlib import Path

import pytest

from tests.conftest import ROOT, put, rounds
from tests.long.test_merges import assert_agreement
from tests.programs.node_worker import PEOPLE
from tests.support.git_server import free_port, started
from tests.support.nodes import node
from tests.support.remotes import bare, git

NAMES = ("one", "two", "three")


class Exercise:
    """The nodes, the host, and everything that was acknowledged."""

    def __init__(self, folder: Path, merges: int, seed: int) -> None:
        self.folder, self.rng, self.port = folder, random.Random(seed), free_port()
        self.counts: Counter[str] = Counter()
        self.shared = bare(folder / "host" / "kb.git")
        self.url = f"http://127.0.0.1:{self.port}/kb.git"
        self.host: subprocess.Popen[bytes] | None = started(folder / "host", self.port)
        put(node(folder, "one", self.url), {"shared.md": "# Shared\n\nLine.\n"})
        self.todo, self.acknowledged = deque(range(merges)), dict[int, str]()
        self.given: dict[str, set[int]] = {name: set() for name in NAMES}
        self.nodes = {name: self.start(name) for name in NAMES}

    def start(self, name: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "tests.programs.node_worker", str(self.folder), name, self.url]
        log = (self.folder / f"{name}.log").open("a")
        process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
        )
        threading.Thread(target=self.listen, args=(name, process), daemon=True).start()
        return process

    def listen(self, name: str, process: subprocess.Popen[str]) -> None:
        """What a node answers; what failed is asked for again, as people do."""
        for line in process.stdout or ():
            number, _, answer = line.strip().partition(" ")
            self.given[name].discard(int(number))
            if answer.startswith("- "):
                self.counts[answer.split()[1]] += 1
                self.todo.append(int(number))
            else:
                self.acknowledged[int(number)] = answer
                self.counts["merges without an answer"] += answer == "there"

    def give(self) -> None:
        """Ten people on every node have something to do."""
        for name, process in self.nodes.items():
            if process.poll() is not None:
                self.again(name)
            while self.todo and len(self.given[name]) < PEOPLE and process.stdin:
                number = self.todo.popleft()
                self.given[name].add(number)
                try:
                    process.stdin.write(f"{number}\n")
                    process.stdin.flush()
                except OSError:
                    break  # killed a moment ago: given again with the rest

    def again(self, name: str) -> None:
        self.todo.extend(sorted(self.given[name]))
        self.given[name] = set()
        self.nodes[name] = self.start(name)

    def kill(self) -> None:
        """kill -9 a node in the middle of its work; its people turn to the others."""
        name = self.rng.choice(NAMES)
        self.nodes[name].kill()
        self.nodes[name].wait()
        self.counts["nodes killed"] += 1
        if self.rng.random() < 0.3:  # the machine is gone, too
            subprocess.run(["rm", "-rf", str(self.folder / name / "kb.git")], check=True)
            self.counts["clones lost"] += 1
        self.again(name)

    def cut(self) -> None:
        """kill -9 the host, or start it again."""
        if self.host:
            self.host.kill()
            self.host.wait()
            self.host = None
            self.counts["host killed"] += 1
        else:
            self.host = started(self.folder / "host", self.port)

    def stop(self) -> None:
        for process in (*self.nodes.values(), *([self.host] if self.host else [])):
            process.kill()
            process.wait()

    def check(self) -> None:
        """With a host that stays: every node ends with the same history, in which every merge is there, once."""
        apps = [node(self.folder, name, self.url) for name in NAMES]
        for app in apps:
            app.reviews.merger.repair()
            app.platform.workspace.catch_up()
        head = git(self.shared, "rev-parse", "main")
        known = apps[0].knowledge.repository.ancestors(head)
        assert not [commit for commit in self.acknowledged.values() if commit not in {*known, "there"}], "lost"
        paths = {entry.path for entry in apps[0].knowledge.repository.entries(head)}
        assert {f"merged/{n}.md" for n in self.acknowledged if n % 5} <= paths
        git(self.shared, "fsck", "--full", "--strict")
        branches = git(self.shared, "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads")
        for app in apps:
            app.knowledge.repository.follow()
            assert git(app.knowledge.repository.path, "for-each-ref", "--format=%(refname) %(objectname)") == branches
            assert_agreement(app)
        self.counts["commits in the end"] = len(known)


@pytest.mark.slow
def test_three_nodes_that_are_killed_lose_no_merge_and_make_none_twice(tmp_path: Path) -> None:
    merges = rounds(40)
    run, began = Exercise(tmp_path, merges, seed=int(os.environ.get("CONCORD_SHARED_SEED", "7"))), time.monotonic()
    try:
        next_trouble = began + 20
        while len(run.acknowledged) < merges:
            assert time.monotonic() < began + 3000, (run.counts, len(run.acknowledged))
            run.give()
            if time.monotonic() > next_trouble:
                run.rng.choice((run.kill, run.kill, run.cut))() if run.host else run.cut()
                next_trouble = time.monotonic() + (1.5 if run.host is None else run.rng.uniform(10, 30))
            time.sleep(0.1)
        run.counts["seconds"] = round(time.monotonic() - began)
        if run.host is None:
            run.cut()
        for process in run.nodes.values():
            process.kill()
            process.wait()
        run.check()
        print(json.dumps(run.counts, indent=1))
    finally:
        run.stop()
