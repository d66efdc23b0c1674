"""The `answers:` of documents as tests of search: asked, kept over time, and told once when they break."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.bootstrap import App
from core.curation.document.frontmatter import read_document
from core.entrypoints.cli import main
from core.errors import Unavailable
from core.services.answers.ranks import AnswerSearch, Place
from core.services.platform.settings import QuestionSettings
from tests.conftest import FixedClock, NoProcesses, ScriptedLlm, demo, put, small_app
from tests.support.apptest import drawn, words

AUTHOR, ADMIN = demo("author"), demo("admin")


def document(title: str, text: str, *answers: str, owner: str = "", extra: str = "") -> str:
    listed = "".join(f"  - {json.dumps(answer)}\n" for answer in answers)
    owned = f"owner: {owner}\n" if owner else ""
    return f"---\ntitle: {title}\n{owned}{extra}answers:\n{listed}---\n# {title}\n\n{text}\n"


BADGE = document("Badges", "Report a lost badge at the desk.", "where do I report a lost badge", owner=AUTHOR.name)
BILLS = document(
    "Bills",
    "Suppliers send bills to accounts payable.",
    "where do suppliers send bills",
    "do suppliers send bills to accounts payable",
    owner="Nobody",
)
OLD = document("Old", "Fax it.", "where to fax", extra="status: retired\n")


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two workspaces, built once: everything is found; and the document about badges is pushed away by others."""
    plain = tmp_path_factory.mktemp("answers") / "plain"
    made = small_app(plain, NoProcesses())
    served(made, {"hr/badge.md": BADGE, "fin/bills.md": BILLS, "fin/old.md": OLD})
    crowded = Path(shutil.copytree(plain, plain.with_name("crowded")))
    crowd(small_app(crowded, NoProcesses()))
    return {"plain": plain, "crowded": crowded}


@pytest.fixture
def app(tmp_path: Path, homes: dict[str, Path]) -> App:
    return small_app(Path(shutil.copytree(homes["plain"], tmp_path / "home")), NoProcesses())


@pytest.fixture
def crowded_app(tmp_path: Path, homes: dict[str, Path]) -> App:
    return small_app(Path(shutil.copytree(homes["crowded"], tmp_path / "crowded")), NoProcesses())


def served(app: App, files: dict[str, str | None]) -> str:
    commit = put(app, files)
    app.index.builder.build(app.platform.settings.profile())
    return commit


def crowd(app: App) -> None:
    """Documents that push the one about badges away."""
    text = "where do I report a lost badge: report a lost badge, lost badge, badge."
    served(app, {f"hr/more{n}.md": f"# Lost badge {n}\n\n{text}\n" for n in range(4)})


def unread(app: App, account: str) -> list[str]:
    return [message.sentence for message in app.inbox.messages.listed(demo(account), unread=True)]


def test_whoever_waits_for_words_does_not_wait_for_what_documents_answer(app: App) -> None:
    def asked():
        return [job.kind for job in app.platform.jobs.recent() if job.kind == "answers"]

    put(app, {"hr/parking.md": "# Parking\n\nBehind the hall.\n"})
    app.index.jobs.build(ADMIN)
    assert asked() == []
    put(app, {"hr/parking.md": "# Parking\n\nBefore the hall.\n"})
    app.index.jobs.build(ADMIN, words=True)
    assert asked() == ["answers"]


def test_every_question_that_can_be_found_is_asked_and_has_a_place(app: App) -> None:
    assert {state.place for state in app.answers.checks.listed()} == {None}, "nothing was asked yet"
    point = app.answers.checks.check(AUTHOR)
    assert (point.questions, point.found, point.within) == (3, 3, 3)
    assert dict(point.folders) == {"fin": (2, 2), "hr": (1, 1)}, "a retired document is no test"
    states = {state.question: state for state in app.answers.checks.listed()}
    assert states["where do I report a lost badge"].place == Place(1)
    assert states["where do I report a lost badge"].since == "2026-11-15T12:00:00+00:00"
    assert [state.doc for state in app.answers.checks.listed("hr/badge.md")] == ["hr/badge"]


def test_what_is_found_too_late_says_who_stands_before_it(crowded_app: App) -> None:
    app = crowded_app
    app.answers.checks.check(AUTHOR)
    (late,) = app.answers.checks.failing()
    assert late.place is not None
    assert (late.question, late.place.rank) == ("where do I report a lost badge", 5)
    assert late.place.words == "found at 5, behind Lost badge 2, Lost badge 3 and 2 more"


def test_what_is_not_found_says_which_words_are_missing(app: App) -> None:
    search = AnswerSearch(app.search.searcher, app.answers.checks.vectors)
    search.config = replace(search.config, legs=("bm25",))
    assert search.place("who gets the invoice?", "hr/badge.md").words == "not found: “gets” and “invoice” are missing"
    assert search.place("invoice for a badge", "hr/badge.md").words == "found at 1"
    assert search.place("bills", "hr/badge.md").words == "not found: “bills” is missing"


def test_the_owner_is_told_once_when_a_question_breaks_and_again_only_after_it_was_mended(crowded_app: App) -> None:
    app, checks = crowded_app, crowded_app.answers.checks
    for _ in range(2):
        checks.check(ADMIN)
    assert unread(app, "author") == ["Badges is not found for a question that it answers"]
    (message,) = app.inbox.messages.listed(AUTHOR)
    assert message.text.startswith("where do I report a lost badge found at 5, behind")
    app.inbox.messages.read(AUTHOR)
    served(app, {f"hr/more{n}.md": None for n in range(4)})
    checks.check(ADMIN)
    assert unread(app, "author") == []
    crowd(app)
    checks.check(ADMIN)
    assert len(unread(app, "author")) == 1, "it broke again"
    places = [place.rank for _, place in checks.history("hr/badge", "Where do I report a lost badge?")]
    assert places == [5, 1, 5]


def test_several_broken_questions_are_one_message_that_leads_to_their_list(crowded_app: App) -> None:
    app = crowded_app
    files = {
        f"it/doc{n}.md": document(f"Doc {n}", "Nothing of it.", f"lost badge {n}", owner=AUTHOR.name) for n in (1, 2)
    }
    served(app, files)
    app.answers.checks.check(ADMIN)
    (message,) = app.inbox.messages.listed(AUTHOR)
    assert message.sentence == "3 questions are not found where they should be"
    assert message.address == "/freshness?show=Answers"


def test_each_commit_is_a_point_and_asking_again_moves_none(app: App) -> None:
    app.answers.checks.check(AUTHOR)
    crowd(app)
    for _ in range(2):
        app.answers.checks.check(AUTHOR)
    points = app.answers.checks.findability()
    assert [(point.questions, point.found) for point in points] == [(3, 3), (3, 2)]
    assert points[-1].commit == app.knowledge.repository.head()
    assert points[-1].share == pytest.approx(2 / 3)


def test_a_merge_that_is_served_starts_the_check_and_so_does_every_new_day(app: App) -> None:
    put(app, {"hr/badge.md": BADGE.replace("lost badge at", "lost badge quickly at")})
    job = app.index.jobs.catch_up()
    assert job is not None
    app.platform.jobs.run(job.id, app.platform.workspace.works)
    (asking,) = [other for other in app.platform.jobs.recent() if other.kind == "answers"]
    ended = app.platform.jobs.run(asking.id, app.platform.workspace.works)
    assert (ended.state, ended.result["questions"], ended.result["found"]) == ("done", 3, 3)
    assert app.answers.checks.nightly() is None, "asked today"
    app.answers.checks.clock = FixedClock("2026-11-16")
    assert app.answers.checks.nightly() is not None


def test_the_team_decides_among_how_many_an_answer_must_stand(crowded_app: App) -> None:
    app = crowded_app
    app.answers.checks.check(AUTHOR)
    assert len(app.answers.checks.failing()) == 1
    app.search.queries.decide(ADMIN, QuestionSettings(first=5))
    assert app.answers.checks.failing() == ()


def test_the_command_line_checks_and_lists_what_is_not_found(
    crowded_app: App, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from core.entrypoints import session

    app = crowded_app

    monkeypatch.setattr(session, "open_app", lambda settings: app)

    def run(*line: str) -> tuple[int, Any]:
        code = main(["--home", str(app.settings.home), *line, "--json", "--quiet"])
        return code, json.loads(capsys.readouterr().out)

    code, said = run("answers", "check")
    assert (code, [one["rank"] for one in said["failing"]]) == (1, [5])
    assert [one["doc"] for one in said["failing"]] == ["hr/badge"]


def test_freshness_lists_what_is_not_found(crowded_app: App, visit: Any) -> None:
    app = crowded_app
    app.answers.checks.check(AUTHOR)
    page = visit("freshness", app.settings.home, show="Answers")
    (row,) = drawn(page, "listing")["items"]
    assert (row["title"], row["badges"][0]["text"]) == ("where do I report a lost badge", "Found at 5")
    assert row["sub"].startswith(f"Badges · {AUTHOR.name} · behind Lost badge 2")
    assert "2 of 3 questions" in "\n".join(element.value for element in page.markdown)


def test_a_document_shows_where_it_is_found_for_each_question_and_was_before(crowded_app: App, visit: Any) -> None:
    checks = crowded_app.answers.checks
    checks.check(AUTHOR)
    doc, key = "hr/badge", "where do i report a lost badge"
    moved = {
        "question": "where do I report a lost badge",
        "note": "",
        "commit_id": "",
        "at": "2026-11-16T02:00:00+00:00",
    }
    checks.database.answers.add(doc=doc, key=key, rank=1, **moved)
    said = words(visit("documents", crowded_app.settings.home, doc=doc))
    assert "where do I report a lost badge :green-badge[Found at 1]" in said
    assert "Before: 5 (15 Nov 2026)" in said


def test_home_shows_the_loop_to_those_who_write_and_findability_to_everybody(crowded_app: App, visit: Any) -> None:
    crowded_app.answers.checks.check(AUTHOR)
    gap = crowded_app.knowledge.gaps.report(demo("reader"), "where to park")
    crowded_app.knowledge.gaps.close(ADMIN, gap.id)
    page = visit("home", crowded_app.settings.home, "author")
    assert "**67%** of 3 questions that documents answer are found among the first 3" in words(page)
    figures = {metric.label: metric.value for metric in page.metric}
    assert (figures["Gaps open"], figures["Gaps closed"], figures["Median days to close"]) == ("0", "1", "0.0")
    reader = visit("home", crowded_app.settings.home, "reader")
    assert "**67%** of 3 questions" in words(reader)
    assert "Gaps open" not in {metric.label for metric in reader.metric}
    (point,) = crowded_app.answers.loop.points()
    assert (point.title, point.change) == ("edit", 0)


# ---------------------------------------------------------------- writing


def test_an_unmerged_text_is_tried_beside_what_is_served(app: App) -> None:
    writing = app.answers.writing
    draft = read_document("hr/wifi.md", "# Wifi\n\nGuests get wifi with a card from the desk.\n")
    tried = writing.try_out(
        AUTHOR, draft, ["how do guests get wifi", "how do guests get wifi", " ", "who mends the roof"]
    )
    assert [one.question for one in tried] == ["how do guests get wifi", "who mends the roof"]
    assert tried[0].place == Place(1)
    badge = app.knowledge.documents.show("hr/badge.md")
    (kept,) = writing.try_out(AUTHOR, badge, badge.meta.answers)
    assert kept.place == Place(1), "the published version does not stand in its own way"
    emptied = replace(badge, text="# Badges\n\nNothing.\n", body=0)
    (lost,) = writing.try_out(AUTHOR, emptied, ["report a lost key"])
    assert lost.place is not None
    assert lost.place.rank != 1


@pytest.mark.slow
def test_the_estimate_gives_the_place_of_what_is_published(kb_app: App) -> None:
    """Of the starter knowledge base: 95 of 100 places are the same, and so is nearly every verdict."""
    search = AnswerSearch(kb_app.search.searcher, kb_app.answers.checks.vectors)
    same = verdicts = count = 0
    for asked in search.listed():
        document = kb_app.knowledge.documents.show(asked.facts.path)
        (tried,) = kb_app.answers.writing.try_out(AUTHOR, document, [asked.question])
        real = search.place(asked.question, asked.facts.path)
        assert tried.place is not None
        same, count = same + (tried.place.rank == real.rank), count + 1
        verdicts += tried.place.within(3) == real.within(3)
    assert same / count > 0.95
    assert verdicts / count > 0.99


def test_questions_are_suggested_from_headings_and_by_a_model_that_is_checked(app: App) -> None:
    text = (
        "---\nanswers: [How do I return a badge?]\n---\n# Badges\n\n## Return a badge\n\nx\n\n## Reporting a "
        "loss\n\nx\n\n```\n## Not a heading\n```\n"
    )
    document_typed = read_document("hr/badges.md", text)
    assert app.answers.writing.suggest(AUTHOR, document_typed) == ("How do badges work?", "How do I report a loss?")
    with pytest.raises(Unavailable):
        app.answers.writing.suggest(AUTHOR, document_typed, model=True)
    llm = ScriptedLlm(
        "Sure, here you go.", '1. "How do I return a badge?"\n- What does a lost badge cost me?\nNo question'
    )
    app.answers.writing.searcher.models.llm_used = llm  # type: ignore[attr-defined]
    assert app.answers.writing.suggest(AUTHOR, document_typed, model=True) == ("What does a lost badge cost me?",)
    assert len(llm.asked) == 2, "an answer without a question is asked for again"


def test_the_editor_has_a_row_per_question_with_its_place_and_suggestions(app: App, visit: Any) -> None:
    page = visit("documents", app.settings.home, "author", doc="hr/badge", do="edit")

    def rows():
        return [field for field in page.text_input if "_answer_" in str(field.key)]

    assert [field.value for field in rows()] == ["where do I report a lost badge"]
    add = next(button for button in page.button if str(button.key).endswith("_answer_add"))
    add.click().run()
    rows()[-1].set_value("who prints a new badge").run()
    assert not page.exception
    drawn_text = drawn(page, "editor")
    assert drawn_text is not None
    saved = app.knowledge.drafts.find(AUTHOR, "0:hr/badge.md")
    assert saved is not None
    assert "who prints a new badge" in saved.text
    next(button for button in page.button if "_answer_drop_0" in str(button.key)).click().run()
    assert [field.value for field in rows()] == ["who prints a new badge"]
