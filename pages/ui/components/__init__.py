"""Components: small pieces of JavaScript that draw data as elements. Text reaches the page as text, never as markup."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

_HERE = Path(__file__).parent


@cache
def component(name: str, *shared: str) -> Any:
    """Register a component once per process. All get dom.js and base.css; `shared` names further files."""
    return st.components.v2.component(
        f"concord_{name}",
        html='<div id="root" class="root"></div>',
        css=source("css", "base", *shared, name),
        js=source("js", "dom", *shared, name),
    )


def heard(*names: str) -> dict[str, Callable[[], None]]:
    """What a component may say and the page reads afterwards: Streamlit wants a function for each name."""
    return {f"on_{name}_change": lambda: None for name in names}


def source(ending: str, *names: str) -> str:
    """What the files of some components hold, those of one ending."""
    files = (_HERE / f"{name}.{ending}" for name in names)
    return "".join(file.read_text() for file in files if file.exists())
