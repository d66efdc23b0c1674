"""Relational state and caches in SQLite. The door is `database.Database`."""
