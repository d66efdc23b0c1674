"""A gap says which document it is near, and a message which paths it speaks of: both are for their readers."""

import json

import sqlalchemy as sa
from alembic import op

from core.storage.state.tables import new_column

revision, down_revision = "39", "38"


def upgrade() -> None:
    op.add_column("gaps", new_column("near", "str", "/"))
    op.add_column("messages", new_column("names", "str", "[]"))
    database = op.get_bind()
    database.execute(sa.text("UPDATE gaps SET near = folder || '/' WHERE folder <> ''"))
    for query, near in database.execute(sa.text("SELECT query, near FROM gaps WHERE folder <> ''")).all():
        values = {"names": json.dumps([near]), "query": query}
        database.execute(sa.text("UPDATE messages SET names = :names WHERE kind = 'gap' AND ref = :query"), values)
