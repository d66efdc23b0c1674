"""The inbox: who is told what, once, in the transaction of its cause."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from core.access import Actor
from core.bootstrap import App
from core.errors import BadInput, NotFound, Refused
from core.services.inbox.messages import Message, Subject
from core.services.knowledge.feedback import ReadSpan
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
    other = proposed(app, "other.md")
    app.reviews.changes.submit(AUTHOR, other, ["Theo Nakamura"])
    app.reviews.changes.close(AUTHOR, other)
    app.reviews.merger.merge(AUTHOR, number)
    assert told(app, THEO) == [("merged", "Change note.md")], "no request outlives its change"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("Dana", "There is no account named 'Dana'. Ask one of: Petra Voss"),
        ("reader", "Robin Falk may not review"),
        ("author", "Avery Lindqvist may not"),
    ],
)
def test_whoever_may_not_review_cannot_be_asked_and_nothing_is_submitted(app: App, name: str, why: str) -> None:
    number = proposed(app)
    with pytest.raises(BadInput, match=why):
        app.reviews.changes.submit(AUTHOR, number, ["reviewer", name])
    assert app.reviews.changes.get(number).state == "draft"
    assert told(app, PETRA) == [], "the message belongs to the transaction that failed"


def test_the_rules_of_a_folder_ask_their_reviewers_and_owners_at_submit(app: App) -> None:
    rules = (
        b"rules:\n  - match: finance/\n    reviewers: [Petra Voss, nobody]\n    owners: [admin, author]\n  - "
        b"match: hr/\n    reviewers: [reviewer2]\n"
    )
    put(app, {"review-rules.yaml": rules.decode()})
    change = app.reviews.changes.submit(AUTHOR, proposed(app, "finance/pay.md"))
    assert {(request.account, request.rule) for request in change.asked} == {
        ("reviewer", "finance/"),
        ("admin", "finance/"),
    }
    assert told(app, THEO) == []
    assert change.unknown == ("nobody",)
    with pytest.raises(Refused, match="The review rule of finance/ asks Petra Voss"):
        app.reviews.changes.unask(AUTHOR, change.id, ["reviewer"])


def test_a_request_is_taken_back_until_it_is_answered(app: App) -> None:
    number = proposed(app)
    app.reviews.changes.submit(AUTHOR, number, ["reviewer", "reviewer2"])
    change = app.reviews.changes.unask(AUTHOR, number, ["Petra Voss"])
    assert [request.account for request in change.asked] == ["reviewer2"]
    assert app.reviews.changes.asked_of(PETRA) == ()
    assert told(app, PETRA) == [], "the message goes with the request"
    assert len(told(app, THEO)) == 1
    app.reviews.discussion.approve(THEO, number)
    for who, error, why in (("reviewer2", Refused, "has answered already"), ("Petra Voss", BadInput, "was not asked")):
        with pytest.raises(error, match=why):
            app.reviews.changes.unask(AUTHOR, number, [who])
    with pytest.raises(BadInput, match="Name somebody"):
        app.reviews.changes.unask(AUTHOR, number, [])


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
    assert message.sentence == "3 new comments on Change 1"
    assert message.text == "words · words · words", "what was said before is not lost"
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


# ---------------------------------------------------------------- what happens to a change


def submitted(app: App, *reviewers: str) -> int:
    return app.reviews.changes.submit(AUTHOR, proposed(app), reviewers).id


def test_a_verdict_and_a_merge_reach_those_who_take_part(app: App) -> None:
    number = submitted(app, "reviewer", "reviewer2")
    app.reviews.discussion.request_changes(PETRA, number, "Say when.")
    assert told(app, AUTHOR) == [("changes requested", "Change note.md")]
    assert first(app, AUTHOR).text == "Say when."
    app.reviews.changes.edit(AUTHOR, number, {"note.md": b"# Note\n\nAt nine.\n"})
    for reviewer in (PETRA, THEO):
        app.reviews.discussion.approve(reviewer, number)
    assert (first(app, AUTHOR).kind, first(app, AUTHOR).count) == ("approved", 2)
    app.reviews.merger.merge(AUTHOR, number)
    assert told(app, PETRA)[0] == told(app, THEO)[0] == ("merged", "Change note.md")
    assert ("merged", "Change note.md") not in told(app, AUTHOR), "who merged it knows"


def test_comments_reach_the_author_and_who_speaks_and_lead_to_the_conversation(app: App) -> None:
    number = submitted(app, "reviewer")
    app.inbox.messages.read(PETRA)
    comment = app.reviews.discussion.comment(PETRA, number, "Why nine?").id
    app.reviews.discussion.comment(THEO, number, "Yes, why?", thread=comment)
    assert [(message.kind, message.count) for message in app.inbox.messages.listed(AUTHOR)] == [("answered", 2)]
    assert first(app, AUTHOR).address == f"/reviews?change={number}&side=Discussion&comment={comment}"
    assert told(app, PETRA) == [("answered", "Change note.md")]
    app.reviews.discussion.comment(AUTHOR, number, "The tide.")
    assert told(app, THEO) == [], "a conversation of its own is between others"


def test_a_name_after_an_at_makes_a_message_and_an_unknown_one_does_not(app: App) -> None:
    number = submitted(app)
    body = "@Theo and @petra voss: see `@admin`, @Dana, ada@meridale.example and @robin. Also @author."
    app.reviews.discussion.comment(PETRA, number, body)
    assert told(app, THEO) == [("mentioned", "Change note.md")]
    assert told(app, ADMIN) == told(app, PETRA) == []
    assert told(app, READER) == [], "a reader cannot open a change"
    assert told(app, AUTHOR) == [("mentioned", "Change note.md")], "named, so not told twice"


# ---------------------------------------------------------------- owners and review dates


def owned(owner: str, due: str = "2026-11-01", title: str = "Leave") -> str:
    return f"---\ntitle: {title}\nowner: {owner}\nreview_due: {due}\n---\n# {title}\n\nTwo weeks.\n"


def test_owners_learn_once_when_a_review_date_comes_near_and_once_when_it_passed(app: App) -> None:
    put(app, {"hr/leave.md": owned("avery LINDQVIST", "2026-12-01")})
    assert (app.inbox.reminders.remind(), app.inbox.reminders.remind()) == (1, 0)
    assert (first(app, AUTHOR).kind, first(app, AUTHOR).address) == ("due", "/documents?doc=hr%2Fleave.md")
    again = small_app(app.settings.home, NoProcesses())
    assert again.inbox.reminders.remind() == 0, "another process tells nobody twice"
    again.inbox.reminders.board.clock.day = "2026-12-02"  # type: ignore[attr-defined]
    assert again.inbox.reminders.remind() == 1
    assert first(again, AUTHOR).text == "Its review date has passed: 2026-12-01."


def test_many_due_documents_are_one_message_and_unknown_owners_are_the_admins_matter(app: App) -> None:
    put(app, {f"hr/{n}.md": owned("Dana Whitfield", title=f"Paper {n}") for n in range(7)})
    put(app, {"hr/nobody.md": "---\ntitle: N\nreview_due: 2026-11-01\n---\n# N\n\nText.\n"})
    app.inbox.reminders.remind()
    assert told(app, ADMIN) == [("due", "8 documents")]
    assert first(app, ADMIN).address == "/freshness"
    assert first(app, ADMIN).text == "Paper 0, Paper 1, Paper 2, Paper 3, Paper 4 and 3 more"
    assert app.inbox.owners.unknown(app.knowledge.documents.show("hr/1.md")) == ("Dana Whitfield",)


def test_an_owner_is_an_account_by_id_address_or_name_and_several_are_separated_by_commas(app: App) -> None:
    put(app, {"a.md": owned("PETRA@meridale.example, Theo Nakamura; Dana")})
    document = app.knowledge.documents.show("a.md")
    assert app.inbox.owners.of([document]) == {"reviewer", "reviewer2"}
    assert app.inbox.owners.unknown(document) == ("Dana",)
    offered = app.inbox.owners.offered(demo("author"), ["Dana", "Petra Voss", ""])
    assert offered == [
        "Avery Lindqvist",
        "Ada Brandt",
        "Jonas Mbeki",
        "Petra Voss",
        "Robin Falk",
        "Theo Nakamura",
        "Dana",
    ]
    assert "There is no account named Dana." in app.inbox.owners.remark(document.meta.owner)
    assert app.inbox.owners.remark("petra voss, Theo Nakamura") == ""


# ---------------------------------------------------------------- watching


def land(app: App, files: dict[str, str | None], who: Actor = AUTHOR2) -> int:
    raw = {path: None if text is None else text.encode() for path, text in files.items()}
    number = app.reviews.changes.propose(who, "Land it", raw).id
    app.reviews.changes.submit(who, number)
    app.reviews.discussion.approve(ADMIN, number)
    app.reviews.merger.merge(who, number)
    return number


def test_a_watched_document_or_folder_is_heard_of_and_a_watch_follows_a_move(app: App) -> None:
    put(app, {"hr/leave.md": owned(""), "it/vpn.md": NOTE})
    app.inbox.watches.watch(READER, "document", "hr/leave.md")
    assert app.inbox.watches.watch(READER, "document", "hr/leave.md").id == app.inbox.watches.listed(READER)[0].id
    app.inbox.watches.watch(THEO, "folder", "hr/")
    land(app, {"it/vpn.md": "# Note\n\nAnother line.\n"})
    assert told(app, READER) == told(app, THEO) == []
    land(app, {"hr/leave.md": None, "hr/holidays.md": owned("")})
    assert [(watch.kind, watch.what) for watch in app.inbox.watches.listed(READER)] == [("document", "hr/holidays.md")]
    assert first(app, READER).address == "/documents?doc=hr%2Fholidays.md"
    land(app, {"hr/a.md": NOTE, "hr/b.md": NOTE})
    assert told(app, THEO)[0] == ("watched", "2 documents in hr")
    assert first(app, THEO).address == "/documents?folder=hr"
    land(app, {"hr/holidays.md": None})
    assert told(app, READER)[0] == ("watched", "hr/holidays.md")
    app.inbox.watches.stop(THEO, app.inbox.watches.listed(THEO)[0].id)
    assert app.inbox.watches.listed(THEO) == ()
    with pytest.raises(NotFound):
        app.inbox.watches.stop(THEO, 99)


def test_a_watched_question_is_told_about_new_and_changed_answers_after_a_build(app: App) -> None:
    profile = app.platform.settings.profile()
    app.inbox.watches.watch(READER, "question", " where is   the line ")
    app.index.builder.build(profile)
    assert app.inbox.watches.evaluate() == 1, "there was no index before"
    app.inbox.messages.read(READER)
    assert app.inbox.watches.evaluate() == 0
    land(app, {"b.md": "# Second\n\nThe line is behind the house, where it is.\n"})
    assert told(app, READER) == []
    app.index.jobs.build(ADMIN)
    assert (first(app, READER).kind, first(app, READER).address) == ("watched", "/search?q=where+is+the+line")
    assert first(app, READER).text == "New or changed among the answers: Second"


@pytest.mark.parametrize(("kind", "what"), [("moon", "x"), ("folder", " / "), ("question", "  ")])
def test_what_cannot_be_watched_is_refused(app: App, kind: str, what: str) -> None:
    with pytest.raises(BadInput):
        app.inbox.watches.watch(READER, kind, what)


def test_a_message_says_what_somebody_wrote_without_its_markup(app: App) -> None:
    said = "**Use** [this](a.md):\n\n```suggestion\nTwo weeks.\n```"
    with app.inbox.messages.database.transaction() as state:
        app.inbox.messages.tell(state, ADMIN, [AUTHOR.id], "answered", Subject("change", "1", "Leave"), said)
    assert first(app, AUTHOR).text == "Use this: Two weeks."


# ---------------------------------------------------------------- feedback


def test_feedback_on_a_passage_reaches_the_owner_and_its_end_reaches_who_gave_it(app: App) -> None:
    put(app, {"hr/leave.md": owned("Avery Lindqvist", title="Leave")})
    text = app.knowledge.documents.show("hr/leave.md").text
    start = text.index("Two")
    given = app.knowledge.feedback.give(
        READER, "hr/leave.md", "wrong", "It is three, @theo.", ReadSpan(start, start + 10)
    )
    assert (given.quote, given.version) == ("Two weeks.", 1)
    assert told(app, AUTHOR) == [("feedback", "Leave")]
    assert first(app, AUTHOR).address == f"/documents?doc=hr%2Fleave.md&start={start}&end={start + 10}&version=1"
    assert first(app, AUTHOR).text == "This is wrong: It is three, @theo."
    assert told(app, THEO) == [("mentioned", "Leave")]
    assert [said.id for said in app.knowledge.feedback.open(AUTHOR, "hr/leave.md")] == [given.id]
    app.knowledge.feedback.close(AUTHOR, given.id, "Fixed, thank you.")
    assert (first(app, READER).kind, first(app, READER).text) == ("answered", "Fixed, thank you.")
    assert app.knowledge.feedback.open(AUTHOR) == ()
    with pytest.raises(Refused, match="Avery Lindqvist has answered this"):
        app.knowledge.feedback.close(THEO, given.id)


def test_still_right_counts_once_per_person_and_version(app: App) -> None:
    put(app, {"hr/leave.md": owned("author")})
    for reader in (READER, READER, THEO):
        app.knowledge.feedback.give(reader, "hr/leave.md", "right")
    assert [said.name for said in app.knowledge.feedback.confirmations("hr/leave.md")] == [
        "Theo Nakamura",
        "Robin Falk",
    ]
    assert app.knowledge.feedback.open(AUTHOR) == (), "nobody has to answer it"
    assert first(app, AUTHOR).count == 2
    land(app, {"hr/leave.md": owned("author", "2027-01-01")})
    assert app.knowledge.feedback.confirmations("hr/leave.md") == (), "it was about another text"


@pytest.mark.parametrize(("kind", "note"), [("wrong", " "), ("comment", ""), ("praise", "x")])
def test_empty_feedback_is_refused(app: App, kind: str, note: str) -> None:
    with pytest.raises(BadInput):
        app.knowledge.feedback.give(READER, "a.md", kind, note)


def test_feedback_follows_a_document_that_moves_and_outlives_a_passage_that_is_gone(app: App) -> None:
    put(app, {"hr/leave.md": owned("")})
    app.knowledge.feedback.give(READER, "hr/leave.md", "comment", "Nice.", ReadSpan(5, 9_999))
    land(app, {"hr/leave.md": None, "hr/off.md": owned("")})
    (said,) = app.knowledge.feedback.open(AUTHOR, "hr/off.md")
    assert (said.quote, said.note) == ("", "Nice.")


# ---------------------------------------------------------------- gaps


def test_a_gap_reaches_the_owner_of_the_nearest_document_and_its_answer_reaches_who_asked(app: App) -> None:
    put(app, {"hr/leave.md": owned("Avery Lindqvist", "2028-01-01", "Parental leave")})
    app.index.builder.build(app.platform.settings.profile())
    app.knowledge.gaps.report(READER, "parental leave for twins", "How long?")
    assert (first(app, AUTHOR).kind, first(app, AUTHOR).address) == ("gap", "/search?q=parental+leave+for+twins")
    answer = "---\ntitle: Twins\nanswers: [Parental leave for TWINS]\n---\n# Twins\n\nFour weeks.\n"
    land(app, {"hr/twins.md": answer})
    (waiting,) = app.knowledge.gaps.open(AUTHOR)
    assert (waiting.path, told(app, READER)) == ("hr/twins.md", []), (
        "it is listed, and not found before the index serves it"
    )
    app.index.jobs.build(ADMIN)
    assert app.knowledge.gaps.open(AUTHOR) == ()
    assert (first(app, READER).kind, first(app, READER).address) == ("answered", "/documents?doc=hr%2Ftwins.md")
    assert first(app, READER).text == "It answers what you asked: parental leave for twins"


def test_a_gap_without_an_index_is_for_the_admins_and_answered_by_hand_tells_who_asked_once(app: App) -> None:
    gap = app.knowledge.gaps.report(READER, "where to park")
    assert told(app, ADMIN) == [("gap", "where to park")]
    for _ in range(2):
        app.knowledge.gaps.close(AUTHOR, gap.id)
    assert [(message.kind, message.count) for message in app.inbox.messages.listed(READER)] == [("answered", 1)]
    with pytest.raises(NotFound):
        app.knowledge.gaps.close(AUTHOR, 99)
