"""Accounts say whether they see Analysis, and whether their password is to be chosen anew."""

from alembic import op

from core.storage.state.tables import new_column

revision, down_revision = "34", "33"


def upgrade() -> None:
    op.add_column("accounts", new_column("analysis", "bool", True))
    op.add_column("accounts", new_column("renew", "bool", False))
