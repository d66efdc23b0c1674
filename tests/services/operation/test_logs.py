"""Logs: one line each, in words or JSON, with the id that the proxy gave the request it belongs to."""

from __future__ import annotations

import asyncio
import io
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from core import logs
from core.errors import BadInput
from core.services.jobs.workers import Worker
from core.settings import load
from pages.ui.server.security import Guard
from tests.conftest import NoProcesses, demo, small_app

ADMIN = demo("admin")


@contextmanager
def lines(form: str) -> Iterator[list[str]]:
    """What the root logger writes."""
    out, written = logging.StreamHandler(io.StringIO()), list[str]()
    out.setFormatter(logs.LogLine(form))
    logging.getLogger().addHandler(out)
    try:
        yield written
    finally:
        logging.getLogger().removeHandler(out)
        written += out.stream.getvalue().splitlines()


def test_a_job_logs_under_the_id_of_the_request_that_asked_for_it(tmp_path: Path) -> None:
    app = small_app(tmp_path / "home", NoProcesses())
    for request in ("edge-1", ""):
        logs.REQUEST.set(request)  # as the server does for a page, the API and assistants
        app.platform.jobs.start("drift", {"of": request}, ADMIN)
    works = {"drift": lambda arguments, progress: logging.getLogger("core.tests").info("At work.")}
    with lines("json") as written:
        app.platform.workers.run(ADMIN, Worker("one"), works, lambda: None, once=True)
    said = [(line["request"], line["message"]) for line in map(json.loads, written) if line["logger"] != "concord.api"]
    assert said == [
        ("edge-1", "Job 1 begins in worker one."),
        ("edge-1", "At work."),
        ("edge-1", "Job 1: done "),
        ("", "Job 2 begins in worker one."),
        ("", "At work."),
        ("", "Job 2: done "),
    ]
    audited = [entry.request for entry in app.people.audit.entries(ADMIN) if entry.what == "drift 1"]
    assert audited == ["edge-1", "edge-1"]


@pytest.mark.parametrize(("given", "kept"), [(b"edge-2", "edge-2"), (b"two words", ""), (None, "")])
def test_every_answer_of_the_server_carries_one_id(given: bytes | None, kept: str) -> None:
    seen, sent = list[str](), list[Any]()

    async def page(scope: Any, receive: Any, send: Any) -> None:
        seen.append(await asyncio.to_thread(logs.REQUEST.get))
        await logs.answering(scope, send)({"type": "http.response.start", "status": 200, "headers": []})

    async def send(message: Any) -> None:
        sent.append(message)

    async def call() -> None:
        headers = [(b"host", b"localhost"), *([(b"x-request-id", given)] if given else [])]
        scope = {
            "type": "http",
            "method": "GET",
            "path": "/_stcore/health",
            "headers": headers,
            "client": ("127.0.0.1", 1),
        }
        await Guard(page, load({}))(scope, None, send)

    asyncio.run(call())
    returned = [value.decode() for name, value in sent[0]["headers"] if name == b"x-request-id"]
    assert returned == seen
    assert seen == [kept] if kept else len(seen[0]) == 32


def test_a_line_is_one_object_with_its_facts_and_its_traceback() -> None:
    log = logging.getLogger("concord.tests")
    with lines("json") as written:
        try:
            raise ValueError("over\nlines")
        except ValueError:
            log.warning("Failed.", exc_info=True, extra={"facts": {"ms": 1.5}})
    (line,) = map(json.loads, written)
    assert {"level": "warning", "logger": "concord.tests", "message": "Failed.", "ms": 1.5}.items() <= line.items()
    assert line["traceback"].splitlines()[-2:] == ["ValueError: over", "lines"]
    with pytest.raises(BadInput, match="CONCORD_LOG must be one of text, json"):
        load({"CONCORD_LOG": "xml"})
