"""Who may do what, through which door: every use case is marked, every command is a record, pages and routes have a
row here; all are tried as every role.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from core.access import ANYONE, FREE, NEEDS, ROLES, SIGN_IN, Actor, UseCase, use_case_of
from core.bootstrap import App
from core.entrypoints import record, session
from core.entrypoints.cli import main, parser
from core.errors import Refused
from core.services.people.accounts import NewAccount
from pages.ui.menu import PAGES
from tests.conftest import ROOT, NoProcesses, demo, put, serve, small_app
from tests.support.small_kb import FILES

INNER = "inner"  # for services, which have asked; no door calls it

# What stands in a room and is no use case, with what doors may ask of it: nothing that anybody would have to hide.
ADAPTERS = {
    "knowledge.repository": {
        "head",
        "changed",
        "follow",
        "resolve",
        "read",
        "authored",
    },  # read, changed, authored: of a change or documents that `show` gave
    "index.generations": {"current", "pinned", "open"},  # open: the records of a benchmark
    "upload.reader": {"render"},  # of a document in hand
    "tuning.ranker_files": {"names"},
    "tuning.alphas": {"names", "index"},  # index: of a tuple that is called alphas too
    "models.registry": {"llm", "of"},
}

ROUTES = {"/api/health": ANYONE, "/api/codemirror.js": ANYONE}
ROUTES["/pictures/{blob}/{name}"] = ANYONE  # who has a session; see the test of its pictures
ROUTES |= dict.fromkeys(
    (
        "/sign-in",
        "/sign-out",
        "/sign-in/look.css",
        "/sign-in/concord.svg",
        "/sign-in/provider",
        "/sign-in/first",
        "/sign-in/password",
        "/sign-in/lost",
        "/sign-in/persona",
        "/oauth2callback",
    ),
    SIGN_IN,
)
ROUTES["/unsubscribe"] = SIGN_IN  # the signed token of a link says who they are
ASKED_ELSEWHERE = {
    "read documents": ANYONE,
    "bypass the review rules": "merge a change",
    "take over a change": "propose a change",
    "judge results": "",
    "manage their own account": "",
}


@cache
def parts() -> dict[str, type]:
    """The services by their place in the App, such as reviews.changes."""
    rooms = {name: room for name, room in get_type_hints(App).items() if name != "settings"}
    found = {f"{name}.{part}": kind for name, room in rooms.items() for part, kind in get_type_hints(room).items()}
    return {name: kind for name, kind in found.items() if name not in ADAPTERS and inspect.isclass(kind)}


@cache
def records() -> dict[str, UseCase]:
    """Every public method of a service, with what it is to doors."""
    return {
        f"{name}.{method}": use_case_of(member) or UseCase(INNER)
        for name, service in parts().items()
        for method, member in inspect.getmembers(service, inspect.isfunction)
        if not method.startswith("_")
    }


def rows() -> Iterator[tuple[str, str]]:
    """Every use case with the action it needs."""
    yield from ((name, record.needs) for name, record in records().items())


def may(role: str, action: str) -> bool:
    return action in FREE or (role in ROLES and ROLES.index(role) >= ROLES.index(NEEDS[action]))


def border(action: str) -> tuple[str, ...]:
    """The highest role that is refused and the lowest that is not: what roles between add is nothing."""
    if action in FREE:
        return ("reader",)
    first = ROLES.index(NEEDS[action])
    return ROLES[max(0, first - 1) : first + 1]


@pytest.fixture(scope="module")
def doors_app(tmp_path_factory: pytest.TempPathFactory) -> App:
    """A small workspace with an index, a change that is not merged, and an account that is switched off."""
    app = small_app(tmp_path_factory.mktemp("doors") / "home", processes=NoProcesses())
    put(app, FILES)
    app.index.builder.build(app.platform.settings.profile())
    app.reviews.changes.propose(demo("author"), "Secret", {"it/secret.md": b"# Secret\n\nNot merged yet.\n"})
    app.people.accounts.add(demo("admin"), NewAccount("gone", "Gustav Gone", "gone@example.org", "admin"))
    app.people.accounts.set_active(demo("admin"), "gone", False)
    return app


def services(app: App) -> dict[str, Any]:
    rooms = {room.name: getattr(app, room.name) for room in fields(app) if room.name != "settings"}
    return {f"{room}.{part.name}": getattr(held, part.name) for room, held in rooms.items() for part in fields(held)}


# ---------------------------------------------------------------- services


@pytest.mark.parametrize("role", ["nobody", *ROLES])
def test_every_use_case_asks_before_anything_else(doors_app: App, role: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("getpass.getpass", lambda *_: "a long password")
    actor, known = Actor("somebody", "Somebody", "somebody@example.org", role), services(doors_app)
    wrong = []
    for name, action in rows():
        if action not in (*FREE, INNER):
            service, _, method = name.rpartition(".")
            if refused(getattr(known[service], method), actor) == may(role, action):
                wrong.append(f"{name} ({action})")
    assert not wrong, f"{role}: {', '.join(wrong)}"


def refused(method: Callable[..., Any], actor: Actor) -> bool:
    """Whether a use case refuses the role, whatever else is wrong with the arguments."""
    needed = [
        parameter
        for parameter in inspect.signature(method).parameters.values()
        if (parameter.default is parameter.empty or parameter.name == "actor") and parameter.kind in (0, 1)
    ]
    try:
        method(*(actor if parameter.name == "actor" else dummy(str(parameter.annotation)) for parameter in needed))
    except Refused as error:
        return str(error).startswith("Only ") and f"Somebody is a {actor.role}" in str(error).replace(" an ", " a ")
    except Exception:
        return False  # it let the role in, and then missed something
    return False


def dummy(annotation: str) -> Any:
    """Something of the right kind that leads nowhere."""
    plain = {"str": "nothing", "int": 99_999, "bool": False, "float": 0.0, "bytes": b"", "Path": Path("/dev/null/x")}
    return plain.get(annotation, () if annotation.startswith(("Sequence", "tuple", "list")) else {})


def test_a_switched_off_account_is_nobody(doors_app: App) -> None:
    with pytest.raises(Refused, match="switched off"):
        doors_app.people.accounts.actor("gone")


def test_doors_call_no_inner_function_and_no_adapter_behind_the_services() -> None:
    inner = {tuple(name.rsplit(".", 2)[1:]) for name, action in rows() if action == INNER}
    adapters = {name.partition(".")[2]: methods for name, methods in ADAPTERS.items()}
    inner -= {("jobs", "cancel"), ("jobs", "start")}  # evaluation.jobs has a cancel of its own
    found = []
    for path in [*(ROOT / "pages").rglob("*.py"), *(ROOT / "core" / "entrypoints").rglob("*.py")]:
        text = path.read_text(encoding="utf-8")
        bound = dict(re.findall(r"^ +(\w+) = [\w().]+\.\w+\.(\w+)$", text, re.MULTILINE))
        calls = re.findall(r"\.(\w+)\.(\w+)\(", text)
        calls += [(bound[name], method) for name, method in re.findall(r"\b(\w+)\.(\w+)\(", text) if name in bound]
        for service, method in calls:
            behind = service in adapters and method not in adapters[service]
            if (service, method) in inner or behind:
                found.append(f"{path.relative_to(ROOT)}: {service}.{method}")
    allowed = {"core/entrypoints/laboratory/evaluation.py: builder.build"}  # of the benchmark's own workspace
    assert set(found) <= allowed, found


# ---------------------------------------------------------------- drafts


def test_a_reader_reads_no_revision_that_is_not_on_main(doors_app: App) -> None:
    documents, store = doors_app.knowledge.documents, doors_app.knowledge.repository
    draft = store.head("change/1")
    for revision in ("change/1", draft, draft[:12]):
        with pytest.raises(Refused, match="not merged"):
            documents.show_at(demo("reader"), "it/secret.md", revision)
        assert "Not merged yet" in documents.show_at(demo("author"), "it/secret.md", revision).text
    first = store.log(store.head())[-1][0].id
    assert documents.show_at(demo("reader"), "BSA-1", first).title == "Currency reports"


def test_a_step_inside_a_merged_change_stays_a_draft(tmp_path: Path) -> None:
    """Only the main line is for readers: what an author wrote and took back before the merge is not."""
    app = small_app(tmp_path / "home", NoProcesses())
    put(app, {"a.md": "# A\n\nOne.\n"})
    change = app.reviews.changes.propose(demo("author"), "Edit", {"a.md": b"# A\n\nA slip of the pen.\n"})
    slip = app.reviews.changes.get(change.id).head
    app.reviews.changes.edit(demo("author"), change.id, {"a.md": b"# A\n\nTwo.\n"})
    app.reviews.changes.submit(demo("author"), change.id)
    app.reviews.discussion.approve(demo("reviewer"), change.id)
    app.reviews.merger.merge(demo("author"), change.id)
    with pytest.raises(Refused):
        app.knowledge.documents.show_at(demo("reader"), "a.md", slip)
    assert "Two." in app.knowledge.documents.show_at(demo("reader"), "a.md", "main").text


# ---------------------------------------------------------------- the command line


def commands() -> Iterator[str]:
    """Every command of the command line."""

    def walk(part: argparse.ArgumentParser, name: str) -> Iterator[str]:
        groups = [action for action in part._actions if isinstance(action, argparse._SubParsersAction)]
        for group in groups:
            for word, below in group.choices.items():
                yield from walk(below, f"{name} {word}".strip())
        if not groups:
            yield name

    return walk(parser(), "")


def needs(name: str) -> str:
    """The action that a command needs."""
    return needed(record.COMMANDS[name])


def needed(found: record.UseCaseRecord) -> str:
    """The action that a record needs, whichever its door."""
    return found.needs or (records()[found.calls].needs if found.calls else ANYONE)


def test_every_command_is_a_record_that_names_its_use_case() -> None:
    assert set(commands()) == set(record.COMMANDS)
    assert {found.calls for found in record.COMMANDS.values()} - {""} <= set(records())
    free = {name for name in commands() if not record.COMMANDS[name].calls}
    assert free == {"models list", "models fetch", "methods", "mcp"}


@pytest.fixture
def command(doors_app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> Callable[..., bool]:
    """Whether a command is refused to an account, on one workspace that is opened once."""
    monkeypatch.setattr("getpass.getpass", lambda *_: "a long password")
    monkeypatch.setattr("sys.stdin.readline", lambda *_: "a long password\n", raising=False)
    monkeypatch.setattr(session, "open_app", lambda settings: doors_app)
    places = _places(tmp_path)

    def call(line: str, account: str) -> tuple[bool, str]:
        code = main(
            ["--home", str(doors_app.settings.home), *line.format(**places).split(), "--as", account, "--quiet"]
        )
        said = capsys.readouterr().err
        return code == 1 and said.startswith("Only ") and " may " in said, said

    return call  # type: ignore[return-value]


def _places(folder: Path) -> dict[str, Path]:
    """Files that commands name."""
    (folder / "a.md").write_text("# A\n\nText.\n")
    (folder / "empty").mkdir()
    (folder / "beir" / "qrels").mkdir(parents=True)
    (folder / "beir" / "corpus.jsonl").write_text(json.dumps({"_id": "d1", "title": "T", "text": "Some text."}) + "\n")
    (folder / "beir" / "queries.jsonl").write_text(json.dumps({"_id": "q1", "text": "text"}) + "\n")
    (folder / "beir" / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\n")
    return {
        "file": folder / "a.md",
        "folder": folder / "empty",
        "beir": folder / "beir",
        "out": folder / "out",
        "home": folder,
    }


@pytest.mark.parametrize(("account", "sentence"), [("gone", "switched off"), ("stranger", "There is no account")])
def test_no_command_serves_an_account_that_is_off_or_unknown(command: Any, account: str, sentence: str) -> None:
    for line in ("search nothing", "documents list", "models list", "methods", "change list"):
        assert sentence in command(line, account)[1], line


def test_a_reader_sees_no_draft_on_the_command_line(command: Any) -> None:
    assert "not merged" in command("documents show it/secret.md --at change/1", "reader")[1]
    assert command("documents show it/secret.md --at change/1", "author")[1] == ""


# ---------------------------------------------------------------- pages


def pages() -> dict[str, str]:
    """Every page of the menu with its action."""
    return {name: action for section in PAGES.values() for name, _, _, action in section}


def test_every_page_is_in_the_menu_and_asks_for_its_action_first() -> None:
    files = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "pages").glob("*.py")}
    assert set(files) == set(pages())
    for name, text in files.items():
        body = ast.parse(text).body[1:]  # behind what the page is for
        first = next(each for each in body if not isinstance(each, (ast.Import, ast.ImportFrom)))
        assert ast.unparse(first) == f"me = identity.require({pages()[name]!r})", name


@pytest.fixture
def closed(doors_app: App, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], bool]:
    """Whether a page, opened by its address, is closed to a role."""
    from tests.support.apptest import page_of

    serve(doors_app, monkeypatch)

    def look(page: str, role: str) -> bool:
        opened = page_of(page, role, framed=may(role, pages()[page]))  # links to other pages need the frame
        return [title.value for title in opened.title] == ["Not for this role"]

    return look


@pytest.mark.parametrize("page", [name for name, action in pages().items() if NEEDS[action] != "reader"])
def test_a_page_is_closed_to_the_role_below(closed: Callable[[str, str], bool], page: str) -> None:
    assert closed(page, border(pages()[page])[0])


@pytest.mark.slow
@pytest.mark.parametrize("role", ROLES)
def test_every_page_opens_for_its_roles_alone(closed: Callable[[str, str], bool], role: str) -> None:
    for page, action in pages().items():
        assert closed(page, role) != may(role, action), (page, role)


# ---------------------------------------------------------------- HTTP


def test_every_route_asks_every_role(doors_app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    from starlette.applications import Starlette
    from starlette.testclient import TestClient

    from pages.ui import pictures
    from pages.ui.server import routes

    monkeypatch.setattr(routes, "current_app", lambda: doors_app)
    monkeypatch.setattr(pictures, "current_app", lambda: doors_app)
    assert {route.path for route in routes.ROUTES} == set(ROUTES), (
        "a route is new or gone: say in ROUTES who may use it"
    )
    client = TestClient(Starlette(routes=routes.ROUTES))
    for route in (route for route in routes.ROUTES if ROUTES[route.path] != SIGN_IN):
        action, method = ROUTES[route.path], sorted(route.methods - {"HEAD"})[0]
        for who, secret in strangers_and_roles().items():
            status = client.request(method, route.path, headers={"Authorization": f"Bearer {secret}"}).status_code
            check_answer((route.path, who), action, status)


def strangers_and_roles() -> dict[str, str]:
    """Tokens of pages, by who sends them."""
    from pages.ui.server import direct

    return {
        "": "",
        "stranger": "eyJ4IjoxfQ==.0000",
        "gone": direct.token(Actor("gone", "Gustav Gone", "gone@example.org", "admin"), 0),
        **{role: direct.token(demo(role), 0) for role in ROLES},
    }


def check_answer(asked: tuple[str, str], action: str, status: int) -> None:
    who = asked[1]
    wanted = 0 if may(who, action) else 403 if who in ROLES else 401
    assert status == wanted if wanted else status not in (401, 403), (asked, status)


def test_what_components_ask_is_asked_of_every_role_and_closed_to_programs(
    doors_app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    from starlette.testclient import TestClient

    from core.entrypoints.api.operations import of_module
    from pages.ui.server import routes

    monkeypatch.setattr(routes, "current_app", lambda: doors_app)
    monkeypatch.setattr("pages.ui.playground.view_data.app", lambda: doors_app)
    program = doors_app.people.tokens.make(demo("admin"), "tests", "review")[0]
    client = TestClient(routes.API)
    for each in of_module("pages.ui.server.operations"):
        given = (
            {"params": {"q": "cash"} if each.form else {}}
            if each.verb == "GET"
            else {"json": {"setup": {}} if "playground" in each.path else {}}
        )
        for who, secret in {**strangers_and_roles(), "program": program}.items():
            answer = client.request(each.verb, each.path, headers={"Authorization": f"Bearer {secret}"}, **given)
            check_answer((each.path, who), needed(each), answer.status_code)
            assert "RateLimit-Limit" not in answer.headers, "knobs and keys are no requests of a program"


def test_every_action_is_asked_somewhere() -> None:
    used = {action for _, action in rows()} | set(map(needs, commands())) | set(ROUTES.values()) | set(pages().values())
    assert set(NEEDS) - used <= set(ASKED_ELSEWHERE)
