"""A use case is one mark and one record: a toy is added here, and every door knows it."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core import entrypoints
from core.access import AUDITED, Actor, use_case, use_case_of
from core.bootstrap import App
from core.entrypoints import record, rooms, session
from core.entrypoints.api import reference as api_reference
from core.entrypoints.api import schemas
from core.entrypoints.cli import main
from core.entrypoints.mcp import tools
from core.entrypoints.mcp.server import build_server
from core.entrypoints.mcp.visits import ToolReply, ToolSession
from tests import reference
from tests.conftest import demo
from tests.support.api_server import ApiServer


class Bells:
    """The service of the toy: one use case, whose mark says that it is recorded."""

    def __init__(self, app: App) -> None:
        self.audit = app.people.audit

    @use_case("confirm a document")
    def ring(self, actor: Actor, times: int) -> dict[str, Any]:
        self.audit.note(actor, "ring the bell", f"{times} times")
        return {"who": actor.id, "rung": times}


MODULE = '''
"""The bell of the house."""

from typing import Annotated

from core.entrypoints.record import Argument, Option, Shown, UseCaseCall, command, form, operation
from tests.doors.test_records import Bells


@form
class RingOptions:
    times: Annotated[int, Argument("N", "how often")]
    loud: Annotated[bool, Option("so that everybody hears it")] = False


@operation("ring_bell", "POST /bells/{times}", "RungBell")
@command("bell ring", "ring the bell", needs="confirm a document")
def ring(call: UseCaseCall, form: RingOptions) -> Shown:
    """Ring the bell."""
    rung = Bells(call.app).ring(call.actor, form.times)
    return Shown({**rung, "loud": form.loud}, ["Ding!"] * form.times)
'''


@pytest.fixture
def bells(app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[App]:
    """The module of the toy: a form, and a record whose function calls the service."""
    folder = tmp_path / "records"
    folder.mkdir()
    (folder / "bells.py").write_text(MODULE)
    monkeypatch.setattr(entrypoints, "__path__", [*entrypoints.__path__, str(folder)])
    monkeypatch.setitem(rooms.ROOMS, "Bells", ("bells",))  # type: ignore[attr-defined]
    monkeypatch.setattr(session, "open_app", lambda settings: app)
    monkeypatch.setattr(
        schemas, "RungBell", schemas.record("RungBell", "A rung bell.", who=str, rung=int, loud=bool), raising=False
    )
    tools.TOOLS.append(tools.Tool(ring_bell, "", "confirm a document"))
    yield app
    tools.TOOLS.pop()
    record.COMMANDS.pop("bell ring", None)
    record.OPERATIONS.pop("ring_bell", None)
    sys.modules.pop("core.entrypoints.bells", None)


class RungReply(ToolReply):
    """What the tool of the toy returns."""

    rung: int

    def words(self) -> str:
        return "Ding!" * self.rung


def ring_bell(visit: Any, times: int) -> RungReply:
    """Ring the bell."""
    return RungReply(rung=Bells(visit.app).ring(visit.actor, times)["rung"])


def run(app: App, *words: str, role: str = "reviewer") -> int:
    return main(["--home", str(app.settings.home), *words, "--as", role, "--quiet"])


def test_a_record_is_a_command_with_help_and_json(bells: App, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(bells, "bell", "ring", "2", "--loud", "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"who": "reviewer", "rung": 2, "loud": True}
    assert run(bells, "bell", "ring", "2") == 0
    assert capsys.readouterr().out == "Ding!\nDing!\n"
    with pytest.raises(SystemExit):
        run(bells, "bell", "ring", "--help")
    said = capsys.readouterr().out
    assert "how often" in said
    assert "so that everybody hears it" in said


def test_it_is_an_operation_with_its_entry_in_the_document(bells: App) -> None:
    server = ApiServer(bells)
    entry = api_reference.document(server.api)["paths"]["/bells/{times}"]["post"]
    assert (entry["operationId"], entry["description"], entry["tags"]) == ("ring_bell", "Ring the bell.", ["bells"])
    assert entry["responses"]["200"]["content"]["application/json"]["schema"]["$ref"].endswith("/RungBell")
    rung = server.post("/bells/2", {"loud": True}, role="reviewer")
    assert rung.json() == {"who": "reviewer", "rung": 2, "loud": True}
    assert server.post("/bells/2", {"loudly": True}, role="reviewer").status_code == 422
    refused = server.post("/bells/2", {}, role="author")
    assert (refused.status_code, refused.json()["detail"][:45]) == (
        403,
        "Only reviewers and admins may confirm a docum",
    )


def test_it_is_a_tool_for_those_who_may_use_it(bells: App) -> None:
    assert [tool.name for tool in tools.offered(demo("reviewer"))][-1] == "ring_bell"
    assert "ring_bell" not in [tool.name for tool in tools.offered(demo("author"))]
    built = build_server(lambda ctx: ToolSession(bells, demo("reviewer"), ""))
    called = asyncio.run(built.call_tool("ring_bell", {"times": 2}))
    assert called.structured_content == {"rung": 2}


def test_it_is_a_method_of_the_client(bells: App) -> None:
    assert "def ring_bell(self, times: int, *, loud: bool = False) -> Json:" in reference.client()


def test_the_role_below_is_refused_by_the_mark(bells: App, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(bells, "bell", "ring", "2", role="author") == 1
    assert capsys.readouterr().err.startswith("Only reviewers and admins may confirm a document")


def test_what_its_mark_calls_recorded_is_in_the_audit_with_its_door(bells: App) -> None:
    found = use_case_of(Bells.ring)
    assert found
    assert found.recorded == AUDITED
    assert run(bells, "bell", "ring", "1") == 0
    assert ApiServer(bells).post("/bells/2", {}, role="reviewer").status_code == 200
    assert run(bells, "bell", "ring", "3", role="author") == 1
    rows = bells.people.audit.entries(demo("admin"), action="ring the bell")
    assert [(row.who, row.what, row.door) for row in rows] == [
        ("reviewer", "2 times", "api"),
        ("reviewer", "1 times", "command line"),
    ]


def test_the_reference_pages_list_it(bells: App) -> None:
    assert "**`bell ring N`**: ring the bell." in reference.commands()
    row = next(line for line in reference.rights().splitlines() if line.startswith("| confirm a document |"))
    assert "`bell` ring | `confirm_document`, `ring_bell` | `ring_bell` |" in row


def test_the_mark_asks_before_the_body_whichever_way_the_actor_comes(app: App) -> None:
    found = use_case_of(Bells.ring)
    assert found
    assert found.needs == "confirm a document"
    for call in (lambda who: Bells(app).ring(who, 1), lambda who: Bells(app).ring(actor=who, times=1)):
        assert call(demo("reviewer"))["rung"] == 1
        with pytest.raises(Exception, match="Only reviewers"):
            call(demo("author"))
