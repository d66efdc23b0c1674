"""A damaged or half-lost workspace is never replaced, and `verify` names every damaged file with its cure."""

from __future__ import annotations

import gc
import hashlib
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.adapters.models import weights
from core.adapters.system import sums
from core.bootstrap import App, build
from core.cures import fetch_model, reindex
from core.entrypoints.cli import main
from core.errors import Corrupt
from core.services.knowledge.drafts import version
from core.settings import load
from core.storage.cache.vectors import EmbeddingCache
from core.storage.git.repository import Repository
from core.storage.index.record import segments, vectors
from core.storage.state import table_sums
from tests.conftest import ME, ROOT, NoProcesses, demo, forget_app, put, small_app, sql

AUTHOR = demo("author")


@pytest.fixture(scope="module")
def team_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A team's base: two commits, a change in review, settings of its own, an index."""
    home = tmp_path_factory.mktemp("team") / "home"
    app = small_app(home, NoProcesses())
    put(app, {"a.md": "# Apples\n\nGreen ones.\n"}, "First")
    put(app, {"b.md": "# Bananas\n\nThe Bank Secrecy Act (BSA) names Form 112.\n"}, "Second")
    app.reviews.changes.propose(AUTHOR, "Pears", {"c.md": b"# Pears\n\nSoft ones.\n"}, "")
    app.platform.settings.make_default("local", ME)
    profile = app.platform.settings.profile()
    app.index.builder.build(profile)
    app.index.generations.open(profile).graph()
    close(app)
    return home


def close(app: App) -> None:
    """End every connection, so that the database is one file."""
    app.platform.workspace.guard.database.engine.dispose()


@pytest.fixture
def home(team_home: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(team_home, tmp_path / "home", symlinks=True))


@pytest.fixture
def run(home: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    def call(*arguments: str) -> tuple[int, str, str]:
        code = main(["--home", str(home), "--quiet", *arguments])
        return code, *capsys.readouterr()

    return call


def verified(run: Any) -> dict[str, Any]:
    code, out, err = run("verify", "--json")
    value: dict[str, Any] = json.loads(out)
    assert (code, err) == (0 if value["ok"] else 1, "")
    return value


def commands(text: str, home: Path) -> list[str]:
    """What the sentences tell people to type."""
    typed = [line.split(" with: ", 1)[1] for line in text.splitlines()]
    return [one.replace("python -m core", f"{sys.executable} -m core --home {home}") for one in typed]


def obey(text: str, home: Path) -> None:
    for command in commands(text, home):
        subprocess.run(["bash", "-c", command], check=True, capture_output=True, cwd=ROOT)


# ---------------------------------------------------------------- a lost main line


def unlink(git: Path) -> None:
    (git / "refs/heads/main").unlink()


def empty(git: Path) -> None:
    (git / "refs/heads/main").write_bytes(b"")


def zero(git: Path) -> None:
    (git / "refs/heads/main").write_bytes(bytes(41))


def flip_to_no_digit(git: Path) -> None:
    (git / "refs/heads/main").write_bytes(b"g" + (git / "refs/heads/main").read_bytes()[1:])


def flip_to_another_digit(git: Path) -> None:
    first, rest = (git / "refs/heads/main").read_text()[:1], (git / "refs/heads/main").read_text()[1:]
    (git / "refs/heads/main").write_text(f"{int(first, 16) ^ 1:x}{rest}")


def lose_head(git: Path) -> None:
    (git / "HEAD").unlink()


def garble_head(git: Path) -> None:
    (git / "HEAD").write_bytes(b"rdf: refs/heads/main\n")


def lose_refs(git: Path) -> None:
    shutil.rmtree(git / "refs")


def lose_refs_and_logs(git: Path) -> None:
    (git / "refs/heads/main").unlink()
    shutil.rmtree(git / "logs")


def lose_packed_refs(git: Path) -> None:
    subprocess.run(["git", f"--git-dir={git}", "pack-refs", "--all"], check=True)
    (git / "packed-refs").unlink()


def lose_the_newest_of_packed_refs(git: Path) -> None:
    """An older commit is still packed: main must not go back to it."""
    (git / "packed-refs").write_text(f"# pack-refs with: sorted \n{first_commit(git)} refs/heads/main\n")
    (git / "refs/heads/main").unlink()


def first_commit(git: Path) -> str:
    return (git / "logs/refs/heads/main").read_text().split()[1]


LOSSES = (
    lose_the_newest_of_packed_refs,
    unlink,
    empty,
    zero,
    flip_to_no_digit,
    flip_to_another_digit,
    lose_head,
    garble_head,
    lose_refs,
    lose_refs_and_logs,
    lose_packed_refs,
)


@pytest.mark.parametrize("lose", LOSSES)
def test_init_refuses_where_there_was_a_main_line_and_its_command_brings_it_back(
    run: Any, home: Path, lose: Callable[[Path], None]
) -> None:
    git = home / "kb.git"
    before = Repository(git).head()
    lose(git)
    named = verified(run)["damaged"]
    assert named
    assert all(damage["cure"] for damage in named)
    code, out, err = run("init")
    assert (code, out) == (1, "")
    assert "kb.git" in err
    obey(err, home)
    assert Repository(git).head() == before
    assert list(build(load({}, home=home)).platform.workspace.guard.damaged()) == []
    if lose in (unlink, lose_refs):  # asking every engine takes a second
        assert verified(run) == {"ok": True, "problems": [], "damaged": []}


def test_the_newest_commit_comes_back_where_log_and_audit_are_lost_too(run: Any, home: Path) -> None:
    git = home / "kb.git"
    before = Repository(git).head()
    lose_refs_and_logs(git)
    (home / "app.db").unlink()
    assert "is missing or empty" in run("init")[2]
    code, _, err = run("init", "--new-database")
    assert code == 1
    obey(err, home)
    assert Repository(git).head() == before
    code, out, _ = run("init", "--new-database", "--json")
    assert (code, json.loads(out)["documents"]) == (0, 2)


def test_a_lost_branch_stops_writers_of_a_running_app_too(home: Path) -> None:
    app = small_app(home, NoProcesses())
    (home / "kb.git/refs/heads/main").unlink()
    with pytest.raises(Corrupt) as raised:
        put(app, {"new.md": "# New\n"})
    assert re.search("update-ref refs/heads/main [0-9a-f]{40}", raised.value.at_terminal())


def test_an_import_that_was_killed_before_its_first_commit_can_start_again(tmp_path: Path) -> None:
    store = Repository(tmp_path / "kb.git")
    store.create()
    commit = store.commit("main", {"a.md": b"# A\n"}, ME, "first")
    git = store.path
    (git / "refs/heads/main").rename(git / "concord-own-refs-heads-main")
    (git / "refs/heads/main.lock").hardlink_to(git / "concord-own-refs-heads-main")  # as a killed writer leaves it
    assert store.lost() == []
    assert store.commit("main", {"a.md": b"# A\n"}, ME, "first again") != commit


@pytest.mark.parametrize("at", [-80, -10])  # the commit that the last line names, and the time
def test_a_damaged_log_is_named_itself_and_its_branch_is_not_called_lost(home: Path, at: int) -> None:
    git = home / "kb.git"
    subprocess.run(["git", f"--git-dir={git}", "pack-refs", "--all"], check=True)
    before, log = Repository(git).head("change/1"), git / "logs/refs/heads/change/1"
    content = bytearray(log.read_bytes())
    content[at] ^= 0x40
    log.write_bytes(content)
    (named,) = Repository(git).damaged()
    assert (named.file, named.cure.command) == ("kb.git/logs/refs/heads/change/1", f"rm {log}")
    assert Repository(git).head("change/1") == before


def test_a_move_that_was_killed_before_it_was_made_leaves_no_trace(tmp_path: Path) -> None:
    store = Repository(tmp_path / "kb.git")
    store.create()
    first = store.commit("main", {"a.md": b"# A\n"}, ME, "first")
    subprocess.run(["git", f"--git-dir={store.path}", "pack-refs", "--all"], check=True)
    store.commit("main", {"a.md": b"# B\n"}, ME, "second")
    own = store.path / "concord-own-refs-heads-main"
    (store.path / "refs/heads/main").rename(own)
    (store.path / "refs/heads/main.lock").hardlink_to(own)
    assert store.lost() == []
    assert store.head() == first
    assert store.damaged() == []


# ---------------------------------------------------------------- a lost database or repository


@pytest.mark.parametrize("lose", [Path.unlink, lambda path: path.write_bytes(b"")])
def test_a_lost_database_is_named_and_never_started_anew_by_itself(
    run: Any, home: Path, lose: Callable[[Path], object]
) -> None:
    lose(home / "app.db")
    (damage,) = verified(run)["damaged"]
    assert (damage["file"], damage["what"]) == ("app.db", "is missing or empty")
    for command in (("init",), ("documents", "list"), ("accounts", "list"), ("search", "apples", "--as", "admin")):
        code, _, err = run(*command)
        assert code == 1
        assert "python -m core restore DIR" in err
        assert "python -m core init --new-database" in err
    assert not (home / "app.db").exists() or (home / "app.db").stat().st_size == 0


def test_a_new_database_knows_every_commit_and_gives_no_number_twice(run: Any, home: Path) -> None:
    (home / "app.db").unlink()
    code, out, _ = run("init", "--new-database", "--json")
    assert (code, json.loads(out)["documents"]) == (0, 2)
    assert verified(run)["problems"] == []
    app = small_app(home, NoProcesses())
    assert app.reviews.changes.propose(AUTHOR, "Plums", {"d.md": b"# Plums\n\nBlue.\n"}, "").id == 2
    close(app)
    code, _, err = run("init", "--new-database")
    assert (code, "Move it away first" in err) == (1, True)


def test_a_lost_repository_is_named_and_never_started_anew(run: Any, home: Path) -> None:
    shutil.rmtree(home / "kb.git")
    assert [damage["file"] for damage in verified(run)["damaged"]] == ["kb.git"]
    for command in (("init",), ("documents", "list")):
        code, _, err = run(*command)
        assert code == 1
        assert "is missing, but the database knows its commits" in err
        assert "python -m core restore DIR" in err
    assert not (home / "kb.git").exists()


@pytest.mark.parametrize("at", [0, 18, 100, 4096 * 2, 4096 * 9])
def test_a_damaged_database_is_a_sentence_that_names_the_file(run: Any, home: Path, at: int) -> None:
    content = bytearray((home / "app.db").read_bytes())
    content[at : at + 64] = bytes(64)
    (home / "app.db").write_bytes(content)
    assert "app.db" in [damage["file"] for damage in verified(run)["damaged"]]
    for command in ("init", "accounts"):
        code, _, err = run(command, *(["list"] if command == "accounts" else []))
        assert code in (0, 1)
        assert code == 0 or "app.db" in err


def test_a_row_that_changed_by_itself_is_noticed_until_somebody_accepts_it(run: Any, home: Path) -> None:
    app = build(load({}, home=home))
    sql(app, "UPDATE accounts SET role = 'admin' WHERE id = 'reader'")
    (damage,) = verified(run)["damaged"]
    assert damage["file"] == "app.db"
    assert damage["what"] == "holds other rows than were written, in accounts"
    assert run("init", "--accept-database")[0] == 0
    assert verified(run)["ok"]


def test_a_write_during_the_look_is_no_damage(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = build(load({}, home=home))
    tables = table_sums.tables

    def written_meanwhile(connection: sqlite3.Connection) -> dict[str, list[str]]:
        monkeypatch.setattr(table_sums, "tables", tables)
        app.knowledge.drafts.keep(AUTHOR, "new", "between the digests and the rows", "")
        return tables(connection)

    monkeypatch.setattr(table_sums, "tables", written_meanwhile)
    assert [app.platform.workspace.guard.database.damaged() for _ in range(2)] == [[], []]
    assert table_sums.tables is tables


def test_every_write_keeps_the_digests_and_a_rolled_back_one_leaves_none(home: Path) -> None:
    app = small_app(home, NoProcesses())
    database = app.platform.workspace.guard.database
    for _ in range(2):  # also as the first write of a table, whose triggers go with it
        with suppress(ZeroDivisionError), database.transaction() as state:
            state.drafts.keep("ann", "x", "y", "now")
            raise ZeroDivisionError
        first = app.knowledge.drafts.keep(AUTHOR, "new", "text", version(app.knowledge.drafts.find(AUTHOR, "new")))
        last = app.knowledge.drafts.keep(AUTHOR, "new", "other text", first)
    app.knowledge.drafts.forget(AUTHOR, "new", last)
    assert database.damaged() == []


def test_a_database_of_a_newer_version_is_refused(run: Any, home: Path) -> None:
    sql(build(load({}, home=home)), "PRAGMA user_version = 999")
    code, _, err = run("init")
    assert (code, "was written by a newer version of Concord" in err) == (1, True)


# ---------------------------------------------------------------- one workspace, one id


def test_parts_of_two_workspaces_are_told_apart(run: Any, home: Path, tmp_path: Path) -> None:
    other = small_app(tmp_path / "other", NoProcesses())
    put(other, {"x.md": "# X\n\nOther.\n"})
    close(other)
    shutil.rmtree(home / "kb.git")
    shutil.copytree(tmp_path / "other" / "kb.git", home / "kb.git")
    code, _, err = run("documents", "list")
    assert code == 1
    assert not verified(run)["ok"]
    assert "kb.git" in err


def test_a_repository_without_its_id_is_named_with_its_cure(run: Any, home: Path) -> None:
    git = ["git", f"--git-dir={home / 'kb.git'}", "config"]
    subprocess.run([*git, "--unset", "concord.workspace"], check=True)
    code, _, err = run("documents", "list")
    assert code == 1
    subprocess.run([*git, *err.split(" config ")[1].split(". Or ")[0].split()], check=True)
    assert verified(run)["ok"]


@pytest.mark.parametrize(
    ("extension", "cure"),
    [
        ("objectformat = sha256", "init --from"),
        ("refstorage = reftable", "refs migrate"),
        ("worktreeconfig = true", "fsck"),
    ],
)
def test_a_repository_of_another_format_is_refused_and_its_config_stays(
    run: Any, home: Path, extension: str, cure: str
) -> None:
    config = home / "kb.git" / "config"
    config.write_text(config.read_text().replace("version = 0", "version = 1") + f"[extensions]\n\t{extension}\n")
    for words in (("documents", "list"), ("init",), ("backup", f"{home}-saved")):
        code, _, err = run(*words)
        assert (code, extension.split()[0] in err, cure in err) == (1, True, True)
    checkups = json.loads(run("doctor", "--json")[1])["checkups"]
    assert {extension.split()[0] in each["says"] for each in checkups if each["part"] == "index"} == {True}
    (named,) = verified(run)["damaged"]
    assert (named["file"], "rm" in named["cure"].split()) == ("kb.git", False)
    config.write_text(config.read_text().split("[extensions]")[0].replace("version = 1", "version = 0"))
    assert verified(run)["ok"]


def test_the_index_of_another_workspace_is_not_served(run: Any, home: Path) -> None:
    (home / "index" / "WORKSPACE").write_text("another\n")
    code, _, err = run("search", "apples")
    assert (code, "or the index is one of another workspace" in err) == (1, True)
    assert [damage["file"] for damage in verified(run)["damaged"]] == ["index/WORKSPACE"]


def test_lost_settings_of_git_are_noticed_and_written_anew(run: Any, home: Path) -> None:
    kept = (home / "kb.git" / "config").read_text()
    for damage in ("", kept[:-30], kept.replace("[core]", "[core")):
        (home / "kb.git" / "config").write_text(damage)
        (named,) = [one for one in verified(run)["damaged"] if one["file"] == "kb.git/config"]
    obey(named["cure"], home)
    assert verified(run)["ok"]


# ---------------------------------------------------------------- index, caches, models


def flip(path: Path, at: int = -1) -> None:
    """Change one byte, in the middle unless told where."""
    content = bytearray(path.read_bytes())
    place = len(content) // 2 if at < 0 else at
    content[place] ^= 1
    path.write_bytes(content)


def generation(home: Path) -> Path:
    (folder,) = home.glob("index/local-*/gen-000001-*")
    return folder


def test_a_damaged_generation_is_not_served_and_a_build_replaces_it(home: Path) -> None:
    flip(vectors.data_file(generation(home)))
    app = small_app(home, NoProcesses())
    with pytest.raises(Corrupt, match="is damaged") as raised:
        app.search.searcher.search("apples")
    assert raised.value.cure == reindex("local")
    assert app.index.builder.build(app.platform.settings.profile()).fresh
    assert app.search.searcher.search("apples").hits[0].path == "a.md"
    assert app.index.verifier.problems() == ()


def test_search_goes_on_with_an_older_generation_when_the_newest_is_damaged(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segments, "FOLDED", 0)
    app = small_app(home, NoProcesses())
    put(app, {"d.md": "# Dates\n\nDried ones.\n"})
    app.index.builder.build(app.platform.settings.profile())
    (newest,) = home.glob("index/local-*/gen-000002-*")
    flip(vectors.data_file(newest / "segments" / "000001"))
    again = small_app(home, NoProcesses())
    assert again.search.searcher.search("apples").hits[0].path == "a.md"
    serving = again.index.generations.current(again.platform.settings.profile())
    assert serving.number == 1
    assert "newest whole one" in serving.notes[-1]


def test_damage_in_a_segment_that_generations_share_is_found_by_the_next_build(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the time of writing is the one that was noted, as when a disk forgets a bit."""
    monkeypatch.setattr(segments, "FOLDED", 0)
    app = small_app(home, NoProcesses())
    put(app, {"d.md": "# Dates\n\nDried ones.\n"})
    app.index.builder.build(app.platform.settings.profile())
    shared = generation(home) / "fts.duckdb"
    stat = shared.stat()
    flip(shared)
    os.utime(shared, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    sums._known.clear()  # as in a process that starts
    again = small_app(home, NoProcesses())
    assert "fts.duckdb is damaged" in " ".join(again.index.verifier.problems())
    built = again.index.builder.build(again.platform.settings.profile())
    assert (built.fresh, built.changed) == (True, 3), "nothing whole is left to start from"
    assert again.search.searcher.search("dried").hits[0].path == "d.md"


POINTERS = (b"", b"{", b"\xff\xfe", b'{"folder":"gen-000009-000000000000","pinned":false}')


def test_the_newest_whole_generation_serves_when_current_is_damaged(run: Any, home: Path) -> None:
    pointer = generation(home).parent / "CURRENT"
    for damage in POINTERS:
        pointer.write_bytes(damage)
        app = small_app(home, NoProcesses())
        serving = app.index.generations.current(app.platform.settings.profile())
        assert serving.number == 1
        assert "CURRENT" in serving.notes[-1]
        (named,) = verified(run)["damaged"]
        assert named["file"].endswith("/CURRENT")
    put(app, {"later.md": "# Later\n"})
    app.index.builder.build(app.platform.settings.profile())
    assert verified(run)["ok"]
    for damage in POINTERS:
        pointer.write_bytes(damage)
        again = small_app(home, NoProcesses())
        assert [one.number for one in again.index.generations.all(again.platform.settings.profile())] == [2, 1]
        assert again.index.generations.current(again.platform.settings.profile()).number == 2


def test_a_damaged_vector_is_computed_again_and_never_used(tmp_path: Path) -> None:
    cache = EmbeddingCache(tmp_path / "embeddings.db")
    cache.put("m", {"a": np.ones(4, np.float32), "b": np.zeros(4, np.float32)})
    with closing(sqlite3.connect(cache.path)) as connection, connection:
        connection.execute("UPDATE vectors SET vector = zeroblob(16) WHERE vector <> zeroblob(16)")
    assert list(cache.get("m", ["a", "b"])) == ["b"]
    (damage,) = cache.damaged()
    assert damage.what == "holds 1 damaged entries"
    cache.put("m", {"a": np.ones(4, np.float32)})
    assert cache.damaged() == []
    assert len(cache.get("m", ["a", "b"])) == 2


def test_a_cache_that_cannot_be_read_is_named_with_its_cure(tmp_path: Path) -> None:
    cache = EmbeddingCache(tmp_path / "embeddings.db")
    cache.path.write_bytes(b"no database at all" * 300)
    with pytest.raises(Corrupt) as raised:
        cache.get("m", ["a"])
    assert cache.damaged()[0].cure == raised.value.cure
    assert raised.value.cure.command == f"rm {cache.path}"


def test_damaged_weights_are_not_loaded_and_count_as_missing(tmp_path: Path) -> None:
    model = replace(weights.BUNDLED[0], files=(("model.onnx", hashlib.sha256(b"whole").hexdigest()),))
    (tmp_path / model.name).mkdir()
    (tmp_path / model.name / "model.onnx").write_bytes(b"whole")
    assert weights.model_folder(tmp_path, model) == tmp_path / model.name
    flip(tmp_path / model.name / "model.onnx")
    assert not weights.is_whole(tmp_path, model)
    with pytest.raises(Corrupt) as raised:
        weights.model_folder(tmp_path, model)
    assert raised.value.cure == fetch_model(model.name)


# ---------------------------------------------------------------- the pages


@pytest.mark.parametrize(("mode", "shown"), [("demo", "init --new-database"), ("local", "reads the reason in its log")])
def test_the_app_starts_and_says_why_it_cannot_open_a_workspace_that_lost_its_database(
    home: Path, monkeypatch: pytest.MonkeyPatch, mode: str, shown: str
) -> None:
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.testclient import TestClient

    from core.entrypoints.api.application import ApiDoor
    from core.entrypoints.front_desk import NOT_OPEN
    from pages.ui.server import routes, startup
    from pages.ui.sign_in.gate import SignInGate

    (home / "app.db").unlink()
    monkeypatch.setenv("CONCORD_HOME", str(home))
    monkeypatch.setenv("CONCORD_SIGN_IN", mode)
    forget_app()
    gc.disable()  # as startup.prepare() leaves it
    startup.warm_up()
    assert gc.isenabled(), "also where the workspace cannot be opened"
    door = Middleware(ApiDoor, api=routes.API)
    browser = TestClient(Starlette(routes=routes.ROUTES, middleware=[door, Middleware(SignInGate)]))
    for path in ("/", "/documents?doc=a", "/sign-in"):
        answer = browser.get(path, headers={"accept": "text/html"})
        assert (answer.status_code, shown in answer.text) == (503, True), path
        assert (str(home) in answer.text) == (mode == "demo"), "strangers read no paths"
    asked = browser.get("/api/v1/page/search?q=x")
    assert (asked.status_code, asked.json()["detail"]) == (503, NOT_OPEN)
