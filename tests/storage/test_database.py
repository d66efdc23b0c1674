"""The same workspace on PostgreSQL: its form, a journey, backups and moves, and a server that goes away."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, inspect

from core.bootstrap import App, build
from core.errors import BadInput, Corrupt, Outdated, Refused, Unavailable
from core.settings import load
from core.storage.state import migrations
from core.storage.state.database import State
from core.storage.state.row_copy import TABLES
from core.storage.state.tables import METADATA
from core.storage.state.urls import open_database
from tests.conftest import FixedClock, NoProcesses, SmallModels, demo, small_app, sql
from tests.storage.test_upgrade import revised
from tests.support.postgres import Server
from tests.support.small_kb import FILES

ADMIN, AUTHOR, REVIEWER = demo("admin"), demo("author"), demo("reviewer")
NUMBERS = count(1)


@pytest.fixture
def url(postgres: Server) -> str:
    """A new, empty database."""
    return postgres.database(f"test{next(NUMBERS)}")


@pytest.fixture
def shared_app(tmp_path: Path, url: str) -> Iterator[App]:
    app = small_app(tmp_path / "home", NoProcesses(), database=url)
    yield app
    app.platform.backups.database.engine.dispose()


def _default(value: str | None) -> str:
    return (value or "").split("::")[0].strip("'")


def form(url: str) -> dict[str, Any]:
    """Columns and keys of every table, in the words of PostgreSQL."""
    look = inspect(open_database(url, Path()).engine)

    def columns(name):
        return {
            column["name"]: (str(column["type"]).split(" COLLATE")[0], column["nullable"], _default(column["default"]))
            for column in look.get_columns(name)
            if column["name"] != "id"
        }

    def keys(name):
        return (
            sorted((index["column_names"], index["unique"]) for index in look.get_indexes(name)),
            look.get_pk_constraint(name)["constrained_columns"],
            sorted(key["constrained_columns"] for key in look.get_foreign_keys(name)),
        )

    return {name: (columns(name), keys(name)) for name in sorted(look.get_table_names()) if name != "alembic_version"}


def test_the_migrations_lead_to_the_tables_that_the_statements_name(url: str, postgres: Server) -> None:
    database = open_database(url, Path())
    database.create("w" * 32)
    assert database.facts().version == migrations.newest()
    assert database.damaged() == []
    other = postgres.database(f"test{next(NUMBERS)}")
    METADATA.create_all(open_database(other, Path()).engine, TABLES)
    assert form(url) == form(other)


def test_a_database_of_version_1_0_gets_each_revision_that_it_lacks(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = open_database(url, Path())
    database.create("w" * 32)
    before = form(url)
    revisions = "".join(path.read_text() for path in (Path(migrations.__file__).parent / "versions").glob("v*.py"))
    added = re.findall(r'op\.add_column\("(\w+)", new_column\("(\w+)"', revisions)
    assert len(added) >= 6
    with database.engine.begin() as connection:
        for statement in (
            f"UPDATE alembic_version SET version_num = '{migrations.OLDEST}'",
            *(f"ALTER TABLE {table} DROP COLUMN {name}" for table, name in added),
        ):
            connection.exec_driver_sql(statement)
    with pytest.raises(Outdated) as refused:
        database.create()
    assert "upgrade --dumped" in refused.value.at_terminal()
    database.create(migrate=True)
    assert (form(url), database.facts().version) == (before, migrations.newest())
    more = "from core.storage.state.tables import new_column; op.add_column('gaps', new_column('mood', 'str', 'x;y'))"
    with monkeypatch.context() as later:
        revised(tmp_path / "migrations", more, later)
        database.create(migrate=True)
        assert database.facts().version == migrations.newest()
    assert form(url)["gaps"][0]["mood"] == ("TEXT", False, "x;y")
    with pytest.raises(Unavailable, match="written by a newer version"):
        database.create()


def test_nodes_that_start_at_once_make_one_database(url: str) -> None:
    nodes = [open_database(url, Path()) for _ in range(4)]
    threads = [threading.Thread(target=node.create, args=(f"{n}" * 32,)) for n, node in enumerate(nodes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({node.facts() for node in nodes}) == 1


def test_nodes_with_folders_of_their_own_agree_on_one_workspace(url: str, tmp_path: Path) -> None:
    def open_node(n):
        return small_app(tmp_path / f"home{n}", NoProcesses(), database=url)

    with ThreadPoolExecutor(3) as pool:
        nodes = list(pool.map(open_node, range(3)))
    ids = {node.knowledge.repository.workspace() for node in nodes}
    assert ids == {nodes[0].platform.backups.database.facts().workspace}
    assert len(nodes[0].people.accounts.all()) == 6


def merged(app: App, files: dict[str, str], title: str) -> int:
    """A change that was written, read and merged."""
    written = {path: text.encode() for path, text in files.items()}
    number = app.reviews.changes.propose(AUTHOR, title, written).id
    app.reviews.changes.submit(AUTHOR, number)
    app.reviews.discussion.approve(REVIEWER, number)
    return app.reviews.merger.merge(AUTHOR, number).id


def test_a_change_is_written_reviewed_merged_and_found(shared_app: App) -> None:
    assert merged(shared_app, FILES, "First documents") == 1
    job = shared_app.platform.jobs.recent()[0]
    assert shared_app.platform.jobs.run(job.id, shared_app.platform.workspace.works).state == "done"
    assert shared_app.search.searcher.search("cash over 10,000").hits[0].path == "fin/ctr.md"
    assert [message.title for message in shared_app.inbox.messages.listed(AUTHOR)][:1] == ["First documents"]
    assert [line.action for line in shared_app.platform.backups.database.audit.of_change(1)] == [
        "propose",
        "submit",
        "approve",
        "merge",
    ]
    assert shared_app.index.verifier.problems() == ()
    with pytest.raises(Exception, match="append-only"):
        sql(shared_app, "DELETE FROM audit")


def test_a_transaction_happens_whole_or_not_at_all(shared_app: App) -> None:
    database = shared_app.platform.backups.database
    with suppress(KeyboardInterrupt), database.transaction() as state:
        state.drafts.keep("ann", "new", "text", "now")
        assert state.drafts.get("ann", "new"), "a transaction sees what it wrote"
        assert database.drafts.get("ann", "new") is None, "nobody else does"
        raise KeyboardInterrupt
    assert database.drafts.get("ann", "new") is None


def test_writers_of_several_nodes_take_turns(shared_app: App, url: str) -> None:
    """Each reads, waits and writes what follows: nothing is lost."""
    nodes = [open_database(url, Path()) for _ in range(3)]

    def add(node: object, times: int) -> None:
        for _ in range(times):
            with node.transaction() as state:  # type: ignore[attr-defined]
                row = state.drafts.get("all", "sum")
                state.drafts.keep("all", "sum", str(int(row.text) + 1 if row else 1), "now")

    threads = [threading.Thread(target=add, args=(node, 10)) for node in nodes * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    row = nodes[0].drafts.get("all", "sum")
    assert row
    assert row.text == "60"


# ---------------------------------------------------------------- there and back


def rows(app: App) -> dict[str, list[Any]]:
    """Every row of every table."""
    with app.platform.backups.database.engine.connect() as connection:
        return {
            table.name: sorted(map(tuple, connection.execute(table.select())), key=repr)
            for table in TABLES
            if table.name not in ("audit", "sessions", "tokens")
        }


def test_a_backup_restores_into_postgresql_and_into_a_file(shared_app: App, tmp_path: Path, postgres: Server) -> None:
    merged(shared_app, FILES, "First documents")
    shared_app.knowledge.drafts.keep(AUTHOR, "new", "Half a thought", "")
    lost = shared_app.reviews.changes.propose(AUTHOR, "Later", {"it/new.md": b"# New\n"}).id
    shared_app.platform.backups.take(ADMIN, tmp_path / "copy")
    for n, url in enumerate((postgres.database(f"test{next(NUMBERS)}"), "")):
        other = small_app_unmade(tmp_path / f"other{n}", url)
        other.platform.backups.restore(ADMIN, tmp_path / "copy")
        assert rows(other) == rows(shared_app)
        assert other.index.verifier.problems() == ()
        assert (tmp_path / f"other{n}" / "app.db").exists() == (not url)
        assert other.reviews.changes.propose(AUTHOR, "Next", {"it/next.md": b"# Next\n"}).id == lost + 1
    with pytest.raises(Refused, match="holds a workspace already"):
        small_app_unmade(tmp_path / "third", shared_app.settings.database).platform.backups.restore(
            ADMIN, tmp_path / "copy"
        )


def small_app_unmade(home: Path, database: str) -> App:
    """A workspace that nobody created yet."""
    return build(
        load({}, home=home, database=database), clock=FixedClock(), models=SmallModels(), processes=NoProcesses()
    )


# ---------------------------------------------------------------- what goes wrong


def test_a_server_that_restarts_is_waited_for(url: str, postgres: Server) -> None:
    database = open_database(url, Path())
    database.create("w" * 32)
    postgres.stop()
    starting = threading.Timer(0.5, postgres.start)
    starting.start()
    assert database.facts().workspace == "w" * 32
    database.drafts.keep("ann", "new", "text", "now")
    starting.join()


def connection_of(state: State) -> Connection:
    """The connection of a transaction."""
    with state.drafts._run._reading() as connection:
        return connection


@pytest.mark.parametrize("then", ["write", "read"])
def test_a_reader_whose_connection_is_cut_asks_again_and_a_writer_is_told(
    url: str, postgres: Server, then: str
) -> None:
    database = open_database(url, Path())
    database.create("w" * 32)
    cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'cut'"

    def interrupted() -> None:
        with database.transaction() as state:
            state.drafts.keep("ann", "new", "text", "now")
            connection_of(state).exec_driver_sql("SET application_name = 'cut'")
            postgres.run(cut)
            if then == "read":
                state.drafts.get("ann", "new")
            state.drafts.keep("ann", "new", "other", "now")

    with pytest.raises(Unavailable, match="was lost. What was not finished was undone"):
        interrupted()
    assert database.drafts.get("ann", "new") is None


def test_a_server_that_is_not_there_is_a_sentence_without_the_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.storage.state.postgres._PATIENCE", 0)
    with pytest.raises(Unavailable, match="cannot be reached .*CONCORD_DATABASE") as caught:
        open_database("postgresql://ann:secret@127.0.0.1:1/concord", Path()).create()
    assert "secret" not in str(caught.value)
    assert "postgresql://ann:***@127.0.0.1:1/concord" in str(caught.value)


def test_people_are_not_told_where_the_server_is(
    url: str, postgres: Server, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    database = open_database(url, Path())
    database.create("w" * 32)
    monkeypatch.setattr("core.storage.state.postgres._PATIENCE", 0)
    postgres.stop()
    try:
        with pytest.raises(Unavailable, match=r"^The database cannot be reached\. Try again in a moment;") as caught:
            database.facts()
    finally:
        postgres.start()
    assert "postgresql://" not in str(caught.value)
    assert "cannot be reached: connection" in caplog.text
    assert database.facts().workspace == "w" * 32


@pytest.mark.parametrize("url", ["mysql://a/b", "postgresql://host", "app.db", "sqlite://"])
def test_a_url_that_names_no_database_is_refused(url: str) -> None:
    with pytest.raises(BadInput, match="must look like postgresql://"):
        open_database(url, Path())


def test_text_that_the_server_cannot_keep_is_refused_with_a_sentence(shared_app: App) -> None:
    with pytest.raises(BadInput, match="NUL"):
        shared_app.knowledge.drafts.keep(AUTHOR, "new", "a\0b", "")


def test_a_table_that_is_gone_is_named(shared_app: App) -> None:
    sql(shared_app, "DROP TABLE watches")
    sql(shared_app, "ALTER TABLE gaps DROP COLUMN rank")
    (damage,) = shared_app.platform.workspace.guard.damaged()
    assert (damage.file, damage.what) == ("database", "lacks watches, gaps.rank")


def test_a_workspace_moves_to_postgresql_and_back(tmp_path: Path, url: str) -> None:
    app = small_app(tmp_path / "home", NoProcesses())
    merged(app, FILES, "First documents")
    before = rows(app)
    assert app.platform.backups.move(ADMIN, url) == url
    with pytest.raises(Corrupt, match="is missing or empty, but the knowledge base has a history"):
        small_app(tmp_path / "home", NoProcesses())
    there = small_app(tmp_path / "home", NoProcesses(), database=url)
    assert rows(there) == before
    with pytest.raises(BadInput, match="already"):
        there.platform.backups.move(ADMIN, url)
    there.platform.backups.move(ADMIN, "")
    back = small_app(tmp_path / "home", NoProcesses())
    assert rows(back) == before
    assert back.index.verifier.problems() == (
        "index local: the production profile has no index. Build the index with: python -m core reindex",
    )
