"""One file per outside system. Only `core.bootstrap` imports from here."""
