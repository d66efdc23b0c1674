"""What every server imports and prepares, six CPU seconds: the fork server does it once."""

from __future__ import annotations

import gc
import logging
import os
import warnings
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

ROOT = Path(__file__).resolve().parents[2]
IMPORTED = """
    streamlit.web.cli streamlit.web.bootstrap streamlit.web.server.starlette pandas pyarrow tokenizers
    uvicorn.lifespan.on uvicorn.protocols.http.httptools_impl uvicorn.protocols.websockets.websockets_impl uvloop
    fastapi mcp authlib.jose core.bootstrap core.entrypoints.api.application core.entrypoints.mcp.server
    core.storage.index.arrays.compiled anyio._backends._asyncio rich.console rich.traceback rapidfuzz.distance onnxruntime
"""  # nothing that starts a thread or reads the environment  # noqa: E501
SETTINGS = ("pages.ui.server.routes",)  # they read the environment


def load() -> None:
    import pages.ui

    parts = [each.name for each in walk_packages(pages.ui.__path__, "pages.ui.") if each.name not in SETTINGS]
    for name in (*IMPORTED.split(), *parts):
        import_module(name)


def prepare() -> None:
    """Load the model and make the forms of the API."""
    from streamlit.components.v2 import manifest_scanner

    from core.adapters.models import onnx, registry
    from core.entrypoints.api import operations
    from core.errors import ConcordError
    from core.services.search import page
    from core.storage.index.arrays import kernels
    from core.types import Profile

    manifest_scanner.scan_component_manifests = lambda: []  # half a second to look into every package, as in conftest
    page.WARMED = 0  # half a second for snippets that hardly a test looks at; test_search_page looks at the law
    kernels.warm()
    operations.router(operations.of_module("pages.ui.server.operations"))
    onnx._session, onnx._tokenizer = cache(onnx._session), cache(onnx._tokenizer)  # type: ignore[assignment]
    with suppress(ConcordError):  # where no weights are, pages say so
        registry.ModelRegistry(ROOT / ".models", 1, True).embedder(Profile("").embedder)


logging.disable()
with warnings.catch_warnings(record=True):
    try:
        load()
        prepare()
    except ImportError as error:  # which the fork server would not mention
        raise RuntimeError("tests/support/preloaded.py names a module that is not there.") from error
logging.disable(logging.NOTSET)
if len(os.listdir("/proc/self/task")) > 1:
    raise SystemExit("A process with several threads cannot be forked safely.")
gc.collect()
gc.freeze()
