"""The repository against real git: what is written is there, what conflicts is reported, what is refused leaves no
trace.
"""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import threading
import zlib
from contextlib import suppress
from pathlib import Path
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import BadInput, ConcordError, Conflict, NotFound, StorageFailed, Unavailable
from core.lru import LruCache
from core.storage.git import plumbing, refs
from core.storage.git.refs import locked
from core.storage.git.repository import Repository, _plain_config
from core.types import Person
from tests.conftest import NoProcesses, examples, put, small_app

ANN, BOB = Person("Ann", "ann@example.org"), Person("Bob <script>\n", "bob@example.org")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    repository = Repository(tmp_path / "kb.git")
    repository.create()
    return repository


def raw_git(repository: Repository, *arguments: str, env: dict[str, str] | None = None) -> str:
    command = ["git", f"--git-dir={repository.path}", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=env).stdout


def test_a_commit_holds_what_was_written_with_author_committer_and_message(repository: Repository) -> None:
    commit = repository.commit("main", {"a/one.md": b"# One\n", "two.md": "# Zwei ü\n".encode()}, ANN, "Start\n\nwhy")
    assert [entry.path for entry in repository.entries(commit)] == ["a/one.md", "two.md"]
    assert repository.read(commit, "two.md").decode() == "# Zwei ü\n"
    assert (
        raw_git(repository, "log", "-1", "--format=%an|%ae|%cn|%B", "main").strip()
        == "Ann|ann@example.org|Concord|Start\n\nwhy"
    )
    assert repository.head() == commit == repository.resolve("main") == repository.resolve(commit[:10])


def test_an_empty_store_has_no_head_and_no_entries(repository: Repository) -> None:
    assert (repository.head(), repository.entries(""), repository.log(""), repository.damaged()) == ("", (), (), [])


def test_reading_many_blobs_keeps_the_order(repository: Repository) -> None:
    commit = repository.commit("main", {f"{n}.md": f"text {n}\n".encode() * n for n in range(1, 300)}, ANN, "many")
    entries = repository.entries(commit)
    for entry, raw in zip(entries, repository.read_blobs([entry.blob for entry in entries]), strict=True):
        assert raw == repository.read(commit, entry.path)
        assert len(raw) == entry.size


def test_what_is_loose_is_read_as_git_reads_it_and_what_is_damaged_is_left_to_git(repository: Repository) -> None:
    files = {"a.md": b"# A\n", "it/über/b.md": b"", "it/c.md": b"\0\xff" * 5000, "it.md": b"x"}
    head = repository.commit("main", files, ANN, "add")
    tree, blob = repository.git.tree_of(head), repository.blobs(head)["a.md"]
    lists = [("ls-tree", "-r", "-z", *long, name) for long in ((), ("--long",)) for name in (head, tree)]
    texts = [("cat-file", "blob", name) for name in (blob, *(f"{at}:{path}" for at in (head, tree) for path in files))]
    for command in (*lists, *texts):
        assert refs.loose_answer(repository.path, command) == repository.git._execute(command, b"", {}, True)[:2]
    assert tree == repository.git.ask("rev-parse", f"{head}^{{tree}}").decode().strip()
    for path in ("b.md", "it/b.md", "./a.md", "it/über/b.md/", "nowhere/b.md"):
        command = ("cat-file", "blob", f"{head}:{path}")
        assert refs.loose_answer(repository.path, command) in (
            None,
            repository.git._execute(command, b"", {}, True)[:2],
        )
    for name in (f"{head}:it", f"{head}:a.md/b.md", "0" * 40, tree, "main:a.md"):
        assert refs.loose_answer(repository.path, ("cat-file", "blob", name)) is None
    file = repository.path / "objects" / blob[:2] / blob[2:]
    whole = file.read_bytes()
    file.chmod(0o644)
    for damaged in (b"", whole[:-1], whole + b"x", whole[:-1] + b"x", zlib.compress(b"blob 9\0# A\n")):
        file.write_bytes(damaged)
        assert refs.loose_answer(repository.path, ("cat-file", "blob", blob)) is None
        assert refs.loose_answer(repository.path, lists[-1]) is None


def test_loose_trees_are_compared_as_git_compares_them_and_what_may_have_moved_by_git(repository: Repository) -> None:
    one, two = repository.git.write_blobs([b"1", b"2"])
    paths = st.sampled_from(["a.md", "b.md", "it.md", "it/a.md", "it/b/c.md", "it-2.md", "It/d.md"])
    files = st.dictionaries(paths, st.sampled_from([one, two]))

    @given(before=files, after=files)
    @examples(60)
    def law(before: dict[str, str], after: dict[str, str]) -> None:
        old, new = (repository.git.tree("", {"z.md": one, **blobs}) for blobs in (before, after))
        command = ("diff-tree", *refs.COMPARED, old, new)
        both = before.keys() - after.keys() and after.keys() - before.keys()
        asked = None if both else repository.git._execute(command, b"", {}, True)[:2]
        assert refs.loose_answer(repository.path, command) == asked

    law()


def test_a_few_loose_commits_are_read_without_a_process_as_git_reads_them(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = repository.commit("main", {"a.md": b"# A\n", "b.md": b"# B\n"}, ANN, "start")
    repository.commit(
        "change/1", {"a.md": b"# AA\n"}, ANN, "Title\n\nCo-authored-by: Bob <b@example.org>\n", start=first
    )
    head = repository.commit("change/1", {"c/d.md": b"# D\n"}, Person("Zoë Ümit", "z@example.org"), " ü\n\n")
    other = repository.commit("change/2", {"b.md": None}, ANN, "drop", start=first)
    main = repository.merge(other, ANN, "merge")

    def said(reader: Repository) -> list[object]:
        lines = reader.log(main), reader.log(main, limit=1), reader.log(main, first)
        ways = reader.departures(first, [head]), reader.written(head, first), reader.compared({head: first, first: ""})
        return [*lines, *ways, reader.conflicts(first, [head]), reader.git.merge_tree(first, head), reader.since({})]

    with monkeypatch.context() as patch:
        patch.setattr(repository.git, "_execute", Mock(side_effect=AssertionError))
        loose = said(repository)
    repository.git.ask("repack", "-adq")
    packed = Repository(repository.path)
    monkeypatch.setattr(packed.git, "keep", Mock())  # else the merge base says that there is nothing to merge
    assert loose == said(packed)


def test_a_configuration_is_read_as_git_reads_it(repository: Repository) -> None:
    file = repository.path / "config"
    asked = ("config", "--file", str(file), "--list", "-z")
    for text in (file.read_text(), "[core]\n\tBare = true\n[Concord]\n\tworkspace = a.b-c\n[core]\n\tbare = false\n"):
        file.write_text(text)
        said = repository.git.ask(*asked, bare=False).decode()
        assert _plain_config(file) == dict(line.partition("\n")[::2] for line in said.split("\0") if line)
    for text in (
        '[a "b"]\n\tc = d\n',
        "[a]\n\tb = c d\n",
        "[a]\n\tb\n",
        '[a]\n\tb = "c"\n',
        "[a]\n\tb = c # d\n",
        "b = c\n",
    ):
        file.write_text(text)
        assert _plain_config(file) is None


def test_what_git_said_of_a_full_id_is_not_asked_again(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    first = repository.commit("main", {"a.md": b"# A\n"}, ANN, "add")
    repository.git.ask("repack", "-adq")  # what is loose needs no process
    asked: list[tuple[str, ...]] = []
    execute = repository.git._execute
    monkeypatch.setattr(
        repository.git, "_execute", lambda command, *rest: asked.append(command) or execute(command, *rest)
    )
    for _ in range(3):
        assert repository.read(first, "a.md") == repository.read("main", "a.md") == b"# A\n"
        assert [entry.path for entry in repository.entries(first)] == ["a.md"]
    assert [command[0] for command in asked] == ["cat-file", "cat-file", "ls-tree", "cat-file", "cat-file"]
    repository.commit("main", {"a.md": b"# B\n"}, ANN, "edit")
    assert (repository.read(first, "a.md"), repository.read("main", "a.md")) == (b"# A\n", b"# B\n")


def test_answers_are_kept_up_to_a_weight_and_large_ones_not_at_all(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    known: LruCache[str, bytes] = LruCache(1600, len)
    for n in range(40):
        known[str(n)] = b"x" * 100
    assert [n for n in range(40) if known.get(str(n))] == list(range(24, 40))
    monkeypatch.setattr(plumbing, "_KEPT", 16 * 5)
    head = repository.commit("main", {"a.md": b"12345", "b.md": b"123456"}, ANN, "two files")
    asked = [repository.git.run("cat-file", "blob", f"{head}:{name}") for name in ("a.md", "b.md")]
    assert [out for _, out in asked] == [b"12345", b"123456"]
    kept = [("cat-file", "blob", f"{head}:{name}") in repository.git._known for name in ("a.md", "b.md")]
    assert kept == [True, False]


def test_what_changed_names_added_edited_renamed_and_deleted(repository: Repository) -> None:
    long = "\n".join(f"line {n}" for n in range(40))
    first = repository.commit("main", {"edit.md": b"a\n", "move.md": long.encode(), "gone.md": b"x\n"}, ANN, "one")
    second = repository.commit(
        "main",
        {"edit.md": b"b\n", "move.md": None, "to/moved.md": long.encode(), "gone.md": None, "new.md": b"n\n"},
        ANN,
        "two",
    )
    changes = {(edit.kind, edit.path, edit.old_path) for edit in repository.changed(first, second)}
    assert changes == {
        ("edited", "edit.md", ""),
        ("renamed", "to/moved.md", "move.md"),
        ("deleted", "gone.md", ""),
        ("added", "new.md", ""),
    }
    assert [step.path for step in repository.history(second, "to/moved.md")] == ["to/moved.md", "move.md"]


def test_the_history_of_a_document_begins_where_it_was_added(repository: Repository) -> None:
    text = b"# Wires\n\n" + b"Two signatures are needed for every wire.\n" * 20
    repository.commit("main", {"a.md": text}, ANN, "one")
    repository.commit("main", {"b.md": text + b"And a stamp.\n"}, ANN, "a near copy")
    head = repository.commit("main", {"b.md": text + b"And two stamps.\n"}, ANN, "edit")
    assert [step.message for step in repository.history(head, "b.md")] == ["edit", "a near copy"]
    repository.commit("main", {"a.md": None}, ANN, "delete")
    head = repository.commit("main", {"a.md": b"# Something else\n"}, ANN, "again")
    assert [step.message for step in repository.history(head, "a.md")] == ["again"]


def test_opening_a_store_waits_for_the_git_of_a_killed_writer(repository: Repository) -> None:
    with repository.git.writing():
        opened = threading.Thread(target=Repository(repository.path).create)
        opened.start()
        opened.join(0.5)
        assert opened.is_alive(), "a start that does not wait would repair too early"
    opened.join(600)
    assert not opened.is_alive()


def test_a_writer_who_saw_an_old_state_is_refused_and_nothing_is_written(repository: Repository) -> None:
    first = repository.commit("main", {"a.md": b"1\n"}, ANN, "one")
    second = repository.commit("main", {"a.md": b"2\n"}, ANN, "two", expected=first)
    with pytest.raises(Conflict, match=r"moved on"):
        repository.commit("main", {"a.md": b"3\n"}, BOB, "three", expected=first)
    assert repository.head() == second


def test_saving_the_same_again_is_refused(repository: Repository) -> None:
    repository.commit("main", {"a.md": b"1\n"}, ANN, "one")
    with pytest.raises(BadInput, match="Nothing to save"):
        repository.commit("main", {"a.md": b"1\n"}, ANN, "again")


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
def test_paths_that_cannot_stand_are_refused_and_the_branch_stays(
    repository: Repository, files: dict[str, bytes]
) -> None:
    head = repository.commit("main", {"a.md": b"1\n"}, ANN, "one")
    with pytest.raises(BadInput):
        repository.commit("main", files, ANN, "bad")
    assert repository.head() == head
    assert [entry.path for entry in repository.entries(head)] == ["a.md"]


PLACES = ("a.md", "a/b.md", "a/c/d.md", "a-b.md", "a0/x.md", "über/straße.md", "z z/(1) & 2.md", "_.md")
EDITS = st.lists(
    st.dictionaries(st.sampled_from(PLACES), st.sampled_from([None, b"", b"1\n", b"2\r\n", "ü".encode()]), min_size=1),
    min_size=1,
    max_size=4,
)


@examples(24)
@given(EDITS, st.sampled_from([" Ann. ", "O'Neil <x>", "...", "Zoë\tB\n", ""]), st.text(max_size=20))
def test_what_is_written_without_a_process_is_what_git_writes(
    tmp_path_factory: pytest.TempPathFactory, steps: list[dict[str, bytes | None]], name: str, message: str
) -> None:
    """Trees and commits have the same ids, whatever is written, emptied and removed, in folders and at the top."""
    ours, gits = (Repository(tmp_path_factory.mktemp("law") / kind) for kind in ("ours", "gits"))
    made = []
    for store in (ours, gits):
        store.create()
        store.git.stamp = lambda: "2026-11-15T12:00:00+02:00"
        with pytest.MonkeyPatch.context() as patch:
            if store is gits:
                patch.setattr(refs, "edited_tree", Mock(side_effect=refs.NotLoose))
                patch.setattr(plumbing, "_commit", lambda *_: b"")
                patch.setattr(plumbing, "_LOOSE", 0)
            ids = []
            for files in steps:
                with suppress(ConcordError):
                    ids.append(store.commit("main", files, Person(name, f"{name}@x.org"), message))
            made.append(ids)
    assert made[0] == made[1]
    assert raw_git(ours, "fsck", "--strict", "--no-dangling") == ""


def test_an_object_that_does_not_fit_on_the_disk_leaves_nothing(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = repository.commit("main", {"a.md": b"1\n"}, ANN, "one")
    before = sorted(repository.path.glob("objects/*/*"))
    monkeypatch.setattr(os, "fsync", Mock(side_effect=OSError(errno.ENOSPC, "No space left on device")))
    with pytest.raises(StorageFailed, match="The disk is full"):
        repository.commit("main", {"a.md": b"2\n"}, ANN, "two")
    monkeypatch.undo()
    assert sorted(repository.path.glob("objects/*/*")) == before
    assert repository.head() == head


def test_a_damaged_object_is_written_anew(repository: Repository) -> None:
    repository.commit("main", {"a.md": b"1\n"}, ANN, "one")
    blob = refs.write_object(repository.path, b"blob", b"1\n")
    file = repository.path / "objects" / blob[:2] / blob[2:]
    file.chmod(0o644)
    file.write_bytes(b"rotten")
    repository.commit("main", {"b.md": b"1\n"}, ANN, "again")
    assert repository.damaged() == []


def test_merging_takes_both_sides_and_keeps_two_parents(repository: Repository) -> None:
    base = repository.commit("main", {"a.md": b"1\n", "b.md": b"1\n"}, ANN, "base")
    repository.create_branch("change/one", base)
    head = repository.commit("change/one", {"a.md": b"2\n"}, ANN, "edit a")
    onto = repository.commit("main", {"b.md": b"2\n"}, BOB, "edit b")
    merged = repository.merge(head, BOB, "Merge change one\n\nChange: one")
    assert (repository.read(merged, "a.md"), repository.read(merged, "b.md")) == (b"2\n", b"2\n")
    step, edits = repository.log(merged, limit=1)[0]
    assert step.parents == (onto, head)
    assert [edit.path for edit in edits] == ["a.md"], "seen from the main line"
    assert step.author.name == "Bob script", "names cannot break a commit"


def test_a_conflict_is_reported_with_its_paths_and_changes_nothing(repository: Repository) -> None:
    base = repository.commit("main", {"a.md": b"1\n", "b.md": b"1\n"}, ANN, "base")
    repository.create_branch("change/one", base)
    head = repository.commit("change/one", {"a.md": b"mine\n", "b.md": b"mine\n"}, ANN, "mine")
    main = repository.commit("main", {"a.md": b"theirs\n"}, BOB, "theirs")
    with pytest.raises(Conflict) as caught:
        repository.merge(head, ANN, "merge")
    assert caught.value.paths == ("a.md",)
    assert repository.head() == main


def test_a_merge_that_brings_two_spellings_of_a_path_together_is_refused(repository: Repository) -> None:
    base = repository.commit("main", {"a.md": b"1\n"}, ANN, "base")
    repository.create_branch("change/one", base)
    head = repository.commit("change/one", {"guides/policy.md": b"mine\n"}, ANN, "mine")
    main = repository.commit("main", {"guides/Policy.md": b"theirs\n"}, BOB, "theirs")
    edits = repository.changed(base, head)
    assert repository.name_collisions(main, edits) == (("guides/Policy.md", "guides/policy.md"),)
    with pytest.raises(BadInput, match="'guides/Policy.md' and 'guides/policy.md' differ only in case"):
        repository.merge(head, ANN, "merge")
    with pytest.raises(BadInput, match="differ only in case"):
        repository.update_branch("change/one", main, {}, ANN, "update", expected=head)
    assert (repository.head(), repository.head("change/one")) == (main, head)


def with_a_pair(repository: Repository) -> str:
    """A main line that somebody's own git gave two spellings of a path."""
    blob = raw_git(repository, "rev-parse", f"{repository.commit('main', {'a.md': b'1'}, ANN, 'one')}:a.md").strip()
    index = {**os.environ, "GIT_INDEX_FILE": str(repository.path / "by-hand")}
    for path in ("a.md", "x.md", "X.md"):
        raw_git(repository, "update-index", "--add", "--cacheinfo", f"100644,{blob},{path}", env=index)
    tree = raw_git(repository, "write-tree", env=index).strip()
    commit = repository.git.commit(tree, (repository.head(),), BOB, "by hand")
    raw_git(repository, "update-ref", "refs/heads/main", commit)
    return commit


def test_a_pair_that_is_there_already_stops_only_what_makes_it_new_collisions(repository: Repository) -> None:
    base = with_a_pair(repository)
    repository.create_branch("change/one", base)
    head = repository.commit("change/one", {"a.md": b"2\n"}, ANN, "elsewhere")
    main = repository.commit("main", {"x.md": b"3\n"}, ANN, "one of the pair")
    assert repository.name_collisions(main, repository.changed(base, head)) == ()
    repository.merge(head, ANN, "merge")
    with pytest.raises(BadInput, match="differ only in case"):
        repository.commit("main", {"A.md": b"2\n"}, ANN, "another pair")
    repository.commit("main", {"X.md": None}, ANN, "fix it")
    with pytest.raises(BadInput, match="differ only in case"):
        repository.commit("main", {"X.md": b"2\n"}, ANN, "the pair again")


def test_a_branch_is_created_once_and_deleted(repository: Repository) -> None:
    base = repository.commit("main", {"a.md": b"1\n"}, ANN, "base")
    repository.create_branch("change/one", base)
    repository.create_branch("change/two", base)
    with pytest.raises(Conflict):
        repository.create_branch("change/one", base)
    repository.delete_branch("change/one")
    assert (repository.head("change/one"), repository.head("change/two")) == ("", base)


def test_what_is_not_there_is_named(repository: Repository) -> None:
    commit = repository.commit("main", {"a.md": b"1\n"}, ANN, "one")
    with pytest.raises(NotFound, match="no document 'b.md'"):
        repository.read(commit, "b.md")
    with pytest.raises(NotFound, match="no commit or branch"):
        repository.resolve("deadbeef")


def test_a_commit_by_its_full_id_is_looked_for_once(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    commit = repository.commit("main", {"a.md": b"1\n"}, ANN, "one")
    with pytest.raises(NotFound, match="no commit or branch"):
        repository.resolve("0" * 40)
    assert repository.resolve(commit) == commit
    monkeypatch.setattr(plumbing.Plumbing, "_execute", lambda *_: pytest.fail("No process is needed."))
    assert repository.resolve(commit) == commit


def test_what_a_killed_writer_left_is_swept(repository: Repository) -> None:
    repository.commit("main", {"a.md": b"1\n"}, ANN, "one")
    pid = os.fork()
    if pid == 0:
        with (
            repository.git.writing(),
            locked(repository.path, "refs/heads/main"),
            locked(repository.path, "packed-refs"),
        ):
            (repository.path / "index-killed").mkdir()
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(pid, 0)
    assert {path.name for path in repository.path.rglob("*.lock")} == {"concord.lock", "main.lock", "packed-refs.lock"}
    repository.commit("main", {"a.md": b"2\n"}, ANN, "two")
    assert {path.name for path in repository.path.rglob("*.lock")} == {"concord.lock"}
    assert [path.name for path in repository.path.iterdir() if path.name.startswith(("index-", "concord-own"))] == []


def test_locks_of_somebody_s_own_git_are_waited_for_and_never_removed(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = repository.commit("main", {"a.md": b"1\n"}, ANN, "one")
    for name in ("index.lock", "gc.pid", "config.lock", "packed-refs.lock", "objects/pack/tmp_pack_x"):
        (repository.path / name).touch()
    repository.create()
    repository.commit("main", {"a.md": b"2\n"}, ANN, "two")  # none of those stands in its way
    with subprocess.Popen(
        ["git", f"--git-dir={repository.path}", "update-ref", "--stdin"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as own:
        assert own.stdin
        assert own.stdout
        own.stdin.write(f"start\nupdate refs/heads/main {one}\nprepare\n")
        own.stdin.flush()
        assert [own.stdout.readline() for _ in range(2)] == ["start: ok\n", "prepare: ok\n"]
        monkeypatch.setattr("core.storage.git.refs._PATIENCE", 0.2)
        with pytest.raises(Unavailable, match=r"Another git process holds .*refs/heads/main.lock"):
            repository.commit("main", {"a.md": b"3\n"}, ANN, "three")
        own.stdin.write("commit\n")
        own.stdin.close()
        assert own.wait(60) == 0, "its lock was still its own"
    assert repository.head() == one
    left = {"index.lock", "gc.pid", "config.lock", "packed-refs.lock", "objects/pack/tmp_pack_x"}
    assert {name for name in left if (repository.path / name).exists()} == left


def test_branches_move_as_git_itself_would_move_them(repository: Repository) -> None:
    one = repository.commit("main", {"a.md": b"1\n"}, ANN, "one")
    two = repository.commit("main", {"a.md": b"2\n"}, ANN, "two")
    assert raw_git(repository, "reflog", "show", "--format=%H", "main").split() == [two, one]
    assert raw_git(repository, "rev-parse", "main@{1}").strip() == one
    repository.create_branch("change/1", one)
    repository.create_branch("change/2", "main")
    raw_git(repository, "pack-refs", "--all")
    repository.delete_branch("change/1")
    repository.delete_branch("change/1")
    assert raw_git(repository, "for-each-ref", "--format=%(refname) %(objectname)").splitlines() == [
        f"refs/heads/change/2 {two}",
        f"refs/heads/main {two}",
    ]
    with pytest.raises(NotFound):
        repository.create_branch("change/3", "f" * 40)
    assert repository.damaged() == []


def test_a_repository_that_lost_its_head_file_gets_it_back(repository: Repository) -> None:
    commit = repository.commit("main", {"a.md": b"1\n"}, ANN, "one")
    (repository.path / "HEAD").unlink()
    Repository(repository.path).create()
    assert repository.head() == commit
    assert repository.damaged() == []


def test_a_foreign_configuration_does_not_reach_git(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    config = tmp_path / "gitconfig"
    config.write_text("[core]\n\tautocrlf = true\n[merge]\n\trenormalize = true\n[user]\n\tname = Mallory\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Mallory")
    monkeypatch.setenv("GIT_DIR", "/nonexistent")
    commit = repository.commit("main", {"a.md": b"1\r\n"}, ANN, "one")
    assert repository.read(commit, "a.md") == b"1\r\n"
    assert repository.log(commit)[0][0].author.name == "Ann"


def test_a_repository_has_the_formats_that_concord_reads_whatever_git_would_choose(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GIT_DEFAULT_HASH", "sha256")
    monkeypatch.setenv("GIT_DEFAULT_REF_FORMAT", "reftable")
    repository = Repository(tmp_path / "kb.git")
    repository.create()
    head = repository.commit("main", {"a.md": b"1\n"}, ANN, "one")
    assert raw_git(repository, "rev-parse", "--show-object-format", "main").split() == ["sha1", head]
    copied = repository.copy(tmp_path / "copy.git", repository.heads())
    assert copied.damaged() == []
    assert copied.read(head, "a.md") == b"1\n"


def test_the_repository_of_a_hook_that_runs_concord_stays_as_it_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """git writes where GIT_OBJECT_DIRECTORY leads; a server removes that folder after the hook."""
    for name in ("OBJECT_DIRECTORY", "QUARANTINE_PATH"):
        monkeypatch.setenv(f"GIT_{name}", str(tmp_path / "incoming"))
    app = small_app(tmp_path / "home", NoProcesses())
    head = put(app, {f"{n}.md": f"# {n}\n" for n in range(30)})  # so many are a pack of git's
    assert not (tmp_path / "incoming").exists()
    assert len(app.knowledge.repository.entries(head)) == 30


def test_objects_and_refs_are_synced_before_a_commit_is_acknowledged(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert raw_git(repository, "config", "core.fsync").strip() == "committed"
    synced: list[str] = []
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda fd: (synced.append(os.readlink(f"/proc/self/fd/{fd}")), real(fd))[1])
    repository.commit("main", {"a.md": b"1\n"}, ANN, "one")
    assert str(repository.path / "refs/heads") in synced
    assert str(repository.path / "refs") in synced


def test_many_threads_write_and_every_commit_is_in_the_history_once(repository: Repository) -> None:
    repository.commit("main", {"start.md": b"0\n"}, ANN, "start")
    made: list[str] = []

    def write(worker: int) -> None:
        for n in range(5):
            made.append(
                repository.commit("main", {f"w{worker}/{n}.md": f"{worker} {n}\n".encode()}, ANN, f"{worker} {n}")
            )

    threads = [threading.Thread(target=write, args=(worker,)) for worker in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    history = [step.id for step, _ in repository.log(repository.head())]
    assert len(made) == 40
    assert sorted(made) == sorted(set(made))
    assert set(made) < set(history)
    assert len(repository.entries(repository.head())) == 41
    assert repository.damaged() == []


def test_packed_refs_are_found_too(repository: Repository) -> None:
    commit = repository.commit("main", {"a.md": b"1\n"}, ANN, "one")
    raw_git(repository, "pack-refs", "--all")
    assert not (repository.path / "refs/heads/main").exists()
    assert repository.head() == commit
    assert repository.commit("main", {"a.md": b"2\n"}, ANN, "two", expected=commit) == repository.head()
