"""Chains: entities in a row, and what joins each with the next."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pages.ui.components import component


def chain(paths: Sequence[Mapping[str, Any]], key: str, on_centre: Callable[[], None]) -> Any:
    """Draw paths, the first one open. A click on an entity comes back as the trigger `centre`."""
    data = {"paths": list(paths)}
    return component("chain")(key=key, data=data, on_centre_change=on_centre)
