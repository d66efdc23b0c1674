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
from tests.conftest import kb_settings, put
from tests.support import browser

_, AUTHOR, _, REVIEWER, _, _ = DEMO


def health(server: str, token: str) -> dict[str, object]:
    asked = urllib.request.Request(f"{server}/api/v1/health", headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(asked, timeout=browser.PATIENCE) as answer:
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
        token = one.people.tokens.make(AUTHOR, "health", "read")[0]
        assert health(first, token)["commit"] == health(second, token)["commit"] == one.knowledge.repository.head()
        for n in range(6):
            newest = merge((one, two)[n % 2], n)
        end = time.monotonic() + 300
        while {health(first, token)["commit"], health(second, token)["commit"]} != {newest} and time.monotonic() < end:
            time.sleep(0.5)
        assert health(first, token) == health(second, token)
        assert health(first, token)["commit"] == newest
    commits = Counter(generation.commit for generation in one.index.generations.all(one.platform.settings.profile()))
    assert max(commits.values()) == 1, "no commit was built twice"
    jobs = one.platform.jobs.recent(50)
    assert {job.state for job in jobs} == {"done"}
    assert max(job.attempts for job in jobs) == 1
    assert one.index.verifier.problems() == ()
