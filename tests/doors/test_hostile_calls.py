"""Texts and bodies that mean harm, through the doors of programs: the HTTP API and MCP. Each gets an answer, none
costs the server much.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from typing import Any

import anyio
import pytest
from mcp import Client

from core.adapters.conversion.texts import LIMITS
from core.adapters.conversion.worker_pool import Limits
from core.bootstrap import App
from core.entrypoints.mcp.endpoint import McpEndpoint
from core.entrypoints.mcp.server import build_server
from core.entrypoints.mcp.tools.propose_change import ImpactReply
from core.entrypoints.mcp.visits import ToolSession
from tests.conftest import demo
from tests.long.test_hostile_uploads import slow_text
from tests.support.api_server import ApiServer, served
from tests.support.hostile_files import YAML, hostile

CPU = 2.5  # seconds of this process that a call may cost


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> ApiServer:
    return served(tmp_path_factory.mktemp("hostile") / "home")


def bombs() -> list[tuple[str, str]]:
    """Names and texts: YAML and Markdown bombs, and files of other programs under their own names and under .md."""
    every = list(hostile(220, seed=27))
    texts = [(name, raw) for name, raw in every if name.endswith(".md") and len(raw) < 60_000][::5]
    others = [(name, raw) for name, raw in every if not name.endswith((".md", ".txt")) and len(raw) < 60_000][::6]
    others += [(f"{name}.md", raw) for name, raw in others]
    yaml = [(f"yaml-{n}.md", f"---\n{part}\n---\n# T\n\nText.\n".encode()) for n, part in enumerate(YAML[::4])]
    return [(name, raw.decode("utf-8", "replace")) for name, raw in (*texts, *others, *yaml)]


def test_bombs_as_proposals_get_an_answer_from_the_api_and_cost_it_little(server: ApiServer) -> None:
    statuses, costs, sent = set[int](), dict[str, float](), bombs()
    for name, text in sent:
        began = time.process_time()
        body = {"title": "T", "files": [{"path": f"h/{name}"[:150], "text": text}]}
        statuses.add(server.post("/changes", body).status_code)
        costs[name] = time.process_time() - began
    assert len(sent) > 40
    assert statuses <= {201, 400, 409, 413, 422}
    assert {201, 400} & statuses
    assert max(costs.values()) < CPU, sorted(costs.items(), key=lambda each: -each[1])[:5]


def test_bombs_as_proposals_of_an_assistant_get_a_sentence_and_cost_it_little(
    server: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    app, costs, sent = server.app, dict[str, float](), bombs()[::3]
    module = sys.modules["core.entrypoints.mcp.tools.propose_change"]
    monkeypatch.setattr(module, "_impact", lambda *_: ImpactReply(sentence="Not measured."))

    async def work() -> list[Any]:
        answers = []
        async with Client(build_server(lambda ctx: ToolSession(app, demo("author"), "http://testserver"))) as client:
            for name, text in sent:
                began = time.process_time()
                given = {"document": f"m/{name}"[:150], "text": text}
                answers.append(await client.call_tool("propose_change", {"title": "T", "edits": [given]}))
                costs[name] = time.process_time() - began
        return answers

    for answer in anyio.run(work):
        assert answer.content[0].text
        assert "Traceback" not in answer.content[0].text
    assert max(costs.values()) < CPU, sorted(costs.items(), key=lambda each: -each[1])[:5]


def test_a_text_that_takes_too_long_is_named_by_the_api(server: ApiServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.app.upload.reader.close()  # whose workers have the limits of production
    monkeypatch.setattr(server.app.upload.reader.pool, "limits", Limits(120.0, 1, LIMITS.memory))
    files = [{"path": "h/slow.md", "text": slow_text()}]
    answer = server.post("/changes", {"title": "T", "files": files})
    assert answer.status_code in (201, 400)
    assert "seconds of computing" in json.dumps(answer.json()), sorted(answer.json().items())
    server.app.upload.reader.close()


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 100_000,
        b'{"title":' * 50_000,
        b'{"title": "T", "files": ' + b"[" * 900 + b"]" * 900 + b"}",
        b'{"title": "T", "title": "U", "files": [], "n": ' + b"9" * 100_000 + b"}",
        b'{"title": "T", "files": [{"path": "a.md", "text": "' + b"\\ud800" * 20_000 + b'"}]}',
        b"\x1f\x8b\x08" + b"\x00" * 10_000,
        b'{"title": NaN, "files": []}',
    ],
)
def test_json_that_means_harm_is_refused_with_a_sentence(server: ApiServer, body: bytes) -> None:
    began = time.process_time()
    headers = {"Authorization": f"Bearer {server.tokens['author']}", "Content-Type": "application/json"}
    for more in ({}, {"Content-Encoding": "gzip"}):
        answer = server.client.post("/changes", content=body, headers=headers | more)
        assert 400 <= answer.status_code < 500, answer.text[:200]
    assert time.process_time() - began < CPU


def called(app: App, token: str, *messages: dict[str, Any]) -> list[dict[str, Any]]:
    """What /mcp sends to one POST whose body comes in these parts."""
    sent: list[dict[str, Any]] = []
    coming = [*messages]

    async def receive() -> dict[str, Any]:
        return coming.pop(0) if coming else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    async def main() -> None:
        endpoint = McpEndpoint(lambda: app)
        names = {"authorization": f"Bearer {token}", "content-type": "application/json", "accept": "application/json"}
        headers = [(name.encode(), value.encode()) for name, value in names.items()]
        scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": headers, "query_string": b""}
        async with endpoint.running():
            await endpoint({**scope, "server": ("testserver", 80), "scheme": "http"}, receive, send)

    anyio.run(main)
    return sent


def test_a_caller_of_mcp_that_leaves_is_one_line_in_the_log(
    server: ApiServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "concord")  # a quiet worker's command may have set it higher
    assert called(server.app, server.tokens["author"], {"type": "http.request", "body": b"{", "more_body": True}) == []
    assert not [record for record in caplog.records if record.exc_info]
    assert "A caller of /mcp left before its request was whole." in caplog.messages


def test_a_body_of_mcp_is_refused_while_it_comes(server: ApiServer) -> None:
    part = {"type": "http.request", "body": b"x" * 1_000_000, "more_body": True}
    start, _ = called(server.app, server.tokens["author"], *[part] * 9)
    assert start["status"] == 413


def test_an_assistant_sends_no_endless_list_of_edits(server: ApiServer) -> None:
    edits = [{"document": "it/a.md", "text": "x" if not n else "", "find": "x", "replace": "x"} for n in range(500)]

    async def work() -> Any:
        async with Client(build_server(lambda ctx: ToolSession(server.app, demo("author"), "http://x"))) as client:
            return await client.call_tool("propose_change", {"title": "T", "edits": edits})

    answer = anyio.run(work)
    assert answer.is_error
    assert "100" in answer.content[0].text


def test_a_token_has_the_rights_of_each_call(server: ApiServer) -> None:
    """A role that is taken away is gone at the next call, and so is an account; what was proposed before stays."""
    accounts, body = (
        server.app.people.accounts,
        {"title": "T", "files": [{"path": "it/role.md", "text": "# R\n\nT.\n"}]},
    )
    server.tokens["leaver"] = server.app.people.tokens.make(demo("author2"), "leaver", "propose")[0]
    number = server.post("/changes", body, "leaver").json()["id"]
    accounts.set_role(demo("admin"), "author2", "reader")
    writes = {
        "/changes": body,
        f"/changes/{number}/edits": {"title": "Other"},
        f"/changes/{number}/submit": {},
        f"/changes/{number}/close": {},
        "/runs": {"queryset": "none"},
    }
    try:
        for path, sent in writes.items():
            answer = server.post(path, sent, "leaver")
            assert (answer.status_code, "is a reader." in answer.json()["detail"]) == (403, True), path
        assert server.get("/search?q=vpn", "leaver").status_code == 200
        accounts.set_active(demo("admin"), "author2", False)
        assert server.get("/search?q=vpn", "leaver").status_code == 401
    finally:
        accounts.set_active(demo("admin"), "author2", True)
        accounts.set_role(demo("admin"), "author2", "author")
    assert server.get(f"/changes/{number}", "admin").json()["title"] == "T"
