"""Two servers on one workspace: both serve what either merges, and no commit is built twice."""

from __future__ import annotations

import json
import time
import urllib.request
from collections import Counter
from pathlib import Path

import pytest

from core.bootstrap import App, build
from core.services.people.accounts import DEMO
from tests import browser
from tests.conftest import kb_settings, put

_, AUTHOR, _, REVIEWER, _, _ = DEMO


def health(server: str) -> dict[str, object]:
    with urllib.request.urlopen(f"{server}/api/health", timeout=browser.PATIENCE) as answer:
        found: dict[str, object] = json.load(answer)
    return found


def merge(app: App, n: int) -> str:
    change = app.reviews.changes.propose(AUTHOR, f"Change {n}", {f"{n}.md": f"# {n}\n\nwords of {n}\n".encode()})
    app.reviews.changes.submit(AUTHOR, change.id)
    app.reviews.discussion.approve(REVIEWER, change.id)
    return app.reviews.merger.merge(AUTHOR, change.id).merged


@pytest.mark.slow
def test_two_servers_of_one_workspace_work_together(tmp_path: Path) -> None:
    """Merges through two processes at a time; jobs run once, and both servers swap to the newest generation."""
    home = tmp_path / "home"
    one, two = (build(kb_settings(home)) for _ in range(2))
    one.platform.workspace.create()
    put(one, {"a.md": "# A\n\nalpha words\n"})
    one.index.builder.build(one.platform.settings.profile())
    with browser.server(home, tmp_path / "one.log") as first, browser.server(home, tmp_path / "two.log") as second:
        assert health(first)["commit"] == health(second)["commit"] == one.knowledge.repository.head()
        for n in range(6):
            newest = merge((one, two)[n % 2], n)
        end = time.monotonic() + 300
        while {health(first)["commit"], health(second)["commit"]} != {newest} and time.monotonic() < end:
            time.sleep(0.5)
        assert health(first) == health(second)
        assert health(first)["commit"] == newest
    commits = Counter(generation.commit for generation in one.index.generations.all(one.platform.settings.profile()))
    assert max(commits.values()) == 1, "no commit was built twice"
    jobs = one.platform.jobs.recent(50)
    assert {job.state for job in jobs} == {"done"}
    assert max(job.attempts for job in jobs) == 1
    assert one.index.verifier.problems() == ()
