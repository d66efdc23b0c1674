"""The store against real git: what is written is there, what conflicts is reported, what is refused leaves no trace."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from pathlib import Path

import pytest

from core.adapters.git.refs import locked
from core.adapters.git.store import GitStore
from core.errors import BadInput, Conflict, NotFound, Unavailable
from core.types import Person

ANN, BOB = Person("Ann", "ann@example.org"), Person("Bob <script>\n", "bob@example.org")


@pytest.fixture
def store(tmp_path: Path) -> GitStore:
    store = GitStore(tmp_path / "kb.git")
    store.create()
    return store


def raw_git(store: GitStore, *arguments: str, env: dict[str, str] | None = None) -> str:
    command = ["git", f"--git-dir={store.path}", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=env).stdout


def test_a_commit_holds_what_was_written_with_author_committer_and_message(store: GitStore) -> None:
    commit = store.commit("main", {"a/one.md": b"# One\n", "two.md": "# Zwei ü\n".encode()}, ANN, "Start\n\nwhy")
    assert [entry.path for entry in store.entries(commit)] == ["a/one.md", "two.md"]
    assert store.read(commit, "two.md").decode() == "# Zwei ü\n"
    assert (
        raw_git(store, "log", "-1", "--format=%an|%ae|%cn|%B", "main").strip()
        == "Ann|ann@example.org|Concord|Start\n\nwhy"
    )
    assert store.head() == commit == store.resolve("main") == store.resolve(commit[:10])


def test_an_empty_store_has_no_head_and_no_entries(store: GitStore) -> None:
    assert (store.head(), store.entries(""), store.log(""), store.damaged()) == ("", (), (), [])


def test_reading_many_blobs_keeps_the_order(store: GitStore) -> None:
    commit = store.commit("main", {f"{n}.md": f"text {n}\n".encode() * n for n in range(1, 300)}, ANN, "many")
    entries = store.entries(commit)
    for entry, raw in zip(entries, store.read_blobs([entry.blob for entry in entries]), strict=True):
        assert raw == store.read(commit, entry.path)
        assert len(raw) == entry.size


def test_what_changed_names_added_edited_renamed_and_deleted(store: GitStore) -> None:
    long = "\n".join(f"line {n}" for n in range(40))
    first = store.commit("main", {"edit.md": b"a\n", "move.md": long.encode(), "gone.md": b"x\n"}, ANN, "one")
    second = store.commit(
        "main",
        {"edit.md": b"b\n", "move.md": None, "to/moved.md": long.encode(), "gone.md": None, "new.md": b"n\n"},
        ANN,
        "two",
    )
    changes = {(edit.kind, edit.path, edit.old_path) for edit in store.changed(first, second)}
    assert changes == {
        ("edited", "edit.md", ""),
        ("renamed", "to/moved.md", "move.md"),
        ("deleted", "gone.md", ""),
        ("added", "new.md", ""),
    }
    assert [step.path for step in store.history(second, "to/moved.md")] == ["to/moved.md", "move.md"]


def test_the_history_of_a_document_begins_where_it_was_added(store: GitStore) -> None:
    text = b"# Wires\n\n" + b"Two signatures are needed for every wire.\n" * 20
    store.commit("main", {"a.md": text}, ANN, "one")
    store.commit("main", {"b.md": text + b"And a stamp.\n"}, ANN, "a near copy")
    head = store.commit("main", {"b.md": text + b"And two stamps.\n"}, ANN, "edit")
    assert [step.message for step in store.history(head, "b.md")] == ["edit", "a near copy"]
    store.commit("main", {"a.md": None}, ANN, "delete")
    head = store.commit("main", {"a.md": b"# Something else\n"}, ANN, "again")
    assert [step.message for step in store.history(head, "a.md")] == ["again"]


def test_opening_a_store_waits_for_the_git_of_a_killed_writer(store: GitStore) -> None:
    with store.git.writing():
        opened = threading.Thread(target=GitStore(store.path).create)
        opened.start()
        opened.join(0.5)
        assert opened.is_alive(), "a start that does not wait would repair too early"
    opened.join(20)
    assert not opened.is_alive()


def test_a_writer_who_saw_an_old_state_is_refused_and_nothing_is_written(store: GitStore) -> None:
    first = store.commit("main", {"a.md": b"1\n"}, ANN, "one")
    second = store.commit("main", {"a.md": b"2\n"}, ANN, "two", expected=first)
    with pytest.raises(Conflict, match=r"moved on"):
        store.commit("main", {"a.md": b"3\n"}, BOB, "three", expected=first)
    assert store.head() == second


def test_saving_the_same_again_is_refused(store: GitStore) -> None:
    store.commit("main", {"a.md": b"1\n"}, ANN, "one")
    with pytest.raises(BadInput, match="Nothing to save"):
        store.commit("main", {"a.md": b"1\n"}, ANN, "again")


@pytest.mark.parametrize(
    "files",
    [
        {"../x.md": b""},
        {"a.md/b.md": b"x"},
        {"A.md": b"x"},
        {"x.md": b"1", "X.md": b"2"},
        {".git/x.md": b""},
        {"git~1/../x.md": b""},
    ],
    ids=str,
)
def test_paths_that_cannot_stand_are_refused_and_the_branch_stays(store: GitStore, files: dict[str, bytes]) -> None:
    head = store.commit("main", {"a.md": b"1\n"}, ANN, "one")
    with pytest.raises(BadInput):
        store.commit("main", files, ANN, "bad")
    assert store.head() == head
    assert [entry.path for entry in store.entries(head)] == ["a.md"]


def test_merging_takes_both_sides_and_keeps_two_parents(store: GitStore) -> None:
    base = store.commit("main", {"a.md": b"1\n", "b.md": b"1\n"}, ANN, "base")
    store.create_branch("change/one", base)
    head = store.commit("change/one", {"a.md": b"2\n"}, ANN, "edit a")
    onto = store.commit("main", {"b.md": b"2\n"}, BOB, "edit b")
    merged = store.merge(head, BOB, "Merge change one\n\nChange: one")
    assert (store.read(merged, "a.md"), store.read(merged, "b.md")) == (b"2\n", b"2\n")
    step, edits = store.log(merged, limit=1)[0]
    assert step.parents == (onto, head)
    assert [edit.path for edit in edits] == ["a.md"], "seen from the main line"
    assert step.author.name == "Bob script", "names cannot break a commit"


def test_a_conflict_is_reported_with_its_paths_and_changes_nothing(store: GitStore) -> None:
    base = store.commit("main", {"a.md": b"1\n", "b.md": b"1\n"}, ANN, "base")
    store.create_branch("change/one", base)
    head = store.commit("change/one", {"a.md": b"mine\n", "b.md": b"mine\n"}, ANN, "mine")
    main = store.commit("main", {"a.md": b"theirs\n"}, BOB, "theirs")
    with pytest.raises(Conflict) as caught:
        store.merge(head, ANN, "merge")
    assert caught.value.paths == ("a.md",)
    assert store.head() == main


def test_a_merge_that_brings_two_spellings_of_a_path_together_is_refused(store: GitStore) -> None:
    base = store.commit("main", {"a.md": b"1\n"}, ANN, "base")
    store.create_branch("change/one", base)
    head = store.commit("change/one", {"guides/policy.md": b"mine\n"}, ANN, "mine")
    main = store.commit("main", {"guides/Policy.md": b"theirs\n"}, BOB, "theirs")
    assert store.name_collisions(head) == (("guides/Policy.md", "guides/policy.md"),)
    with pytest.raises(BadInput, match="'guides/Policy.md' and 'guides/policy.md' differ only in case"):
        store.merge(head, ANN, "merge")
    with pytest.raises(BadInput, match="differ only in case"):
        store.update_branch("change/one", main, {}, ANN, "update", expected=head)
    assert (store.head(), store.head("change/one")) == (main, head)


def with_a_pair(store: GitStore) -> str:
    """A main line that somebody's own git gave two spellings of a path."""
    blob = raw_git(store, "rev-parse", f"{store.commit('main', {'a.md': b'1'}, ANN, 'one')}:a.md").strip()
    index = {**os.environ, "GIT_INDEX_FILE": str(store.path / "by-hand")}
    for path in ("a.md", "x.md", "X.md"):
        raw_git(store, "update-index", "--add", "--cacheinfo", f"100644,{blob},{path}", env=index)
    tree = raw_git(store, "write-tree", env=index).strip()
    commit = store.git.commit(tree, (store.head(),), BOB, "by hand")
    raw_git(store, "update-ref", "refs/heads/main", commit)
    return commit


def test_a_pair_that_is_there_already_stops_only_what_makes_it_new_collisions(store: GitStore) -> None:
    base = with_a_pair(store)
    store.create_branch("change/one", base)
    head = store.commit("change/one", {"a.md": b"2\n"}, ANN, "elsewhere")
    store.commit("main", {"x.md": b"3\n"}, ANN, "one of the pair")
    assert store.name_collisions(head) == ()
    store.merge(head, ANN, "merge")
    with pytest.raises(BadInput, match="differ only in case"):
        store.commit("main", {"A.md": b"2\n"}, ANN, "another pair")
    store.commit("main", {"X.md": None}, ANN, "fix it")
    with pytest.raises(BadInput, match="differ only in case"):
        store.commit("main", {"X.md": b"2\n"}, ANN, "the pair again")


def test_a_branch_is_created_once_and_deleted(store: GitStore) -> None:
    base = store.commit("main", {"a.md": b"1\n"}, ANN, "base")
    store.create_branch("change/one", base)
    store.create_branch("change/two", base)
    with pytest.raises(Conflict):
        store.create_branch("change/one", base)
    store.delete_branch("change/one")
    assert (store.head("change/one"), store.head("change/two")) == ("", base)


def test_what_is_not_there_is_named(store: GitStore) -> None:
    commit = store.commit("main", {"a.md": b"1\n"}, ANN, "one")
    with pytest.raises(NotFound, match="no document 'b.md'"):
        store.read(commit, "b.md")
    with pytest.raises(NotFound, match="no commit or branch"):
        store.resolve("deadbeef")


def test_what_a_killed_writer_left_is_swept(store: GitStore) -> None:
    store.commit("main", {"a.md": b"1\n"}, ANN, "one")
    pid = os.fork()
    if pid == 0:
        with store.git.writing(), locked(store.path, "refs/heads/main"), locked(store.path, "packed-refs"):
            (store.path / "index-killed").mkdir()
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(pid, 0)
    assert {path.name for path in store.path.rglob("*.lock")} == {"concord.lock", "main.lock", "packed-refs.lock"}
    store.commit("main", {"a.md": b"2\n"}, ANN, "two")
    assert {path.name for path in store.path.rglob("*.lock")} == {"concord.lock"}
    assert [path.name for path in store.path.iterdir() if path.name.startswith(("index-", "concord-own"))] == []


def test_locks_of_somebody_s_own_git_are_waited_for_and_never_removed(
    store: GitStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = store.commit("main", {"a.md": b"1\n"}, ANN, "one")
    for name in ("index.lock", "gc.pid", "config.lock", "packed-refs.lock", "objects/pack/tmp_pack_x"):
        (store.path / name).touch()
    store.create()
    store.commit("main", {"a.md": b"2\n"}, ANN, "two")  # none of those stands in its way
    with subprocess.Popen(
        ["git", f"--git-dir={store.path}", "update-ref", "--stdin"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as own:
        assert own.stdin
        assert own.stdout
        own.stdin.write(f"start\nupdate refs/heads/main {one}\nprepare\n")
        own.stdin.flush()
        assert [own.stdout.readline() for _ in range(2)] == ["start: ok\n", "prepare: ok\n"]
        monkeypatch.setattr("core.adapters.git.refs._PATIENCE", 0.2)
        with pytest.raises(Unavailable, match=r"Another git process holds .*refs/heads/main.lock"):
            store.commit("main", {"a.md": b"3\n"}, ANN, "three")
        own.stdin.write("commit\n")
        own.stdin.close()
        assert own.wait(10) == 0, "its lock was still its own"
    assert store.head() == one
    left = {"index.lock", "gc.pid", "config.lock", "packed-refs.lock", "objects/pack/tmp_pack_x"}
    assert {name for name in left if (store.path / name).exists()} == left


def test_branches_move_as_git_itself_would_move_them(store: GitStore) -> None:
    one = store.commit("main", {"a.md": b"1\n"}, ANN, "one")
    two = store.commit("main", {"a.md": b"2\n"}, ANN, "two")
    assert raw_git(store, "reflog", "show", "--format=%H", "main").split() == [two, one]
    assert raw_git(store, "rev-parse", "main@{1}").strip() == one
    store.create_branch("change/1", one)
    store.create_branch("change/2", "main")
    raw_git(store, "pack-refs", "--all")
    store.delete_branch("change/1")
    store.delete_branch("change/1")
    assert raw_git(store, "for-each-ref", "--format=%(refname) %(objectname)").splitlines() == [
        f"refs/heads/change/2 {two}",
        f"refs/heads/main {two}",
    ]
    with pytest.raises(NotFound):
        store.create_branch("change/3", "f" * 40)
    assert store.damaged() == []


def test_a_repository_that_lost_its_head_file_gets_it_back(store: GitStore) -> None:
    commit = store.commit("main", {"a.md": b"1\n"}, ANN, "one")
    (store.path / "HEAD").unlink()
    GitStore(store.path).create()
    assert store.head() == commit
    assert store.damaged() == []


def test_a_foreign_configuration_does_not_reach_git(
    store: GitStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    config = tmp_path / "gitconfig"
    config.write_text("[core]\n\tautocrlf = true\n[merge]\n\trenormalize = true\n[user]\n\tname = Mallory\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Mallory")
    monkeypatch.setenv("GIT_DIR", "/nonexistent")
    commit = store.commit("main", {"a.md": b"1\r\n"}, ANN, "one")
    assert store.read(commit, "a.md") == b"1\r\n"
    assert store.log(commit)[0][0].author.name == "Ann"


def test_objects_and_refs_are_synced_before_a_commit_is_acknowledged(
    store: GitStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert raw_git(store, "config", "core.fsync").strip() == "committed"
    synced: list[str] = []
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda fd: (synced.append(os.readlink(f"/proc/self/fd/{fd}")), real(fd))[1])
    store.commit("main", {"a.md": b"1\n"}, ANN, "one")
    assert str(store.path / "refs/heads") in synced
    assert str(store.path / "refs") in synced


def test_many_threads_write_and_every_commit_is_in_the_history_once(store: GitStore) -> None:
    store.commit("main", {"start.md": b"0\n"}, ANN, "start")
    made: list[str] = []

    def write(worker: int) -> None:
        for n in range(5):
            made.append(store.commit("main", {f"w{worker}/{n}.md": f"{worker} {n}\n".encode()}, ANN, f"{worker} {n}"))

    threads = [threading.Thread(target=write, args=(worker,)) for worker in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    history = [step.id for step, _ in store.log(store.head())]
    assert len(made) == 40
    assert sorted(made) == sorted(set(made))
    assert set(made) < set(history)
    assert len(store.entries(store.head())) == 41
    assert store.damaged() == []


def test_packed_refs_are_found_too(store: GitStore) -> None:
    commit = store.commit("main", {"a.md": b"1\n"}, ANN, "one")
    raw_git(store, "pack-refs", "--all")
    assert not (store.path / "refs/heads/main").exists()
    assert store.head() == commit
    assert store.commit("main", {"a.md": b"2\n"}, ANN, "two", expected=commit) == store.head()
