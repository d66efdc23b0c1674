"""The daily digest: what stands in it on a fixed day, when it leaves, and that it leaves once; and how people end
it.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from core.bootstrap import App
from core.errors import BadInput
from core.services.deliveries.digests import last_moment
from tests.conftest import put, sql
from tests.services.team.test_deliveries import ADMIN, AUTHOR, PETRA, Time, log, mailing, tell
from tests.support.receivers import MailServer, mail_server

BERLIN = ZoneInfo("Europe/Berlin")
SUNDAY_NOON = datetime(2026, 11, 15, 12, tzinfo=ZoneInfo("UTC")).timestamp()
OWNED = (
    "---\nid: HR-{n}\ntitle: {title}\nowner: Petra Voss\nstatus: approved\neffective_date: "
    "2025-01-01\nreview_due: {due}\n---\n\n# {title}\n\nText.\n"
)


@pytest.fixture
def server() -> Iterator[MailServer]:
    with mail_server() as made:
        yield made


@pytest.fixture
def app(tmp_path: Path, server: MailServer) -> App:
    made = mailing(tmp_path / "home", server.url, time_zone="Europe/Berlin", digest_hour=7)
    put(made, {"a.md": "# Note\n\nA line.\n"})
    made.deliveries.choices.choose(PETRA, "daily")
    return made


def at(*moment: int) -> float:
    return datetime(*moment, tzinfo=BERLIN).timestamp()  # type: ignore[arg-type, misc]


def test_a_digest_lists_what_is_new_and_what_waits_anyway(app: App, server: MailServer) -> None:
    clock = Time(app, SUNDAY_NOON)
    files = {
        "hr/leave.md": OWNED.format(n=1, title="Leave", due="2026-11-01"),
        "hr/pay.md": OWNED.format(n=2, title="Pay & rise", due="2026-12-01"),
    }
    put(app, files)
    app.inbox.reminders.remind()
    number = app.reviews.changes.propose(AUTHOR, "New hours", {"b.md": b"# B\n\nText.\n"}).id
    app.reviews.changes.submit(AUTHOR, number, ["reviewer"])
    app.reviews.discussion.comment(AUTHOR, number, "One thing, @Petra Voss.")
    app.reviews.discussion.comment(AUTHOR, number, "And another, @Petra Voss.")
    app.knowledge.gaps.report(AUTHOR, "Where do I park?", "At night.")
    app.knowledge.gaps.assign(AUTHOR, 1, "reviewer")
    assert app.deliveries.sender.run().sent == 0, "it waits for the hour"
    clock.now = at(2026, 11, 16, 7)
    assert app.deliveries.sender.run().sent == 1
    (letter,) = server.to("petra@")
    assert letter["Subject"] == "4 new in Concord, 16 Nov 2026"
    bodies = (letter.get_body((form,)).get_content() for form in ("plain", "html"))  # type: ignore[union-attr]
    plain, html = (body.replace("\r\n", "\n") for body in bodies)
    headings = ["Reviews", "Answers and mentions", "Your documents", "Questions without an answer", "Due for review"]
    places = [plain.index(f"{heading}\n---") for heading in headings]
    assert places == sorted(places)
    for line in (
        "Avery Lindqvist asks you to review New hours",
        "Avery Lindqvist mentioned you: New hours\n  One thing, @Petra Voss. · And another, @Petra Voss.",
        "2 documents are due for review\n  ",
        "Avery Lindqvist found no answer: Where do I park?",
        "Leave\n  The review date has passed: 2026-11-01",
        "Pay & rise\n  Review date: 2026-12-01",
    ):
        assert line in plain, line
    assert "Pay &amp; rise" in html
    assert "Waiting for your review" not in plain, "what is listed as new is not listed again"
    assert {one.state for one in log(app)} == {"in digest", "sent"}
    clock.passes(3600)
    assert app.deliveries.sender.run().sent == 0
    clock.now = at(2026, 11, 17, 7)
    assert app.deliveries.sender.run().sent == 0, "nothing new, no mail"


@pytest.mark.parametrize("written", [False, True])
def test_a_question_that_was_hidden_since_is_in_no_digest(app: App, server: MailServer, written: bool) -> None:
    """Before the digest is written, or after."""
    clock = Time(app, SUNDAY_NOON)
    app.knowledge.gaps.report(AUTHOR, "Where do I park?")
    app.knowledge.gaps.assign(AUTHOR, 1, "reviewer")
    clock.now = at(2026, 11, 16, 7)
    assert not written or app.deliveries.sender.digests.collect() == 1
    put(app, {"review-rules.yaml": "readers:\n  /: [author]\nadmins_read: false\n"})
    assert app.deliveries.sender.run().sent == 0
    assert not server.to("petra@")
    assert app.inbox.messages.listed(PETRA) == ()


def test_what_was_read_before_the_hour_is_left_out(app: App, server: MailServer) -> None:
    clock = Time(app, SUNDAY_NOON)
    tell(app, ref="1", title="Read already")
    app.inbox.messages.read(PETRA)
    tell(app, ref="2", title="Still new")
    clock.now = at(2026, 11, 16, 8)
    app.deliveries.sender.run()
    (letter,) = server.letters
    assert "Still new" in str(letter)
    assert "Read already" not in str(letter)
    tell(app, ref="3")
    app.inbox.messages.read(PETRA)
    clock.now = at(2026, 11, 17, 8)
    assert app.deliveries.sender.run().sent == 0, "all of it was read"


def test_a_digest_leaves_once_however_often_and_wherever_the_sender_runs(app: App, server: MailServer) -> None:
    clock = Time(app, SUNDAY_NOON)
    tell(app, ref="1")
    other = mailing(app.settings.home, server.url, time_zone="Europe/Berlin", digest_hour=7)
    other.deliveries.sender.outbox.now = lambda: clock.now
    clock.now = at(2026, 11, 16, 9)
    tell(app, ref="2", title="After the hour")
    for workspace in (app, other, app, other):
        workspace.deliveries.sender.run()
    (letter,) = server.letters
    assert "After the hour" not in str(letter), "that is for tomorrow, also where the app was down at the hour"
    clock.now = at(2026, 11, 17, 7)
    other.deliveries.sender.run()
    assert "After the hour" in str(server.letters[1])


def test_an_account_that_is_off_has_no_digest(app: App, server: MailServer) -> None:
    clock = Time(app, SUNDAY_NOON)
    tell(app)
    app.people.accounts.set_active(ADMIN, "reviewer", False)
    clock.now = at(2026, 11, 16, 8)
    assert app.deliveries.sender.run().sent == 0
    assert [one.note for one in log(app)] == ["The account is switched off."]


@pytest.mark.parametrize(
    ("now", "hour", "moment"),
    [
        ((2026, 3, 28, 12), 2, (2026, 3, 28, 2)),
        ((2026, 3, 29, 12), 2, (2026, 3, 29, 3)),  # the clocks skip from 2 to 3
        ((2026, 3, 30, 12), 2, (2026, 3, 30, 2)),
        ((2026, 10, 25, 12), 2, (2026, 10, 25, 2)),  # they show 2 twice
        ((2026, 10, 26, 1), 2, (2026, 10, 25, 2)),
        ((2026, 1, 1, 0), 7, (2025, 12, 31, 7)),
    ],
)
def test_the_hour_follows_the_clocks_of_the_zone(now: tuple[int, ...], hour: int, moment: tuple[int, ...]) -> None:
    assert last_moment(at(*now), hour, BERLIN)[0] == at(*moment)


def test_over_a_year_with_both_changes_of_the_clocks_there_is_one_moment_a_day() -> None:
    start = at(2026, 1, 1, 12)
    days = [last_moment(start + 900.0 * step, 2, BERLIN) for step in range(365 * 96)]
    assert len(set(days)) == len({day for _, day in days}) == 366


# ---------------------------------------------------------------- ending it by the link


@pytest.fixture
def browser(app: App, monkeypatch: pytest.MonkeyPatch) -> TestClient:
    from pages.ui.server import unsubscribe

    monkeypatch.setattr(unsubscribe, "current_app", lambda: app)
    return TestClient(Starlette(routes=unsubscribe.ROUTES))


def test_one_click_ends_a_topic_and_looking_does_not(app: App, server: MailServer, browser: TestClient) -> None:
    app.deliveries.choices.choose(PETRA, "at once")
    tell(app)
    app.deliveries.sender.run()
    (letter,) = server.letters
    head = server.raw[0].partition(b"\r\n\r\n")[0].split(b"\r\n")
    assert [line for line in head if line.startswith(b"List-Unsubscribe: <https://") and line.endswith(b">")]
    assert not [line for line in head if b"=?utf-8?" in line], "no program decodes words in a link"
    assert letter["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    link = letter["List-Unsubscribe"].strip("<>").removeprefix("https://concord.example.org")
    assert link in letter.get_body(("plain",)).get_content()  # type: ignore[union-attr]
    page = browser.get(link)
    assert page.status_code == 200
    assert "Reviews" in page.text
    assert app.deliveries.choices.chosen(PETRA)["reviews"] == "at once", "a scanner that opens links ends nothing"
    for _ in range(2):
        done = browser.post(link, content="List-Unsubscribe=One-Click")
        assert done.status_code == 200
        assert "no more mail about “Reviews”" in done.text
        chosen = app.deliveries.choices.chosen(PETRA)
        assert chosen["reviews"] == "none"
        assert chosen["conversations"] == "at once"


def test_the_link_of_a_digest_ends_all_that_comes_daily(app: App) -> None:
    app.deliveries.choices.choose(PETRA, "at once", ("reviews",))
    assert app.deliveries.choices.unsubscribe(app.deliveries.choices.token("reviewer", "daily")) == "Daily digest"
    chosen = app.deliveries.choices.chosen(PETRA)
    assert chosen.pop("reviews") == "at once"
    assert set(chosen.values()) == {"none"}


def test_a_link_that_was_changed_or_made_up_ends_nothing(app: App, browser: TestClient) -> None:
    choices = app.deliveries.choices
    mine, others = choices.token("reviewer", "reviews"), choices.token("author", "reviews")
    crossed = f"{mine.split('.')[0]}.{others.split('.')[1]}"
    odd = [
        base64.urlsafe_b64encode(text.encode()).decode().rstrip("=") + ".0"
        for text in (
            '["\\ud800", "reviews"]',
            '["\\u0000", "reviews"]',
            '[["reviewer"], "reviews"]',
            "[{}, {}]",
            '["reviewer", null]',
            "[" * 700,
        )
    ]
    for token in ("", "x", ".", crossed, mine[:-1], f"{mine}0", "WyJ4Il0.0", "bnVsbA.0", "é.ü", *odd):
        with pytest.raises(BadInput, match="not complete"):
            choices.unsubscribe(token)
        assert browser.post("/unsubscribe", params={"token": token}).status_code == 400
        assert browser.get("/unsubscribe", params={"token": token}).status_code == 400
    assert set(choices.chosen(PETRA).values()) == {"daily"}


def test_the_link_of_an_account_that_is_off_or_gone_changes_nothing_for_anybody_else(
    app: App, browser: TestClient
) -> None:
    choices = app.deliveries.choices
    off, gone = choices.token("reviewer", "reviews"), choices.token("author", "reviews")
    app.people.accounts.set_active(ADMIN, "reviewer", False)
    sql(app, "DELETE FROM mail_keys WHERE account = 'author'")
    sql(app, "DELETE FROM mail_choices WHERE account = 'author'")
    assert browser.post("/unsubscribe", params={"token": off}).status_code == 200
    assert browser.post("/unsubscribe", params={"token": gone}).status_code == 400
    assert app.deliveries.choices.database.mail_choices.of("author") == {}, "nothing comes back"
    assert app.people.accounts.get("reviewer").active is False
