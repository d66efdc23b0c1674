"""Use cases, one room per part of the menu. Services know ports, never adapters; `core.bootstrap.App` has one field per room."""
