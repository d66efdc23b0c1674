"""The inbox: who is told what, once, in the transaction of its cause."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from core.access import Actor
from core.bootstrap import App
from core.errors import BadInput, Refused
from core.services.inbox.messages import Message, Subject
from tests.conftest import NoProcesses, demo, put, small_app

ADMIN, AUTHOR, AUTHOR2 = demo("admin"), demo("author"), demo("author2")
PETRA, THEO, READER = demo("reviewer"), demo("reviewer2"), demo("reader")
NOTE = "# Note\n\nA line.\n"


@pytest.fixture
def app(tmp_path: Path) -> App:
    made = small_app(tmp_path / "home", NoProcesses())
    put(made, {"a.md": NOTE})
    return made


def proposed(app: App, path: str = "note.md", text: str = NOTE) -> int:
    return app.reviews.changes.propose(AUTHOR, f"Change {path}", {path: text.encode()}).id


def told(app: App, actor: Actor) -> list[tuple[str, str]]:
    """Kind and title of somebody's new messages, newest first."""
    return [(message.kind, message.title) for message in app.inbox.messages.listed(actor, unread=True)]


def first(app: App, actor: Actor) -> Message:
    return app.inbox.messages.listed(actor)[0]


# ---------------------------------------------------------------- asking reviewers


def test_reviewers_asked_by_name_are_told_and_shown_with_their_answer(app: App) -> None:
    number = proposed(app)
    change = app.reviews.changes.submit(AUTHOR, number, ["Petra Voss", "theo@meridale.example"])
    assert [(request.account, request.answer) for request in change.asked] == [("reviewer", ""), ("reviewer2", "")]
    assert told(app, PETRA) == told(app, THEO) == [("asked", "Change note.md")]
    assert first(app, PETRA).address == f"/reviews?change={number}"
    assert [asked.id for asked in app.reviews.changes.asked_of(PETRA)] == [number]
    approved = app.reviews.discussion.approve(PETRA, number)
    assert [(request.account, request.answer) for request in approved.asked] == [
        ("reviewer", "approved"),
        ("reviewer2", ""),
    ]
    assert app.reviews.changes.asked_of(PETRA) == ()
    assert app.reviews.changes.asked_of(ADMIN) == (), "who was not asked has the change among the waiting ones"


@pytest.mark.parametrize(
    ("name", "why"),
    [("Dana", "Nobody here is called 'Dana'. Ask one of: Petra Voss"), ("reader", "Robin Falk may not review"), ("author", "Avery Lindqvist may not")],
)  # fmt: skip
def test_whoever_may_not_review_cannot_be_asked_and_nothing_is_submitted(app: App, name: str, why: str) -> None:
    number = proposed(app)
    with pytest.raises(BadInput, match=why):
        app.reviews.changes.submit(AUTHOR, number, ["reviewer", name])
    assert app.reviews.changes.get(number).state == "draft"
    assert told(app, PETRA) == [], "the message belongs to the transaction that failed"


def test_the_rules_of_a_folder_ask_their_reviewers_and_owners_at_submit(app: App) -> None:
    rules = b"rules:\n  - match: finance/\n    reviewers: [Petra Voss, nobody]\n    owners: [admin, author]\n  - match: hr/\n    reviewers: [reviewer2]\n"
    put(app, {"review-rules.yaml": rules.decode()})
    change = app.reviews.changes.submit(AUTHOR, proposed(app, "finance/pay.md"))
    assert {(request.account, request.rule) for request in change.asked} == {
        ("reviewer", "finance/"),
        ("admin", "finance/"),
    }
    assert told(app, THEO) == []
    facts = app.reviews.changes.known(app.reviews.changes.database, change.id)[1]
    assert app.reviews.changes.requests.unknown(facts) == ("nobody",)


def test_asking_again_after_an_edit_is_one_new_message(app: App) -> None:
    number = proposed(app)
    app.reviews.changes.submit(AUTHOR, number, ["reviewer"])
    app.inbox.messages.read(PETRA)
    app.reviews.discussion.request_changes(PETRA, number, "Better.")
    app.reviews.changes.edit(AUTHOR, number, {"note.md": b"# Note\n\nBetter.\n"})
    for _ in range(2):
        app.reviews.changes.ask(AUTHOR, number, ["reviewer"])
    assert [(message.kind, message.count) for message in app.inbox.messages.listed(PETRA, unread=True)] == [
        ("asked", 2)
    ]
    with pytest.raises(BadInput):
        app.reviews.changes.ask(AUTHOR, number, [])


def test_nobody_is_asked_about_a_draft(app: App) -> None:
    with pytest.raises(Refused, match="while a change is in review; this one is a draft"):
        app.reviews.changes.ask(AUTHOR, proposed(app), ["reviewer"])


def test_whom_to_ask_leaves_out_oneself_readers_and_the_switched_off(app: App) -> None:
    app.people.accounts.set_active(ADMIN, "reviewer2", False)
    assert [account.id for account in app.reviews.changes.reviewers(AUTHOR)] == ["reviewer", "admin"]
    assert [account.id for account in app.reviews.changes.reviewers(PETRA)] == ["admin"]
    assert [account.id for account in app.reviews.changes.reviewers(AUTHOR, proposed(app))] == ["reviewer", "admin"]


# ---------------------------------------------------------------- the messages themselves


def tell(app: App, who: Actor, to: str, ref: str = "1", kind: str = "answered") -> None:
    with app.inbox.messages.database.transaction() as state:
        app.inbox.messages.tell(state, who, [to], kind, Subject("change", ref, f"Change {ref}"), "words")


def test_the_same_cause_collapses_until_it_is_read(app: App) -> None:
    for who in (AUTHOR, AUTHOR2, AUTHOR):
        tell(app, who, "reviewer")
    (message,) = app.inbox.messages.listed(PETRA)
    assert (message.count, message.actor_name, app.inbox.messages.unread(PETRA)) == (3, "Avery Lindqvist", 1)
    assert app.inbox.messages.read(PETRA, [message.id]) == 1
    tell(app, AUTHOR, "reviewer")
    assert [message.count for message in app.inbox.messages.listed(PETRA)] == [1, 3]


def test_nobody_writes_to_themselves_to_strangers_or_to_the_switched_off(app: App) -> None:
    app.people.accounts.set_active(ADMIN, "reviewer2", False)
    for to in ("author", "nobody", "reviewer2"):
        tell(app, AUTHOR, to)
    assert app.inbox.messages.database.messages.of("reviewer2", False, "", 9) == []
    assert told(app, AUTHOR) == []


def test_opening_a_thing_reads_what_is_about_it_and_nothing_else(app: App) -> None:
    tell(app, AUTHOR, "reviewer", "1")
    tell(app, AUTHOR, "reviewer", "2")
    assert app.inbox.messages.opened(PETRA, "change", "1") == 1
    assert app.inbox.messages.opened(PETRA, "change", "1") == 0
    assert told(app, PETRA) == [("answered", "Change 2")]
    assert app.inbox.messages.read(PETRA) == 1
    assert app.inbox.messages.read(replace(PETRA, id="author2"), [1]) == 0, "only one's own"


def test_an_inbox_does_not_grow_for_ever(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.services.inbox.messages.LIMIT", 3)
    for n in range(5):
        tell(app, AUTHOR, "reviewer", str(n))
    assert [message.ref for message in app.inbox.messages.listed(PETRA)] == ["4", "3", "2"]
    app.inbox.messages.read(PETRA)
    app.inbox.messages.clock.day = "2027-03-01"  # type: ignore[attr-defined]
    tell(app, AUTHOR, "reviewer", "new")
    assert [message.ref for message in app.inbox.messages.listed(PETRA)] == ["new"]


def test_kinds_are_known(app: App) -> None:
    tell(app, AUTHOR, "reviewer", kind="merged")
    assert [message.kind for message in app.inbox.messages.listed(PETRA, kind="merged")] == ["merged"]
    assert app.inbox.messages.listed(PETRA, kind="asked") == ()
    with pytest.raises(BadInput, match="Kinds: asked"):
        app.inbox.messages.listed(PETRA, kind="nothing")
