"""Guessing passwords: five tries for an account by whatever name, in however many threads and processes."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import argon2
import pytest

from core.adapters.system import passwords
from core.bootstrap import App
from core.errors import BadInput, Refused
from core.services.people.accounts import NewAccount
from core.services.people.tries import HOUR, MAX_ACCOUNT, MAX_HOURLY, MAX_TRIES, WINDOW, Source
from tests.conftest import ROOT, NoProcesses, demo, small_app, sql
from tests.programs.guess_worker import guess

ADMIN, PASSWORD = demo("admin"), "correct horse battery"
HERE, THERE, ELSEWHERE = Source("93.184.215.14"), Source("8.8.8.8"), Source("9.9.9.9")
LATER = "Too many wrong passwords. Wait an hour, then try again."
WRONG, RESTING = "The name or the password is wrong.", "Too many wrong passwords. Wait five minutes, then try again."
BUSY = "Too many sign-ins at the moment, try again."


@pytest.fixture
def guessed_app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> App:
    cheap = argon2.PasswordHasher().hash("nobody's")
    monkeypatch.setattr("core.services.people.accounts._NOBODY", cheap)
    made = small_app(tmp_path / "home", NoProcesses())
    made.people.accounts.add(ADMIN, NewAccount("zoe", "Zoe Zahn", "Zoe@example.org", "author"), PASSWORD)
    return made


def answers(app: App, *names: str, password: str = "guess", source: Source | None = None) -> list[str]:
    """What each try is told; the id of the account for one that is let in."""
    told = []
    for name in names:
        try:
            told.append(app.people.accounts.sign_in(name, password, source or Source()).id)
        except Refused as error:
            told.append(str(error))
    return told


def tries(app: App) -> int:
    return int(sql(app, "SELECT count(*) FROM attempts")[0][0])


def guesses(home: Path, threads: int, *names: str) -> subprocess.Popen[str]:
    """Somebody who guesses in a process of their own."""
    command = [sys.executable, "-m", "tests.programs.guess_worker", str(home), str(threads), *names]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def outcome(guessing: subprocess.Popen[str]) -> dict[str, Any]:
    said, _ = guessing.communicate(timeout=600)
    assert guessing.returncode == 0
    return dict(json.loads(said))


# ---------------------------------------------------------------- parallel


@pytest.mark.parametrize("names", [["zoe", "ZOE@EXAMPLE.ORG", " Zoe"], ["nobody", "NOBODY"]], ids=["known", "unknown"])
def test_200_parallel_guesses_look_at_five_passwords(guessed_app: App, names: list[str]) -> None:
    assert guess(guessed_app, names, 200) == {WRONG: 5, RESTING: 195, "checked": 5}
    noted = guessed_app.people.audit.entries(ADMIN, action="refuse sign-in")
    assert len(noted) == 200, "each try has its line"
    assert {entry.who for entry in noted} == {names[0]}, "under the account, by whatever name it was tried"


@pytest.mark.sqlite
def test_guesses_in_several_processes_look_at_five_passwords(guessed_app: App) -> None:
    home = guessed_app.settings.home
    crew = [guesses(home, 30, name) for name in ("zoe", "ZOE@example.org")]
    told = [outcome(process) for process in crew]
    assert sum(one["checked"] for one in told) == 5
    assert sum(one.get(RESTING, 0) for one in told) == 55
    assert answers(guessed_app, "zoe", "zoe@example.org", password=PASSWORD) == [RESTING, RESTING]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["zoe", "nobody-{}"], ids=["one account", "many unknown names"])
def test_memory_stays_flat_under_200_parallel_guesses(guessed_app: App, name: str) -> None:
    real = argon2.PasswordHasher.func.from_parameters(argon2.profiles.RFC_9106_LOW_MEMORY)  # type: ignore[attr-defined]
    sql(guessed_app, f"UPDATE accounts SET hash = '{real.hash(PASSWORD)}' WHERE id = 'zoe'")
    told = outcome(guesses(guessed_app.settings.home, 200, name))
    print(f"\n{name}: {told}")
    assert told["peak"] - told["before"] < passwords.AT_A_TIME * 64 + 60, "two hashes of 64 MiB, and 200 threads"


@contextmanager
def every_turn_taken(seconds: float = 60.0) -> Iterator[None]:
    for _ in range(passwords.AT_A_TIME):
        assert passwords._TURNS.acquire(timeout=seconds)
    try:
        yield
    finally:
        for _ in range(passwords.AT_A_TIME):
            passwords._TURNS.release()


def test_whoever_waits_too_long_for_a_turn_is_told_so_and_it_is_no_try(guessed_app: App) -> None:
    guessed_app.people.accounts.passwords.patience = 0.01
    with every_turn_taken():
        assert answers(guessed_app, *["zoe"] * 7, "nobody", password=PASSWORD) == [BUSY] * 8
        with pytest.raises(Refused, match="Too many sign-ins at the moment, try again"):
            guessed_app.people.accounts.set_password(ADMIN, "zoe", PASSWORD)
    assert tries(guessed_app) == 0
    assert answers(guessed_app, "zoe", password=PASSWORD) == ["zoe"]


def test_a_short_wait_for_a_turn_is_not_noticed(guessed_app: App) -> None:
    told: list[str] = []
    guessed_app.people.accounts.passwords.patience = 600.0
    waiting = Thread(target=lambda: told.extend(answers(guessed_app, "zoe", password=PASSWORD)))
    with every_turn_taken():
        waiting.start()
        time.sleep(0.1)
        assert not told
    waiting.join(timeout=600)
    assert told == ["zoe"]


# ---------------------------------------------------------------- one account after the other


def test_an_account_rests_by_whatever_name_it_is_tried(guessed_app: App) -> None:
    names = ["zoe", "ZOE", "zoe@example.org", "ZOE@EXAMPLE.ORG", " ｚｏｅ "]
    assert answers(guessed_app, *names) == [WRONG] * 5
    assert answers(guessed_app, *names, "zoe@example.org.", password=PASSWORD) == [RESTING] * 6


@pytest.mark.parametrize("name", ["zoe", "zoe@example.org", "author", "nobody", "no@body.org", "Nö body", "x" * 5000])
def test_known_and_unknown_names_are_told_the_same(guessed_app: App, name: str) -> None:
    shapes = [name, name.upper(), f" {name}", name, name]
    assert answers(guessed_app, *shapes, name) == [WRONG] * 5 + [RESTING]


def test_a_right_password_clears_the_count_of_its_account_alone(guessed_app: App) -> None:
    answers(guessed_app, *["author"] * 3, *["zoe@example.org"] * 4)
    assert answers(guessed_app, "zoe", password=PASSWORD) == ["zoe"]
    assert tries(guessed_app) == 3
    assert answers(guessed_app, *["zoe"] * 6) == [WRONG] * 5 + [RESTING]


class ChangingPasswords(passwords.Argon2):
    """Somebody acts while a password is looked at."""

    def __init__(self, act: Any) -> None:
        super().__init__()
        self.act = act

    def matches(self, hashed: str, password: str) -> bool:
        right = super().matches(hashed, password)
        self.act()
        return right


def test_an_account_that_is_switched_off_while_its_password_is_checked_stays_out(guessed_app: App) -> None:
    accounts = guessed_app.people.accounts
    accounts.passwords = ChangingPasswords(lambda: accounts.set_active(ADMIN, "zoe", False))
    assert answers(guessed_app, "zoe", password=PASSWORD) == [WRONG]


def test_a_password_that_is_replaced_while_it_is_checked_lets_nobody_in(guessed_app: App) -> None:
    accounts = guessed_app.people.accounts
    accounts.passwords = ChangingPasswords(lambda: accounts.set_password(ADMIN, "zoe", "another long password"))
    assert answers(guessed_app, "zoe", password=PASSWORD) == [WRONG]


# ---------------------------------------------------------------- nobody is locked out by others


def waited(app: App, seconds: float) -> None:
    app.people.accounts.tries.now = lambda now=app.people.accounts.tries.now() + seconds: now


def test_wrong_passwords_from_elsewhere_lock_nobody_out(guessed_app: App) -> None:
    assert answers(guessed_app, *["zoe"] * 8, source=THERE) == [WRONG] * 5 + [RESTING] * 3
    assert answers(guessed_app, "zoe", password=PASSWORD, source=HERE) == ["zoe"]
    assert answers(guessed_app, "zoe", password=PASSWORD, source=THERE) == [RESTING], "its own count is not cleared"


def test_one_address_looks_at_five_in_five_minutes_and_twenty_an_hour_for_whatever_names(guessed_app: App) -> None:
    waited(guessed_app, 0)
    looked = 0
    for round_ in range(12):
        looked += answers(guessed_app, *["zoe"] * 7, source=THERE).count(WRONG)
        assert looked == min(5 * (round_ + 1), MAX_HOURLY)
        waited(guessed_app, WINDOW)
    names = [f"name-{n}" for n in range(MAX_HOURLY + 5)]
    assert answers(guessed_app, *names, source=ELSEWHERE) == [WRONG] * MAX_HOURLY + [LATER] * 5
    assert answers(guessed_app, "zoe", password=PASSWORD, source=ELSEWHERE) == [LATER]
    assert answers(guessed_app, "zoe", password=PASSWORD, source=HERE) == ["zoe"], "one address never fills an account"


def test_many_addresses_look_at_sixty_an_hour_and_a_known_browser_comes_in_all_the_same(guessed_app: App) -> None:
    accounts = guessed_app.people.accounts
    known = Source("10.0.0.9", (accounts.tries.mark("author"), accounts.tries.mark("zoe")))
    crowd = [Source(f"8.8.{n // 250}.{n % 250}") for n in range(MAX_ACCOUNT + 10)]
    told = [answers(guessed_app, "Zoe@example.org", source=source)[0] for source in crowd]
    assert told == [WRONG] * MAX_ACCOUNT + [LATER] * 10
    assert answers(guessed_app, "zoe", password=PASSWORD, source=HERE) == [LATER], "a browser that nobody knows waits"
    assert answers(guessed_app, *["zoe"] * 4, source=known) == [WRONG] * 4
    assert answers(guessed_app, "zoe", password=PASSWORD, source=known) == ["zoe"]
    assert answers(guessed_app, *["zoe"] * 6, source=known) == [WRONG] * 5 + [RESTING], (
        "it guesses no better than others"
    )
    unlocked = accounts.unlock(ADMIN, "zoe")
    assert unlocked.tries == MAX_ACCOUNT + 5
    assert answers(guessed_app, "zoe", password=PASSWORD, source=HERE) == ["zoe"]


@pytest.mark.parametrize("forgery", ["another account", "changed", "made up", "old", "numbers", ""])
def test_a_mark_that_is_forged_or_old_is_worth_nothing(guessed_app: App, forgery: str) -> None:
    counting = guessed_app.people.accounts.tries
    mark = counting.mark("zoe")
    marks = {
        "another account": counting.mark("author"),
        "changed": f"9{mark}",
        "made up": f"{mark.split('.')[0]}.{'0' * 64}",
        "old": mark,
        "numbers": "²-x.y",
        "": "",
    }
    if forgery == "old":
        waited(guessed_app, 181 * 86_400)
    forged = Source(THERE.address, (marks[forgery],))
    assert answers(guessed_app, *["zoe"] * 6, source=forged) == [WRONG] * 5 + [RESTING]
    assert answers(guessed_app, "zoe", source=THERE) == [RESTING], "it is counted with its address"
    assert answers(guessed_app, *["nobody"] * 6, source=Source("8.8.4.4", (mark,))) == [WRONG] * 5 + [RESTING]


def test_everybody_behind_a_proxy_that_does_not_say_for_whom_it_asks_is_one_place_of_an_account_alone(
    guessed_app: App,
) -> None:
    proxy = Source("10.0.0.1")
    assert answers(guessed_app, *(f"name-{n}" for n in range(30)), *["zoe"] * 6, source=proxy) == [WRONG] * 35 + [
        RESTING
    ]
    guessed_app.people.accounts.set_password(ADMIN, "author", PASSWORD)
    assert answers(guessed_app, "author", password=PASSWORD, source=proxy) == ["author"]


@pytest.mark.parametrize("addresses", [["2600:1:2:3::1", "2600:1:2:3:ffff::2"], ["::ffff:8.8.8.8", "8.8.8.8"]])
def test_addresses_of_one_network_are_one_place(guessed_app: App, addresses: list[str]) -> None:
    told = [answers(guessed_app, "zoe", source=Source(addresses[n % 2]))[0] for n in range(6)]
    assert told == [WRONG] * 5 + [RESTING]


def test_the_account_is_told_once_that_somebody_tried(guessed_app: App) -> None:
    zoe = guessed_app.people.accounts.actor("zoe")
    answers(guessed_app, *["zoe"] * 4, *["nobody"] * 9, source=THERE)
    assert guessed_app.inbox.messages.listed(zoe) == ()
    answers(guessed_app, *["zoe"] * 9, source=THERE)
    answers(guessed_app, *["zoe"] * 5, source=ELSEWHERE)
    (told,) = guessed_app.inbox.messages.listed(zoe)
    assert (told.sentence, told.address) == ("Somebody tried to sign in as Zoe Zahn with wrong passwords", "/account")
    assert (
        told.text
        == "10 wrong passwords within an hour, the last from 9.9.9.9. If it was not you, nothing happened: none of "
        "them was accepted."
    )
    assert guessed_app.inbox.messages.listed(ADMIN) == ()


def test_a_signed_in_person_changes_the_password_whatever_others_try(guessed_app: App) -> None:
    accounts = guessed_app.people.accounts
    answers(guessed_app, *["zoe"] * 6)
    zoe = accounts.actor("zoe")
    for _ in range(MAX_TRIES):
        with pytest.raises(Refused, match="is wrong"):
            accounts.change_password(zoe, "guess", "another long one", 7)
    with pytest.raises(Refused, match="Wait five minutes"):
        accounts.change_password(zoe, PASSWORD, "another long one", 7)
    accounts.change_password(zoe, PASSWORD, "another long one", 8)


# ---------------------------------------------------------------- the clock


def test_a_rest_ends_five_minutes_after_the_first_try(guessed_app: App) -> None:
    counting = guessed_app.people.accounts.tries
    for second in range(MAX_TRIES):
        counting.now = lambda second=second: 1000.0 + second
        answers(guessed_app, "zoe")
    counting.now = lambda: 1000.0 + WINDOW - 1
    assert answers(guessed_app, "zoe", password=PASSWORD) == [RESTING]
    counting.now = lambda: 1000.0 + WINDOW
    assert answers(guessed_app, "zoe", password=PASSWORD) == ["zoe"]


@pytest.mark.parametrize("ahead", [7200.0, 60.0, 0.5])
def test_a_clock_that_is_set_back_does_not_lengthen_a_rest(guessed_app: App, ahead: float) -> None:
    counting = guessed_app.people.accounts.tries
    counting.now = lambda: 1000.0 + ahead
    assert answers(guessed_app, *["zoe"] * 6) == [WRONG] * 5 + [RESTING]
    counting.now = lambda: 1000.0
    assert answers(guessed_app, "zoe", password=PASSWORD) == ["zoe"]


def test_tries_of_names_that_nobody_has_are_forgotten(guessed_app: App) -> None:
    counting = guessed_app.people.accounts.tries
    counting.now = lambda: 1000.0
    answers(guessed_app, *(f"nobody-{n}" for n in range(10)))
    assert tries(guessed_app) == 10
    counting.now = lambda: 1000.0 + HOUR
    answers(guessed_app, "somebody")
    assert tries(guessed_app) == 1


# ---------------------------------------------------------------- the case of an address


@pytest.mark.parametrize("email", ["ZOE@example.org", "zoe@EXAMPLE.org", "ｚｏｅ@example.org", "zoe@example.org."])
def test_an_address_belongs_to_one_account_whatever_its_case(guessed_app: App, email: str) -> None:
    with pytest.raises(BadInput, match=r"'zoe' \(Zoe Zahn\) already has the address Zoe@example\.org; upper and lower"):
        guessed_app.people.accounts.add(ADMIN, NewAccount("zoe2", "Zoe", email, "reader"))
    with pytest.raises(BadInput, match="There already is an account 'zoe'. Choose another id."):
        guessed_app.people.accounts.add(ADMIN, NewAccount("zoe", "Zoe", "other@example.org", "reader"))


@pytest.mark.sqlite
def test_the_database_itself_refuses_a_second_account_with_the_address(guessed_app: App) -> None:
    insert = (
        "INSERT INTO accounts (id, name, email, role, created, address) VALUES ('z', 'Z', 'z@x.org', 'reader', "
        "'', 'zoe@example.org')"
    )
    with pytest.raises(sqlite3.IntegrityError, match="address"):
        sql(guessed_app, insert)
