"""The network, drawn on a canvas by the vis-network bundle that comes with pyvis; search, legend and details around it are plain text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import streamlit as st

from core.errors import Unavailable
from pages.ui.components import component

_BUNDLE = Path("lib", "vis-9.1.2", "vis-network.min.js")


def network(data: Mapping[str, Any], key: str, on_centre: Callable[[], None]) -> Any:
    """Draw a network. `centre` comes back as a trigger: a node to look around."""
    clicked = component("network")(key=key, data=dict(data), on_centre_change=on_centre)
    _library()(key="vis_library", data={}, height=1)
    return clicked


@cache
def _library() -> Any:
    """The bundle as its own component: its data never changes, so a browser receives it once."""
    script = bundle().partition("//# sourceMappingURL")[0]
    return st.components.v2.component(
        "concord_vis_library", html="<span></span>", js=f"{script}\nexport default function () {{}}\n"
    )


def bundle() -> str:
    """The JavaScript of vis-network, from the pyvis package."""
    package = find_spec("pyvis")
    path = Path(package.origin).parent / _BUNDLE if package and package.origin else Path("pyvis")
    if not path.is_file():
        raise Unavailable("pyvis is not installed, so the graph cannot be drawn. Install it with: pip install pyvis")
    return path.read_text(encoding="utf-8")
