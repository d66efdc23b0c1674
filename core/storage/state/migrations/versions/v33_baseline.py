"""Where Alembic begins: databases of earlier versions come to the form that it finds."""

from __future__ import annotations

from alembic import op

from core.errors import Unavailable
from core.storage.state.migrations import earlier

revision, down_revision = "33", None


def upgrade() -> None:
    """Files of every release are brought here; no release before made tables in PostgreSQL, so those have the form already."""
    connection = op.get_bind()
    if connection.dialect.name == "sqlite":
        earlier.upgrade(connection)
        return
    if connection.exec_driver_sql("SELECT seen FROM migrations").scalar_one() != 32:
        raise Unavailable(
            "The tables were made between two releases. Move the workspace to a file with the version that made them."
        )
    op.drop_table("migrations")
