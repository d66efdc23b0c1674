"""Components: small pieces of JavaScript that draw data as elements. Text reaches the page as text, never as markup."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

_HERE = Path(__file__).parent


@cache
def component(name: str) -> Any:
    """Register a component once per process; every one shares the same helpers and the same look."""
    script = (_HERE / "dom.js").read_text() + (_HERE / f"{name}.js").read_text()
    style = (_HERE / "base.css").read_text() + (
        (_HERE / f"{name}.css").read_text() if (_HERE / f"{name}.css").exists() else ""
    )
    return st.components.v2.component(
        f"concord_{name}", html='<div id="root" class="root"></div>', css=style, js=script
    )
