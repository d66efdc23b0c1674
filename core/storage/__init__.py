"""The storage that is Concord's own: git, database, index, object store, caches. Services use it; only their `wiring` makes it."""
