"""Webhooks: what a real receiver gets, signed; what happens when it fails, hangs, repeats or lies where it may not."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import socket
import threading
from pathlib import Path
from typing import Any

import pytest

from core.access import SYSTEM
from core.adapters.web.webhook import WebhookPoster
from core.bootstrap import App
from core.errors import BadInput, NotFound
from core.services.deliveries.formats import EVENTS, slack, teams
from core.services.deliveries.sender import BATCH, SendReport
from core.services.deliveries.webhooks import NAMES
from core.services.inbox.messages import KINDS
from tests.conftest import NoProcesses, put, small_app, sql, until
from tests.services.team.test_deliveries import ADMIN, AUTHOR, PETRA, URL, Time, log, tell
from tests.support.receivers import Post, certificate, dripping, receiver

NOTE = {
    "actor_name": "Ann",
    "title": "Hours",
    "text": "*bold* [x](https://evil.example)",
    "address": "/reviews?change=4",
}


@pytest.fixture
def app(tmp_path: Path) -> App:
    made = small_app(tmp_path / "home", NoProcesses(), webhooks_private=True, url=URL)
    made.deliveries.sender.jitter = lambda: 1.0
    wait_for(made, 60.0)
    return made


def wait_for(app: App, seconds: float) -> None:
    """How long receivers may take: 2 seconds where one hangs, since others must answer within them on a busy machine
    too.
    """
    app.deliveries.sender.poster.seconds = seconds  # type: ignore[attr-defined]


def verified(post: Post, secret: str) -> dict[str, Any]:
    """The body, if it is signed as the Standard Webhooks specification says it."""
    signed = f"{post.headers['webhook-id']}.{post.headers['webhook-timestamp']}.".encode() + post.body
    key = base64.b64decode(secret.removeprefix("whsec_"))
    wanted = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    assert post.headers["webhook-signature"] == f"v1,{wanted}"
    return dict(json.loads(post.body))


def test_an_event_reaches_the_receiver_signed_and_once_for_all_who_were_told(app: App) -> None:
    put(app, {"a.md": "# Note\n\nA line.\n"})
    with receiver() as held:
        hook, secret = app.deliveries.webhooks.add(ADMIN, held.url, "Ours")
        number = app.reviews.changes.propose(AUTHOR, "New hours", {"b.md": b"# B\n\nText.\n"}).id
        app.reviews.changes.submit(AUTHOR, number, ["reviewer", "reviewer2"])
        app.reviews.discussion.comment(PETRA, number, "Why, @theo?")
        app.reviews.discussion.approve(PETRA, number)
        app.reviews.merger.merge(AUTHOR, number)
        assert app.deliveries.sender.run().sent == 4
    bodies = [verified(post, secret) for post in held.posts]
    assert [body["type"] for body in bodies] == [
        "change.review_requested",
        "change.commented",
        "change.approved",
        "change.merged",
    ]
    assert bodies[0]["data"] == {
        "about": "change",
        "ref": str(number),
        "title": "New hours",
        "text": "",
        "actor": "author",
        "actor_name": "Avery Lindqvist",
        "sentence": "Avery Lindqvist asks for a review of New hours",
        "url": f"{URL}/reviews?change={number}",
    }
    assert {post.headers["content-type"] for post in held.posts} == {"application/json"}
    assert secret not in repr(app.deliveries.webhooks.listed(ADMIN)) + repr(app.people.audit.entries(ADMIN))
    assert hook.active


def test_only_the_events_that_were_asked_for_are_sent_and_nothing_without_a_webhook(app: App) -> None:
    tell(app)
    assert log(app) == []
    with receiver() as held:
        app.deliveries.webhooks.add(ADMIN, held.url, events=("change.merged",))
        tell(app, kind="asked")
        tell(app, kind="merged")
        tell(app, kind="watched")
        assert app.deliveries.sender.run().sent == 1
    assert json.loads(held.posts[0].body)["type"] == "change.merged"


def test_every_event_names_a_kind_of_message_and_sentences_speak_to_nobody() -> None:
    assert {event.kind for event in EVENTS} <= set(KINDS)
    assert not any("you" in event.sentence.lower().split() for event in EVENTS)
    assert len(set(NAMES)) == len(NAMES)


def test_slack_and_teams_get_their_own_form_and_no_marks_of_a_text() -> None:
    said = slack("change.commented", {**NOTE, "title": "<!channel> & <https://evil.example|x>"}, "https://c.example/4")
    assert "<!channel>" not in json.dumps(said)
    assert said["blocks"][0]["text"]["text"].startswith("*<https://c.example/4|Ann commented on &lt;!channel&gt;")
    assert said["blocks"][1]["text"]["type"] == "plain_text"
    card = teams("change.commented", NOTE, "https://c.example/4")
    assert card["type"] == "message"
    (attachment,) = card["attachments"]
    assert attachment["contentType"] == "application/vnd.microsoft.card.adaptive"
    content = attachment["content"]
    assert (content["type"], content["version"]) == ("AdaptiveCard", "1.4")
    assert content["body"][1]["text"] == "\\*bold\\* \\[x\\](https://evil.example)"
    assert content["actions"] == [{"type": "Action.OpenUrl", "title": "Open in Concord", "url": "https://c.example/4"}]


@pytest.mark.parametrize("fault", [500, 404, 429, 301, "hang", "drop", "lost"])
def test_a_failure_is_tried_again_with_the_same_id_and_a_new_time(app: App, fault: int | str) -> None:
    clock = Time(app)
    with receiver(fault) as held:
        held.headers = {"Location": "http://127.0.0.1:1/", "Retry-After": "60"}
        wait_for(app, 0.3 if fault == "hang" else 60.0)
        _, secret = app.deliveries.webhooks.add(ADMIN, held.url)
        tell(app)
        assert app.deliveries.sender.run().again == 1
        wait = log(app)[0].due - clock.now
        assert wait == (60.0 if fault == 429 else 10.0)
        assert app.deliveries.webhooks.listed(ADMIN)[0].failing
        clock.passes(wait)
        wait_for(app, 60.0)
        assert app.deliveries.sender.run().sent == 1
        assert not app.deliveries.webhooks.listed(ADMIN)[0].failing
    first, second = held.posts
    assert first.body == second.body
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert int(second.headers["webhook-timestamp"]) - int(first.headers["webhook-timestamp"]) == wait
    assert verified(first, secret) == verified(second, secret)
    attempts = app.deliveries.board.show(ADMIN, log(app)[0].id)[1]
    assert [attempt.code for attempt in attempts] == [fault if isinstance(fault, int) else 0, 200]


def test_a_receiver_that_hangs_holds_up_nobody_else(app: App) -> None:
    wait_for(app, 2.0)
    with receiver("hang") as slow, receiver() as quick:
        app.deliveries.webhooks.add(ADMIN, slow.url, "slow")
        app.deliveries.webhooks.add(ADMIN, quick.url, "quick")
        for number in range(5):
            tell(app, ref=str(number))
        assert app.deliveries.sender.run().sent == 5
    assert len(slow.posts) == 1, "after one that hangs the others wait"
    assert len(quick.taken) == 5


DRIPS = {
    "says nothing": (b"", b""),
    "a byte at a time": (b"HTTP/1.1 200 OK\r\nX-Much: ", b"x"),
    "endless answer": (b"HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n", b"x"),
}


@pytest.mark.parametrize("drip", DRIPS)
def test_a_receiver_that_never_finishes_is_left_after_the_deadline(app: App, drip: str) -> None:
    clock = Time(app)
    wait_for(app, 2.0)
    with dripping(*DRIPS[drip]) as slow, receiver() as quick:
        app.deliveries.webhooks.add(ADMIN, slow.url, "slow")
        app.deliveries.webhooks.add(ADMIN, quick.url, "quick")
        tell(app)
        done = app.deliveries.sender.run()
        until(lambda: slow.hung_up)  # no thread goes on listening
        if drip == "endless answer":
            assert (done.sent, slow.called) == (2, 1), "its status was known"
            return
        assert (done.sent, done.again, slow.called) == (1, 1, 1)
        clock.passes(2 * 86_400)
        assert app.deliveries.sender.run().failed == 1
    ended = log(app)[0]
    assert (ended.state, ended.note) == ("failed", "Given up after 2 days: no answer within 2 s")
    assert [hook.active for hook in app.deliveries.webhooks.listed(ADMIN)] == [False, True]


def test_a_long_queue_at_a_receiver_that_is_down_holds_up_nobody_and_is_tried_once_a_round(app: App) -> None:
    clock = Time(app)
    with receiver() as slow, receiver() as quick:
        slow.choose = lambda: "drop"
        app.deliveries.webhooks.add(ADMIN, slow.url, "slow", events=("change.review_requested",))
        for number in range(2 * BATCH + 1):
            tell(app, ref=str(number))
        app.deliveries.webhooks.add(ADMIN, quick.url, "quick", events=("change.merged",))
        tell(app, kind="merged")
        for round_, wait in enumerate((0, 10, 20), 1):
            clock.passes(wait)
            app.deliveries.sender.run()
            assert (len(slow.posts), len(quick.taken)) == (round_, 1)
        assert len({post.headers["webhook-id"] for post in slow.posts}) == 1, "the first in the queue stays the first"


def test_what_comes_while_a_receiver_hangs_leaves_at_once(app: App) -> None:
    with receiver() as quick:
        with dripping() as slow:
            app.deliveries.webhooks.add(ADMIN, slow.url, "slow", events=("change.review_requested",))
            app.deliveries.webhooks.add(ADMIN, quick.url, "quick", events=("change.merged",))
            tell(app)
            sending = threading.Thread(target=app.deliveries.sender.run)
            sending.start()
            until(lambda: slow.called)
            tell(app, kind="merged")
            until(lambda: quick.taken)
            assert (sending.is_alive(), slow.hung_up) == (True, 0)
        sending.join(600.0)
    assert not sending.is_alive()


def test_events_keep_their_order_and_ids_over_failures_and_a_restart(app: App) -> None:
    clock = Time(app)
    with receiver("drop") as held:
        app.deliveries.webhooks.add(ADMIN, held.url)
        for number in range(4):
            tell(app, ref=str(number))
        assert app.deliveries.sender.run().again == 1
        again = small_app(app.settings.home, NoProcesses(), webhooks_private=True, url=URL)
        again.deliveries.sender.jitter = lambda: 1.0
        later = Time(again, clock.now + 9)
        assert again.deliveries.sender.run().sent == 0, "not before its time"
        later.passes(1)
        assert again.deliveries.sender.run().sent == 4
    assert [json.loads(post.body)["data"]["ref"] for post in held.posts] == ["0", "0", "1", "2", "3"]
    assert held.posts[0].headers["webhook-id"] == held.posts[1].headers["webhook-id"]


def test_an_address_that_is_not_allowed_any_more_ends_in_a_refusal_that_says_so(app: App) -> None:
    with receiver() as held:
        app.deliveries.webhooks.add(ADMIN, held.url, "Ours")
        tell(app, ref="1")
        tell(app, ref="2")
        strict = small_app(app.settings.home, NoProcesses(), url=URL)
        assert strict.deliveries.sender.run() == SendReport(failed=1, cancelled=1)
    assert held.posts == []
    first, second = log(app)
    assert (first.state, first.attempts, second.state) == ("failed", 1, "cancelled")
    assert "needs CONCORD_WEBHOOKS_PRIVATE=yes" in first.note
    assert "switched off: A webhook needs a whole address" in second.note
    assert [attempt.note for attempt in app.deliveries.board.show(ADMIN, first.id)[1]] == [first.note]
    assert not app.deliveries.webhooks.listed(ADMIN)[0].active
    (told,) = app.inbox.messages.listed(ADMIN)
    assert told.sentence == "The webhook Ours: not delivered"


def test_a_certificate_that_ran_out_is_named_and_given_up(
    app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pem = certificate(tmp_path, days=-1)
    monkeypatch.setenv("SSL_CERT_FILE", str(pem))
    clock = Time(app)
    with receiver(pem=pem) as expired, receiver() as quick:
        app.deliveries.webhooks.add(ADMIN, expired.url)
        app.deliveries.webhooks.add(ADMIN, quick.url)
        tell(app)
        done = app.deliveries.sender.run()
        assert (done.sent, done.again) == (1, 1)
        clock.passes(2 * 86_400)
        assert app.deliveries.sender.run().failed == 1
    assert expired.posts == []
    assert log(app)[0].note == "Given up after 2 days: its certificate is not trusted (certificate has expired)"


@pytest.mark.sqlite
def test_an_event_that_cannot_be_written_fails_alone_and_ends(app: App, caplog: pytest.LogCaptureFixture) -> None:
    clock = Time(app)
    with receiver() as held:
        app.deliveries.webhooks.add(ADMIN, held.url)
        tell(app, ref="1")
        tell(app, ref="2")
        sql(app, "UPDATE deliveries SET content = '{}' WHERE id = 1")
        done = app.deliveries.sender.run()
        assert (done.sent, done.again) == (1, 1)
        assert log(app)[0].note.startswith("it could not be written (KeyError)")
        clock.passes(2 * 86_400)
        assert app.deliveries.sender.run().failed == 1


def test_a_webhook_that_fails_for_two_days_is_switched_off_and_admins_learn_of_it(app: App) -> None:
    clock = Time(app)
    with receiver() as held:
        held.choose = lambda: 500
        hook, _ = app.deliveries.webhooks.add(ADMIN, held.url, "Ours")
        tell(app)
        app.deliveries.sender.run()
        clock.passes(2 * 86_400)
        tell(app, text="A later one.")
        assert app.deliveries.sender.run().failed == 1
    assert not app.deliveries.webhooks.listed(ADMIN)[0].active
    (told,) = app.inbox.messages.listed(ADMIN)
    assert (told.sentence, told.text) == ("The webhook Ours: not delivered", "It is switched off: status 500")
    tell(app, text="While it is off.")
    assert {one.state for one in log(app)} == {"failed", "cancelled"}
    assert len(log(app)) == 2, "nothing is written for a webhook that is off"
    with pytest.raises(BadInput, match="switched off"):
        app.deliveries.webhooks.test(ADMIN, hook.id)
    assert app.deliveries.webhooks.switch(ADMIN, hook.id, True).active


def test_a_receiver_that_is_gone_for_good_is_switched_off_at_once(app: App) -> None:
    with receiver(410) as held:
        app.deliveries.webhooks.add(ADMIN, held.url, "Ours")
        tell(app)
        assert app.deliveries.sender.run().failed == 1
    assert not app.deliveries.webhooks.listed(ADMIN)[0].active


def test_a_test_is_sent_at_once_and_a_removed_webhook_gets_nothing_more(app: App) -> None:
    with receiver() as held:
        hook, secret = app.deliveries.webhooks.add(ADMIN, held.url, "Ours", "slack")
        assert app.deliveries.webhooks.test(ADMIN, hook.id).state == "sent"
        assert verified(held.posts[0], secret)["text"] == "A test of Ours"
        tell(app)
        app.deliveries.webhooks.remove(ADMIN, hook.id)
        assert app.deliveries.sender.run().sent == 0
        assert [one.note for one in log(app)] == ["", "The webhook was removed."]
        assert app.deliveries.board.redeliver(ADMIN, log(app)[1].id).state == "cancelled"
    with pytest.raises(NotFound):
        app.deliveries.webhooks.test(ADMIN, hook.id)


# ---------------------------------------------------------------- where it may lead


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/hook",
        "ftp://example.org",
        "https://",
        "https://user:pw@example.org/",
        "https://exa mple.org",
        "https://127.0.0.1/",
        "https://[::1]/",
        "https://10.0.0.8/x",
        "https://169.254.169.254/latest",
        "https://example.org:99999/",
        "https://0177.0.0.1/",
        "https://127.1/",
        "https://0x7f000001/",
        "https://2130706433./",
        "https://[fec0::1]/",
        "https://[3fff::1]/",
    ],
)
def test_a_webhook_may_not_lead_to_this_machine_its_network_or_by_plain_http(tmp_path: Path, url: str) -> None:
    app = small_app(tmp_path / "home", NoProcesses())
    with pytest.raises(BadInput):
        app.deliveries.webhooks.add(ADMIN, url)
    assert app.deliveries.webhooks.listed(ADMIN) == ()


@pytest.mark.parametrize("places", [["127.0.0.1"], ["93.184.215.14", "10.0.0.1"], ["::ffff:127.0.0.1"]])
def test_a_name_that_leads_inside_is_not_called(monkeypatch: pytest.MonkeyPatch, places: list[str]) -> None:
    answers = [(socket.AF_INET, socket.SOCK_STREAM, 0, "", (place, 443)) for place in places]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: answers)
    monkeypatch.setattr(socket, "create_connection", lambda *_, **__: pytest.fail("it was called"))
    said = WebhookPoster().post("https://rebound.example/hook", b"{}", {})
    assert said.state == "refused"
    assert "private network" in said.note


def test_a_name_that_leads_inside_by_now_ends_its_deliveries_at_once_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = small_app(tmp_path / "home", NoProcesses(), url=URL)
    app.deliveries.webhooks.add(ADMIN, "https://rebound.example/hook", "Ours")
    inside = [(socket.AF_INET, socket.SOCK_STREAM, 0, "", ("10.0.0.1", 443))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: inside)
    tell(app, ref="1")
    tell(app, ref="2")
    assert app.deliveries.sender.run() == SendReport(failed=1, cancelled=1)
    first, second = log(app)
    assert (first.state, first.attempts, second.state) == ("failed", 1, "cancelled")
    assert "private network" in first.note
    assert "private network" in second.note
    assert not app.deliveries.webhooks.listed(ADMIN)[0].active


def test_the_address_that_was_checked_is_the_one_that_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[Any] = []
    asked: list[Any] = []
    found, connected = socket.getaddrinfo, socket.create_connection

    def resolve(host: str, *rest: Any, **more: Any) -> list[Any]:
        if host != "example.org":  # a thread that an earlier test has left
            return found(host, *rest, **more)
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 0, "", ("93.184.215.14", 443))]

    def connect(address: Any, *rest: Any, **more: Any) -> Any:
        if address[0] != "93.184.215.14":
            return connected(address, *rest, **more)
        called.append(address)
        raise OSError("no network in a test")

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    monkeypatch.setattr(socket, "create_connection", connect)
    assert (
        WebhookPoster().post("https://example.org/hook", b"{}", {}).note
        == "the connection failed (no network in a test)"
    )
    assert (asked, called) == (["example.org"], [("93.184.215.14", 443)])


def test_the_receiver_is_called_by_its_name_at_the_checked_address_and_by_no_proxy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    found = socket.getaddrinfo
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda host, *a, **k: found("127.0.0.1" if host == "hooks.example" else host, *a, **k)
    )
    with receiver() as held:
        url = held.url.replace("127.0.0.1", "hooks.example") + "?key=a%2Fb"
        assert WebhookPoster(private=True).post(url, b"{}", {}).state == "sent"
    (post,) = held.posts
    assert (post.path, f"http://{post.headers['host']}{post.path}") == ("/hook?key=a%2Fb", url)


def test_an_address_that_is_a_secret_is_not_shown_whole(app: App) -> None:
    hook, _ = app.deliveries.webhooks.add(ADMIN, "https://hooks.slack.com/services/T0/B0/verysecret", "Slack", "slack")
    assert hook.place == "https://hooks.slack.com/…cret"
    assert "verysecret" not in repr(app.people.audit.entries(ADMIN))


@pytest.mark.parametrize(("given", "why"), [({"form": "irc"}, "format"), ({"events": ("x.y",)}, "event")])
def test_unknown_formats_and_events_are_refused(app: App, given: dict[str, Any], why: str) -> None:
    with pytest.raises(BadInput, match=f"There is no {why}"):
        app.deliveries.webhooks.add(ADMIN, "https://example.org/hook", **given)


def test_there_is_an_end_to_the_number_of_webhooks(app: App) -> None:
    with app.inbox.messages.database.transaction() as state:
        for number in range(50):
            state.webhooks.add(
                name=str(number), url="https://x.example", format="concord", secret="", created="", who=SYSTEM.id
            )
    with pytest.raises(BadInput, match="50 webhooks"):
        app.deliveries.webhooks.add(ADMIN, "https://example.org/hook")
