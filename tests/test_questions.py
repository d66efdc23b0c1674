"""Questions that people asked: kept without names, for a while, and only of those who agree."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from core.adapters.state.questions import QueryRows
from core.bootstrap import App
from core.entrypoints.cli import main
from core.errors import BadInput, StorageFailed
from core.services.platform.settings import QuestionSettings
from core.services.search.queries import Asked
from tests.conftest import FixedClock, NoProcesses, demo, put, small_app, sql
from tests.small_kb import FILES

READER, AUTHOR, ADMIN = demo("reader"), demo("author"), demo("admin")


@pytest.fixture
def app(tmp_path: Path) -> App:
    made = small_app(tmp_path / "home", NoProcesses())
    put(made, FILES)
    made.index.builder.build(made.platform.settings.profile())
    return made


class MovingClock(FixedClock):
    """A clock that a test moves by the minute."""

    minute = 0

    def stamp(self) -> str:
        return f"{self.day}T12:{self.minute:02}:07+00:00"


def test_a_question_is_kept_with_what_was_found_and_without_who_asked(app: App) -> None:
    assert app.search.queries.keep(READER, "  Form 112   for cash? ")
    ((_, question, key, at, hits, score, doubtful, commit, opened),) = sql(app, "SELECT * FROM queries")
    assert (question, key, at) == ("Form 112 for cash?", "form 112 for cash", "2026-11-15T12:00:00+00:00")
    assert (hits, doubtful, opened, commit) == (3, 0, 0, app.knowledge.store.head())
    assert score > 0
    written = json.dumps(sql(app, "SELECT * FROM queries"))
    assert not any(word in written for word in (READER.id, READER.name, READER.email))


def test_questions_are_folded_by_their_words_and_counted(app: App) -> None:
    log = app.search.queries
    for actor, question in ((READER, "form 111"), (AUTHOR, "Form 111?"), (ADMIN, "FORM  111"), (READER, "error 809")):
        log.keep(actor, question)
    log.keep(AUTHOR, "form 111", opened=True)
    log.keep(AUTHOR, "where to park a bicycle")
    assert log.most_asked(10) == (
        Asked("FORM 111", 3, "2026-11-15T12:00:00+00:00", 3, 1),
        Asked("where to park a bicycle", 1, "2026-11-15T12:00:00+00:00", 0, 0),
        Asked("error 809", 1, "2026-11-15T12:00:00+00:00", 1, 0),
    )
    assert [asked.question for asked in log.most_asked(1)] == ["FORM 111"]


def test_one_person_counts_once_per_visit_and_a_pause_while_typing_is_no_question(app: App) -> None:
    log, clock = app.search.queries, MovingClock()
    log.clock = clock
    for question in ("form", "form 1", "form 111"):
        log.keep(READER, question)
    clock.minute = 20
    log.keep(READER, "Form 111", opened=True)
    assert [(asked.question, asked.times, asked.opened) for asked in log.most_asked(9)] == [("form 111", 1, 1)]
    clock.minute = 59
    log.keep(READER, "form 111 by fax")
    log.keep(READER, "form 111")
    assert {asked.question: asked.times for asked in log.most_asked(9)} == {"form 111": 2, "form 111 by fax": 1}


def test_the_team_and_each_person_can_say_no(app: App) -> None:
    log = app.search.queries
    log.consent(READER, False)
    assert not log.keep(READER, "form 111")
    assert log.keep(AUTHOR, "form 111")
    log.consent(READER, True)
    assert log.keep(READER, "form 111")
    log.decide(ADMIN, QuestionSettings(keep=False))
    assert sql(app, "SELECT count(*) FROM queries") == [(0,)], "what was kept is removed"
    assert not log.keep(AUTHOR, "error 809")


def test_old_questions_are_removed_and_one_can_be_forgotten(app: App) -> None:
    log, clock = app.search.queries, FixedClock("2026-08-01")
    log.clock = clock
    log.keep(READER, "form 111")
    clock.day = "2026-10-29"
    assert log.sweep() == 0
    log.keep(READER, "error 809")
    clock.day = "2026-11-01"
    assert log.sweep() == 1, "after 90 days"
    log.keep(AUTHOR, "form 112")
    assert log.forget(ADMIN, "Error 809?") == 1
    assert [asked.question for asked in log.listed(AUTHOR)] == ["form 112"]
    with pytest.raises(BadInput, match="1 to 3,650 days"):
        log.decide(ADMIN, QuestionSettings(days=0))


def test_a_search_never_fails_because_a_question_cannot_be_kept(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> int:
        raise StorageFailed("The disk is full.")

    monkeypatch.setattr(QueryRows, "add", full)
    assert not app.search.queries.keep(READER, "form 111")


def test_keeping_a_question_costs_little(app: App) -> None:
    log = app.search.queries
    log.keep(READER, "warm up")
    started = time.process_time()
    for number in range(20):
        log.keep(READER, f"{number} form 111")
    assert (time.process_time() - started) / 20 < 0.05


def test_the_command_line_keeps_lists_and_forgets(tmp_path: Path, app: App, capsys: Any, monkeypatch: Any) -> None:
    from core.entrypoints import questions, search

    for part in (questions, search):
        monkeypatch.setattr(part, "open_app", lambda settings: app)

    def run(*line: str) -> Any:
        assert main(["--home", str(app.settings.home), *line, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    run("search", "form 111", "--as", "reader")
    run("search", "form 111", "--config", "bm25")
    run("search", "form 112", "--folder", "fin")
    assert [(asked["question"], asked["times"]) for asked in run("questions", "list")] == [("form 111", 1)]
    assert run("questions", "mine", "off", "--as", "reader") == {"kept": False}
    assert run("questions", "settings", "--days", "30") == {"keep": True, "days": 30}
    assert run("questions", "forget") == {"forgotten": 1}
    assert run("questions", "settings", "--keep", "off")["keep"] is False
