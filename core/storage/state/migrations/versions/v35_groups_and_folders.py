"""Accounts are in groups, by their own list and by the sign-in provider; a token may be narrowed to folders."""

from alembic import op

from core.storage.state.tables import new_column

revision, down_revision = "35", "34"


def upgrade() -> None:
    op.add_column("accounts", new_column("member_of", "str", ""))
    op.add_column("accounts", new_column("provider_groups", "str", ""))
    op.add_column("tokens", new_column("folders", "str", ""))
