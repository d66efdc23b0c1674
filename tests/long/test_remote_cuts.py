"""Two Concords and one remote, with the host killed, the pushing jobs killed, and people who commit with their own
git.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from core.bootstrap import App
from core.errors import ConcordError
from tests.conftest import ROOT, NoProcesses, demo, put, rounds, small_app
from tests.services.team.test_remote import merged, take_in
from tests.support.git_server import free_port, started
from tests.support.remotes import bare, git, outside

ADMIN = demo("admin")


class Exercise:
    """Both Concords, the host, and everything that was acknowledged."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.rng, self.port = folder, random.Random(seed), free_port()
        self.counts: Counter[str] = Counter()
        self.shared = bare(folder / "host" / "kb.git")
        self.url = f"http://127.0.0.1:{self.port}/kb.git"
        self.host: subprocess.Popen[bytes] | None = started(folder / "host", self.port)
        self.apps = [small_app(folder / name, NoProcesses(), remote_timeout=10) for name in ("one", "two")]
        self.acknowledged: list[str] = []
        self._begin()
        self.workers = [self._worker(app) for app in self.apps]

    def _begin(self) -> None:
        put(self.apps[0], {"shared.md": "# Shared\n\nLine.\n"})
        self.apps[0].remote.remotes.add(ADMIN, self.url)
        self.apps[0].remote.remotes.push(ADMIN)
        self.apps[1].remote.remotes.add(ADMIN, self.url)

    def _worker(self, app: App) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "tests.programs.remote_worker", str(app.settings.home)]
        log = (self.folder / f"{app.settings.home.name}.log").open("ab")
        return subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log)

    def merge(self, n: int) -> None:
        """One reviewed change in one of them; every fourth edits what everybody edits."""
        app = self.apps[n % 2]
        path = "shared.md" if n % 4 < 2 else f"merged/{n}.md"
        self.acknowledged.append(merged(app, path, f"# Text\n\nMerge {n}.\n"))
        self.counts["merges"] += 1

    def commit(self, n: int) -> None:
        """One commit by somebody's own git; a push that fails is made again, as people do."""
        path = "shared.md" if n % 3 == 0 else f"outside/{n}.md"
        for _ in range(50):
            try:
                files = {path: f"# Text\n\nCommit {n}.\n"}
                self.acknowledged.append(outside(self.shared, self.folder / "clone", files))
                break
            except AssertionError:
                self.counts["lost races of people"] += 1
        else:
            raise AssertionError("nobody can push any more")
        self.counts["outside commits"] += 1

    def review(self) -> None:
        """Agree to what came in, on either side; somebody else may be editing it."""
        for app in self.apps:
            try:
                before = app.remote.remotes.show(ADMIN).change
                take_in(app)
                self.counts["incoming changes merged"] += bool(before)
            except ConcordError:
                self.counts["reviews that came too late"] += 1

    def cut(self) -> None:
        """kill -9 the host, or start it again."""
        if self.host:
            self.host.kill()
            self.host.wait()
            self.host = None
            self.counts["host killed"] += 1
        else:
            self.host = started(self.folder / "host", self.port)

    def kill(self) -> None:
        """kill -9 a pushing job, and start another."""
        n = self.rng.randrange(2)
        self.workers[n].kill()
        self.workers[n].wait()
        self.counts["jobs killed"] += 1
        self.workers[n] = self._worker(self.apps[n])

    def settled(self) -> bool:
        heads = {app.knowledge.repository.head() for app in self.apps} | {git(self.shared, "rev-parse", "main")}
        return len(heads) == 1

    def settle(self, patience: float) -> None:
        """With the host back: until all three are equal."""
        if self.host is None:
            self.cut()
        end = time.monotonic() + patience
        while not self.settled():
            assert time.monotonic() < end, [app.remote.remotes.show(ADMIN) for app in self.apps]
            self.review()
            time.sleep(0.2)

    def stop(self) -> None:
        for process in (*self.workers, *([self.host] if self.host else [])):
            process.kill()
            process.wait()

    def check(self) -> None:
        head = git(self.shared, "rev-parse", "main")
        known = self.apps[0].knowledge.repository.ancestors(head)
        assert not [commit for commit in self.acknowledged if commit not in known], "a commit is lost"
        git(self.shared, "fsck", "--full", "--strict")
        paths = set(git(self.shared, "ls-tree", "-r", "--name-only", "main").splitlines())
        for app in self.apps:
            assert app.knowledge.repository.head() == head
            assert {document.path for document in app.knowledge.documents.all()} == paths
            app.remote.remotes.fetch(ADMIN)
            assert app.remote.remotes.show(ADMIN).state == "up to date"
            app.index.builder.build(app.platform.settings.profile())
            assert not app.index.verifier.verify().problems


def exercise(folder: Path, merges: int, commits: int, seed: int, patience: float) -> Counter[str]:
    """Everything in a random order, then quiet, then the proof."""
    run = Exercise(folder, seed)
    began = time.monotonic()
    try:
        steps = [("merge", n) for n in range(merges)] + [("commit", n) for n in range(commits)]
        steps += [("cut", 0)] * (merges // 8) + [("kill", 0)] * (merges // 8) + [("review", 0)] * (merges // 3)
        run.rng.shuffle(steps)
        for name, n in steps:
            run.merge(n) if name == "merge" else run.commit(n) if name == "commit" else getattr(run, name)()
        run.settle(patience)
        run.counts["seconds"] = round(time.monotonic() - began)
        run.counts["commits in the end"] = len(
            run.apps[0].knowledge.repository.ancestors(run.apps[0].knowledge.repository.head())
        )
        deeds = [entry.action for app in run.apps for entry in app.people.audit.entries(ADMIN, limit=10_000)]
        run.counts["conflicts solved"] = deeds.count("solve conflicts")
        run.counts["failed rounds of jobs"] = sum(
            (folder / f"{name}.log").read_text().count("failed") for name in ("one", "two")
        )
        run.check()
    finally:
        run.stop()
    print(json.dumps(run.counts), flush=True)
    return run.counts


@pytest.mark.slow
def test_a_few_merges_and_commits_survive_a_dead_host_and_killed_jobs(tmp_path: Path) -> None:
    counts = exercise(tmp_path, merges=8, commits=3, seed=3, patience=240)
    assert counts["merges"] == 8


@pytest.mark.slow
def test_many_merges_and_outside_commits_with_cuts_end_in_one_history(tmp_path: Path) -> None:
    counts = exercise(
        tmp_path, merges=rounds(40), commits=rounds(12), seed=int(os.environ.get("CONCORD_SEED", "7")), patience=1200
    )
    assert (counts["merges"], counts["outside commits"]) == (rounds(40), rounds(12))
    assert counts["host killed"] >= 1
    assert counts["jobs killed"] >= 4
    assert counts["conflicts solved"] >= 1
