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
    script = "".join(_read(f"{part}.js") for part in ("dom", *shared, name))
    style = "".join(_read(f"{part}.css") for part in ("base", *shared, name))
    return st.components.v2.component(
        f"concord_{name}", html='<div id="root" class="root"></div>', css=style, js=script
    )


def heard(*names: str) -> dict[str, Callable[[], None]]:
    """What a component may say and the page reads afterwards: Streamlit wants a function for each name."""
    return {f"on_{name}_change": lambda: None for name in names}


def _read(name: str) -> str:
    return (_HERE / name).read_text() if (_HERE / name).exists() else ""
