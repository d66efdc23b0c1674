"""The example of every command and operation runs: as the lowest role that may, on a copy of the starter knowledge
base.

The reference pages show the same examples. A new use case brings its own and is tried here without another line.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from core.access import AUDITED, NEEDS, REACH, use_case_of
from core.bootstrap import App, build
from core.entrypoints import record, session
from core.entrypoints.api import schemas
from core.entrypoints.api.operations import operations
from core.entrypoints.cli import parser
from core.entrypoints.record import Command, CommandCall, Operation, UseCaseRecord
from core.entrypoints.terminal import Terminal
from core.errors import BadInput, ConcordError, NotFound, Refused
from core.evaluation.querysets.queryset import QuerySet
from core.types import Profile
from tests.conftest import NoProcesses, ScriptedLlm, demo, kb_settings, write
from tests.doors.test_doors import border, commands, needed, services
from tests.support.api_server import ApiServer

# Workspaces of their own, which other tests make and damage.
WHOLE = {"init", "restore", "upgrade", "database move", "worker", "backup", "verify", "doctor", "eval beir"}
MANY = {f"tune {part}" for part in ("train", "ranker", "embedder", "prompt")}  # they need more questions than are here
SLOW = ("tune ", "eval judge", "eval drift", "answers check", "models fetch", "reindex")
ME = ("-c", "user.name=A", "-c", "user.email=a@example.org")
COUNT = "# Drawers\n\nCount {}.\n"


@pytest.fixture(scope="module")
def template(kb_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The starter knowledge base with changes in every state, a gap, query sets, runs, a job, a webhook and a token."""
    home = Path(shutil.copytree(kb_template, tmp_path_factory.mktemp("examples") / "home"))
    app = build(kb_settings(home), processes=NoProcesses())
    author, admin, changes = demo("author"), demo("admin"), app.reviews.changes
    for number in range(1, 6):
        changes.propose(author, f"Count {number}", {f"finance/count-{number}.md": COUNT.format(number).encode()})
    for number in (1, 2, 4):
        changes.submit(author, number)
    for number in (1, 4):
        app.reviews.discussion.approve(demo("reviewer"), number)
    changes.close(author, 3)
    app.reviews.merger.merge(author, 4)
    app.index.builder.build(app.platform.settings.profile())
    app.reviews.impacts.measure(author, 2)
    app.knowledge.gaps.report(demo("reader"), "Who waters the plants?")
    app.index.admin.add_profile(admin, Profile(name="finer"))
    whole = app.evaluation.querysets.from_frontmatter(author, "answers")
    few = whole.questions[:4]
    judged = tuple(one for one in whole.judgments if one.question in {question.id for question in few})
    app.evaluation.querysets.keep(author, QuerySet("few", few, judged))
    app.evaluation.runs.measure(author, "few", [("", "bm25"), ("", "documents-0.9")])
    app.evaluation.runs.start(author, "few", [("", "bm25")])
    app.tuning.production.promote(admin, config="bm25", reason="A try.")
    app.people.tokens.make(admin, "nightly")
    app.deliveries.webhooks.add(admin, "https://hooks.example.org/concord", "Hooks", "concord")
    app.people.sessions.start(author, "cookie")
    scripted = ScriptedLlm("2")
    scripted.name = "openai:gpt-4o-mini"
    app.models.checker.probed = lambda name: scripted
    app.models.checker.check(admin, features=["judge"])
    bare = home.parent / "handbook.git"
    subprocess.run(["git", "init", "--quiet", "--bare", "-b", "main", str(bare)], check=True)
    app.remote.remotes.add(admin, str(bare))
    return home


@pytest.fixture
def app(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> App:
    """A copy to write to, with the files that examples name in the folder where they run."""
    home = Path(shutil.copytree(template, tmp_path / "home"))
    here = tmp_path / "here"
    policy, question = "# Cash\n\nCash is counted twice.\n", {"_id": "q1", "text": "cash"}
    write(here, {"policy.md": policy, "handbook/cash.md": policy, "questions.csv": "id,question\nq1,where is cash\n"})
    collection = {"_id": "d1", "title": "Cash", "text": "Cash is counted twice."}
    qrels = "query-id\tcorpus-id\tscore\nq1\td1\t1\n"
    write(here / "scifact", {"corpus.jsonl": json.dumps(collection), "queries.jsonl": json.dumps(question)})
    write(here / "scifact", {"qrels/test.tsv": qrels})
    for words in (("init", "-qb", "main"), ("add", "."), (*ME, "commit", "-qm", "First")):
        subprocess.run(["git", *words], cwd=here, check=True)
    monkeypatch.chdir(here)
    monkeypatch.setattr("getpass.getpass", lambda *_: "a long password")
    monkeypatch.setattr("sys.stdin.readline", lambda *_: "a long password\n", raising=False)
    opened = build(kb_settings(home), processes=NoProcesses())
    monkeypatch.setattr(session, "open_app", lambda settings: opened)
    return opened


def named(app: App, example: str) -> str:
    """An example with the ids of runs."""
    first, second = (run.id for run in app.evaluation.runs.all("few")[:2])
    return re.sub(r"\bOTHER\b", second, re.sub(r"\bRUN\b", first, example))


def roles(found: UseCaseRecord) -> tuple[str, str]:
    """The highest role that is refused, if there is one, and the lowest that is not."""
    below, *above = border(needed(found))
    return (below, above[0]) if above and below != above[0] else ("", above[0] if above else below)


def audited(app: App, found: UseCaseRecord) -> bool:
    """Whether its use case leaves an entry in the audit."""
    service, _, method = found.calls.rpartition(".")
    mark = use_case_of(getattr(services(app)[service], method)) if found.calls else None
    return mark is not None and mark.needs in NEEDS and mark.recorded == AUDITED


def entries(app: App) -> int:
    return len(app.people.audit.entries(demo("admin"), limit=100_000))


def use(app: App, words: list[str], role: str) -> tuple[Command, int]:
    """A command as an account; what it refuses is raised."""
    options = parser(words).parse_args([*words, "--as", role, "--json", "--quiet"])
    call = CommandCall(app.settings, role, Terminal(as_json=True, quiet=True))
    return options.run, options.run.use(call, options)


def marked(name: str) -> Any:
    return pytest.param(name, marks=pytest.mark.slow if name.startswith(SLOW) else ())


@pytest.mark.sqlite
@pytest.mark.parametrize("name", [marked(name) for name in commands() if name not in WHOLE | MANY])
def test_the_example_of_a_command_runs_and_is_refused_to_the_role_below(
    app: App, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """It prints JSON, or says in a sentence what this machine lacks; what its mark calls audited leaves an entry."""
    found = record.COMMANDS[name]
    words, (below, lowest), before = shlex.split(named(app, found.example)), roles(found), entries(app)
    if below:
        with pytest.raises(Refused, match="Only "):
            use(app, words, below)
    try:
        ran, code = use(app, words, lowest)
    except ConcordError as error:
        assert not isinstance(error, (BadInput, NotFound)), error
        assert not str(error).startswith("Only "), error
        return
    assert ran is found, "the example of another command"
    printed = capsys.readouterr().out
    assert code in (0, 1)
    assert json.loads(printed) is not None or name == "remote show"
    assert entries(app) > before or not audited(app, found)


def requested(found: Operation) -> tuple[str, str, Any]:
    """An example of an operation as method, address and body."""
    verb, path, *body = found.example.split(" ", 2)
    return verb, path, json.loads(body[0]) if body else None


@pytest.mark.sqlite
@pytest.mark.parametrize("name", [each.name for _, each in operations()])
def test_the_example_of_an_operation_is_answered_and_refused_to_the_role_below(app: App, name: str) -> None:
    """The answer has the keys that the description names and no other."""
    found = record.OPERATIONS[name]
    server, (below, lowest) = ApiServer(app), roles(found)
    verb, path, body = requested(found)
    if below:
        refused = server.ask(below, verb, named(app, path), body)
        assert (refused.status_code, refused.json()["detail"][:5]) == (403, "Only "), refused.text
    scope = REACH.get(needed(found)) or "read"
    server.tokens[lowest] = app.people.tokens.make(demo(lowest), "example", scope)[0]
    before = entries(app)
    answer = server.ask(lowest, verb, named(app, path), body)
    if answer.status_code == 503:
        return  # a model that this machine lacks
    assert answer.status_code == found.status, answer.text
    TypeAdapter(schemas.model(found.reply)).validate_python(answer.json())
    assert entries(app) > before or not audited(app, found)


def test_what_needs_arguments_has_an_example() -> None:
    bare = {found.name for found in record.COMMANDS.values() if found.example == found.name}
    assert not [name for name in bare if required(record.COMMANDS[name])]
    assert not [each.name for _, each in operations() if "{" in each.example.split(" ", 2)[1]]


def required(found: UseCaseRecord) -> bool:
    inputs = record.inputs(found.form) if found.form else []
    return any(one.default is record.MISSING and not isinstance(one.source, record.Key) for one in inputs)
