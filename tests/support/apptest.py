"""Reading a page under AppTest."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from streamlit import config, delta_generator
from streamlit.testing.v1 import AppTest, app_test, local_script_runner

ROOT = Path(__file__).resolve().parents[2]
Open = Callable[..., AppTest]
PATIENCE = 600  # seconds for a page: nobody waits longer than needed, and a busy machine is slow
LOOK = local_script_runner.require_widgets_deltas


def _ended(runner: Any, timeout: float) -> None:
    """Wait for the end of a run; AppTest itself looks for it a thousand times a second."""
    runner._script_thread.join(timeout)
    LOOK(runner, 60)  # at once, unless the run was cut off


def _runtime(spec: type) -> SimpleNamespace:
    """A server that every tab is connected to, without headers; AppTest's own makes five mocks for every header that a
    page reads.
    """
    return SimpleNamespace(get_client=lambda tab: SimpleNamespace(client_context=None))


local_script_runner.require_widgets_deltas = _ended
config.set_option("runner.postScriptGC", False)  # after a click it looks through all that the tests before have left
app_test.MagicMock = _runtime
delta_generator._use_warning_has_been_displayed = True  # to learn who started it, it looks through every module
app_test.ScriptCache = local_script_runner.ScriptCache = cache(app_test.ScriptCache)  # pages are compiled once


def page_of(page: str, persona: str = "admin", *, framed: bool = True, **query: str) -> AppTest:
    """A page of the workspace in CONCORD_HOME, drawn once: where it stands in its frame, or alone, as a deep link
    starts it.
    """
    app = AppTest.from_file(
        str(ROOT / ("streamlit_app.py" if framed else f"pages/{page}.py")), default_timeout=PATIENCE
    )
    app.session_state["persona"] = persona
    for name, value in query.items():
        app.query_params[name] = value
    if framed:
        app.switch_page(f"pages/{page}.py")
    app.run()
    assert not app.exception, app.exception
    return app


def drawn(app: AppTest, name: str) -> Any:
    """What the first component of a kind was given to draw."""
    found = all_drawn(app, name)
    assert found, f"{name} was not drawn"
    return found[0]


def all_drawn(app: AppTest, name: str) -> list[Any]:
    """What each component of a kind was given to draw, from the top of the page."""
    parts = [element.proto for element in app.get("bidi_component")]
    return [json.loads(part.json) for part in parts if part.component_name == f"concord_{name}"]


def words(app: AppTest) -> str:
    """Everything that plain elements of the page say, and what it is about to say."""
    kinds = ["title", "header", "caption", "markdown", "info", "warning", "error", "success", "text", "toast", "metric"]
    parts = [(getattr(element, "label", ""), str(element.value)) for kind in kinds for element in getattr(app, kind)]
    kept = app.session_state["flash"] if "flash" in app.session_state else []  # noqa: SIM401  (it has no get)
    return "\n".join([*(" ".join(filter(None, part)) for part in parts), *(text for _, text in kept)])


def plain_words(app: AppTest) -> str:
    """The same as people read it: without the marks that keep Markdown out."""
    return words(app).replace("\\", "")
