"""One question, every door: the command line, the HTTP API and the assistants' tools answer field by field alike."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

import pytest

from core.access import FREE, NEEDS, REACH, ROLES, SCOPES
from core.entrypoints import session
from core.entrypoints.api import reference
from core.entrypoints.api.operations import operations
from core.entrypoints.cli import main
from core.entrypoints.mcp.tools import TOOLS
from core.evaluation.querysets.queryset import Judgment, QuerySet, Question
from core.services.reviews.discussion import CommentPlace
from core.types import Frozen
from tests.conftest import demo, put
from tests.doors.test_doors import needed, records
from tests.support.api_server import ApiServer, served

TIMES = {"ms", "seconds"}  # what no two calls share


def actions() -> dict[str, str]:
    """Every operation with the action that it needs."""
    return {each.name: needed(each) for _, each in operations()}


def test_every_operation_is_a_record_that_names_its_use_case(doors: ApiServer) -> None:
    described = reference.document(doors.api)["paths"].values()
    named = {operation["operationId"] for methods in described for operation in methods.values()}
    assert named == {*actions(), "health", "metrics"}
    assert {each.calls for _, each in operations()} <= set(records())


def test_every_tool_names_its_use_case_and_the_action_that_it_needs() -> None:
    for tool in TOOLS:
        assert records()[tool.calls].needs in (tool.needs, *FREE), tool.name


# ---------------------------------------------------------------- who may

BODIES: dict[str, Any] = {
    "confirm_document": {"document": "BSA-1"},
    "propose_change": {"title": "T", "files": [{"path": "a.md", "text": "# A\n"}]},
    "comment_on_change": {"message": "Why?"},
    "judge_change": {"verdict": "approve"},
    "invite_co_authors": {"accounts": ["author2"]},
    "report_gap": {"query": "Who signs?"},
    "assign_gap": {"account": "author"},
    "start_run": {"queryset": "nothing"},
}


def requests(described: dict[str, Any], there: Mapping[str, str] = Frozen()) -> dict[str, tuple[str, str, Any]]:
    """Every operation as a request: method, address and body. It leads nowhere, but for parameters that `there` names;
    with `there`, what can be switched on is on."""
    found = {}
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            name, needed = operation["operationId"], operation.get("parameters", ())
            asked = {p["name"]: p for p in needed if p["in"] == "query"}
            given = {key: there.get(key, "nothing") for key, p in asked.items() if p.get("required")}
            given |= {key: "true" for key, p in asked.items() if there and p["schema"].get("type") == "boolean"}
            query = urlencode(given)
            for parameter in (p for p in needed if p["in"] == "path"):
                value = "99999" if parameter["schema"].get("type") == "integer" else "nothing"
                path = path.replace(f"{{{parameter['name']}}}", there.get(parameter["name"], value))
            body = BODIES.get(name, {} if "requestBody" in operation else None)
            found[name] = (method.upper(), f"{path}?{query}" if query else path, body)
    return found


def test_every_operation_asks_for_role_and_scope(doors: ApiServer) -> None:
    """The role below is refused, and so is an admin whose token has the scope below."""
    asked = requests(reference.document(doors.api))
    for name, action in actions().items():
        if action in FREE:
            continue
        below = ROLES.index(NEEDS[action]) - 1
        if below >= 0:
            refused = doors.ask(ROLES[below], *asked[name])
            assert (refused.status_code, refused.json()["detail"][:5]) == (403, "Only "), (name, refused.text)
        if REACH[action] != SCOPES[0]:
            narrow = SCOPES[SCOPES.index(REACH[action]) - 1]
            doors.tokens[narrow] = (
                doors.tokens.get(narrow) or doors.app.people.tokens.make(demo("admin"), narrow, narrow)[0]
            )
            refused = doors.ask(narrow, *asked[name])
            assert refused.status_code == 403, (name, refused.text)
            assert f"has the scope {narrow}" in refused.json()["detail"], name


# ---------------------------------------------------------------- field by field


@pytest.fixture(scope="module")
def doors(tmp_path_factory: pytest.TempPathFactory) -> ApiServer:
    """A workspace with a change, a gap, a query set, two runs and a job."""
    server = served(tmp_path_factory.mktemp("doors") / "home")
    app, author = server.app, demo("author")
    put(
        app,
        {
            "fin/ctr.md": "---\nid: BSA-1\ntitle: Currency reports\nowner: Mei\ntags: [cash]\n---\n# Currency "
            "reports\n\nFile Form 112 for cash over $10,000. See [SAR](sar.md).\n"
        },
    )
    app.index.builder.build(app.platform.settings.profile())
    app.reviews.changes.propose(author, "Drawers", {"fin/drawers.md": b"# Drawers\n\nCount twice.\n"}, "Asked often")
    app.reviews.changes.submit(author, 1)
    app.reviews.discussion.comment(demo("reviewer"), 1, "Why?", CommentPlace("fin/drawers.md", 3))
    app.knowledge.gaps.report(demo("reader"), "Who signs?", "Nobody knows")
    asked = QuerySet("cash", (Question("q1", "Form 112 for cash"),), (Judgment("q1", "fin/ctr.md"),))
    app.evaluation.querysets.keep(author, asked)
    app.evaluation.runs.measure(author, "cash", [("", "bm25"), ("", "dense")])
    app.evaluation.runs.start(author, "cash", [("", "bm25")])
    return server


@pytest.fixture
def typed(doors: ApiServer, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> Callable[..., Any]:
    """What a command prints as JSON, on the same open workspace."""
    monkeypatch.setattr(session, "open_app", lambda settings: doors.app)

    def run(line: str, role: str = "author") -> Any:
        words = [word.replace("_", " ") for word in line.split()]
        code = main(["--home", str(doors.app.settings.home), *words, "--as", role, "--json", "--quiet"])
        printed = capsys.readouterr()
        assert code == 0, printed.err
        return json.loads(printed.out)

    return run


def timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: timeless(item) for key, item in value.items() if key not in TIMES}
    return [timeless(item) for item in value] if isinstance(value, list) else value


def test_command_line_and_api_refuse_with_the_same_sentence(doors: ApiServer, capsys: Any, typed: Any) -> None:
    for line, path, role in (
        ("documents show nothing", "/documents/nothing", "author"),
        ("change show 99999", "/changes/99999", "author"),
        ("search form --config nothing", "/search?q=form&config=nothing", "author"),
        ("search form --as-of soon", "/search?q=form&as_of=soon", "author"),
        ("change list", "/changes", "reader"),
        ("eval runs", "/runs", "reader"),
    ):
        with pytest.raises(AssertionError) as refused:
            typed(line, role)
        problem = doors.get(path, role).json()
        said = problem["detail"].partition(f" {problem.get('cure', {}).get('does')} ")[0]
        assert str(refused.value).split("\nassert")[0].strip().startswith(said), line
        assert said.endswith(".")
        assert "python -m core" not in said, "a program cannot run a command"


# ---------------------------------------------------------------- assistants


def test_assistants_read_the_same_words_of_the_same_version(doors: ApiServer) -> None:
    """The tools answer within a budget of tokens: what they name, they name as the API does."""
    from core.entrypoints.mcp.server import build_server
    from core.entrypoints.mcp.visits import ToolSession
    from tests.doors.test_mcp import HERE, call

    tools = build_server(lambda ctx: ToolSession(doors.app, demo("author"), HERE))
    found = doors.get("/search?q=form+112+for+cash&k=50").json()
    said = call(tools, "search", question="form 112 for cash").structured_content
    by_place = {(hit["doc"], hit["start"]): hit for hit in every(found["hits"])}
    assert said["hits"]
    for hit in said["hits"]:
        same = by_place[hit["doc"], hit["start"]]
        for field in ("path", "title", "version", "heading"):
            assert hit[field] == same[field], field
        assert hit["status"] in (same["status"], "imported")  # what nobody approved, models are told
        assert same["text"].startswith(hit["text"])
    assert (said["hits"][0]["doc"], said["confidence"]) == (found["hits"][0]["doc"], found["confidence"])


def every(hits: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [other for hit in hits for other in (hit, *hit["further"])]
