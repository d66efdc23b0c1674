"""A webhook says as whom it reads."""

from alembic import op

from core.storage.state.tables import new_column

revision, down_revision = "37", "36"


def upgrade() -> None:
    op.add_column("webhooks", new_column("reads_as", "str", ""))
