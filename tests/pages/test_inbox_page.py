"""The Inbox page, its count in the menu, and what other pages show of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.bootstrap import App
from tests.conftest import NoProcesses, demo, put, small_app
from tests.support.apptest import Open, all_drawn, drawn, words

ADMIN, AUTHOR, PETRA, READER = demo("admin"), demo("author"), demo("reviewer"), demo("reader")
LEAVE = "---\ntitle: Leave\nowner: Petra Voss\n---\n# Leave\n\nTwo weeks.\n"


@pytest.fixture
def app(tmp_path: Path) -> App:
    made = small_app(tmp_path / "home", NoProcesses(), sign_in="demo")
    put(made, {"hr/leave.md": LEAVE, "it/vpn.md": "---\ntitle: VPN\nowner: Dana\n---\n# VPN\n\nText.\n"})
    return made


def asked(app: App) -> int:
    number = app.reviews.changes.propose(
        AUTHOR, "Longer leave", {"hr/leave.md": LEAVE.replace("Two", "Six").encode()}
    ).id
    return app.reviews.changes.submit(AUTHOR, number, ["reviewer"]).id


def test_the_inbox_lists_what_is_new_and_reads_all_at_once(app: App, visit: Open) -> None:
    asked(app)
    page = visit("inbox", app.settings.home, "reviewer")
    (line,) = drawn(page, "listing")["items"]
    assert (line["title"], line["unread"]) == ("Avery Lindqvist asks you to review Longer leave", True)
    assert line["href"] == "/reviews?change=1"
    page.button(key="read_all").click().run()
    assert drawn(page, "listing")["items"] == []
    page.segmented_control(key="shown").set_value("All").run()
    assert [line["unread"] for line in drawn(page, "listing")["items"]] == [False]
    page.selectbox(key="kind").set_value("gap").run()
    assert drawn(page, "listing")["items"] == []


def test_home_shows_what_waits_and_nothing_where_nothing_does(app: App, visit: Open) -> None:
    asked(app)
    page = visit("home", app.settings.home, "reviewer")
    assert "Waiting for you" in words(page)
    assert [line["href"] for line in drawn(page, "listing")["items"]] == ["/reviews?change=1"]
    assert "Waiting for you" not in words(visit("home", app.settings.home, "reader"))


def lists(page: AppTest) -> list[list[dict[str, Any]]]:
    return [shown["items"] for shown in all_drawn(page, "listing") if "items" in shown]


def test_home_leads_to_what_changed_and_shows_a_reported_question_once(app: App, visit: Open) -> None:
    files: dict[str, bytes | None] = {
        "hr/leave.md": LEAVE.replace("Two", "Six").encode(),
        "hr/new.md": b"# New\n\nText.\n",
    }
    number = app.reviews.changes.propose(AUTHOR, "Longer leave", files).id
    app.reviews.changes.submit(AUTHOR, number)
    app.reviews.discussion.approve(PETRA, number)
    app.reviews.merger.merge(AUTHOR, number)
    app.knowledge.gaps.report(demo("reader"), "may I sleep here")
    admin = visit("home", app.settings.home, "admin")
    assert "may I sleep here" in words(admin)
    listings = lists(admin)
    assert listings[-1][0]["href"] == f"/reviews?change={number}"
    assert not any("may I sleep here" in line["title"] for items in listings for line in items)
    assert lists(visit("home", app.settings.home, "reader"))[-1][0]["href"] == "", "readers may not open it"
    merged = visit("reviews", app.settings.home, "author", change=str(number))
    assert "[Leave](/documents?doc=" in words(merged)


def test_opening_a_change_reads_what_is_about_it(app: App, visit: Open) -> None:
    number = asked(app)
    visit("reviews", app.settings.home, "reviewer", change=str(number))
    assert app.inbox.messages.unread(PETRA) == 0


def test_a_draft_offers_whom_to_ask_and_a_change_says_who_was_asked(app: App, visit: Open) -> None:
    app.reviews.changes.propose(AUTHOR, "Longer leave", {"hr/leave.md": LEAVE.replace("Two", "Six").encode()})
    page = visit("reviews", app.settings.home, "author", change="1")
    assert page.multiselect(key="whom_submit_1").options == ["Petra Voss", "Theo Nakamura", "Ada Brandt"]
    page.multiselect(key="whom_submit_1").set_value(["reviewer"]).run()
    page.button(key="do_submit_1").click().run()
    assert [request.account for request in app.reviews.changes.get(1).asked] == ["reviewer"]
    assert "Asked: Petra Voss (no answer yet)" in words(page).replace("\\", "")
    page.multiselect(key="whom_ask_1").set_value(["admin"]).run()
    page.button(key="do_ask_1").click().run()
    assert {request.account for request in app.reviews.changes.get(1).asked} == {"admin", "reviewer"}


def test_the_first_queue_is_what_was_asked_of_me(app: App, visit: Open) -> None:
    asked(app)
    page = visit("reviews", app.settings.home, "reviewer")
    assert page.segmented_control(key="queue").options[0] == "Asked of me (1)"
    assert page.segmented_control(key="queue").value == "asked"
    assert "Asked of me" not in str(
        visit("reviews", app.settings.home, "author").segmented_control(key="queue").options
    )


def test_a_reader_gives_feedback_and_whoever_writes_sees_it_and_is_done(app: App, visit: Open) -> None:
    page = visit("documents", app.settings.home, "reader", doc="hr/leave.md")
    page.button(key="still_right").click().run()
    assert "Robin Falk says that this version is still right" in words(page)
    page.text_area(key="wrong_note_hr/leave").set_value("It is six weeks.").run()
    page.button(key="wrong_send").click().run()
    assert "It is six weeks." not in words(page), "readers do not see each other's feedback"
    page = visit("documents", app.settings.home, "reviewer", doc="hr/leave.md")
    assert "It is six weeks." in words(page)
    page.button(key="done_2").click().run()
    assert app.knowledge.feedback.open(AUTHOR) == ()
    assert app.inbox.messages.listed(READER)[0].kind == "answered"


def test_a_document_says_to_writers_when_nobody_has_the_name_of_its_owner(app: App, visit: Open) -> None:
    sentence = "Nobody in Concord is called Dana"
    assert sentence in words(visit("documents", app.settings.home, "author", doc="it/vpn.md"))
    assert sentence not in words(visit("documents", app.settings.home, "reader", doc="it/vpn.md"))
    assert sentence not in words(visit("documents", app.settings.home, "author", doc="hr/leave.md"))


def test_what_is_watched_is_listed_and_can_be_stopped(app: App, visit: Open) -> None:
    page = visit("documents", app.settings.home, "reader", doc="hr/leave.md")
    page.button(key="watch_document").click().run()
    assert page.button(key="watch_document").label == "Watching"
    page = visit("inbox", app.settings.home, "reader")
    assert "hr/leave.md" in words(page)
    page.button(key="stop_1").click().run()
    assert app.inbox.watches.listed(READER) == ()


def test_a_folder_opens_by_its_address_and_says_whether_it_is_watched(app: App, visit: Open) -> None:
    app.inbox.watches.watch(READER, "folder", "hr")
    shown = drawn(visit("documents", app.settings.home, "reader", folder="hr"), "library")
    assert (shown["narrowed"], shown["watched"]) == ({"folder": "hr"}, ["hr"])


def test_the_menu_counts_new_messages(app: App, visit: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    visit("home", app.settings.home, "reviewer")
    from pages.ui import frame

    monkeypatch.setattr(frame, "app", lambda: app)
    assert frame.titled("inbox", "Inbox", PETRA) == "Inbox"
    asked(app)
    assert frame.titled("inbox", "Inbox", PETRA) == "Inbox (1)"
    assert frame.titled("search", "Search", PETRA) == "Search"


def test_a_mention_is_a_chip_and_names_are_offered_while_typing(app: App, visit: Open) -> None:
    number = asked(app)
    app.reviews.discussion.comment(PETRA, number, "Ask @ada, not @Dana.")
    shown = drawn(visit("reviews", app.settings.home, "author", change=str(number), side="Discussion"), "discussion")
    (thread,) = [item for item in shown["items"] if "remarks" in item]
    assert ["span", {"mention": "Ada Brandt"}, ["@Ada Brandt"]] in thread["remarks"][0]["nodes"][0][2]
    assert {"name": "Petra Voss", "role": "reviewer", "spelled": "Petra Voss"} in shown["people"]
    assert "Robin Falk" not in [person["name"] for person in shown["people"]], "a reader cannot open a change"
