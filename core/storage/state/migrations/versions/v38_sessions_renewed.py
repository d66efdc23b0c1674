"""A session keeps what is needed to ask its sign-in provider again, sealed, and when that was done."""

from alembic import op

from core.storage.state.tables import new_column

revision, down_revision = "38", "37"


def upgrade() -> None:
    op.add_column("sessions", new_column("provider_tokens", "str", ""))
    op.add_column("sessions", new_column("provider_asked", "str", ""))
