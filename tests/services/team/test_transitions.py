"""Every forbidden transition of the state table is refused in the rule's own words."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from core.bootstrap import App
from core.curation.review import moves
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
FORBIDDEN = [(move, state) for move in moves.MOVES for state in moves.STATES if moves.refusal(move, state)]


@pytest.mark.parametrize(("move", "state"), FORBIDDEN)
def test_a_forbidden_move_is_refused_and_changes_nothing(
    change_per_state: tuple[App, dict[str, int]], move: str, state: str
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
    assert (
        app.reviews.changes.database.changes.all(),
        sorted((app.knowledge.repository.path / "refs").rglob("*")),
        app.knowledge.repository.head(),
    ) == before
