"""The playground's columns: headers with knobs, hits with their rank changes, and grades by click or key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pages.ui.components import component

EVENTS = ("turn", "adjust", "judge", "look", "keep")


def playground(data: Mapping[str, Any], key: str, on: Mapping[str, Callable[[], None]]) -> Any:
    """Draw the columns. Clicks come back as triggers: `turn`, `adjust`, `judge`, `look`, `keep`."""
    handlers = {f"on_{event}_change": on.get(event, _nothing) for event in EVENTS}
    return component("playground", "snippet")(key=key, data=dict(data), **handlers)


def _nothing() -> None:
    """For clicks that the page reads afterwards."""
