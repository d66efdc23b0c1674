"""A comment may be about lines that a change removes."""

from alembic import op

from core.storage.state.tables import new_column

revision, down_revision = "40", "39"


def upgrade() -> None:
    op.add_column("comments", new_column("removed", "bool", False))
