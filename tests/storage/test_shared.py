"""Nodes that share one git repository: a write counts once it is there, every node sees it, and a node that dies loses
nothing.
"""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from core.bootstrap import App
from core.entrypoints.cli import main
from core.errors import Conflict, Corrupt, Moved, Refused, Unavailable
from core.services.platform.node import GRACE, Background, Loop, RepositorySync
from tests.conftest import demo, put, small_app, until
from tests.support.git_server import daemon, http_host
from tests.support.nodes import AUTHOR, REVIEWER, merged, node, proposed
from tests.support.postgres import Server
from tests.support.remotes import bare, git, outside

ADMIN = demo("admin")


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    return bare(tmp_path / "shared.git")


@pytest.fixture
def nodes(tmp_path: Path, shared: Path) -> tuple[App, App]:
    """Two nodes of a knowledge base with one document."""
    one = node(tmp_path, "one", shared)
    put(one, {"a.md": "# A\n\nOne.\n"})
    return one, node(tmp_path, "two", shared)


def test_what_one_node_merges_is_on_the_shared_repository_and_on_the_other_node(
    nodes: tuple[App, App], shared: Path
) -> None:
    one, two = nodes
    number = proposed(one, "b.md", "# B\n\nTwo.\n")
    assert two.reviews.changes.get(number).documents[0].path == "b.md", "a branch that is not here is fetched at once"
    commit = two.reviews.merger.merge(AUTHOR, number).merged
    assert git(shared, "rev-parse", "main") == commit == two.knowledge.repository.head()
    assert one.reviews.changes.get(number).state == "merged", "and so is a commit that the database names"
    one.knowledge.repository.follow()
    assert one.knowledge.repository.head() == commit
    left = git(shared, "for-each-ref", "--format=%(refname)", "refs/heads/change")
    assert (left, one.knowledge.repository.branches("change/")) == ("", []), (
        "the branch of a merged change is gone everywhere"
    )


def test_a_node_never_judges_or_merges_an_older_text_than_the_newest(nodes: tuple[App, App]) -> None:
    one, two = nodes
    number = proposed(one, "b.md", "# B\n\nTwo.\n")
    two.knowledge.repository.follow()
    one.reviews.changes.edit(AUTHOR, number, {"b.md": b"# B\n\nThree.\n"})
    with pytest.raises(Refused, match="It needs approval first"):
        two.reviews.merger.merge(AUTHOR, number)
    two.reviews.discussion.approve(REVIEWER, number)
    assert two.reviews.merger.merge(AUTHOR, number).state == "merged"
    assert two.knowledge.repository.read(two.knowledge.repository.head(), "b.md") == b"# B\n\nThree.\n"


def test_a_refused_push_moves_nothing_and_the_merge_looks_again(
    nodes: tuple[App, App], shared: Path, tmp_path: Path
) -> None:
    one, two = nodes
    number, push = proposed(two, "b.md", "# B\n\nTwo.\n"), two.knowledge.repository.git.publish
    theirs = []

    def slower(moves: dict[str, tuple[str, str]]) -> None:
        if not theirs:
            theirs.append(outside(shared, tmp_path / "clone", {"c.md": "# C\n\nThree.\n"}))
        push(moves)

    two.knowledge.repository.git.publish = slower
    commit = two.reviews.merger.merge(AUTHOR, number).merged
    assert two.knowledge.repository.contains(commit, theirs[0])
    assert git(shared, "rev-parse", "main") == commit
    assert theirs[0] in {entry.commit_id for entry in two.people.audit.entries(ADMIN)}, (
        "what came between is in the audit"
    )
    with pytest.raises(Moved):
        push({"refs/heads/main": (one.knowledge.repository.head(), theirs[0])})
    assert git(shared, "rev-parse", "main") == commit


def test_a_push_whose_answer_was_lost_counts_if_it_arrived(nodes: tuple[App, App], shared: Path) -> None:
    one, _ = nodes
    transport = one.knowledge.repository.clone.shared.transport
    run = transport.run

    def cut(url: str, *arguments: str, **given: object) -> tuple[int, str, str]:
        done = run(url, *arguments, **given)
        if arguments[0] == "push":
            raise Unavailable("The connection was cut.")
        return done

    transport.run = cut
    commit = merged(one, "b.md", "# B\n\nTwo.\n")
    assert git(shared, "rev-parse", "main") == commit == one.knowledge.repository.head()


def test_without_the_shared_repository_reading_goes_on_and_nothing_is_written(
    nodes: tuple[App, App], shared: Path, tmp_path: Path
) -> None:
    one, two = nodes
    number = proposed(one, "b.md", "# B\n\nTwo.\n")
    two.knowledge.repository.follow()
    before = {store.head() for store in (one.knowledge.repository, two.knowledge.repository)}
    shared.rename(shared.with_name("gone.git"))
    with pytest.raises(Unavailable, match="The shared repository"):
        two.reviews.merger.merge(AUTHOR, number)
    assert two.reviews.changes.get(number).state == "approved"
    again = node(tmp_path, "two", shared)
    assert [document.path for document in again.knowledge.documents.all()] == ["a.md"], "a node that starts reads, too"
    with pytest.raises(Unavailable):
        node(tmp_path, "three", shared)
    shared.with_name("gone.git").rename(shared)
    assert {store.head() for store in (one.knowledge.repository, two.knowledge.repository)} == before
    assert two.reviews.merger.merge(AUTHOR, number).state == "merged"


def test_a_worker_only_follows_and_loops_begin_again_after_they_ended() -> None:
    done: list[str] = []
    follows, serves = (
        Loop(partial(done.append, name), 0.001, "", partial(done.append, f"{name} ended")) for name in "fs"
    )
    background = Background([follows], [serves])
    for _ in range(2):
        done.clear()
        background.start(serves=False)
        until(lambda: done)
        background.end()
        assert (set(done), done[-1]) == ({"f", "f ended"}, "f ended")


def test_a_loop_goes_on_after_what_fails_says_a_refusal_once_and_ends(caplog: pytest.LogCaptureFixture) -> None:
    rounds: list[int] = []

    def step() -> None:
        rounds.append(len(rounds))
        if len(rounds) == 5:
            loop.ending.set()
        if len(rounds) < 3:
            raise Unavailable("The store is away.")
        if len(rounds) == 3:
            raise ValueError

    loop = Loop(step, 0.0, "It was not followed.", ended=lambda: rounds.append(-1))
    loop.run()
    assert rounds == [0, 1, 2, 3, 4, -1]
    assert [record.getMessage() for record in caplog.records] == [
        "It was not followed. The store is away.",
        "It was not followed.",
    ]


def test_a_merge_of_a_node_that_died_before_it_was_recorded_is_recorded_by_another(nodes: tuple[App, App]) -> None:
    one, two = nodes
    number, recorded = proposed(one, "b.md", "# B\n\nTwo.\n"), one.reviews.merger._record

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    one.reviews.merger._record = die
    with pytest.raises(KeyboardInterrupt):
        one.reviews.merger.merge(AUTHOR, number)
    one.reviews.merger._record = recorded
    seconds = [0.0]
    follower = RepositorySync(
        two.knowledge.repository, two.reviews.changes.database, two.reviews.merger.repair, lambda: seconds[0]
    )
    follower.look()
    assert two.reviews.changes.get(number).state == "approved", "whoever pushed may be about to record it"
    seconds[0] = GRACE
    follower.look()
    change = two.reviews.changes.get(number)
    assert (change.state, change.merged) == ("merged", two.knowledge.repository.head())
    two.platform.workspace.catch_up()
    assert two.knowledge.repository.branches("change/") == [], "its branch is swept at the next start"


def test_a_node_without_its_clone_or_with_a_damaged_one_makes_one(
    nodes: tuple[App, App], shared: Path, tmp_path: Path
) -> None:
    one, two = nodes
    number = proposed(one, "b.md", "# B\n\nTwo.\n")
    home = two.settings.home
    shutil.rmtree(home / "kb.git")
    assert node(tmp_path, "two", shared).knowledge.repository.head() == one.knowledge.repository.head()
    (home / "kb.git" / "refs/heads/main").write_text("rubbish\n")
    with pytest.raises(Corrupt):
        two.knowledge.repository.head()
    again = node(tmp_path, "two", shared)
    assert again.knowledge.repository.head(f"change/{number}") == one.knowledge.repository.head(f"change/{number}")
    assert (home / "kb.git.damaged").is_dir(), "the damaged one is put aside"
    assert again.knowledge.repository.damaged(again.knowledge.repository.head()) == []
    for lost in again.knowledge.repository.path.glob("objects/pack/*.pack"):
        lost.unlink()
    (named, *_) = again.knowledge.repository.damaged(again.knowledge.repository.head())
    assert "rm -rf" in str(named.cure)
    assert "python -m core init" in str(named.cure)


def test_a_shared_repository_that_lost_the_main_line_is_named_and_no_clone_follows_it(
    nodes: tuple[App, App], shared: Path, tmp_path: Path
) -> None:
    one, two = nodes
    first = one.knowledge.repository.head()
    newest = merged(one, "b.md", "# B\n\nTwo.\n")
    assert two.knowledge.repository.lost(newest) == [], "what was merged a moment ago is not lost"
    git(shared, "update-ref", "refs/heads/main", first)
    with pytest.raises(Corrupt, match="lacks commits of the main line"):
        one.knowledge.repository.follow()
    with pytest.raises(Corrupt, match=f"lacks the commit {newest[:12]}"):
        node(tmp_path, "three", shared)
    assert one.knowledge.repository.head() == newest
    git(one.knowledge.repository.path, "push", "--quiet", str(shared), "refs/heads/main")
    assert node(tmp_path, "three", shared).knowledge.repository.head() == newest
    assert two.reviews.changes.get(1).state == "merged"


def test_a_clone_and_a_database_of_other_workspaces_are_refused(
    nodes: tuple[App, App], shared: Path, tmp_path: Path
) -> None:
    other = bare(tmp_path / "other.git")
    put(node(tmp_path / "elsewhere", "one", other), {"x.md": "# X\n\nX.\n"})
    with pytest.raises(Corrupt, match="belongs to another workspace"):
        node(tmp_path, "two", other)
    with pytest.raises(Corrupt, match="Check CONCORD_REPOSITORY and CONCORD_DATABASE"):
        node(tmp_path, "three", other)


def test_an_existing_workspace_moves_to_a_shared_repository_with_one_command(
    tmp_path: Path, shared: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "home"
    alone = small_app(home)
    commit = put(alone, {"a.md": "# A\n\nOne.\n"})
    number = proposed(alone, "b.md", "# B\n\nTwo.\n")
    monkeypatch.setenv("CONCORD_REPOSITORY", str(shared))
    assert main(["--home", str(home), "documents", "list"]) == 1
    assert "init --share" in capsys.readouterr().err
    for _ in range(2):
        assert main(["--home", str(home), "init", "--share"]) == 0, "a second time changes nothing"
    assert git(shared, "rev-parse", "main") == commit
    assert git(shared, "rev-parse", f"change/{number}") == alone.knowledge.repository.head(f"change/{number}")
    monkeypatch.setenv("CONCORD_REPOSITORY", str(bare(tmp_path / "other.git")))
    outside(tmp_path / "other.git", tmp_path / "clone", {"c.md": "# C\n"})
    assert main(["--home", str(home), "init", "--share"]) == 1
    assert "is not empty" in capsys.readouterr().err


def test_a_picture_that_waits_in_a_draft_is_on_every_node(nodes: tuple[App, App]) -> None:
    one, two = nodes
    blob = one.knowledge.repository.stage(b"a picture")
    assert two.knowledge.repository.blob(blob) == b"a picture"
    assert two.knowledge.repository.blob("0" * 40) is None


def test_settings_of_the_team_are_those_of_every_node(nodes: tuple[App, App]) -> None:
    one, two = nodes
    one.platform.settings.decline("abc", "Too slow", ADMIN.person)
    two.platform.settings.decline("def", "Too fast", ADMIN.person)
    one.knowledge.repository.follow()
    assert one.platform.settings.declined() == two.platform.settings.declined() == "def"


def test_two_nodes_write_one_branch_and_one_of_them_is_told(nodes: tuple[App, App]) -> None:
    one, two = nodes
    number = one.reviews.changes.propose(AUTHOR, "B", {"b.md": b"# B\n\nTwo.\n"}).id
    seen = one.reviews.changes.get(number).head
    two.reviews.changes.edit(AUTHOR, number, {"b.md": b"# B\n\nThree.\n"}, expected=seen)
    with pytest.raises(Conflict, match="moved on"):
        one.reviews.changes.edit(AUTHOR, number, {"b.md": b"# B\n\nFour.\n"}, expected=seen)


def test_nodes_on_postgresql_merge_at_once_and_each_merge_is_there_once(
    tmp_path: Path, shared: Path, postgres: Server
) -> None:
    database = postgres.database("nodes")
    nodes = [node(tmp_path, name, shared, database) for name in ("one", "two")]
    put(nodes[0], {"a.md": "# A\n\nOne.\n"})
    with ThreadPoolExecutor(4) as people:
        work = [people.submit(merged, nodes[n % 2], f"{n}.md", f"# {n}\n\nText.\n") for n in range(4)]
        commits = {done.result() for done in work}
    for each in nodes:
        each.knowledge.repository.follow()
        assert commits < each.knowledge.repository.ancestors(each.knowledge.repository.head())
        assert list(each.people.audit.problems()) == []
    assert len(commits) == 4


@pytest.mark.parametrize("host", [http_host, daemon])
def test_nodes_share_by_smart_http_and_by_git_daemon(tmp_path: Path, shared: Path, host: object) -> None:
    git(shared, "config", "http.receivepack", "true")
    with host(tmp_path) as address:  # type: ignore[operator]
        one, two = (node(tmp_path, name, f"{address}/shared.git") for name in ("one", "two"))
        put(one, {"a.md": "# A\n\nOne.\n"})
        commit = merged(two, "b.md", "# B\n\nTwo.\n")
        one.knowledge.repository.follow()
        assert one.knowledge.repository.head() == commit == git(shared, "rev-parse", "main")
