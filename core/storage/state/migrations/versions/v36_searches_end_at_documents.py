"""An asked question says which document it ended at, where everybody may read that."""

from alembic import op

from core.storage.state.tables import new_column

revision, down_revision = "36", "35"


def upgrade() -> None:
    op.add_column("queries", new_column("document", "str", ""))
