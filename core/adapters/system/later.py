"""Modules that are imported when something of them is first used: most commands never touch a vector."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class Later:
    """Stands for a module.

    >>> Later("math").floor(2.5)
    2
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)
