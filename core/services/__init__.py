"""Use cases, one room per part of the menu, on `core.storage` and ports; `core.bootstrap.App` has one field per
room.
"""
