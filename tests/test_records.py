"""A use case is one mark and one record: a toy is added here, and every door knows it."""

from __future__ import annotations

import json
import sys
from types import ModuleType
from typing import Annotated, Any

import pytest

from core.access import Actor, use_case, use_case_of
from core.bootstrap import App
from core.entrypoints import commands, record, session
from core.entrypoints.cli import main
from core.entrypoints.record import Argument, CommandCall, Option, Shown, command, form
from tests import reference
from tests.conftest import demo


class Bells:
    """The service of the toy: one use case."""

    @use_case("confirm a document")
    def ring(self, actor: Actor, times: int) -> dict[str, Any]:
        return {"who": actor.id, "rung": times}


@pytest.fixture
def bells(app: App, monkeypatch: pytest.MonkeyPatch) -> App:
    """The module of the toy: a form, and a record whose function calls the service."""
    module = ModuleType("core.entrypoints.bells")

    @form
    class RingOptions:
        times: Annotated[int, Argument("N", "how often")]
        loud: Annotated[bool, Option("so that everybody hears it")] = False

    def ring(call: CommandCall, form: Any) -> Shown:
        rung = Bells().ring(call.actor, form.times)
        return Shown({**rung, "loud": form.loud}, ["Ding!"] * form.times)

    ring.__module__, ring.__annotations__["form"] = module.__name__, RingOptions
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(commands.COMMANDS, "bells", {"bell": "the bell of the house"})  # type: ignore[attr-defined]
    monkeypatch.setitem(commands.GROUPS, "Bells", "bell")  # type: ignore[attr-defined]
    monkeypatch.setattr(record, "COMMANDS", dict(record.COMMANDS))
    monkeypatch.setattr(session, "open_app", lambda settings: app)
    command("bell ring", "ring the bell", needs="confirm a document")(ring)
    return app


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


def test_the_role_below_is_refused_by_the_mark(bells: App, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(bells, "bell", "ring", "2", role="author") == 1
    assert capsys.readouterr().err.startswith("Only reviewers and admins may confirm a document")


def test_the_reference_pages_list_it(bells: App) -> None:
    assert "**`bell ring N`**: ring the bell." in reference.commands()
    row = next(line for line in reference.rights().splitlines() if line.startswith("| confirm a document |"))
    assert "`bell` ring" in row


def test_the_mark_asks_before_the_body_whichever_way_the_actor_comes() -> None:
    found = use_case_of(Bells.ring)
    assert found
    assert found.needs == "confirm a document"
    for call in (lambda who: Bells().ring(who, 1), lambda who: Bells().ring(actor=who, times=1)):
        assert call(demo("reviewer"))["rung"] == 1
        with pytest.raises(Exception, match="Only reviewers"):
            call(demo("author"))
