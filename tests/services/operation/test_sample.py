"""The sample: a past that is played the same way every time and ends at the documents that people read."""

from __future__ import annotations

import shutil
import subprocess
from datetime import date, datetime
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.access import SYSTEM, allowed
from core.bootstrap import App
from core.entrypoints.cli import main
from core.errors import Corrupt, Refused
from core.evaluation.impact import Impact
from core.services.sample.past import VERBS, PastClock, SamplePast, edited, first_texts, read
from pages.ui.home.empty import PROMISES
from pages.ui.home.sample import LINE
from pages.ui.home.tour import BREAKS, CONFLICT, READY, TALK, TOURS
from pages.ui.menu import PAGES
from pages.ui.style import ASSETS
from tests.conftest import ROOT, FixedClock, NoProcesses, build, demo, forget_app, kb_settings, small_app, sql
from tests.support.apptest import PATIENCE

KB = ROOT / "kb"
SCRIPT = read(KB, VERBS)
QUICK = [deed for deed in SCRIPT.later if deed.verb not in ("runs", "promote", "threshold", "impacts")]


def begun(home: Path) -> App:
    app = small_app(home)
    app.platform.sample.begin(demo("admin"))
    return app


@pytest.fixture
def empty_home(tmp_path: Path) -> Path:
    return small_app(tmp_path / "empty").settings.home


@pytest.fixture(scope="module")
def sample_app(tmp_path_factory: pytest.TempPathFactory) -> App:
    return begun(tmp_path_factory.mktemp("sample") / "home")


def test_the_past_ends_at_the_documents_in_kb(sample_app: App) -> None:
    now = {document.path: document.text for document in sample_app.knowledge.documents.all()}
    assert now == {path.relative_to(KB).as_posix(): path.read_text() for path in KB.rglob("*.md")}
    assert len(sample_app.knowledge.repository.log("main")) >= 9, "the import and what was merged since"


def test_every_state_of_a_change_is_there(sample_app: App) -> None:
    changes = sample_app.reviews.changes.all()
    assert {"draft", "in review", "approved", "merged"} == {change.state for change in changes}
    assert [change.title for change in changes if change.conflicts] == ["Pay 70 cents a mile"]
    talked = next(change for change in changes if change.title == "Pay more for internet at home")
    comments = sample_app.reviews.discussion.comments(demo("reviewer"), talked.id)
    assert [bool(comment.suggestion) for comment in comments] == [False, False, True]
    assert all(comment.line for comment in comments if not comment.thread)
    unread = [message.kind for message in sample_app.inbox.messages.listed(demo("author2"))]
    assert "mentioned" in unread


def test_two_disagreements_wait_on_freshness(sample_app: App) -> None:
    """A form index and a counting procedure that fell behind; no question of the sample asks for these values."""
    found = sample_app.knowledge.disagreements.everywhere(demo("author"))
    assert [(one.state, {one.mine.path, one.theirs.path}) for one in found] == [
        ("open", {"people/safety/forklift-certification.md", "reference/form-index.md"}),
        ("open", {"supply-chain/inventory/cycle-counting.md", "supply-chain/runbooks/wms3-queue-stuck.md"}),
    ]
    assert {one.mine.value for one in found} | {one.theirs.value for one in found} == {
        "one business day",
        "3 business days",
        "30 minutes",
        "60 minutes",
    }


def test_dates_are_relative_to_today_and_in_git_too(sample_app: App) -> None:
    dates = [step.when[:10] for step, _ in sample_app.knowledge.repository.log("main")]
    assert (dates[0], dates[-1]) == ("2026-11-03", "2026-05-17"), "12 and 182 days before 2026-11-15"
    assert dates == sorted(dates, reverse=True)
    stamps = [row[0] for row in sql(sample_app, "SELECT at FROM audit")]
    assert max(stamps) < "2026-11-15"


def test_the_same_day_gives_the_same_past(sample_app: App, tmp_path: Path) -> None:
    other = begun(tmp_path / "home")
    assert told(other) == told(sample_app)


def told(app: App) -> list[object]:
    """Every branch, and every row that somebody reads."""
    repository = app.knowledge.repository
    heads = [repository.head(name) for name in ("main", "settings")]
    heads += [repository.head(f"change/{number}") for number in range(1, 20)]
    tables = (
        "changes",
        "comments",
        "verdicts",
        "review_requests",
        "audit",
        "messages",
        "feedback",
        "watches",
        "queryset_questions",
        "queryset_judgments",
    )
    return [heads, *(sql(app, f"SELECT * FROM {table}") for table in tables)]


def test_nothing_waits_to_be_done_after_it(sample_app: App) -> None:
    assert not sample_app.platform.jobs.recent(), "an index is built when the app starts"


def test_it_begins_in_an_empty_workspace_alone(sample_app: App) -> None:
    assert sample_app.platform.sample.here()
    with pytest.raises(Refused, match="empty workspace"):
        sample_app.platform.sample.begin(demo("admin"))


def measured_merges(past: SamplePast, patch: pytest.MonkeyPatch) -> list[Impact]:
    """The first of the changes that the sample measures when it begins; each asks 160 questions twice."""
    merged = past.reviews.changes.all(state="merged")
    first = min(merged, key=lambda change: change.ended)
    patch.setattr(past.reviews.changes, "all", lambda **_: [first])
    past.play([deed for deed in SCRIPT.later if deed.verb == "impacts"], lambda *_: None)
    patch.undo()
    return [impact for change in merged if (impact := past.reviews.impacts.show(demo("author"), change.id))]


def test_people_asked_and_some_got_no_answer(sample_app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = shutil.copytree(sample_app.settings.home, tmp_path / "home")
    app = small_app(home)
    app.index.builder.build(app.platform.settings.profile())
    past = app.platform.sample._past()
    past.play(QUICK, lambda *_: None)
    measured = measured_merges(past, monkeypatch)
    assert len(measured) == 1
    assert [impact.main for impact in measured] == [
        app.knowledge.repository.log(app.reviews.changes.get(impact.change).merged, limit=2)[1][0].id
        for impact in measured
    ], "each on main as it was"
    assert all(impact.questions["answers"] > 100 for impact in measured)
    told = [entry.at for entry in app.people.audit.entries(demo("admin"))]
    assert told == sorted(told, reverse=True), "the newest first, whenever it was written down"
    gaps = app.knowledge.gaps.counts(demo("author"))[""]
    assert (gaps.open, gaps.closed, gaps.days) == (2, 1, 6)
    assert app.search.queries.most_asked(1)[0].question == "vpn wont connect"
    assert app.search.queries.totals().opened == 31


def words_left(home: Path) -> list[str]:
    """What of a workspace holds words of the sample: files, and the packed objects of its repository."""
    words, everything = (b"Meridale", b"shuttle", b"cents a mile"), ["cat-file", "--batch", "--batch-all-objects"]
    objects = subprocess.run(["git", "-C", home / "kb.git", *everything], check=True, capture_output=True).stdout
    texts = {str(file): file.read_bytes() for file in home.rglob("*") if file.is_file()} | {"objects": objects}
    return [name for name, raw in texts.items() if any(word in raw for word in words)]


@pytest.mark.sqlite
def test_it_goes_completely_and_the_workspace_is_as_new(sample_app: App, tmp_path: Path) -> None:
    home = shutil.copytree(sample_app.settings.home, tmp_path / "home")
    app = small_app(home)
    app.index.builder.build(app.platform.settings.profile())
    app.platform.jobs.start("sample", {})
    with pytest.raises(Refused):
        app.platform.sample.remove(demo("reviewer"))
    app.platform.sample.remove(demo("admin"))
    assert not app.platform.sample.here()
    assert not app.knowledge.documents.all()
    assert not app.knowledge.repository.head()
    assert app.index.generations.current(app.platform.settings.profile()) is None
    assert app.platform.settings.original().config.documents, "it searches as a new one does"
    assert [row[0] for row in sql(app, "SELECT action FROM audit")] == ["remove the sample"]
    assert not words_left(home), "also in the free pages of the database"
    assert not list(app.platform.workspace.guard.damaged())
    change = app.reviews.changes.propose(demo("author"), "Ours", {"a.md": b"# A\n\nOur own.\n"})
    assert change.id == 1
    with pytest.raises(Refused, match="not the sample"):
        app.platform.sample.remove(demo("admin"))


def test_nothing_is_removed_for_documents_that_cannot_come(sample_app: App, tmp_path: Path) -> None:
    home = shutil.copytree(sample_app.settings.home, tmp_path / "home")
    (tmp_path / "bad.zip").write_bytes(b"PK nonsense")
    for source in (tmp_path / "bad.zip", tmp_path / "none", (tmp_path / "none.git").as_uri()):
        assert main(["--home", str(home), "--quiet", "init", "--from", str(source)]) != 0
    assert small_app(home).platform.sample.here()


def test_the_frame_says_that_it_is_a_sample_and_shows_admins_the_way_out(
    sample_app: App, empty_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = shutil.copytree(sample_app.settings.home, tmp_path / "home")  # a page starts what waits

    def framed(home: Path, persona: str) -> tuple[int, int]:
        monkeypatch.setenv("CONCORD_HOME", str(home))
        forget_app()
        page = AppTest.from_file(str(ROOT / "streamlit_app.py"), default_timeout=PATIENCE)
        page.session_state["persona"] = persona
        page.run()
        assert not page.exception
        buttons = [button.key for button in page.button]
        return [caption.value for caption in page.caption].count(LINE), buttons.count("sample_own")

    assert framed(home, "admin") == (1, 1)
    assert framed(home, "author") == (1, 0)
    assert framed(empty_home, "admin") == (0, 0)


def test_on_an_empty_base_pages_promise_what_they_will_show(empty_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONCORD_HOME", str(empty_home))
    forget_app()
    script = "from pages.ui.home import empty\nimport streamlit as st\nst.text(str(empty.promise(PAGE)))"
    known = {name for section in PAGES.values() for name, *_ in section}
    assert known >= set(PROMISES)
    for name, promise in PROMISES.items():
        page = AppTest.from_string(script.replace("PAGE", repr(name)), default_timeout=PATIENCE)
        page.session_state["persona"] = "reader"
        page.run()
        assert promise.sentence in [caption.value for caption in page.caption]
        assert page.text[0].value == str(promise.instead)


def test_pages_of_an_empty_base_have_a_picture_of_the_sample_in_light_and_dark() -> None:
    names = {f"{page}-{scheme}.webp" for page in ("home", *PROMISES) for scheme in ("light", "dark")}
    sizes = {file.name: file.stat().st_size for file in (ASSETS / "sample").iterdir()}
    assert set(sizes) == names, "take them with: make screens"
    assert max(sizes.values()) < 40_000


@pytest.mark.sqlite
def test_a_removal_that_was_killed_is_ended_at_the_next_start(sample_app: App, tmp_path: Path) -> None:
    home = shutil.copytree(sample_app.settings.home, tmp_path / "home")
    app = small_app(home)
    app.platform.backups.database.erase()
    (home / "emptying").touch()
    again = small_app(home)
    assert not again.knowledge.repository.head()
    assert not (home / "emptying").exists()
    assert len(again.people.accounts.all()) == 6


def test_every_step_of_a_tour_leads_to_something_that_its_person_may_see(sample_app: App) -> None:
    pages = {name: action for section in PAGES.values() for name, _, _, action in section}
    titles = {change.id: change.title for change in sample_app.reviews.changes.all(state="open")}
    named = {TALK: "Pay more for internet at home", BREAKS: "Shorten the service desk FAQ"}
    named |= {CONFLICT: "Pay 70 cents a mile", READY: "Patch known exploits on the inside sooner, too"}
    assert {number: titles[number] for number in named} == named
    for tour in TOURS.values():
        assert len(tour.steps) == 5
        for step in tour.steps:
            assert allowed(demo(tour.persona), pages[step.page])
            if document := step.at.get("doc"):
                assert sample_app.knowledge.documents.show(document)
            assert int(step.at.get("change", TALK)) in titles


@pytest.mark.slow
def test_it_is_measured_and_promoted_with_evidence(tmp_path: Path) -> None:
    """With the bundled model, as `make run` does it."""
    app = build(kb_settings(tmp_path / "home"), clock=FixedClock(), processes=NoProcesses())
    app.platform.workspace.create()
    app.platform.sample.begin(demo("admin"))
    app.index.builder.build(app.platform.settings.profile())
    app.platform.sample.work({}, lambda *_: None)
    newest, oldest = app.platform.settings.promotions()
    assert (newest.evidence["verdict"], newest.evidence["queryset"], oldest.production.config.legs) == (
        "better",
        "answers",
        ("bm25",),
    )
    assert (len(app.evaluation.runs.all("typed")), len(app.evaluation.runs.all("answers"))) == (6, 5)
    tau = app.evaluation.jobs.last(demo("reviewer"), "calibrate", "typed")
    assert tau
    assert 0 < tau.result["tau"] < 1
    merged = app.reviews.changes.all(state="merged")
    assert all(app.reviews.impacts.show(demo("reviewer"), change.id) for change in merged)
    assert app.platform.settings.confidence().evidence["queryset"] == "answers"
    broken = next(change for change in app.reviews.changes.all() if change.title == "Shorten the service desk FAQ")
    assert any(shift.after > shift.before for shift in app.reviews.impacts.measure(SYSTEM, broken.id).shifts)
    app.platform.sample.work({}, lambda *_: None)
    assert len(app.platform.settings.promotions()) == 2, "played once"


def test_the_first_texts_differ_where_something_was_merged_since() -> None:
    texts = first_texts(KB, SCRIPT)
    changed = {path for path, raw in texts.items() if raw.decode() != (KB / path).read_text()}
    assert changed == {deed.more["path"] for deed in SCRIPT.past if deed.verb == "merged"}


def test_an_edit_of_words_that_are_not_there_is_refused() -> None:
    with pytest.raises(Corrupt, match="not in the document"):
        edited("text", [{"was": "other", "now": "words"}])


def test_a_minute_passes_between_two_looks_at_the_clock() -> None:
    clock = PastClock(FixedClock("2026-11-15"))
    clock.set(3)
    first, second = (datetime.fromisoformat(clock.stamp()) for _ in range(2))
    assert ((second - first).seconds, first.hour, clock.today()) == (60, 9, date(2026, 11, 12))
