"""A git remote: merges go out, commits made elsewhere come in as a change, and nothing is lost."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from core.bootstrap import App
from core.curation.checks.findings import github
from core.entrypoints.cli import main
from core.errors import BadInput, ConcordError, NotFound, Refused, Unavailable
from core.services.remote.pull_requests import PullSource, markdown
from tests.conftest import ROOT, NoProcesses, demo, put, small_app
from tests.support.git_server import daemon, http_host
from tests.support.remotes import bare, git, outside

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
    assert git(shared, "rev-parse", "main") == one.knowledge.repository.head()
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
    assert "1 commit of the main line waits to be pushed until then." in remote.sentence
    assert git(shared, "rev-parse", "main") == theirs, "nothing was pushed over it"
    assert one.knowledge.repository.head() == commit, "nothing came straight onto main"
    change = one.reviews.changes.get(remote.change)
    assert (change.state, change.head, change.editors) == ("in review", theirs, ("Olga Outside",))
    more = outside(shared, tmp_path / "clone", {"d.md": "# D\n\nFour.\n"}, author="Olga Outside")
    worked(one)
    assert one.reviews.changes.get(change.id).head == more, "the same change holds newer commits"
    accepted(one, change.id)
    worked(one)
    head = one.knowledge.repository.head()
    assert git(shared, "rev-parse", "main") == head
    assert one.knowledge.repository.contains(head, more)
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
    assert git(shared, "rev-parse", "main") == one.knowledge.repository.head()
    assert git(shared, "show", "main:a.md") == "# A\n\nBoth."
    assert one.knowledge.repository.contains(one.knowledge.repository.head(), theirs)


@pytest.mark.parametrize("more", [False, True])
@pytest.mark.parametrize("approved", [False, True])
def test_a_conflict_that_is_solved_as_it_is_here_is_taken_over(
    one: App, shared: Path, tmp_path: Path, approved: bool, more: bool
) -> None:
    theirs = outside(shared, tmp_path / "clone", {"a.md": "# A\n\nTheirs.\n"})
    merged(one, "a.md", "# A\n\nMine.\n")
    worked(one)
    number = one.remote.remotes.show(ADMIN).change
    one.reviews.merger.solve(AUTHOR, number, {"a.md": ("theirs",)})  # from the change, the main line is theirs
    if approved:
        one.reviews.discussion.approve(REVIEWER, number)
    if more:
        outside(shared, tmp_path / "clone", {"e.md": "# E\n\nLater.\n"})
    worked(one)
    remote = one.remote.remotes.show(ADMIN)
    assert one.reviews.changes.get(number).state == "closed"
    assert one.knowledge.repository.contains(one.knowledge.repository.head(), theirs)
    assert (remote.state, remote.incoming, bool(remote.change)) == (
        ("waiting", 1, True) if more else ("up to date", 0, False)
    )
    if more:
        accepted(one, remote.change)
        worked(one)
    assert git(shared, "rev-parse", "main") == one.knowledge.repository.head()
    assert git(shared, "show", "main:a.md") == "# A\n\nMine."


def test_a_rewritten_remote_is_refused_until_somebody_accepts_it(one: App, shared: Path, tmp_path: Path) -> None:
    merged(one, "b.md", "# B\n\nTwo.\n")
    worked(one)
    head = one.knowledge.repository.head()
    git(shared, "update-ref", "refs/heads/main", f"{head}~1")
    outside(shared, tmp_path / "clone", {"c.md": "# C\n\nInstead.\n"})
    with pytest.raises(ConcordError, match="was rewritten: it no longer contains"):
        worked(one)
    remote = one.remote.remotes.show(ADMIN)
    assert remote.state == "rewritten"
    assert remote.sentence.endswith("Accept the rewritten history on the Remote page.")
    assert one.remote.remotes.fetch(ADMIN, accept=True).state == "waiting"
    accepted(one, one.remote.remotes.show(ADMIN).change)
    worked(one)
    assert git(shared, "rev-parse", "main") == one.knowledge.repository.head()


def test_files_that_are_no_documents_are_taken_over_without_a_review(one: App, shared: Path, tmp_path: Path) -> None:
    theirs = outside(shared, tmp_path / "clone", {".github/check.yml": "on: push\n"})
    worked(one)
    assert one.knowledge.repository.head() == theirs
    assert one.remote.remotes.show(ADMIN).state == "up to date"
    assert one.people.audit.entries(ADMIN, action="commit")


def test_a_remote_without_a_commit_in_common_is_refused(tmp_path: Path, shared: Path) -> None:
    outside(shared, tmp_path / "clone", {"x.md": "# X\n\nAnother history.\n"})
    app = small_app(tmp_path / "two", NoProcesses())
    put(app, {"a.md": "# A\n\nOne.\n"})
    with pytest.raises(Refused, match="no commit in common"):
        app.remote.remotes.add(ADMIN, str(shared))
    assert app.remote.remotes.show(ADMIN) is None


def test_a_remote_of_another_object_format_is_named_as_such(app: App, tmp_path: Path) -> None:
    """Its ids have 64 characters; with commits it was taken for an empty one."""
    place = tmp_path / "sha256.git"
    place.mkdir()
    git(place, "init", "--quiet", "--bare", "--initial-branch=main", "--object-format=sha256")
    git(place, "update-ref", "refs/heads/main", git(place, "commit-tree", git(place, "write-tree"), "-m", "one"))
    with pytest.raises(Unavailable, match="another format than SHA-1"):
        app.remote.remotes.add(ADMIN, str(place))
    assert app.remote.remotes.show(ADMIN) is None


def test_a_merge_stands_where_the_remote_is_gone(one: App, shared: Path) -> None:
    shared.rename(shared.with_suffix(".away"))
    one.remote.remotes.sleep = lambda _: None
    commit = merged(one, "b.md", "# B\n\nTwo.\n")
    with pytest.raises(Unavailable):
        worked(one)
    remote = one.remote.remotes.show(ADMIN)
    assert (remote.state, remote.backlog, remote.failures) == ("failing", 1, 4)
    assert "fatal:" not in remote.error, "git's own words without what begins each of its lines"
    shared.with_suffix(".away").rename(shared)
    worked(one)
    assert git(shared, "rev-parse", "main") == commit


@pytest.mark.parametrize(
    "url",
    [
        "ext::sh -c id",
        "https://example.org/kb\n--upload-pack=id",
        "-uid",
        "--upload-pack=id",
        "https://",
        "ssh://-oProxyCommand=id/x",
        "ftp://example.org/x",
        "relative/kb.git",
        "https://example.org/-x",
        "fd::3",
        "https://example.org/a?b=c",
        "file://host/x",
        "https://exa mple.org/x",
        "git@-h:x",
    ],
)
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
    assert app.knowledge.repository.head() == git(shared, "rev-parse", "main"), "the very same commits"
    versions = app.knowledge.documents.history("a.md")
    assert [version.commit.author.name for version in versions] == ["Olga Outside"] * 2
    assert "broken.md" in app.knowledge.repository.paths(app.knowledge.repository.head()), "nothing is lost"
    app.index.builder.build(app.platform.settings.profile())
    assert not app.index.verifier.verify().problems
    with pytest.raises(Refused, match="holds documents already"):
        app.remote.remotes.bring_in(ADMIN, str(shared))
    merged(app, "b.md", "# B\n\nThree.\n")
    app.remote.remotes.add(ADMIN, str(shared))
    worked(app)
    assert git(shared, "rev-parse", "main") == app.knowledge.repository.head()


def test_the_page_says_what_waits_and_leads_to_the_change(one: App, shared: Path, tmp_path: Path, visit: Any) -> None:
    outside(shared, tmp_path / "clone", {"c.md": "# C\n\nThree.\n"})
    for job in one.platform.jobs.recent():
        one.platform.jobs.run(job.id, one.platform.workspace.works)
    page = visit("remote", home=one.settings.home)
    assert "1 commit made elsewhere waits in change 1" in page.info[0].value
    assert {button.label for button in page.button} >= {"Open change 1", "Push now", "Fetch now"}
    page.button(key="remote_fetch").click().run()
    assert not page.exception
    assert any(job.kind == "remote" and job.open for job in one.platform.jobs.recent())


def test_the_page_without_a_remote_says_who_names_one(app: App, visit: Any) -> None:
    page = visit("remote", home=app.settings.home)
    assert "No remote is set up" in page.header[0].value
    assert not [button for button in page.button if button.label in ("Push now", "Fetch now")]


# ---------------------------------------------------------------- on the way


def exchanged(app: App, shared: Path, clone: Path) -> None:
    """One merge goes out, one commit comes in."""
    commit = merged(app, "b.md", "# B\n\nTwo.\n")
    worked(app)
    assert git(shared, "rev-parse", "main") == commit
    theirs = outside(shared, clone, {"c.md": "# C\n\nThree.\n"})
    assert app.remote.remotes.fetch(ADMIN).incoming == 1
    assert app.remote.remotes.show(ADMIN).commit == theirs


def with_document(home: Path, **settings: object) -> App:
    app = small_app(home, NoProcesses(), **settings)
    put(app, {"a.md": "# A\n\nOne.\n"})
    return app


def test_smart_http_asks_for_the_token_which_is_nowhere_to_be_seen(tmp_path: Path, shared: Path) -> None:
    token = "t0ken-s3cret"
    with http_host(tmp_path, token) as url:
        stranger = with_document(tmp_path / "stranger", remote_token="wrong-0ne")
        with pytest.raises(Unavailable, match="refuses access") as refused:
            stranger.remote.remotes.add(ADMIN, f"{url}/shared.git")
        assert "wrong-0ne" not in str(refused.value)
        app = with_document(tmp_path / "home", remote_token=token)
        app.remote.remotes.add(ADMIN, f"{url}/shared.git")
        exchanged(app, shared, tmp_path / "clone")
    with pytest.raises(Unavailable, match="cannot be reached"):
        app.remote.remotes.fetch(ADMIN)
    assert token not in repr(app.settings)
    kept = [path for path in (tmp_path / "home").rglob("*") if path.is_file() and token.encode() in path.read_bytes()]
    assert not kept


def test_git_daemon_serves_as_a_remote(tmp_path: Path, shared: Path) -> None:
    with daemon(tmp_path) as url:
        app = with_document(tmp_path / "home")
        app.remote.remotes.add(ADMIN, f"{url}/shared.git")
        exchanged(app, shared, tmp_path / "clone")


def test_ssh_never_asks_and_uses_the_key_that_is_named(tmp_path: Path, shared: Path) -> None:
    log, ssh = tmp_path / "ssh.log", tmp_path / "connect"
    ssh.write_text(
        f'#!/bin/sh\ntest "$1" = -G && exit 1\necho "$@" >> {log}\nfor last; do :; done\nexec sh -c "$last"\n'
    )
    ssh.chmod(0o755)
    app = with_document(tmp_path / "home", remote_ssh=str(ssh), remote_key=tmp_path / "a key")
    app.remote.remotes.add(ADMIN, f"git@example.org:{shared}")
    exchanged(app, shared, tmp_path / "clone")
    said = log.read_text()
    for option in (
        "BatchMode=yes",
        "ConnectTimeout=30",
        "IdentitiesOnly=yes",
        f"-i {tmp_path}/a key",
        "git@example.org",
    ):
        assert option in said


def test_a_host_that_is_silent_is_given_up(tmp_path: Path) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        app = with_document(tmp_path / "home", remote_timeout=0.5)
        began = time.monotonic()
        with pytest.raises(Unavailable, match="did not answer"):
            app.remote.remotes.add(ADMIN, f"git://127.0.0.1:{silent.getsockname()[1]}/kb.git")
    assert time.monotonic() - began < 20


def test_a_token_is_not_sent_over_plain_http(tmp_path: Path) -> None:
    app = with_document(tmp_path / "home", remote_token="t0ken")
    with pytest.raises(Refused, match="in the clear"):
        app.remote.remotes.add(ADMIN, "http://git.example.org/kb.git")


def test_hooks_of_the_repository_and_settings_of_the_machine_do_not_run(
    one: App, shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hooks = one.knowledge.repository.path / "hooks"
    hooks.mkdir()
    (hooks / "pre-push").write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    (hooks / "pre-push").chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", f"touch {tmp_path}/ran")
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", f"'core.sshCommand'='touch {tmp_path}/ran'")
    merged(one, "b.md", "# B\n\nTwo.\n")
    outside(shared, tmp_path / "clone", {"c.md": "# C\n\nThree.\n"})
    one.remote.remotes.push(ADMIN)
    with pytest.raises(Unavailable):
        one.remote.remotes.git.head("ssh://localhost:1/kb.git", "main")
    assert not (tmp_path / "ran").exists()


def test_a_refusal_of_the_remote_is_shown_in_its_words(one: App, shared: Path) -> None:
    hook = shared / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    merged(one, "b.md", "# B\n\nTwo.\n")
    with pytest.raises(Refused, match="refuses the push.*hook declined"):
        worked(one)
    assert one.remote.remotes.show(ADMIN).state == "failing"


# ---------------------------------------------------------------- two Concords


def second(tmp_path: Path, shared: Path | str, trust: bool = False) -> App:
    """Another Concord on the same branch."""
    app = small_app(tmp_path / "two", NoProcesses())
    app.remote.remotes.add(ADMIN, str(shared), trust=trust)
    return app


def settle(apps: tuple[App, ...], rounds: int = 20) -> int:
    """Merge what comes in on all sides until nothing does; how many conflicts people solved."""
    solved = 0
    for _ in range(rounds):
        for app in apps:
            worked(app)
            solved += take_in(app)
        if (
            all(app.remote.remotes.show(ADMIN).state == "up to date" for app in apps)
            and len({app.knowledge.repository.head() for app in apps}) == 1
        ):
            return solved
    raise AssertionError([app.remote.remotes.show(ADMIN).sentence for app in apps])


def take_in(app: App) -> int:
    """Agree to the change that holds commits made elsewhere, if there is one; 1 if it had a conflict."""
    number = app.remote.remotes.show(ADMIN).change
    if not number or not app.reviews.changes.get(number).open:
        return 0
    collisions = app.reviews.merger.collisions(AUTHOR, number)
    if collisions:
        choices = {each.path: ("theirs",) * sum(part.conflict for part in each.parts) for each in collisions}
        app.reviews.merger.solve(AUTHOR, number, choices)
    accepted(app, number)
    return bool(collisions)


def test_two_concords_review_what_the_other_merged_and_end_with_one_history(
    one: App, tmp_path: Path, shared: Path
) -> None:
    two = second(tmp_path, shared)
    assert two.knowledge.repository.head() == one.knowledge.repository.head(), (
        "an empty workspace takes the history over"
    )
    commits = [merged(one, "b.md", "# B\n\nFrom one.\n"), merged(two, "c.md", "# C\n\nFrom two.\n")]
    commits += [merged(one, "a.md", "# A\n\nFrom one.\n"), merged(two, "a.md", "# A\n\nFrom two.\n")]
    commits.append(outside(shared, tmp_path / "clone", {"d.md": "# D\n\nFrom outside.\n"}))
    worked(one)
    assert one.knowledge.documents.all() != two.knowledge.documents.all(), "nothing came straight onto main"
    assert settle((one, two)) == 1
    head = git(shared, "rev-parse", "main")
    assert one.knowledge.repository.head() == two.knowledge.repository.head() == head
    assert set(commits) <= one.knowledge.repository.ancestors(head)
    for app in (one, two):
        app.index.builder.build(app.platform.settings.profile())
        assert not app.index.verifier.verify().problems
        assert {document.path for document in app.knowledge.documents.all()} == {"a.md", "b.md", "c.md", "d.md"}


def test_with_trust_reviewed_merges_of_another_concord_need_no_second_review(
    one: App, tmp_path: Path, shared: Path
) -> None:
    one.remote.remotes.remove(ADMIN)
    one.remote.remotes.add(ADMIN, str(shared), trust=True)
    two = second(tmp_path, shared, trust=True)
    two.reviews.changes.propose(AUTHOR, "Numbers differ from now on", {"x.md": b"# X\n\nDraft.\n"})
    old = merged(one, "b.md", "# B\n\nFrom one.\n")
    merged(two, "c.md", "# C\n\nFrom two.\n")
    settle((one, two))
    assert not any(
        change.title.startswith("Commits from") for app in (one, two) for change in app.reviews.changes.all()
    )
    assert one.knowledge.repository.head() == two.knowledge.repository.head() == git(shared, "rev-parse", "main")
    assert one.knowledge.documents.show_at(demo("reader"), "b.md", old).path == "b.md", "what main was stays readable"
    theirs = outside(shared, tmp_path / "clone", {"d.md": "# D\n\nFrom outside.\n"})
    worked(one)
    assert one.reviews.changes.get(one.remote.remotes.show(ADMIN).change).head == theirs, "plain commits are reviewed"
    worked(two)
    accepted(one, one.remote.remotes.show(ADMIN).change)
    worked(one)
    worked(two)
    assert two.knowledge.repository.head() == one.knowledge.repository.head()
    assert [change.state for change in two.reviews.changes.all(text="Commits from")] == ["closed"], (
        "its commits came reviewed"
    )


@pytest.mark.slow
def test_an_index_built_step_by_step_counts_versions_as_a_whole_one_does(
    one: App, tmp_path: Path, shared: Path
) -> None:
    two = second(tmp_path, shared)
    for n in range(3):
        merged(one, "a.md", f"# A\n\nEdit {n}.\n")
    one.index.builder.build(one.platform.settings.profile())
    merged(two, "c.md", "# C\n\nFrom two.\n")
    worked(two)
    worked(one)
    settle((one, two))
    profile = one.platform.settings.profile()
    one.index.builder.build(profile)
    step_by_step = {facts.path: facts.version for facts in one.index.generations.open(profile).documents}
    one.index.builder.build(profile, full=True)
    assert {facts.path: facts.version for facts in one.index.generations.open(profile).documents} == step_by_step


def test_a_closed_change_keeps_the_remotes_commits_out_until_they_are_undone_there(
    one: App, tmp_path: Path, shared: Path
) -> None:
    clone = tmp_path / "clone"
    outside(shared, clone, {"c.md": "# C\n\nSpam.\n"})
    worked(one)
    number = one.remote.remotes.show(ADMIN).change
    one.reviews.changes.close(ADMIN, number, "We do not want it.")
    merged(one, "b.md", "# B\n\nTwo.\n")
    worked(one)
    remote = one.remote.remotes.show(ADMIN)
    assert remote.change == number, "it is not opened again"
    assert "turned down" in remote.sentence
    git(clone, "revert", "--no-edit", "HEAD")
    git(clone, "push", "--quiet", "origin", "HEAD:main")
    worked(one)
    assert git(shared, "rev-parse", "main") == one.knowledge.repository.head()
    assert one.remote.remotes.show(ADMIN).state == "up to date"


def test_a_look_now_and_then_starts_a_job_only_where_there_is_something_to_do(
    one: App, tmp_path: Path, shared: Path
) -> None:
    remotes, clock = one.remote.remotes, one.platform.jobs.clock
    remotes.minutes = 5
    for job in one.platform.jobs.recent():
        one.platform.jobs.run(job.id, one.platform.workspace.works)
    assert remotes.tick() is None, "it is not due yet"
    clock.day = "2026-11-16"
    assert remotes.tick() is None, "nothing is new"
    outside(shared, tmp_path / "clone", {"c.md": "# C\n\nThree.\n"})
    assert remotes.tick() is None, "it was looked at just now"
    clock.day = "2026-11-17"
    assert remotes.tick()
    shared.rename(shared.with_suffix(".away"))
    clock.day = "2026-11-18"
    assert remotes.tick() is None
    assert remotes.show(ADMIN).failures == 1


def test_a_document_with_a_name_that_cannot_be_used_stays_a_draft_that_says_so(
    one: App, tmp_path: Path, shared: Path
) -> None:
    outside(shared, tmp_path / "clone", {"what?.md": "# What\n\nText.\n"})
    worked(one)
    change = one.reviews.changes.get(one.remote.remotes.show(ADMIN).change)
    assert change.state == "draft"
    assert "not a plain file or folder name" in " ".join(change.requirements)
    git(tmp_path / "clone", "mv", "what?.md", "what.md")
    git(tmp_path / "clone", "commit", "--quiet", "--message", "Rename")
    git(tmp_path / "clone", "push", "--quiet", "origin", "HEAD:main")
    worked(one)
    assert one.reviews.changes.get(change.id).state == "in review"


def test_a_draft_that_somebody_mended_is_submitted_though_more_came_meanwhile(
    one: App, tmp_path: Path, shared: Path
) -> None:
    outside(shared, tmp_path / "clone", {"what.md": "---\ntitle: [\n---\n# What\n"})
    worked(one)
    number = one.remote.remotes.show(ADMIN).change
    assert one.reviews.changes.get(number).state == "draft"
    one.reviews.changes.edit(AUTHOR, number, {"what.md": b"# What\n\nText.\n"})
    outside(shared, tmp_path / "clone", {"later.md": "# Later\n\nText.\n"})
    worked(one)
    assert one.reviews.changes.get(number).state == "in review"
    accepted(one, number)
    worked(one)
    assert one.remote.remotes.show(ADMIN).incoming == 1, "what came after it is the next change"


# ---------------------------------------------------------------- pull requests


@pytest.fixture
def own_repository(tmp_path: Path) -> Path:
    """Somebody's repository with documents in a folder, a base, and three heads: good, broken and without documents."""
    place = tmp_path / "own"
    place.mkdir()
    git(place, "init", "--quiet", "--initial-branch=main")
    vpn = "---\ntitle: VPN\nanswers: [How do I connect from home?]\n---\n# VPN\n\nConnect from home with the client.\n"
    _commit(place, {"docs/vpn.md": vpn, "src/tool.py": "x = 1\n"})
    git(place, "switch", "--quiet", "--create", "good")
    fob = (
        "---\ntitle: Fobs\nanswers: [Where do I get a token fob?]\n---\n# Fobs\n\nA token fob is at the "
        "desk.\n\n### Deep\n\nText.\n"
    )
    _commit(place, {"docs/it/fob.md": fob})
    git(place, "switch", "--quiet", "--create", "broken", "main")
    _commit(place, {"docs/bad.md": "---\ntitle: [\n---\n# Bad\n"})
    git(place, "switch", "--quiet", "--create", "code", "main")
    _commit(place, {"src/tool.py": "x = 2\n"})
    git(place, "switch", "--quiet", "main")
    _commit(place, {"docs/later.md": "# Later\n\nThe base went on.\n"})
    return place


def _commit(place: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text, encoding="utf-8")
    git(place, "add", "--all")
    git(place, "commit", "--quiet", "--message", "Write")


def test_a_pull_request_shows_what_it_does_to_documents_and_search(tmp_path: Path, own_repository: Path) -> None:
    app = small_app(tmp_path / "home", NoProcesses())
    request = app.remote.pull_requests.look(ADMIN, PullSource(own_repository, "main", "good", "docs"))
    assert request.ok
    assert request.documents == ("it/fob.md",)
    assert request.impact
    summary = markdown(request)
    assert "1 document changed, 0 errors" in summary
    assert "| Where do I get a token fob? | it/fob.md | not found | found at 1 |" in summary
    assert any(line.startswith("::warning file=docs/it/fob.md,line=") for line in github(request.findings, "docs"))


@pytest.mark.parametrize(("head", "code", "words"), [("broken", 1, "cannot be merged"), ("code", 0, "Nothing stands")])
def test_the_exit_code_of_a_pull_request_says_whether_it_could_be_merged(
    tmp_path: Path, own_repository: Path, head: str, code: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    summary, quality = tmp_path / "summary.md", tmp_path / "quality.json"
    arguments = ["--home", str(tmp_path / "home"), "pull-request", "--repository", str(own_repository)]
    arguments += ["--base", "main", "--head", head, "--folder", "docs", "--no-impact", "--annotations", "github"]
    assert main([*arguments, "--summary", str(summary), "--code-quality", str(quality)]) == code
    assert words in summary.read_text()
    said = capsys.readouterr().out
    assert ("::error file=docs/bad.md,line=" in said) == bool(code)
    assert [row["location"]["path"] for row in json.loads(quality.read_text())] == ["docs/bad.md"] * code


def test_a_revision_that_is_not_there_is_named(tmp_path: Path, own_repository: Path) -> None:
    app = small_app(tmp_path / "home", NoProcesses())
    with pytest.raises(NotFound, match="shallow clone"):
        app.remote.pull_requests.look(ADMIN, PullSource(own_repository, "nowhere", "good"))


@pytest.mark.slow
@pytest.mark.parametrize(("head", "code"), [("good", 0), ("broken", 1)])
@pytest.mark.parametrize("host", ["github", "gitlab"])
def test_the_commands_of_the_recipes_run_as_they_are_written(
    tmp_path: Path, own_repository: Path, host: str, head: str, code: int
) -> None:
    recipe = yaml.safe_load((ROOT / "docs" / "ci" / f"{host}.yml").read_text())
    job = recipe["jobs"]["documents"] if host == "github" else recipe["documents"]
    command = job["steps"][-1]["run"] if host == "github" else job["script"][-1]
    summary = tmp_path / "summary.md"
    places = {
        "GITHUB_WORKSPACE": str(tmp_path),
        "GITHUB_STEP_SUMMARY": str(summary),
        "CI_PROJECT_DIR": str(own_repository),
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": git(own_repository, "rev-parse", "main"),
        "CI_COMMIT_SHA": git(own_repository, "rev-parse", head),
        "BASE": "main",
        "HEAD": head,
        "FOLDER": "docs",
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "CONCORD_MODELS": str(ROOT / ".models"),
    }
    (tmp_path / "documents").symlink_to(own_repository)
    done = subprocess.run(["bash", "-ec", command], cwd=ROOT, env=places, capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    if host == "github":
        assert ("::error file=docs/bad.md" in done.stdout) == bool(code)
        assert ("found at 1" in summary.read_text()) != bool(code)
    else:
        report = json.loads((own_repository / "gl-code-quality-report.json").read_text())
        assert (report[0]["severity"] == "major") == bool(code)


# ---------------------------------------------------------------- a folder of a larger repository


def test_a_folder_of_a_larger_repository_is_the_whole_knowledge_base(tmp_path: Path, shared: Path) -> None:
    clone = tmp_path / "clone"
    outside(shared, clone, {"docs/a.md": "# A\n\nOne.\n", "src/tool.py": "x = 1\n"})
    outside(shared, clone, {"src/tool.py": "x = 2\n"})
    app = small_app(tmp_path / "home", NoProcesses())
    app.remote.remotes.add(ADMIN, str(shared), folder="docs")
    assert [document.path for document in app.knowledge.documents.all()] == ["a.md"]
    merged(app, "it/b.md", "# B\n\nTwo.\n")
    worked(app)
    assert git(shared, "show", "main:docs/it/b.md") == "# B\n\nTwo."
    assert git(shared, "show", "main:src/tool.py") == "x = 2"
    outside(shared, clone, {"docs/a.md": "# A\n\nTheirs.\n", "src/tool.py": "x = 3\n"})
    merged(app, "c.md", "# C\n\nThree.\n")
    worked(app)
    remote = app.remote.remotes.show(ADMIN)
    assert (remote.state, remote.backlog) == ("waiting", 1)
    assert [edit.path for edit in app.reviews.changes.get(remote.change).documents] == ["a.md"]
    accepted(app, remote.change)
    worked(app)
    assert app.remote.remotes.show(ADMIN).state == "up to date"
    files = git(shared, "ls-tree", "-r", "--name-only", "main").split()
    assert files == ["docs/a.md", "docs/c.md", "docs/it/b.md", "src/tool.py"]
    assert git(shared, "show", "main:src/tool.py") == "x = 3"
    git(shared, "fsck", "--full", "--strict")
    outside(shared, clone, {"src/tool.py": "x = 4\n"})
    worked(app)
    assert app.remote.remotes.show(ADMIN).state == "up to date", "what is outside of the folder has nothing to review"
    other = small_app(tmp_path / "other", NoProcesses())
    other.remote.remotes.bring_in(ADMIN, str(shared), folder="docs")
    assert other.knowledge.repository.head() == app.knowledge.repository.head(), (
        "made again from the remote alone, commit by commit"
    )


def test_a_knowledge_base_goes_into_a_folder_of_an_empty_repository(tmp_path: Path, shared: Path) -> None:
    app = with_document(tmp_path / "home")
    app.remote.remotes.add(ADMIN, str(shared), folder="team/docs")
    worked(app)
    assert git(shared, "ls-tree", "-r", "--name-only", "main") == "team/docs/a.md"
    (app.knowledge.repository.path / "concord-folder-team-docs").unlink()
    merged(app, "b.md", "# B\n\nTwo.\n")
    worked(app)
    assert git(shared, "ls-tree", "-r", "--name-only", "main").split() == ["team/docs/a.md", "team/docs/b.md"]
    app.remote.remotes.remove(ADMIN)
    assert not git(app.knowledge.repository.path, "for-each-ref", "refs/remotes")
