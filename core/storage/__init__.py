"""Concord's own storage: git, database, index, object store, caches. Services use it; only their `wiring` makes it."""
