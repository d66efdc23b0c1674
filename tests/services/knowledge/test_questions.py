"""Questions that people asked: kept without names, for a while, and only of those who agree."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from core.bootstrap import App
from core.errors import BadInput, Refused, StorageFailed
from core.services.platform.settings import QuestionSettings
from core.services.platform.workspace import Daily
from core.storage.state.records import Asked
from core.storage.state.rows.question_rows import QueryRows
from tests.conftest import FixedClock, NoProcesses, demo, put, small_app, sql
from tests.support.small_kb import FILES

READER, AUTHOR, ADMIN = demo("reader"), demo("author"), demo("admin")


@pytest.fixture(scope="module")
def built_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("questions") / "home"
    made = small_app(home, NoProcesses())
    put(made, FILES)
    made.index.builder.build(made.platform.settings.profile())
    return home


@pytest.fixture
def app(tmp_path: Path, built_home: Path) -> App:
    return small_app(Path(shutil.copytree(built_home, tmp_path / "home")), NoProcesses())


class MovingClock(FixedClock):
    """A clock that a test moves by the minute."""

    minute = 0

    def stamp(self) -> str:
        return f"{self.day}T12:{self.minute:02}:07+00:00"


def test_a_question_is_kept_with_what_was_found_and_without_who_asked(app: App) -> None:
    assert app.search.queries.keep(READER, "  Form 112   for cash? ")
    ((_, question, key, at, hits, score, doubtful, commit, opened, document),) = sql(app, "SELECT * FROM queries")
    assert (question, key, at) == ("Form 112 for cash?", "form 112 for cash", "2026-11-15T12:00:00+00:00")
    assert (hits, doubtful, opened, document, commit) == (3, 0, 0, "", app.knowledge.repository.head())
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
        Asked(question="FORM 111", times=3, last="2026-11-15T12:00:00+00:00", found=3, opened=1),
        Asked(question="where to park a bicycle", times=1, last="2026-11-15T12:00:00+00:00", found=0, opened=0),
        Asked(question="error 809", times=1, last="2026-11-15T12:00:00+00:00", found=1, opened=0),
    )
    assert [asked.question for asked in log.most_asked(1)] == ["FORM 111"]


def test_two_searches_that_ended_at_a_document_teach_that_it_answers_and_one_does_not(app: App) -> None:
    log, known = app.search.queries, app.search.searcher.index().documents[0]
    for actor in (READER, AUTHOR):
        log.keep(actor, "form 111", opened=True, document=known.doc)
    log.keep(READER, "error 809", opened=True, document=known.doc)
    log.keep(AUTHOR, "where to park a bicycle", opened=True, document="no such document")
    assert [(one.question, one.document, one.times) for one in app.search.queries.database.queries.ended(1)] == [
        ("error 809", known.doc, 1),
        ("form 111", known.doc, 2),
    ]
    taught = app.tuning.learning.own.besides([])
    assert [(one.path, one.source) for one in taught.judgments if one.source == "search"] == [(known.path, "search")]


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


# ---------------------------------------------------------------- gaps


def ask(app: App, question: str, times: int, opened: bool = False) -> None:
    """So many people ask the same."""
    for number in range(times):
        app.search.queries._visits.clear()
        app.search.queries.keep(READER, question, opened=opened and not number)


def test_a_question_that_finds_nothing_good_twice_is_a_gap_with_an_owner(app: App) -> None:
    ask(app, "where to park a bicycle", 2)
    ask(app, "where to wash a car", 1)
    assert app.knowledge.gaps.look() == 1
    (gap,) = app.knowledge.gaps.open(AUTHOR)
    assert (gap.query, gap.source, gap.note, gap.account) == ("where to park a bicycle", "doubted", "asked 2 times", "")
    assert gap.owner == "admin", "nobody in Concord is called Mei"
    assert app.knowledge.gaps.look() == 0, "once"
    (message,) = app.inbox.messages.listed(ADMIN)
    assert message.text == "Asked 2 times: found nothing good."


def test_a_question_that_is_asked_often_and_never_opened_is_a_gap(app: App) -> None:
    ask(app, "form 111", 4)
    ask(app, "form 112", 5, opened=True)
    assert app.knowledge.gaps.look() == 0
    ask(app, "form 111", 1)
    assert app.knowledge.gaps.look() == 1
    (gap,) = app.knowledge.gaps.open(AUTHOR)
    assert (gap.query, gap.source, gap.folder) == ("form 111", "unopened", "fin")


def test_askings_before_a_gap_was_closed_do_not_open_it_again(app: App) -> None:
    ask(app, "where to park a bicycle", 3)
    app.knowledge.gaps.look()
    (gap,) = app.knowledge.gaps.open(AUTHOR)
    app.knowledge.gaps.close(AUTHOR, gap.id)
    assert app.knowledge.gaps.look() == 0
    app.search.queries.clock = FixedClock("2026-11-16")
    ask(app, "where to park a bicycle", 1)
    assert app.knowledge.gaps.look() == 0
    ask(app, "where to park a bicycle", 1)
    assert app.knowledge.gaps.look() == 1


def test_whoever_reports_a_gap_that_was_found_makes_it_theirs(app: App) -> None:
    ask(app, "where to park a bicycle", 2)
    app.knowledge.gaps.look()
    reported = app.knowledge.gaps.report(READER, "Where to park a bicycle?")
    (gap,) = app.knowledge.gaps.open(AUTHOR)
    assert (gap.id, gap.account, gap.source) == (reported.id, READER.id, "reported")


def test_a_gap_is_handed_over_to_somebody_who_can_write(app: App) -> None:
    gap = app.knowledge.gaps.report(READER, "where to park")
    assert app.knowledge.gaps.assign(ADMIN, gap.id, "author").owner == "author"
    assert app.inbox.messages.listed(AUTHOR)[0].text == "It is yours to answer."
    with pytest.raises(Refused, match="cannot write documents"):
        app.knowledge.gaps.assign(ADMIN, gap.id, "reader")


PARKING = "---\ntitle: Parking\nanswers: [where to park a bicycle]\n---\n# Parking\n\n{}\n"


def test_a_gap_stays_open_while_its_document_is_not_found_and_closes_by_itself_when_it_is(app: App) -> None:
    app.search.queries.decide(ADMIN, QuestionSettings(first=1))
    app.knowledge.gaps.report(READER, "Where to park a bicycle?")
    rival = "# Bicycle\n\nWhere to park a bicycle: where to park, park a bicycle, bicycle.\n"
    put(app, {"hr/parking.md": PARKING.format("Nothing is said here yet."), "hr/rival.md": rival})
    app.index.jobs.build(ADMIN)
    (gap,) = app.knowledge.gaps.open(AUTHOR)
    assert (gap.path, gap.rank) == ("hr/parking.md", 2)
    assert app.inbox.messages.listed(READER) == ()
    put(app, {"hr/parking.md": PARKING.format("Where to park a bicycle: park a bicycle."), "hr/rival.md": None})
    app.index.jobs.build(ADMIN)
    assert app.knowledge.gaps.open(AUTHOR) == ()
    (message,) = app.inbox.messages.listed(READER)
    assert (message.kind, message.address) == ("answered", "/documents?doc=hr%2Fparking.md")
    counts = app.knowledge.gaps.counts(AUTHOR)
    assert (counts[""].open, counts[""].closed, counts[""].days) == (0, 1, 0.0)


def test_the_work_of_a_day_is_done_once_and_goes_on_after_a_failure(app: App) -> None:
    done: list[str] = []

    def full() -> None:
        raise StorageFailed("The disk is full.")

    clock = FixedClock()
    daily = Daily(clock, [full, lambda: done.append(clock.day)])
    assert (daily.run(), daily.run(), done) == (True, False, ["2026-11-15"])
    clock.day = "2026-11-16"
    assert daily.run()
    assert done == ["2026-11-15", "2026-11-16"]
