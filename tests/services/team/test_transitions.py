"""Every forbidden transition of the state table is refused by the service and by the command line, in the rule's own words."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from core.bootstrap import App
from core.curation.review import moves
from core.entrypoints.cli import main
from core.errors import Conflict, Refused
from core.services.people.accounts import DEMO
from tests.conftest import NoProcesses, put, small_app

_, AUTHOR, _, REVIEWER, REVIEWER2, ADMIN = DEMO
NEW = {"a.md": b"# A\n\nother words\n"}


@pytest.fixture(scope="module")
def change_per_state(tmp_path_factory: pytest.TempPathFactory) -> tuple[App, dict[str, int]]:
    """One change in every state."""
    app = small_app(tmp_path_factory.mktemp("transitions") / "home", NoProcesses())
    put(app, {"a.md": "# A\n\nwords\n"})
    made: dict[str, int] = {}
    for state in moves.STATES:
        number = app.reviews.changes.propose(AUTHOR, state, {"b.md" if state == "merged" else "a.md": NEW["a.md"]}).id
        if state == "closed":
            app.reviews.changes.close(AUTHOR, number)
        elif state != "draft":
            app.reviews.changes.submit(AUTHOR, number)
        if state == "changes requested":
            app.reviews.discussion.request_changes(REVIEWER, number, "More.")
        if state in ("approved", "merged"):
            app.reviews.discussion.approve(REVIEWER, number)
        if state == "merged":
            app.reviews.merger.merge(AUTHOR, number)
        made[state] = number
        assert app.reviews.changes.get(number).state == state
    return app, made


SERVICE: dict[str, Callable[[App, int], object]] = {
    "edit": lambda app, n: app.reviews.changes.edit(AUTHOR, n, {"a.md": b"# new\n"}),
    "submit": lambda app, n: app.reviews.changes.submit(AUTHOR, n),
    "ask": lambda app, n: app.reviews.changes.ask(AUTHOR, n, ["reviewer"]),
    "withdraw": lambda app, n: app.reviews.changes.withdraw(AUTHOR, n),
    "comment": lambda app, n: app.reviews.discussion.comment(REVIEWER, n, "hm"),
    "approve": lambda app, n: app.reviews.discussion.approve(REVIEWER2, n),
    "request changes": lambda app, n: app.reviews.discussion.request_changes(REVIEWER2, n, "no"),
    "take back": lambda app, n: app.reviews.discussion.take_back(REVIEWER, n),
    "lift": lambda app, n: app.reviews.discussion.lift(ADMIN, n, "Settled."),
    "merge": lambda app, n: app.reviews.merger.merge(AUTHOR, n),
    "bypass": lambda app, n: app.reviews.merger.merge(ADMIN, n, bypass="hurry"),
    "close": lambda app, n: app.reviews.changes.close(AUTHOR, n),
    "reopen": lambda app, n: app.reviews.changes.reopen(AUTHOR, n),
    "revert": lambda app, n: app.reviews.merger.revert(AUTHOR, n),
    "invite": lambda app, n: app.reviews.changes.invite(AUTHOR, n, ["author2"]),
}
COMMANDS: dict[str, list[str]] = {
    "edit": ["edit", "--as", "author", "--file", "FILE", "--path", "a.md"],
    "submit": ["submit", "--as", "author"],
    "ask": ["ask", "--as", "author", "--reviewer", "reviewer"],
    "withdraw": ["withdraw", "--as", "author"],
    "comment": ["comment", "--as", "reviewer", "--message", "hm"],
    "approve": ["approve", "--as", "reviewer2"],
    "request changes": ["request-changes", "--as", "reviewer2", "--message", "no"],
    "take back": ["take-back", "--as", "reviewer"],
    "lift": ["lift", "--as", "admin", "--message", "Settled."],
    "merge": ["merge", "--as", "author", "--no-wait"],
    "bypass": ["merge", "--as", "admin", "--bypass", "hurry", "--no-wait"],
    "close": ["close", "--as", "author"],
    "reopen": ["reopen", "--as", "author"],
    "revert": ["revert", "--as", "author"],
    "invite": ["invite", "--as", "author", "--co-author", "author2"],
}
FORBIDDEN = [(move, state) for move in moves.MOVES for state in moves.STATES if moves.refusal(move, state)]


@pytest.mark.parametrize(("move", "state"), FORBIDDEN)
def test_a_forbidden_move_is_refused_through_every_door(
    change_per_state: tuple[App, dict[str, int]],
    move: str,
    state: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    app, made = change_per_state
    sentence = moves.refusal(move, state)
    before = (
        app.reviews.changes.database.changes.all(),
        sorted((app.knowledge.repository.path / "refs").rglob("*")),
        app.knowledge.repository.head(),
    )
    with pytest.raises(Conflict if moves.REACHED.get(move) == state else Refused) as refused:
        SERVICE[move](app, made[state])
    assert str(refused.value) == sentence
    (tmp_path / "f.md").write_text("# new\n")
    words = [str(tmp_path / "f.md") if word == "FILE" else word for word in COMMANDS[move]]
    code = main(["--home", str(app.settings.home), "change", words[0], str(made[state]), *words[1:]])
    assert (code, capsys.readouterr().err.strip()) == (1, sentence)
    assert (
        app.reviews.changes.database.changes.all(),
        sorted((app.knowledge.repository.path / "refs").rglob("*")),
        app.knowledge.repository.head(),
    ) == before


def test_the_command_line_mirrors_a_whole_review(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    app = small_app(tmp_path / "home", NoProcesses())
    put(app, {"a.md": "# A\n\nwords\n"})
    (tmp_path / "a.md").write_text("# A\n\nbetter words\n")

    def run(*words: str, code: int = 0) -> dict[str, object]:
        assert main(["--home", str(tmp_path / "home"), "--json", *words]) == code
        out = capsys.readouterr()
        return json.loads(out.out) if code == 0 else {"error": out.err.strip()}

    file = ("--file", str(tmp_path / "a.md"), "--path", "a.md")
    change = run("change", "new", "--as", "author", "--title", "Better", *file, "--message", "why")
    number = str(change["id"])
    assert change["state"] == "draft"
    refused = str(run("change", "submit", number, "--as", "author2", code=1)["error"])
    assert refused.endswith("Ask Avery Lindqvist to invite you.")
    invited = run("change", "invite", number, "--as", "author", "--co-author", "author2")
    assert [one["account"] for one in invited["co_authors"]] == ["author2"]  # type: ignore[attr-defined]
    assert run("change", "submit", number, "--as", "author2")["state"] == "in review"
    assert run("change", "uninvite", number, "--as", "author2", "--co-author", "author2")["co_authors"] == []
    body = "Say:\n```suggestion\nthe best words\n```"
    talk = run("change", "comment", number, "--as", "reviewer", "--body", body, "--path", "a.md", "--line", "3")
    assert talk["suggestion"] == "the best words"
    assert run("change", "apply", number, str(talk["id"]), "--as", "author")["conversations"] == 0
    assert run("change", "approve", number, "--as", "reviewer2")["approvals"] == ["Theo Nakamura"]
    assert [one["id"] for one in run("change", "list", "--state", "approved")] == [int(number)]  # type: ignore[union-attr, index]
    assert main(["--home", str(tmp_path / "home"), "change", "list", "--as", "reader"]) == 1
    assert "Only authors and above" in capsys.readouterr().err
    app.reviews.merger.merge(AUTHOR, int(number))
    shown = run("change", "show", number)
    assert (shown["state"], len(str(shown["merged"]))) == ("merged", 40)
    assert "the best words" in app.knowledge.documents.show("a").text
    assert run("change", "revert", number, "--as", "author2")["reverts"] == int(number)
    accounts = run("accounts", "list")
    assert [one["id"] for one in accounts] == [actor.id for actor in DEMO]  # type: ignore[index]
    run("accounts", "add", "zoe", "--role", "author", "--name", "Zoe", "--email", "z@example.org")
    assert run("accounts", "role", "zoe", "reviewer")["role"] == "reviewer"
    lines = run("audit", "list")
    actions = [line["action"] for line in lines if line["action"] != "job done"]  # type: ignore[index]
    assert actions[:2] == ["change role", "add account"]
    assert {"propose", "submit", "comment", "edit", "approve", "merge"} <= set(actions)
