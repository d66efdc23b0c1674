"""One truth: whatever pages, the command line and the API say about one thing is the same number."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import pytest
from streamlit.testing.v1 import AppTest

from core import strict
from core.bootstrap import App
from core.entrypoints.cli import main
from core.entrypoints.contracts.document_json import freshness_json
from core.evaluation.tuning.calibration import TauRule
from core.retrieval.config import RECOMMENDED
from core.retrieval.presets import spell
from core.retrieval.rerankers.rerank import BLEND
from core.services.tuning.sweeps import SweepScope
from tests.conftest import SmallModels, demo, forget_app, put, serve
from tests.support import evaluated
from tests.support.api_server import ApiServer
from tests.support.apptest import ROOT, all_drawn, drawn, page_of
from tests.support.apptest import plain_words as words
from tests.support.evaluated import ADMIN, corpus, judged

POLICY = (
    "---\nid: POL-1\ntitle: Records\nowner: Mei\nreview_due: 2020-01-01\n---\n# Records\n\nInvoices are kept "
    "for 7 years.\n"
)
COPY = "---\nid: POL-2\ntitle: Archive\n---\n# Archive\n\nInvoices are kept for 5 years.\n"


class Doors:
    """A base with runs, trained models, changes, builds, gaps and questions, through its three doors."""

    def __init__(self, app: App) -> None:
        self.app, self.api = app, ApiServer(app)

    def page(self, name: str, **query: str) -> AppTest:
        return page_of(name, "admin", framed=name in ("home", "freshness"), **query)

    def said(self, *arguments: str) -> Any:
        """What the command line prints."""
        with redirect_stdout(StringIO()) as out:
            assert main(["--home", str(self.app.settings.home), "--json", "--as", "admin", *arguments]) == 0
        return json.loads(out.getvalue())

    def answered(self, path: str) -> Any:
        reply = self.api.get(path, "admin")
        assert reply.status_code == 200, reply.text
        return reply.json()

    def count(self, path: str) -> int:
        """How many there are in all, of which a list shows a part."""
        return int(self.api.get(f"{path}{'&' if '?' in path else '?'}limit=1", "admin").headers["x-total-count"])

    def last(self, kind: str) -> Any:
        """The result of the newest job of a kind, as the API gives it."""
        newest = next(job for job in self.answered("/jobs") if job["kind"] == kind and job["state"] == "done")
        return self.answered(f"/jobs/{newest['id']}")["result"]


def _work(app: App) -> None:
    """Do every job that waits."""
    for job in app.platform.jobs.recent():
        if job.open:
            done = app.platform.jobs.run(job.id, app.platform.workspace.works)
            assert done.state == "done", done.error


@pytest.fixture(scope="module")
def doors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Doors]:
    from core.adapters.models import registry

    app, admin, small = judged(tmp_path_factory.mktemp("truth") / "home"), demo("admin"), SmallModels()
    put(app, {"policy.md": POLICY, "copy.md": COPY})
    app.index.admin.rebuild(admin)
    _work(app)
    app.evaluation.runs.evaluate("small", [app.evaluation.runs.plan("", config) for config in ("", "bm25")])
    app.evaluation.jobs.learn(admin, ["small"])
    here = spell(replace(app.platform.settings.production().config, rerank="unsure", rerank_blend=BLEND))
    app.evaluation.jobs.calibrate(admin, "small", here, TauRule("precision", 0.05, 2))
    _work(app)
    app.reviews.changes.propose(demo("author"), "One more", {"more.md": b"# More\n\nA text.\n"})
    app.knowledge.gaps.report(demo("reader"), "How do I return a badge?", "")
    for question in ("invoices kept", "river stone", "river stone"):
        app.search.queries.keep(demo("reader"), question)
    with pytest.MonkeyPatch.context() as patch:
        serve(app, patch)
        for name in ("embedder", "reranker", "llm"):
            patch.setattr(registry.ModelRegistry, name, lambda self, *given, name=name: getattr(small, name)(*given))
        yield Doors(app)
        forget_app()


PINS = "pins:\n  - question: {text}\n    document: {path}\n"


def test_production_has_one_figure_on_every_door_for_two_query_sets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    from core.adapters.models import registry

    app, small = judged(tmp_path / "home"), SmallModels()
    for kind in ("embedder", "reranker", "llm"):
        monkeypatch.setattr(registry.ModelRegistry, kind, lambda self, *given, kind=kind: getattr(small, kind)(*given))
    app.platform.settings.promote("local", RECOMMENDED, {}, demo("admin").person, "Start", app.platform.settings.head())
    missed = _missed(app)
    put(app, {"pins.yaml": PINS.format(text=missed.text, path=missed.path), "a/again.md": corpus()["a/doc2.md"]})
    app.index.builder.build(app.platform.settings.profile())
    app.evaluation.querysets.keep(ADMIN, evaluated.questions(each=3, name="wide"))
    serve(app, monkeypatch)
    request.addfinalizer(forget_app)
    doors = Doors(app)
    for name, halved in (("small", False), ("wide", True)):
        (told,) = doors.said("eval", "run", name)["runs"]
        run = app.evaluation.runs.get(told["id"])
        assert run.results[missed.question].values["nDCG@10"] == 0 if name == "small" else True, "the pin does not help"
        assert told["mean"] == pytest.approx(doors.answered("/runs")[0]["figures"]["nDCG@10"], abs=1e-6)
        assert table(doors.page("evaluation", set=name), "nDCG@10") == [told["mean"]]
        data = app.tuning.sweeps.load(demo("admin"), name, SweepScope(depth=RECOMMENDED.depth), RECOMMENDED)
        assert data.halved == halved
        assert data.table.copied, "near-copies are among them"
        mean = fmean(run.results[one.id].values["nDCG@10"] for one in data.questions)
        assert mean == pytest.approx(told["mean"], abs=1e-9) or halved
        assert app.tuning.sweeps.scores(data, RECOMMENDED).mean() == pytest.approx(mean, abs=1e-9)
        desk = doors.page("tuning", set=name)
        assert desk.metric[0].value == f"{mean:.3f}"
        level = chart(desk, "tune_curve")["layout"]["shapes"][-1]
        assert (level["y0"], level["y1"]) == pytest.approx((mean, mean), abs=1e-9)
        none = doors.said("tune", "tau", name)["curve"][0]
        assert (none["tau"], none["measure"]) == (0.0, pytest.approx(mean, abs=1e-9))
    assert "Reranking everything" in words(doors.page("tuning", tuning_tab="Tau", set="wide"))


class Missed(NamedTuple):
    question: str
    text: str
    path: str


def _missed(app: App) -> Missed:
    """A question whose document is not found, so that a pin would help it."""
    run = app.evaluation.runs.evaluate("small", [app.evaluation.runs.plan()])[0]
    lost = next(one for one in run.results.values() if not one.values["nDCG@10"])
    path = next(one.path for one in evaluated.questions().judgments if one.question == lost.question.id)
    return Missed(lost.question.id, lost.question.text, path)


def table(app: AppTest, column: str) -> list[Any]:
    """A column of the first table that has it."""
    return next(list(frame.value[column]) for frame in app.dataframe if column in frame.value)


def chart(app: AppTest, key: str) -> Any:
    return json.loads(next(one.proto.spec for one in app.get("plotly_chart") if key in one.proto.id))


def test_documents_passages_and_builds(doors: Doors) -> None:
    shown = {one.label: one.value for one in doors.page("home").metric}
    index = doors.page("index")
    (serving, *_), build = [g for g in doors.said("generations", "list") if g["current"]], doors.last("reindex")
    documents, passages = serving["documents"], serving["chunks"]
    assert {shown["Documents"], str(doors.count("/documents"))} == {f"{documents}"}
    assert len(doors.said("documents", "list")) == documents
    assert shown["Passages to find"] == f"{passages}"
    assert f"{documents} documents, {passages} passages" in words(index)
    assert (table(index, "Documents")[0], table(index, "Passages")[0]) == (documents, passages)
    assert doors.answered("/health")["generation"] == serving["number"] == build["generation"]["number"]
    assert build["seconds"] == serving["seconds"]
    assert table(index, "Build time")[0] == f"{serving['seconds']:.1f} s"
    assert f"embedded in {serving['seconds']:.1f} s" in words(index) + str(index.get("bidi_component"))


def test_runs_and_their_measures(doors: Doors) -> None:
    board = doors.page("evaluation", evaluation_tab="Runs")
    listed = {run["id"]: run["figures"] for run in doors.said("eval", "runs", "--queryset", "small")}
    assert {run["id"]: run["figures"] for run in doors.answered("/runs?queryset=small")} == listed
    drawn_at = {round(x, 4) for x in chart(board, "board_chart")["data"][0]["x"]}
    best = max(figures["nDCG@10"] for figures in listed.values())
    production = listed[doors.app.evaluation.runs.serving(doors.app.evaluation.runs.all("small"))]["nDCG@10"]
    assert best >= production
    assert drawn_at == {round(figures["nDCG@10"] - production, 4) for figures in listed.values()}
    page = doors.page("evaluation", evaluation_tab="Compare")
    before, after = (str(page.selectbox(key=f"versus_{end}").value) for end in ("before", "after"))
    told = doors.said("eval", "compare", before, after)
    assert doors.answered(f"/comparisons?before={before}&after={after}") == told
    tiles = {one.label: one.value for one in page.metric}
    assert tiles["Difference of nDCG@10"] == f"{told['difference']['mean']:+.3f}"
    assert tiles["Wins · ties · losses"] == f"{told['wins']} · {told['ties']} · {told['losses']}"


def test_alpha_tau_and_what_was_learned(doors: Doors) -> None:
    curve, desk = doors.said("tune", "alpha", "small"), doors.page("tuning")
    here = next(point for point in curve["curve"] if point["alpha"] == 0.5)
    assert desk.metric[0].value == f"{here['mean']:.3f}"
    assert desk.metric[1].value == f"{here['low']:.3f}–{here['high']:.3f}"
    assert f"nDCG@10 {here['mean']:.3f} ({here['low']:.3f} to {here['high']:.3f}) on" in words(desk)
    assert f"the best is {curve['best']['alpha']:.2f}: {curve['best']['mean']:.3f}" in words(desk)
    tau, learned = doors.last("calibrate"), doors.last("learn-all")
    assert tau["sentence"] in words(doors.page("tuning", tuning_tab="Tau"))
    assert chart(desk, "tune_curve")["data"][2]["y"] == [round(point["measure"], 5) for point in tau["curve"]]
    page = words(doors.page("tuning", tuning_tab="Learn"))
    assert learned["advice"] in page
    assert all(part["sentence"] in page for part in learned["parts"])


def test_changes_gaps_and_questions(doors: Doors) -> None:
    (change,) = doors.said("change", "list", "--state", "open")
    assert [one["id"] for one in doors.answered("/changes?state=open")] == [change["id"]]
    assert doors.count("/changes?state=open") == 1
    assert "All open (1)" in str(doors.page("reviews", queue="open").get("button_group")[0].proto)
    home, loop = doors.page("home"), strict.plain(doors.app.answers.loop.figures(ADMIN))
    tiles = {one.label: one.value for one in home.metric}
    (gap,) = doors.answered("/gaps")
    assert (tiles["Gaps open"], loop["gaps"][""]["open"], gap["query"] in words(home)) == ("1", 1, True)
    asked = strict.plain(doors.app.search.queries.listed(ADMIN, 100))
    assert tiles[f"Asked in {loop['days']} days"] == f"{loop['questions']['asked']}"
    assert sum(one["times"] for one in asked) == loop["questions"]["asked"]
    assert [one["times"] for one in asked if one["question"] == "river stone"] == [1], "the same at once is one asking"


def test_freshness_disagreements_and_accounts(doors: Doors) -> None:
    overview = freshness_json(doors.app.knowledge.home.overview().attention)
    asked = doors.answered("/freshness")
    named = [{kind: [one["doc"] for one in door[kind]] for kind in asked} for door in (asked, overview)]
    assert named[0] == named[1]
    shown = drawn(doors.page("freshness"), "listing")["items"]
    assert [row["doc"] for row in shown if row["kind"] == "overdue"] == named[0]["overdue"] == ["POL-1"]
    listed = strict.plain(doors.app.knowledge.disagreements.everywhere(ADMIN))
    rows = drawn(doors.page("freshness", show="Disagreements"), "listing")["items"]
    assert [row["key"] for row in rows] == [one["key"] for one in listed]
    assert [one["kind"] for one in listed] == ["period"]
    accounts, page = doors.said("accounts", "list"), doors.page("accounts")
    assert [one["id"] for one in accounts] == [
        box.key.removeprefix("role_") for box in page.selectbox if str(box.key).startswith("role_")
    ]


def test_what_a_search_finds_and_where(doors: Doors) -> None:
    question, words_of = "invoices kept", lambda hits: [(hit["doc"], round(hit["score"], 4)) for hit in hits]
    told, asked = doors.said("search", question), doors.answered("/search?q=invoices+kept")
    found = drawn(doors.page("search", q=question), "search")["found"]
    assert words_of(told["hits"]) == words_of(asked["hits"])
    assert [group["doc"] for group in found["groups"]][:10] == [hit["doc"] for hit in told["hits"]]
    assert found["confidence"] == round(told["confidence"], 4) == round(asked["confidence"], 4)
    assert {found["fits"], told["fits"], asked["fits"]} == {True}
    assert found["summary"] == f"{len(found['groups'])} passages in {len(found['groups'])} documents"
    serving = doors.answered("/health")["generation"]
    assert f"Convex 0.5, generation {serving}, confidence {told['confidence']:.0%}" in found["how"]
    assert "searches with **Convex 0.5** on local" in words(doors.page("tuning", tuning_tab="Production")), "one name"
    first = told["hits"][0]["doc"]
    assert doors.answered(f"/where?q=invoices+kept&document={first}")["rank"] == 1


def test_folders_types_and_versions(doors: Doors) -> None:
    overview, listed = doors.app.knowledge.home.overview(), doors.said("documents", "list")
    bars = [
        dict(json.loads(one.proto.json)["bars"])
        for one in doors.page("home").get("bidi_component")
        if "bars" in one.proto.json
    ]
    assert bars == [dict(overview.folders), {"Document": len(listed)}]
    rows = drawn(doors.page("documents"), "library")["rows"]
    assert Counter(row["folder"] or "top level" for row in rows) == overview.folders
    assert {row["doc"]: (row["version"], row["status"]) for row in rows} == {
        one["doc"]: (one["version"], "imported" if one["imported"] else one["status"]) for one in listed
    }
    shown = drawn(doors.page("documents", doc="POL-1", tab="History"), "listing")["items"]
    assert len(doors.answered("/history/POL-1")) == len(shown) == 1


def test_query_sets_jobs_messages_money_and_the_log(doors: Doors) -> None:
    (queryset,) = doors.answered("/querysets")
    sets = doors.page("evaluation", evaluation_tab="Query sets")
    assert [table(sets, column)[0] for column in ("Query set", "Questions", "Judgments")] == [
        queryset[name] for name in ("name", "questions", "judgments")
    ]
    assert f"has the highest nDCG@10: 1.000 (1.000 to 1.000) on {queryset['questions']} questions" in words(
        doors.page("evaluation")
    )
    jobs, index = doors.said("jobs", "list"), doors.page("index")
    assert [job["id"] for job in doors.answered("/jobs")] == [job["id"] for job in jobs]
    assert words(index).count(":green-badge[done]") == len(jobs), "less than the ten that are shown"
    profiles = doors.said("profiles", "list")
    assert table(index, "Profile") == [profile["name"] for profile in profiles]
    assert doors.said("generations", "list")[0]["chunks"] in table(index, "Passages")
    month, tiles = doors.said("ledger", "summary"), {one.label: one.value for one in index.metric}
    assert (tiles["Calls"], tiles["Left of the budget"]) == (f"{month['calls']}", f"${month['left']:.2f}")
    doors.app.inbox.reminders.remind()
    unread = [one for one in doors.app.inbox.messages.listed(demo("admin")) if not one.read]
    messages = [one.id for one in unread]
    assert [line["id"] for line in drawn(doors.page("inbox"), "listing")["items"]] == messages
    others = [one.id for one in unread if one.kind != "gap"]
    lists = [shown.get("items", []) for shown in all_drawn(doors.page("home"), "listing")]
    assert [line["id"] for each in lists for line in each if "id" in line] == others, "questions have a list below"
    assert f"{len(doors.said('audit', 'list'))} lines" in words(doors.page("audit"))


def test_what_a_change_does_to_search(doors: Doors) -> None:
    (change,) = doors.said("change", "list", "--state", "open")
    told = doors.said("change", "impact", str(change["id"]))
    asked = doors.answered(f"/changes/{change['id']}/impact")
    assert told == asked
    page = words(doors.page("reviews", change=str(change["id"]), side="Search"))
    assert told["sentence"] in page
    assert "with Convex 0.5 on local" in page, "the name that Search and Tuning say"


def test_one_file_knows_the_colours_and_icons_of_loss_gain_and_tie() -> None:
    marks = re.compile(r"trending_|material/balance|\"balance\"")
    holders = {path.name for path in (ROOT / "pages").rglob("*.py") if marks.search(path.read_text(encoding="utf-8"))}
    assert holders == {"verdicts.py"}
