"""200 messages to 20 people over a mail server that fails a third of the time and a receiver that fails, hangs and
repeats.
"""

from __future__ import annotations

import json
import random
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from core.bootstrap import App
from core.services.deliveries.sender import Pace
from core.services.inbox.messages import Subject
from core.services.people.accounts import NewAccount
from tests.services.team.test_deliveries import ADMIN, AUTHOR, mailing
from tests.support.receivers import MailServer, Receiver, mail_server, receiver

PEOPLE, MESSAGES = 20, 200
FAILS = ("451 try later", "421 too busy", "drop", "lost", "hang")
WEIGHTS = (12, 10, 6, 4, 1)


def failing(chance: float, kinds: tuple[str, ...], weights: tuple[int, ...], otherwise: str, seed: int) -> object:
    """What a server does next: it fails so often, in one of these ways."""
    dice = random.Random(seed)
    return lambda: dice.choices(kinds, weights)[0] if dice.random() < chance else otherwise


def crowd(app: App) -> list[str]:
    names = [f"p{number:02}" for number in range(PEOPLE)]
    for name in names:
        app.people.accounts.add(ADMIN, NewAccount(name, f"Person {name}", f"{name}@example.org", "author"))
        app.deliveries.choices.choose(app.people.accounts.actor(name), "at once")
    return names


def work(app: App) -> None:
    """Send until nothing waits."""
    deadline = time.monotonic() + 240
    while app.deliveries.board.counts(ADMIN).get("waiting") and time.monotonic() < deadline:
        app.deliveries.sender.run()
        time.sleep(0.02)


@pytest.mark.slow
def test_nothing_is_lost_and_a_repeat_is_known_by_its_id(tmp_path: Path) -> None:
    with mail_server() as server, receiver() as held:
        server.choose = failing(1 / 3, FAILS, WEIGHTS, "", 7)  # type: ignore[assignment]
        picks = failing(1 / 3, ("500", "503", "429", "hang", "lost"), (10, 8, 4, 2, 6), "200", 11)
        held.choose = lambda: int(said) if (said := picks()).isdigit() else said  # type: ignore[operator]
        held.seconds = 6.0
        apps = [mailing(tmp_path / "home", server.url, webhooks_private=True) for _ in range(2)]
        for app in apps:
            app.deliveries.sender.pace = Pace(first=0.05, longest=0.5)
            app.deliveries.sender.poster.seconds = 5.0  # type: ignore[attr-defined]
            app.deliveries.sender.mailer.seconds = 5.0  # type: ignore[union-attr]
        names = crowd(apps[0])
        apps[0].deliveries.webhooks.add(ADMIN, held.url, "Receiver")
        began = time.monotonic()
        workers = [threading.Thread(target=work, args=(app,)) for app in apps]
        for number in range(MESSAGES):
            subject = Subject("change", str(number), f"Change {number}")
            with apps[0].inbox.messages.database.transaction() as state:
                apps[0].inbox.messages.tell(
                    state, AUTHOR, [names[number % PEOPLE]], "merged", subject, f"Text {number}"
                )
            if number == 20:
                for worker in workers:
                    worker.start()
        for worker in workers:
            worker.join()
        work(apps[0])
        seconds = time.monotonic() - began
    report = summary(apps[0], server, held, seconds)
    print(json.dumps(report, indent=2))
    for way in ("mail", "webhooks"):
        assert (report[way]["lost"], report[way]["sent"]) == (0, MESSAGES)
        assert report[way]["repeats"] == report[way]["taken without an answer"], "what was confirmed is never repeated"
        assert report[way]["attempts"] > MESSAGES * 1.2
    assert report["left"] == {"sent": 2 * MESSAGES}


def summary(app: App, server: MailServer, held: Receiver, seconds: float) -> dict[str, object]:
    """What the servers saw, beside what the log says."""
    mails, posts = Counter(server.ids), Counter(post.headers["webhook-id"] for post in held.taken)
    log = app.deliveries.board.listed(ADMIN, limit=10_000)
    keys = {way: {one.key for one in log if one.channel == way} for way in ("mail", "webhook")}
    arrived = {name.strip("<>").partition("@")[0] for name in mails}
    return {
        "seconds": round(seconds, 1),
        "left": app.deliveries.board.counts(ADMIN),
        "mail": {
            "written": len(keys["mail"]),
            "sent": len(mails),
            "attempts": server.attempts,
            "retried": sum(one.attempts > 1 for one in log if one.channel == "mail"),
            "repeats": mails.total() - len(mails),
            "taken without an answer": server.went.get("lost", 0),
            "lost": len(keys["mail"] - arrived),
            "server said": server.went,
            "people": len({letter["To"] for letter in server.letters}),
        },
        "webhooks": {
            "written": len(keys["webhook"]),
            "sent": len(posts),
            "attempts": len(held.posts),
            "retried": sum(one.attempts > 1 for one in log if one.channel == "webhook"),
            "repeats": posts.total() - len(posts),
            "taken without an answer": held.went.get("lost", 0),
            "lost": len(keys["webhook"] - set(posts)),
            "receiver said": held.went,
        },
    }
