"""What must be true at the end: no merge lost or done twice, no answer of two commits, every node as a fresh build."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.cluster.fresh import compared
from bench.cluster.people import Merged
from bench.cluster.plan import REPOSITORY, Plan, inherited
from bench.cluster.searches import CitedPassage
from core.errors import Unavailable
from core.settings import PROJECT


class RepositoryOnDisk:
    """The shared repository as it lies on this machine: read past every node."""

    def __init__(self, plan: Plan) -> None:
        self.path = plan.folder / "git" / REPOSITORY

    def ask(self, *arguments: str) -> str:
        command = ["git", "-C", str(self.path), *arguments]
        return subprocess.run(
            command, capture_output=True, text=True, check=True, env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
        ).stdout

    def main_line(self) -> list[str]:
        """Commits of main, newest first."""
        return self.ask("rev-list", "--first-parent", "main").split()

    def text(self, commit: str, path: str) -> str | None:
        done = subprocess.run(["git", "-C", str(self.path), "show", f"{commit}:{path}"], capture_output=True)
        return done.stdout.decode() if done.returncode == 0 else None

    def changes(self) -> Counter[str]:
        """How often each change was merged, by the trailers of main's commits."""
        return Counter(re.findall(r"^Change: (\S+)$", self.ask("log", "--first-parent", "--format=%B", "main"), re.M))


@dataclass(frozen=True, slots=True)
class Kept:
    """What became of the acknowledged merges."""

    acknowledged: int
    not_in_main: tuple[int, ...]  # changes whose commit main does not have
    without_text: tuple[str, ...]  # marks that the documents of main do not have
    not_in_database: tuple[int, ...]
    twice: tuple[str, ...]  # changes that main has more than once

    @property
    def lost(self) -> int:
        return len({*self.not_in_main, *self.not_in_database}) + len(self.without_text)


def kept(repository: RepositoryOnDisk, merges: Sequence[Merged], database: dict[int, str]) -> Kept:
    """Compare what was acknowledged with main and with the database (change to the commit it was merged as)."""
    main = set(repository.main_line())
    texts = {path: repository.text("main", path) or "" for path in {merge.path for merge in merges}}
    doubled = [change for change, times in repository.changes().items() if times > 1]
    return Kept(
        len(merges),
        tuple(merge.change for merge in merges if merge.commit not in main),
        tuple(merge.mark for merge in merges if merge.mark not in texts[merge.path]),
        tuple(merge.change for merge in merges if database.get(merge.change) != merge.commit),
        tuple(doubled),
    )


def mixed(repository: RepositoryOnDisk, passages: Iterable[CitedPassage]) -> list[CitedPassage]:
    """Passages that are not in the commit that their answer named."""
    found, texts = [], {}
    for passage in sorted(passages, key=lambda one: (one.commit, one.path)):
        place = (passage.commit, passage.path)
        if place not in texts:
            texts = {place: repository.text(*place)}  # sorted, so one text at a time is enough
        text = texts[place]
        span = "" if text is None else text[passage.start : passage.end]
        if text is None or hashlib.sha256(span.encode()).hexdigest() != passage.digest:
            found.append(passage)
    return found


def fresh_build(plan: Plan, questions: Sequence[str]) -> dict[str, Any]:
    """What one machine answers after a build from nothing."""
    with tempfile.TemporaryDirectory(prefix="fresh-", dir=plan.folder) as folder:
        asked = Path(folder) / "questions.json"
        asked.write_text(json.dumps(list(questions)))
        variables = {**inherited(os.environ), "CONCORD_HOME": str(Path(folder) / "home"), "CONCORD_THREADS": "2"}
        command = [sys.executable, "-m", "cluster.fresh", str(RepositoryOnDisk(plan).path), str(asked)]
        done = subprocess.run(command, cwd=PROJECT, env=variables, capture_output=True, text=True)
    if done.returncode:
        raise Unavailable(f"The fresh build failed: {done.stderr[-1500:]}")
    built: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return built


def differing(fresh: dict[str, Any], answers: dict[str, Any]) -> list[str]:
    """Questions to which a node gives another answer than the fresh build: other hits, scores, texts or confidence."""
    return [text for text, expected in fresh["answers"].items() if compared(answers[text]) != expected]


def doubled_chunks(answers: dict[str, Any]) -> int:
    """Chunks that stand twice in one answer."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for text, answer in answers.items():
        counts[text].update(hit["chunk"] for hit in answer.get("hits", ()))
    return sum(times - 1 for counter in counts.values() for times in counter.values() if times > 1)
