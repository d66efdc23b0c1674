"""Reviews, editor, audit and accounts under AppTest: they render, they act, they refuse in the rule's own words."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.access import Actor
from core.adapters.system.processes import SystemClock
from core.bootstrap import App, build
from core.curation.document.frontmatter import decode, read_document
from core.curation.review import policy
from core.curation.review.moves import MOVES, refusal
from core.errors import BadInput, Cancelled, Refused
from core.services.knowledge import drafts
from core.services.reviews.changes import Change
from core.services.reviews.discussion import CommentPlace
from pages.ui import owner_field
from pages.ui.reviews import queues, rules
from tests.conftest import ROOT, NoProcesses, demo, kb_settings, put, serve
from tests.support.apptest import PATIENCE, drawn, page_of
from tests.support.apptest import plain_words as words
from tests.support.hostile import PAYLOADS, document

Open = Callable[..., AppTest]
PATH = "finance/records.md"
TEXT = (
    "---\nid: FIN-1\ntitle: Records\nowner: Ann\nreview_due: 2020-01-01\n---\n\n# Records\n\nKeep invoices 5 "
    "years.\n\nThen shred them.\n"
)


@pytest.fixture(scope="module")
def furnished_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small workspace with two documents and the demo's people; nothing is indexed."""
    app = build(kb_settings(tmp_path_factory.mktemp("small") / "kb"), processes=NoProcesses())
    app.platform.workspace.create()
    put(app, {PATH: TEXT, "it/vpn.md": "# Using the VPN\n\nSee [records](../finance/records.md).\n"}, "start")
    return app.settings.home


@pytest.fixture
def kb(furnished_home: Path, tmp_path: Path) -> App:
    """A copy of it, to do with as a test likes."""
    shutil.copytree(furnished_home, tmp_path / "kb")
    return build(kb_settings(tmp_path / "kb"), processes=NoProcesses())


@pytest.fixture
def visit(monkeypatch: pytest.MonkeyPatch, kb: App) -> Open:
    """Open a page as a persona."""
    serve(kb, monkeypatch)

    def go(page: str, persona: str = "admin", **query: str) -> AppTest:
        return page_of(page, persona, framed=page == "documents", **query)  # it leads to pages that the frame must know

    return go


def who(app: App, name: str) -> Actor:
    return app.people.accounts.actor(name)


def started(kb: App, text: str = TEXT.replace("5 years", "7 years"), title: str = "Keep longer") -> Change:
    return kb.reviews.changes.propose(who(kb, "author"), title, {PATH: text.encode()}, "The law **changed**.")


def brought(kb: App, state: str) -> Change:
    """A change in a state."""
    change = started(kb)
    if state == "closed":
        return kb.reviews.changes.close(who(kb, "author"), change.id)
    if state != "draft":
        kb.reviews.changes.submit(who(kb, "author"), change.id)
    return moved(kb, change.id, state)


def moved(kb: App, number: int, state: str) -> Change:
    """The same change, in another state."""
    author, reviewer = who(kb, "author"), who(kb, "reviewer")
    now = kb.reviews.changes.get(number).state
    if now == "draft" and state != "draft":
        kb.reviews.changes.submit(author, number)
    if now == "closed":
        kb.reviews.changes.reopen(author, number)
    if state == "changes requested":
        kb.reviews.discussion.request_changes(reviewer, number, "No.")
    if state in ("approved", "merged"):
        kb.reviews.discussion.approve(reviewer, number)
    if state == "merged":
        kb.reviews.merger.merge(author, number)
    if state == "closed":
        kb.reviews.changes.close(author, number)
    if state == "draft" and kb.reviews.changes.get(number).state != "draft":
        kb.reviews.changes.withdraw(author, number)
    assert kb.reviews.changes.get(number).state == state
    return kb.reviews.changes.get(number)


# ---------------------------------------------------------------- queues


def test_queues_show_what_waits_for_whom(visit: Open, kb: App) -> None:
    brought(kb, "in review")
    rows = drawn(visit("reviews", "reviewer"), "listing")["items"]
    assert [row["title"] for row in rows] == ["Keep longer"]
    assert rows[0]["badges"][0]["text"] == "In review"
    assert rows[0]["right"][0] == "1 document · +1 −1"
    assert rows[0]["note"] == "1 requirement not met"
    assert drawn(visit("reviews", "reviewer2", queue="open"), "listing")["items"]
    assert drawn(visit("reviews", "author", queue="mine"), "listing")["items"]
    assert not drawn(visit("reviews", "author2", queue="mine"), "listing")["items"]


def test_a_request_is_taken_back_on_the_change_and_unknown_names_of_the_rules_are_shown(visit: Open, kb: App) -> None:
    put(kb, {"review-rules.yaml": "rules:\n  - match: finance/\n    reviewers: [Nora Nobody]\n"})
    author = who(kb, "author")
    number = kb.reviews.changes.propose(author, "More", {PATH: f"{TEXT}\nMore.\n".encode()}).id
    asked = "The review rules ask: 1 approval; Nora Nobody is asked."
    assert asked in words(visit("reviews", "author", change=str(number))), "before it is submitted"
    said = rules.propose(author, "Two eyes more", "rules:\n  - match: finance/\n    approvals: 2\n")
    assert "They hold once it is merged." in said
    with pytest.raises(BadInput):
        rules.propose(author, "Odd", "rules: 3")
    assert [row.iloc[0] for _, row in visit("reviews", "author").dataframe[0].value.iterrows()] == ["finance/"]
    kb.reviews.changes.submit(author, number, ["reviewer"])
    app = visit("reviews", "author", change=str(number))
    assert "The review rules name Nora Nobody, and nobody is called so." in words(app)
    next(one for one in app.button if one.label == "Ask Petra Voss no longer").click().run()
    assert not app.exception
    assert kb.reviews.changes.get(number).asked == ()
    assert not [one for one in app.button if one.label == "Ask Petra Voss no longer"]


def test_ended_changes_are_shown_step_by_step_and_all_of_them_are_counted(
    visit: Open, kb: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queues, "SHOWN", 2)
    author = who(kb, "author")
    for number in range(3):
        made = kb.reviews.changes.propose(author, f"Number {number}", {PATH: f"{TEXT}\n{number}\n".encode()})
        kb.reviews.changes.close(author, made.id)
    app = visit("reviews", "author", queue="closed")
    (choice,) = app.get("button_group")
    assert "Closed (3)" in str(choice.proto)
    assert [row["title"] for row in drawn(app, "listing")["items"]] == ["Number 2", "Number 1"]
    (older,) = [one for one in app.button if one.label == "Show 1 older change"]
    older.click().run()
    assert len(drawn(app, "listing")["items"]) == 3
    assert not [one for one in app.button if "older" in one.label]


def test_empty_queues_say_what_to_do(visit: Open) -> None:
    assert "New on the Documents page" in drawn(visit("reviews", "author", queue="mine"), "listing")["empty"]


def test_readers_do_not_see_reviews(visit: Open, kb: App, monkeypatch: pytest.MonkeyPatch) -> None:
    number = brought(kb, "in review").id
    app = AppTest.from_file(str(ROOT / "pages" / "reviews.py"), default_timeout=PATIENCE)
    app.session_state["persona"] = "reader"
    app.query_params["change"] = str(number)
    app.run()
    assert "Not for this role" in words(app)
    assert not app.get("bidi_component")


@pytest.mark.parametrize("number", ["99", "0", "-1", "x", "9" * 30, "<script>"])
def test_an_unknown_change_is_named(visit: Open, number: str) -> None:
    assert f"There is no change {number}" in words(visit("reviews", change=number))


# ---------------------------------------------------------------- one change


def test_a_change_shows_fields_lines_blocks_and_talk(visit: Open, kb: App) -> None:
    change = started(kb, TEXT.replace("5 years", "7 years").replace("owner: Ann", "owner: Bob"))
    kb.reviews.discussion.comment(
        who(kb, "reviewer"), change.id, "Why?\n```suggestion\nKeep invoices 10 years.\n```", CommentPlace(PATH, 10)
    )
    app = visit("reviews", "author", change=str(change.id))
    one = drawn(app, "review")["documents"][0]
    assert one["fields"] == [{"name": "Owner", "before": "Ann", "after": "Bob"}]
    assert [row["kind"] for row in one["rows"]].count("changed") == 1
    assert [kind for kind, _ in one["rendered"]] == ["removed", "added", "equal"]
    assert one["threads"][0]["line"] == 10
    assert one["threads"][0]["remarks"][0]["suggestion"][0]["kind"] == "changed"
    assert drawn(app, "header")["title"] == "Keep longer"
    assert drawn(app, "prose")["nodes"]


def test_a_rule_that_counts_suggestions_is_named_before_one_is_applied_and_another_reviewer_is_proposed(
    visit: Open, kb: App
) -> None:
    change = started(kb, TEXT.replace("5 years", "7 years"))
    body = "```suggestion\nKeep invoices 10 years.\n```"
    made = kb.reviews.discussion.comment(who(kb, "reviewer"), change.id, body, CommentPlace(PATH, 10))
    kb.reviews.changes.submit(who(kb, "author"), change.id, ["reviewer"])
    assert drawn(visit("reviews", "author", change=str(change.id)), "review")["may"]["counting"] == ""
    put(kb, {policy.FILE: "rules:\n  - match: finance/\n    suggestions: count\n"})
    app = visit("reviews", "author", change=str(change.id))
    assert drawn(app, "review")["may"]["counting"] == "the review rule of finance/"
    assert "Asked: Petra Voss (no answer yet)" in words(app)
    kb.reviews.discussion.apply(who(kb, "author"), change.id, made.id)
    app = visit("reviews", "author", change=str(change.id))
    assert "Asked:" not in words(app)
    assert "No review is pending. Ask Theo Nakamura" in words(app)


def test_new_moved_and_deleted_documents_are_recognised(visit: Open, kb: App) -> None:
    author = who(kb, "author")
    files = {PATH: None, "finance/kept.md": TEXT.encode(), "it/new.md": b"# New\n\nText.\n", "it/vpn.md": None}
    number = kb.reviews.changes.propose(author, "Tidy up", files).id
    documents = drawn(visit("reviews", "author", change=str(number)), "review")["documents"]
    assert {(one["word"], one["path"], one["was"]) for one in documents} == {
        ("Renamed", "finance/kept.md", PATH),
        ("New", "it/new.md", ""),
        ("Deleted", "it/vpn.md", ""),
    }


def test_a_document_that_cannot_be_read_says_why_and_still_shows_its_lines(visit: Open, kb: App) -> None:
    change = started(kb, TEXT.replace("owner: Ann", "tags: {a: soon}"))
    one = drawn(visit("reviews", "author", change=str(change.id)), "review")["documents"][0]
    assert "must be a list of texts" in one["problem"]
    assert one["rows"]


def test_the_checks_are_shown_on_the_change_and_in_the_queue(visit: Open, kb: App) -> None:
    bad = TEXT.replace("review_due: 2020-01-01\n", "") + "\n#### Far\n\nSee [it](nowhere.md).\n"
    number = started(kb, bad + "\nKey: AKIA" + "Q7ZXKPLMVTRWNBCD\n").id
    app = visit("reviews", "author", change=str(number))
    shown = drawn(app, "review")["documents"][0]["checks"]
    assert [(one["severity"], one["line"]) for one in shown] == [("error", 17), ("warning", 13), ("warning", 15)]
    assert [one["text"] for one in drawn(app, "header")["badges"]] == ["Draft", "1 error", "2 to fix"]
    assert "finance/records.md, line 17: This looks like an AWS access key." in words(app)
    row = drawn(visit("reviews", "author", queue="mine"), "listing")["items"][0]
    assert [one["text"] for one in row["badges"][1:]] == ["1 error", "2 to fix"]
    app.button(key=f"do_submit_{number}").click().run()
    assert "It cannot be submitted yet. finance/records.md, line 17" in words(app)
    kb.reviews.changes.edit(who(kb, "author"), number, {PATH: TEXT.replace("2020", "2040").replace("5", "6").encode()})
    badges = drawn(visit("reviews", "author", change=str(number)), "header")["badges"]
    assert [one["text"] for one in badges] == ["Draft", "Checks passed"]


def test_the_chunk_diff_names_what_changes(visit: Open, kb: App) -> None:
    change = started(kb)
    chunks = drawn(visit("reviews", "author", change=str(change.id), side="Chunks"), "chunkdiff")["documents"][0]
    assert [one["word"] for one in chunks["chunks"]] == ["Changes"]


def test_the_discussion_tells_what_happened_in_order(visit: Open, kb: App) -> None:
    number = brought(kb, "changes requested").id
    items = drawn(visit("reviews", "author", change=str(number), side="Discussion"), "discussion")["items"]
    assert [one["text"] for one in items] == ["started this change", "asked for review", "requested changes"]
    assert items[-1]["note"]


def test_a_verdict_keeps_its_note_where_its_entry_falls_into_the_next_second(visit: Open, kb: App) -> None:
    class Later(SystemClock):
        def stamp(self) -> str:
            return (datetime.fromisoformat(super().stamp()) + timedelta(seconds=1)).isoformat()

    kb.people.audit.clock = Later()
    number = brought(kb, "changes requested").id
    items = drawn(visit("reviews", "author", change=str(number), side="Discussion"), "discussion")["items"]
    assert items[-1]["note"]


def test_requirements_stand_beside_a_merge_that_waits(visit: Open, kb: App) -> None:
    number = brought(kb, "in review").id
    app = visit("reviews", "author", change=str(number))
    assert "It needs 1 more approval" in words(app)
    assert app.button(key=f"do_merge_{number}").disabled
    kb.reviews.discussion.approve(who(kb, "reviewer"), number)
    app = visit("reviews", "author", change=str(number))
    assert "Ready to merge" in words(app)
    app.button(key=f"do_merge_{number}").click().run()
    assert kb.reviews.changes.get(number).state == "merged"
    assert "Indexing" in words(app) or app.get("progress")


def test_a_review_from_submit_to_revert(visit: Open, kb: App) -> None:
    number = started(kb).id
    visit("reviews", "author", change=str(number)).button(key=f"do_submit_{number}").click().run()
    app = visit("reviews", "reviewer", change=str(number))
    app.text_area(key=f"note_request_changes_{number}").set_value("Cite the law.")
    app.button(key=f"do_request_changes_{number}").click().run()
    assert kb.reviews.changes.get(number).state == "changes requested"
    assert app.text_area(key=f"note_request_changes_{number}_1").value == ""  # what was sent does not come back
    app.button(key=f"do_approve_{number}").click().run()
    assert kb.reviews.changes.get(number).approvals == ("Petra Voss",)
    visit("reviews", "author", change=str(number)).button(key=f"do_merge_{number}").click().run()
    app = visit("reviews", "author", change=str(number))
    app.button(key=f"do_revert_{number}").click().run()
    assert kb.reviews.changes.get(number + 1).reverts == number
    assert drawn(app, "header")["title"] == "Revert “Keep longer”"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (Cancelled("Stop."), "was cancelled. An admin can"),
        (Refused("The disk is full."), "The disk is full. An admin can"),
    ],
)
def test_a_build_that_was_stopped_stays_so_and_says_what_to_do(
    visit: Open, kb: App, error: Exception, said: str
) -> None:
    def stopped(*_: object) -> None:
        raise error

    number = brought(kb, "merged").id
    app = visit("reviews", "author", change=str(number))
    assert app.get("progress")
    kb.platform.jobs.run(kb.platform.jobs.recent()[0].id, {"reindex": stopped})
    for _ in range(3):
        app.run()
    assert said in words(app)
    assert not app.get("progress"), "nothing ticks any more"
    assert [job.kind for job in kb.platform.jobs.recent()].count("reindex") == 1


def test_a_bypass_needs_a_reason_and_is_seen_for_ever(visit: Open, kb: App) -> None:
    number = brought(kb, "in review").id
    app = visit("reviews", "admin", change=str(number))
    app.button(key=f"do_bypass_{number}").click().run()
    assert "Say why the review rules are bypassed" in words(app)
    assert kb.reviews.changes.get(number).state == "in review"
    app.text_area(key=f"note_bypass_{number}").set_value("The auditor waits.")
    app.button(key=f"do_bypass_{number}").click().run()
    assert kb.reviews.changes.get(number).state == "merged"
    assert "Reason: The auditor waits." in words(visit("reviews", "author2", change=str(number)))


OFFERED = {
    "submit": "draft",
    "merge": "approved",
    "reopen": "closed",
    "lift": "changes requested",
}  # where a button is drawn; else in review
MEANWHILE = {"submit": "in review", "reopen": "draft"}  # what happens before it is clicked; else it is closed


@pytest.mark.parametrize("move", [move for move in MOVES if move not in ("edit", "comment", "revert", "take back")])
def test_a_click_on_a_button_from_before_is_refused_in_the_rules_own_words(visit: Open, kb: App, move: str) -> None:
    number = brought(kb, OFFERED.get(move, "in review")).id
    app = visit("reviews", "author" if move == "submit" else "admin", change=str(number))
    if move in ("bypass", "request changes", "lift"):
        app.text_area(key=f"note_{move.replace(' ', '_')}_{number}").set_value("now")
    state = MEANWHILE.get(move, "closed")
    moved(kb, number, state)
    app.button(key=f"do_{move.replace(' ', '_')}_{number}").click().run()
    assert not app.exception
    assert refusal(move, state) in words(app)
    assert kb.reviews.changes.get(number).state == state


def test_nobody_approves_their_own_change_here_either(visit: Open, kb: App) -> None:
    change = kb.reviews.changes.propose(who(kb, "reviewer"), "Mine", {PATH: TEXT.replace("5", "6").encode()})
    kb.reviews.changes.submit(who(kb, "reviewer"), change.id)
    app = visit("reviews", "reviewer", change=str(change.id))
    assert "Nobody approves their own change: Petra Voss is its author." in words(app)
    assert not [button for button in app.button if button.key == f"do_approve_{change.id}"]


def test_what_is_not_ones_own_is_not_offered_and_the_panel_says_whom_to_ask(visit: Open, kb: App) -> None:
    number = brought(kb, "draft").id
    sentence = "Only Avery Lindqvist may edit this change, and co-authors whom they invite."
    mine, theirs = visit("reviews", "author", change=str(number)), visit("reviews", "author2", change=str(number))
    assert sentence not in words(mine)
    (missing,) = kb.reviews.changes.get(number).approvals_missing
    assert missing not in words(mine), "nobody reviews a draft"
    assert f"{sentence} Suggest your words in a comment on its lines, or ask Avery Lindqvist to invite you." in words(
        theirs
    )
    own = {"describe", f"do_submit_{number}", f"do_close_{number}", f"do_invite_{number}"}
    keys = {
        persona: {button.key for button in page.button} for persona, page in (("author", mine), ("author2", theirs))
    }
    assert own <= keys["author"]
    assert not own & keys["author2"]
    allowed = [drawn(page, "review")["may"] for page in (mine, theirs)]
    assert [(may["edit"], may["apply"], may["comment"]) for may in allowed] == [(True,) * 3, (False, False, True)]
    editor = visit("documents", "author2", do="edit", change=str(number), path=PATH)
    assert sentence in words(editor)
    kb.knowledge.drafts.keep(
        who(kb, "author2"), f"{number}:{PATH}", json.dumps({"text": "# Typed before\n", "base": ""}), ""
    )
    editor = visit("documents", "author2", do="edit", change=str(number), path=PATH)
    assert "Typed before" in drawn(editor, "editor")["text"], "what was typed is there to read"


def test_authors_cannot_approve_even_with_a_button_from_before(visit: Open, kb: App) -> None:
    number = brought(kb, "in review").id
    app = visit("reviews", "reviewer", change=str(number))
    kb.people.accounts.set_role(who(kb, "admin"), "reviewer", "author")
    app.button(key=f"do_approve_{number}").click().run()
    assert "Only reviewers and admins may review a change; Petra Voss is an author." in words(app)


def test_a_search_loss_stands_alone_and_findings_are_counted_once(
    visit: Open, kb: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = started(kb, f"{TEXT.replace('2020', '2040')}\n#### Deep\n\nText.\n").id
    app = visit("reviews", "author", change=str(number))
    shown = drawn(app, "review")["documents"][0]["badges"]
    assert drawn(app, "header")["badges"][1:] == shown == [{"text": "1 to fix", "tone": "warn"}]
    kb.reviews.changes.submit(who(kb, "author"), number)
    kb.reviews.discussion.approve(who(kb, "reviewer"), number)
    lost = [{"text": "Search: 1 loss", "tone": "bad"}]
    monkeypatch.setattr("pages.ui.reviews.impact.badge", lambda change, me: lost)
    app = visit("reviews", "author", change=str(number))
    assert "Ready to merge, with 1 to fix" in words(app)
    assert drawn(app, "header")["badges"][2:] == lost
    kb.reviews.changes.edit(who(kb, "author"), number, {PATH: TEXT.replace("2020", "2040").encode() + b"\nMore.\n"})
    assert drawn(visit("reviews", "author", change=str(number)), "header")["badges"][1:] == lost


def test_a_conflict_is_closed_to_those_who_may_not_decide_and_an_admin_takes_it_over(visit: Open, kb: App) -> None:
    number = brought(kb, "in review").id
    put(kb, {PATH: TEXT.replace("5 years", "6 years")}, "meanwhile")
    app = visit("reviews", "reviewer", change=str(number), side="Conflicts")
    assert "Only Avery Lindqvist may edit this change" in next(one.value for one in app.info)
    assert all(choice.disabled for choice in app.segmented_control if choice.label == "Take")
    app = visit("reviews", "admin", change=str(number), side="Conflicts")
    app.button(key="conflicts_take_over").click().run()
    assert not any(choice.disabled for choice in app.segmented_control if choice.label == "Take")
    assert [each.account for each in kb.reviews.changes.get(number).co_authors] == ["admin"]


def test_the_only_admin_applies_narrower_readers_at_once_and_says_why(visit: Open, kb: App) -> None:
    def dialog(name: str) -> AppTest:
        """The dialog as it asks for approval, beside the page."""
        text = policy.with_readers(kb.reviews.changes.rules_text(admin), "finance", [name], True)
        told = kb.reviews.changes.readers_effect(admin, text)
        return AppTest.from_function(offered, args=(text, told), default_timeout=PATIENCE).run()

    admin = who(kb, "admin")
    visit("reviews")
    app = dialog("author")
    assert "You are the only admin" in words(app)
    app.button(key="readers_apply").click().run()
    assert kb.reviews.changes.readers(admin) == (("finance/", ("author",)),)
    (entry,) = kb.people.audit.entries(demo("admin"), action="merge with bypass")
    assert entry.detail == "There is no other admin yet"
    wider = dialog("everyone")
    assert "this shows documents to more people" in words(wider)
    assert [button.key for button in wider.button] == ["readers_go"]
    kb.people.accounts.set_role(admin, "reviewer", "admin")
    assert "You are the only admin" not in words(dialog("reader"))


def offered(text: str, told: tuple[str, ...]) -> None:
    from pages.ui import identity
    from pages.ui.reviews import readers

    readers.offer(identity.me(), "finance", text, told)


def test_after_approving_there_is_no_second_approve_beside_merge(visit: Open, kb: App) -> None:
    number = brought(kb, "approved").id
    app = visit("reviews", "reviewer", change=str(number))
    assert "You approved this text" in words(app)
    assert not [button for button in app.button if button.key == f"do_approve_{number}"]
    app.button(key=f"do_take_back_{number}").click().run()
    assert kb.reviews.changes.get(number).approvals == ()
    assert app.button(key=f"do_approve_{number}")


def test_the_panel_says_who_blocks_with_which_words_until_an_admin_lifts_it(visit: Open, kb: App) -> None:
    number = brought(kb, "changes requested").id
    kb.reviews.changes.edit(who(kb, "author"), number, {PATH: TEXT.replace("5", "9").encode()})
    app = visit("reviews", "author", change=str(number))
    (block,) = drawn(app, "pointers")["blocks"]
    assert (block["name"], block["note"][0][2], block["edited"]) == (
        "Petra Voss",
        ["No."],
        "The text was edited since.",
    )
    assert block["place"] == {"change": number, "side": "Discussion", "at": "v0"}
    assert (
        drawn(visit("reviews", "author", change=str(number), side="Discussion"), "discussion")["items"][2]["id"] == "v0"
    )
    assert not [button for button in app.button if button.key == f"do_lift_{number}"]
    app = visit("reviews", "admin", change=str(number))
    app.button(key=f"do_lift_{number}").click().run()
    assert "Say why the request for changes is lifted" in words(app)
    app.text_area(key=f"note_lift_{number}").set_value("Petra is on leave.")
    app.button(key=f"do_lift_{number}").click().run()
    assert kb.reviews.changes.get(number).state == "in review"


def test_what_is_to_fix_and_what_is_talked_about_leads_to_its_place(visit: Open, kb: App) -> None:
    number = started(kb, TEXT.replace("5", "7") + "\n#### Far\n").id
    talk = kb.reviews.discussion.comment(who(kb, "reviewer"), number, "Why?", CommentPlace(PATH, 10)).id
    kb.reviews.discussion.comment(who(kb, "reviewer"), number, "In all?")
    shown = drawn(visit("reviews", "author", change=str(number)), "pointers")
    assert {(fix["path"], fix["line"]) for fix in shown["fixes"]} == {(PATH, 5), (PATH, 14)}
    assert shown["talks"] == [
        {
            "text": f"{PATH}, line 10: Petra Voss: Why?",
            "place": {"change": str(number), "side": "Documents", "at": f"c{talk}"},
        },
        {"text": "Petra Voss: In all?", "place": {"change": str(number), "side": "Discussion", "at": f"c{talk + 1}"}},
    ]


def test_the_merge_dialog_names_the_conversations_that_are_open(visit: Open, kb: App) -> None:
    number = brought(kb, "in review").id
    talk = kb.reviews.discussion.comment(who(kb, "reviewer"), number, "Why seven?", CommentPlace(PATH, 10)).id
    kb.reviews.discussion.approve(who(kb, "reviewer"), number)
    app = visit("reviews", "author", change=str(number))
    assert "1 conversation still open" in words(app)
    app.button(key=f"talk_{talk}").click().run()
    assert app.segmented_control(key="side").value == "Documents"
    assert drawn(app, "review")["at"] == f"c{talk}"


def test_a_comment_offers_its_words_for_editing_to_its_author_alone(visit: Open, kb: App) -> None:
    from pages.ui.reviews import comments

    number, reviewer = brought(kb, "in review").id, who(kb, "reviewer")
    talk = kb.reviews.discussion.comment(reviewer, number, "Whi?").id
    kb.reviews.discussion.comment(reviewer, number, "Gone.")
    edit = {"do": "edit comment", "comment": talk, "body": "Why?"}
    assert comments.perform(reviewer, number, edit) == "Comment changed."
    assert comments.perform(reviewer, number, {"do": "delete comment", "comment": talk + 1}) == "Comment deleted."
    offered = {}
    for name in ("reviewer", "author", "admin"):
        items = drawn(visit("reviews", name, change=str(number), side="Discussion"), "discussion")["items"]
        (thread,) = [item for item in items if "remarks" in item]
        (remark,) = thread["remarks"]
        offered[name] = (remark["body"], remark["mine"], remark["edited"])
    assert offered == {"reviewer": ("Why?", True, True), "author": (None, False, True), "admin": (None, True, True)}


# ---------------------------------------------------------------- talk


def test_what_the_browser_sends_is_checked_before_it_is_believed(visit: Open, kb: App) -> None:
    from pages.ui.reviews import comments

    number = brought(kb, "in review").id
    visit("reviews", "author", change=str(number))
    author, reviewer = who(kb, "author"), who(kb, "reviewer")
    body = "Better:\n```suggestion\nKeep invoices 10 years.\n```"
    said = {"do": "comment", "path": PATH, "line": 10, "last": 10, "body": body}
    assert comments.perform(reviewer, number, said) == "Comment added."
    root = kb.reviews.discussion.comments(demo("admin"), number)[0]
    comments.perform(author, number, {"do": "reply", "thread": root.id, "body": "Good."})
    comments.perform(author, number, {"do": "resolve", "thread": root.id})
    comments.perform(author, number, {"do": "reopen", "thread": root.id})
    comments.perform(author, number, {"do": "apply", "comment": root.id})
    assert "10 years" in kb.knowledge.repository.read(kb.reviews.changes.get(number).head, PATH).decode()
    for bad in (
        {},
        {"do": "drop"},
        {**said, "body": 7},
        {**said, "line": "x"},
        {**said, "line": -1},
        {**said, "line": 1e99},
    ):
        with pytest.raises(BadInput):
            comments.perform(author, number, bad)
    with pytest.raises(BadInput, match="does not touch"):
        comments.perform(author, number, {**said, "path": "../../etc/passwd"})
    with pytest.raises(Refused, match="Only authors and above"):
        comments.perform(who(kb, "reader"), number, said)
    moved(kb, number, "closed")
    with pytest.raises(Refused, match="Only an open change can be discussed"):
        comments.perform(author, number, said)


def test_a_comment_beside_older_text_is_refused_and_the_browser_is_told(visit: Open, kb: App) -> None:
    from pages.ui.reviews import comments

    number = brought(kb, "in review").id
    shown = drawn(visit("reviews", "reviewer", change=str(number)), "review")
    assert (shown["head"], shown["heard"]) == (kb.reviews.changes.get(number).head, ["", False])
    kb.reviews.changes.edit(who(kb, "author"), number, {PATH: TEXT.replace("5", "9").encode()})
    said = {"do": "comment", "path": PATH, "line": 10, "last": 10, "body": "Hm.", "head": shown["head"], "n": "7"}
    with pytest.raises(Refused, match="edited after you opened it"):
        comments.answer(who(kb, "reviewer"), number, said)
    assert comments.last_message() == ["7", False]
    comments.answer(who(kb, "reviewer"), number, {**said, "head": kb.reviews.changes.get(number).head, "n": "8"})
    assert comments.last_message() == ["8", True]


def test_hostile_words_stay_words_in_titles_comments_and_diffs(visit: Open, kb: App) -> None:
    author = who(kb, "author")
    flat = " ".join(PAYLOADS)[:190]
    text = document(1, "\n\n".join(PAYLOADS))
    change = kb.reviews.changes.propose(author, flat, {PATH: text.encode()}, "\n\n".join(PAYLOADS))
    kb.reviews.discussion.comment(author, change.id, "\n\n".join(PAYLOADS))
    kb.reviews.discussion.comment(
        author, change.id, "```suggestion\n<script>window.__pwned=1</script>\n```", CommentPlace(PATH, 12)
    )
    for side in ("Documents", "Discussion", "Chunks"):
        app = visit("reviews", "author", change=str(change.id), side=side)
        assert not app.exception
        assert not [one for one in app.markdown if "<script" in one.value or "](javascript" in one.value]
    assert drawn(visit("reviews", "author", queue="open"), "listing")["items"][0]["title"] == change.title


# ---------------------------------------------------------------- writing


def test_a_new_document_becomes_a_change(visit: Open, kb: App) -> None:
    app = visit("documents", "author", do="new")
    key = next(one.key for one in app.text_input if one.key.startswith("edit_")).removesuffix("_title")
    app.text_input(key=f"{key}_title").set_value("Booking the boat").run()
    app.selectbox(key=f"{key}_owner").set_value(owner_field.OTHER).run()
    app.text_input(key=owner_field.other(f"{key}_owner")).set_value("Ann").run()
    assert "There is no account named Ann. Reminders and questions about it go to the admins." in " ".join(
        one.value for one in app.caption
    )
    assert kb.knowledge.drafts.find(who(kb, "author"), "new") is not None, "what was typed is kept"
    app.button(key="save").click().run()
    assert not app.exception
    change = kb.reviews.changes.all()[0]
    assert change.title == "Add Booking the boat"
    made = kb.knowledge.repository.read(change.head, "booking-the-boat.md").decode()
    assert made.startswith("---\ntitle: Booking the boat\nowner: Ann\n---\n")
    assert kb.knowledge.drafts.find(who(kb, "author"), "new") is None
    assert drawn(app, "header")["title"] == "Add Booking the boat", "saving leads to the change"


@pytest.mark.parametrize("template", ["blank", "runbook"])
def test_what_nobody_typed_is_no_draft(visit: Open, kb: App, template: str) -> None:
    app = visit("documents", "author", do="new")
    key = next(one.key for one in app.text_input if one.key.startswith("edit_")).removesuffix("_title")
    app.segmented_control(key=f"{key}_template").set_value(template).run()
    assert drawn(app, "editor")["note"] == "Nothing changed yet"
    assert kb.knowledge.drafts.find(who(kb, "author"), "new") is None
    visit("documents", "author", doc="FIN-1", do="edit")
    assert kb.knowledge.drafts.find(who(kb, "author"), f"0:{PATH}") is None


def test_a_reload_brings_template_folder_and_file_name_back(visit: Open, kb: App) -> None:
    app = visit("documents", "author", do="new", template="runbook")
    assert "## First five minutes" in drawn(app, "editor")["text"]
    key = next(one.key for one in app.text_input if one.key.startswith("edit_")).removesuffix("_title")
    app.text_input(key=f"{key}_name").set_value("fn-22").run()
    again = visit("documents", "author", do="new", template="runbook")
    assert next(one.value for one in again.text_input if one.key.endswith("_name")) == "fn-22"
    assert not drawn(visit("documents", "author2", do="new", template="none such"), "editor")["text"].strip()


def test_a_name_that_is_taken_is_refused_and_the_text_stays(visit: Open, kb: App) -> None:
    app = visit("documents", "author", do="new")
    key = next(one.key for one in app.text_input if one.key.startswith("edit_")).removesuffix("_title")
    app.text_input(key=f"{key}_title").set_value("Records").run()
    app.selectbox(key=f"{key}_folder").set_value("finance").run()
    app.button(key="save").click().run()
    assert "There already is a document at finance/records.md" in words(app)
    assert kb.reviews.changes.all() == ()
    assert kb.knowledge.drafts.find(who(kb, "author"), "new")


def test_an_edit_keeps_what_was_not_touched_and_is_offered_again(visit: Open, kb: App) -> None:
    app = visit("documents", "author", doc="FIN-1", do="edit")
    key = next(one.key for one in app.text_input if one.key.startswith("edit_")).removesuffix("_title")
    app.text_input(key=f"{key}_title").set_value("Records, kept").run()
    again = visit("documents", "author", doc="FIN-1", do="edit")
    assert "what you typed and did not save" in words(again)
    put(kb, {PATH: TEXT.replace("Then shred", "Then burn")}, "meanwhile")
    again.button(key="save").click().run()
    assert not again.exception
    change = kb.reviews.changes.all()[0]
    assert kb.knowledge.repository.read(change.head, PATH).decode() == TEXT.replace(
        "title: Records", 'title: "Records, kept"'
    )
    assert change.conflicts == (), "what was merged meanwhile is kept by the merge"


def test_a_draft_can_be_thrown_away(visit: Open, kb: App) -> None:
    kb.knowledge.drafts.keep(
        who(kb, "author"),
        f"0:{PATH}",
        json.dumps({"text": TEXT + "more\n", "base": kb.knowledge.repository.head()}),
        "",
    )
    app = visit("documents", "author", doc="FIN-1", do="edit")
    assert "more" in drawn(app, "editor")["text"]
    app.button(key="discard").click().run()
    assert "more" not in drawn(app, "editor")["text"]
    assert kb.knowledge.drafts.find(who(kb, "author"), f"0:{PATH}") is None


def titled(page: AppTest, title: str) -> AppTest:
    """Type a title in the editor."""
    key = next(one.key for one in page.text_input if one.key.startswith("edit_") and one.key.endswith("_title"))
    page.text_input(key=key).set_value(title).run()
    assert not page.exception
    return page


def test_a_description_that_another_tab_wrote_is_shown_before_it_is_replaced(visit: Open, kb: App) -> None:
    change = started(kb)
    first, second = (visit("reviews", "author", change=str(change.id)) for _ in range(2))
    for page, text in ((first, "Because of the law."), (second, "Because of the audit.")):
        page.text_area(key=f"description_{change.id}").set_value(text)
        page.button(key="describe").click().run()
        assert not page.exception
    assert kb.reviews.changes.get(change.id).description == "Because of the law."
    assert "were changed meanwhile" in words(second)
    assert "Because of the law." in [block.value for block in second.code]
    second.button(key="describe").click().run()
    assert kb.reviews.changes.get(change.id).description == "Because of the audit."


def test_rules_are_proposed_on_those_that_their_author_read(kb: App, visit: Open) -> None:
    author, start = who(kb, "author"), kb.knowledge.repository.head()
    put(kb, {policy.FILE: "rules:\n  - match: it/\n    approvals: 2\n"}, "meanwhile")
    rules.propose(author, "Mine", "rules:\n  - match: finance/\n    approvals: 2\n", start)
    (change,) = kb.reviews.changes.all()
    assert change.conflicts == (policy.FILE,), "a merge replaces no rule in silence"


def rules_form() -> None:
    from pages.ui.reviews.rules import _edit

    _edit()


def test_the_form_of_rules_stays_on_the_commit_that_it_was_filled_on(kb: App, visit: Open) -> None:
    visit("reviews", "author")
    form = AppTest.from_function(rules_form, default_timeout=PATIENCE)
    form.session_state["persona"] = "author"
    form.run()
    put(kb, {policy.FILE: "rules:\n  - match: it/\n    approvals: 2\n"}, "meanwhile")
    form.text_area(key="rules_text").set_value("rules:\n  - match: finance/\n    approvals: 2\n").run()
    form.button(key="rules_go").click().run()
    assert not form.exception
    (change,) = kb.reviews.changes.all()
    assert change.conflicts == (policy.FILE,)


def title_of_draft(kb: App) -> str:
    draft = kb.knowledge.drafts.find(who(kb, "author"), f"0:{PATH}")
    return read_document(PATH, json.loads(draft.text)["text"]).title if draft else ""


@pytest.fixture
def tabs(visit: Open) -> tuple[AppTest, AppTest]:
    """Two tabs of one author on one document: the first typed, then the second."""
    first, second = (visit("documents", "author", doc="FIN-1", do="edit") for _ in range(2))
    return titled(first, "First"), titled(second, "Second")


def test_a_second_tab_overwrites_nothing_and_both_texts_survive_a_reload(
    visit: Open, kb: App, tabs: tuple[AppTest, AppTest]
) -> None:
    first, second = tabs
    assert title_of_draft(kb) == "First"
    assert "You also typed in another tab" in words(second)
    assert (drawn(second, "editor")["saved"], drawn(second, "editor")["note"]) == ("", "Kept beside your other text")
    titled(first, "First again")
    assert title_of_draft(kb) == "First again", "the tab that is current goes on"
    assert drawn(first, "editor")["saved"]
    titled(second, "Second again")
    reloaded = visit("documents", "author", doc="FIN-1", do="edit")
    assert "You also typed in another tab" in words(reloaded)
    (field,) = drawn(reloaded, "diff")["fields"]
    assert (field["before"], field["after"]) == ("Second again", "First again")


@pytest.mark.parametrize(("button", "wanted"), [("keep_mine", "Second"), ("use_other", "First")])
def test_one_of_two_texts_is_chosen_in_the_tab_that_came_second(
    kb: App, tabs: tuple[AppTest, AppTest], button: str, wanted: str
) -> None:
    first, second = tabs
    second.button(key=button).click().run()
    assert not second.exception
    assert "You also typed" not in words(second)
    assert (title_of_draft(kb), drawn(second, "editor")["title"]) == (wanted, wanted)
    assert kb.knowledge.drafts.beside(who(kb, "author"), f"0:{PATH}") == []
    titled(second, "Later")
    assert title_of_draft(kb) == "Later"
    titled(first, "Third")
    assert title_of_draft(kb) == "Later", "now the first tab is the one that came second"
    assert "You also typed in another tab" in words(first)


def test_a_text_submitted_in_one_tab_is_neither_brought_back_nor_lost_in_another(
    visit: Open, kb: App, tabs: tuple[AppTest, AppTest]
) -> None:
    first, second = tabs
    second.button(key="save").click().run()
    (change,) = kb.reviews.changes.all()
    assert "title: Second" in kb.knowledge.repository.read(change.head, PATH).decode(), "the text on the screen"
    assert title_of_draft(kb) == "First", "the draft of the other tab stays"
    assert kb.knowledge.drafts.beside(who(kb, "author"), f"0:{PATH}") == []
    third = visit("documents", "author", doc="FIN-1", do="edit")
    first.button(key="save").click().run()
    assert title_of_draft(kb) == ""
    titled(third, "Typed after that")
    assert title_of_draft(kb) == ""
    assert "You saved or threw away this draft" in words(third)
    third.button(key="keep_mine").click().run()
    assert title_of_draft(kb) == "Typed after that"


def test_a_document_says_that_a_draft_of_it_waits(visit: Open, kb: App, tabs: tuple[AppTest, AppTest]) -> None:
    assert "unsent draft" not in words(visit("documents", "author2", doc="FIN-1"))
    page = visit("documents", "author", doc="FIN-1")
    assert words(page).count("unsent draft") == 1, "two texts of one place are one line"
    page.button(key="go_on_0").click().run()
    assert drawn(page, "editor")["title"] == "First"


def test_a_document_of_a_change_is_edited_in_that_change(visit: Open, kb: App) -> None:
    change = started(kb)
    app = visit("documents", "author", do="edit", change=str(change.id), path=PATH)
    assert "7 years" in drawn(app, "editor")["text"]
    key = next(one.key for one in app.text_input if one.key.startswith("edit_")).removesuffix("_title")
    app.text_input(key=f"{key}_title").set_value("Kept").run()
    assert app.button(key="save").label == f"Save in change #{change.id}"
    app.button(key="save").click().run()
    assert "title: Kept" in kb.knowledge.repository.read(kb.reviews.changes.get(change.id).head, PATH).decode()
    assert len(kb.reviews.changes.all()) == 1


def test_two_people_in_one_document_of_a_change_are_told_and_overwrite_nothing(visit: Open, kb: App) -> None:
    change, author, dana = started(kb), who(kb, "author"), who(kb, "reviewer")
    kb.reviews.changes.invite(author, change.id, [dana.id])
    page = visit("documents", "author", do="edit", change=str(change.id), path=PATH)
    assert "is editing this document too" not in words(page)
    place, mine = f"{change.id}:{PATH}", decode(kb.knowledge.repository.read(change.head, PATH))
    kb.knowledge.drafts.keep(author, place, json.dumps({"text": mine.replace("7", "8"), "base": change.head}), "")
    kb.knowledge.drafts.keep(dana, place, json.dumps({"text": mine, "base": change.head}), "")
    kb.reviews.changes.edit(dana, change.id, {PATH: mine.replace("7", "9").encode()}, expected=change.head)
    page = visit("documents", "author", do="edit", change=str(change.id), path=PATH)
    assert f"{dana.name} is editing this document too, in change #{change.id}" in words(page)
    page.button(key="save").click().run()
    assert f"{dana.name} edited the same lines of finance/records.md in change" in words(page).replace("\\", "")
    assert "9 years" in kb.knowledge.repository.read(kb.reviews.changes.get(change.id).head, PATH).decode()
    page.button(key="join").click().run()
    assert "9 years" in drawn(page, "editor")["text"].split("8 years")[0], "theirs stands above mine"
    page.button(key="save").click().run()
    assert not page.exception
    both = kb.knowledge.repository.read(kb.reviews.changes.get(change.id).head, PATH).decode()
    assert "9 years" in both
    assert "8 years" in both


def test_a_picture_of_a_draft_is_saved_with_its_text(visit: Open, kb: App) -> None:
    author, drawing = who(kb, "author"), b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"></svg>'
    held = kb.knowledge.pictures.hold(author, f"0:{PATH}", PATH, "Way in.svg", drawing)
    text = f"{TEXT}\n{held.markdown}\n"
    kb.knowledge.drafts.keep(
        author, f"0:{PATH}", json.dumps({"text": text, "base": kb.knowledge.repository.head(), "folder": ""}), ""
    )
    page = visit("documents", "author", doc="FIN-1", do="edit")
    assert not [check for check in drawn(page, "editor")["checks"] if "picture" in check[2]], "it is not missing"
    page.button(key="save").click().run()
    assert not page.exception
    (change,) = kb.reviews.changes.all()
    assert {edit.path for edit in change.documents} >= {PATH, held.path}
    assert kb.knowledge.pictures.held(author, f"0:{PATH}") == {}, "the draft is gone"


def test_a_new_document_starts_from_a_template_and_keeps_its_title(visit: Open, kb: App) -> None:
    app = visit("documents", "author", do="new")
    key = next(one.key for one in app.text_input if one.key.startswith("edit_")).removesuffix("_title")
    app.text_input(key=f"{key}_title").set_value("Booking the boat").run()
    app.segmented_control(key=f"{key}_template").set_value("runbook").run()
    assert "## First five minutes" in drawn(app, "editor")["text"]
    assert drawn(app, "editor")["title"] == "Booking the boat"
    key = next(one.key for one in app.text_input if one.key.startswith("edit_")).removesuffix("_title")
    assert app.selectbox(key=f"{key}_type").value == "runbook"
    app.segmented_control(key=f"{key}_template").set_value("faq").run()
    assert "## Who decides?" in drawn(app, "editor")["text"], "a template that nobody touched can be exchanged"
    left = json.dumps({"text": "# Mine\n\nMy own words.\n", "base": kb.knowledge.repository.head()})
    before = drafts.version(kb.knowledge.drafts.find(who(kb, "author"), "new"))
    kb.knowledge.drafts.keep(who(kb, "author"), "new", left, before)
    key = next(one.key for one in app.text_input if one.key.startswith("edit_")).removesuffix("_title")
    app.segmented_control(key=f"{key}_template").set_value("sop").run()
    assert "My own words." in drawn(app, "editor")["text"], "what somebody wrote is not thrown away for a template"


def test_what_is_typed_is_checked_while_it_is_typed(visit: Open, kb: App) -> None:
    kb.knowledge.drafts.keep(
        who(kb, "author"),
        f"0:{PATH}",
        json.dumps(
            {"text": TEXT.replace("2020", "2040") + "\n#### Far\n\nText.\n", "base": kb.knowledge.repository.head()}
        ),
        "",
    )
    data = drawn(visit("documents", "author", doc="FIN-1", do="edit"), "editor")
    ((line, severity, _),) = data["checks"]
    assert severity == "warning"
    assert data["text"].split("\n")[line - 1] == "#### Far", "the line is one of the text that is edited"


@pytest.mark.parametrize("fix", [True, False])
def test_moving_a_document_offers_to_fix_the_links_to_it(visit: Open, kb: App, fix: bool) -> None:
    app = visit("documents", "author", doc="FIN-1")
    assert app.checkbox(key="move_fix_FIN-1").label == "Fix the links of 1 document that leads here"
    app.checkbox(key="move_fix_FIN-1").set_value(fix).run()
    app.text_input(key="move_to_FIN-1").set_value("finance/kept/records.md").run()
    app.button(key="move").click().run()
    change = kb.reviews.changes.all()[0]
    text = kb.knowledge.repository.read(change.head, "it/vpn.md").decode()
    assert ("../finance/kept/records.md" in text) == fix
    assert len(change.documents) == (2 if fix else 1)


def test_moving_retiring_and_restoring_make_changes(visit: Open, kb: App) -> None:
    app = visit("documents", "author", doc="FIN-1")
    app.text_input(key="move_to_FIN-1").set_value("finance/kept/records.md").run()
    app.button(key="move").click().run()
    assert kb.reviews.changes.all()[0].documents[0].old_path == PATH
    app = visit("documents", "author", doc="FIN-1")
    app.button(key="status").click().run()
    assert "status: retired" in kb.knowledge.repository.read(kb.reviews.changes.all()[0].head, PATH).decode()
    app = visit("documents", "author", doc="FIN-1")
    app.radio(key="fate").set_value("Delete").run()
    app.button(key="delete").click().run()
    assert [(one.kind, one.path) for one in kb.reviews.changes.all()[0].documents] == [("deleted", PATH)]
    put(kb, {PATH: TEXT.replace("5 years", "6 years")}, "six")
    app = visit("documents", "author", doc="FIN-1", tab="History")
    app.button(key="restore").click().run()
    assert "5 years" in kb.knowledge.repository.read(kb.reviews.changes.all()[0].head, PATH).decode()


def test_what_was_typed_for_one_document_stays_with_it(visit: Open, kb: App) -> None:
    for years in ("6", "7", "8"):
        put(kb, {PATH: TEXT.replace("5 years", f"{years} years")}, years)
        put(kb, {"it/vpn.md": f"# Using the VPN\n\nSee [records](../finance/records.md) {years}.\n"}, years)
    app = visit("documents", "author", doc="FIN-1", tab="History")
    for label, typed in (("New path", "finance/kept.md"), ("Title of the change", "Mine"), ("Why (optional)", "Old")):
        for box in (one for one in app.text_input if one.label == label):
            box.set_value(typed)
    for box, version in zip(app.selectbox, (1, 2), strict=True):
        box.set_value(version)
    app.run()
    assert [one.value for one in app.selectbox] == [1, 2]
    app.query_params["doc"] = "it/vpn"
    app.run()
    assert not app.exception, app.exception
    assert [one.value for one in app.text_input] == ["it/vpn.md"] + [""] * 6
    assert [one.value for one in app.selectbox] == [3, 4]


def test_history_says_who_approved_and_who_wrote_each_line(visit: Open, kb: App) -> None:
    brought(kb, "merged")
    app = visit("documents", "reader", doc="FIN-1", tab="History")
    assert "Avery Lindqvist · Approved by Petra Voss" in [item["sub"] for item in drawn(app, "listing")["items"]]
    app.toggle(key="blame").set_value(True).run()
    lines = drawn(app, "blame")["lines"]
    assert next(line["who"] for line in lines if "7 years" in line["text"]) == "Avery Lindqvist"


def test_readers_have_no_buttons_and_no_editor(visit: Open) -> None:
    app = visit("documents", "reader", doc="FIN-1")
    assert not [button for button in app.button if button.key in ("edit", "move", "status")]
    app = visit("documents", "reader", doc="FIN-1", do="edit")
    assert "Only authors and above may propose a change; Robin Falk is a reader." in words(app)


def test_a_document_names_the_open_changes_that_edit_it(visit: Open, kb: App) -> None:
    started(kb)
    links = visit("documents", "author", doc="FIN-1").get("page_link")
    assert any("Keep longer" in link.proto.label for link in links)


# ---------------------------------------------------------------- audit, accounts


def test_the_audit_is_filtered_and_exported(visit: Open, kb: App) -> None:
    brought(kb, "merged")
    app = visit("audit")
    assert {"propose", "submit", "approve", "merge"} <= set(app.dataframe[0].value["Action"])
    app.selectbox(key="audit_action").set_value("merge").run()
    assert set(app.dataframe[0].value["Action"]) == {"merge"}
    app.selectbox(key="audit_who").set_value("reviewer").run()
    assert "Nothing in the audit matches" in words(app)


@pytest.mark.parametrize("page", ["audit", "accounts"])
@pytest.mark.parametrize("persona", ["reader", "author", "reviewer"])
def test_only_admins_reach_audit_and_accounts(visit: Open, page: str, persona: str) -> None:
    app = AppTest.from_file(str(ROOT / "pages" / f"{page}.py"), default_timeout=PATIENCE)
    app.session_state["persona"] = persona
    app.run()
    assert "Not for this role" in words(app)
    assert not app.button
    assert not app.dataframe


def test_accounts_are_added_changed_and_switched_off(visit: Open, kb: App) -> None:
    app = visit("accounts")
    app.selectbox(key="role_author2").set_value("reviewer").run()
    assert kb.people.accounts.get("author2").role == "reviewer"
    app.toggle(key="active_reader").set_value(False).run()
    assert kb.people.accounts.get("reader").active is False
    app.text_input(key="password_author").set_value("short")
    app.button(key="set_author").click().run()
    assert "shorter than 10 characters" in words(app)
    for name, value in (("id", "new.one"), ("name", "New One"), ("email", "new@example.org")):
        app.text_input(key=f"add_{name}").set_value(value)
    next(button for button in app.button if button.label == "Add").click().run()
    assert kb.people.accounts.get("new.one").role == "reader"


def test_every_control_of_an_account_names_it(visit: Open, kb: App) -> None:
    app = visit("accounts")
    for account in kb.people.accounts.all():
        for control in (app.selectbox(key=f"role_{account.id}"), app.toggle(key=f"active_{account.id}")):
            assert account.name in control.label
        assert account.name in app.text_input(key=f"password_{account.id}").label


def test_the_last_admin_stays_one_and_a_taken_role_counts_at_once(visit: Open, kb: App) -> None:
    app = visit("accounts")
    app.selectbox(key="role_admin").set_value("reader").run()
    assert "This is the last admin" in words(app)
    assert kb.people.accounts.get("admin").role == "admin"
    assert app.selectbox(key="role_admin").value == "admin"
    app.toggle(key="active_admin").set_value(False).run()
    assert kb.people.accounts.get("admin").active
    assert app.toggle(key="active_admin").value is True
    kb.people.accounts.set_role(who(kb, "admin"), "author2", "admin")
    kb.people.accounts.set_role(who(kb, "author2"), "admin", "reader")
    app.toggle(key="active_reader").set_value(False).run()
    assert kb.people.accounts.get("reader").active is True
