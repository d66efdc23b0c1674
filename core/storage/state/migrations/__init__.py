"""The newest form of a database: a new one gets the tables of `records.py`, an older one the revisions it lacks.

A revision is a file in `versions/`, run by Alembic; one that was released is never edited.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path

from sqlalchemy import Connection
from sqlalchemy.schema import CreateIndex, CreateTable, ExecutableDDLElement

from core.storage.state.tables import METADATA, digests, revision

FOLDER = Path(__file__).parent
OLDEST = 35  # the revision of version 1.0.0
_TABLES = {
    "sqlite": "SELECT name FROM main.sqlite_master WHERE type = 'table'",
    "postgresql": "SELECT relname FROM pg_class "
    "WHERE relkind = 'r' AND relnamespace = CAST(current_schema() AS regnamespace)",
}
_WHY = "'the audit is append-only'"
_APPEND_ONLY = {
    "sqlite": "CREATE TRIGGER {name} BEFORE {event} ON audit BEGIN SELECT RAISE(ABORT, {why}); END",
    "postgresql": "CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS "
    "$$ BEGIN RAISE EXCEPTION {why}; END $$; "
    "CREATE TRIGGER {name} BEFORE {event} ON audit FOR EACH ROW EXECUTE FUNCTION {name}()",
}


def newest() -> int:
    """The number of the last revision."""
    return max(int(path.name[1:].partition("_")[0]) for path in (FOLDER / "versions").glob("v*.py"))


def names(connection: Connection) -> set[str]:
    return set(connection.exec_driver_sql(_TABLES[connection.dialect.name]).scalars())


def version(connection: Connection) -> int:
    """The last revision that a database has seen; 0: it is new."""
    if connection.dialect.name == "sqlite":
        return int(connection.exec_driver_sql("PRAGMA user_version").scalar_one())
    if revision.name not in names(connection):
        return 0
    return int(connection.exec_driver_sql(f"SELECT version_num FROM {revision.name}").scalar_one())


def upgrade(connection: Connection) -> None:
    """Make the tables, or change them as the revisions say, inside the transaction of the connection."""
    if version(connection):
        _revise(connection)
    else:
        for statement in _made(connection.dialect.name):
            connection.exec_driver_sql(statement)
        connection.execute(revision.insert(), {"version_num": str(newest())})
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql(f"PRAGMA user_version = {newest()}")  # cheaper to read than a table


def _revise(connection: Connection) -> None:
    from alembic import command  # takes a fifth of a second, once per version
    from alembic.config import Config

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    command.upgrade(config, "head")


@cache
def _made(dialect: str) -> tuple[str, ...]:
    """What makes the tables, with their indexes and what guards the audit. PostgreSQL checks its own pages."""
    spelling = import_module(f"sqlalchemy.dialects.{dialect}").dialect()
    ours = [table for table in METADATA.sorted_tables if dialect == "sqlite" or table is not digests]
    parts: list[ExecutableDDLElement] = [
        *map(CreateTable, ours),
        *(CreateIndex(index) for table in ours for index in sorted(table.indexes, key=lambda index: str(index.name))),
    ]
    guards = [
        _APPEND_ONLY[dialect].format(name=name, event=event, why=_WHY)
        for name, event in (("audit_stays", "UPDATE"), ("audit_grows", "DELETE"))
    ]
    return (*(str(part.compile(dialect=spelling)) for part in parts), *guards)
