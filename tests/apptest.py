"""Reading a page under AppTest."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from streamlit.testing.v1 import AppTest

Open = Callable[..., AppTest]


def drawn(app: AppTest, name: str) -> Any:
    """What a component was given to draw."""
    for element in app.get("bidi_component"):
        if element.proto.component_name == f"concord_{name}":
            return json.loads(element.proto.json)
    raise AssertionError(f"{name} was not drawn")


def words(app: AppTest) -> str:
    """Everything that stands in plain elements of the page."""
    kinds = ("title", "header", "caption", "markdown", "info", "warning", "error", "success", "text")
    return "\n".join(str(element.value) for kind in kinds for element in getattr(app, kind))
