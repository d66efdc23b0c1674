"""The database: a workspace of version 1.0.0 opens and loses nothing, and its statements are portable."""

from __future__ import annotations

import errno
import inspect
import json
import shutil
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing, nullcontext, suppress
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.dialects import postgresql

from core.access import reading_as
from core.bootstrap import App, build
from core.entrypoints.cli import main
from core.errors import Corrupt, Outdated, StorageFailed, Unavailable
from core.settings import load
from core.storage.git.repository import Repository
from core.storage.state import migrations, records
from core.storage.state.database import State
from core.storage.state.sqlite import SqliteDatabase
from core.storage.state.transactions import Statements
from tests.conftest import ROOT, FixedClock, NoProcesses, SmallModels, demo, small_app
from tests.services.operation.test_backups import sealed

SAVED = ROOT / "tests" / "data" / "workspace"
WORKSPACE = "28500316b7ba4242a3c9e996cdd5d512"  # the id of the one that is saved there
NEW = {"alembic_version": {"version_num"}, "digests": {"rows", "total"}}  # what an upgrade changes
ADMIN, AUTHOR = demo("admin"), demo("author")
Rows = dict[str, list[dict[str, Any]]]


def rows(path: Path) -> Rows:
    """Every row of every table, oldest first."""
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        names = [one[0] for one in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {
            name: [dict(row) for row in connection.execute(f"SELECT * FROM {name} ORDER BY rowid")] for name in names
        }


@pytest.fixture
def old_home(tmp_path: Path) -> Path:
    """A workspace as version 1.0.0 left it."""
    Repository(tmp_path / "kb.git").create(WORKSPACE)
    export = (SAVED / "kb.export").read_bytes()
    subprocess.run(["git", "-C", str(tmp_path / "kb.git"), "fast-import", "--quiet"], input=export, check=True)
    with closing(sqlite3.connect(tmp_path / "app.db")) as connection:
        connection.executescript((SAVED / "app.sql").read_text(encoding="utf-8"))
    return tmp_path


@pytest.fixture
def upgraded_app(old_home: Path) -> App:
    return migrated(old_home)


def migrated(home: Path) -> App:
    """What this version makes of it."""
    unopened(home).platform.workspace.create(migrate=True)
    return small_app(home, NoProcesses())


def test_a_workspace_of_the_version_before_keeps_every_value(old_home: Path) -> None:
    before = rows(old_home / "app.db")
    assert sum(map(len, before.values())) == 140
    migrated(old_home)
    after = rows(old_home / "app.db")
    for name, kept in before.items():
        assert len(after[name]) == len(kept), name
        for old, new in zip(kept, after[name], strict=True):
            changed = {column for column, value in old.items() if new[column] != value}
            assert changed <= NEW.get(name, set()), name
    assert [row["near"] for row in after["gaps"]] == ["/", "/", "it/"]
    assert [row["names"] for row in after["messages"]] == ['["it/"]']
    small_app(old_home, NoProcesses())
    assert rows(old_home / "app.db") == after, "opening twice equals opening once"


def test_what_people_did_before_the_upgrade_is_what_services_show(upgraded_app: App) -> None:
    states = {change.id: change.state for change in upgraded_app.reviews.changes.all()}
    assert states == {1: "merged", 2: "draft", 3: "changes requested", 4: "approved", 5: "closed"}
    assert [comment.body for comment in upgraded_app.reviews.discussion.comments(demo("admin"), 1)] == [
        "Why?",
        "Holidays.",
    ]
    assert upgraded_app.people.accounts.sign_in("zoe@meridale.example", "correct horse battery").name == "Zoë Ünal"
    assert [account.id for account in upgraded_app.people.accounts.all()][-1] == "zoe"
    assert [grade.grade for grade in upgraded_app.playground.grades.of(demo("author"), "photos")] == [3, 1]
    assert [(asked.query, asked.starred) for asked in upgraded_app.playground.notebook.history(AUTHOR)] == [
        ("photos", True),
        ("leave", False),
    ]
    assert list(upgraded_app.playground.notebook.saved(demo("author"))) == ["Words only"]
    assert len(upgraded_app.evaluation.querysets.get("small").judgments) == 4
    assert [
        len(upgraded_app.evaluation.runs.get(run.id).results) for run in upgraded_app.evaluation.runs.all("small")
    ] == [3, 3]
    assert upgraded_app.models.ledger.summary(ADMIN, "2026-11").spent == 2.5
    assert [gap.query for gap in upgraded_app.knowledge.gaps.open(demo("admin"))] == [
        "Which token does the VPN ask for?",
        "parking at night",
    ]
    draft = upgraded_app.knowledge.drafts.find(AUTHOR, "new")
    assert draft
    assert (draft.text, draft.at) == ("# Half a thought\n", "2026-11-15T12:00:00+00:00")


def test_a_workspace_of_the_version_before_is_readable_by_everybody_as_it_was(upgraded_app: App) -> None:
    documents, changes = upgraded_app.knowledge.documents, upgraded_app.reviews.changes
    assert not documents.readership.policy().named
    for account in upgraded_app.people.accounts.all():
        with reading_as(account.actor):
            assert documents.readership.now() is None, account.id
            assert documents.all() == documents.whole() != ()
            assert len(documents.commits()) == len(upgraded_app.knowledge.repository.log(documents.repository.head()))
            assert len(changes.all()) == 5


def test_a_workspace_of_the_version_before_goes_on_and_verifies(upgraded_app: App) -> None:
    assert upgraded_app.reviews.merger.merge(AUTHOR, 4).state == "merged"
    upgraded_app.index.builder.build(upgraded_app.platform.settings.profile())
    assert upgraded_app.index.verifier.problems() == ()
    assert [hit.path for hit in upgraded_app.search.searcher.search("four months ahead").hits][:1] == ["hr/parental.md"]


# ---------------------------------------------------------------- the upgrade as a command, and the way back


def unopened(home: Path) -> App:
    """The parts of a workspace whose database was not opened by this version yet."""
    return build(load({}, home=home), clock=FixedClock(), models=SmallModels(), processes=NoProcesses())


def beside(home: Path, name: str) -> Path:
    return home.with_name(f"{home.name}-{name}")


def test_a_check_says_what_will_be_migrated_and_changes_nothing(
    old_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = rows(old_home / "app.db")
    assert main(["--home", str(old_home), "--json", "upgrade", "--check"]) == 0
    said = json.loads(capsys.readouterr().out)
    counted = {name: said["database"][name] for name in ("have", "newest", "rows")}
    assert counted == {"have": 35, "newest": migrations.newest(), "rows": 83}  # without the counters of SQLite
    assert (said["needed"], said["index"], said["backup"]) == (True, "built", None)
    assert rows(old_home / "app.db") == before
    assert not list(old_home.glob(".concord-upgrade-*"))


def test_an_upgrade_saves_what_the_version_before_left_and_verifies(old_home: Path) -> None:
    before, saved = rows(old_home / "app.db"), beside(old_home, "saved")
    done = unopened(old_home).platform.upgrades.run(ADMIN, saved)
    assert rows(saved / "app.db") == before, "the version before opens it"
    assert (done.database.have, done.backup and done.backup.folder) == (35, str(saved))
    app = unopened(old_home)
    assert app.index.verifier.problems() == ()
    assert [entry.action for entry in app.people.audit.entries(ADMIN, limit=1)] == ["upgrade"]
    assert app.search.searcher.search("parental").hits, "words are searched before the server starts"
    again = app.platform.upgrades.run(ADMIN, beside(old_home, "none"))
    assert (again.database.needed, again.backup, beside(old_home, "none").exists()) == (False, None, False)


def test_an_upgrade_that_would_lose_rows_changes_nothing(
    old_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = rows(old_home / "app.db")
    revised(tmp_path / "migrations", 'op.execute("DELETE FROM gaps")', monkeypatch)
    with pytest.raises(Corrupt, match="gaps lost rows. Nothing was changed."):
        unopened(old_home).platform.upgrades.run(ADMIN, beside(old_home, "saved"))
    assert rows(old_home / "app.db") == before
    assert not beside(old_home, "saved").exists()


def test_a_server_that_runs_while_its_workspace_is_upgraded_searches_on_and_writes_nothing(
    old_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = migrated(old_home)
    app.index.builder.build(app.platform.settings.profile())
    app.knowledge.gaps.report(AUTHOR, "before")
    with monkeypatch.context() as newer:
        revised(tmp_path / "migrations", """op.execute("ALTER TABLE gaps ADD COLUMN mood TEXT DEFAULT ''")""", newer)
        SqliteDatabase(old_home / "app.db").create(migrate=True)
        left = rows(old_home / "app.db")
    with pytest.raises(Unavailable, match="upgraded to a newer version"):
        app.knowledge.gaps.report(AUTHOR, "after")
    assert app.search.searcher.search("parental").hits
    assert rows(old_home / "app.db") == left
    with monkeypatch.context() as newer:
        newer.setattr(migrations, "FOLDER", tmp_path / "migrations")
        assert SqliteDatabase(old_home / "app.db").damaged() == []


def tree(home: Path) -> dict[str, bytes]:
    """Every file of a workspace but the log and the index of SQLite's memory, which reading makes."""
    files = (path for path in home.rglob("*") if path.is_file() and not path.name.endswith(("-wal", "-shm")))
    return {str(path.relative_to(home)): path.read_bytes() for path in files}


@pytest.mark.parametrize("words", ["search leave", "verify", "reindex", "documents list --as author", "worker --once"])
def test_a_command_refuses_a_workspace_of_the_version_before_and_changes_nothing(
    old_home: Path, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = tree(old_home)
    assert main(["--home", str(old_home), "--quiet", *words.split()]) == 3
    assert f"revision 35; this version has {migrations.newest()}" in (said := capsys.readouterr().err)
    assert "python -m core upgrade DIR" in said
    assert tree(old_home) == before


def test_the_start_of_a_server_saves_the_workspace_before_it_migrates(
    old_home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    before = rows(old_home / "app.db")
    for name in ("0033", "0034"):
        (old_home / "upgrades" / f"revision-{name}").mkdir(parents=True)
    starting = [threading.Thread(target=unopened(old_home).platform.upgrades.begin) for _ in range(3)]
    for thread in starting:
        thread.start()
    for thread in starting:
        thread.join()
    app = small_app(old_home, NoProcesses())
    saved = old_home / "upgrades" / "revision-0035"
    assert sorted(path.name for path in saved.parent.glob("r*")) == ["revision-0034", "revision-0035"], "two are kept"
    assert rows(saved / "app.db") == before
    assert caplog.text.count(f"python -m core restore {saved}") == 1, "one of three that start at once does it"
    assert [entry.action for entry in app.people.audit.entries(ADMIN)].count("upgrade") == 1
    restored = unopened(beside(old_home, "new"))
    restored.platform.backups.restore(ADMIN, saved)
    assert len(restored.reviews.changes.all()) == 5, "a backup of an earlier version becomes a workspace of this one"


def test_a_start_that_cannot_save_the_workspace_does_not_migrate_it(old_home: Path) -> None:
    before, upgrades = rows(old_home / "app.db"), unopened(old_home).platform.upgrades

    def fill(folder: Path, target: Path, facts: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(target))

    upgrades.backups.archives.publish = fill  # type: ignore[method-assign, assignment]
    for _ in range(2):
        with pytest.raises(StorageFailed, match="disk is full"):
            upgrades.begin()
    assert rows(old_home / "app.db") == before
    with open(old_home / "kb.git" / "config", "a") as config:
        config.write("[extensions]\n\trefstorage = reftable\n")
    with pytest.raises(Corrupt, match="refs migrate"):
        unopened(old_home).platform.upgrades.begin()
    assert [path.name for path in (old_home / "upgrades").iterdir()] == [".lock"]
    with pytest.raises(Outdated):
        small_app(old_home, NoProcesses())


# ---------------------------------------------------------------- the form of the file


def form(path: Path) -> dict[str, tuple[Any, ...]]:
    """Columns and keys of every table, in the words of SQLite."""
    with closing(sqlite3.connect(path)) as connection:
        names = [one[0] for one in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: (columns(connection, name), keys(connection, name)) for name in names if "sqlite_" not in name}


def columns(connection: sqlite3.Connection, table: str) -> list[tuple[Any, ...]]:
    found = connection.execute(f"PRAGMA table_info({table})").fetchall()
    return [
        (name, kind.replace("FLOAT", "REAL"), bool(required or key), (default or "").strip("'"), key)
        for _, name, kind, required, default, key in found
    ]


def keys(connection: sqlite3.Connection, table: str) -> list[tuple[Any, ...]]:
    found = connection.execute(f"PRAGMA index_list({table})").fetchall()

    def of(index):
        return tuple(row[2] for row in connection.execute(f"PRAGMA index_info({index})"))

    foreign = [row[2:5] for row in connection.execute(f"PRAGMA foreign_key_list({table})")]
    return sorted([(bool(unique), of(index)) for _, index, unique, *_ in found]) + foreign


def test_a_workspace_of_the_version_before_gets_the_form_of_a_new_one(old_home: Path) -> None:
    for name in ("app.db", "new.db"):
        SqliteDatabase(old_home / name).create(migrate=True)
    assert form(old_home / "app.db") == form(old_home / "new.db")


@pytest.mark.parametrize("command", ["upgrade --check", "upgrade DIR", "init", "search leave", "verify", "doctor"])
def test_a_workspace_of_a_version_before_1_0_is_refused_with_the_way(
    old_home: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    sql_file(old_home, "PRAGMA user_version = 32")
    before = tree(old_home)
    words = command.replace("DIR", str(beside(old_home, "saved"))).split()
    assert main(["--home", str(old_home), "--quiet", *words]) in (1, 3)
    said = "".join(capsys.readouterr())
    assert f"{old_home / 'app.db'} was written by a version of Concord before 1.0. Nothing was changed." in said
    assert "Install Concord 1.0 and let it upgrade the workspace with: python -m core upgrade DIR" in said
    assert tree(old_home) == before


def test_a_backup_of_a_version_before_1_0_is_refused_and_fills_nothing(old_home: Path) -> None:
    saved, new = beside(old_home, "saved"), beside(old_home, "new")
    unopened(old_home).platform.upgrades.run(ADMIN, saved)
    sql_file(saved, "PRAGMA user_version = 32")
    sealed(saved)
    with pytest.raises(Outdated, match="before 1.0"):
        unopened(new).platform.backups.restore(ADMIN, saved)
    assert not list(new.glob("*"))


def sql_file(home: Path, statement: str) -> None:
    with closing(sqlite3.connect(home / "app.db")) as connection, connection:
        connection.execute(statement)


def revised(folder: Path, revision: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One more revision, behind those that there are."""
    shutil.copytree(migrations.FOLDER, folder, ignore=shutil.ignore_patterns("__pycache__"))
    number = migrations.newest() + 1
    head = f'from alembic import op\nrevision, down_revision = "{number}", "{number - 1}"\n'
    (folder / "versions" / f"v{number}_more.py").write_text(f"{head}def upgrade():\n    {revision}\n")
    monkeypatch.setattr(migrations, "FOLDER", folder)


def test_a_revision_that_fails_leaves_the_file_as_it_was(
    old_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = rows(old_home / "app.db")
    revised(tmp_path / "migrations", 'op.execute("CREATE TABLE jobs (id TEXT)")', monkeypatch)
    with pytest.raises(Exception, match="already exists"):
        SqliteDatabase(old_home / "app.db").create(migrate=True)
    assert rows(old_home / "app.db") == before


def test_a_file_whose_form_was_changed_is_named(tmp_path: Path) -> None:
    database = SqliteDatabase(tmp_path / "app.db")
    database.create("w" * 32)
    assert database.damaged() == []
    with closing(sqlite3.connect(tmp_path / "app.db")) as connection, connection:
        connection.execute("ALTER TABLE gaps DROP COLUMN writer")
    (damage,) = database.damaged()
    assert damage.what == "has another form than was written"


# ---------------------------------------------------------------- a new column

OPENED = """
import sys
from pathlib import Path
from core.storage.state import migrations, records
from core.storage.state.records import Gap
from core.storage.state.sqlite import SqliteDatabase

for path in map(Path, sys.argv[1:]):
    database = SqliteDatabase(path)
    database.create("w" * 32, migrate=True)
    number = database.gaps.add(query="?", who="Ann", hits=0, created="now", mood="cross")
    print([(gap.mood, type(gap.mood).__name__) for gap in database.gaps.all()], database.damaged())
print(*(line.strip() for text in migrations._made("postgresql") for line in text.splitlines() if "mood" in line))
"""


def test_a_column_is_added_in_two_places(old_home: Path, tmp_path: Path) -> None:
    """Its line in the record and a revision: it is in new files, in old ones, in PostgreSQL and in the rows."""
    tree, number = tmp_path / "tree", migrations.newest() + 1
    shutil.copytree(ROOT / "core", tree / "core", ignore=shutil.ignore_patterns("__pycache__"))
    records = tree / "core" / "storage" / "state" / "records.py"
    last = '    writer: str = ""  # the account that merged it\n'
    records.write_text(records.read_text(encoding="utf-8").replace(last, f'{last}    mood: str = "calm"\n'))
    (records.parent / "migrations" / "versions" / f"v{number}_mood.py").write_text(
        "from alembic import op\nfrom core.storage.state.tables import new_column\n\nrevision, down_revision = "
        f'"{number}", "{number - 1}"\n\n\n'
        'def upgrade() -> None:\n    op.add_column("gaps", new_column("mood", "str", "calm"))\n'
    )
    command = [sys.executable, "-c", OPENED, str(old_home / "app.db"), str(tmp_path / "new.db")]
    said = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=True).stdout.splitlines()
    assert said == [
        "[('cross', 'str'), ('calm', 'str'), ('calm', 'str'), ('calm', 'str')] []",
        "[('cross', 'str')] []",
        "mood TEXT COLLATE \"C\" DEFAULT 'calm' NOT NULL,",
    ]


# ---------------------------------------------------------------- durable and portable


def test_every_connection_syncs_fully_and_the_file_has_a_write_ahead_log(tmp_path: Path) -> None:
    database = SqliteDatabase(tmp_path / "a?b %20#.db")
    database.create()
    assert database.path.exists()
    for connect in (database.engine.connect, database._writing):
        with connect() as connection:
            asked = [f"PRAGMA {name}" for name in ("synchronous", "journal_mode", "foreign_keys")]
            assert [connection.exec_driver_sql(text).scalar() for text in asked] == [2, "wal", 1]


def test_a_new_file_that_another_program_writes_is_waited_for(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "app.db", isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")  # SQLite refuses to turn such a file to WAL at once, whatever the timeout
    ending = threading.Timer(0.2, other.close)
    ending.start()
    database = SqliteDatabase(tmp_path / "app.db")
    database.create()
    ending.join()
    assert database.drafts.get("ann", "new") is None


def test_a_transaction_happens_whole_or_not_at_all(tmp_path: Path) -> None:
    database = SqliteDatabase(tmp_path / "app.db")
    database.create()
    with suppress(KeyboardInterrupt), database.transaction() as state:
        state.drafts.keep("ann", "new", "text", "now")
        assert state.drafts.get("ann", "new"), "a transaction sees what it wrote"
        assert database.drafts.get("ann", "new") is None, "nobody else does"
        raise KeyboardInterrupt
    assert database.drafts.get("ann", "new") is None


class PostgresConnection:
    """Compiles what it is given for PostgreSQL, and answers with nothing."""

    dialect = postgresql.dialect()
    rowcount, inserted_primary_key = 0, (1,)

    def __init__(self) -> None:
        self.texts: list[str] = []

    def execute(self, statement: Any, values: object) -> PostgresConnection:
        self.texts.append(str(statement.compile(dialect=self.dialect)))
        return self

    def keys(self) -> tuple[str, ...]:
        return ()

    def scalars(self) -> tuple[()]:
        return ()

    def __iter__(self) -> Any:
        return iter(())

    def scalar(self) -> int:
        return 1


VALUES: dict[str, Any] = {
    "str": "x",
    "int": 1,
    "float": 1.0,
    "bool": True,
    "bytes": b"",
    "Mapping[str, bytes]": {"x": b""},
    "Mapping[str, Any]": dict.fromkeys(("question", "path", "heading", "quote", "source", "judge"), "x"),
}
EXAMPLES = VALUES | {
    kind.__name__: kind(**{each.name: VALUES[str(each.type)] for each in records.columns(kind)})
    for kind in records.FORMS
}


@pytest.mark.parametrize("noun", sorted(vars(State(Statements(nullcontext, nullcontext)))))
def test_every_statement_can_be_said_to_postgresql(noun: str) -> None:
    connection = PostgresConnection()
    repository = getattr(State(Statements(*[lambda: nullcontext(connection)] * 2)), noun)  # type: ignore[arg-type]
    for name, method in inspect.getmembers(repository, inspect.ismethod):
        if not name.startswith("_"):
            wanted = [one for one in inspect.signature(method).parameters.values() if one.kind != one.VAR_KEYWORD]
            method(
                *(EXAMPLES.get(str(one.annotation), [{"id": "x"}]) for one in wanted),
                **({"name": "x"} if (noun, name) == ("querysets", "keep") else {}),
            )
    assert connection.texts
