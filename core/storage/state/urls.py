"""Which database a URL names."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError

from core.errors import BadInput
from core.storage.state.database import Database
from core.storage.state.sqlite import SqliteDatabase

_FORM = (
    "The address of a database must look like postgresql://user:password@host:5432/name or sqlite:////folder/app.db."
)


def open_database(url: str, file: Path) -> Database:
    """The database behind a URL; SQLite in `file` for an empty one."""
    if not url:
        return SqliteDatabase(file)
    try:
        parsed = make_url(url.replace("postgres://", "postgresql://", 1))
    except ArgumentError:
        raise BadInput(_FORM) from None
    if parsed.drivername == "sqlite" and parsed.database:
        return SqliteDatabase(Path(parsed.database).absolute())
    if parsed.drivername.partition("+")[0] != "postgresql" or not parsed.database:
        raise BadInput(_FORM)
    from core.storage.state.postgres import PostgresDatabase

    return PostgresDatabase(parsed)
