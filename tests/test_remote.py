"""A git remote: merges go out, commits made elsewhere come in as a change, and nothing is lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.bootstrap import App
from core.entrypoints.cli import main
from core.errors import BadInput, ConcordError, Refused, Unavailable
from tests.conftest import NoProcesses, demo, put, small_app
from tests.remotes import bare, git, outside

ADMIN, AUTHOR, REVIEWER = demo("admin"), demo("author"), demo("reviewer")


def merged(app: App, path: str, text: str) -> str:
    """One reviewed change, merged; its commit."""
    change = app.reviews.changes.propose(AUTHOR, f"Write {path}", {path: text.encode()})
    app.reviews.changes.submit(AUTHOR, change.id)
    app.reviews.discussion.approve(REVIEWER, change.id)
    return app.reviews.merger.merge(AUTHOR, change.id).merged


def accepted(app: App, number: int) -> None:
    """A change that people agree to."""
    app.reviews.discussion.approve(REVIEWER, number)
    app.reviews.merger.merge(AUTHOR, number)


def worked(app: App) -> None:
    """The job that a merge started, in this process."""
    app.remote.remotes.work({}, lambda *_: None)


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    return bare(tmp_path / "shared.git")


@pytest.fixture
def one(tmp_path: Path, shared: Path) -> App:
    """A knowledge base with one document, whose remote is empty."""
    app = small_app(tmp_path / "one", NoProcesses())
    put(app, {"a.md": "# A\n\nOne.\n"})
    app.remote.remotes.add(ADMIN, str(shared))
    worked(app)
    return app


def test_a_merge_starts_a_job_that_pushes_it(one: App, shared: Path) -> None:
    assert git(shared, "rev-parse", "main") == one.knowledge.store.head()
    commit = merged(one, "b.md", "# B\n\nTwo.\n")
    remote = one.remote.remotes.show(ADMIN)
    assert (remote.state, remote.backlog) == ("pushing", 1)
    assert any(job.kind == "remote" and job.open for job in one.platform.jobs.recent())
    worked(one)
    assert git(shared, "rev-parse", "main") == commit
    assert one.remote.remotes.show(ADMIN).state == "up to date"


def test_commits_made_elsewhere_come_in_as_one_change_and_then_pushes_go_on(
    one: App, shared: Path, tmp_path: Path
) -> None:
    theirs = outside(shared, tmp_path / "clone", {"c.md": "# C\n\nThree.\n"}, author="Olga Outside")
    commit = merged(one, "b.md", "# B\n\nTwo.\n")
    worked(one)
    remote = one.remote.remotes.show(ADMIN)
    assert (remote.state, remote.backlog, remote.incoming) == ("waiting", 1, 1)
    assert "wait to be pushed until then" in remote.sentence
    assert git(shared, "rev-parse", "main") == theirs, "nothing was pushed over it"
    assert one.knowledge.store.head() == commit, "nothing came straight onto main"
    change = one.reviews.changes.get(remote.change)
    assert (change.state, change.head, change.editors) == ("in review", theirs, ("Olga Outside",))
    more = outside(shared, tmp_path / "clone", {"d.md": "# D\n\nFour.\n"}, author="Olga Outside")
    worked(one)
    assert one.reviews.changes.get(change.id).head == more, "the same change holds newer commits"
    accepted(one, change.id)
    worked(one)
    head = one.knowledge.store.head()
    assert git(shared, "rev-parse", "main") == head
    assert one.knowledge.store.contains(head, more)
    assert "Olga Outside" in git(shared, "log", "--format=%an", "main")
    assert one.remote.remotes.show(ADMIN).state == "up to date"


def test_a_conflict_with_commits_made_elsewhere_is_solved_in_the_change(one: App, shared: Path, tmp_path: Path) -> None:
    theirs = outside(shared, tmp_path / "clone", {"a.md": "# A\n\nTheirs.\n"})
    merged(one, "a.md", "# A\n\nMine.\n")
    worked(one)
    number = one.remote.remotes.show(ADMIN).change
    assert one.reviews.changes.get(number).conflicts == ("a.md",)
    one.reviews.merger.solve(AUTHOR, number, {"a.md": ("=Both.",)})
    outside(shared, tmp_path / "clone", {"e.md": "# E\n\nLater.\n"})
    worked(one)
    accepted(one, number)
    worked(one)
    later = one.remote.remotes.show(ADMIN)
    assert later.change != number, "what came after the solution is the next change"
    assert later.incoming == 1
    accepted(one, later.change)
    worked(one)
    assert git(shared, "rev-parse", "main") == one.knowledge.store.head()
    assert git(shared, "show", "main:a.md") == "# A\n\nBoth."
    assert one.knowledge.store.contains(one.knowledge.store.head(), theirs)


def test_a_rewritten_remote_is_refused_until_somebody_accepts_it(one: App, shared: Path, tmp_path: Path) -> None:
    merged(one, "b.md", "# B\n\nTwo.\n")
    worked(one)
    head = one.knowledge.store.head()
    git(shared, "update-ref", "refs/heads/main", f"{head}~1")
    outside(shared, tmp_path / "clone", {"c.md": "# C\n\nInstead.\n"})
    with pytest.raises(ConcordError, match="was rewritten: it no longer holds"):
        worked(one)
    remote = one.remote.remotes.show(ADMIN)
    assert remote.state == "rewritten"
    assert "--accept-rewritten" in remote.sentence
    assert one.remote.remotes.fetch(ADMIN, accept=True).state == "waiting"
    accepted(one, one.remote.remotes.show(ADMIN).change)
    worked(one)
    assert git(shared, "rev-parse", "main") == one.knowledge.store.head()


def test_files_that_are_no_documents_are_taken_over_without_a_review(one: App, shared: Path, tmp_path: Path) -> None:
    theirs = outside(shared, tmp_path / "clone", {".github/check.yml": "on: push\n"})
    worked(one)
    assert one.knowledge.store.head() == theirs
    assert one.remote.remotes.show(ADMIN).state == "up to date"
    assert one.people.audit.entries(ADMIN, action="commit")


def test_a_remote_without_a_commit_in_common_is_refused(tmp_path: Path, shared: Path) -> None:
    outside(shared, tmp_path / "clone", {"x.md": "# X\n\nAnother history.\n"})
    app = small_app(tmp_path / "two", NoProcesses())
    put(app, {"a.md": "# A\n\nOne.\n"})
    with pytest.raises(Refused, match="no commit in common"):
        app.remote.remotes.add(ADMIN, str(shared))
    assert app.remote.remotes.show(ADMIN) is None


def test_a_merge_stands_where_the_remote_is_gone(one: App, shared: Path) -> None:
    shared.rename(shared.with_suffix(".away"))
    one.remote.remotes.sleep = lambda _: None
    commit = merged(one, "b.md", "# B\n\nTwo.\n")
    with pytest.raises(Unavailable):
        worked(one)
    remote = one.remote.remotes.show(ADMIN)
    assert (remote.state, remote.backlog, remote.failures) == ("failing", 1, 4)
    shared.with_suffix(".away").rename(shared)
    worked(one)
    assert git(shared, "rev-parse", "main") == commit


@pytest.mark.parametrize(
    "url",
    ["ext::sh -c id", "-uid", "--upload-pack=id", "https://", "ssh://-oProxyCommand=id/x", "ftp://example.org/x", "relative/kb.git",
     "https://example.org/-x", "fd::3", "https://example.org/a?b=c", "file://host/x", "https://exa mple.org/x", "git@-h:x"],
)  # fmt: skip
def test_addresses_that_could_do_more_than_name_a_repository_are_refused(app: App, url: str) -> None:
    with pytest.raises(BadInput):
        app.remote.remotes.add(ADMIN, url)


def test_an_address_with_a_password_is_refused_and_not_repeated(app: App) -> None:
    with pytest.raises(Refused) as refused:
        app.remote.remotes.add(ADMIN, "https://ann:s3cret@example.org/kb.git")
    assert "s3cret" not in str(refused.value)


def test_a_job_that_is_asked_for_while_it_runs_runs_once_more(app: App) -> None:
    runs: list[int] = []

    def work(arguments: object, progress: object) -> int:
        runs.append(1)
        if len(runs) == 1:
            app.platform.jobs.start("remote", {}, again=True)
        return len(runs)

    app.platform.jobs.processes = NoProcesses()
    job = app.platform.jobs.start("remote", {}, again=True)
    assert app.platform.jobs.run(job.id, {"remote": work}).result == 2


def test_a_repository_is_brought_in_with_its_history_and_what_cannot_be_used_is_named(
    tmp_path: Path, shared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    clone = tmp_path / "clone"
    outside(shared, clone, {"a.md": "# A\n\nOne.\n", "tools/run.sh": "true\n", ".github/x.yml": "on: push\n"})
    outside(shared, clone, {"a.md": "# A\n\nTwo.\n", "page.mdx": "# Page\n", "broken.md": "---\ntitle: [\n---\n"})
    home = tmp_path / "home"
    assert main(["--home", str(home), "--json", "import", "--git", str(shared)]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["added"] == ["a.md"]
    assert [row["path"] for row in report["refused"]] == ["broken.md", "page.mdx"]
    assert [row["path"] for row in report["skipped"]] == ["tools/run.sh", ".github/x.yml"]
    app = small_app(home, NoProcesses())
    assert app.knowledge.store.head() == git(shared, "rev-parse", "main"), "the very same commits"
    versions = app.knowledge.documents.history("a.md")
    assert [version.commit.author.name for version in versions] == ["Olga Outside"] * 2
    assert "broken.md" in app.knowledge.store.paths(app.knowledge.store.head()), "nothing is lost"
    app.index.builder.build(app.platform.settings.profile())
    assert not app.index.verifier.verify().problems
    with pytest.raises(Refused, match="holds documents already"):
        app.remote.remotes.bring_in(ADMIN, str(shared))
    merged(app, "b.md", "# B\n\nThree.\n")
    app.remote.remotes.add(ADMIN, str(shared))
    worked(app)
    assert git(shared, "rev-parse", "main") == app.knowledge.store.head()
