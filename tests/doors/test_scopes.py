"""A token of the scope `read` writes nothing: through no door, whatever the role of its account."""

from __future__ import annotations

import inspect
import subprocess
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from sqlalchemy import select

from core.access import ANYONE, FREE, REACH, Actor
from core.bootstrap import App
from core.entrypoints.api import reference
from core.entrypoints.mcp.server import build_server
from core.entrypoints.mcp.tools import TOOLS
from core.entrypoints.mcp.visits import ToolSession
from core.errors import ConcordError
from core.evaluation.querysets.queryset import Judgment, QuerySet, Question
from core.retrieval import config as configs
from core.services.playground.compare import Column
from core.services.playground.notebook import Setup
from core.storage.state.row_copy import TABLES
from tests.conftest import demo
from tests.doors.test_api_doors import BODIES, requests
from tests.doors.test_doors import INNER, rows, services
from tests.doors.test_mcp import HERE, talk
from tests.support.api_server import ApiServer, served

USED = {"tokens": "used"}  # when a token was last used is a note of the server's, not of its holder
ASKED = "Form 112 for cash"
COLUMN = Column("", configs.parse("bm25"), "mine")


@pytest.fixture(scope="module")
def scoped(tmp_path_factory: pytest.TempPathFactory) -> ApiServer:
    """A workspace in which each use case finds what it would write to, and a token of an admin that reads."""
    server = served(tmp_path_factory.mktemp("scopes") / "home")
    app, author, admin = server.app, demo("author"), demo("admin")
    app.reviews.changes.propose(author, "Drawers", {"fin/drawers.md": b"# Drawers\n\nCount twice.\n"})
    app.reviews.changes.submit(author, 1)
    app.knowledge.gaps.report(demo("reader"), ASKED)
    app.knowledge.gaps.assign(author, 1, admin.id)  # which tells them
    app.evaluation.querysets.keep(author, QuerySet("cash", (Question("q1", ASKED),), (Judgment("q1", "fin/ctr.md"),)))
    app.evaluation.runs.measure(author, "cash", [("", "bm25")])
    app.evaluation.runs.start(author, "cash", [("", "bm25")])
    app.playground.notebook.remember(admin, Setup(ASKED, (COLUMN,)))
    app.playground.notebook.save(admin, COLUMN)
    server.tokens["narrow"] = app.people.tokens.make(admin, "narrow", "read")[0]
    return server


def everything(app: App) -> dict[str, Any]:
    """Every row of every table, the outbox among them, and where every branch of the repository is."""
    found: dict[str, Any] = {}
    with app.platform.backups.database.engine.connect() as connection:
        for table in TABLES:
            columns = [column for column in table.c if column.name != USED.get(table.name)]
            found[table.name] = sorted(map(repr, connection.execute(select(*columns))))
    git = ["git", "-C", str(app.settings.home / "kb.git"), "for-each-ref"]
    return found | {"refs": subprocess.run(git, check=True, capture_output=True, text=True).stdout}


def writes(app: App, tries: Mapping[str, Callable[[], object]]) -> Iterator[str]:
    """Those of the tries after which something is not as before."""
    before = everything(app)
    for name, attempt in tries.items():
        attempt()
        after = everything(app)
        if after != before:
            yield f"{name} changed {', '.join(part for part in after if after[part] != before[part])}"
        before = after


def holder(server: ApiServer, door: str) -> Actor:
    return server.app.people.tokens.holder(server.tokens["narrow"], door)


# ---------------------------------------------------------------- HTTP

REAL = {  # bodies that would write something
    **BODIES,
    "start_run": {"queryset": "cash"},
    "edit_change": {"title": "Other words"},
    "assign_gap": {"account": "reviewer"},
}
NO_MODEL = {"answer"}  # is read, too, but nobody configured one here


def test_no_operation_of_the_api_writes_for_a_token_that_reads(scoped: ApiServer) -> None:
    run = scoped.app.evaluation.runs.listed(demo("author"))[0].id
    there = {"change": "1", "gap": "1", "job": "1", "queryset": "cash", "run": run, "before": run, "after": run}
    asked = requests(reference.document(scoped.api), there | {"q": ASKED, "document": "BSA-1"})
    answers: dict[str, Any] = {}

    def ask(name: str) -> Callable[[], None]:
        method, path, body = asked[name]
        sent, key = (
            body if body is None else REAL.get(name, body),
            {"Idempotency_Key": name} if method == "POST" else {},
        )
        return lambda: answers.update({name: scoped.ask("narrow", method, path, sent, **key)})

    assert not list(writes(scoped.app, {name: ask(name) for name in asked}))
    for name, answer in answers.items():
        if answer.status_code == 403:  # and for no other reason, which would prove nothing
            assert "has the scope read, which may not" in answer.json()["detail"], name
        elif name not in {*NO_MODEL, "metrics"}:
            assert (asked[name][0], answer.status_code) == ("GET", 200), f"{name}: {answer.text}"


# ---------------------------------------------------------------- assistants

ARGUMENTS: dict[str, dict[str, Any]] = {
    "search": {"question": ASKED, "history": True},
    "read": {"document": "IT-1"},
    "outline": {},
    "related": {"document": "BSA-1"},
    "what_changed": {"since": "2020-01-01"},
    "report_gap": {"question": "Who feeds the giraffe?"},
    "propose_change": {
        "title": "Say always",
        "edits": [{"document": "IT-1", "version": 1, "find": "809 means", "replace": "809 always means"}],
    },
}


def test_no_tool_of_assistants_writes_for_a_token_that_reads(scoped: ApiServer) -> None:
    assert set(ARGUMENTS) == {tool.name for tool in TOOLS}
    server = build_server(lambda ctx: ToolSession(scoped.app, holder(scoped, "mcp"), HERE))
    asks: dict[str, Any] = {
        name: lambda client, name=name: client.call_tool(name, ARGUMENTS[name]) for name in ARGUMENTS
    }
    asks["resource"] = lambda client: client.read_resource("concord://documents/now/it/vpn.md")
    asks["prompt"] = lambda client: client.get_prompt("answer", {"question": ASKED})
    tries = {name: lambda ask=ask: answers.append(talk(server, ask)) for name, ask in asks.items()}
    answers: list[Any] = []
    assert not list(writes(scoped.app, tries))
    refused = [str(answer.content[0].text) for answer in answers if getattr(answer, "is_error", False)]
    assert ["which may not report a gap" in refused[0], "which may not propose a change" in refused[1]] == [True, True]
    assert len(refused) == 2


# ---------------------------------------------------------------- use cases


def given(scoped: ApiServer, actor: Actor) -> dict[str, Any]:
    """What there is in the workspace, by the names that use cases give to it."""
    app = scoped.app
    document = app.knowledge.documents.show("BSA-1")
    return {
        "actor": actor,
        "name": "BSA-1",
        "document": document,
        "doc": "BSA-1",
        "number": 1,
        "account": "reviewer",
        "numbers": [1],
        "query": ASKED,
        "question": ASKED,
        "yes": False,
        "about": "question",
        "ref": ASKED,
        "setup": Setup("Form 111", (COLUMN,)),
        "column": Column("", COLUMN.config, "other"),
        "columns": (COLUMN,),
        "link": app.playground.notebook.history(demo("admin"))[0].link,
        "profile": app.platform.settings.profile(),
        "as_of": "main",
        "when": app.knowledge.repository.head(),
        "commit": app.knowledge.repository.head(),
        "step": app.knowledge.documents.history("BSA-1")[0].commit,
        "start": 0,
        "end": 5,
        "version": 1,
        "source": "Form 111",
        "target": "Form 112",
        "kind": "md",
        "form": "jsonl",
        "index": app.search.searcher.index(),
        "blob": document.blob,
        "hits": app.search.searcher.search(ASKED).hits,
        "report": lambda *_: None,
        "author": actor.person,
        "model": "none",
        "server": "here",
        "purpose": "ask",
        "path": app.settings.home.with_name("written"),
        "documents": [document],
        "folders": {"fin": "Mei"},
        "steps": (),
    }


OTHERS = {  # use cases that mean something else by a name
    **{
        f"evaluation.querysets.{each}": {"name": "cash"}
        for each in ("agreement", "export", "guidelines", "pool_summary", "problems", "show", "unmapped", "write")
    },
    "playground.grades.scores": {"columns": ()},
    "search.progress.of": {"generation": None},
    "playground.notebook.forget": {"name": "mine"},
    "knowledge.documents.source": {"path": "fin/ctr.md"},
    "inbox.owners.by_table": {"text": "path,owner\nfin/ctr.md,Mei\n"},
    "reviews.changes.typed": {"path": "fin/ctr.md", "base": "main"},
    "platform.settings.prompt": {"name": "zero-shot"},
}
NOT_HERE = {
    "search.answerer.answer",
    "knowledge.pictures.read",
    "evaluation.querysets.write",
}  # no model, picture, folder


def test_no_use_case_writes_for_a_token_that_reads(scoped: ApiServer) -> None:
    """Every use case of the table, with what is there; those that only the system calls are behind these."""
    actor, known = holder(scoped, "api"), services(scoped.app)
    values, refused = given(scoped, actor), {}

    def attempt(name: str) -> None:
        service, _, method = name.rpartition(".")
        call = getattr(known[service], method)
        needed = [
            p.name
            for p in inspect.signature(call).parameters.values()
            if p.default is p.empty and p.kind != p.VAR_POSITIONAL
        ]
        try:
            call(**{key: values.get(key, "nothing") for key in needed} | OTHERS.get(name, {}))
        except (ConcordError, AttributeError, TypeError) as error:  # some look at their arguments before they ask
            refused[name] = str(error)

    tried = [name for name, action in rows() if action == ANYONE or action not in (*FREE, INNER)]
    rooms = {name.rpartition(".")[0]: [] for name in tried}  # type: dict[str, list[str]]
    for name in tried:
        rooms[name.rpartition(".")[0]].append(name)
    tries = {room: lambda names=names: [attempt(name) for name in names] for room, names in rooms.items()}
    assert not list(writes(scoped.app, tries))
    for name, action in rows():
        if (action == ANYONE or REACH.get(action) == "read") and name not in NOT_HERE:
            assert name not in refused, f"{name} was not tried: {refused[name]}"
