"""The form of version 1.0.0: databases of it have all tables, and what changed since follows."""

revision, down_revision = "35", None
