"""A workspace that was just made: a copy of one, with an id of its own, for a tenth of the CPU seconds of making it."""

from __future__ import annotations

import atexit
import shutil
import sqlite3
import tempfile
import uuid
from collections.abc import Callable
from contextlib import closing
from functools import cache
from pathlib import Path

from core.storage.state import table_sums


@cache
def template(make: Callable[[Path], object]) -> Path:
    """What `make` makes in an empty folder, with everything in the database itself and nothing in its log."""
    folder = Path(tempfile.mkdtemp(prefix="concord-blank-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    make(folder / "made")
    shutil.copytree(folder / "made", folder / "home", ignore=shutil.ignore_patterns("app.db*", "*.lock"))
    with closing(sqlite3.connect(folder / "made" / "app.db")) as source:
        source.execute("VACUUM INTO ?", (str(folder / "home" / "app.db"),))
    with closing(sqlite3.connect(folder / "home" / "app.db")) as made:
        made.execute("PRAGMA journal_mode = WAL")
    return folder / "home"


def fill(home: Path, make: Callable[[Path], object]) -> None:
    """Write the workspace that `make` would make here."""
    shutil.copytree(template(make), home, dirs_exist_ok=True)
    workspace = uuid.uuid4().hex
    (home / "index" / "WORKSPACE").write_text(f"{workspace}\n")
    config = home / "kb.git" / "config"
    head, _, _ = config.read_text().rpartition("workspace = ")
    config.write_text(f"{head}workspace = {workspace}\n")
    with closing(sqlite3.connect(home / "app.db")) as database, database:
        database.execute("PRAGMA synchronous = OFF")
        database.execute("UPDATE workspace SET id = ?", (workspace,))
        sealed = table_sums.now(database, "workspace", table_sums._columns(database, "workspace"))
        database.execute(f"UPDATE {table_sums.TABLE} SET rows = ?, total = ? WHERE name = 'workspace'", sealed)
