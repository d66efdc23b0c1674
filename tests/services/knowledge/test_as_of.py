"""Search and read as of an earlier day: kept generations at once, older ones built aside, equal to what was served
then.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from core.bootstrap import App
from core.entrypoints.cli import main
from core.errors import BadInput, ConcordError, NotFound, Refused
from core.services.search import as_of
from core.types import Filters, Result
from pages.ui.components.search_view import found
from tests.conftest import ON_POSTGRES, demo, put, small_app
from tests.support import blank
from tests.support.apptest import Open, drawn, words
from tests.support.small_kb import FILES

QUESTIONS = ("form 111", "cash over $10,000", "error 809", "connect from home", "fax")
DAYS = ("2026-01-10", "2026-02-10", "2026-03-10", "2026-04-10")


def put_on(app: App, day: str, files: dict[str, str | None]) -> str:
    """One commit on the main line, written at noon of a day."""
    made, repository = put(app, files), app.settings.home / "kb.git"
    env = {**os.environ, "GIT_COMMITTER_DATE": f"{day}T12:00:00", "GIT_AUTHOR_DATE": f"{day}T12:00:00"}

    def git(*words):
        return subprocess.run(
            ["git", "-C", repository, "-c", "user.name=Ann", "-c", "user.email=ann@example.org", *words],
            env=env,
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()

    parents = git("rev-list", "--parents", "-n", "1", made).split()[1:]
    commit = git("commit-tree", f"{made}^{{tree}}", "-m", day, *(word for p in parents for word in ("-p", p)))
    git("update-ref", "refs/heads/main", commit)
    return commit


def lived(home: Path, **settings: object) -> App:
    """A base with four states, each of them indexed on its day; a copy of the first one with these settings."""
    make = Lived(tuple(settings.items()))
    if ON_POSTGRES:
        return make(home)
    blank.fill(home, make)
    return small_app(home, **settings)


@dataclass(frozen=True)
class Lived:
    settings: tuple[tuple[str, object], ...]

    def __call__(self, home: Path) -> App:
        return live(small_app(home, **dict(self.settings)))


def live(app: App) -> App:
    profile = app.platform.settings.production().profile
    edits: list[dict[str, str | None]] = [
        dict(FILES),
        {"fin/sar.md": FILES["fin/sar.md"].replace("30 days", "20 days")},
        {"it/vpn.md": None, "it/new.md": "---\nid: IT-9\ntitle: New\n---\n# New\n\nConnect from home with a key.\n"},
        {"fin/ctr.md": FILES["fin/ctr.md"].replace("Form 112", "Form 113")},
    ]
    for day, files in zip(DAYS, edits, strict=True):
        put_on(app, day, files)
        app.index.builder.build(profile)
    return app


def answers(result: Result) -> list[tuple[str, int, str, float]]:
    return [(hit.doc, hit.version, hit.text, round(hit.score, 9)) for hit in result.hits]


def served(app: App, commit: str, question: str) -> list[tuple[str, int, str, float]]:
    """What the generation of a commit answers."""
    production = app.platform.settings.production()
    with app.index.generations.at(production.profile, commit) as found:
        assert found, f"no generation of {commit}"
        day = app.search.as_of.moment(commit).day
        return answers(app.search.searcher.search_in(found[0], question, production.config, day=day))


def test_an_answer_as_of_a_day_equals_that_of_the_generation_of_that_day_kept_or_built_anew(tmp_path: Path) -> None:
    app = lived(tmp_path / "home", keep_generations=9)
    line = app.search.as_of.line
    expected = {
        (day, question): served(app, line.moment(day).commit, question) for day in DAYS for question in QUESTIONS
    }
    kept = {key: answers(app.search.searcher.search(key[1], as_of=key[0])) for key in expected}
    assert kept == expected
    assert not (app.settings.home / "as_of").exists()  # nothing had to be built

    shutil.rmtree(app.settings.home / "index")
    again = small_app(app.settings.home)
    again.index.builder.build(again.platform.settings.production().profile)
    built = {key: answers(again.search.searcher.search(key[1], as_of=key[0])) for key in expected}
    assert built == expected
    assert {folder.name for folder in (app.settings.home / "as_of").iterdir()} == {
        line.moment(day).commit for day in DAYS[:-1]
    }


def test_what_was_not_written_yet_is_not_found_and_what_was_removed_since_is(tmp_path: Path) -> None:
    app = lived(tmp_path / "home")
    before, now = (
        {hit.doc for hit in app.search.searcher.search("connect from home", as_of=day).hits} for day in (DAYS[0], "")
    )
    assert "IT-1" in before
    assert "IT-9" not in before
    assert "IT-9" in now
    assert "IT-1" not in now


def test_documents_count_as_effective_and_fresh_as_of_the_day_that_is_asked_about(tmp_path: Path) -> None:
    app = small_app(tmp_path / "home")
    text = (
        "---\nid: HR-3\ntitle: Fatigue\neffective_date: 2026-02-01\nreview_due: 2026-03-01\n---\n# "
        "Fatigue\n\nFile the fatigue form.\n"
    )
    put_on(app, "2026-01-10", {"hr/fatigue.md": text})
    app.index.builder.build(app.platform.settings.production().profile)
    found = {
        day: app.search.page.find("fatigue form", as_of=day).groups
        for day in ("2026-01-20", "2026-02-20", "2026-03-20")
    }
    assert [len(groups) for groups in found.values()] == [0, 1, 1]
    assert [group.freshness.state for groups in found.values() for group in groups] == ["due soon", "overdue"]


def test_a_day_before_the_first_commit_a_wrong_day_and_a_commit_elsewhere_are_refused_with_a_sentence(
    tmp_path: Path,
) -> None:
    app = lived(tmp_path / "home")
    moment = app.search.as_of.moment
    with pytest.raises(NotFound, match="begins on 2026-01-10"):
        moment("2025-12-31")
    for wrong, sentence in (("2026-02-31", "is no day"), ("yesterday", "neither a day"), ("abc", "neither a day")):
        with pytest.raises(BadInput, match=sentence):
            moment(wrong)
    app.reviews.changes.propose(demo("author"), "Secret", {"it/secret.md": b"# Secret\n\nNot merged.\n"})
    with pytest.raises(Refused, match="no state of the main line"):
        moment(app.knowledge.repository.head("change/1"))
    assert moment("2026-02-28").commit == moment(DAYS[1]).commit == moment(moment(DAYS[1]).commit[:9]).commit
    assert moment("2031-01-01").commit == app.knowledge.repository.head()


def test_only_the_states_used_last_stay_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = lived(tmp_path / "home", keep_generations=1)
    monkeypatch.setattr(as_of, "KEPT", 2)
    for n, day in enumerate(DAYS[:3]):
        app.search.searcher.search("form", as_of=day)
        folder = app.settings.home / "as_of" / app.search.as_of.moment(day).commit
        os.utime(folder, (n, n))
    app.search.as_of._open.clear()
    app.search.searcher.search("form", as_of=DAYS[1])
    assert len(list((app.settings.home / "as_of").iterdir())) == 2


def test_the_command_line_takes_a_day_and_says_which_state_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    app = lived(tmp_path / "home")
    monkeypatch.setattr("core.entrypoints.session.build_app", lambda settings: app)
    home = ("--home", str(app.settings.home))
    assert main(["documents", "show", "BSA-2", "--as-of", DAYS[0], *home]) == 0
    assert "within 30 days" in capsys.readouterr().out
    assert main(["search", "suspicious", "--as-of", DAYS[0], "--json", *home]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["as_of"] == DAYS[0]
    assert found["commit"] == app.search.as_of.moment(DAYS[0]).commit
    assert "30 days" in found["hits"][0]["text"]
    assert main(["search", "suspicious", "--as-of", DAYS[0], *home]) == 0
    assert f"As of {DAYS[0]} (commit {found['commit'][:12]})" in capsys.readouterr().out
    asked = demo("admin")
    assert app.search.queries.listed(asked) == ()


def test_the_search_page_links_hits_of_an_earlier_day_to_that_day_and_every_citation_to_its_commit(
    tmp_path: Path,
) -> None:
    app = lived(tmp_path / "home")
    now, then = (found(app, "suspicious activity", Filters(), as_of) for as_of in ("", DAYS[0]))
    head, first = app.knowledge.repository.head()[:12], app.search.as_of.moment(DAYS[0]).commit[:12]
    passages = [shown["groups"][0]["passages"][0] for shown in (now, then)]
    assert ["as_of" in passage["place"] for passage in passages] == [False, True]
    assert [passage["cited"]["as_of"] for passage in passages] == [head, first]
    assert then["as_of"] == "10 Jan 2026"
    with pytest.raises(ConcordError, match="begins on 2026-01-10; there is nothing as of 2020-01-01"):
        found(app, "form", Filters(), "2020-01-01")


@pytest.mark.parametrize(
    ("doc", "says"),
    [
        ("BSA-2", "This has changed since: it is now version 2."),
        ("BSA-9", "Nothing in it has changed since."),
        ("IT-1", "This document has been removed or renamed since."),
    ],
)
def test_a_pinned_link_opens_the_text_of_then_and_says_how_it_stands_now(
    tmp_path: Path, visit: Open, doc: str, says: str
) -> None:
    app = lived(tmp_path / "home")
    page = visit("documents", app.settings.home, "reader", doc=doc, as_of=app.search.as_of.moment(DAYS[0]).commit[:12])
    assert says in words(page)
    assert drawn(page, "reader")["version"] == 1
    if doc == "BSA-9":
        page = visit("documents", app.settings.home, "reader", doc=doc, as_of="2099-01-01")
        assert "That day is still to come" in words(page)
    if doc == "BSA-2":
        page.toggle(key="since").set_value(True).run()
        assert "[True, '20']" in str(drawn(page, "diff"))
