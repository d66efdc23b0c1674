"""The outside world, one room per system. Only `core.bootstrap` imports from here."""
