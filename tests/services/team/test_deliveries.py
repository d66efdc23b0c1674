"""What leaves the app: mail to a real SMTP server, and how it is tried again, given up, and never lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from core.access import Actor
from core.bootstrap import App
from core.entrypoints import session
from core.entrypoints.cli import main
from core.errors import BadInput, Refused, StorageFailed, Unavailable
from core.services.deliveries.choices import TOPICS, topic_of
from core.services.deliveries.letters import one_line
from core.services.deliveries.outbox import Delivery
from core.services.deliveries.sender import LEASE, MARGIN, Pace
from core.services.inbox.messages import KINDS, Subject
from core.settings import load
from core.types import Receipt
from tests.conftest import ROOT, NoProcesses, demo, put, small_app, sql, until
from tests.support.receivers import MailServer, certificate, dripping, mail_server

ADMIN, AUTHOR, PETRA, THEO = demo("admin"), demo("author"), demo("reviewer"), demo("reviewer2")
URL = "https://concord.example.org"
NOON = 1_794_916_800.0  # 2026-11-17 12:00 UTC


def mailing(home: Path, smtp_url: str, **settings: object) -> App:
    """A workspace that sends mail to a server."""
    app = small_app(
        home, NoProcesses(), smtp_url=smtp_url, smtp_from="Concord <concord@example.org>", url=URL, **settings
    )
    app.deliveries.sender.jitter = lambda: 1.0
    if app.deliveries.sender.mailer:
        app.deliveries.sender.mailer.seconds = 60.0  # type: ignore[attr-defined]
    return app


class Time:
    """The time of the outbox, in the hands of a test."""

    def __init__(self, app: App, now: float = NOON) -> None:
        self.now = now
        app.deliveries.sender.outbox.now = lambda: self.now

    def passes(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def server() -> Iterator[MailServer]:
    with mail_server() as made:
        yield made


@pytest.fixture
def app(tmp_path: Path, server: MailServer) -> App:
    made = mailing(tmp_path / "home", server.url)
    put(made, {"a.md": "# Note\n\nA line.\n"})
    for person in (AUTHOR, PETRA, THEO):
        made.deliveries.choices.choose(person, "at once")
    return made


def tell(
    app: App,
    account: str = "reviewer",
    text: str = "Please look.",
    title: str = "New hours",
    kind: str = "asked",
    ref: str = "4",
) -> None:
    with app.inbox.messages.database.transaction() as state:
        app.inbox.messages.tell(state, AUTHOR, [account], kind, Subject("change", ref, title), text)


def log(app: App) -> list[Delivery]:
    """Every delivery, oldest first."""
    return list(reversed(app.deliveries.board.listed(ADMIN)))


# ---------------------------------------------------------------- letters


def test_a_message_reaches_whoever_chose_mail_in_plain_text_and_html(app: App, server: MailServer) -> None:
    number = app.reviews.changes.propose(AUTHOR, "New <b>hours</b>", {"b.md": b"# B\n\nText.\n"}).id
    app.reviews.changes.submit(AUTHOR, number, ["reviewer"])
    assert app.deliveries.sender.run().sent == 1
    (letter,) = server.letters
    assert letter["Subject"] == "Avery Lindqvist asks you to review New <b>hours</b>"
    assert letter["To"] == "Petra Voss <petra@meridale.example>"
    assert letter["From"] == "Concord <concord@example.org>"
    assert letter["Auto-Submitted"] == "auto-generated"
    plain, html = (letter.get_body((form,)).get_content() for form in ("plain", "html"))  # type: ignore[union-attr]
    link = f"{URL}/reviews?change={number}"
    assert link in plain
    assert f'href="{link}"' in html
    assert "New &lt;b&gt;hours&lt;/b&gt;" in html
    assert "<b>" not in html
    assert "prefers-color-scheme: dark" in html
    assert "<img" not in html
    assert app.deliveries.sender.run().sent == 0, "what was sent is sent once"


def test_certificates_are_read_for_a_server_that_encrypts_alone(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ssl.create_default_context", Mock(side_effect=AssertionError))
    tell(app)
    assert app.deliveries.sender.run().sent == 1


@pytest.mark.parametrize("implicit", [False, True])
def test_mail_goes_by_tls_with_a_sign_in_and_a_certificate_that_is_checked(tmp_path: Path, implicit: bool) -> None:
    pem = certificate(tmp_path)
    with mail_server(pem, implicit=implicit) as server:
        trusting = mailing(tmp_path / "home", server.url, smtp_ca=pem)
        assert trusting.deliveries.board.test_mail(ADMIN).state == "sent"
        assert server.letters[0]["Subject"] == "Mail from Concord arrives"
        doubting = mailing(tmp_path / "other", server.url)
        said = doubting.deliveries.board.test_mail(ADMIN)
        assert (said.state, said.attempts) == ("waiting", 1)
        assert "certificate is not trusted" in said.note
        stranger = mailing(tmp_path / "third", server.url.replace("s3cret", "wrong"), smtp_ca=pem)
        said = stranger.deliveries.board.test_mail(ADMIN)
        assert (said.state, said.code) == ("waiting", 535)
        assert "wrong" not in said.note
        assert len(server.letters) == 1


def test_a_server_without_tls_gets_nothing(tmp_path: Path, server: MailServer) -> None:
    app = mailing(tmp_path / "home", server.url.replace("?tls=none", ""))
    said = app.deliveries.board.test_mail(ADMIN)
    assert (said.state, server.attempts) == ("waiting", 0)
    assert "STARTTLS" in said.note


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"smtp_url": "smtp://mail.example.org"}, "all three"),
        ({"url": "concord.example.org"}, "CONCORD_URL"),
        ({"digest_hour": 24}, "0 to 23"),
        ({"time_zone": "Nowhere/Land"}, "CONCORD_TIME_ZONE"),
    ],
)
def test_settings_that_cannot_work_are_refused_at_the_start(given: dict[str, object], why: str) -> None:
    with pytest.raises(BadInput, match=why):
        load({}, **given)


@pytest.mark.parametrize(
    "url",
    [
        "http://x",
        "smtp://",
        "smtp://mail.example.org?tls=none",
        "smtp://a:b@localhost?tls=none",
        "smtp://[",
        "smtp://h?x=1",
    ],
)
def test_a_mail_server_is_named_by_a_url_and_plain_text_stays_on_the_machine(tmp_path: Path, url: str) -> None:
    with pytest.raises(BadInput, match="CONCORD_SMTP_URL"):
        mailing(tmp_path / "home", url)


def test_the_password_of_the_mail_server_is_never_printed(tmp_path: Path) -> None:
    app = mailing(tmp_path / "home", "smtps://ann:hidden@mail.example.org", smtp_password="hidden too")
    assert "hidden" not in repr(app.settings) + repr(vars(app.deliveries.sender.mailer))


def test_no_text_becomes_a_header_of_its_own(app: App, server: MailServer) -> None:
    bad = "Hi\r\nBcc: eve@example.org\r\n\r\nBody"
    tell(app, title=bad, text=bad, ref="7\r\nX-Evil: 1")
    sql(app, f"UPDATE accounts SET name = '{bad}' WHERE id = 'reviewer'")
    assert app.deliveries.sender.run().sent == 1
    (letter,) = server.letters
    assert letter["Bcc"] is None
    assert letter["X-Evil"] is None
    assert set(letter.keys()) == {
        "From",
        "To",
        "Subject",
        "Date",
        "Message-ID",
        "References",
        "Auto-Submitted",
        "List-Unsubscribe",
        "List-Unsubscribe-Post",
        "MIME-Version",
        "Content-Type",
    }
    assert "\n" not in one_line(bad)


def test_a_name_that_looks_like_an_address_leads_a_letter_nowhere_else(app: App, server: MailServer) -> None:
    sql(app, """UPDATE accounts SET name = 'Eve, <eve@example.org> "(x)"' WHERE id = 'reviewer'""")
    tell(app)
    assert app.deliveries.sender.run().sent == 1
    assert server.readers == [["petra@meridale.example"]]


@pytest.mark.sqlite
def test_an_address_that_cannot_be_used_fails_and_names_itself(app: App, server: MailServer) -> None:
    sql(app, "UPDATE accounts SET email = 'x' || char(10) || '@example.org' WHERE id = 'reviewer'")
    tell(app)
    assert app.deliveries.sender.run().failed == 1
    assert log(app)[0].note == "The address cannot be used."
    assert server.attempts == 0


# ---------------------------------------------------------------- who gets what


def test_every_kind_of_message_has_a_topic_but_the_one_about_mail_itself() -> None:
    assert [kind for kind in KINDS if not topic_of(kind)] == ["not delivered"]
    assert {kind for _, kinds in TOPICS.values() for kind in kinds} < set(KINDS)


def test_nothing_is_written_for_whoever_chose_nothing_or_where_mail_is_not_configured(app: App, tmp_path: Path) -> None:
    tell(app, "reader")
    silent = small_app(tmp_path / "silent", NoProcesses())
    silent.deliveries.choices.choose(PETRA, "at once")
    tell(silent)
    assert log(app) == log(silent) == []
    with pytest.raises(Unavailable, match="Mail is not configured"):
        silent.deliveries.board.test_mail(ADMIN)


def test_a_choice_holds_for_its_topic_alone(app: App) -> None:
    app.deliveries.choices.choose(PETRA, "none", ("reviews",))
    tell(app, kind="asked")
    tell(app, kind="mentioned")
    assert [one.kind for one in log(app)] == ["mentioned"]
    with pytest.raises(BadInput, match="no choice"):
        app.deliveries.choices.choose(PETRA, "hourly")
    with pytest.raises(BadInput, match="no topic"):
        app.deliveries.choices.choose(PETRA, "none", ("weather",))
    with pytest.raises(BadInput, match="no person with an account"):
        app.deliveries.choices.choose(Actor("me@localhost", "Me", "me@localhost", "admin"), "daily")


def test_an_account_that_is_off_or_changed_its_mind_gets_nothing(app: App, server: MailServer) -> None:
    tell(app)
    tell(app, "reviewer2")
    app.people.accounts.set_active(ADMIN, "reviewer", False)
    app.deliveries.choices.choose(THEO, "none")
    assert app.deliveries.sender.run().cancelled == 2
    assert [one.note for one in log(app)] == ["The account is switched off.", "It was not wanted any more."]
    assert server.attempts == 0


def test_a_cause_that_did_not_happen_sends_nothing(app: App) -> None:
    with suppress(KeyboardInterrupt), app.inbox.messages.database.transaction() as state:
        app.inbox.messages.tell(state, AUTHOR, ["reviewer"], "asked", Subject("change", "4", "New hours"))
        raise KeyboardInterrupt
    assert log(app) == []


# ---------------------------------------------------------------- trying again


@pytest.mark.parametrize("fault", ["451 later", "421 busy", "hang", "drop", "lost"])
def test_what_may_pass_is_tried_again_with_the_same_id(app: App, server: MailServer, fault: str) -> None:
    clock = Time(app)
    server.faults = [fault, fault]
    tell(app)
    if fault == "hang":
        app.deliveries.sender.mailer.seconds = 1.0  # type: ignore[attr-defined]
    for wait in (10.0, 20.0):
        assert app.deliveries.sender.run().again == 1
        (waiting,) = log(app)
        assert (waiting.state, waiting.due) == ("waiting", clock.now + wait)
        assert waiting.note
        clock.passes(wait - 1)
        assert app.deliveries.sender.run().again == 0, "not before its time"
        clock.passes(1)
    app.deliveries.sender.mailer.seconds = 60.0  # type: ignore[attr-defined]
    assert app.deliveries.sender.run().sent == 1
    assert len(set(server.ids)) == 1
    assert len(server.ids) == (3 if fault == "lost" else 1), "what was taken and not confirmed is repeated"
    attempts = app.deliveries.board.show(ADMIN, log(app)[0].id)[1]
    assert [bool(attempt.note) for attempt in attempts] == [True, True, False]


def test_a_refusal_for_good_is_not_tried_again_and_admins_learn_of_it(app: App, server: MailServer) -> None:
    server.faults = ["554 no such letter"]
    tell(app)
    assert app.deliveries.sender.run().failed == 1
    (failed,) = log(app)
    assert (failed.state, failed.code, failed.attempts) == ("failed", 554, 1)
    (told,) = app.inbox.messages.listed(ADMIN)
    assert told.sentence == "Mail to Petra Voss: not delivered"
    assert told.address == "/deliveries"
    app.deliveries.choices.choose(ADMIN, "at once")
    server.faults = ["554 no", "554 no"]
    tell(app, text="Again.")
    assert app.deliveries.sender.run().failed == 1
    assert app.deliveries.sender.run().failed == 0, "a message about mail is never mailed"


def test_an_address_that_bounces_fails_with_its_reason_and_holds_up_nobody(app: App, server: MailServer) -> None:
    server.bounces = {"petra@meridale.example": "550 5.1.1 no such\x00 user"}
    tell(app)
    tell(app, "reviewer2")
    done = app.deliveries.sender.run()
    assert (done.failed, done.sent, server.readers) == (1, 1, [["theo@meridale.example"]])
    (failed, _) = log(app)
    assert (failed.state, failed.code, failed.attempts, failed.note) == ("failed", 550, 1, "5.1.1 no such user")
    (told,) = app.inbox.messages.listed(ADMIN)
    assert (told.sentence, told.text) == ("Mail to Petra Voss: not delivered", "5.1.1 no such user")


def test_a_server_that_hangs_at_one_letter_gets_the_others_and_at_two_they_wait(app: App, server: MailServer) -> None:
    app.deliveries.sender.mailer.seconds = 3.0  # type: ignore[attr-defined]
    server.bounces = {"petra@meridale.example": "hang"}
    for ref, account in enumerate(("reviewer", "reviewer2", "reviewer2")):
        tell(app, account, ref=str(ref))
    done = app.deliveries.sender.run()
    assert (done.again, done.sent) == (1, 2)
    assert log(app)[0].note == "no answer within 3 s"
    server.bounces |= {"theo@meridale.example": "hang"}
    for ref, account in enumerate(("reviewer", "reviewer2", "reviewer2"), 3):
        tell(app, account, ref=str(ref))
    done = app.deliveries.sender.run()
    assert (done.again, done.sent) == (2, 0), "the third is not tried"


@pytest.mark.parametrize(("text", "then"), [(b"", b""), (b"220-", b"x"), (b"220 hi\r\n", b"250-x\r\n")])
def test_a_mail_server_that_never_finishes_is_left_after_the_deadline(tmp_path: Path, text: bytes, then: bytes) -> None:
    with dripping(text, then) as slow:
        app = mailing(tmp_path / "home", slow.url.replace("http", "smtp").replace("/hook", "?tls=none"))
        app.deliveries.sender.mailer.seconds = 1.0  # type: ignore[attr-defined]
        said = app.deliveries.board.test_mail(ADMIN)
        assert (said.state, said.attempts, said.note) == ("waiting", 1, "no answer within 1 s")
        until(lambda: slow.hung_up)  # no thread goes on listening


def test_a_certificate_of_the_mail_server_that_ran_out_is_named(tmp_path: Path) -> None:
    pem = certificate(tmp_path, days=-1)
    with mail_server(pem, implicit=True) as server:
        app = mailing(tmp_path / "home", server.url, smtp_ca=pem)
        assert app.deliveries.board.test_mail(ADMIN).note == "its certificate is not trusted (certificate has expired)"
        gone = mailing(tmp_path / "other", server.url, smtp_ca=tmp_path / "gone.pem")
        assert gone.deliveries.board.test_mail(ADMIN).note == "the connection failed (no such file or directory)"


def test_after_two_days_it_is_given_up_and_says_so(app: App, server: MailServer) -> None:
    clock = Time(app)
    server.faults = ["451 later"] * 100
    tell(app)
    for wait in (0, 2 * 86_400 - 1):
        clock.passes(wait)
        assert app.deliveries.sender.run().again == 1
    clock.passes(3600)
    assert app.deliveries.sender.run().failed == 1
    assert log(app)[0].note == "Given up after 2 days: later"


def test_a_server_that_is_down_is_asked_once_per_round_and_nothing_is_lost(tmp_path: Path) -> None:
    with mail_server() as server:
        url = server.url
    app = mailing(tmp_path / "home", url)
    clock = Time(app)
    app.deliveries.choices.choose(PETRA, "at once")
    for number in range(30):
        tell(app, ref=str(number))
    assert app.deliveries.sender.run().again == 1
    assert [one.attempts for one in log(app)].count(1) == 1
    clock.passes(3 * 86_400)
    app.deliveries.sender.run()
    assert {one.state for one in log(app)} == {"failed"}, "what was never tried is given up with the rest"
    assert all(one.note.startswith("Given up after 2 days") for one in log(app))


def test_two_senders_share_the_work_and_send_nothing_twice(tmp_path: Path, server: MailServer) -> None:
    first = mailing(tmp_path / "home", server.url)
    second = mailing(tmp_path / "home", server.url)
    first.deliveries.choices.choose(PETRA, "at once")
    for number in range(24):
        tell(first, ref=str(number))
    threads = [threading.Thread(target=app.deliveries.sender.run) for app in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(server.ids) == len(set(server.ids)) == 24


def test_a_lease_that_ended_is_taken_over_and_its_late_result_changes_nothing(app: App) -> None:
    clock, sender = Time(app), app.deliveries.sender
    tell(app)
    ((lost,),) = sender._claim("dead", clock.now + LEASE).values()
    assert sender.run().sent == 0, "somebody else has it"
    clock.passes(LEASE + 1)
    assert sender.run().sent == 1
    sender._record(lost, "dead", Receipt("again", 0, "too late"), 1.0)
    assert log(app)[0].state == "sent"


@pytest.mark.parametrize("ends", ["the app", "the lease"])
def test_when_the_app_or_a_lease_ends_the_rest_is_put_back_untouched(app: App, server: MailServer, ends: str) -> None:
    clock, sender = Time(app), app.deliveries.sender

    def end() -> str:
        if ends == "the app":
            sender.stopping.set()
        elif clock.now == NOON:
            clock.passes(LEASE - MARGIN + 1)
        return ""

    server.choose = end
    for number in range(3):
        tell(app, ref=str(number))
    assert sender.run().sent == (1 if ends == "the app" else 3)
    assert len(server.ids) == len(set(server.ids))
    left = [one for one in log(app) if one.state == "waiting"]
    assert [one.attempts for one in left] == ([0, 0] if ends == "the app" else [])
    sender.stopping.clear()
    server.choose = lambda: ""
    sender.run()
    assert {one.state for one in log(app)} == {"sent"}
    assert len(server.ids) == 3


@pytest.mark.parametrize("error", [StorageFailed("The disk is full."), RuntimeError("unforeseen")])
def test_what_breaks_the_sender_itself_is_logged_and_the_work_waits_for_the_lease(
    app: App, error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken:
        def connected(self) -> AbstractContextManager[object]:
            raise error

    clock, sender = Time(app), app.deliveries.sender
    whole, sender.mailer = sender.mailer, Broken()  # type: ignore[assignment]
    tell(app)
    assert sender.run().sent == 0
    assert "Sending stopped" in caplog.text
    sender.mailer = whole
    assert sender.run().sent == 0
    clock.passes(LEASE + 1)
    assert sender.run().sent == 1


def test_mail_that_waits_when_mail_is_switched_off_stays_and_says_why(app: App) -> None:
    tell(app)
    without = small_app(app.settings.home, NoProcesses())
    assert without.deliveries.sender.run().again == 1
    assert log(app)[0].note == "mail is not configured"


@pytest.mark.parametrize("utf8", [True, False])
def test_an_address_beyond_ascii_needs_a_server_that_takes_one(tmp_path: Path, utf8: bool) -> None:
    with mail_server(utf8=utf8) as server:
        app = mailing(tmp_path / "home", server.url)
        sql(app, "UPDATE accounts SET email = 'jürgen@example.org' WHERE id = 'reviewer'")
        said = app.deliveries.board.test_mail(ADMIN, "reviewer")
    assert server.readers == ([["jürgen@example.org"]] if utf8 else [])
    assert said.state == ("sent" if utf8 else "failed")
    assert utf8 or "beyond ASCII" in said.note


WORKER = """
import sys
from pathlib import Path
from typing import Any
from tests.services.team.test_deliveries import mailing
app = mailing(Path(sys.argv[1]), sys.argv[2])
app.deliveries.sender.mailer.seconds = 60.0
app.deliveries.sender.run()
"""


@pytest.mark.slow
def test_a_sender_killed_between_sending_and_writing_repeats_once_with_the_same_id(
    app: App, server: MailServer
) -> None:
    server.faults = ["", "keep"]
    tell(app, ref="1")
    tell(app, ref="2")
    command = [sys.executable, "-c", WORKER, str(app.settings.home), server.url]
    process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)})
    for _ in range(600):
        if len(server.letters) == 2:
            break
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    server.go.set()
    assert [one.state for one in log(app)] == ["sent", "waiting"]
    assert app.deliveries.sender.run().sent == 0, "the lease of the dead still holds"
    sender, now = app.deliveries.sender, time.time()
    sender.outbox.now = lambda: now + LEASE + 1
    assert sender.run().sent == 1
    first, second, repeat = server.ids
    assert first != second == repeat
    assert sender.run().sent == 0


def test_what_ended_long_ago_is_forgotten_and_what_waits_is_not(app: App, server: MailServer) -> None:
    clock = Time(app)
    server.faults = ["", "451 later"]
    tell(app, ref="1")
    tell(app, ref="2")
    app.deliveries.sender.run()
    clock.passes(91 * 86_400)
    assert app.deliveries.sender.sweep() == 1
    assert [one.state for one in log(app)] == ["waiting"]


def test_a_delivery_is_sent_once_more_on_an_admins_word(app: App, server: MailServer) -> None:
    server.faults = ["554 no"]
    tell(app)
    app.deliveries.sender.run()
    number = log(app)[0].id
    assert app.deliveries.board.redeliver(ADMIN, number).state == "sent"
    assert app.deliveries.board.redeliver(ADMIN, number).state == "sent"
    assert len(server.ids) == 2
    assert len(set(server.ids)) == 1
    with pytest.raises(Refused, match="Only admins may send messages"):
        app.deliveries.board.redeliver(PETRA, number)


def test_the_pace_is_a_setting_of_the_sender() -> None:
    assert Pace(first=1.0, longest=4.0).wait(9, 0.0, 1.0) == 4.0


def test_the_command_line_sends_mail_and_sets_up_webhooks(
    app: App, server: MailServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(session, "open_app", lambda settings: app)

    def run(*words: str, user: str = "admin") -> tuple[int, Any]:
        code = main(["--home", str(app.settings.home), "--json", "--as", user, *words])
        return code, json.loads(capsys.readouterr().out or "null")

    server.faults = ["", "554 no"]
    assert run("messages", "test")[1]["state"] == "sent"
    tell(app)
    assert run("messages", "send")[1] == {"sent": 0, "again": 0, "failed": 1, "cancelled": 0}
    (failed,) = run("deliveries", "list", "--state", "failed", "--channel", "mail")[1]
    assert (failed["target"], failed["code"], failed["attempts"]) == ("reviewer", 554, 1)
    assert run("deliveries", "list", "--state", "lost")[0] == 1
    assert run("deliveries", "list", "--channel", "pigeon")[0] == 1
    code, hook = run("webhook", "add", "https://example.invalid/hook", "--format", "teams", "--event", "change.merged")
    assert code == 0
    assert hook["secret"].startswith("whsec_")
    (listed,) = run("webhook", "list")[1]
    assert listed == {name: value for name, value in hook.items() if name != "secret"}
    code, tried = run("webhook", "test", "1")
    assert (code, tried["state"]) == (1, "waiting"), "a name that leads nowhere"
    assert "Errno" not in tried["note"]
    main(["--home", str(app.settings.home), "webhook", "test", "1"])
    assert ", webhook 1: waiting" in capsys.readouterr().out
    assert run("webhook", "remove", "1")[1]["id"] == 1
    assert main(["--home", str(app.settings.home), "--as", "admin", "deliveries", "list"]) == 0
    assert "Mail from Concord" not in capsys.readouterr().out
