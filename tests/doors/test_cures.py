"""Every refusal leads on: a command at the terminal, a link on a page, fields for programs, one sentence for
assistants.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from core import cures
from core.access import ANYBODY, NEEDS, ROLES, reading_as
from core.cures import MAKE_QUERYSET, PROGRAM, Cure, reindex
from core.entrypoints import refusals
from core.entrypoints.cli import main
from core.errors import ConcordError, Conflict, Unavailable
from pages.ui import flash
from pages.ui.menu import PAGES
from tests.conftest import ROOT, NoProcesses, demo, small_app
from tests.support.api_server import served
from tests.support.apptest import Open, drawn, words

SHELL = re.compile(r"python -m core|pip install|make setup|rm -rf? ")
MENU = {name: action for pages in PAGES.values() for name, _, _, action in pages}


def every() -> Iterator[Cure]:
    """Each cure that `core.cures` names, and those it makes, of a value like "1"."""
    for name, value in vars(cures).items():
        if isinstance(value, Cure):
            yield value
        elif inspect.isfunction(value) and not name.startswith("_") and value.__module__ == cures.__name__:
            needed = [each for each in inspect.signature(value).parameters.values() if each.default is each.empty]
            if all(each.annotation in ("str", "int", "object") for each in needed):
                yield value(*("1" for each in needed if each.kind is not each.VAR_POSITIONAL))


EVERY = list(every())


def texts(path: Path) -> Iterator[str]:
    """Every text of a module but its docstrings; of the doors, which print to the terminal, those that are raised."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    doors = path.is_relative_to(ROOT / "core/entrypoints")
    for top in (node for node in ast.walk(tree) if isinstance(node, ast.Raise) or not doors):
        inside = ast.walk(top) if doors else ast.iter_child_nodes(top)
        if not isinstance(top, ast.Expr):
            yield from (str(node.value) for node in inside if isinstance(node, ast.Constant))


def test_no_message_holds_a_command_for_a_shell() -> None:
    others = {ROOT / "core/cures.py", ROOT / "core/__main__.py"}
    for path in {*(ROOT / "core").rglob("*.py")} - others:
        assert [text for text in texts(path) if SHELL.search(text)] == [], f"{path}: say it with a cure of core.cures"


def elsewhere() -> Iterator[str]:
    """The commands that other modules hand to a cure, as that of a check."""
    for path in {*(ROOT / "core").rglob("*.py")} - {ROOT / "core/cures.py"}:
        for call in (
            node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)
        ):
            if isinstance(call.func, ast.Name) and call.func.id in ("run", "add_model"):
                given = call.args[1]
                first = given.values[0] if isinstance(given, ast.JoinedStr) else given
                yield from [str(first.value)] if isinstance(first, ast.Constant) else []


def test_every_command_of_a_cure_exists() -> None:
    reference = (ROOT / "docs/reference/commands.md").read_text(encoding="utf-8")
    known = re.findall(r"^\*\*`([a-z][a-z -]*[a-z])", reference, re.MULTILINE)
    made = (cure.command.removeprefix(PROGRAM) for cure in EVERY if cure.command.startswith(PROGRAM))
    named = {*elsewhere(), *(text for text in made if not text.endswith(" 1"))}
    assert {" tune learn", "models check "} <= named
    for text in named:
        typed = re.sub(r" ?--home \S+", "", text).split()
        assert any(typed[: len(name.split())] == name.split() for name in known), text


@pytest.mark.parametrize("cure", [cure for cure in EVERY if cure.page], ids=str)
def test_whoever_can_follow_a_cure_sees_its_page(cure: Cure) -> None:
    assert ROLES.index(NEEDS[cure.right]) >= ROLES.index(NEEDS[MENU[cure.page]])


@pytest.mark.parametrize("cure", EVERY, ids=str)
def test_every_cure_is_a_next_step_for_every_role_at_every_door(cure: Cure) -> None:
    error = ConcordError("It failed.", cure)
    assert cure.does in str(cure)
    assert str(cure).startswith(cure.does)
    for actor in (*map(demo, ROLES), ANYBODY):
        said = refusals.in_words(error, actor)
        assert re.fullmatch(r"It failed\. .+\.", said)
        assert not SHELL.search(said)
        sent = refusals.as_json(cure, actor)
        assert sent["action"] == cure.action
        assert any(sent.get(name) for name in ("url", "command", "ask", "does"))
        with reading_as(actor):
            shown = flash.refused(error)
        linked = f"[{flash.plain(cure.does)}](/{cure.page}" in shown
        asked = said.startswith("It failed. Ask a")
        assert linked == bool(cure.page and not asked)
        assert asked == (
            actor.role not in ROLES[ROLES.index(NEEDS.get(cure.right, "admin")) :] and NEEDS.get(cure.right) != "reader"
        )
        assert asked == ("ask" in sent)


def test_an_error_keeps_its_next_step_wherever_its_text_goes() -> None:
    """Jobs, logs and notes keep `str(error)`: a sentence, without a command that whoever reads it cannot run."""
    assert (
        str(Unavailable("There is no index yet.", reindex()))
        == "There is no index yet. Build the index on the Index page."
    )
    assert str(Conflict("Two edits.", ("a.md",), reindex())) == "Two edits. Build the index on the Index page."
    assert str(ConcordError("Only a reviewer may do that.")) == "Only a reviewer may do that."


def test_the_terminal_prints_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small_app(tmp_path / "home", NoProcesses())
    for typed, printed in (
        ("change show 99", "There is no change 99. View all changes with: python -m core change list\n"),
        ("eval run none", f"none yet. {MAKE_QUERYSET}\n"),
        ("reindex", "There is nothing to index yet. Add documents with: python -m core import DIR\n"),
    ):
        assert main(["--home", str(tmp_path / "home"), "--quiet", *typed.split()]) == 1
        assert capsys.readouterr().err.endswith(printed)


def test_the_problem_detail_has_the_cure(tmp_path: Path) -> None:
    api = served(tmp_path / "home")
    missing = api.get("/changes/4711").json()
    assert missing["cure"] == {
        "action": "open",
        "does": "View all changes",
        "url": "/reviews",
        "command": "python -m core change list",
    }
    assert missing["detail"] == "There is no change 4711. View all changes on the Reviews page."
    unknown = "/search?q=form&profile=windows"
    assert api.get(unknown, "author").json()["cure"] == {"action": "reindex", "does": "Build the index", "ask": "admin"}
    assert api.get(unknown, "admin").json()["cure"]["url"] == "/index"


def test_a_page_links_what_helps_or_names_whom_to_ask(visit: Open, tmp_path: Path) -> None:
    empty_home = small_app(tmp_path / "empty", NoProcesses()).settings.home
    found = drawn(visit("search", home=empty_home, q="anything"), "search")["found"]
    assert found["cure"]["url"] == "/index"
    assert found["error"].endswith("Build the index on the Index page.")
    found = drawn(visit("search", home=empty_home, persona="author", q="anything"), "search")["found"]
    assert found["error"].endswith("Ask an admin to build the index.")
    assert "url" not in found["cure"]
    shown = words(visit("documents", doc="no-such-document", do="edit"))
    assert "[View all documents](/documents)" in shown
